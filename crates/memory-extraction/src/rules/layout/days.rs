//! Lines that give their day to what stands below them: headings, and dates alone on a line.

use std::ops::Range;

use memory_language::calendar_words::calendar_word;

use super::super::lines::{bullet, dated_entry};
use super::super::lists;
use super::super::verbs;
use super::Reader;

/// A heading longer than this says more than a day.
const HEADING_MAX_BYTES: usize = 90;
/// More words than this are a sentence.
const TITLE_MAX_WORDS: usize = 10;
/// A date alone on a line is below every real heading and above bold lines and leaders.
pub(super) const DATE_LINE: usize = 6;

impl Reader<'_> {
    /// A heading was read: what it says of the day holds from here on, and what was said at its level or below does not.
    pub(super) fn note_day(&mut self, at: usize, level: usize) {
        self.dated.retain(|(open, _)| *open < level);
        let line = self.text_of(at).trim();
        // "*Yesterday*" alone on a line.
        let bare = line.trim_matches(|c: char| !c.is_alphanumeric());
        if bare.eq_ignore_ascii_case("yesterday") || may_say_a_day(line) {
            self.dated.push((level, line.to_owned()));
        }
        self.date_from(self.lines[at].end);
    }

    /// "12 March 2026" alone on a line, or at the head of an entry.
    pub(super) fn date_line(&mut self, at: usize) {
        let line = self.text_of(at);
        let item = bullet(line).map(|bullet| &line[bullet.text_at..]);
        let words = item.unwrap_or(line).trim_start_matches(['*', '_']);
        if let Some(words_at) = dated_entry(words) {
            let prefix = &words[..words_at];
            // "- Monday: …" of a list is as often one to come.
            let dated = item.is_none() || prefix.contains(|c: char| c.is_ascii_digit());
            if dated && may_say_a_day(prefix) {
                self.date_from_to(at, prefix);
            }
        } else if item.is_some_and(|item| item.starts_with("y:") || item.starts_with("Yesterday:")) {
            self.date_from_to(at, "yesterday");
        } else if item.is_none() && may_say_a_day(line) && (is_only_a_date(line) || self.is_day_of_title(at))
        {
            // Below the title it is of the whole text.
            let below_title = self.layout.blocks.is_empty() && !line.trim_start().starts_with('#');
            let level = if below_title { 1 } else { DATE_LINE };
            self.note_day(at, level);
        }
    }

    /// "kim-b commented on Oct 31, 2026" above what Kim wrote on that day.
    pub(super) fn date_post(&mut self, at: usize) {
        if may_say_a_day(self.text_of(at)) {
            self.note_day(at, DATE_LINE);
        }
    }

    /// "Incident of 7 October, severity 2" below the title, "Directorate meeting, 24 October" above its paragraph: words
    /// with a day and without a verb.
    fn is_day_of_title(&self, at: usize) -> bool {
        let line = self.text_of(at).trim();
        let above = at.checked_sub(1).map_or("", |before| self.text_of(before)).trim();
        let placed = self.layout.blocks.is_empty() || above.is_empty();
        let words = || line.split_whitespace();
        let of_people = |word: &str| {
            matches!(word, "our" | "we" | "my" | "i" | "you" | "your" | "this" | "that" | "further" | "and")
        };
        placed
            && opens_title(line)
            && line.contains(|c: char| c.is_ascii_digit())
            && !line.contains(": ")
            && !line.contains('|')
            && !line.ends_with(['.', '!', '?', ';', ',', ':'])
            && words().count() <= TITLE_MAX_WORDS
            && !words().any(|word| {
                let word = word.trim_matches(|c: char| !c.is_alphanumeric());
                of_people(&word.to_lowercase())
                    || (word.starts_with(char::is_lowercase) && verbs::is_finite(word))
            })
    }

    /// "| 14 | 2025-03-27 | Dark mode ships |": a row is of the day in the column for it.
    pub(super) fn date_row(&mut self, at: usize, cells: &[&str]) {
        let headed = self.heads.iter().position(|head| lists::DAY_COLUMNS.contains(head.as_str()));
        let Some(day) = headed.and_then(|column| cells.get(column)) else { return };
        if may_say_a_day(day) && is_only_a_date(day) {
            self.date_from_to(at, day);
        }
    }

    /// One line is of its own day.
    pub(super) fn date_from_to(&mut self, at: usize, day: &str) {
        self.date_to(day, self.lines[at].clone());
    }

    /// A stretch of bytes is of its own day.
    pub(super) fn date_to(&mut self, day: &str, bytes: Range<usize>) {
        let mut days = vec![day.to_owned()];
        days.extend(self.open_days());
        self.layout.days.push((bytes.start, days));
        self.date_from(bytes.end);
    }

    fn open_days(&self) -> Vec<String> {
        self.dated.iter().rev().map(|(_, words)| words.clone()).collect()
    }

    pub(super) fn date_from(&mut self, byte: usize) {
        let days = self.open_days();
        let unchanged = self.layout.days.last().map_or(days.is_empty(), |(_, last)| *last == days);
        if !unchanged {
            self.layout.days.push((byte, days));
        }
    }
}

/// A capital or a number, as of a version: "v1.2.0", "[1.2.0]".
pub(super) fn opens_title(line: &str) -> bool {
    line.trim_start_matches(['v', '[']).starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
}

/// A short line with a month, a weekday or a date in digits, which does not look ahead.
pub(super) fn may_say_a_day(line: &str) -> bool {
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
