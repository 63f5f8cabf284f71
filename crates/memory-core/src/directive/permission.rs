//! What is allowed again: "tabs are fine now", "you can use emojis again", "no need to explain every step anymore".

use super::clauses::{self, Statement, is_reported};
use super::ended::rule_is_gone;
use super::sentence::Sentence;
use super::words::list;

/// The most words of what is fine again.
const SUBJECT_MAX: usize = 8;

pub(super) fn permission(sentence: &Sentence<'_>) -> Option<Statement> {
    if sentence.is_question() {
        return None;
    }
    let tokens = fine_again(sentence)
        .or_else(|| may_again(sentence))
        .or_else(|| no_need(sentence))
        .or_else(|| rule_is_gone(sentence))?;
    if is_reported(sentence, tokens.1) || sentence.is_quoted(tokens.0) {
        return None;
    }
    Some(Statement { is_permission: true, ..Statement::new(tokens, None) })
}

/// "Actually, tabs are fine now."
fn fine_again(sentence: &Sentence<'_>) -> Option<(usize, usize)> {
    let at = list("allowed").find(sentence, 0, sentence.len())?;
    let end = clauses::end_of(sentence, at);
    let has_changed = list("again").within(sentence, 0, end) || list("changed").within(sentence, 0, end);
    let start = clauses::start_of(sentence, at);
    let start = start + list("lead-in").at(sentence, start, at);
    let subject = at.checked_sub(start).filter(|words| (1..=SUBJECT_MAX).contains(words))?;
    let is_bare = matches!(
        sentence.word(start),
        Some("it" | "this" | "that" | "everything" | "all" | "i" | "he" | "she" | "they" | "which" | "what")
    );
    (has_changed && !(is_bare && subject == 1)).then_some((start, end))
}

/// "You can use emojis again."
fn may_again(sentence: &Sentence<'_>) -> Option<(usize, usize)> {
    let start = (0..sentence.len().min(8)).find(|at| {
        sentence.word(*at) == Some("you") && matches!(sentence.word(at + 1), Some("can" | "may" | "could"))
    })?;
    let end = clauses::end_of(sentence, start);
    list("again").within(sentence, start, end).then_some((start, end))
}

/// "You don't need to explain every step anymore."
fn no_need(sentence: &Sentence<'_>) -> Option<(usize, usize)> {
    let at = list("no need").find(sentence, 0, sentence.len().min(8))?;
    let start = clauses::start_of(sentence, at);
    let is_users = matches!(sentence.word(start), Some("you" | "no" | "the" | "there's" | "it's"));
    let end = clauses::end_of(sentence, at);
    (is_users && list("over").within(sentence, at, end)).then_some((start, end))
}
