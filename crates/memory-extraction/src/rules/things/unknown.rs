//! Capitalised words that no list knows: what may be a name by what stands around it.

use memory_language::calendar_words::calendar_word;

use super::super::lists;
use super::super::names;
use super::super::verbs;
use super::super::words::{Text, spaced};
use super::words::is_body;

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

/// A name in capitals where the words around it are not: "STARLING", "HERON-2"; what is hardly spoken as a word is an abbreviation.
pub(super) fn is_code_name(text: &Text<'_>, at: usize) -> bool {
    let raw = text.raw_word(at);
    let (name, number) = raw.split_once('-').unwrap_or((raw, ""));
    let letters = name.chars().count();
    let is_vowel = |c: char| matches!(c, 'A' | 'E' | 'I' | 'O' | 'U' | 'Y');
    let spoken =
        name.chars().any(is_vowel) && name.chars().filter(|c| !is_vowel(*c)).count() * 4 <= letters * 3;
    let shouts = |at: usize| {
        text.is_word(at) && text.raw_word(at).len() > 1 && !text.raw_word(at).chars().any(char::is_lowercase)
    };
    let among_others = (at > 0 && shouts(at - 1)) || shouts(at + 1);
    let word = name.to_lowercase();
    text.is_word(at)
        && (5..=14).contains(&letters)
        && name.chars().all(|c| c.is_ascii_uppercase())
        && number.len() < 2
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && spoken
        && !among_others
        && !names::is_common_word(&word)
        && !names::is_first_name(&word)
        && !lists::SOFTWARE.contains(&word)
        && !lists::PLACES.contains(&word)
        && !lists::ACRONYMS.contains(&word)
        && !lists::PROJECT_STATES.contains(&word)
        && !word.ends_with("ing")
        && !is_body(name)
        && verbs::of(&word).is_none()
        && calendar_word(&word).is_none()
}
