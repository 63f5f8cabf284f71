//! The tokeniser cl100k_base, as far as counting needs it: how many bytes each token of a text has. Exactly as tiktoken
//! does it, but with the vocabulary in 2 MB of the program's file instead of in 23 MB of the heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use table::{CHECK_BITS, CLASS_BITS, Class, HEAD_BYTES, TOKEN_MAX_BYTES, slot_and_check};

mod table;

static TOKENS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/cl100k.tokens"));
static SLOTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/cl100k.slots"));
static CLASSES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/cl100k.classes"));

/// No token.
const NONE: u32 = u32::MAX;

/// The lengths in bytes of the ordinary tokens of texts; special tokens are plain text. It keeps what it works with for
/// the next text.
#[derive(Debug, Default)]
pub(super) struct Tokeniser {
    parts: Vec<Part>,
    merges: BinaryHeap<Reverse<(u32, u32)>>,
}

/// Bytes of a word that are one token so far. It is found by the first of them.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// Where the part before it starts.
    before: u32,
    end: u32,
    /// Of the token that it and the next part make.
    merged_rank: u32,
}

impl Tokeniser {
    /// Calls `found` with the length of each token, in order.
    pub(super) fn token_lengths(&mut self, text: &str, mut found: impl FnMut(usize)) {
        let mut rest = text;
        while !rest.is_empty() {
            let (word, after) = rest.split_at(word_end(rest));
            rest = after;
            if rank(word.as_bytes()) == NONE {
                self.merge(word.as_bytes(), &mut found);
            } else {
                found(word.len());
            }
        }
    }

    /// Byte pair encoding: of all neighbours that make a token those of the lowest rank are joined, the leftmost of them first, until
    /// none are left.
    fn merge(&mut self, word: &[u8], found: &mut impl FnMut(usize)) {
        let pair = |at: usize| word.get(at..at + 2).map_or(NONE, rank);
        let part =
            |at: usize| Part { before: at.wrapping_sub(1) as u32, end: at as u32 + 1, merged_rank: pair(at) };
        self.parts.clear();
        self.parts.extend((0..word.len()).map(part));
        self.merges.clear();
        let starts = (0..).zip(&self.parts);
        self.merges.extend(
            starts
                .filter(|(_, part)| part.merged_rank != NONE)
                .map(|(start, part)| Reverse((part.merged_rank, start))),
        );

        while let Some(Reverse((rank, start))) = self.merges.pop() {
            let Part { before, end: middle, merged_rank } = self.parts[start as usize];
            // Otherwise one of the two has become part of another token since.
            if merged_rank != rank {
                continue;
            }
            let Part { end, merged_rank: right_rank, .. } = &mut self.parts[middle as usize];
            *right_rank = NONE;
            let end = *end;
            self.parts[start as usize].end = end;
            if let Some(next) = self.parts.get_mut(end as usize) {
                next.before = start;
            }
            self.judge(word, start);
            if before != NONE {
                self.judge(word, before);
            }
        }
        let mut start = 0;
        while let Some(part) = self.parts.get(start) {
            found(part.end as usize - start);
            start = part.end as usize;
        }
    }

    /// Notes what the part at `start` and the next one make.
    fn judge(&mut self, word: &[u8], start: u32) {
        let next = self.parts[start as usize].end as usize;
        let made = self.parts.get(next).map_or(NONE, |next| rank(&word[start as usize..next.end as usize]));
        self.parts[start as usize].merged_rank = made;
        if made != NONE {
            self.merges.push(Reverse((made, start)));
        }
    }
}

