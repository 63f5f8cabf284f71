//! Commitment: what someone says will be done.

use memory_core::event::Category;

use super::super::clause::{Clause, Subject};
use super::super::cues;
use super::super::lists;
use super::super::verbs;
use super::super::words::Kind;
use super::Hit;

/// "Alice will …", "I'll …", "Bob is going to …", "Dana to …": a subject, a future and something to do.
pub(super) fn detect(clause: &Clause<'_, '_>, at: usize) -> Option<Hit> {
    let (verb, base) = future_verb(clause, at)?;
    let lead = clause.lead(at);
    let word = clause.word(verb);
    let reported = clause.word(at) == "would";
    if !clause.parsed.text.is_word(verb)
        || clause.is_question()
        || clause.is_quoted(at)
        || (!reported && clause.is_supposed(at))
    {
        return None;
    }
    let feared = (clause.tokens.start..at).any(|near| {
        matches!(
            clause.word(near),
            "worries"
                | "worried"
                | "worry"
                | "afraid"
                | "fears"
                | "fear"
                | "hope"
                | "hopes"
                | "thinks"
                | "think"
                | "believes"
                | "doubts"
                | "expects"
        )
    });
    if feared {
        return None;
    }
    let denied = (at..verb).any(|near| matches!(clause.word(near), "not" | "n't" | "never"));
    if let Some(hit) = settles(clause, at, verb, denied, &lead) {
        return Some(hit);
    }
    if !denied
        && !lead.negated
        && is_succession(clause, verb)
        && !matches!(lead.subject, Subject::We | Subject::Nobody)
    {
        return Some(Hit { category: Category::Stakeholder, confidence: 0.7, at, lead });
    }
    let being = word == "be" && clause.word(verb + 1).ends_with("ing");
    if denied || lead.negated || (!being && is_idle(clause, verb)) {
        return None;
    }
    let confidence = match lead.subject {
        Subject::People(_) => base,
        Subject::Me => base - 0.06,
        Subject::Group(Some(_)) => 0.64,
        Subject::Group(None) => 0.6,
        Subject::We => 0.58,
        // "will ring him tomorrow": who writes it does it.
        Subject::Nobody if clause.opens && lead.from <= clause.tokens.start + 2 => 0.66,
        Subject::Public => 0.54,
        Subject::They if reported => return None,
        Subject::They => 0.56,
        Subject::Thing if is_human(clause.word(at - 1)) => 0.58,
        _ => return None,
    };
    let doubt =
        (at..verb).any(|near| matches!(clause.word(near), "probably" | "possibly" | "hopefully" | "likely"));
    // "we chose Anna, who will join in April" tells of the choice.
    let aside = at > clause.tokens.start && clause.word(at - 1) == "who";
    let confidence = if aside { confidence - 0.2 } else { confidence };
    let confidence = confidence - if doubt || lead.hedged || lead.modal { 0.2 } else { 0.0 };
    Some(Hit { category: Category::Commitment, confidence, at, lead })
}

/// "We will use Postgres": a choice.
fn settles(clause: &Clause<'_, '_>, at: usize, verb: usize, denied: bool, lead: &super::Lead) -> Option<Hit> {
    let word = clause.word(verb);
    let chooses = matches!(lead.subject, Subject::We | Subject::Group(_))
        && lists::CHOICE_VERBS.contains(word)
        && (word != "go" || matches!(clause.word(verb + 1), "with" | "ahead" | "for"));
    chooses.then(|| Hit {
        category: Category::Decision,
        confidence: if denied { 0.66 } else { 0.7 },
        at,
        lead: lead.clone(),
    })
}

/// "will succeed him", "will take over", "will be our contact": who is who from then on.
fn is_succession(clause: &Clause<'_, '_>, verb: usize) -> bool {
    let next = clause.word(verb + 1);
    let role = || (verb + 1..clause.tokens.end.min(verb + 6)).any(|near| cues::is_role(clause.word(near)));
    match clause.word(verb) {
        "succeed" | "retire" => true,
        "replace" => clause.parsed.person(verb + 1).is_some() || matches!(next, "him" | "her" | "me"),
        "join" => matches!(next, "us" | "the" | "our" | "as") || clause.parsed.mention(verb + 1).is_some(),
        "leave" => matches!(next, "us" | "the" | "our"),
        "take" => next == "over" && (!matches!(clause.word(verb + 2), "the" | "this") || role()),
        "have" => matches!(next, "conduct" | "charge" | "responsibility"),
        "be" | "become" | "act" | "serve" => {
            role() || matches!(next, "responsible" | "on") && clause.word(verb + 2) != "time"
        }
        _ => false,
    }
}

fn is_human(word: &str) -> bool {
    cues::is_role(word) || lists::OTHER_PEOPLE.contains(word)
}

/// The verb that a future at token `at` leads to, and how sure a promise it makes.
fn future_verb(clause: &Clause<'_, '_>, at: usize) -> Option<(usize, f32)> {
    let (after, base) = match clause.word(at) {
        "will" | "'ll" | "shall" => (at + 1, 0.8),
        "going" if clause.word(at + 1) == "to" => (at + 2, 0.74),
        "gonna" => (at + 1, 0.7),
        // "ill make spring rolls": the apostrophe is left out.
        "ill"
            if at == clause.tokens.start && verbs::of(clause.word(at + 1)).is_some_and(|verb| verb.base) =>
        {
            (at + 1, 0.7)
        }
        // "Mr Doyle said he would help".
        "would"
            if (clause.sentence.start..at).any(|near| {
                matches!(clause.word(near), "said" | "says" | "promised" | "confirmed" | "offered")
            }) && !clause.sentence.clone().any(|near| matches!(clause.word(near), "if" | "could")) =>
        {
            (at + 1, 0.64)
        }
        // "Dana to send the notes", only where a clause begins with the name.
        "to" => {
            let person = at.checked_sub(1).and_then(|before| clause.parsed.person(before))?;
            let first =
                clause.tokens.clone().find(|at| clause.parsed.text.kind(*at) != Some(Kind::Punctuation))?;
            let opens = person.tokens.start == first && !clause.parsed.text.is_capitalised(at + 1);
            let base = verbs::of(clause.word(at + 1)).is_none_or(|verb| verb.base);
            (at + 1, if opens && base { 0.78 } else { return None })
        }
        _ => return None,
    };
    let verb = (after..clause.tokens.end.min(after + 4)).find(|near| !is_adverb(clause, *near))?;
    Some((verb, base))
}

/// A word between "will" and its verb.
fn is_adverb(clause: &Clause<'_, '_>, at: usize) -> bool {
    let word = clause.word(at);
    match word {
        "also" | "then" | "now" | "both" | "likely" | "just" | "first" | "not" | "n't" | "never" => true,
        // "will be reviewing": the verb is "be" with what follows.
        "be" | "reply" | "apply" | "supply" => false,
        _ => word.len() > 4 && word.ends_with("ly"),
    }
}

fn is_idle(clause: &Clause<'_, '_>, verb: usize) -> bool {
    let word = clause.word(verb);
    let next = clause.word(verb + 1);
    match word {
        "get" => !matches!(next, "the" | "a" | "an" | "it" | "this" | "that" | "back" | "in"),
        "look" => next != "into",
        "find" => next != "out",
        "walk" | "show" | "explain" | "cover" => {
            clause.parsed.people_in(&(verb..clause.tokens.end)).is_empty()
        }
        "let" => clause.word(verb + 2) == "know",
        "keep" => clause.word(verb + 2) == "posted" || clause.word(verb + 2) == "mind",
        _ => lists::IDLE_VERBS.contains(word),
    }
}
