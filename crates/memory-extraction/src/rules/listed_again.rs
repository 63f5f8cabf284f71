//! Promises that a list repeats: "Jo will ring the engineer by 17 August.", and under "Actions" "Jo: autoclave engineer, 17 August".

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use memory_core::event::Category;

use super::draft::Draft;

/// What the summary of an item without a verb has between its owner and its task.
const TOOK_ON: &str = " took on: ";
/// Shorter words are not compared, and of longer ones so many characters: "delivery" and "deliver" are one.
const WORD_CHARS_MIN: usize = 5;
const WORD_CHARS_COMPARED: usize = 6;
/// With so many promises of the same people and day is an item compared.
const COMPARED_MAX: usize = 16;

/// Whose it is, and when it is due.
type Key = (usize, Vec<usize>, Timestamp);

/// Gives what a list says of a promise that was told in a sentence to that promise, as further evidence.
pub(super) fn join(drafts: &mut Vec<Draft>) {
    let mut told: HashMap<Key, Vec<usize>> = HashMap::new();
    for (at, draft) in drafts.iter().enumerate() {
        if let Some(key) = key(draft).filter(|_| !draft.narrative.contains(TOOK_ON)) {
            told.entry(key).or_default().push(at);
        }
    }
    let mut joined: HashSet<usize> = HashSet::new();
    for at in 0..drafts.len() {
        let Some(key) = key(&drafts[at]) else { continue };
        let Some((_, task)) = drafts[at].narrative.split_once(TOOK_ON) else { continue };
        let words = beginnings(task);
        let mut same = told.get(&key).into_iter().flatten().take(COMPARED_MAX).copied();
        let is_told = |other: &usize| !beginnings(&drafts[*other].narrative).is_disjoint(&words);
        if let Some(other) = same.find(is_told) {
            let evidence = drafts[at].evidence.clone();
            drafts[other].evidence.extend(evidence);
            joined.insert(at);
        }
    }
    let mut at = 0;
    drafts.retain(|_| {
        at += 1;
        !joined.contains(&(at - 1))
    });
}

fn key(draft: &Draft) -> Option<Key> {
    let mut owners: Vec<usize> = draft.owners().collect();
    owners.sort_unstable();
    let segment = draft.evidence.first()?.0;
    let is_promise = draft.category == Category::Commitment && !owners.is_empty();
    is_promise.then_some((segment, owners, draft.due_time?))
}

/// How the words of a promise begin, but for names, numbers and months, which begin with a capital or a digit.
fn beginnings(words: &str) -> HashSet<String> {
    let words = words.split(|c: char| !c.is_alphanumeric());
    let long = words.filter(|word| {
        word.chars().count() >= WORD_CHARS_MIN && word.starts_with(|c: char| c.is_lowercase())
    });
    long.map(|word| word.chars().take(WORD_CHARS_COMPARED).collect()).collect()
}
