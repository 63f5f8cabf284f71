//! The ports: what the engine asks of models. Each has at least two real implementations or will be
//! given one by configuration; there is none over Postgres.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::artifact::Context;
use crate::event::Extraction;

/// What a vector belongs to: vectors of two models are never compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// Name and precision, such as `all-MiniLM-L6-v2-int8`.
    pub id: String,
    pub dimension: usize,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum EmbeddingError {
    /// The model is not there (not fetched, not loaded): the rest of the system works without it.
    #[error("the embedding model is not available: {0}")]
    Unavailable(String),
    #[error("the embedding model failed: {0}")]
    Failed(String),
}

/// What a model makes of a text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Embedded {
    /// Of unit length.
    pub vector: Vec<f32>,
    /// What it makes of each token, in the order of the text. Empty when the model does not give them.
    pub tokens: Vec<TokenState>,
}

/// A token as the model sees it among the others.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenState {
    /// Where the token begins in the text, in bytes.
    pub begin: usize,
    /// Of unit length, and of the dimension of the model's vectors.
    pub state: Vec<f32>,
}

/// Turns text into vectors of unit length. Text longer than the model's window is embedded in
/// windows and averaged, so that no text is left out.
#[async_trait]
pub trait EmbeddingModel: Send + Sync {
    fn info(&self) -> &ModelInfo;

    /// One for each text, in order.
    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError>;

    async fn embed_query(&self, text: &str) -> Result<Embedded, EmbeddingError>;
}

/// A text with what is known about it, as an extractor sees it. A document is one segment, a stretch of
/// conversation one segment a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    pub context: Context,
    pub title: Option<String>,
    pub author: Option<String>,
    pub participants: Vec<String>,
    pub segments: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    pub text: String,
    /// Who says it, where that is known: the author of a turn.
    pub speaker: Option<String>,
    /// When it was written or said: what «tomorrow» counts from.
    pub date: Option<Timestamp>,
    /// Only there to be understood by: an event whose first evidence stands here is not wanted.
    pub context_only: bool,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum ExtractError {
    #[error("extraction failed: {0}")]
    Failed(String),
}

/// Finds semantic events and entities in a text.
#[async_trait]
pub trait Extractor: Send + Sync {
    /// Name, such as `rules`.
    fn name(&self) -> &'static str;

    /// Raised whenever the same text may give another result.
    fn version(&self) -> i32;

    async fn extract(&self, source: &SourceText) -> Result<Extraction, ExtractError>;
}
