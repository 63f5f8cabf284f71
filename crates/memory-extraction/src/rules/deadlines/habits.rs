//! Habits, which fall due on no day: "Hal pays invoices every second Friday".

use memory_language::calendar_words::{CalendarWord, Spelling, calendar_word};

use super::super::verbs;

/// Between "every" and the time that it repeats stands a word at most: "every second Friday".
const WORDS_BETWEEN: usize = 1;

/// Whether words tell in the present of what is done again and again. "I will water them every day until Friday" is a promise.
pub(in super::super) fn tells_a_habit(words: &str) -> bool {
    let words: Vec<String> = words
        .split_whitespace()
        .map(|word| super::bare(word).to_lowercase().replace('’', "'"))
        .filter(|word| !word.is_empty())
        .collect();
    let repeated = (0..words.len()).find(|at| repeats(&words, *at));
    // "Tara usually orders the felt": the verb may stand right behind.
    repeated.is_some_and(|at| is_of_the_present(&words[..words.len().min(at + 2)]))
}

/// "every second Friday", "each month", "on Mondays", "Thursday mornings", "usually".
fn repeats(words: &[String], at: usize) -> bool {
    const PERIODS: [&str; 10] =
        ["day", "evening", "fortnight", "month", "morning", "night", "quarter", "week", "weekend", "year"];
    const PARTS_OF_DAYS: [&str; 4] = ["mornings", "afternoons", "evenings", "nights"];
    const ADVERBS: [&str; 4] = ["generally", "normally", "typically", "usually"];
    let is_period = |word: &String| {
        PERIODS.contains(&word.as_str()) || matches!(calendar_word(word), Some((CalendarWord::Weekday(_), _)))
    };
    let is_plural_day = |word: &String| matches!(calendar_word(word), Some((_, Spelling::Plural)));
    let is_day = |word: &String| matches!(calendar_word(word), Some((CalendarWord::Weekday(_), _)));
    match words[at].as_str() {
        "every" | "each" => words[at + 1..].iter().take(WORDS_BETWEEN + 1).any(is_period),
        "on" => words.get(at + 1).is_some_and(is_plural_day),
        word if PARTS_OF_DAYS.contains(&word) => at > 0 && is_day(&words[at - 1]),
        word => ADVERBS.contains(&word),
    }
}

/// "Hal pays invoices", "we ship", "deploys go out": in the present, and nothing is promised or asked for.
fn is_of_the_present(before: &[String]) -> bool {
    const PROMISES: [&str; 8] = ["will", "shall", "must", "should", "to", "please", "can", "let's"];
    const SUBJECTS: [&str; 4] = ["i", "they", "we", "you"];
    let promises = |word: &String| PROMISES.contains(&word.as_str()) || word.ends_with("'ll");
    let is_verb = |at: usize| {
        let Some(verb) = verbs::of(&before[at]) else { return false };
        let subject = at.checked_sub(1).map_or("", |subject| before[subject].as_str());
        let is_many = subject.ends_with('s') && !subject.ends_with("ss");
        verb.third && !subject.is_empty() || verb.base && (SUBJECTS.contains(&subject) || is_many)
    };
    !before.iter().any(promises) && (0..before.len()).any(is_verb)
}
