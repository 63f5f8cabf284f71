//! What of somebody's health bears on later requests: "I have a peanut allergy", "the user takes warfarin", "I can't have dairy".

use super::clauses::{self, Statement};
use super::sentence::Sentence;
use super::speakers::Around;
use super::words::list;

/// What is told of stands within so many tokens of the verb.
const REACH: usize = 6;

/// Such a statement of a sentence.
pub(super) fn statement(sentence: &Sentence<'_>, around: Around) -> Option<Statement> {
    if sentence.is_question() || around.has_task {
        return None;
    }
    let starts = clauses::starts(sentence);
    let start = starts.into_iter().find(|at| tells(sentence, *at))?;
    let is_free = !sentence.is_quoted(start) && !clauses::is_reported(sentence, start);
    // "My allergies: pollen, cats".
    let is_list = sentence.mark(start + 2) == Some(":");
    let end = if is_list { sentence.len() } else { clauses::end_of(sentence, start) };
    let end = if is_list && sentence.mark(end - 1).is_some() { end - 1 } else { end };
    is_free.then(|| Statement::new((start, end), None))
}

fn tells(sentence: &Sentence<'_>, start: usize) -> bool {
    let end = clauses::end_of(sentence, start);
    if list("passing").within(sentence, start, end) {
        return false;
    }
    if sentence.word(start) == Some("my") && matches!(sentence.word(start + 1), Some("allergies" | "allergy"))
    {
        return sentence.mark(start + 2) == Some(":") || sentence.word(start + 2) == Some("is");
    }
    let who = start + usize::from(sentence.word(start) == Some("the"));
    let (verb, is_had) = match (sentence.word(who), sentence.word(who + 1)) {
        (Some("i've"), Some("got")) | (Some("i" | "user"), Some("have" | "has")) => (who + 2, true),
        (Some("i" | "user"), _) => (who + 1, false),
        _ => return false,
    };
    let near = |names: &str| {
        (verb..end.min(verb + REACH)).any(|at| list(names).at(sentence, at, end) > 0)
            && !(verb..end.min(verb + REACH)).any(|at| matches!(sentence.word(at), Some("to" | "no" | "for")))
    };
    match sentence.word(verb) {
        _ if is_had => near("illness"),
        Some("take" | "takes") => near("medicine"),
        Some("use" | "uses") => near("aid"),
        Some("can't" | "cannot") => {
            matches!(sentence.word(verb + 1), Some("have" | "eat" | "drink" | "tolerate"))
                && (verb + 3..=verb + 5).contains(&end)
                && !matches!(
                    sentence.word(verb + 2),
                    Some("it" | "that" | "this" | "them" | "a" | "the" | "any")
                )
        }
        _ => false,
    }
}
