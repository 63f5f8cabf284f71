//! What is of the moment, however like a standing wish it sounds: "tell me when the build is done", "stop it", "never seen that
//! error before", "Grandpa never drives at night any more".

use std::ops::Range;

use super::sentence::Sentence;
use super::speakers::Voice;
use super::words::list;

/// The most tokens between what is waited for and its end.
const END_MAX: usize = 5;

/// Whether somebody is to be told once of an end: "tell me when the build is done", "call me back when you have found something".
pub(super) fn awaits_end(sentence: &Sentence<'_>) -> bool {
    let asks = (0..sentence.len()).find(|at| {
        matches!(
            sentence.word(*at),
            Some(
                "send"
                    | "show"
                    | "tell"
                    | "call"
                    | "ping"
                    | "ring"
                    | "text"
                    | "message"
                    | "notify"
                    | "wake"
                    | "mail"
                    | "let"
            )
        ) && matches!(sentence.word(at + 1), Some("me" | "us"))
    });
    let lasts = |at: usize| {
        matches!(
            sentence.word(at),
            Some("always" | "every" | "each" | "whenever" | "never" | "any" | "only" | "don't")
        ) || list("standing").at(sentence, at, sentence.len()) > 0
    };
    let is_end = |when: usize| {
        let end = (when + END_MAX + 1).min(sentence.len());
        let subject = sentence.word(when + 1);
        let is_one = matches!(
            subject,
            Some(
                "the" | "it" | "it's" | "you" | "you've" | "you're" | "he" | "she" | "they" | "that" | "this"
            )
        ) || (sentence.is_name(when + 1) && subject != Some("i"));
        let is_done = (when + 2..end).any(|at| list("at an end").has(sentence.word(at).unwrap_or_default()));
        let has_found = (when + 1..end).any(|at| {
            matches!(sentence.word(at), Some("have" | "has" | "you've"))
                && sentence
                    .word(at + 1)
                    .is_some_and(|word| word.ends_with("ed") || list("at an end").has(word))
        });
        is_one && (is_done || has_found)
    };
    asks.is_some_and(|asks| {
        (asks + 2..sentence.len().min(asks + 5)).chain([0]).any(|at| {
            let opens = match sentence.word(at) {
                Some("when" | "once" | "if") => Some(at),
                Some("as") if sentence.word(at + 1) == Some("soon") => Some(at + 2),
                _ => None,
            };
            opens.is_some_and(is_end)
        }) && !(0..sentence.len()).any(lasts)
    })
}

/// "For the next query", not "for the next two weeks" or "for the next step of each".
pub(super) fn is_of_next(sentence: &Sentence<'_>, at: usize) -> bool {
    sentence.word(at) == Some("for")
        && sentence.word(at + 1) == Some("the")
        && sentence.word(at + 2) == Some("next")
        && sentence.word(at + 3).is_some()
        && !(at + 3..at + 6).any(|at| {
            matches!(sentence.word(at), Some("days" | "weeks" | "months" | "week" | "month" | "year"))
        })
        && !(0..sentence.len())
            .any(|at| matches!(sentence.word(at), Some("always" | "every" | "each" | "whenever")))
}

/// Whether a clause is of the moment, or tells how another lives now.
pub(super) fn is_of_moment(sentence: &Sentence<'_>, tokens: &Range<usize>, voice: Voice) -> bool {
    let Range { start, end } = *tokens;
    stops_it(sentence, start, end)
        || has_not(sentence, start)
        || is_of_one_day(sentence, start)
        || needs_and_does(sentence, start)
        || has_none(sentence, start, end)
        || is_cut_short(sentence, end)
        || becomes(sentence, start, end)
        || never_seen(sentence, start, end)
        || since_it_is(sentence, start)
        || (start..end).any(|at| list("last time").at(sentence, at, end) > 0 && is_mine(sentence, start))
        || tells_of_habit(sentence, start, end, voice)
}

fn is_mine(sentence: &Sentence<'_>, start: usize) -> bool {
    matches!(sentence.word(start), Some("i" | "i'd" | "we" | "we'd"))
}

/// "No news from the vet", "no seats left in row 12".
fn has_none(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    sentence.word(start) == Some("no")
        && (list("none of").has(sentence.word(start + 1).unwrap_or_default())
            || (start + 2..end.min(start + 5)).any(|at| list("not there").at(sentence, at, end) > 0))
}

/// "Friday is out for me": one day, where "Fridays are out" is every one.
fn is_of_one_day(sentence: &Sentence<'_>, start: usize) -> bool {
    sentence.word(start).is_some_and(|word| word.ends_with("day") && list("passing").has(word))
        && matches!(sentence.word(start + 1), Some("is" | "works" | "suits" | "would"))
}

