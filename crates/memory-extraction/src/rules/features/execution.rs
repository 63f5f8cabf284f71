//! Execution: what was done, and what someone does by a day still to come.

use jiff::tz::TimeZone;
use memory_core::event::Category;
use memory_language::time::{Lean, Relation, readings};

use super::super::clause::{Clause, Lead, Subject};
use super::super::lists;
use super::super::verbs::{self, Class};
use super::{Hit, reads_as_adjective};

/// "Bob sent the draft", "the valve was replaced", "sent off the forms".
pub(super) fn detect(clause: &Clause<'_, '_>, at: usize) -> Option<Hit> {
    let doubt = doubt_of_verb(clause, at)?;
    let lead = clause.lead(at);
    let item = clause.item;
    if lead.negated || lead.modal || lead.future || is_attribute(clause, &lead, at) {
        return None;
    }
    let have = (lead.from..at).any(|near| matches!(clause.word(near), "has" | "have" | "'ve" | "been"));
    let told = match lead.subject {
        Subject::Nobody => {
            let first = lead.from <= clause.tokens.start + 1 && !lead.be;
            (clause.opens && first && !reads_as_adjective(clause, at + 1)).then_some(0.62)?
        }
        Subject::Thing | Subject::Public if lead.be && !lead.was => {
            let now = (lead.from..at)
                .any(|near| matches!(clause.word(near), "already" | "now" | "just" | "finally"));
            if now || (item && super::ends_phrase(clause, at + 1)) {
                0.6
            } else if clause.spoken {
                0.56
            } else {
                return None;
            }
        }
        _ if lead.be && !lead.was => return None,
        Subject::Thing | Subject::Public if lead.was => 0.6,
        Subject::Thing | Subject::Public if have => 0.6,
        Subject::Thing => bare(clause, &lead, at)?,
        Subject::Public => 0.6,
        Subject::They => 0.54,
        Subject::People(_) | Subject::Me => 0.66,
        Subject::We | Subject::Group(_) => 0.64,
    };
    let weight = told - doubt - aside(clause, &lead) - if lead.hedged { 0.15 } else { 0.0 };
    Some(Hit { category: Category::Execution, confidence: weight, at, lead })
}

/// How much less sure a word is as a verb of doing; `None` where it is none or not said as a fact.
fn doubt_of_verb(clause: &Clause<'_, '_>, at: usize) -> Option<f32> {
    let word = clause.word(at);
    let doubt = match verbs::of(word) {
        Some(verb) if verb.class == Class::Deed && (verb.past || verb.participle) => {
            // "put", "set", "run" are also what is still to do.
            if verb.base && !clause.lead(at).be { 0.04 } else { 0.0 }
        }
        // "Gus changed the lock": by a person it is a deed.
        Some(verb) if verb.class == Class::Shift && verb.past => {
            let lead = clause.lead(at);
            (!lead.be && matches!(lead.subject, Subject::People(_) | Subject::Me)).then_some(0.04)?
        }
        None if word.len() > 4 && word.ends_with("ed") && !lists::NOT_VERBS.contains(word) => 0.05,
        _ => return None,
    };
    if clause.parsed.mention(at).is_some() || !clause.is_told(at) {
        return None;
    }
    Some(doubt)
}

/// "the corrected list", "of finished parts": no verb of the clause.
fn is_attribute(clause: &Clause<'_, '_>, lead: &Lead, at: usize) -> bool {
    let before = at.checked_sub(1).filter(|before| *before >= clause.tokens.start);
    let Some(before) = before else { return false };
    !lead.be
        && matches!(lead.subject, Subject::Thing)
        && (is_function_word(clause.word(before))
            || !clause.parsed.text.is_word(before) && clause.word(before) != ")")
}

pub(super) fn is_function_word(word: &str) -> bool {
    matches!(
        word,
        "the"
            | "a"
            | "an"
            | "this"
            | "that"
            | "these"
            | "those"
            | "my"
            | "your"
            | "our"
            | "his"
            | "her"
            | "its"
            | "their"
            | "of"
            | "with"
            | "without"
            | "by"
            | "for"
            | "in"
            | "on"
            | "at"
            | "to"
            | "from"
            | "as"
            | "than"
            | "more"
            | "most"
            | "very"
            | "too"
            | "so"
            | "no"
            | "any"
            | "some"
            | "all"
            | "each"
            | "every"
            | "which"
            | "or"
            | "if"
            | "when"
            | "newly"
            | "not"
            | "two"
            | "three"
            | "four"
            | "five"
            | "other"
            | "new"
            | "old"
            | "are"
            | "is"
            | "be"
            | "about"
            | "like"
            | "into"
            | "much"
            | "well"
            | "less"
            | "'s"
            | "how"
            | "what"
    )
}

