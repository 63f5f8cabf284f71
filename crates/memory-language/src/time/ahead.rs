//! Questions of what is to come: "what is due this week?", "anything I have to hand in by Friday?".

use jiff::Timestamp;

use super::calendar::{date_of, day_start};
use super::question::{Window, is_any, words};
use crate::tense::Tense;

const AHEAD: [&str; 4] = ["will", "ll", "upcoming", "planning"];
/// The same, unless what was is asked for: "what was due in March?".
const AHEAD_IN_PRESENT: [&str; 7] =
    ["due", "scheduled", "planned", "deadline", "deadlines", "appointment", "appointments"];
const OBLIGED: [&str; 4] = ["have to", "need to", "must", "should"];

/// The question is of what is to come, as far as its words tell.
pub(super) fn looks_ahead(question: &str) -> bool {
    let has = |list: &[&str]| words(question).any(|word| is_any(word, list));
    has(&AHEAD) || has(&AHEAD_IN_PRESENT) && Tense::of(question) != Tense::Past
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
