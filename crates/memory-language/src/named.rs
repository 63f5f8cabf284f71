//! Whether a question names somebody.

/// Words that begin questions and are given names as well.
const BEGINNINGS: [&str; 3] = ["will", "may", "can"];
/// What speakers are called in chats where nobody has a name.
const ROLES: [&str; 4] = ["user", "assistant", "system", "unknown"];
/// Shorter words of a name, such as titles and initials, name nobody.
const WORD_CHARS_MIN: usize = 3;

/// The words of a question that may be somebody's name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamingWords(Vec<String>);

impl NamingWords {
    /// Of a question that has capitals behind its first word, the capitalised words and the first; else all of its words.
    pub fn of(question: &str) -> Self {
        let words = || words_of(question);
        let begins = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
        let has_capitals = words().skip(1).any(|word| begins(word) && word != "I");
        let mut kept: Vec<String> = words()
            .enumerate()
            .filter(|(n, word)| *n == 0 || !has_capitals || begins(word))
            .map(|(n, word)| (n, word.to_lowercase()))
            .filter(|(n, word)| (*n > 0 && has_capitals) || !BEGINNINGS.contains(&word.as_str()))
            .map(|(_, word)| word)
            .collect();
        kept.sort_unstable();
        kept.dedup();
        Self(kept)
    }

    /// Whether they have a word of this name.
    pub fn name(&self, name: &str) -> bool {
        let has = |word: &str| self.0.binary_search_by(|kept| kept.as_str().cmp(word)).is_ok();
        words_of(name)
            .filter(|word| word.chars().count() >= WORD_CHARS_MIN)
            .map(str::to_lowercase)
            .any(|word| !ROLES.contains(&word.as_str()) && has(&word))
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
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
        assert!(!named("Will Ann come in May?", "Will Adeyemi"));
        assert!(!named("will it rain?", "Will Adeyemi"));
        assert!(!named("What does the user prefer?", "user"));
        assert!(!named("Where does Dr Haas work?", "Dr Lee"));
        assert!(!named("", "Ann"));
    }
}
