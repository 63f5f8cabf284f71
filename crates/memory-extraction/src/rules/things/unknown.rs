//! Capitalised words that no list knows: what may be a name by what stands around it.

use super::super::lists;
use super::super::names;
use super::super::verbs;
use super::super::words::{Text, spaced};

/// A capitalised word that is neither known as a word nor as a person's name.
pub(super) fn is_unknown(text: &Text<'_>, at: usize) -> bool {
    let word = text.word(at);
    text.is_capitalised(at)
        && text.raw_word(at).chars().count() >= 4
        && text.raw_word(at).chars().all(|c| c.is_alphabetic() || c == '-')
        && text.raw_word(at).chars().any(char::is_lowercase)
        && !names::is_no_name(word)
        && !names::is_first_name(&text.raw_word(at).to_lowercase())
        && !names::is_wordy_name(word)
        && !names::is_title(word)
        && !lists::SOFTWARE.contains(word)
        && verbs::of(word).is_none()
}

/// Where every word has a capital.
pub(super) fn begins_statement(text: &Text<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return true };
    let gap = &text.raw[text.tokens[before].end..text.tokens[at].start];
    gap.contains('\n') || !(text.is_word(before) || text.is_any(before, &[",", "(", "'s"]))
}

/// The token after the name that begins at `at`: up to three unknown words with a capital.
pub(super) fn sequence(text: &Text<'_>, at: usize) -> usize {
    let more = |end: &usize| {
        text.is_capitalised(*end) && spaced(text, end - 1) && !names::is_no_name(text.word(*end))
    };
    (at + 1..at + 3).find(|end| !more(end)).unwrap_or(at + 3)
}
