//! Whose words a text or a part of it is: by a line that says who wrote it, and by headings that are names.

use std::collections::HashSet;
use std::ops::Range;

use memory_language::calendar_words::calendar_word;

use super::super::lines;
use super::super::lists;
use super::super::names;
use super::super::sections::{self, Section};
use super::headings::is_stand_up;
use super::{LEADER, Reader};

/// Who wrote a text is said in one of its first lines.
const HEAD_LINES: usize = 10;

/// "Student: Kim Larsen · Topic: …": the name of who wrote it.
fn labelled_writer(line: &str) -> Option<&str> {
    const LABELS: [&str; 6] =
        ["student:", "prepared by:", "written by:", "submitted by:", "reported by:", "author:"];
    let line = line.trim_matches(['*', '_', '#', ' ']);
    let lower = line.to_ascii_lowercase();
    let label = LABELS.iter().find(|label| lower.starts_with(**label))?;
    name_of_writer(line.get(label.len()..)?)
}

/// "By Kim Larsen", "9 June 2023, by Kim Larsen": the name of who perhaps wrote it; a book's stands behind its title.
fn by_line(line: &str) -> Option<&str> {
    let line = line.trim_matches(['*', '_', '#', ' ']);
    let lower = line.to_ascii_lowercase();
    let (before, _) = lower.split_once("by ").filter(|_| line.len() < 80)?;
    let day = before.trim_end().strip_suffix([',', '·', '|', '–', '—']);
    if before.is_empty() || before == "written " || day.is_some_and(lines::is_dated) {
        return name_of_writer(line.get(before.len() + 3..)?);
    }
    None
}

fn name_of_writer(rest: &str) -> Option<&str> {
    let name =
        rest.split(['·', '|', ',', '(', ';']).next().unwrap_or_default().trim().trim_matches(['*', '_']);
    let is_name = names::could_be_name(names::without_title(name), false) && names::is_listed_form(name);
    let is_day = name.split(' ').any(|word| calendar_word(&word.to_lowercase()).is_some());
    (is_name && !is_day).then_some(name)
}

/// "Ann, please take the minutes": behind "Chair:" it is what the chair says, not who is in it.
pub(super) fn calls_someone(rest: &str) -> bool {
    let mut words = rest.split([' ', ',', '.', '?']).skip(1).map(str::to_ascii_lowercase);
    words.any(|word| {
        matches!(word.as_str(), "please" | "you" | "your" | "i" | "i'll" | "we" | "thanks" | "thank")
    })
}

impl Reader<'_> {
    /// One of the first lines may say who wrote the text.
    pub(super) fn note_writer(&mut self, at: usize, line: &str) {
        if at >= HEAD_LINES {
            return;
        }
        if self.layout.from.is_none() {
            self.layout.from = labelled_writer(line).map(str::to_owned);
        }
        if self.layout.by.is_none() {
            self.layout.by = by_line(line).map(str::to_owned);
        }
    }
}

/// "Lena Kurz", "Asa": one word or two that may be somebody's name.
pub(super) fn may_be_person(words: &str) -> bool {
    let is_word = |part: &str| {
        names::is_common_word(part)
            || names::is_wordy_name(part)
            || lists::PLACES.contains(part)
            || lists::SOFTWARE.contains(part)
    };
    names::could_be_name(words, false)
        && words.split(' ').count() <= 2
        && !words.to_lowercase().split(' ').any(is_word)
}

/// "Asa (by text)": what stands in brackets behind a name is no part of it.
pub(super) fn without_aside(words: &str) -> &str {
    let aside = words.strip_suffix(')').and_then(|words| words.rsplit_once(" (")).map(|(name, _)| name);
    let is_plain = !words.contains(|c: char| c.is_ascii_digit());
    aside.filter(|name| is_plain && !name.contains('(')).map_or(words, str::trim_end)
}

/// The level at which at least two headings may be names, most of all there, and half of them with a first name, in a text whose
/// further headings or items say what was done or is planned, such as "Progress:".
pub(super) fn level_of_people(text: &str, lines: &[Range<usize>]) -> Option<usize> {
    let (mut all, mut named, mut sure) = ([0_usize; LEADER], [0_usize; LEADER], [0_usize; LEADER]);
    let mut told = 0;
    for line in lines {
        let line = &text[line.clone()];
        let words = lines::heading(line);
        let section = sections::of_heading(words.as_ref().map_or(line, |(_, words)| &line[words.clone()]));
        // "- today: …"
        let is_said = lines::bullet(line).is_some_and(|bullet| is_stand_up(&line[bullet.text_at..]));
        told += usize::from(is_said || matches!(section, Some(Section::Prior(_) | Section::Planned)));
        let Some((level, words)) = words.filter(|(level, _)| *level < LEADER && section.is_none()) else {
            continue;
        };
        let words = without_aside(line[words].trim());
        all[level] += 1;
        if may_be_person(words) {
            let first = words.split(' ').next().unwrap_or_default().to_lowercase();
            named[level] += 1;
            sure[level] += usize::from(names::is_first_name(&first));
        }
    }
    let is_of_people = |level: &usize| {
        named[*level] > 1 && named[*level] * 2 > all[*level] && sure[*level] * 2 >= named[*level]
    };
    // Names and hardly another heading: nobody writes so but who tells of each of them.
    let is_of_people_alone = |level: &usize| {
        named[*level] > 3 && named[*level] * 4 >= all[*level] * 3 && sure[*level] * 3 >= named[*level]
    };
    (0..LEADER).find(|level| (told > 1 && is_of_people(level)) || is_of_people_alone(level))
}

/// Lines that end in a colon and stand more than once, in small letters: "progress:" below each of several people.
pub(super) fn repeated_leaders(text: &str, lines: &[Range<usize>]) -> HashSet<String> {
    let (mut once, mut repeated) = (HashSet::new(), HashSet::new());
    for line in lines.iter().map(|line| text[line.clone()].trim()).filter(|line| line.ends_with(':')) {
        if !once.insert(line.to_lowercase()) {
            repeated.insert(line.to_lowercase());
        }
    }
    repeated
}
