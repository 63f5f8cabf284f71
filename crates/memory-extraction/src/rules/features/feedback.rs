//! Feedback: what people find good, bad or too much of.

use memory_core::event::Category;

use super::super::clause::{Clause, Lead, Subject};
use super::super::lists;
use super::Hit;

fn judges(clause: &Clause<'_, '_>, at: usize) -> bool {
    lists::JUDGING.contains(clause.word(at))
}

fn is_much(word: &str) -> bool {
    matches!(
        word,
        "too"
            | "very"
            | "really"
            | "so"
            | "way"
            | "much"
            | "far"
            | "quite"
            | "rather"
            | "super"
            | "honestly"
            | "absolutely"
            | "extremely"
            | "pretty"
    )
}

/// The feedback that is told at a token.
pub(super) fn detect(clause: &Clause<'_, '_>, at: usize) -> Option<Hit> {
    if clause.parsed.mention(at).is_some()
        || clause.is_question()
        || clause.is_supposed(at)
        || clause.is_quoted(at)
    {
        return None;
    }
    let (weight, lead) = [finds, says, likes, is_judged].iter().find_map(|rule| rule(clause, at))?;
    (!lead.modal && !lead.future).then_some(Hit {
        category: Category::Feedback,
        confidence: weight,
        at,
        lead,
    })
}

/// "night staff find the new timing easier", "they found it too slow".
fn finds(clause: &Clause<'_, '_>, at: usize) -> Option<(f32, Lead)> {
    if !matches!(clause.word(at), "find" | "finds" | "found") {
        return None;
    }
    let lead = clause.lead(at);
    let judged = (at + 2..clause.tokens.end.min(at + 12))
        .any(|near| judges(clause, near) || clause.word(near) == "too");
    let one = matches!(lead.subject, Subject::People(_));
    let weight = if one && clause.word(at) == "finds" { 0.56 } else { 0.68 };
    let told = judged && !lead.negated && lead.subject != Subject::Nobody && clause.word(at + 1) != "you";
    told.then_some((weight, lead))
}

/// "Dr Adebayo thought the gap too long", "the women told us that the manual is too long".
fn says(clause: &Clause<'_, '_>, at: usize) -> Option<(f32, Lead)> {
    if !lists::THINKING.contains(clause.word(at)) {
        return None;
    }
    let lead = clause.lead(at);
    let judged = (at + 1..clause.tokens.end).any(|near| {
        judges(clause, near)
            || (clause.word(near) == "too"
                && clause.parsed.text.is_word(near + 1)
                && near + 1 < clause.tokens.end)
    });
    let weight = match lead.subject {
        Subject::Public if judged => 0.7,
        Subject::Public => 0.56,
        Subject::People(_) | Subject::They | Subject::Group(_) if judged => 0.64,
        Subject::Thing if judged => 0.6,
        _ => return None,
    };
    (!lead.negated).then_some((weight, lead))
}

/// "parents complained", "Ana liked the draft", "Brightfold love the new filters".
fn likes(clause: &Clause<'_, '_>, at: usize) -> Option<(f32, Lead)> {
    let word = clause.word(at);
    if !lists::LIKING.contains(word) {
        return None;
    }
    let lead = clause.lead(at);
    let weight = match lead.subject {
        Subject::Public => 0.7,
        Subject::People(_) | Subject::Group(_) | Subject::They => 0.64,
        Subject::We => 0.56,
        Subject::Thing => 0.6,
        Subject::Nobody if clause.opens || matches!(word, "complained" | "praised") => 0.54,
        Subject::Nobody | Subject::Me => return None,
    };
    Some((weight, lead))
}

/// "the ending is too long", "structure is good", "passing way better than in August".
fn is_judged(clause: &Clause<'_, '_>, at: usize) -> Option<(f32, Lead)> {
    let much = at > clause.tokens.start && is_much(clause.word(at - 1));
    let too = at > clause.tokens.start && clause.word(at - 1) == "too";
    let judged = judges(clause, at) || (too && clause.parsed.text.is_word(at));
    if !judged {
        return None;
    }
    // "a good idea", "the best route": said of something in passing.
    let mut first = at;
    while first > clause.tokens.start && is_much(clause.word(first - 1)) {
        first -= 1;
    }
    let lead = clause.lead(first);
    let before = first
        .checked_sub(1)
        .filter(|before| *before >= clause.tokens.start)
        .map_or("", |before| clause.word(before));
    let linked = lead.be
        || matches!(
            before,
            "looks"
                | "looked"
                | "feels"
                | "felt"
                | "sounds"
                | "went"
                | "works"
                | "worked"
                | "tasted"
                | "tastes"
                | "reads"
        );
    let plain = lead.from < clause.tokens.end
        && matches!(
            clause.word(lead.from),
            "it" | "that" | "this" | "what" | "there" | "here" | "which" | "all"
        );
    let ends = at + 1 >= clause.tokens.end
        || !clause.parsed.text.is_word(at + 1)
        || matches!(
            clause.word(at + 1),
            "for"
                | "to"
                | "than"
                | "and"
                | "on"
                | "in"
                | "but"
                | "at"
                | "about"
                | "with"
                | "now"
                | "this"
                | "again"
                | "especially"
                | "when"
                | "after"
        );
    if lead.negated || !ends || lead.subject != Subject::Thing || (plain && !too) {
        return None;
    }
    match (linked, much) {
        (true, true) => Some((0.6, lead)),
        (true, false) => Some((0.54, lead)),
        (false, true) if clause.item || clause.opens => Some((0.58, lead)),
        _ => None,
    }
}
