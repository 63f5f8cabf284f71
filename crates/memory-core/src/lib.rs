//! What things are: the nouns of the memory, pure rules over them, and the ports to models.
//!
//! Nothing here does I/O. The glossary of the project is the list of types in this crate.

pub mod access;
pub mod archive;
pub mod artifact;
pub mod authoring;
pub mod category;
pub mod chunk;
pub mod circuit_breaker;
mod closed_set;
pub mod commitment;
pub mod date;
pub mod directive;
pub mod entity;
pub mod entity_resolution;
pub mod event;
pub mod fair_shares;
pub mod feed;
pub mod graph;
pub mod graph_jsonl;
pub mod id;
pub mod job;
pub mod ports;
pub mod recall;
pub mod render;
pub mod snippet;
pub mod spoken;

/// A value from outside that is not accepted, in words by which the caller can correct it:
/// what was wrong, with which value, and what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

impl Invalid {
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
