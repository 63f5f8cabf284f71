//! Questions of what is to come: "what is due this week?", "anything I have to hand in by Friday?". Their words are English; in
//! other languages a question is of what was, unless its date says otherwise.

use super::asked::{TOLD, is_any, words};
use crate::tense::Tense;

const AHEAD: [&str; 3] = ["will", "ll", "upcoming"];
/// The same, unless what was is asked for: "what was due in March?".
const AHEAD_IN_PRESENT: [&str; 8] =
    ["due", "scheduled", "planned", "planning", "deadline", "deadlines", "appointment", "appointments"];
/// What is asked of one's own days and of what stands in a calendar: "do I have anything on Friday?", "what is on Tuesday?", "can we
/// meet on Monday?".
const OF_A_CALENDAR: [&str; 22] = [
    "do i have",
    "do we have",
    "have i got",
    "have we got",
    "am i",
    "are we",
    "what is on",
    "what s on",
    "anything on",
    "anything for",
    "is happening",
    "s happening",
    "free on",
    "busy on",
    "can i",
    "can we",
    "could i",
    "could we",
    "may i",
    "shall i",
    "shall we",
    "should we",
];
/// What is asked of what was written or said then.
const OF_TEXTS: [&str; 6] = ["notes", "minutes", "from", "since", "mail", "mails"];
const OBLIGED: [&str; 4] = ["have to", "need to", "must", "should"];
/// Of what is called so things may be to come.
const NOT_DONE: [&str; 4] = ["scheduled", "planned", "expected", "supposed"];

/// The question is of what is to come, as far as its words tell.
pub(super) fn looks_ahead(question: &str) -> bool {
    let has = |list: &[&str]| words(question).any(|word| is_any(word, list));
    // "What did Will say": inside a question a capital makes it a name.
    let is_name = |n: usize, word: &str| n > 0 && word == "Will";
    words(question).enumerate().any(|(n, word)| is_any(word, &AHEAD) && !is_name(n, word))
        || !is_of_the_past(question)
            && (has(&AHEAD_IN_PRESENT) || has_any(question, &OF_A_CALENDAR) && !has(&OF_TEXTS) && !has(&TOLD))
}

/// It is of what is to come, or of what has to be done.
pub(super) fn asks_what_comes(question: &str) -> bool {
    looks_ahead(question) || has_any(question, &OBLIGED)
}

/// "Who missed the deadline?"
pub(super) fn is_of_the_past(question: &str) -> bool {
    let is_done = |word: &str| word.len() > 4 && word.ends_with("ed") && !is_any(word, &NOT_DONE);
    Tense::has_past(question) || words(question).any(is_done)
}

/// Whether the words of any of these phrases stand one after the other.
fn has_any(question: &str, phrases: &[&str]) -> bool {
    let words: Vec<String> = words(question).map(str::to_ascii_lowercase).collect();
    phrases.iter().any(|phrase| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.windows(phrase.len()).any(|window| window == phrase)
    })
}
