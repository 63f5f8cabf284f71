//! Entities: the people, organisations and things that events are about.

mod keys;

use memory_language::lexicon::is_function_word;

use crate::closed_set::closed_set;

pub(crate) use keys::{as_initials, handle, handles, letters};
pub use keys::{name_keys, name_part_key};

closed_set! {
    EntityType {
        Person = "person",
        Org = "org",
        Project = "project",
        Object = "object",
        Place = "place",
        Other = "other",
    }
}

/// The form names are compared in: lower case, single spaces, no surrounding punctuation.
pub fn normalised_name(name: &str) -> String {
    let trimmed = name.trim_matches(|c: char| {
        c.is_whitespace() || (c.is_ascii_punctuation() && !matches!(c, '@' | '#' | '+'))
    });
    trimmed.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Whether a normalised name is an e-mail address.
pub fn is_address(normalised: &str) -> bool {
    normalised.split_once('@').is_some_and(|(local, domain)| !local.is_empty() && domain.contains('.'))
}

/// What may be a name in a question, normalised: its addresses and handles, and up to four words in a row.
pub fn names_in_question(question: &str) -> Vec<String> {
    const WORDS_MAX: usize = 40;
    const NAME_WORDS_MAX: usize = 4;
    let words: Vec<String> = question
        .split_whitespace()
        .map(normalised_name)
        .filter(|word| !word.is_empty())
        .map(|word| match word.strip_suffix("'s").or(word.strip_suffix("’s")) {
            Some(bare) if !bare.is_empty() => bare.to_owned(),
            _ => word,
        })
        .take(WORDS_MAX)
        .collect();
    let may_end = |word: &String| !is_function_word(word);
    let mut names: Vec<String> = Vec::new();
    // Longer names first: an entity with the whole name is meant rather than one with a part of it.
    for length in (1..=NAME_WORDS_MAX.min(words.len())).rev() {
        for run in words.windows(length) {
            let begins = length > 1 && run.first().is_some_and(|word| word == "the");
            let fits = run.last().is_some_and(may_end) && (begins || run.first().is_some_and(may_end));
            let name = run.join(" ");
            if fits && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{names_in_question, normalised_name};

    #[test]
    fn a_question_may_name_whoever_its_words_call() {
        let names = names_in_question("What did Alice Chen's team promise ann@x.org and @kim?");
        for name in ["alice chen", "alice", "ann@x.org", "@kim", "alice chen team"] {
            assert!(names.iter().any(|n| n == name), "{name} in {names:?}");
        }
        assert!(
            !names.iter().any(|name| name == "did" || name.starts_with("what ") || name.ends_with(" and"))
        );
        assert!(names_in_question("who is it?").is_empty());
        assert!(names_in_question(&"word ".repeat(2_000)).len() <= 4);
    }

    #[test]
    fn names_compare_without_case_spaces_and_surrounding_punctuation() {
        assert_eq!(normalised_name("  Alice   CHEN, "), "alice chen");
        assert_eq!(normalised_name("@alice"), "@alice");
        assert_eq!(normalised_name("C++"), "c++");
    }
}
