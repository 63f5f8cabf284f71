//! Spans of text, counted in Unicode scalar values, and texts that are shown: cut, counted, the nearest of several.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

/// A half-open range of Unicode scalar values: `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CharSpan {
    pub start: usize,
    pub end: usize,
}

impl CharSpan {
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end);
        Self { start, end }
    }

    pub fn len(&self) -> usize {
        self.end - self.start
    }

    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The text of the span, `None` when it reaches past the end.
    pub fn of<'a>(&self, text: &'a str) -> Option<&'a str> {
        let mut offsets = text.char_indices().map(|(byte, _)| byte).chain([text.len()]);
        let start = offsets.nth(self.start)?;
        let end = if self.is_empty() { start } else { offsets.nth(self.len() - 1)? };
        Some(&text[start..end])
    }
}

/// Translates byte offsets of one text into character offsets; each lookup is a binary search.
#[derive(Debug)]
pub struct CharIndex {
    /// Characters before each 256-byte step, only built for texts that are not ASCII.
    steps: Vec<usize>,
    ascii: bool,
}

const STEP_BYTES: usize = 256;

impl CharIndex {
    pub fn new(text: &str) -> Self {
        if text.is_ascii() {
            return Self { steps: Vec::new(), ascii: true };
        }
        let mut steps = Vec::with_capacity(text.len() / STEP_BYTES + 1);
        let mut chars = 0;
        for (at, byte) in text.bytes().enumerate() {
            if at % STEP_BYTES == 0 {
                steps.push(chars);
            }
            if byte & 0xC0 != 0x80 {
                chars += 1;
            }
        }
        Self { steps, ascii: false }
    }

    /// The number of characters before `byte`, which must lie on a character boundary of `text`.
    pub fn char_at(&self, text: &str, byte: usize) -> usize {
        if self.ascii || byte == 0 {
            return byte;
        }
        let step = (byte - 1) / STEP_BYTES;
        let from = step * STEP_BYTES;
        let rest = text.as_bytes()[from..byte].iter().filter(|b| **b & 0xC0 != 0x80).count();
        self.steps[step] + rest
    }

    /// Where the character of this number begins, in bytes; `None` past the end.
    pub fn byte_at(&self, text: &str, char: usize) -> Option<usize> {
        if self.ascii {
            return (char <= text.len()).then_some(char);
        }
        let step = self.steps.partition_point(|before| *before <= char).checked_sub(1)?;
        // A step may begin inside a character, which the step before has counted.
        let mut from = step * STEP_BYTES;
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let mut offsets = text[from..].char_indices().map(|(at, _)| from + at).chain([text.len()]);
        offsets.nth(char - self.steps[step])
    }

    /// The text of a span, `None` when it reaches past the end.
    pub fn slice<'a>(&self, text: &'a str, span: CharSpan) -> Option<&'a str> {
        Some(&text[self.byte_at(text, span.start)?..self.byte_at(text, span.end)?])
    }

    pub fn span(&self, text: &str, bytes: std::ops::Range<usize>) -> CharSpan {
        CharSpan::new(self.char_at(text, bytes.start), self.char_at(text, bytes.end))
    }
}

/// A number with its noun, as it is shown to people: `1 job`, `3 entities`. The noun is a regular one.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    if count == N::from(1) {
        return format!("1 {noun}");
    }
    let vowel_before_y = |noun: &str| noun.ends_with(['a', 'e', 'o', 'u']);
    match noun.strip_suffix('y') {
        Some(stem) if !vowel_before_y(stem) => format!("{count} {stem}ies"),
        _ if ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end)) => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

/// A length of time in the largest unit that is precise enough: `45 s`, `12 min`, `3 h`, `2 d`. None is negative.
pub fn span_of_time(seconds: i64) -> String {
    match seconds.max(0) {
        s @ 0..120 => format!("{s} s"),
        s @ 120..7200 => format!("{} min", s / 60),
        s @ 7200..172_800 => format!("{} h", s / 3600),
        s => format!("{} d", s / 86_400),
    }
}

/// The runs of letters and digits of a text.
pub(crate) fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Cuts to at most `max_chars` characters, at a word end where there is one, and marks the cut with `…`.
pub fn cut(text: &str, max_chars: usize) -> String {
    let Some((byte, _)) = text.char_indices().nth(max_chars) else { return text.to_owned() };
    let keep = text.char_indices().nth(max_chars.saturating_sub(1)).map_or(byte, |(b, _)| b);
    let head = &text[..keep];
    let head = match head.rfind(char::is_whitespace) {
        Some(space) if space > keep / 2 => &head[..space],
        _ => head,
    };
    format!("{}…", head.trim_end())
}

/// The texts that are written most like the one that was asked for, at most `max`, likest first.
pub fn nearest_texts<'a>(asked: &str, texts: &'a [String], max: usize) -> Vec<&'a str> {
    let asked = asked.to_lowercase();
    let mut ranked: Vec<(f64, &str)> = texts
        .iter()
        .map(|text| {
            let lower = text.to_lowercase();
            let holds = !asked.is_empty() && (lower.contains(&asked) || asked.contains(&lower));
            (strsim::jaro_winkler(&asked, &lower) + f64::from(u8::from(holds)), text.as_str())
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    ranked.into_iter().take(max).map(|(_, text)| text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_its_noun_agree() {
        let shown: Vec<String> =
            ["job", "entity", "day", "batch", "text"].iter().map(|n| counted(2, n)).collect();
        assert_eq!(shown, ["2 jobs", "2 entities", "2 days", "2 batches", "2 texts"]);
        assert_eq!([counted(1, "entity"), counted(0, "job")], ["1 entity", "0 jobs"]);
    }

    #[test]
    fn no_length_of_time_is_negative() {
        assert_eq!(
            [-34_819_193, 0, 119, 120, 7200, 172_800].map(span_of_time),
            ["0 s", "0 s", "119 s", "2 min", "2 h", "2 d"]
        );
    }

    #[test]
    fn spans_count_characters_not_bytes() {
        let text = "naïve 漢字 text";
        assert_eq!(CharSpan::new(6, 8).of(text), Some("漢字"));
        assert_eq!(CharSpan::new(6, 60).of(text), None);
        assert_eq!(CharSpan::new(0, 0).of(""), Some(""));
        let long: String = "aé漢🦀".repeat(300);
        let index = CharIndex::new(&long);
        for (chars, (byte, _)) in long.char_indices().enumerate() {
            assert_eq!(index.char_at(&long, byte), chars);
            assert_eq!(index.byte_at(&long, chars), Some(byte));
        }
        assert_eq!(index.byte_at(&long, 1200), Some(long.len()));
        assert_eq!(index.byte_at(&long, 1201), None);
        assert_eq!(index.slice(&long, CharSpan::new(398, 403)), Some("漢🦀aé漢"));
        assert_eq!(CharIndex::new("").slice("", CharSpan::new(0, 0)), Some(""));
        assert_eq!(index.char_at(&long, long.len()), 1200);
    }

    #[test]
    fn the_texts_written_most_alike_come_first() {
        let there = ["Bob", "Ann Lee", "Annika Leeb", "Zoe"].map(str::to_owned);
        assert_eq!(nearest_texts("ann", &there, 2), ["Ann Lee", "Annika Leeb"]);
        assert_eq!(nearest_texts("", &there, 9).len(), 4);
    }

    #[test]
    fn a_cut_text_ends_at_a_word_and_says_so() {
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut("one two three four", 12), "one two…");
        assert_eq!(cut("éééééééééé", 4), "ééé…");
    }
}
