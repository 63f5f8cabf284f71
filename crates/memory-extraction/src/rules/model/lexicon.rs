//! Classes of words that mean much the same for what a clause tells, so that a rare word speaks as its kin.

use std::sync::LazyLock;

use super::super::wordset::WordMap;

const WORDS: &str = include_str!("lexicon.txt");

static CLASSES: LazyLock<WordMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut classes: WordMap<&'static str, Vec<&'static str>> = WordMap::default();
    for line in WORDS.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let Some(class) = words.next() else { continue };
        for word in words {
            let known = classes.entry(word).or_default();
            if !known.contains(&class) {
                known.push(class);
            }
        }
    }
    classes
});

/// The classes of a word in lower case.
pub(super) fn classes(word: &str) -> &'static [&'static str] {
    CLASSES.get(word).map_or(&[], Vec::as_slice)
}

/// The word without its ending: «postponed», «postpones» and «postponing» are one.
pub(super) fn stem(word: &str) -> &str {
    for ending in ["ations", "ation", "ings", "ing", "ied", "ies", "ed", "es", "ly", "s", "e", "y"] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.len() >= 3
            && stem.is_ascii()
        {
            return stem;
        }
    }
    word
}
