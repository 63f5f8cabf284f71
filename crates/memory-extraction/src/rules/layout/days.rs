//! Lines that give their day to what stands below them: headings, and dates alone on a line.

use memory_language::calendar_words::calendar_word;

use super::super::lines::dated_entry;
use super::Reader;

/// A heading longer than this says more than a day.
const HEADING_MAX_BYTES: usize = 90;
/// A date alone on a line is below every real heading and above bold lines and leaders.
const DATE_LINE: usize = 6;

impl Reader<'_> {
    /// A heading was read: what it says of the day holds from here on, and what was said at its level or below does not.
    pub(super) fn note_day(&mut self, at: usize, level: usize) {
        self.dated.retain(|(open, _)| *open < level);
        let line = self.text_of(at).trim();
        if may_say_a_day(line) {
            self.dated.push((level, line.to_owned()));
        }
        self.date_from(self.lines[at].end);
    }

    /// "12 March 2026" alone on a line, or at the head of an entry.
    pub(super) fn date_line(&mut self, at: usize) {
        let line = self.text_of(at);
        if let Some(words_at) = dated_entry(line) {
            let prefix = &line[..words_at];
            if may_say_a_day(prefix) {
                self.date_from_to(at, prefix);
            }
        } else if may_say_a_day(line) && is_only_a_date(line) {
            self.note_day(at, DATE_LINE);
        }
    }

    /// One line is of its own day.
    pub(super) fn date_from_to(&mut self, at: usize, day: &str) {
        let mut days = vec![day.to_owned()];
        days.extend(self.open_days());
        self.layout.days.push((self.lines[at].start, days));
        self.date_from(self.lines[at].end);
    }

    fn open_days(&self) -> Vec<String> {
        self.dated.iter().rev().map(|(_, words)| words.clone()).collect()
    }

    fn date_from(&mut self, byte: usize) {
        let days = self.open_days();
        let unchanged = self.layout.days.last().map_or(days.is_empty(), |(_, last)| *last == days);
        if !unchanged {
            self.layout.days.push((byte, days));
        }
    }
}

/// A short line with a month, a weekday or a date in digits, which does not look ahead.
fn may_say_a_day(line: &str) -> bool {
    let ahead = |word: &str| {
        matches!(
            word,
            "next"
                | "upcoming"
                | "future"
                | "due"
                | "until"
                | "till"
                | "by"
                | "before"
                | "deadline"
                | "plan"
                | "plans"
                | "agenda"
        )
    };
    if line.len() > HEADING_MAX_BYTES {
        return false;
    }
    let mut told = false;
    for word in line.split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '.' | '/')) {
        let lower = word.to_lowercase();
        if ahead(&lower) {
            return false;
        }
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        told |= calendar_word(&lower).is_some()
            || (digits >= 3
                && word.len() <= 10
                && word.split(['-', '.', '/']).filter(|part| !part.is_empty()).count() == 3);
    }
    told
}

/// "Monday, 4 March", "**2025-03-04**:", "Tue 4/3/2025": nothing but calendar words and digits.
fn is_only_a_date(line: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).all(|word| {
        let lower = word.to_lowercase();
        let number = lower.trim_end_matches(['s', 't', 'n', 'd', 'r', 'h']);
        calendar_word(&lower).is_some()
            || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}
