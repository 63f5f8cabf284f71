//! What models do: text to vectors, and text to events.

pub mod convert;
pub mod embedding;
pub mod extractor;
pub mod files;
