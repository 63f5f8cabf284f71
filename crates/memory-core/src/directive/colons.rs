//! Statements that a colon or a bracket parts, and what a colon spells out.

use memory_language::lexicon::is_function_word;

use super::clauses::{Statement, Tokens, turns};
use super::sentence::Sentence;
use super::words::list;

/// The most tokens of what spells out a statement behind its colon.
const SPELLED_OUT_MAX: usize = 30;
/// The most tokens of when something is to be remembered.
const TO_REMEMBER_MAX: usize = 12;
/// The most tokens of a label.
const LABEL_MAX: usize = 5;

/// Whether what is behind a colon spells out what is before it: "use this order: imports, constants".
pub(super) fn spells_out(sentence: &Sentence<'_>, colon: usize) -> bool {
    let rest = colon + 1..sentence.len();
    sentence.mark(colon) == Some(":")
        && (1..=SPELLED_OUT_MAX).contains(&rest.len())
        && !sentence.is_question()
        && !turns(sentence, colon + 1)
}

/// "Remember for anything about food: Ida has a nut allergy", "keep in mind when you plan trips: no flights".
pub(super) fn to_remember(sentence: &Sentence<'_>) -> Option<Statement> {
    let words = [0, 1, 2].map(|at| sentence.word(at).unwrap_or_default());
    let from = match words {
        ["remember" | "note", ..] => 1,
        ["keep" | "bear", "in", "mind"] => 3,
        _ => return None,
    };
    let names_when = matches!(sentence.word(from), Some("for" | "when" | "whenever" | "if"));
    let colon =
        (from..sentence.len().min(from + TO_REMEMBER_MAX)).find(|at| sentence.mark(*at) == Some(":"))?;
    let (_, end) = spelled_out(sentence, (0, colon));
    let is_free = !sentence.is_question() && !sentence.is_quoted(0);
    (names_when && is_free && end > colon + 1).then(|| Statement::new((0, end), Some((from, colon))))
}

/// Makes one statement of two that only a colon or a bracket parts.
pub(super) fn joined(sentence: &Sentence<'_>, mut found: Vec<Statement>) -> Vec<Statement> {
    found.sort_by_key(|statement| statement.tokens);
    let mut joined: Vec<Statement> = Vec::new();
    for mut statement in found {
        let mark = joined.last().map(|before| before.tokens.1).filter(|at| *at + 1 == statement.tokens.0);
        match (joined.last_mut(), mark.and_then(|at| sentence.mark(at))) {
            (Some(before), Some(mark))
                if matches!(mark, ":" | "(" | ")")
                    || (matches!(mark, "-" | "–" | "—") && is_of_text(sentence, before.tokens)) =>
            {
                before.tokens.1 = statement.tokens.1;
                before.condition = before.condition.or(statement.condition.take());
            }
            _ => joined.push(statement),
        }
    }
    joined
}

/// Where a statement behind a colon begins, with the label before it that says of what it is: "Commit messages: imperative".
pub(super) fn with_label(sentence: &Sentence<'_>, start: usize, floor: usize) -> usize {
    let is_dash = |at: usize| matches!(sentence.mark(at), Some("-" | "–" | "—"));
    let is_end = |at: &usize| sentence.mark(*at) == Some(":") || is_dash(*at);
    // "Commit messages: please write them in Dutch".
    let asked = start.saturating_sub(usize::from(start > 0 && sentence.word(start - 1) == Some("please")));
    let Some(colon) = asked.checked_sub(1).filter(is_end) else { return start };
    let ends = |at: &usize| matches!(sentence.mark(*at), Some("." | ";" | "!" | "?" | ":" | "—" | "–"));
    let label = (floor..colon).rev().find(ends).map_or(floor, |at| at + 1)..colon;
    let names_text = is_of_text(sentence, (label.start, colon));
    let is_label = |at: usize| {
        let is_name = |word: &str| names_text || !list("label").has(word);
        sentence.word(at).map_or(matches!(sentence.mark(at), Some("/" | "&" | "-")), is_name)
    };
    let says_of_what = (1..=LABEL_MAX).contains(&label.len())
        && (names_text || !is_dash(colon))
        && label.clone().all(is_label);
    if says_of_what { label.start } else { start }
}

/// The label of a statement as its condition, where it names what is written: "commit messages: no emoji".
pub(super) fn of_text(sentence: &Sentence<'_>, (label, start): Tokens) -> Option<Tokens> {
    let end =
        (label..start).rev().find(|at| sentence.word(*at) != Some("please")).filter(|end| label < *end)?;
    is_of_text(sentence, (label, end)).then_some((label, end))
}

/// "Commit messages", "release notes", not "quick notes".
fn is_of_text(sentence: &Sentence<'_>, (start, end): Tokens) -> bool {
    let is_many =
        |word: &str| matches!(word, "notes" | "summaries" | "titles" | "messages" | "names" | "texts");
    let is_which = |word: &str| {
        !is_function_word(word)
            && !list("label").has(word)
            && !matches!(word, "quick" | "more" | "few" | "last" | "other")
    };
    let names_which = end - start > 1
        && sentence.word(end - 1).is_some_and(is_many)
        && sentence.word(end - 2).is_some_and(is_which);
    list("documents").within(sentence, start, end) || names_which
}

/// Where what a colon ends has its end, with what spells it out.
pub(super) fn spelled_out(sentence: &Sentence<'_>, tokens: Tokens) -> Tokens {
    let (start, end) = tokens;
    if spells_out(sentence, end) {
        let borders = |at: &usize| matches!(sentence.mark(*at), Some(";" | "?" | "!" | "—" | "–" | "-"));
        return (start, (end + 1..sentence.len()).find(borders).unwrap_or(sentence.len()));
    }
    tokens
}
