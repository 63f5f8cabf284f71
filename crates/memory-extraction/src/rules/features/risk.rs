//! Risk: what is broken, late, missing or feared.

use memory_core::event::Category;

use super::super::clause::{Clause, Lead, Subject};
use super::super::lists;
use super::super::verbs::{self, Class};
use super::execution::{aside, is_function_word};
use super::{Hit, is_denied};

/// The risk that is told at a token.
pub(super) fn detect(clause: &Clause<'_, '_>, at: usize) -> Option<Hit> {
    if clause.parsed.person(at).is_some() || clause.is_question() || clause.is_quoted(at) {
        return None;
    }
    let (weight, lead) = [broken, hindered, state, trouble, fear].iter().find_map(|rule| rule(clause, at))?;
    if is_imagined(clause, at) {
        return None;
    }
    Some(Hit { category: Category::QualityRisk, confidence: weight - aside(clause, &lead), at, lead })
}

/// "if", "would", "could have": nothing has happened.
fn is_imagined(clause: &Clause<'_, '_>, at: usize) -> bool {
    let supposed = |at: usize| matches!(clause.word(at), "if" | "unless" | "whether" | "imagine" | "lest");
    (clause.sentence.start..at).any(supposed)
        || (clause.tokens.start..at).any(|back| clause.word(back) == "would")
}

/// "the pump failed", "the hull cracked", "import chokes on …".
fn broken(clause: &Clause<'_, '_>, at: usize) -> Option<(f32, Lead)> {
    let verb = verbs::of(clause.word(at)).filter(|verb| verb.class == Class::Harm)?;
    let lead = clause.lead(at);
    let bare = lead.from + 1 >= at && !lead.be;
    if lead.negated
        || lead.modal
        || lead.future
        || (bare && at > clause.tokens.start && is_function_word(clause.word(at - 1)))
    {
        return None;
    }
    let fits = verb.past || verb.third || verb.participle || (lead.be && verb.ing);
    if !fits {
        return None;
    }
    let weight = match lead.subject {
        Subject::Thing | Subject::Public => 0.64,
        Subject::Nobody if clause.opens => 0.56,
        Subject::Nobody => return None,
        _ => 0.58,
    };
    Some((weight, lead))
}

/// "cannot print", "does not carry", "hasn't answered", "could not reach": something is kept from happening.
fn hindered(clause: &Clause<'_, '_>, at: usize) -> Option<(f32, Lead)> {
    let word = clause.word(at);
    let negated =
        matches!(clause.word(at + 1), "n't" | "not") || matches!(clause.word(at + 2), "n't" | "not");
    let joined = matches!(word, "cannot" | "cant" | "couldnt" | "doesnt" | "didnt" | "hasnt" | "isnt");
    let able =
        matches!(word, "cannot" | "cant" | "couldnt") || (negated && matches!(word, "can" | "ca" | "could"));
    let does = matches!(word, "doesnt" | "didnt") || (negated && matches!(word, "does" | "do" | "did"));
    let has = word == "hasnt" || (negated && matches!(word, "has" | "have"));
    let is = word == "isnt" || (negated && matches!(word, "is" | "are" | "was" | "were"));
    if !(able || does || has || is) {
        return None;
    }
    let mut verb = at + if joined { 1 } else { 2 };
    while verb < clause.tokens.end
        && (matches!(
            clause.word(verb),
            "yet" | "still" | "even" | "been" | "n't" | "not" | "really" | "always" | "be" | "all"
        ))
    {
        verb += 1;
    }
    let what = clause.word(verb);
    if verb >= clause.tokens.end || lists::HARMLESS.contains(what) {
        return None;
    }
    let lead = clause.lead(at);
    let still = (clause.tokens.start..clause.tokens.end)
        .any(|near| matches!(clause.word(near), "still" | "yet" | "again" | "anymore"));
    let we = matches!(lead.subject, Subject::Me | Subject::We | Subject::People(_));
    let weight: f32 = match () {
        () if able && lead.subject == Subject::Nobody && !clause.opens => return None,
        () if able => 0.6,
        () if has && !we => 0.58,
        () if has => 0.54,
        () if does && matches!(lead.subject, Subject::Thing | Subject::Public | Subject::They) => 0.56,
        () if is
            && matches!(
                what,
                "free"
                    | "ready"
                    | "working"
                    | "available"
                    | "enough"
                    | "safe"
                    | "complete"
                    | "there"
                    | "signed"
                    | "paid"
            ) =>
        {
            0.6
        }
        () => return None,
    };
    Some((weight + if still { 0.08 } else { 0.0 }, lead))
}

