//! Names: which of those that a model gives are names at all, and where they occur in the source.

use std::collections::HashMap;
use std::ops::Range;

use memory_core::entity::normalised_name;

/// Of one entity no more mentions are kept.
const MENTIONS_MAX: usize = 500;
/// More forms of names than this are not looked for in one source.
const FORMS_MAX: usize = 4_000;

/// Words that refer to people and things without naming them.
const NO_NAMES: [&str; 46] = [
    "i",
    "me",
    "my",
    "we",
    "us",
    "our",
    "you",
    "your",
    "he",
    "him",
    "his",
    "she",
    "her",
    "it",
    "its",
    "they",
    "them",
    "their",
    "this",
    "that",
    "these",
    "those",
    "who",
    "someone",
    "somebody",
    "everyone",
    "everybody",
    "anyone",
    "nobody",
    "people",
    "speaker",
    "the speaker",
    "author",
    "the author",
    "user",
    "the user",
    "assistant",
    "the assistant",
    "system",
    "unknown",
    "none",
    "null",
    "n/a",
    "other",
    "team member",
    "narrator",
];

/// Whether this can name anything.
pub(super) fn is_name(name: &str) -> bool {
    let normalised = normalised_name(name);
    normalised.len() >= 2
        && normalised.chars().any(char::is_alphabetic)
        && !NO_NAMES.contains(&normalised.as_str())
}

/// Looks for many names in texts at once.
pub(super) struct Finder<'a> {
    /// By their first word in lower case.
    forms: HashMap<String, Vec<Form<'a>>>,
    /// Of scripts without spaces: their names are within words.
    unspaced: Vec<(usize, &'a str)>,
}

struct Form<'a> {
    name: usize,
    text: &'a str,
    /// Where the form's first word begins.
    lead: usize,
}

/// A name's place in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sighting {
    pub(super) name: usize,
    pub(super) bytes: Range<usize>,
    /// Letter by letter, not only but for case.
    is_exact: bool,
}

impl<'a> Finder<'a> {
    /// Forms of names, each with the number of the name it belongs to.
    pub(super) fn new(forms: impl IntoIterator<Item = (usize, &'a str)>) -> Self {
        let mut finder = Self { forms: HashMap::new(), unspaced: Vec::new() };
        for (name, text) in forms.into_iter().take(FORMS_MAX) {
            let Some(first) = words(text).next() else { continue };
            if text.chars().any(is_unspaced) {
                finder.unspaced.push((name, text));
            } else {
                let form = Form { name, text, lead: first.start };
                finder.forms.entry(text[first].to_lowercase()).or_default().push(form);
            }
        }
        for forms in finder.forms.values_mut() {
            forms.sort_by_key(|form| std::cmp::Reverse(form.text.len()));
        }
        finder
    }

    /// Every place of every name, in order; of names within names the longest. A name that occurs somewhere as it is
    /// written is not found where only its letters are the same.
    pub(super) fn find(&self, text: &str) -> Vec<Sighting> {
        let mut found = Vec::new();
        let mut end = 0;
        for word in words(text).filter(|_| !self.forms.is_empty()) {
            if word.start < end {
                continue;
            }
            let Some(forms) = self.forms.get(&text[word.clone()].to_lowercase()) else { continue };
            if let Some(sighting) = forms.iter().find_map(|form| form.at(text, word.start, end)) {
                end = sighting.bytes.end;
                found.push(sighting);
            }
        }
        for (name, form) in &self.unspaced {
            let places = text.match_indices(form).take(MENTIONS_MAX);
            found.extend(places.map(|(at, _)| Sighting {
                name: *name,
                bytes: at..at + form.len(),
                is_exact: true,
            }));
        }
        found.sort_by_key(|sighting| sighting.bytes.start);
        found
    }
}

impl Form<'_> {
    fn at(&self, text: &str, word: usize, taken: usize) -> Option<Sighting> {
        let start = word.checked_sub(self.lead).filter(|start| *start >= taken)?;
        let bytes = start..start + self.text.len();
        let there = text.get(bytes.clone())?;
        let is_exact = there == self.text;
        let ends_in_word = self.text.ends_with(char::is_alphanumeric);
        let goes_on = text[bytes.end..].starts_with(char::is_alphanumeric) && ends_in_word;
        ((is_exact || there.eq_ignore_ascii_case(self.text)) && !goes_on).then_some(Sighting {
            name: self.name,
            bytes,
            is_exact,
        })
    }
}

/// Removes occurrences that differ in case, where a name occurs somewhere as it is written; "Will" is not "will".
pub(super) fn surest<T>(mut all: Vec<(T, Sighting)>) -> Vec<(T, Sighting)> {
    let mut exact: HashMap<usize, usize> = HashMap::new();
    for (_, sighting) in &all {
        *exact.entry(sighting.name).or_default() += usize::from(sighting.is_exact);
    }
    let mut kept: HashMap<usize, usize> = HashMap::new();
    all.retain(|(_, sighting)| {
        let is_sure = sighting.is_exact || exact.get(&sighting.name) == Some(&0);
        let count = kept.entry(sighting.name).or_default();
        *count += usize::from(is_sure);
        is_sure && *count <= MENTIONS_MAX
    });
    all
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{0E00}'..='\u{0EFF}'
        | '\u{20000}'..='\u{3FFFF}')
}

/// Runs of letters and digits.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(char::is_alphanumeric)?;
        let rest = &text[start..];
        at = start + rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        Some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(forms: &[(usize, &str)], text: &str) -> Vec<(usize, String)> {
        let all = Finder::new(forms.iter().copied()).find(text);
        let all = surest(all.into_iter().map(|sighting| ((), sighting)).collect());
        all.into_iter().map(|((), s)| (s.name, text[s.bytes].to_owned())).collect()
    }

    #[test]
    fn names_stand_on_word_boundaries_and_the_longest_counts() {
        let forms = [(0, "Ann Lee"), (0, "Ann"), (1, "C++"), (2, "@bob"), (3, "Node.js"), (4, "田中")];
        let text = "Ann Lee's Annex: Ann, @bob and C++ (not Node.jsx but Node.js). 会議で田中さんは。";
        let names = seen(&forms, text);
        let names: Vec<(usize, &str)> = names.iter().map(|(name, text)| (*name, text.as_str())).collect();
        assert_eq!(names, [(0, "Ann Lee"), (0, "Ann"), (2, "@bob"), (1, "C++"), (3, "Node.js"), (4, "田中")]);
    }

    #[test]
    fn a_name_is_found_in_another_case_only_where_it_stands_nowhere_as_written() {
        assert_eq!(seen(&[(0, "Will")], "Will said he will go."), [(0, "Will".to_owned())]);
        assert_eq!(seen(&[(0, "Apollo")], "the apollo launch"), [(0, "apollo".to_owned())]);
    }

    #[test]
    fn pronouns_marks_and_numbers_are_no_names() {
        for name in ["I", "they", "The user", "", " ", "!!", "42", "a", "N/A"] {
            assert!(!is_name(name), "{name}");
        }
        for name in ["Ann", "C++", "田", "X1", "ann@x.org"] {
            assert!(is_name(name), "{name}");
        }
    }
}
