//! Days that a promise is said not to be of: "I'll take it, no promises for this week though".

use memory_language::time::Reading;

/// Between a denial and the day that it is of stand fewer words.
const DENIED_WORDS: usize = 6;

/// Whether the clause of a day denies it; "don't forget the cake on Friday" and "not sure how, I'll bring it on Friday" do not.
pub(super) fn is_denied(words: &str, reading: &Reading) -> bool {
    const DENIALS: [&str; 9] =
        ["no", "not", "never", "nothing", "nobody", "cannot", "cant", "wont", "without"];
    /// What is to be done is said with a denial, or nothing is denied.
    const NOT_OF_THE_DAY: [&str; 11] = [
        "bother", "forget", "just", "later", "longer", "miss", "only", "prob", "problem", "problems",
        "worries",
    ];
    /// What begins another clause behind it.
    const GOES_ON: [&str; 9] = ["but", "i", "i'll", "shall", "so", "we", "we'll", "will", "to"];
    let clause = words[..reading.range.start].rsplit([',', ';', '.', '?', '!', ':', '–', '—', '(', '\n']);
    let before: Vec<String> = clause
        .take(1)
        .flat_map(str::split_whitespace)
        .map(|word| super::bare(word).to_lowercase().replace('’', "'"))
        .filter(|word| !word.is_empty())
        .collect();
    let near = &before[before.len().saturating_sub(DENIED_WORDS)..];
    let is_denial = |word: &String| DENIALS.contains(&word.as_str()) || word.ends_with("n't");
    near.iter().rposition(is_denial).is_some_and(|at| {
        let behind = &near[at + 1..];
        !behind.first().is_some_and(|next| NOT_OF_THE_DAY.contains(&next.as_str()))
            && !behind.iter().any(|word| GOES_ON.contains(&word.as_str()))
    })
}
