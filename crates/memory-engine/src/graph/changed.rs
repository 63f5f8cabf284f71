//! The outcome of a change.

use memory_store::graph::Thread;

/// The outcome of a change, and the version that the graph has by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed<T> {
    pub answer: T,
    /// `None` when there was nothing to change.
    pub version: Option<i64>,
    /// What else there is to say, of a graph that is kept in a file.
    pub warning: Option<Warning>,
}

/// What is said beside an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub text: String,
    /// The change is stored, but not in the file yet.
    pub is_unwritten: bool,
}

impl<T> Changed<T> {
    pub(super) fn nothing(answer: T) -> Self {
        Self { answer, version: None, warning: None }
    }

    pub(super) fn to(thread: &Thread, answer: T) -> Self {
        Self { answer, version: Some(thread.version), warning: None }
    }
}
