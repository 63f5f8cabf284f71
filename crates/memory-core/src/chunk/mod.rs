//! Cuts a text into overlapping chunks to read and into passages to embed, counted in cl100k_base tokens.
//!
//! Everything here works on byte offsets and takes time and memory linear in the text, whatever the
//! text is; only what is handed out is counted in characters.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use cl100k::Tokeniser;
use unicode_segmentation::GraphemeCursor;

use memory_language::text::{CharIndex, CharSpan};

mod cl100k;

/// The most tokens of a chunk, and the fewest of a text that is cut into chunks.
pub const CHUNK_MAX_TOKENS: usize = 900;
/// The most tokens of a passage.
pub const PASSAGE_MAX_TOKENS: usize = 160;

/// A cut inside a token or a character makes its two sides a few tokens longer when counted on their
/// own, so cuts aim below the limits.
const CHUNK_SLACK_TOKENS: usize = 8;
const PASSAGE_SLACK_TOKENS: usize = 4;
/// How far before its limit a chunk may end for the sake of a better break.
const CHUNK_WINDOW_TOKENS: usize = 180;
/// Least, wanted and most tokens a chunk shares with the one before: within 50 to 150, however counted.
const OVERLAP_TOKENS: [usize; 3] = [60, 100, 140];

/// The most bytes given to the tokeniser at once. Its pattern backtracks over long whitespace and its
/// merging is worse than linear in a long word, so cost is bounded by the piece and not by the text.
const PIECE_BYTES: usize = 2048;
/// The piece taken from an unbroken run: cl100k_base takes digits in threes and up to 128 spaces at once.
const RUN_PIECE_BYTES: usize = 768;

/// How far, in bytes, a grapheme cluster is traced back and ahead of a cut.
const CLUSTER_BYTES: usize = 1024;
/// How far, in characters, a line or sentence end is looked for around a cut.
const BREAK_CHARS: usize = 16;

/// A part of a text which is read as a whole; it shares 50 to 150 tokens with each neighbour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    pub span: CharSpan,
    /// Tokens of the whole text that end within the span; counted alone, its text may differ by a few.
    pub token_count: usize,
}

/// A piece of a chunk small enough for an embedding model's window: trimmed of whitespace, never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The first chunk which wholly contains the passage; `None` where the text has no chunks.
    pub chunk_index: Option<usize>,
    pub span: CharSpan,
    pub text: Arc<str>,
}

/// A text cut up. Chunks and passages are in reading order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunked {
    pub token_count: usize,
    /// Empty for a text of fewer than [`CHUNK_MAX_TOKENS`]; otherwise they cover it from 0 to its end.
    pub chunks: Vec<Chunk>,
    /// Do not overlap; every character that is not whitespace lies in exactly one.
    pub passages: Vec<Passage>,
}

/// Cuts `content` greedily into chunks and each chunk's own part evenly into passages. Both prefer the
/// end of a paragraph, then of a sentence, a line, a word, and leave grapheme clusters whole if they can.
pub fn chunk_text(content: &str) -> Chunked {
    let tokens = Tokens::of(content);
    let index = CharIndex::new(content);
    let ranges = if tokens.ends.len() < CHUNK_MAX_TOKENS { Vec::new() } else { tokens.chunk_ranges() };
    let chunk = |range: &Range<usize>| Chunk {
        span: index.span(content, range.clone()),
        token_count: tokens.until(range.end) - tokens.until(range.start),
    };

    // A chunk's own part reaches to where the next one starts, so that the last is never just a scrap.
    let starts = ranges.iter().map(|range| range.start).skip(1);
    let mut passages = Vec::new();
    let mut start = 0;
    for (part, end) in starts.chain([content.len()]).enumerate() {
        for range in tokens.passage_ranges(start..end) {
            let text = content[range.clone()].trim_end();
            let trimmed = text.trim_start();
            if trimmed.is_empty() {
                continue;
            }
            let bytes = range.start + text.len() - trimmed.len()..range.start + text.len();
            let chunk_index = (part.saturating_sub(1)..ranges.len())
                .find(|chunk| ranges[*chunk].start <= bytes.start && bytes.end <= ranges[*chunk].end);
            let span = index.span(content, bytes);
            passages.push(Passage { chunk_index, span, text: trimmed.into() });
        }
        start = end;
    }
    Chunked { token_count: tokens.ends.len(), chunks: ranges.iter().map(chunk).collect(), passages }
}

/// The number of cl100k_base tokens, special tokens taken as plain text. It is exact where no 2 KiB lie
/// between two token boundaries plain to see (a space, a line end, a letter beside a digit); an unbroken
/// run longer than that is counted in parts, which may differ by a few tokens a part.
pub fn count_tokens(text: &str) -> usize {
    let mut tokeniser = Tokeniser::default();
    let mut tokens = 0;
    for piece in pieces(text) {
        tokeniser.token_lengths(piece, |_| tokens += 1);
    }
    tokens
}

