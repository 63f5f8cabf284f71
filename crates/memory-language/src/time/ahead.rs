//! Questions of what is to come: "what is due this week?", "anything I have to hand in by Friday?". Their words are English; in
//! other languages a question is of what was, unless its date says otherwise.

use super::asked::{TOLD, is_any, words};
use crate::tense::{Tense, tells_of_done};

const AHEAD: [&str; 3] = ["will", "ll", "upcoming"];
/// The same, unless what was is asked for: "what was due in March?".
const AHEAD_IN_PRESENT: [&str; 8] =
    ["due", "scheduled", "planned", "planning", "deadline", "deadlines", "appointment", "appointments"];
/// What is asked of one's own days and of what stands in a calendar: "do I have anything on Friday?", "what is on Tuesday?".
const OF_A_CALENDAR: [&str; 14] = [
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
];
/// "Can we meet on Monday?", but not "can I see what was decided on Monday?".
const MAY_I: [&str; 8] =
    ["can i", "can we", "could i", "could we", "may i", "shall i", "shall we", "should we"];
const LOOK_UP: [&str; 11] =
    ["see", "get", "find", "read", "show", "know", "look", "hear", "recall", "check", "remember"];
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
    let is_of_a_calendar = has_any(question, &OF_A_CALENDAR) || has_any(question, &MAY_I) && !has(&LOOK_UP);
    words(question).enumerate().any(|(n, word)| is_any(word, &AHEAD) && !is_name(n, word))
        || is_to_be_arranged(question)
        || !is_of_the_past(question)
            && (has(&AHEAD_IN_PRESENT) || is_of_a_calendar && !has(&OF_TEXTS) && !has(&TOLD))
}

/// What a message is written for that is of what is to come.
const SENT_FOR: [&str; 12] = [
    "telling",
    "saying",
    "asking",
    "inviting",
    "that",
    "invitation",
    "invite",
    "reminder",
    "remind",
    "comes",
    "come",
    "coming",
];

/// "Plan dinner for Friday", "find me a slot between the 7th and the 11th": of days to come, unless it tells of what was.
fn is_to_be_arranged(question: &str) -> bool {
    const PLANNED: [&str; 7] = ["plan", "book", "schedule", "arrange", "organise", "organize", "reserve"];
    const FETCHED: [&str; 4] = ["find", "get", "order", "suggest"];
    let mut said = words(question).skip_while(|word| is_any(word, &["please", "can", "could", "you"]));
    let (verb, next) = (said.next().unwrap_or(""), said.next().unwrap_or(""));
    // "Plan of Friday" is a thing, and "find what Ann wrote on Friday", "get me the notes from Friday" look something up.
    let is_planned = is_any(verb, &PLANNED) && !is_any(next, &["of", "from"]);
    let is_fetched = is_any(verb, &FETCHED)
        && is_any(next, &["me", "us", "a", "an", "some"])
        && !words(question).any(|word| is_any(word, &OF_TEXTS));
    // "Draft a mail telling her that it comes on Friday", but not "write a summary of Friday's meeting".
    let is_sent = is_any(verb, &["draft", "write", "compose", "send"])
        && words(question).any(|word| is_any(word, &SENT_FOR));
    (is_planned || is_fetched || is_sent)
        && !is_of_the_past(question)
        && !words(question).any(|word| is_any(word, &TOLD))
}

/// It is of what is to come, or of what has to be done.
pub(super) fn asks_what_comes(question: &str) -> bool {
    looks_ahead(question) || has_any(question, &OBLIGED)
}

/// "What must be done by 30 November?", "draft the agenda for the meeting of 3 December".
pub(super) fn is_to_be_done(question: &str) -> bool {
    const WAS: [&str; 7] = ["did", "had", "was", "were", "been", "minutes", "notes"];
    const TO_MAKE: [&str; 4] = ["draft", "write", "prepare", "make"];
    let is_made = words(question).next().is_some_and(|word| is_any(word, &TO_MAKE));
    (is_made || has_any(question, &OBLIGED))
        && !words(question).any(|word| is_any(word, &WAS) || is_past_of_regular(word))
}

/// "Who missed the deadline?"
fn is_of_the_past(question: &str) -> bool {
    Tense::has_past(question) || words(question).any(is_past_of_regular)
}

fn is_past_of_regular(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ed") && !is_any(word, &NOT_DONE)
}

/// "Who is on call in January?", but not "who wrote the report in January?", "what have we done …", "the minutes of …".
pub(super) fn is_of_the_present(question: &str) -> bool {
    const IS: [&str; 14] = [
        "is", "are", "am", "do", "does", "can", "may", "must", "should", "need", "needs", "happens", "comes",
        "s",
    ];
    const WAS: [&str; 5] = ["have", "has", "notes", "minutes", "mails"];
    let has = |list: &[&str]| words(question).any(|word| is_any(word, list));
    (has(&IS) || has_verb(question) && !tells_of_done(question))
        && !has(&WAS)
        && !has(&TOLD)
        && !is_of_the_past(question)
}

/// "Who cooks on …", "which dishes suit everyone on …", which have one, but not "which meetings in …".
fn has_verb(question: &str) -> bool {
    let mut said =
        words(question).skip_while(|word| !is_any(word, &["who", "which", "what", "where", "how"]));
    let asks = said.next();
    let before_date =
        said.take_while(|word| !is_any(word, &["on", "in", "at", "for", "from", "during"])).count();
    match asks {
        Some(word) if is_any(word, &["who", "where", "how"]) => before_date > 0,
        Some(_) => before_date > 1,
        None => false,
    }
}

/// Whether the words of any of these phrases stand one after the other.
fn has_any(question: &str, phrases: &[&str]) -> bool {
    let words: Vec<String> = words(question).map(str::to_ascii_lowercase).collect();
    phrases.iter().any(|phrase| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.windows(phrase.len()).any(|window| window == phrase)
    })
}
