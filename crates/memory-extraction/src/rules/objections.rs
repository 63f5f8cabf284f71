//! Words against what was proposed or promised: "no, please don't", "Thursday is bad for me", "I was joking", "sorry, can't do it".

use std::ops::Range;

use super::parsed_segment::ParsedSegment;
use super::requests;

/// An objection is made within so many tokens of the head of a sentence.
const HEAD_TOKENS: usize = 14;
/// Words before the first that counts.
const FILLERS: [&str; 18] = [
    "actually", "ah", "but", "er", "hey", "hm", "hmm", "oh", "ok", "okay", "sorry", "uh", "um", "wait",
    "well", ",", ".", "–",
];
/// Behind "no" these object to nothing.
const KIND_NOES: [&str; 13] = [
    "problem",
    "problems",
    "worries",
    "objection",
    "objections",
    "need",
    "doubt",
    "rush",
    "issue",
    "issues",
    "bother",
    "hurry",
    "matter",
];
/// Against a proposal, wherever they stand near the head.
const AGAINST: [&[&str]; 29] = [
    &["just", "asking"],
    &["just", "an", "idea"],
    &["just", "a", "thought"],
    &["let", "me", "think"],
    &["i", "was", "joking"],
    &["i", "was", "kidding"],
    &["just", "kidding"],
    &["just", "joking"],
    &["only", "joking"],
    &["never", "mind"],
    &["forget", "it"],
    &["forget", "that"],
    &["scratch", "that"],
    &["changed", "my", "mind"],
    &["gone", "off"],
    &["second", "thought"],
    &["second", "thoughts"],
    &["let", "'s", "not"],
    &["rather", "not"],
    &["i", "object"],
    &["disagree"],
    &["do", "n't", "agree"],
    &["do", "n't", "think", "so"],
    &["bad", "idea"],
    &["bad", "for", "me"],
    &["bad", "for", "us"],
    &["wo", "n't", "work"],
    &["does", "n't", "work"],
    &["please", "do", "n't"],
];

/// Whether a sentence speaks against what was proposed; `answers` says that it answers another question, so that "no" alone is said to
/// that.
pub(super) fn objects(parsed: &ParsedSegment<'_>, sentence: &Range<usize>, answers: bool) -> bool {
    let text = &parsed.text;
    let head = behind_fillers(parsed, sentence);
    let near = head..sentence.end.min(head + HEAD_TOKENS);
    let minus = text.word(head) == "-" && text.word(head + 1) == "1";
    let too = text.word(head) == "too"
        && text.is_any(head + 1, &["early", "late", "expensive", "far", "soon", "much", "cold", "dangerous"]);
    let dropped = text.is_any(head, &["dropped", "cancelled", "withdrawn"]) && near.len() <= 4;
    minus
        || too
        || dropped
        || near.clone().any(|at| AGAINST.iter().any(|words| says(parsed, at, words)))
        || near.clone().take(2).any(|at| cannot(parsed, at))
        || (!answers && says_no(parsed, sentence, head))
}

/// Whether a sentence of the one who promised takes the promise back.
pub(super) fn takes_back(parsed: &ParsedSegment<'_>, sentence: &Range<usize>, answers: bool) -> bool {
    const BACK: [&[&str]; 9] = [
        &["scrap", "that"],
        &["change", "of", "plan"],
        &["change", "of", "plans"],
        &["i", "was", "joking"],
        &["just", "kidding"],
        &["changed", "my", "mind"],
        &["forget", "it"],
        &["scratch", "that"],
        &["rather", "not"],
    ];
    let head = behind_fillers(parsed, sentence);
    let near = head..sentence.end.min(head + HEAD_TOKENS);
    near.clone().any(|at| cannot(parsed, at) || BACK.iter().any(|words| says(parsed, at, words)))
        || (!answers && says_no(parsed, sentence, head))
}

/// "Never mind", "no need any more", "don't bother": who asked does not ask any longer.
pub(super) fn calls_off(parsed: &ParsedSegment<'_>, sentence: &Range<usize>) -> bool {
    const OFF: [&[&str]; 7] = [
        &["no", "need"],
        &["scrap", "that"],
        &["never", "mind"],
        &["forget", "it"],
        &["do", "n't", "bother"],
        &["scratch", "that"],
        &["nevermind"],
    ];
    let head = behind_fillers(parsed, sentence);
    OFF.iter().any(|words| says(parsed, head, words))
}

fn says(parsed: &ParsedSegment<'_>, at: usize, words: &[&str]) -> bool {
    words.iter().enumerate().all(|(n, word)| parsed.text.word(at + n) == *word)
}

fn behind_fillers(parsed: &ParsedSegment<'_>, sentence: &Range<usize>) -> usize {
    let mut all = sentence.clone().take(HEAD_TOKENS);
    all.find(|at| !FILLERS.contains(&parsed.text.word(*at))).unwrap_or(sentence.start)
}

/// "No, …", "no!", "nope", "not for me", "no money this year"; not "no problem".
fn says_no(parsed: &ParsedSegment<'_>, sentence: &Range<usize>, head: usize) -> bool {
    let text = &parsed.text;
    let next = text.word(head + 1);
    match text.word(head) {
        "no" => !KIND_NOES.contains(&next),
        "nope" | "nah" => true,
        // "Not again", "not pizza again", "not for me".
        "not" => {
            let again = (head + 1..sentence.end.min(head + HEAD_TOKENS)).any(|at| text.word(at) == "again");
            let is_kind = text.word(head + 2) == "problem";
            !is_kind && (again || text.is_any(head + 1, &["for", "on", "me", "a", "this"]))
        }
        "i" | "ca" | "cannot" => false,
        _ => requests::refuses(parsed, &(head..sentence.end)),
    }
}

/// "We can't", "can't do it", "I won't manage": not "can't wait", "can't do it before Friday".
fn cannot(parsed: &ParsedSegment<'_>, at: usize) -> bool {
    let text = &parsed.text;
    let verb = match text.word(at) {
        "ca" if text.word(at + 1) == "n't" => at + 2,
        "cannot" => at + 1,
        "can" if text.word(at + 1) == "not" => at + 2,
        "wo" if text.word(at + 1) == "n't" && text.word(at + 2) == "be" && text.word(at + 3) == "able" => {
            return true;
        }
        "wo" if text.word(at + 1) == "n't" && text.word(at + 2) == "manage" => return true,
        // "Ok, I won't."
        "wo" if text.word(at + 1) == "n't" && at > 0 && text.word(at - 1) == "i" => {
            return !text.is_word(at + 2) || text.ends_line(at + 1);
        }
        "i" | "we" => {
            return text.is_any(at + 1, &["ca", "cannot", "wo"]) && cannot(parsed, at + 1);
        }
        _ => return false,
    };
    let does = text.is_any(verb, &["do", "make", "manage", "come", "help", "bring", "promise"]);
    let behind =
        verb + usize::from(does) + usize::from(does && text.is_any(verb + 1, &["it", "that", "this"]));
    let is_later = text.is_any(behind, &["before", "until", "till", "earlier", "sooner", "yet"]);
    let closes = !text.is_word(verb)
        || text.is_any(verb, &["anymore", "any", "after", "then", "now", "because", "sorry"]);
    !is_later && (does || closes || text.ends_line(verb - 1))
}
