//! What is told before it is asked: "I write best in the mornings, can you plan my week?"

/// What begins a question behind a comma.
const QUESTIONS: [&str; 21] = [
    "can you",
    "could you",
    "can we",
    "could we",
    "can i",
    "could i",
    "would you",
    "will you",
    "do you",
    "should i",
    "how can",
    "how could",
    "how do",
    "how should",
    "how would",
    "what",
    "which",
    "where",
    "any",
    "is there",
    "are there",
];
/// What begins what somebody tells of himself or herself.
const SUBJECTS: [&str; 7] = ["i", "i'm", "i'd", "i've", "we", "we're", "my"];
/// What may stand before that.
const LEADS: [&str; 8] = ["and", "but", "so", "also", "well", "ok", "okay", "btw"];

/// A sentence, cut where its question begins, if somebody tells of himself or herself before.
pub(super) fn told_and_asked(sentence: &str) -> (&str, Option<&str>) {
    let told = sentence.contains('?') && tells(sentence);
    let cut = told.then(|| sentence.match_indices(", ").find(|(at, _)| asks(&sentence[at + 2..]))).flatten();
    match cut {
        Some((at, _)) => (&sentence[..=at], Some(&sentence[at + 2..])),
        None => (sentence, None),
    }
}

fn tells(sentence: &str) -> bool {
    let mut words =
        sentence.split_whitespace().map(|word| word.trim_end_matches(',').to_lowercase().replace('’', "'"));
    let first = words.find(|word| !LEADS.contains(&word.as_str()));
    first.is_some_and(|first| SUBJECTS.contains(&first.as_str()))
}

fn asks(rest: &str) -> bool {
    let rest = rest.strip_prefix("so ").or_else(|| rest.strip_prefix("but ")).unwrap_or(rest);
    QUESTIONS.iter().any(|question| {
        let is_same = rest.get(..question.len()).is_some_and(|it| it.eq_ignore_ascii_case(question));
        is_same && !rest[question.len()..].starts_with(char::is_alphabetic)
    })
}
