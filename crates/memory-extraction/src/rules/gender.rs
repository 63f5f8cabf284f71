//! As which a person is spoken of, by title, first name or pronoun.

use super::lists;

/// As which a person is spoken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gender {
    Female,
    Male,
}

impl Gender {
    /// "Mrs", "Sir", in lower case.
    pub(super) fn of_title(title: &str) -> Option<Self> {
        if lists::TITLES_OF_WOMEN.contains(title) {
            Some(Self::Female)
        } else if lists::TITLES_OF_MEN.contains(title) {
            Some(Self::Male)
        } else {
            None
        }
    }

    /// "Alice Chen", where the first name is given to one of both alone.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let first = name.split_whitespace().next()?.to_lowercase();
        if lists::NAMES_OF_WOMEN.contains(&first) {
            Some(Self::Female)
        } else if lists::NAMES_OF_MEN.contains(&first) {
            Some(Self::Male)
        } else {
            None
        }
    }

    pub(super) fn of_pronoun(word: &str) -> Option<Self> {
        match word {
            "she" | "her" => Some(Self::Female),
            "he" | "him" => Some(Self::Male),
            _ => None,
        }
    }
}
