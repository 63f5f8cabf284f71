//! What reads like a time in a question and is none.

use super::Reading;
use super::asked::{is_any, words, words_before};
use crate::calendar_words::{CalendarWord, calendar_word};

/// Whether what reads like a time is none: "on a Friday", "does it last ten years?", "the last week before they come", "too little in a
/// year".
pub(super) fn is_no_time(question: &str, reading: &Reading) -> bool {
    let mut phrase = words(&question[reading.range.clone()]);
    let first = phrase.next().unwrap_or("");
    let before = words_before(question, reading).next().unwrap_or("");
    let is_weekday =
        matches!(calendar_word(&first.to_ascii_lowercase()), Some((CalendarWord::Weekday(_), _)));
    if is_weekday && is_any(before, &["a", "any", "every", "each"]) {
        return true;
    }
    if is_rate(question, reading) {
        return true;
    }
    if !is_any(first, &["last"]) {
        return false;
    }
    let mut asked = words(question);
    let is_asked =
        asked.next().is_some_and(|word| is_any(word, &["does", "do", "did", "will", "should", "would"]))
            && !asked.next().is_some_and(|word| is_any(word, &["i", "we", "you"]));
    let is_count = phrase.next().is_some_and(counts) && phrase.next().is_some();
    let is_led =
        is_any(before, &["the", "in", "over", "during", "for", "within", "my", "our", "these", "those"]);
    let is_lasting = is_asked && is_count && !is_led;
    let comes_before = is_any(before, &["the"])
        && words(&question[reading.range.end..]).next().is_some_and(|word| is_any(word, &["before"]));
    is_lasting || comes_before
}

/// "What if we buy too little in a year?": in any; not "what will it cost in a year?".
fn is_rate(question: &str, reading: &Reading) -> bool {
    const AHEAD: [&str; 8] = ["will", "shall", "due", "going", "would", "planned", "coming", "be"];
    let to_here: Vec<&str> = words(&question[..reading.range.end]).collect();
    let is_any_one = to_here.last_chunk::<3>().is_some_and(|[within, one, unit]| {
        is_any(within, &["in"]) && is_any(one, &["a"]) && is_any(unit, &["year", "month", "week", "day"])
    });
    is_any_one && !words(question).any(|word| is_any(word, &AHEAD) || word.ends_with("'ll"))
}

fn counts(word: &str) -> bool {
    const COUNTS: [&str; 12] = [
        "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "fifteen", "twenty",
    ];
    word.bytes().all(|byte| byte.is_ascii_digit()) || is_any(word, &COUNTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Lean, readings};

    #[test]
    fn a_rate_is_no_time() {
        for (question, is_none) in [
            ("What happens if we buy too little from the wholesaler in a year?", true),
            ("How many holidays do I get in a year?", true),
            ("What will the lease cost in a year?", false),
            ("What is due in a week?", false),
            ("What happened in March?", false),
        ] {
            let read = readings(question, "2026-11-30T10:00:00Z".parse().ok(), Lean::Future);
            let all_none = read.iter().all(|reading| is_no_time(question, reading));
            assert_eq!(all_none, is_none, "{question}");
        }
    }
}
