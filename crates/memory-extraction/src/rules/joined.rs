//! A source as an encoder reads it: its segments one below the other, each behind the name of who speaks.

use std::ops::Range;
use std::sync::Arc;

use memory_core::ports::SourceText;

use super::parsed_segment::ParsedSegment;

pub(super) struct Joined {
    pub(super) text: Arc<str>,
    /// Where what is parsed of each segment begins, in bytes.
    begins: Vec<usize>,
}

impl Joined {
    pub(super) fn of(source: &SourceText, parsed_segments: &[ParsedSegment<'_>]) -> Self {
        let (mut text, mut begins) = (String::new(), Vec::with_capacity(parsed_segments.len()));
        for parsed in parsed_segments {
            if !begins.is_empty() {
                text.push('\n');
            }
            if let Some(speaker) = source.segments.get(parsed.segment).and_then(|it| it.speaker.as_ref()) {
                text.push_str(speaker);
                text.push_str(": ");
            }
            begins.push(text.len());
            text.push_str(parsed.text.raw);
        }
        Self { text: text.into(), begins }
    }

    /// Where a stretch of the parsed segment of this number stands.
    pub(super) fn place(&self, number: usize, bytes: &Range<usize>) -> Range<usize> {
        let begin = self.begins[number];
        begin + bytes.start..begin + bytes.end
    }
}
