//! What models do: text to vectors, text to events, and passages to an order.

pub mod convert;
pub mod embedding;
pub mod extractor;
pub mod files;
pub mod integrity;
pub mod reranking;
mod runtime;
