//! Classes of words that mean much the same for what a clause tells, so that a rare word speaks as its kin.

use std::sync::LazyLock;

use super::super::data_file::{DataFault, DataFile, loaded};
use super::super::wordset::WordMap;

static FILE: DataFile = DataFile::new("word_classes.txt", include_str!("../../../data/word_classes.txt"));

type Classes = WordMap<&'static str, Vec<&'static str>>;

static CLASSES: LazyLock<Classes> = LazyLock::new(|| loaded(read()));

/// The classes by word. A line of the file is a class and its words.
pub(in super::super) fn read() -> Result<Classes, DataFault> {
    let mut classes = Classes::default();
    for (number, line) in FILE.section("")? {
        let mut words = line.split_whitespace();
        let class = words.next().unwrap_or_default();
        let mut has_words = false;
        for word in words {
            has_words = true;
            let known = classes.entry(word).or_default();
            if !known.contains(&class) {
                known.push(class);
            }
        }
        if !has_words {
            return Err(FILE.fault(number, "a class has no words"));
        }
    }
    Ok(classes)
}

/// The classes of a word in lower case.
pub(super) fn classes(word: &str) -> &'static [&'static str] {
    CLASSES.get(word).map_or(&[], Vec::as_slice)
}

/// The word without its ending: "postponed", "postpones" and "postponing" are one.
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
