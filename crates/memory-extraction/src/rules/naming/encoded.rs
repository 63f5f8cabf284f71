//! What an encoder is given of a source, to say which of its candidates are names.

use std::ops::Range;

use super::super::parsed_segment::ParsedSegment;
use super::super::words::floor_boundary;
use super::Name;

/// An encoder reads so many of them.
const ENCODED_PLACES_MAX: usize = 12;
/// An encoder takes some milliseconds for a hundred words, and other texts wait for it: what lies behind is judged by features.
const ENCODED_MAX_BYTES: usize = 1_000_000;

/// The text, the names that stand in it by their numbers, and their places.
pub(super) struct NamesInput {
    pub(super) text: String,
    pub(super) numbers: Vec<usize>,
    pub(super) places: Vec<Vec<Range<usize>>>,
}

impl NamesInput {
    pub(super) fn of(names: &[Name], parsed_segments: &[ParsedSegment<'_>]) -> Self {
        let joined = Joined::of(parsed_segments);
        let places = names.iter().map(|name| joined.places(name, parsed_segments)).enumerate();
        let (numbers, places) = places.filter(|(_, places)| !places.is_empty()).unzip();
        Self { text: joined.text, numbers, places }
    }
}

/// The segments one below the other, as an encoder reads them.
pub(super) struct Joined {
    pub(super) text: String,
    /// Where each segment begins, in bytes.
    begins: Vec<usize>,
}

impl Joined {
    pub(super) fn of(parsed_segments: &[ParsedSegment<'_>]) -> Self {
        let (mut text, mut begins) = (String::new(), Vec::with_capacity(parsed_segments.len()));
        for parsed in parsed_segments {
            if !begins.is_empty() {
                text.push('\n');
            }
            begins.push(text.len());
            let left = ENCODED_MAX_BYTES.saturating_sub(text.len());
            text.push_str(&parsed.text.raw[..floor_boundary(parsed.text.raw, left)]);
        }
        Self { text, begins }
    }

    /// The first places of a name.
    pub(super) fn places(&self, name: &Name, parsed_segments: &[ParsedSegment<'_>]) -> Vec<Range<usize>> {
        let first = name.places.iter().take(ENCODED_PLACES_MAX);
        let bytes = first.map(|(number, tokens)| {
            let bytes = parsed_segments[*number].text.bytes(tokens);
            let begin = self.begins[*number];
            begin + bytes.start..begin + bytes.end
        });
        bytes.filter(|bytes| bytes.end <= self.text.len()).collect()
    }
}
