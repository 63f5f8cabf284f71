//! Names in a question that nothing shown mentions: what is asked of them is not there.

use memory_language::calendar_words::calendar_word;
use memory_language::lexicon::is_function_word;

use super::{NOTHING_ANSWERS, Recall};

/// How the warning begins.
pub const NOT_MENTIONED: &str = "No result mentions";
/// A shorter name may be anything.
const NAME_CHARS_MIN: usize = 3;
/// From this length on a name is the same with another ending: Postgres, PostgreSQL.
const LONG_CHARS: usize = 6;
const ENDING_CHARS: usize = 2;

/// What the answer says where a name in the question occurs in none of its results, unless it says already that nothing answers.
pub(super) fn warning(question: &str, answer: &Recall) -> Option<String> {
    if answer.results.is_empty() || answer.warnings.iter().any(|said| said == NOTHING_ANSWERS) {
        return None;
    }
    let names = names(question);
    if names.is_empty() {
        return None;
    }
    let shown = shown(answer);
    let missing: Vec<String> =
        names.into_iter().filter(|name| !mentions(&shown, name)).map(|name| format!("'{name}'")).collect();
    (!missing.is_empty()).then(|| format!("{NOT_MENTIONED} {}.", missing.join(" or ")))
}

/// Words with a capital that do not begin a sentence of an English question.
fn names(question: &str) -> Vec<&str> {
    let opens = question.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    let opens = opens.unwrap_or_default().to_lowercase();
    if !is_function_word(&opens) {
        return Vec::new();
    }
    let mut names: Vec<&str> = Vec::new();
    let mut begins = true;
    for written in question.split_whitespace() {
        let word = written.trim_matches(|c: char| !c.is_alphanumeric());
        let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        let is_name = word.starts_with(char::is_uppercase)
            && word.chars().count() >= NAME_CHARS_MIN
            && word.chars().all(char::is_alphanumeric)
            && !is_shouted(word)
            && calendar_word(&word.to_lowercase()).is_none()
            && !is_function_word(&word.to_lowercase());
        if is_name && !begins && !names.contains(&word) {
            names.push(word);
        }
        begins = written.ends_with(['.', '!', '?', ':']);
    }
    names
}

/// "ONLY", but not "AWS".
fn is_shouted(word: &str) -> bool {
    word.chars().count() > NAME_CHARS_MIN && !word.chars().any(char::is_lowercase)
}

/// All that the answer shows, in small letters.
fn shown(answer: &Recall) -> String {
    let mut shown: Vec<&str> = Vec::new();
    for result in &answer.results {
        let hit = &result.hit;
        shown.extend([&hit.passage, &hit.context].map(String::as_str));
        shown.extend(
            [&hit.title, &hit.author, &hit.source, &hit.source_id].into_iter().flatten().map(String::as_str),
        );
        shown.extend(hit.participants.iter().chain(&hit.tags).map(String::as_str));
        shown.extend(hit.events.iter().map(|event| event.narrative.as_str()));
        shown.extend(result.neighbours.iter().map(|neighbour| neighbour.text.as_str()));
    }
    for entity in &answer.entities {
        shown.push(&entity.name);
        shown.extend(entity.aliases.iter().map(String::as_str));
    }
    shown.extend(
        answer.facts.iter().flat_map(|fact| [fact.stored.entity.as_str(), fact.stored.observation.as_str()]),
    );
    shown.extend(answer.directives.iter().map(|directive| directive.quote.as_str()));
    shown.join("\n").to_lowercase()
}

fn mentions(shown: &str, name: &str) -> bool {
    let lower = name.to_lowercase();
    let chars = lower.chars().count();
    let stem: String =
        if chars >= LONG_CHARS { lower.chars().take(chars - ENDING_CHARS).collect() } else { lower };
    shown.contains(&stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_with_a_capital_within_an_english_question() {
        assert_eq!(names("Which error did Kafka cause in March?"), ["Kafka"]);
        assert_eq!(names("What is Kari's number? Where did we stay in Rome?"), ["Kari", "Rome"]);
        assert_eq!(names("Wo ist der Schlüssel?"), [""; 0]);
        assert_eq!(names("Postgres settings"), [""; 0]);
        assert_eq!(names("Which are the ONLY ones that AWS bills?"), ["AWS"]);
        assert_eq!(names("How do I restart it on Monday?"), [""; 0]);
    }

    #[test]
    fn another_ending_is_the_same_name() {
        assert!(mentions("we run postgresql 16", "Postgres"));
        assert!(!mentions("we run mysql", "Postgres"));
    }
}
