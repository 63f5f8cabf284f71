//! How long answers are to be: a bound on it ("keep answers to five lines"), and that there is none ("as much depth as you like").

use super::clauses::{self, Statement};
use super::sentence::Sentence;
use super::words::list;

/// So many tokens may stand between a number and what it counts.
const COUNTED_MAX: usize = 2;

/// Whether it bounds the length of answers: by a number of lines, words and the like, or as "short".
pub(super) fn bounds(sentence: &Sentence<'_>) -> bool {
    let end = sentence.len();
    let counts = |at: usize| {
        let is_number = sentence.word(at).is_some_and(|word| {
            word.bytes().all(|byte| byte.is_ascii_digit()) || list("small numbers").has(word)
        });
        is_number
            && (at + 1..=at + COUNTED_MAX)
                .any(|at| sentence.word(at).is_some_and(|word| list("measures text").has(word)))
    };
    let is_short = |at: usize| {
        matches!(
            sentence.word(at),
            Some("short" | "brief" | "concise" | "terse" | "succinct" | "shorter" | "tl;dr")
        )
    };
    let is_of_answers = (0..end).any(|at| {
        matches!(
            sentence.word(at),
            Some(
                "answer"
                    | "answers"
                    | "reply"
                    | "replies"
                    | "response"
                    | "responses"
                    | "explanation"
                    | "explanations"
                    | "it"
            )
        )
    }) || list("answers").within(sentence, 0, end);
    let is_of_documents = list("documents").within(sentence, 0, end);
    is_of_answers && !is_of_documents && (0..end).any(|at| counts(at) || is_short(at))
}

/// Whether it says that answers may be as long as they need to be.
pub(super) fn frees(sentence: &Sentence<'_>) -> bool {
    list("no bound").within(sentence, 0, sentence.len())
}

/// "As much depth as you like from now on", "length doesn't matter any more".
pub(super) fn freed(sentence: &Sentence<'_>) -> Option<Statement> {
    let end = sentence.len();
    let at = list("no bound").find(sentence, 0, end)?;
    let lasts = ["standing", "changed", "over"].iter().any(|name| list(name).within(sentence, 0, end));
    let start = clauses::start_of(sentence, at);
    (lasts && !sentence.is_question() && !sentence.is_quoted(at)).then(|| Statement {
        is_permission: true,
        ..Statement::new((start, clauses::end_of(sentence, at)), None)
    })
}
