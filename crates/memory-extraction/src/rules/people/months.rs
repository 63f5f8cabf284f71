//! Given names that are months too.

use memory_language::calendar_words::{CalendarWord, calendar_word};

use super::super::words::Text;

/// "11 June", "June 2026", "the end of June": where June is somebody, too.
pub(super) fn is_month_of_date(text: &Text<'_>, at: usize) -> bool {
    const BEFORE: [&str; 8] = ["during", "early", "in", "last", "late", "mid", "next", "until"];
    const PARTS: [&str; 6] = ["beginning", "end", "half", "middle", "start", "week"];
    let is_day = |at: usize| text.raw_word(at).starts_with(|c: char| c.is_ascii_digit());
    let is_of_part = |of: usize| {
        text.word(of) == "of"
            && of.checked_sub(1).is_some_and(|part| text.is_any(part, &PARTS) || is_day(part))
    };
    let is_led = |before: usize| is_day(before) || text.is_any(before, &BEFORE) || is_of_part(before);
    matches!(calendar_word(text.word(at)), Some((CalendarWord::Month(_), _)))
        && (is_year(text.raw_word(at + 1)) || at.checked_sub(1).is_some_and(is_led))
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit())
}