/// "the supplier collected two", "crane permit handed in": a thing before a bare past form.
fn bare(clause: &Clause<'_, '_>, lead: &Lead, at: usize) -> Option<f32> {
    let finite = |tokens: std::ops::Range<usize>| {
        tokens
            .filter(|near| clause.parsed.text.is_word(*near))
            .any(|near| verbs::is_finite(clause.word(near)))
    };
    if finite(clause.tokens.start..lead.from) {
        return None;
    }
    let stop = (at + 1..clause.tokens.end)
        .find(|near| matches!(clause.word(*near), "," | ";" | "(" | "and" | "that" | "because" | "–"))
        .unwrap_or(clause.tokens.end);
    if finite(at + 1..stop) {
        return None;
    }
    Some(if clause.item { 0.6 } else { 0.55 })
}

/// What stands in a subordinate clause or long ago is told beside the point.
pub(super) fn aside(clause: &Clause<'_, '_>, lead: &Lead) -> f32 {
    let near = (clause.tokens.start.max(lead.from.saturating_sub(4))..=lead.from.min(clause.tokens.end - 1))
        .any(|at| {
            matches!(
                clause.word(at),
                "when"
                    | "until"
                    | "because"
                    | "after"
                    | "before"
                    | "while"
                    | "once"
                    | "since"
                    | "although"
                    | "which"
                    | "as"
            )
        });
    (if near { 0.12 } else { 0.0 }) + if is_long_ago(clause) { 0.2 } else { 0.0 }
}

/// "In 2019", "three years ago", "used to": history.
pub(super) fn is_long_ago(clause: &Clause<'_, '_>) -> bool {
    let year = || clause.parsed.reference.map(|now| i64::from(now.to_zoned(TimeZone::UTC).year()));
    clause.sentence.clone().any(|at| match clause.word(at) {
        "ago" => matches!(clause.word(at.saturating_sub(1)), "years" | "decades" | "year"),
        "used" => clause.word(at + 1) == "to",
        "remember" | "remembers" | "decade" | "decades" | "century" => true,
        word => {
            word.len() == 4
                && word.parse::<i64>().is_ok_and(|number| {
                    (1800..2100).contains(&number) && year().is_some_and(|year| number < year - 1)
                })
        }
    })
}

/// "Babajide writes the script by 20 March", "Ngozi is flying over on 8 March".
pub(super) fn detect_plan(clause: &Clause<'_, '_>, at: usize) -> Option<Hit> {
    let verb = verbs::of(clause.word(at)).filter(|verb| verb.class != Class::Harm)?;
    if clause.parsed.mention(at).is_some() || !clause.is_told(at) {
        return None;
    }
    let lead = clause.lead(at);
    let going = lead.be && !lead.was && verb.ing;
    let bids = at == clause.tokens.start && verb.base && clause.opens && clause.parsed.speaker.is_some();
    let does = bids
        || lead.from < at
            && !lead.be
            && (verb.third
                || (verb.base && matches!(lead.subject, Subject::Me | Subject::We | Subject::People(_))));
    let bare = matches!(clause.word(at.wrapping_sub(1)), "has" | "have" | "had" | "'ve");
    if lead.negated || lead.modal || lead.future || lead.hedged || bare || !(going || does) {
        return None;
    }
    let named = matches!(lead.subject, Subject::People(_) | Subject::Me);
    let bidden = verb.base && verb.class == Class::Deed && clause.opens && at == clause.tokens.start;
    let doer = named
        || (bidden && lead.subject == Subject::Nobody)
        || matches!(lead.subject, Subject::We | Subject::Group(_));
    if !doer {
        return None;
    }
    let parsed = clause.parsed;
    let now = parsed.reference?;
    let words = &parsed.text.raw[parsed.text.bytes(&(at..clause.tokens.end))];
    let ahead = readings(words, parsed.reference, Lean::Future).into_iter().find(|reading| {
        !reading.is_ambiguous && reading.deadline() > now && !matches!(reading.relation, Relation::Since)
    })?;
    let base = if ahead.is_deadline() { 0.68 } else { 0.6 };
    let weight = base - if named { 0.0 } else { 0.06 } - if verb.class == Class::Idle { 0.06 } else { 0.0 };
    Some(Hit { category: Category::Commitment, confidence: weight, at, lead })
}
