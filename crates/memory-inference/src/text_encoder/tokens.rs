//! A text as tokens: lines one by one, each with a mark at its end.

use std::ops::Range;

use tokenizers::Tokenizer;

/// The marks of BERT's vocabulary at the start of what is read and at the end of each line.
pub(super) const CLS: i64 = 101;
pub(super) const SEP: i64 = 102;
/// Tokens of a heading that are read.
const HEADING_MAX_TOKENS: usize = 10;
/// Letters of a line that may be a heading.
const HEADING_MAX_CHARS: usize = 60;

#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) ids: Vec<i64>,
    /// Where each begins and ends in the text, in bytes.
    begins: Vec<usize>,
    ends: Vec<usize>,
    /// From which token on which heading stands above, in order.
    headings: Vec<(usize, Vec<i64>)>,
}

impl Tokens {
    pub(super) fn of(text: &str, tokenizer: &Tokenizer) -> Result<Self, tokenizers::Error> {
        let mut tokens = Self::default();
        let mut at = 0;
        for line in text.split('\n') {
            let encoding = tokenizer.encode(line, false)?;
            if !encoding.is_empty() {
                tokens.ids.extend(encoding.get_ids().iter().map(|id| i64::from(*id)));
                tokens.begins.extend(encoding.get_offsets().iter().map(|(begin, _)| at + begin));
                tokens.ends.extend(encoding.get_offsets().iter().map(|(_, end)| at + end));
                tokens.ids.push(SEP);
                tokens.begins.push(at + line.len());
                tokens.ends.push(at + line.len());
                if is_heading(line) {
                    let heading = encoding.get_ids().iter().take(HEADING_MAX_TOKENS);
                    let heading = heading.map(|id| i64::from(*id)).collect();
                    tokens.headings.push((tokens.ids.len(), heading));
                }
            }
            at += line.len() + 1;
        }
        Ok(tokens)
    }

    /// The tokens of a stretch of bytes: at least one, at most `limit`.
    pub(super) fn span(&self, bytes: &Range<usize>, limit: usize) -> Range<usize> {
        let mut start = self.begins.partition_point(|begin| *begin < bytes.start);
        let end = self.begins.partition_point(|begin| *begin < bytes.end);
        let is_inside = |start: usize| match self.begins.get(start) {
            None => true,
            Some(begin) => {
                *begin > bytes.start && *begin >= bytes.end && start > 0 && self.ids[start - 1] != SEP
            }
        };
        if is_inside(start) {
            start = start.saturating_sub(1);
        }
        start..end.max(start + 1).min(start + limit)
    }

    /// The tokens that a stretch of bytes meets, or the one behind it; none of a text without any.
    pub(super) fn meeting(&self, bytes: &Range<usize>) -> Range<usize> {
        let start = self.ends.partition_point(|end| *end <= bytes.start);
        let start = start.min(self.ids.len().saturating_sub(1));
        let end = self.begins.partition_point(|begin| *begin < bytes.end);
        start..end.max(start + 1).min(self.ids.len())
    }

    pub(super) fn heading_at(&self, token: usize) -> &[i64] {
        let above = self.headings.partition_point(|(from, _)| *from <= token);
        above.checked_sub(1).map_or(&[], |last| &self.headings[last].1)
    }
}

/// A short line that is no item and does not end as a sentence does.
fn is_heading(line: &str) -> bool {
    let line = line.trim();
    let Some(last) = line.chars().last() else { return false };
    if line.chars().count() > HEADING_MAX_CHARS || is_item(line) {
        return false;
    }
    line.starts_with('#') || !matches!(last, '.' | ',' | ';' | '?' | '!')
}

fn is_item(line: &str) -> bool {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let marks: &[char] = if digits == 0 { &['-', '*', '+', '•'] } else { &['.', ')'] };
    let mut rest = line[digits..].chars();
    rest.next().is_some_and(|mark| marks.contains(&mark)) && rest.next().is_some_and(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_that_are_no_sentences_and_no_items_are_headings() {
        for line in ["# Context", "Progress", "2024-03-01", "Problems:", "## Why?"] {
            assert!(is_heading(line), "{line}");
        }
        for line in ["", "- Ines", "3. Water", "12) Reports", "• tea", "It rained.", "Any news?"] {
            assert!(!is_heading(line), "{line}");
        }
        assert!(!is_heading(&"word ".repeat(20)));
    }
}
