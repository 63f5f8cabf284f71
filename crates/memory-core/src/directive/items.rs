//! Items of lists: what the others of a list say of one, and for what the line above them says they hold.

use super::Sentence;
use super::learned::{self, THRESHOLD};
use super::place_of;
use super::speakers::Voice;
use super::words::list;

/// The most tokens of a line that says for what a list holds.
const SETTING_MAX: usize = 8;

/// Of each sentence whether it is an item of a list, of whose other items at least half state a directive by themselves.
pub(super) fn among_directives(read: &[(Sentence<'_>, bool)], voice: Voice, words: usize) -> Vec<bool> {
    let states = |at: usize| learned::likelihood(&read[at].0, place_of(read, at, voice, words)) >= THRESHOLD;
    let mut are = vec![false; read.len()];
    let mut start = 0;
    for of_list in read.chunk_by(|(one, _), (other, _)| one.is_item && other.is_item) {
        let items = start..start + of_list.len();
        start = items.end;
        if items.len() < 2 {
            continue;
        }
        let stating: Vec<bool> = items.clone().map(states).collect();
        let all = stating.iter().filter(|states| **states).count();
        for (at, states) in items.zip(&stating) {
            are[at] = (all - usize::from(*states)) * 2 >= stating.len() - 1;
        }
    }
    are
}

/// For what the list below a line holds, where that says it: "In the tests folder:".
pub(super) fn setting<'a>(sentence: &Sentence<'a>) -> Option<&'a str> {
    let end = sentence.len().checked_sub(1)?;
    let opens = list("condition").at(sentence, 0, end) > 0
        || matches!(
            sentence.word(0),
            Some("in" | "for" | "at" | "on" | "with" | "inside" | "outside" | "within" | "under")
        );
    let is_plain = (0..end).all(|at| sentence.word(at).is_some() || sentence.mark(at) == Some("/"));
    let is_of_nothing = list("no setting").at(sentence, 1, end) > 0
        || list("passing").within(sentence, 0, end)
        || list("standing").within(sentence, 0, end)
        || list("here only").within(sentence, 0, end);
    (opens && is_plain && !is_of_nothing && (2..=SETTING_MAX).contains(&end)).then(|| sentence.text(0, end))
}
