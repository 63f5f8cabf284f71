//! Marks of what is not meant as it is said.

use super::lists;

/// Whether a word or sign marks a joke.
pub(super) fn is_joke(word: &str) -> bool {
    lists::JOKES.contains(word)
}
