//! Whether a question asks for the latest or the first of several: "the most recent outage", "when did we last …",
//! "our first release". "Last week" names a time, "last name" and "first aid" nothing of the kind.

use crate::calendar_words::calendar_word;
use crate::text::words_of;

/// Which of what happened several times a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeOrder {
    LatestFirst,
    EarliestFirst,
}

/// Words that ask for the latest by themselves, in the languages whose dates are read.
const LATEST: [&str; 20] = [
    "latest",
    "newest",
    "currently",
    "nowadays",
    "aktuell",
    "aktuelle",
    "aktuellen",
    "actuellement",
    "penultimate",
    "zuletzt",
    "neueste",
    "neuesten",
    "neuester",
    "neuestes",
    "jüngste",
    "jüngsten",
    "dernièrement",
    "récente",
    "récent",
    "reciente",
];
/// The same for the first.
const EARLIEST: [&str; 9] = [
    "earliest",
    "originally",
    "initially",
    "zuerst",
    "erstmals",
    "ursprünglich",
    "initialement",
    "originalmente",
    "inizialmente",
];
/// Words that ask for the latest where no time, and nothing that is called so, stands beside them.
const LAST: [&str; 16] = [
    "last",
    "letzte",
    "letzten",
    "letzter",
    "letztes",
    "letztem",
    "dernier",
    "dernière",
    "derniers",
    "dernières",
    "último",
    "última",
    "últimos",
    "ultimo",
    "ultima",
    "ultimi",
];
const FIRST: [&str; 13] = [
    "first",
    "original",
    "initial",
    "erste",
    "ersten",
    "erster",
    "erstes",
    "premier",
    "première",
    "primer",
    "primera",
    "primero",
    "primo",
];
/// What is a time after "last" and "first", or counts times: "last week", "the first days of May", "the last two".
const TIMES: [&str; 64] = [
    "second",
    "seconds",
    "minute",
    "minutes",
    "hour",
    "hours",
    "morning",
    "afternoon",
    "evening",
    "night",
    "day",
    "days",
    "week",
    "weeks",
    "weekend",
    "weekends",
    "fortnight",
    "month",
    "months",
    "quarter",
    "half",
    "year",
    "years",
    "decade",
    "century",
    "spring",
    "summer",
    "autumn",
    "fall",
    "winter",
    "christmas",
    "easter",
    "halloween",
    "thanksgiving",
    "few",
    "couple",
    "several",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "tag",
    "tage",
    "tagen",
    "woche",
    "wochen",
    "wochenende",
    "monat",
    "monate",
    "monaten",
    "jahr",
    "jahre",
    "jahren",
    "semaine",
    "mois",
    "année",
    "semana",
    "settimana",
    "sommer",
];
/// The same where they stand before the word: "la semaine dernière".
const TIMES_BEFORE: [&str; 14] = [
    "semaine",
    "mois",
    "année",
    "an",
    "nuit",
    "été",
    "hiver",
    "semana",
    "mes",
    "año",
    "settimana",
    "mese",
    "anno",
    "notte",
];
/// What "last" and "first" belong to as a name: "last name", "first aid", "the first floor".
const NAMED: [&str; 30] = [
    "aid",
    "class",
    "degree",
    "floor",
    "grade",
    "grader",
    "hand",
    "language",
    "lady",
    "light",
    "line",
    "mate",
    "minute",
    "mile",
    "name",
    "names",
    "officer",
    "order",
    "orders",
    "party",
    "person",
    "place",
    "post",
    "principles",
    "resort",
    "responder",
    "responders",
    "rites",
    "straw",
    "supper",
];
/// Verbs with which a question is of what is to be done or always so: "what should I do first", "will it last".
const AHEAD: [&str; 13] = [
    "should", "shall", "must", "need", "will", "would", "can", "could", "may", "might", "soll", "muss",
    "dois",
];

/// What the question asks for of several that lie behind each other; `None` where it asks for none by that.
pub fn time_order(question: &str) -> Option<TimeOrder> {
    let written: Vec<&str> = words_of(question).collect();
    let lower: Vec<String> = written.iter().map(|word| word.to_lowercase()).collect();
    let words: Vec<&str> = lower.iter().map(String::as_str).collect();
    let is_capital = |at: usize| written.get(at).is_some_and(|word| word.starts_with(char::is_uppercase));
    // "The Last Reel".
    let is_name = |at: usize| at > 0 && is_capital(at) && is_capital(at + 1);
    (0..words.len()).filter(|at| !is_name(*at)).find_map(|at| order_at(&words, at))
}

