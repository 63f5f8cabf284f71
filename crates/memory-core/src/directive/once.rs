//! What is meant for one time: "… this time", "for this mail answer in English", "if the parcel arrives today, call me".

use super::moment;
use super::sentence::Sentence;
use super::words::list;

pub(super) fn is_meant_once(sentence: &Sentence<'_>) -> bool {
    list("once only").within(sentence, 0, sentence.len())
        || (0..sentence.len()).any(|at| {
            is_this_time(sentence, at) || is_of_one_thing(sentence, at) || moment::is_of_next(sentence, at)
        })
        || moment::awaits_end(sentence)
        || is_today(sentence)
}

/// "… this time", "just this once".
fn is_this_time(sentence: &Sentence<'_>, at: usize) -> bool {
    sentence.word(at) == Some("this")
        && sentence.word(at + 1) == Some("time")
        && !matches!(sentence.word(at + 2), Some("of" | "on" | "zone"))
        && !at.checked_sub(1).is_some_and(|at| matches!(sentence.word(at), Some("from" | "at" | "by")))
}

/// "For this mail …", "in this reply …", not "in this project …".
fn is_of_one_thing(sentence: &Sentence<'_>, at: usize) -> bool {
    matches!(sentence.word(at), Some("for" | "in" | "with" | "on"))
        && sentence.word(at + 1) == Some("this")
        && sentence.word(at + 2).is_some_and(|word| list("one thing").has(word))
}

/// "Today I'd rather …", not "from today on …" or "as I said today, never …".
fn is_today(sentence: &Sentence<'_>) -> bool {
    let is_now = |at: usize| {
        let is_day = matches!(sentence.word(at), Some("today" | "tonight" | "tomorrow"))
            || (sentence.word(at) == Some("this")
                && matches!(sentence.word(at + 1), Some("morning" | "afternoon" | "evening" | "weekend")));
        let before = at.checked_sub(1).and_then(|before| sentence.word(before));
        is_day
            && !matches!(
                before,
                Some("from" | "of" | "starting" | "since" | "said" | "asked" | "told" | "until")
            )
    };
    let lasts = |at: usize| {
        matches!(
            sentence.word(at),
            Some(
                "always"
                    | "never"
                    | "whenever"
                    | "every"
                    | "each"
                    | "user"
                    | "prefer"
                    | "prefers"
                    | "again"
                    | "anymore"
                    | "like"
                    | "when"
            )
        )
    };
    (0..sentence.len()).any(is_now)
        && !(0..sentence.len()).any(lasts)
        && !list("standing").within(sentence, 0, sentence.len())
}
