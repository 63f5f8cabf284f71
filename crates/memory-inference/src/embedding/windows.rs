//! Cuts a text into windows that a model sees whole.

use std::ops::Range;

/// Long texts are tokenized in pieces of this many bytes: what a tokenizer keeps of each token would
/// otherwise be many times the text.
const PIECE_BYTES: usize = 32 * 1024;

/// A token of a text: where it begins (bytes) and whether a word begins there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) begin: usize,
    pub(super) starts_word: bool,
}

/// A stretch of a text and where its tokens begin in that text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) bytes: Range<usize>,
    pub(super) begins: Vec<usize>,
}

impl Window {
    /// How many tokens it has.
    pub(super) fn tokens(&self) -> usize {
        self.begins.len()
    }
}

/// Windows of at most `limit` tokens that together hold every token of the text, cut where words begin.
/// A text without tokens is one empty window.
pub(super) fn cut<E>(
    text: &str,
    limit: usize,
    mut tokenize: impl FnMut(&str) -> Result<Vec<Token>, E>,
) -> Result<Vec<Window>, E> {
    let limit = limit.max(1);
    let mut windows = Vec::new();
    let mut offset = 0;
    while offset < text.len() {
        let piece = &text[offset..offset + piece_end(&text[offset..])];
        let tokens = tokenize(piece)?;
        let mut start = 0;
        while start < tokens.len() {
            let end = window_end(&tokens, start, limit);
            let from = if start == 0 { 0 } else { char_start(piece, tokens[start].begin) };
            let to = tokens.get(end).map_or(piece.len(), |next| char_start(piece, next.begin));
            let begins = tokens[start..end].iter().map(|token| offset + token.begin).collect();
            windows.push(Window { bytes: offset + from..offset + to, begins });
            start = end;
        }
        offset += piece.len();
    }
    if windows.is_empty() {
        windows.push(Window { bytes: 0..0, begins: Vec::new() });
    }
    Ok(windows)
}

/// Where the piece at the start of `text` ends: after white space if there is any in its second half.
fn piece_end(text: &str) -> usize {
    if text.len() <= PIECE_BYTES {
        return text.len();
    }
    let end = char_start(text, PIECE_BYTES);
    let half = char_start(text, PIECE_BYTES / 2);
    let space = text[half..end].char_indices().rfind(|(_, letter)| letter.is_whitespace());
    space.map_or(end, |(at, letter)| half + at + letter.len_utf8())
}

/// The token after the window that starts at `start`: the last start of a word within the limit, or the
/// limit itself inside a word that is longer.
fn window_end(tokens: &[Token], start: usize, limit: usize) -> usize {
    let end = start + limit;
    if end >= tokens.len() {
        return tokens.len();
    }
    (start + 1..=end).rev().find(|next| tokens[*next].starts_word).unwrap_or(end)
}

/// Tokens of bytes may begin inside a character.
fn char_start(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// A token for every two letters of a word.
    fn tokenize(text: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut letters_in_word = 0;
        for (begin, letter) in text.char_indices() {
            if letter.is_whitespace() {
                letters_in_word = 0;
                continue;
            }
            if letters_in_word % 2 == 0 {
                tokens.push(Token { begin, starts_word: letters_in_word == 0 });
            }
            letters_in_word += 1;
        }
        tokens
    }

    fn cut_windows(text: &str, limit: usize) -> Vec<Window> {
        let Ok(windows) = cut(text, limit, |text| Ok::<_, Infallible>(tokenize(text)));
        windows
    }

    fn cut_texts(text: &str, limit: usize) -> Vec<(&str, usize)> {
        cut_windows(text, limit)
            .into_iter()
            .map(|window| (&text[window.bytes.clone()], window.tokens()))
            .collect()
    }

    #[test]
    fn a_short_text_is_one_window() {
        assert_eq!(cut_texts("ab cdef", 4), [("ab cdef", 3)]);
    }

    #[test]
    fn windows_end_where_words_begin_and_leave_nothing_out() {
        assert_eq!(cut_texts(" ab cdef gh", 2), [(" ab ", 1), ("cdef ", 2), ("gh", 1)]);
    }

    #[test]
    fn a_word_longer_than_the_window_is_cut_inside() {
        assert_eq!(cut_texts("äbcdefg h", 2), [("äbcd", 2), ("efg ", 2), ("h", 1)]);
    }

    #[test]
    fn tokens_begin_where_they_do_in_the_whole_text() {
        let text = "ab cdef ".repeat(2 * PIECE_BYTES / 8);
        for window in cut_windows(&text, 5) {
            let alone: Vec<usize> = tokenize(&text[window.bytes.clone()])
                .iter()
                .map(|token| window.bytes.start + token.begin)
                .collect();
            assert_eq!(window.begins, alone);
        }
    }

    #[test]
    fn a_text_without_tokens_is_one_empty_window() {
        assert_eq!(cut_texts("", 4), [("", 0)]);
        assert_eq!(cut_texts(" \n", 4), [("", 0)]);
    }

    #[test]
    fn a_long_text_comes_back_whole() {
        for text in ["wörter und mehr ".repeat(20_000), "ö".repeat(100_000), "\n".repeat(70_000) + "end"] {
            let windows = cut_windows(&text, 254);
            let joined: String = windows.iter().map(|window| &text[window.bytes.clone()]).collect();
            assert_eq!(joined.trim(), text.trim());
            assert!(windows.iter().all(|window| (1..=254).contains(&window.tokens())));
        }
    }
}
