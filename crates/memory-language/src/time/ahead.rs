//! Questions of what is to come: "what is due this week?", "anything I have to hand in by Friday?".

use jiff::Timestamp;

use super::calendar::{date_of, day_start};
use super::question::{Window, is_any, words};
use crate::tense::Tense;

const AHEAD: [&str; 4] = ["will", "ll", "upcoming", "planning"];
/// The same, unless what was is asked for: "what was due in March?".
const AHEAD_IN_PRESENT: [&str; 7] =
    ["due", "scheduled", "planned", "deadline", "deadlines", "appointment", "appointments"];
/// What is asked of one's own days and of what stands in a calendar: "do I have anything on Friday?", "what is on Tuesday?".
const OF_A_CALENDAR: [&str; 14] = [
    "do i have",
    "do we have",
    "have i got",
    "have we got",
    "am i",
    "are we",
    "what is on",
    "what's on",
    "anything on",
    "anything for",
    "is happening",
    "'s happening",
    "free on",
    "busy on",
];
/// What is asked of what was written or said then.
const OF_TEXTS: [&str; 6] = ["notes", "minutes", "from", "since", "mail", "mails"];
const OBLIGED: [&str; 4] = ["have to", "need to", "must", "should"];

/// The question is of what is to come, as far as its words tell.
pub(super) fn looks_ahead(question: &str) -> bool {
    let has = |list: &[&str]| words(question).any(|word| is_any(word, list));
    let lower = question.to_ascii_lowercase();
    let of_a_calendar = || OF_A_CALENDAR.iter().any(|phrase| lower.contains(phrase)) && !has(&OF_TEXTS);
    has(&AHEAD) || Tense::of(question) != Tense::Past && (has(&AHEAD_IN_PRESENT) || of_a_calendar())
}

/// It is of what is to come, or of what has to be done.
pub(super) fn asks_what_comes(question: &str) -> bool {
    let lower = question.to_ascii_lowercase();
    looks_ahead(question) || OBLIGED.iter().any(|words| lower.contains(words))
}

/// Of a time that has not passed, what tells of it is asked for, and not what was written then. "By Friday" begins today.
pub(super) fn make_of_what_comes(window: &mut Window, now: Timestamp, decides_from: f32) {
    if window.end.is_none_or(|end| end <= now) {
        return;
    }
    if window.start.is_none() {
        window.start = day_start(date_of(now));
        window.decides = window.certainty >= decides_from;
    }
    window.is_to_come = true;
}
