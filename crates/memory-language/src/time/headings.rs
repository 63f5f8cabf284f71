//! Dates that stand over parts of a text: dated headings, dates alone on a line, entries that begin with their date.

use std::ops::Range;

use jiff::Timestamp;

use super::{Granularity, Lean, readings};

/// A line longer than this is no heading, in bytes.
const HEADING_MAX_BYTES: usize = 120;
/// What may stand before and after the date on its line.
const MARKS: &[char] =
    &['#', '*', '_', '=', '-', '–', '—', '>', '[', ']', '(', ')', ':', '|', '•', '·', '.', ',', '~', '+'];

/// A date and the place from which on it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatedPart {
    /// The byte at which its line begins.
    pub start: usize,
    pub from: Timestamp,
    /// Left out itself.
    pub to: Timestamp,
}

/// The dates that stand over parts of a text, in order; each holds up to the next. `reference` is when the text was
/// written.
pub fn dated_parts(text: &str, reference: Timestamp) -> Vec<DatedPart> {
    let mut parts = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some(date) = date_of_line(line, reference) {
            parts.push(DatedPart { start, from: date.start, to: date.end });
        }
        start += line.len();
    }
    parts
}

fn date_of_line(line: &str, reference: Timestamp) -> Option<Range<Timestamp>> {
    let end = line
        .char_indices()
        .map(|(at, c)| at + c.len_utf8())
        .take_while(|end| *end <= HEADING_MAX_BYTES)
        .last()?;
    let is_short = line.trim_end().len() <= HEADING_MAX_BYTES;
    let head = &line[..end];
    if !head.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let reading = readings(head, Some(reference), Lean::Past)
        .into_iter()
        .find(|reading| !reading.is_relative && reading.granularity <= Granularity::Day)?;
    let before =
        head[..reading.range.start].trim_start_matches(|c: char| c.is_whitespace() || MARKS.contains(&c));
    let after = &head[reading.range.end..];
    let is_alone = is_short && after.chars().all(|c| c.is_whitespace() || MARKS.contains(&c));
    let is_heading = is_short && head.trim_start().starts_with(['#', '*', '=']);
    // "2026-11-03: went to …", "3 November 2026 - …"
    let is_entry = after.trim_start().starts_with([':', '-', '–', '—', '|', ']']);
    let fits = if before.is_empty() { is_alone || is_heading || is_entry } else { is_heading };
    fits.then_some(reading.start..reading.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> String {
        let parts = dated_parts(text, "2026-11-23T12:00:00Z".parse().unwrap());
        parts
            .iter()
            .map(|part| format!("{}@{}", &part.from.to_string()[..10], part.start))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn dates_over_parts_of_a_text_are_found() {
        for (text, expected) in [
            ("# 2026-11-03\nRain.\n\n# 2026-11-04\nSun.", "2026-11-03@0 2026-11-04@20"),
            ("Tuesday, November 3rd\nRain.", "2026-11-03@0"),
            ("## Diary of 3 November 2026\nRain.", "2026-11-03@0"),
            ("**3 November**\nRain.", "2026-11-03@0"),
            ("2026-11-03: rain\n2026-11-04: sun", "2026-11-03@0 2026-11-04@17"),
            ("[2026-11-03 10:30] rain", "2026-11-03@0"),
            ("3 November 2026 – we saw rain.", "2026-11-03@0"),
            ("We saw rain on 3 November 2026.", ""),
            ("Rain yesterday.\n\n# Plans\n3 eggs", ""),
            ("3 November 2026 was a day of rain.", ""),
            ("", ""),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
