//! How the dates in some words are read.

use jiff::Timestamp;
use memory_language::time::{DayOrder, Lean, Reading, readings_in_order};

/// What the dates in some words are counted from, and which number of "3/4" is the day, if it is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct DateContext {
    pub(super) reference: Option<Timestamp>,
    pub(super) order: Option<DayOrder>,
}

impl DateContext {
    pub(super) fn readings(self, words: &str, lean: Lean) -> Vec<Reading> {
        readings_in_order(words, self.reference, lean, self.order)
    }
}
