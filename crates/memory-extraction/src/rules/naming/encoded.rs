//! What an encoder is given of a source, to say which of its candidates are names.

use std::ops::Range;
use std::sync::Arc;

use memory_core::ports::SourceText;

use super::super::joined::Joined;
use super::super::parsed_segment::ParsedSegment;
use super::Name;

/// An encoder reads so many of them.
const ENCODED_PLACES_MAX: usize = 12;
/// An encoder takes some milliseconds for a hundred words, and other texts wait for it: what lies behind is judged by features.
const ENCODED_MAX_BYTES: usize = 1_000_000;

/// The text, the names that stand in it by their numbers, and their places.
pub(super) struct NamesInput {
    pub(super) text: Arc<str>,
    pub(super) numbers: Vec<usize>,
    pub(super) places: Vec<Vec<Range<usize>>>,
}

impl NamesInput {
    pub(super) fn of(names: &[Name], source: &SourceText, parsed_segments: &[ParsedSegment<'_>]) -> Self {
        let joined = Joined::of(source, parsed_segments);
        let places = names.iter().map(|name| places(name, &joined, parsed_segments)).enumerate();
        let (numbers, places) = places.filter(|(_, places)| !places.is_empty()).unzip();
        Self { text: joined.text, numbers, places }
    }
}

/// The first places of a name.
pub(super) fn places(
    name: &Name,
    joined: &Joined,
    parsed_segments: &[ParsedSegment<'_>],
) -> Vec<Range<usize>> {
    let first = name.places.iter().take(ENCODED_PLACES_MAX);
    let bytes =
        first.map(|(number, tokens)| joined.place(*number, &parsed_segments[*number].text.bytes(tokens)));
    bytes.filter(|bytes| bytes.end <= ENCODED_MAX_BYTES).collect()
}
