//! Whose words a text or a part of it is: by a line that says who wrote it, and by headings that are names.

use std::collections::HashSet;
use std::ops::Range;

use super::super::lines;
use super::super::lists;
use super::super::names;
use super::super::sections::{self, Section};
use super::LEADER;

/// Who wrote a text is said in one of its first lines.
pub(super) const HEAD_LINES: usize = 10;

/// "9 June 2023, by Kim Larsen", "Student: Kim Larsen · Topic: …": the name of who wrote it.
pub(super) fn by_line(line: &str) -> Option<&str> {
    const LABELS: [&str; 6] =
        ["student:", "prepared by:", "written by:", "submitted by:", "reported by:", "author:"];
    let line = line.trim_matches(['*', '_', '#', ' ']);
    let lower = line.to_ascii_lowercase();
    let labelled = LABELS.iter().find(|label| lower.starts_with(**label)).map(|label| label.len());
    let by = || {
        let (before, _) = lower.split_once("by ").filter(|_| line.len() < 80)?;
        let ends = before.trim_end().is_empty()
            || before.trim_end().ends_with([',', '·', '|', '–', '—'])
            || before == "written ";
        ends.then_some(before.len() + 3)
    };
    let rest = line.get(labelled.or_else(by)?..)?;
    let name =
        rest.split(['·', '|', ',', '(', ';']).next().unwrap_or_default().trim().trim_matches(['*', '_']);
    (names::could_be_name(names::without_title(name), false) && names::is_listed_form(name)).then_some(name)
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

/// The level at which at least two headings may be names, most of all there, and half of them with a first name, in a text whose
/// further headings say what was done or is planned, such as "Progress:".
pub(super) fn level_of_people(text: &str, lines: &[Range<usize>]) -> Option<usize> {
    let (mut all, mut named, mut sure) = ([0_usize; LEADER], [0_usize; LEADER], [0_usize; LEADER]);
    let mut told = 0;
    for line in lines {
        let line = &text[line.clone()];
        let words = lines::heading(line);
        let section = sections::of_heading(words.as_ref().map_or(line, |(_, words)| &line[words.clone()]));
        told += usize::from(matches!(section, Some(Section::Prior(_) | Section::Planned)));
        let Some((level, words)) = words.filter(|(level, _)| *level < LEADER && section.is_none()) else {
            continue;
        };
        let words = line[words].trim();
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