fn order_at(words: &[&str], at: usize) -> Option<TimeOrder> {
    let word = words[at];
    let before = at.checked_sub(1).map_or("", |before| words[before]);
    let after = words.get(at + 1).copied().unwrap_or("");
    let is_to_do = || is_ahead(words) || words[..at].contains(&"to");
    let is_now = asks_of_now(words, at);
    if LATEST.contains(&word) || is_now || matches!(word, "recent" | "recently") && before == "most" {
        // "At the latest" is a limit.
        let is_limit = before == "the" && at >= 2 && words[at - 2] == "at";
        return (!is_limit && !is_ahead(words)).then_some(TimeOrder::LatestFirst);
    }
    if EARLIEST.contains(&word) {
        return (!is_to_do()).then_some(TimeOrder::EarliestFirst);
    }
    let names_a_time = TIMES.contains(&after)
        || TIMES_BEFORE.contains(&before)
        || calendar_word(after).is_some()
        || after.starts_with(|first: char| first.is_ascii_digit());
    if names_a_time || NAMED.contains(&after) {
        return None;
    }
    if LAST.contains(&word) && !lasts(words, at) && before != "at" {
        return Some(TimeOrder::LatestFirst);
    }
    (FIRST.contains(&word) && !is_to_do() && after != "of").then_some(TimeOrder::EarliestFirst)
}

/// "What is the current rate limit?", "where is our office now?": the latest told is how it is; not "the current account".
fn asks_of_now(words: &[&str], at: usize) -> bool {
    const NAMED_SO: [&str; 5] = ["account", "accounts", "affairs", "events", "of"];
    let is =
        |word: &&str| matches!(*word, "is" | "are" | "s" | "does" | "do" | "what's" | "who's" | "where's");
    match words[at] {
        "current" => words.get(at + 1).is_some_and(|after| !NAMED_SO.contains(after)),
        "now" => at + 1 == words.len() && words[..at].iter().any(is) && !words.contains(&"i"),
        _ => false,
    }
}

/// "Should we use the latest tag?", but not "can you tell me …".
fn is_ahead(words: &[&str]) -> bool {
    let says = |at: usize| AHEAD.contains(&words[at]) && words.get(at + 1) != Some(&"you");
    (0..words.len()).any(says)
}

/// "How long did it last?", "will it last?": the verb.
fn lasts(words: &[&str], at: usize) -> bool {
    if words[at] != "last"
        || matches!(at.checked_sub(1).map(|before| words[before]), Some("the" | "my" | "our"))
    {
        return false;
    }
    let so_far = &words[..at];
    so_far.windows(2).any(|two| two == ["how", "long"]) || is_ahead(so_far)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_and_the_first_are_asked_for() {
        for question in [
            "When did we last have an outage?",
            "What was the most recent release about?",
            "Who did I most recently speak to?",
            "what's the latest version",
            "How long did it take us to ship the latest version?",
            "Can you tell me what the latest release was?",
            "How did the last visit to the vet go?",
            "When was the boiler serviced last?",
            "the last time we saw her",
            "How long did it take the last time?",
            "What happened the time before last?",
            "Wann war ich zuletzt beim Zahnarzt?",
            "Was kam bei der letzten Prüfung heraus?",
            "Quelle est la dernière version ?",
            "¿Cuál fue el último pedido?",
            "What is the current rate limit?",
            "Where is our office now?",
            "Which Postgres does production currently run?",
            "Qual è l'ultima versione?",
        ] {
            assert_eq!(time_order(question), Some(TimeOrder::LatestFirst), "{question}");
        }
        for question in [
            "What was our first outage?",
            "Who first suggested Postgres?",
            "What's the earliest reading on record?",
            "How slow was the import originally?",
            "Where did we see a hedgehog for the first time?",
            "Wer hat den Fehler zuerst gesehen?",
            "Was war unser erster Vertrag?",
        ] {
            assert_eq!(time_order(question), Some(TimeOrder::EarliestFirst), "{question}");
        }
    }

    #[test]
    fn names_and_times_ask_for_neither() {
        for question in [
            "What did we do last week?",
            "What is her last name?",
            "Where is the first aid kit?",
            "Who sits on the first floor?",
            "What happened in the first days of April?",
            "What was planned last March?",
            "What changed in the last two weeks?",
            "What did I do in the last 30 days?",
            "How long did the outage last?",
            "Will the battery last?",
            "By when at the latest?",
            "What is the first thing I should do?",
            "What should I do first?",
            "When can I leave at the earliest?",
            "First of all, who is Ben?",
            "Qu'est-ce qu'on a fait la semaine dernière ?",
            "Was war letzte Woche?",
            "Which pub is the Last Orders?",
            "What does the Last Reel cost?",
            "May we use the latest tag for images?",
            "Which database do we use?",
            "Which bank is my current account with?",
            "How do I get the build green now?",
        ] {
            assert_eq!(time_order(question), None, "{question}");
        }
    }
}
