//! The windows in which clauses are read: some of them together, with the heading above and what stands before and after.
//! `tools/train-clauses/encoder/bert.py` cuts in the same way.

use std::ops::Range;

use super::tokens::{CLS, SEP, Tokens};

/// Tokens from the first to the last clause of a window.
const WINDOW: usize = 160;
/// Tokens before the first and behind the last.
const BEFORE: usize = 40;
const BEHIND: usize = 24;

/// What the model reads at once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) ids: Vec<i64>,
    /// The clauses by number, each with its tokens in `ids`.
    pub(super) clauses: Vec<(usize, Range<usize>)>,
}

/// Windows that together hold every one of `clauses`, which are bytes in the order of the text.
pub(super) fn cut(tokens: &Tokens, clauses: &[Range<usize>]) -> Vec<Window> {
    let spans: Vec<Range<usize>> = clauses.iter().map(|bytes| tokens.span(bytes, WINDOW)).collect();
    let mut windows = Vec::new();
    let mut rest = 0;
    while rest < spans.len() {
        let first = spans[rest].start;
        let more = spans[rest..].iter().skip(1).take_while(|span| span.end.saturating_sub(first) <= WINDOW);
        let end = rest + 1 + more.count();
        let last = spans[rest..end].iter().map(|span| span.end).max().unwrap_or(first);
        let shown = first.saturating_sub(BEFORE)..(last + BEHIND).min(tokens.ids.len());
        let mut ids = vec![CLS];
        let heading = tokens.heading_at(shown.start);
        if !heading.is_empty() {
            ids.extend(heading);
            ids.push(SEP);
        }
        let before = ids.len();
        ids.extend(&tokens.ids[shown.clone()]);
        if ids.last() != Some(&SEP) {
            ids.push(SEP);
        }
        let place = |at: usize| (at + before).saturating_sub(shown.start);
        let clauses = spans[rest..end].iter().enumerate();
        let clauses = clauses.map(|(at, span)| (rest + at, place(span.start)..place(span.end))).collect();
        windows.push(Window { ids, clauses });
        rest = end;
    }
    windows
}