/// The rank of the token of these bytes, or [`NONE`].
fn rank(bytes: &[u8]) -> u32 {
    if bytes.len() > TOKEN_MAX_BYTES {
        return NONE;
    }
    let (slots, _) = SLOTS.as_chunks::<4>();
    let (mut at, check) = slot_and_check(bytes);
    loop {
        let slot = u32::from_le_bytes(slots[at]);
        if slot == 0 {
            return NONE;
        }
        if slot & ((1 << CHECK_BITS) - 1) == check {
            let token = &TOKENS[(slot >> CHECK_BITS) as usize..];
            let head = u32::from_le_bytes([token[0], token[1], token[2], 0]);
            let length = head as usize % TOKEN_MAX_BYTES + 1;
            if length == bytes.len() && token[HEAD_BYTES..].starts_with(bytes) {
                return head / TOKEN_MAX_BYTES as u32;
            }
        }
        at = (at + 1) % slots.len();
    }
}

/// Where the first match of cl100k_base's pattern ends, which is one of:
///
/// `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`
fn word_end(text: &str) -> usize {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return 0 };
    let rest = chars.as_str();
    let class_of_next = rest.chars().next().map(class);
    let to_end_of =
        |wanted: Class, rest: &str| text.len() - rest.trim_start_matches(|c| class(c) == wanted).len();
    match (first, class(first)) {
        ('\'', _) if contraction(rest) > 0 => 1 + contraction(rest),
        (_, Class::Letter) => to_end_of(Class::Letter, rest),
        (_, Class::Number) => {
            let numbers = rest.char_indices().take(2).take_while(|(_, c)| class(*c) == Class::Number);
            first.len_utf8() + numbers.map(|(_, c)| c.len_utf8()).sum::<usize>()
        }
        (_, Class::Other | Class::Space) if !is_line_end(first) && class_of_next == Some(Class::Letter) => {
            to_end_of(Class::Letter, rest)
        }
        (_, Class::Other) => text.len() - after_marks(rest).len(),
        (' ', _) if class_of_next == Some(Class::Other) => text.len() - after_marks(rest).len(),
        (_, Class::Space) => spaces_end(text),
    }
}

fn after_marks(text: &str) -> &str {
    text.trim_start_matches(|c| class(c) == Class::Other).trim_start_matches(is_line_end)
}

/// Where whitespace at the beginning of the text ends: with the text, else after its last line end, else before its last
/// character, unless that is the only one.
fn spaces_end(text: &str) -> usize {
    let spaces = &text[..text.len() - text.trim_start_matches(|c| class(c) == Class::Space).len()];
    if spaces.len() == text.len() {
        return text.len();
    }
    let last = |(at, c): (usize, char)| if at == 0 { c.len_utf8() } else { at };
    match spaces.rfind(is_line_end) {
        Some(at) => at + 1,
        None => spaces.char_indices().next_back().map_or(0, last),
    }
}

/// How many bytes the end of a contraction has that the text, which follows an apostrophe, begins with.
fn contraction(text: &str) -> usize {
    let mut chars = text.chars().map(|c| c.to_ascii_lowercase());
    match (chars.next(), chars.next()) {
        (Some('s' | 'd' | 'm' | 't'), _) => 1,
        // By simple case folding the long s is an s.
        (Some('ſ'), _) => 'ſ'.len_utf8(),
        (Some('l'), Some('l')) | (Some('v' | 'r'), Some('e')) => 2,
        _ => 0,
    }
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\r' | '\n')
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' => Class::Letter,
        '0'..='9' => Class::Number,
        '\t'..='\r' | ' ' => Class::Space,
        '\0'..='\x7f' => Class::Other,
        _ => class_beyond_ascii(c),
    }
}

fn class_beyond_ascii(c: char) -> Class {
    let (runs, _) = CLASSES.as_chunks::<4>();
    let run = |run: &[u8; 4]| u32::from_le_bytes(*run);
    let after = runs.partition_point(|r| run(r) >> CLASS_BITS <= u32::from(c));
    match run(&runs[after - 1]) % (1 << CLASS_BITS) {
        1 => Class::Letter,
        2 => Class::Number,
        3 => Class::Space,
        _ => Class::Other,
    }
}

#[cfg(test)]
mod tests;