/// How many short stretches of text are remembered with their counts, and how long one may be, in bytes.
const COUNTED_MAX: usize = 50_000;
const COUNTED_BYTES: usize = 24;

/// Counts tokens as [`count_tokens`] does, several times as fast: the words, keys and digits that texts of one kind are made of
/// are counted once.
#[derive(Debug, Default)]
pub struct TokenCounter {
    counted: HashMap<Box<str>, usize>,
}

impl TokenCounter {
    pub fn count(&mut self, text: &str) -> usize {
        stretches(text).map(|stretch| self.count_stretch(stretch)).sum()
    }

    fn count_stretch(&mut self, stretch: &str) -> usize {
        if stretch.len() > COUNTED_BYTES {
            return count_tokens(stretch);
        }
        if let Some(tokens) = self.counted.get(stretch) {
            return *tokens;
        }
        let tokens = count_tokens(stretch);
        if self.counted.len() == COUNTED_MAX {
            self.counted.clear();
        }
        self.counted.insert(stretch.into(), tokens);
        tokens
    }
}

/// Cuts the text wherever cl100k_base cuts it in any context.
fn stretches(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut chars = rest.char_indices();
        let mut left = chars.next()?.1;
        let end = chars
            .find(|(_, right)| always_splits(std::mem::replace(&mut left, *right), *right))
            .map_or(rest.len(), |(at, _)| at);
        let (stretch, after) = rest.split_at(end);
        rest = after;
        Some(stretch)
    })
}

/// Where the tokens of a text end, in bytes and in order; one that ends inside a character counts to its end.
struct Tokens<'a> {
    text: &'a str,
    ends: Vec<usize>,
}

impl<'a> Tokens<'a> {
    fn of(text: &'a str) -> Self {
        let mut tokeniser = Tokeniser::default();
        let mut ends = Vec::with_capacity(text.len() / 4);
        let mut byte = 0;
        for piece in pieces(text) {
            tokeniser.token_lengths(piece, |length| {
                byte += length;
                ends.push(text.ceil_char_boundary(byte));
            });
        }
        debug_assert_eq!(byte, text.len());
        Self { text, ends }
    }

    /// The number of tokens which end at or before `byte`.
    fn until(&self, byte: usize) -> usize {
        self.ends.partition_point(|end| *end <= byte)
    }

    /// Byte ranges of the chunks of a text of at least one token.
    fn chunk_ranges(&self) -> Vec<Range<usize>> {
        let whole = self.text.len();
        let mut ranges = Vec::new();
        let mut start = 0;
        loop {
            let limit = self.until(start) + CHUNK_MAX_TOKENS - CHUNK_SLACK_TOKENS;
            // A text left whole needs no slack.
            let fits = self.ends.len() <= limit.max(CHUNK_MAX_TOKENS);
            let window = [limit - CHUNK_WINDOW_TOKENS, limit, limit];
            let end = if fits { whole } else { self.best_cut(window) };
            ranges.push(start..end);
            if end == whole {
                return ranges;
            }
            let last = self.until(end);
            let [least, wanted, most] = OVERLAP_TOKENS;
            start = self.after_space(self.best_cut([last - most, last - wanted, last - least]));
        }
    }

    /// Byte ranges which make up `part` and hold about equally many tokens.
    fn passage_ranges(&self, part: Range<usize>) -> Vec<Range<usize>> {
        let limit = PASSAGE_MAX_TOKENS - PASSAGE_SLACK_TOKENS;
        let last = self.until(part.end);
        let mut ranges = Vec::new();
        let mut start = part.start;
        loop {
            let first = self.until(start);
            let count = (last - first).div_ceil(limit);
            if count <= 1 {
                ranges.push(start..part.end);
                return ranges;
            }
            let share = (last - first).div_ceil(count);
            let most = limit.min(share * 5 / 4);
            let end = self.best_cut([first + share * 3 / 4, first + share, first + most]);
            ranges.push(start..end);
            start = end;
        }
    }

    /// The byte to cut at, among those from the end of token `least` to that of token `most` (counted
    /// from 1): the strongest break, of equal ones the nearest to the end of token `wanted`.
    fn best_cut(&self, [least, wanted, most]: [usize; 3]) -> usize {
        let [low, near, high] = [least, wanted, most].map(|token| self.ends[token - 1]);
        let mut best = (Break::Anywhere, Reverse(usize::MAX));
        let mut cut = None;
        for at in (low..=high).filter(|at| self.text.is_char_boundary(*at)) {
            let strength = break_at(self.text, at);
            let found = (strength, Reverse(at.abs_diff(near)));
            if strength > Break::Anywhere && found > best && keeps_clusters(self.text, at) {
                best = found;
                cut = Some(at);
            }
        }
        let mut around = (low..=near).rev().chain(near + 1..=high);
        cut.or_else(|| around.find(|at| self.text.is_char_boundary(*at) && keeps_clusters(self.text, *at)))
            .unwrap_or(near)
    }