/// "We don't have a staging server", "we don't know yet".
fn has_not(sentence: &Sentence<'_>, start: usize) -> bool {
    sentence.word(start) == Some("we")
        && sentence.word(start + 1) == Some("don't")
        && matches!(sentence.word(start + 2), Some("have" | "know" | "see" | "find" | "think" | "expect"))
}

/// "I need long battery life and do some Python": what is needed of one thing, and what it is for.
pub(super) fn needs_and_does(sentence: &Sentence<'_>, start: usize) -> bool {
    matches!(sentence.word(start), Some("i" | "we"))
        && sentence.word(start + 1) == Some("need")
        && !matches!(sentence.word(start + 2), Some("you" | "to"))
        && (start + 3..sentence.len()).any(|at| {
            let verb = sentence.word(at + 1).unwrap_or_default();
            sentence.word(at) == Some("and")
                && matches!(
                    verb,
                    "do" | "use" | "play" | "edit" | "ride" | "run" | "drive" | "work" | "travel"
                )
        })
}

/// "Stop it", "stop that".
fn stops_it(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    sentence.word(start) == Some("stop")
        && matches!(sentence.word(start + 1), Some("it" | "that" | "this"))
        && (start + 2 >= end || sentence.mark(start + 2).is_some())
}

/// "No, please don't": of what is said elsewhere.
fn is_cut_short(sentence: &Sentence<'_>, end: usize) -> bool {
    end > 0 && matches!(sentence.word(end - 1), Some("don't" | "dont"))
}

/// "From now on it gets darker every day", not "from now on it's Sam".
fn becomes(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    let at = start + list("standing").at(sentence, start, end);
    at > start
        && matches!(sentence.word(at), Some("it" | "there" | "things"))
        && matches!(sentence.word(at + 1), Some("gets" | "becomes" | "get" | "grows" | "turns"))
}

/// "Never seen that error before", "never used it", not "never dubbed films".
fn never_seen(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    let is_past = |word: &str| {
        let is_regular = word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed");
        list("past").has(word) || (is_regular && !list("verbs").has(word) && !list("orders").has(word))
    };
    let takes_one = matches!(
        sentence.word(start + 2),
        Some("a" | "an" | "the" | "it" | "that" | "this" | "one" | "any" | "such" | "of" | "to" | "my")
    );
    sentence.word(start) == Some("never")
        && sentence.word(start + 1).is_some_and(is_past)
        && (takes_one || (start + 2..end).any(|at| sentence.word(at) == Some("before")))
}

/// "Don't deploy, the build is red".
fn since_it_is(sentence: &Sentence<'_>, start: usize) -> bool {
    let start = start + usize::from(sentence.word(start) == Some("we"));
    let denies = matches!(sentence.word(start), Some("don't" | "dont"))
        || (sentence.word(start) == Some("do") && sentence.word(start + 1) == Some("not"));
    let Some(comma) = (start..sentence.len()).find(|at| sentence.mark(*at) == Some(",")) else {
        return false;
    };
    let to = (comma + 6).min(sentence.len());
    // "Don't call after nine, the kids are asleep then" says when.
    let is_bound = (start..to).any(|at| {
        matches!(
            sentence.word(at),
            Some(
                "before"
                    | "after"
                    | "between"
                    | "during"
                    | "when"
                    | "if"
                    | "while"
                    | "past"
                    | "ever"
                    | "then"
                    | "at"
            )
        )
    });
    let is_one = matches!(
        sentence.word(comma + 1),
        Some("the" | "it" | "it's" | "he's" | "she's" | "he" | "she" | "my" | "they're" | "main" | "ci")
    );
    denies
        && !is_bound
        && is_one
        && (comma + 2..to).any(|at| list("state").has(sentence.word(at).unwrap_or_default()))
}

/// "Lotte doesn't drink milk any more", "Grandpa never drives at night now".
fn tells_of_habit(sentence: &Sentence<'_>, start: usize, end: usize, voice: Voice) -> bool {
    let mut at = start;
    while list("lead-in").at(sentence, at, end) > 0 {
        at += list("lead-in").at(sentence, at, end);
    }
    at += usize::from(matches!(sentence.word(at), Some("my" | "our")));
    let is_kin = list("kin").has(sentence.word(at).unwrap_or_default());
    let is_who = sentence.word(at) != Some("user") && (is_kin || sentence.is_name(at));
    let verb = at + 1;
    let is_news = list("over").within(sentence, verb, end) || sentence.word(end - 1) == Some("now");
    let is_habit = match sentence.word(verb) {
        Some("doesn't") => !matches!(sentence.word(verb + 1), Some("want" | "like" | "need")),
        // "Staging never gets real data" is a rule.
        Some("never" | "rarely") => {
            (is_kin || is_news) && sentence.word(verb + 1).is_some_and(|word| word.ends_with('s'))
        }
        Some("no") => sentence.word(verb + 1) == Some("longer"),
        _ => false,
    };
    is_who && is_habit && (is_news || voice == Voice::User)
}