/// "staging is down", "the delivery is late again".
fn state(clause: &Clause<'_, '_>, at: usize) -> Option<(f32, Lead)> {
    let word = clause.word(at);
    let found = lists::STATES.contains(word) || (word == "out" && clause.word(at + 1) == "of");
    if !found {
        return None;
    }
    let lead = clause.lead(at);
    let linked = lead.be
        || matches!(
            clause.word(at.saturating_sub(1)),
            "looks"
                | "seems"
                | "still"
                | "remains"
                | "stays"
                | "became"
                | "goes"
                | "went"
                | "badly"
                | "running"
                | "arrived"
                | "came"
                | "ran"
        );
    if lead.negated || lead.modal || lead.future || !linked {
        return None;
    }
    let out = word == "out"
        && !matches!(
            clause.word(at + 2),
            "service"
                | "order"
                | "stock"
                | "date"
                | "action"
                | "budget"
                | "money"
                | "time"
                | "paper"
                | "ink"
                | "spec"
                | "tolerance"
        );
    if out
        || (word == "down" && matches!(clause.word(at + 1), "to" | "from"))
        || (word == "short" && clause.word(at + 1) != "of")
    {
        return None;
    }
    Some((0.62, lead))
}

/// "a backlog of ten weeks", "damp in the cellar".
fn trouble(clause: &Clause<'_, '_>, at: usize) -> Option<(f32, Lead)> {
    if !lists::TROUBLES.contains(clause.word(at)) || is_denied(clause, at) {
        return None;
    }
    // "bug fixed", "issue tracker", "the problem statement".
    let next = clause.word(at + 1);
    let solved = (at + 1..clause.tokens.end.min(at + 6)).any(|near| {
        matches!(
            clause.word(near),
            "fixed" | "solved" | "resolved" | "repaired" | "closed" | "gone" | "sorted"
        )
    });
    if solved
        || matches!(
            next,
            "tracker"
                | "statement"
                | "report"
                | "log"
                | "number"
                | "handling"
                | "message"
                | "messages"
                | "management"
        )
    {
        return None;
    }
    let lead = clause.lead(at);
    let there = (clause.tokens.start.max(at.saturating_sub(7))..at).any(|near| {
        matches!(
            clause.word(near),
            "there"
                | "theres"
                | "have"
                | "has"
                | "had"
                | "found"
                | "with"
                | "still"
                | "big"
                | "serious"
                | "again"
                | "is"
                | "was"
                | "got"
                | "caused"
        )
    });
    let listed = clause.item && clause.tokens.len() < 18;
    Some((
        if there {
            0.6
        } else if listed {
            0.56
        } else {
            0.5
        },
        lead,
    ))
}

/// "worried that", "waiting for", "still no", "nobody has", "without a trial", "too few".
fn fear(clause: &Clause<'_, '_>, at: usize) -> Option<(f32, Lead)> {
    let next = clause.word(at + 1);
    let weight = match clause.word(at) {
        "worried" | "worries" | "worry" | "afraid" | "nervous" | "anxious" | "fears" | "feared"
        | "uneasy"
            if matches!(
                next,
                "that" | "about" | "the" | "we" | "it" | "this" | "by" | "of" | "if" | "i" | ":"
            ) =>
        {
            0.66
        }
        "waiting" | "waits" | "waited" if matches!(next, "for" | "on") => 0.66,
        "still"
            if matches!(
                next,
                "no" | "not" | "nothing" | "without" | "waiting" | "missing" | "open" | "unsolved" | "too"
            ) =>
        {
            0.64
        }
        "nobody" | "none" if verbs::is_finite(next) => 0.5,
        "without"
            if (at + 1..clause.tokens.end.min(at + 5)).any(|near| {
                matches!(
                    clause.word(near),
                    "trial"
                        | "test"
                        | "tests"
                        | "testing"
                        | "backup"
                        | "approval"
                        | "permission"
                        | "leave"
                        | "warning"
                        | "notice"
                        | "checking"
                        | "insurance"
                        | "permit"
                        | "consent"
                )
            }) =>
        {
            0.56
        }
        "too" if matches!(next, "few" | "little" | "late" | "tight") => 0.56,
        "not" | "n't" if matches!(next, "enough") => 0.58,
        "like" if clause.word(at.wrapping_sub(1)) == "n't" && next == "that" => 0.6,
        "low" | "short" if matches!(next, "on" | "of") => 0.6,
        "by" if next == "hand"
            && clause.tokens.clone().any(|near| matches!(clause.word(near), "need" | "needs" | "must")) =>
        {
            0.6
        }
        _ => return None,
    };
    let mut lead = clause.lead(at);
    lead.negated = false;
    if lead.modal && clause.word(at) == "worry" {
        return None;
    }
    Some((weight, lead))
}
