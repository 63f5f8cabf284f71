//! What of a sentence may be a directive: neighbouring pieces between commas and conjunctions.

use std::ops::Range;

use super::clauses;
use super::sentence::Sentence;

/// The most pieces that one clause has.
const PIECES_MAX: usize = 4;
/// "Between the first and the last" has no more tokens before its "and".
const BETWEEN_MAX: usize = 5;

/// A range of tokens that may be a directive, and the stretch without strong marks that it stands in.
#[derive(Debug, Clone)]
pub(super) struct Clause {
    pub(super) tokens: Range<usize>,
    pub(super) stretch: Range<usize>,
}

/// What may be a directive: up to four neighbouring pieces between commas and conjunctions.
pub(super) fn clauses_of(sentence: &Sentence<'_>) -> Vec<Clause> {
    let mut found = Vec::new();
    let (mut start, mut aside_end) = (0, 0);
    for at in 0..=sentence.len() {
        aside_end = clauses::aside(sentence, at).unwrap_or(0).max(aside_end);
        let is_aside = aside_end > 0 && at <= aside_end;
        let ends = at == sentence.len()
            || matches!(
                sentence.mark(at),
                Some(";" | "—" | "–" | "-" | "(" | ")" | ":" | "!" | "?" | "." | "…")
            );
        if ends && !is_aside {
            of_stretch(sentence, start..at, &mut found);
            start = at + 1;
        }
    }
    found
}

fn of_stretch(sentence: &Sentence<'_>, stretch: Range<usize>, found: &mut Vec<Clause>) {
    let joins = |at: usize| matches!(sentence.word(at), Some("but" | "so" | "and"));
    let is_comma = |at: usize| sentence.mark(at) == Some(",");
    let mut cuts = vec![stretch.start];
    for at in stretch.clone() {
        if is_one(sentence, &stretch, at) {
            continue;
        }
        if is_comma(at) && at + 1 < stretch.end {
            cuts.push(at + 1);
        } else if joins(at) && at > stretch.start && !is_comma(at - 1) {
            cuts.push(at);
        }
    }
    cuts.push(stretch.end);
    for first in 0..cuts.len() - 1 {
        for last in first + 1..cuts.len().min(first + 1 + PIECES_MAX) {
            let (mut start, mut end) = (cuts[first], cuts[last]);
            while end > start && is_comma(end - 1) {
                end -= 1;
            }
            while start < end && (is_comma(start) || joins(start)) {
                start += 1;
            }
            if (start..end).any(|at| sentence.word(at).is_some()) {
                found.push(Clause { tokens: start..end, stretch: stretch.clone() });
            }
        }
    }
}

/// "Between 18:00 | and 19:30", "'P. Adeyemi, | Treasurer'": here nothing ends.
fn is_one(sentence: &Sentence<'_>, stretch: &Range<usize>, at: usize) -> bool {
    let near = stretch.start.max(at.saturating_sub(BETWEEN_MAX))..at;
    if sentence.word(at) == Some("and") {
        let between = near.clone().rev().find(|at| sentence.word(*at) == Some("between"));
        return between.is_some_and(|from| {
            !(from..at).any(|at| sentence.mark(at).is_some() || sentence.word(at) == Some("and"))
        });
    }
    sentence.mark(at) == Some(",") && sentence.is_in_name(at)
}
