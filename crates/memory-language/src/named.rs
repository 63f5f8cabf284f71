//! Whether a question names somebody.

use crate::calendar_words::calendar_word;
use crate::text::words_of;

/// Given names that are other words too: names only with a capital inside the question.
const OTHER_WORDS: [&str; 14] = [
    "will", "can", "mark", "grace", "hope", "bill", "rob", "sue", "art", "pat", "rose", "grant", "frank",
    "van",
];
/// What speakers are called in chats where nobody has a name, and what stands before names.
const NOBODY: [&str; 16] = [
    "user",
    "assistant",
    "system",
    "unknown",
    "the",
    "mrs",
    "miss",
    "prof",
    "rev",
    "sir",
    "cllr",
    "von",
    "der",
    "del",
    "team",
    "and",
];
/// Shorter words of a name, such as titles and initials, name nobody unless the question has them with a capital.
const WORD_CHARS_MIN: usize = 3;

/// The words of a question that may be somebody's name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamingWords(Vec<String>);

impl NamingWords {
    pub fn of(question: &str) -> Self {
        let mut kept: Vec<String> = words_of(question)
            .enumerate()
            .filter_map(|(n, word)| {
                let lower = word.to_lowercase();
                let has_capital = word.chars().next().is_some_and(|c| !c.is_lowercase());
                let is_long =
                    word.chars().count() >= WORD_CHARS_MIN || (has_capital && lower.chars().count() > 1);
                let is_other = OTHER_WORDS.contains(&lower.as_str()) && (n == 0 || !has_capital);
                // "in June" is no June, and "Dr" nobody.
                let is_named = !NOBODY.contains(&lower.as_str())
                    && !matches!(lower.as_str(), "dr" | "mr" | "ms")
                    && calendar_word(&lower).is_none();
                (is_long && !is_other && is_named).then_some(lower)
            })
            .collect();
        kept.sort_unstable();
        kept.dedup();
        Self(kept)
    }

    /// Whether they have a word of this name.
    pub fn name(&self, name: &str) -> bool {
        let has = |word: &str| self.0.binary_search_by(|kept| kept.as_str().cmp(word)).is_ok();
        words_of(name).map(str::to_lowercase).any(|word| has(&word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_who_has_one_of_its_words_for_a_name() {
        let named = |question: &str, name| NamingWords::of(question).name(name);
        assert!(named("What did Caroline paint?", "Caroline"));
        assert!(named("caroline's dog", "Caroline Okafor"));
        assert!(named("Whitfield on the budget", "Dana Whitfield"));
        assert!(named("What did Will promise?", "Will Adeyemi"));
        assert!(!named("What will Ann do?", "Will Adeyemi"));
        assert!(!named("Will Ann come in May?", "Will Adeyemi") && !named("in May?", "May Park"));
        assert!(named("what does caroline think of Berlin?", "Caroline"));
        assert!(named("Where is Bo's car?", "Bo Ray") && !named("What did Mrs Haas say?", "Mrs Lee"));
        assert!(!named("will it rain?", "Will Adeyemi"));
        assert!(!named("What does the user prefer?", "user"));
        assert!(!named("Where does Dr Haas work?", "Dr Lee"));
        assert!(!named("", "Ann"));
    }
}
