//! What is allowed again: "tabs are fine now", "you can use emojis again", "no need to explain every step anymore". And what is
//! allowed somewhere only: "bullets are fine in the changelog".

use memory_language::lexicon::is_function_word;

use super::clauses::{self, Statement, Tokens, is_reported};
use super::ended::{given_up, rule_is_gone};
use super::length;
use super::sentence::Sentence;
use super::words::list;

/// The most words of what is fine again.
const SUBJECT_MAX: usize = 8;
/// The most words of what may be done, before where.
const OBJECT_MAX: usize = 5;

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

/// "You can use emojis again.", "The test was negative, so you may suggest it again."
fn may_again(sentence: &Sentence<'_>) -> Option<(usize, usize)> {
    const AT_THE_HEAD: usize = 8;
    let opens = |at: usize| {
        at < AT_THE_HEAD
            || sentence.mark(at - 1).is_some()
            || matches!(sentence.word(at - 1), Some("so" | "and" | "hence"))
    };
    let start = (0..sentence.len()).find(|at| {
        sentence.word(*at) == Some("you")
            && matches!(sentence.word(at + 1), Some("can" | "may" | "could"))
            && opens(*at)
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

/// "The birthday card may have exclamation marks, as many as you like": of one thing, not of whoever answers.
pub(super) fn allows_something(sentence: &Sentence<'_>, (start, end): (usize, usize)) -> bool {
    (start + 1..end).any(|at| {
        sentence.word(at) == Some("may")
            && !matches!(sentence.word(at - 1), Some("you" | "answers" | "responses" | "replies"))
    })
}

/// What only ends another statement, of a sentence that states nothing else: "forget Harvard, we're on Vancouver now", "as much depth
/// as you like from now on". It is shown where it has ended one.
pub(super) fn withdrawal(sentence: &Sentence<'_>) -> Option<Statement> {
    let given_up =
        || given_up(sentence).map(|tokens| Statement { is_permission: true, ..Statement::new(tokens, None) });
    given_up().or_else(|| length::freed(sentence)).filter(|stated| !is_reported(sentence, stated.tokens.1))
}

/// "Bullets are fine in the changelog", "you can use tables when you compare prices": of what is written, and under a condition.
pub(super) fn allowed_somewhere(sentence: &Sentence<'_>) -> Option<Statement> {
    let (start, end, setting) = allowed_setting(sentence)?;
    let names_text =
        ["answers", "style", "documents"].iter().any(|name| list(name).within(sentence, start, end));
    let is_meant = names_text
        && !sentence.is_question()
        && !list("passing").within(sentence, start, end)
        && !list("again").within(sentence, start, end)
        && !is_reported(sentence, start)
        && !sentence.is_quoted(start);
    is_meant.then(|| Statement::new((start, end), Some(setting)))
}

/// Where something is said to be fine, or that you may do it, begins and ends, and the setting or condition right behind that.
pub(super) fn allowed_setting(sentence: &Sentence<'_>) -> Option<(usize, usize, Tokens)> {
    let (start, allowed) = is_allowed(sentence).or_else(|| you_may(sentence))?;
    let end = clauses::end_of(sentence, allowed);
    let opens = |at: &usize| {
        matches!(
            sentence.word(*at),
            Some("in" | "for" | "on" | "inside" | "within" | "when" | "whenever" | "if")
        )
    };
    let is_word = |at: &usize| sentence.word(*at).is_some();
    let from = (allowed..end).take_while(is_word).take(OBJECT_MAX).find(opens)?;
    let to = (from..end).take_while(is_word).last()? + 1;
    (from + 1 < to).then_some((start, end, (from, to)))
}

/// Where what is fine begins, and what follows that it is.
fn is_allowed(sentence: &Sentence<'_>) -> Option<(usize, usize)> {
    let at = list("allowed").find(sentence, 0, sentence.len())?;
    let start = clauses::start_of(sentence, at);
    let start = start + list("lead-in").at(sentence, start, at);
    let words = at.checked_sub(start).filter(|words| (1..=SUBJECT_MAX).contains(words))?;
    let is_thing = !(words == 1 && sentence.word(start).is_some_and(is_function_word));
    is_thing.then(|| (start, at + list("allowed").at(sentence, at, sentence.len())))
}

/// The same of "you can …".
fn you_may(sentence: &Sentence<'_>) -> Option<(usize, usize)> {
    let start = (0..sentence.len().min(4)).find(|at| {
        sentence.word(*at) == Some("you") && matches!(sentence.word(at + 1), Some("can" | "may"))
    })?;
    let is_first = (0..start).all(|at| sentence.word(at).is_none_or(|word| list("lead-in").has(word)));
    let does = sentence.word(start + 2).is_some_and(|word| list("verbs").has(word) && word != "stop");
    (is_first && does).then_some((start, start + 3))
}