    /// Steps over a single space before a word: tokens and cuts have it in front, a reader has not.
    fn after_space(&self, at: usize) -> usize {
        let mut next = self.text[at..].chars();
        let single = next.next() == Some(' ') && next.next().is_some_and(|c| !c.is_whitespace());
        if single && keeps_clusters(self.text, at + 1) { at + 1 } else { at }
    }
}

/// Cuts the text into pieces of at most [`PIECE_BYTES`], where cl100k_base would cut it too if there is such a place.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(piece_end(rest));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

fn piece_end(text: &str) -> usize {
    if text.len() <= PIECE_BYTES {
        return text.len();
    }
    let window = text.floor_char_boundary(PIECE_BYTES);
    let mut ends = text[..window].char_indices().rev().map(|(at, left)| (left, at + left.len_utf8()));
    ends.find(|(left, end)| text[*end..].chars().next().is_some_and(|right| always_splits(*left, right)))
        .map_or_else(|| text.floor_char_boundary(RUN_PIECE_BYTES), |(_, end)| end)
}

/// Whether cl100k_base's pattern splits between these two characters in any context:
///
/// `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
///
/// Only scripts whose characters are known to be letters count as such; a miss costs nothing but a longer piece.
fn always_splits(left: char, right: char) -> bool {
    let is_line_end = |c| matches!(c, '\r' | '\n');
    let is_asian = |c| matches!(c, 'ぁ'..='ゖ' | 'ァ'..='ヺ' | '一'..='\u{9fef}' | '가'..='힣');
    let is_letter = |c: char| c.is_ascii_alphabetic() || is_asian(c);
    let is_mark = |c: char| c.is_ascii_punctuation() || "、。！，：；？".contains(c);
    if left.is_whitespace() {
        return is_line_end(left) && !right.is_whitespace();
    }
    match (is_letter(left), left.is_ascii_digit()) {
        (true, _) => right.is_whitespace() || right.is_ascii_digit() || is_mark(right),
        (_, true) => right.is_whitespace() || is_letter(right) || is_mark(right),
        // A mark takes the line ends after it and may open the word after it.
        _ if is_mark(left) && right.is_ascii_digit() => true,
        _ => right.is_whitespace() && !is_line_end(right),
    }
}

/// What may be between the end of a sentence and the space after it.
const SENTENCE_CLOSERS: &str = "\"')]*_”’»」』）";

/// What is at a cut, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Break {
    Anywhere,
    /// Before a word that follows a mark or whitespace.
    Joint,
    Word,
    Line,
    Sentence,
    Paragraph,
}

fn break_at(text: &str, at: usize) -> Break {
    let (before, after) = text.split_at(at);
    let (Some(left), Some(right)) = (before.chars().next_back(), after.chars().next()) else {
        return Break::Paragraph;
    };
    if left.is_alphanumeric() && right.is_alphanumeric() {
        return Break::Anywhere;
    }
    let back = || before.chars().rev().take(BREAK_CHARS);
    let sentence_end = back()
        .skip_while(|c| c.is_whitespace())
        .find(|c| !SENTENCE_CLOSERS.contains(*c))
        .filter(|c| matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？'));
    if left == '\n' {
        let line_ends = back().take_while(|c| c.is_whitespace()).filter(|c| *c == '\n').count();
        return match sentence_end {
            _ if matches!(right, '\r' | '\n') => Break::Anywhere,
            _ if line_ends > 1 => Break::Paragraph,
            Some(_) => Break::Sentence,
            None => Break::Line,
        };
    }
    if right.is_whitespace() {
        // A line end belongs to the line before it.
        if left.is_whitespace() || matches!(right, '\r' | '\n') {
            return Break::Anywhere;
        }
        let follows = after.chars().take(BREAK_CHARS).find(|c| !c.is_whitespace());
        let ends = sentence_end.is_some() && !follows.is_some_and(char::is_lowercase);
        return if ends { Break::Sentence } else { Break::Word };
    }
    let quotes = matches!(right, '「' | '『' | '“');
    match sentence_end {
        Some('。' | '！' | '？') if quotes || right.is_alphanumeric() => Break::Sentence,
        _ if right.is_alphanumeric() && !matches!(left, '\'' | '’' | '.' | '_') => Break::Joint,
        _ => Break::Anywhere,
    }
}

/// Whether a cut at `at` leaves grapheme clusters whole, judged by the text nearby: among more than a
/// hundred flags in a row it may take the second half of one for the first.
fn keeps_clusters(text: &str, at: usize) -> bool {
    if let [left, right] = text.as_bytes()[at.saturating_sub(1)..(at + 1).min(text.len())]
        && left.is_ascii()
        && right.is_ascii()
    {
        return (left, right) != (b'\r', b'\n');
    }
    let from = text.ceil_char_boundary(at.saturating_sub(CLUSTER_BYTES));
    let near = &text[from..text.floor_char_boundary(at + CLUSTER_BYTES)];
    GraphemeCursor::new(at - from, near.len(), true).is_boundary(near, 0).unwrap_or(true)
}

#[cfg(test)]
mod tests;
