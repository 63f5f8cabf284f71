//! Lists of those who are there: a line of one below "Present", and where sentences go on behind a list.

use super::super::lines::label;
use super::super::names;
use super::super::sections::{self, Section};
use super::super::verbs;

/// "Dana Ortiz (DO), treasurer" alone on a line below "Present".
pub(super) fn is_entry_of_people(line: &str) -> bool {
    let line = line.trim();
    let name = line.split([',', '(', '–', '—', ':', ';']).next().unwrap_or_default();
    let name = names::without_title(name.split(" - ").next().unwrap_or_default().trim());
    let mut words = name.split_whitespace().map(str::to_lowercase);
    let first = words.next().unwrap_or_default();
    let plain = names::is_first_name(&first)
        || (!names::is_common_word(&first) && !words.any(|word| names::is_common_word(&word)));
    line.len() < 80
        && plain
        && !line.ends_with(['.', '!', '?'])
        && name.contains(' ')
        && names::could_be_name(name, false)
}

/// "I will write to the MP", said by the chair.
pub(super) fn is_said_by_oneself(rest: &str) -> bool {
    ["I ", "I'", "I’"].iter().any(|own| rest.starts_with(own))
}

/// Where sentences begin behind a list of people on one line, "Ann Roe (chair), Bill Tate. Apologies: Cy Webb. Bill will call.".
pub(super) fn behind_names(rest: &str) -> Option<usize> {
    let is_whole = |stop: usize| {
        let last = rest[..stop].rsplit(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
        last.is_some_and(|last| last.chars().count() > 2 && !names::is_title(&last.to_lowercase()))
    };
    let stops = rest.match_indices(". ").filter(|(stop, _)| is_whole(*stop));
    stops.map(|(stop, mark)| stop + mark.len()).find(|begin| {
        let sentence = rest[*begin..].split(". ").next().unwrap_or_default();
        let is_list =
            label(sentence).is_some_and(|(name, _)| sections::of_label(name) == Some(Section::People));
        let mut words = sentence.split_whitespace().map(str::to_lowercase);
        !is_list && words.clone().count() > 2 && words.any(|word| verbs::is_finite(&word))
    })
}
