//! The windows in which a text is read: a stretch of tokens that is its own, with the heading above and what stands before and
//! behind. `tools/train-clauses/encoder/documents.py` cuts in the same way.

use std::ops::Range;

use super::tokens::{CLS, SEP, Tokens};

/// Tokens of a window's own stretch.
const OWN: usize = 192;
/// It ends behind the last line that ends within so many of its last tokens, if one does.
const ENDING: usize = 64;
/// Tokens before its own stretch and behind it.
const BEFORE: usize = 24;
const BEHIND: usize = 8;

/// What the encoder reads at once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// The tokens of the text whose states are taken from this window.
    pub(super) own: Range<usize>,
    /// All that are read.
    shown: Range<usize>,
}

impl Window {
    /// What is read, and where the own stretch begins in it.
    pub(super) fn ids(&self, tokens: &Tokens) -> (Vec<i64>, usize) {
        let mut ids = vec![CLS];
        let heading = tokens.heading_at(self.shown.start);
        if !heading.is_empty() {
            ids.extend(heading);
            ids.push(SEP);
        }
        let own_start = ids.len() + self.own.start - self.shown.start;
        ids.extend(&tokens.ids[self.shown.clone()]);
        (ids, own_start)
    }
}

/// Windows whose own stretches are, one after the other, all tokens.
pub(super) fn cut(tokens: &Tokens) -> Vec<Window> {
    let count = tokens.ids.len();
    let mut windows = Vec::with_capacity(count.div_ceil(OWN - ENDING));
    let mut start = 0;
    while start < count {
        let mut end = (start + OWN).min(count);
        if end < count {
            let line_end = tokens.ids[end - ENDING..end].iter().rposition(|id| *id == SEP);
            end = line_end.map_or(end, |at| end - ENDING + at + 1);
        }
        let shown = start.saturating_sub(BEFORE)..(end + BEHIND).min(count);
        windows.push(Window { own: start..end, shown });
        start = end;
    }
    windows
}

/// The number of the window to which a token belongs.
pub(super) fn of_token(windows: &[Window], token: usize) -> usize {
    windows.partition_point(|window| window.own.end <= token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(count: usize, line: usize) -> Tokens {
        let mut tokens = Tokens::default();
        tokens.ids = (1..=count).map(|at| if at % line == 0 { SEP } else { 2_000 }).collect();
        tokens
    }

    #[test]
    fn each_token_belongs_to_one_window_which_shows_what_stands_around_it() {
        for count in [1, 191, 192, 193, 500, 1_000] {
            for line in [1, 10, 100, 5_000] {
                let tokens = tokens(count, line);
                let windows = cut(&tokens);
                let owned: Vec<usize> = windows.iter().flat_map(|window| window.own.clone()).collect();
                assert_eq!(owned, (0..count).collect::<Vec<_>>(), "{count}, {line}");
                for (number, window) in windows.iter().enumerate() {
                    assert!(window.own.len() <= OWN && !window.own.is_empty());
                    assert!(window.own.clone().all(|token| of_token(&windows, token) == number));
                    let (ids, start) = window.ids(&tokens);
                    assert_eq!(ids[start..start + window.own.len()], tokens.ids[window.own.clone()]);
                    assert_eq!(window.own.start - window.shown.start, window.own.start.min(BEFORE));
                }
            }
        }
    }

    #[test]
    fn windows_end_where_lines_end_if_one_does_near_their_end() {
        let ends = |line| cut(&tokens(400, line)).iter().map(|window| window.own.end).collect::<Vec<_>>();
        assert_eq!(ends(50), [150, 300, 400]);
        assert_eq!(ends(5_000), [192, 384, 400]);
    }
}
