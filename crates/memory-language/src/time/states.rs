//! Questions of how things were at a time, "where did Kari live in March?", "what was the request timeout in May?", beside those
//! of what happened then.

use super::asked::words;

/// What lasts, behind "did".
const LASTING: [&str; 28] = [
    "live", "use", "have", "cost", "own", "work", "drive", "weigh", "belong", "need", "earn", "charge",
    "run", "contain", "allow", "look", "keep", "like", "prefer", "rent", "teach", "attend", "speak", "know",
    "hold", "consist", "include", "stand",
];
/// What is asked of what happened, though "was" or "were" is in it.
const HAPPENING: [&str; 22] = [
    "new",
    "wrong",
    "about",
    "like",
    "said",
    "done",
    "going",
    "up",
    "there",
    "in",
    "at",
    "on",
    "for",
    "lunch",
    "dinner",
    "breakfast",
    "weather",
    "outage",
    "incident",
    "problem",
    "error",
    "topic",
];

/// Whether a question is of how things were, and not of what happened.
pub(super) fn asks_of_state(question: &str) -> bool {
    let words: Vec<String> = words(question).map(str::to_lowercase).collect();
    let has = |list: &[&str], word: &String| list.contains(&word.as_str());
    if let Some(did) = words.iter().position(|word| word == "did") {
        return words[did..].iter().any(|word| has(&LASTING, word));
    }
    let Some(was) = words.iter().take(4).position(|word| matches!(word.as_str(), "was" | "were")) else {
        return false;
    };
    let opens = matches!(words[0].as_str(), "what" | "which" | "who" | "where" | "how");
    let happens = |word: &String| has(&HAPPENING, word) || word.ends_with("ed") || word.ends_with("ing");
    let behind = &words[was + 1..];
    // The last words are of the time: "in March".
    let told = &behind[..behind.len().saturating_sub(2)];
    opens && !told.is_empty() && !told.iter().any(happens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_things_were_is_told_from_what_happened() {
        for question in [
            "Where did Kari live in March?",
            "Which Node version did Lumen use in June?",
            "What was the request timeout in May?",
            "Who was our landlord in 2024?",
            "How much was the cleaner in September?",
        ] {
            assert!(asks_of_state(question), "{question}");
        }
        for question in [
            "What did we decide in March?",
            "What was discussed in May?",
            "What was the outage in May about?",
            "Who was at the meeting in June?",
            "Where were we going in August?",
            "When was it?",
        ] {
            assert!(!asks_of_state(question), "{question}");
        }
    }
}
