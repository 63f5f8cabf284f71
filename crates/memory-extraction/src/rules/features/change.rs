//! Change: what is other than before, by day, amount or kind.

use memory_core::event::Category;
use memory_language::calendar_words::{CalendarWord, Spelling, calendar_word};

use super::super::clause::{Clause, Lead, Subject};
use super::super::verbs::{self, Class};
use super::super::words::Kind;
use super::Hit;
use super::execution::{aside, is_function_word};

/// The change that is told at a token.
pub(super) fn detect(clause: &Clause<'_, '_>, at: usize) -> Option<Hit> {
    if clause.parsed.person(at).is_some()
        || clause.is_question()
        || clause.is_quoted(at)
        || clause.is_supposed(at)
    {
        return None;
    }
    let (weight, lead) = [moved, goes, instead, was, no_longer].iter().find_map(|rule| rule(clause, at))?;
    (!lead.negated && !lead.modal).then_some(Hit {
        category: Category::Change,
        confidence: weight - aside(clause, &lead),
        at,
        lead,
    })
}

/// A number, a day, a month or an amount of money.
pub(super) fn is_amount(clause: &Clause<'_, '_>, at: usize) -> bool {
    let word = clause.word(at);
    clause.parsed.text.kind(at) == Some(Kind::Number)
        || word.starts_with(|c: char| c.is_ascii_digit())
        || matches!(word, "£" | "€" | "$")
        || is_day_or_month(word)
        || matches!(
            word,
            "one"
                | "two"
                | "three"
                | "four"
                | "five"
                | "six"
                | "seven"
                | "eight"
                | "nine"
                | "ten"
                | "twelve"
                | "spring"
                | "summer"
                | "autumn"
                | "winter"
                | "today"
                | "tomorrow"
                | "fifth"
                | "third"
                | "quarter"
                | "half"
                | "twenty"
                | "thirty"
                | "noon"
                | "midnight"
        )
}

/// "may" is mostly the verb.
fn is_day_or_month(word: &str) -> bool {
    match calendar_word(word) {
        Some((CalendarWord::Month(month), _)) => month != 5,
        Some((CalendarWord::Weekday(_), spelling)) => matches!(spelling, Spelling::Full | Spelling::Short),
        None => false,
    }
}

/// Whether a day or an amount follows one of the words within a clause.
fn amount_after(clause: &Clause<'_, '_>, from: usize, marks: &[&str]) -> bool {
    (from..clause.tokens.end).any(|at| {
        marks.contains(&clause.word(at))
            && (at + 1..clause.tokens.end.min(at + 5)).any(|near| is_amount(clause, near))
    })
}

/// "the launch was postponed to 3 May", "the price has risen by a fifth", "cut from 5k to 3k".
fn moved(clause: &Clause<'_, '_>, at: usize) -> Option<(f32, Lead)> {
    let word = clause.word(at);
    let moves = matches!(
        word,
        "moved"
            | "cut"
            | "raised"
            | "brought"
            | "put"
            | "moves"
            | "went"
            | "set"
            | "slips"
            | "slipped"
            | "falls"
            | "fell"
            | "pushed"
    );
    let verb = verbs::of(word)?;
    if verb.class != Class::Shift && !moves {
        return None;
    }
    let lead = clause.lead(at);
    let attribute = !lead.be && at > clause.tokens.start && is_function_word(clause.word(at - 1));
    let told = verb.past || verb.third || verb.participle || (lead.be && verb.ing) || lead.future;
    if attribute || !told {
        return None;
    }
    let both = amount_after(clause, at, &["from"]) && amount_after(clause, at, &["to", "until"]);
    let to = amount_after(clause, at, &["to", "until", "till", "by", "→", ">"]);
    let back = matches!(clause.word(at + 1), "back" | "forward" | "out" | "up" | "down");
    let weight = match () {
        () if both => 0.74,
        () if to && (verb.class == Class::Shift || back || word == "moved") => 0.68,
        () if back && matches!(word, "pushed" | "put" | "brought" | "moved") => 0.6,
        () if verb.class == Class::Shift
            && lead.be
            && lead.subject != Subject::Nobody
            && word != "changed" =>
        {
            0.58
        }
        () if verb.class == Class::Shift
            && matches!(lead.subject, Subject::Thing)
            && (verb.past || verb.third)
            && !verb.base =>
        {
            0.54
        }
        () => return None,
    };
    Some((weight, lead))
}

/// "goes up from two to ten", "has gone up by a fifth", "down to 285k".
fn goes(clause: &Clause<'_, '_>, at: usize) -> Option<(f32, Lead)> {
    if !matches!(clause.word(at), "up" | "down") {
        return None;
    }
    let going = at > clause.tokens.start
        && matches!(
            clause.word(at - 1),
            "goes" | "gone" | "went" | "going" | "go" | "is" | "are" | "was" | "came" | "comes"
        );
    let amount = (at + 1..clause.tokens.end.min(at + 4)).any(|near| is_amount(clause, near));
    let marked = matches!(clause.word(at + 1), "from" | "by") || (clause.word(at + 1) == "to" && going);
    let lead = clause.lead(at);
    (amount && marked && (going || lead.subject == Subject::Thing)).then_some((0.68, lead))
}

/// "now 24 April instead of 14 April", "11:30 not 10", "rather than".
fn instead(clause: &Clause<'_, '_>, at: usize) -> Option<(f32, Lead)> {
    let (length, sure) = match (clause.word(at), clause.word(at + 1)) {
        ("instead", "of") | ("rather", "than") => (2, true),
        ("not", _) => (1, false),
        _ => return None,
    };
    let amount = |range: std::ops::Range<usize>| {
        range.filter(|near| *near < clause.tokens.end).any(|near| is_amount(clause, near))
    };
    let after = amount(at + length..at + length + 4);
    let before = amount(clause.tokens.start.max(at.saturating_sub(7))..at);
    let now = (clause.tokens.start..at)
        .any(|near| matches!(clause.word(near), "now" | "will" | "from" | "is" | "are" | "new"));
    let mut lead = clause.lead(at);
    lead.negated = false;
    match () {
        () if after && before && (sure || now) => Some((0.72, lead)),
        () if sure && now => Some((0.6, lead)),
        () => None,
    }
}

/// "285k, was 310k", "(was 310k)", "previously", "up from".
fn was(clause: &Clause<'_, '_>, at: usize) -> Option<(f32, Lead)> {
    let marks = matches!(clause.word(at.wrapping_sub(1)), "," | "(" | ";" | "-" | "–");
    let word = clause.word(at);
    let past = matches!(word, "was" | "were" | "before" | "previously" | "formerly" | "up" | "down") && marks;
    let arrow = word == "→" || (word == "-" && clause.word(at + 1) == ">");
    let near = || (at + 1..clause.tokens.end.min(at + 4)).any(|near| is_amount(clause, near));
    let earlier = || (clause.tokens.start.max(at.saturating_sub(5))..at).any(|near| is_amount(clause, near));
    ((past || arrow) && near() && earlier()).then(|| (0.66, clause.lead(clause.tokens.start)))
}

/// "no longer", "not any more", "from now on", "henceforth", "with immediate effect".
fn no_longer(clause: &Clause<'_, '_>, at: usize) -> Option<(f32, Lead)> {
    let found = match clause.word(at) {
        "no" => clause.word(at + 1) == "longer",
        "from" => clause.word(at + 1) == "now" && clause.word(at + 2) == "on",
        "henceforth" | "henceforward" => true,
        "immediate" => clause.word(at + 1) == "effect",
        _ => false,
    };
    found.then(|| (0.6, clause.lead(clause.tokens.start)))
}
