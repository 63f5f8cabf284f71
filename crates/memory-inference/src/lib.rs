//! What models do: text to vectors, and passages to an order.

pub mod adapted;
pub mod convert;
pub mod embedding;
pub mod environment;
pub mod files;
pub mod integrity;
pub mod reranking;
mod runtime;
mod sentence_encoder;
pub mod text_encoder;
mod tokenizer;
pub mod word_embeddings;
