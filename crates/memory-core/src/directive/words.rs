//! The words by which instructions and preferences are found and compared: `data/directives.txt` and
//! `data/directive_meanings.txt`, compiled in and read once.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::sentence::Sentence;

const WORDS: &str = include_str!("../../data/directives.txt");
const MEANINGS: &str = include_str!("../../data/directive_meanings.txt");

static LISTS: LazyLock<HashMap<&str, Phrases>> = LazyLock::new(|| {
    sections(WORDS).into_iter().map(|(name, entries)| (name, Phrases::new(&entries))).collect()
});

/// The phrases of a section. There is none of a name that the file has not, which a test finds.
pub(super) fn list(name: &str) -> &'static Phrases {
    static NONE: LazyLock<Phrases> = LazyLock::new(|| Phrases::new(&[]));
    LISTS.get(name).unwrap_or(&NONE)
}

/// The lists that have a phrase which begins at a token.
pub(super) fn lists_at(sentence: &Sentence<'_>, at: usize) -> impl Iterator<Item = &'static str> {
    static BY_FIRST: LazyLock<HashMap<&str, Vec<(&str, &Phrases)>>> = LazyLock::new(|| {
        let mut by_first: HashMap<&str, Vec<(&str, &Phrases)>> = HashMap::new();
        for (name, phrases) in LISTS.iter() {
            for first in phrases.0.keys() {
                by_first.entry(first).or_default().push((name, phrases));
            }
        }
        for lists in by_first.values_mut() {
            lists.sort_by_key(|(name, _)| *name);
        }
        by_first
    });
    let lists = sentence.word(at).and_then(|word| BY_FIRST.get(word));
    let has = move |phrases: &Phrases| phrases.at(sentence, at, sentence.len()) > 0;
    lists.into_iter().flatten().filter(move |(_, phrases)| has(phrases)).map(|(name, _)| *name)
}

/// The sections of a file in order, with their entries.
fn sections(text: &'static str) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|head| head.strip_suffix(']')) {
            Some(name) => sections.push((name, Vec::new())),
            None => {
                if let Some((_, entries)) = sections.last_mut() {
                    entries.push(line);
                }
            }
        }
    }
    sections
}

/// Words and sequences of words.
pub(super) struct Phrases(HashMap<&'static str, Vec<Vec<&'static str>>>);

impl Phrases {
    fn new(entries: &[&'static str]) -> Self {
        let mut by_first: HashMap<&str, Vec<Vec<&str>>> = HashMap::new();
        for entry in entries {
            let words: Vec<&str> = entry.split(' ').collect();
            by_first.entry(words[0]).or_default().push(words);
        }
        Self(by_first)
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.0.get(word).is_some_and(|phrases| phrases.iter().any(|phrase| phrase.len() == 1))
    }

    /// The length in words of the longest phrase that begins at a token, 0 where none does.
    pub(super) fn at(&self, sentence: &Sentence<'_>, at: usize, end: usize) -> usize {
        let Some(phrases) = sentence.word(at).filter(|_| at < end).and_then(|word| self.0.get(word)) else {
            return 0;
        };
        let fits = |phrase: &&Vec<&str>| {
            at + phrase.len() <= end
                && phrase.iter().enumerate().all(|(n, word)| sentence.word(at + n) == Some(word))
        };
        phrases.iter().filter(fits).map(Vec::len).max().unwrap_or(0)
    }

    /// Where the first phrase between two tokens begins.
    pub(super) fn find(&self, sentence: &Sentence<'_>, start: usize, end: usize) -> Option<usize> {
        (start..end).find(|at| self.at(sentence, *at, end) > 0)
    }

    pub(super) fn within(&self, sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
        self.find(sentence, start, end).is_some()
    }
}

/// Things of which one holds at a time.
pub(super) struct Group {
    /// It is about one thing, whatever stands beside.
    pub(super) is_enough: bool,
    members: HashMap<&'static str, usize>,
}

impl Group {
    /// Which member a word means.
    pub(super) fn member(&self, word: &str) -> Option<usize> {
        self.members.get(word).copied()
    }
}

pub(super) static GROUPS: LazyLock<Vec<Group>> = LazyLock::new(|| {
    let groups = sections(MEANINGS)
        .into_iter()
        .filter_map(|(name, entries)| Some((name.strip_prefix("group ")?, entries)));
    let group = |(name, entries): (&str, Vec<&'static str>)| Group {
        is_enough: name.starts_with('*'),
        members: entries
            .iter()
            .enumerate()
            .flat_map(|(n, line)| line.split(' ').map(move |word| (word, n)))
            .collect(),
    };
    groups.map(group).collect()
});

/// What questions and instructions may have in common without a common word.
pub(super) struct Subject {
    pub(super) of_question: Phrases,
    pub(super) of_directive: Phrases,
}

pub(super) static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    sections(MEANINGS)
        .into_iter()
        .filter(|(name, _)| name.starts_with("subject "))
        .filter_map(|(_, entries)| {
            let words = |line: &&'static str| Phrases::new(&line.split(' ').collect::<Vec<_>>());
            Some(Subject {
                of_question: entries.first().map(words)?,
                of_directive: entries.get(1).map(words)?,
            })
        })
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_that_the_rules_name_is_there_and_none_is_there_twice() {
        let code = [
            include_str!("back.rs"),
            include_str!("bounds.rs"),
            include_str!("colons.rs"),
            include_str!("ended.rs"),
            include_str!("length.rs"),
            include_str!("permission.rs"),
            include_str!("refused.rs"),
            include_str!("house.rs"),
            include_str!("moment.rs"),
            include_str!("wishes.rs"),
            include_str!("without_comma.rs"),
            include_str!("rules.rs"),
            include_str!("clauses.rs"),
            include_str!("conditions.rs"),
            include_str!("heads.rs"),
            include_str!("once.rs"),
            include_str!("orders.rs"),
            include_str!("speakers.rs"),
        ]
        .concat();
        let named: Vec<&str> =
            code.split("list(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(named.len() > 10);
        for name in named {
            assert!(LISTS.contains_key(name), "{name}");
        }
        let mut names: Vec<&str> = sections(WORDS).into_iter().map(|(name, _)| name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(GROUPS.len() > 5 && SUBJECTS.len() > 5);
    }
}
