//! What is known of a language, and the words of English, which tell it from the others.

use crate::calendar_words::calendar_word;

pub(super) struct Language {
    /// Words that tell the language, beside those of its dates.
    pub(super) told_by: &'static str,
    /// What stands before "drei Tagen" where it means "three days ago".
    pub(super) ago: &'static [&'static str],
    /// "etwa" and the like between that and the number.
    pub(super) about: &'static [&'static str],
    pub(super) counts: &'static [(&'static str, &'static str)],
    /// Words parted by one space, marks as words.
    pub(super) phrases: &'static [(&'static str, &'static str)],
    /// What a word is before a number, where that is another thing.
    pub(super) before_number: &'static [(&'static str, &'static str)],
    pub(super) words: &'static [(&'static str, &'static str)],
}

fn look_up(list: &[(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    list.iter().find(|(known, _)| *known == word).map(|(_, english)| *english)
}

impl Language {
    pub(super) fn english(&self, word: &str) -> Option<&'static str> {
        look_up(self.words, word)
    }

    pub(super) fn count(&self, word: &str) -> Option<&'static str> {
        look_up(self.counts, word)
    }

    pub(super) fn before_number(&self, word: &str) -> Option<&'static str> {
        look_up(self.before_number, word)
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.told_by.split_ascii_whitespace().any(|told| told == word) || self.english(word).is_some()
    }
}

/// A word of English, also where it is one of another language.
pub(super) fn is_english(word: &str) -> bool {
    const WORDS: &str = "the what did does do done who whom whose when where how which why is are and of my our we you \
        she he they it its with about has have had i me us them their his her this that these those from on for at by \
        to was were last next week weeks month year yesterday day days ago since before after between during happened \
        tell show find list give can could would should will met said say meeting today tomorrow \
        in am an as a or so no also war die hat man come fine due per ad estate once son winter";
    calendar_word(word).is_some() || WORDS.split_ascii_whitespace().any(|known| known == word)
}
