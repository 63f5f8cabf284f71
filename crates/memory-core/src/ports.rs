//! The ports: what the engine asks of models. Each has at least two real implementations or will be
//! given one by configuration; there is none over Postgres.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use memory_vectors::late_interaction::compress;

use crate::artifact::Context;
use crate::event::{Category, Extraction};

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

impl Embedded {
    /// The states of its tokens, compressed.
    pub fn compressed_states(&self) -> Vec<u8> {
        let states: Vec<&[f32]> = self.tokens.iter().map(|token| token.state.as_slice()).collect();
        compress(&states)
    }
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

    /// The same for background work: where a model has one queue, other texts are embedded first.
    async fn embed_in_background(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        self.embed_passages(texts).await
    }

    async fn embed_query(&self, text: &str) -> Result<Embedded, EmbeddingError>;

    /// The version of what [`Self::embed_for_bearing`] gives: vectors of two versions are never compared. `None` if it gives none.
    fn bearing_version(&self) -> Option<i16> {
        None
    }

    /// Vectors of unit length, one for each text in order, by which a request and the directives that bear on it are near, whatever words
    /// they share. Directives and requests are embedded alike.
    async fn embed_for_bearing(&self, _: Vec<String>) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        Err(EmbeddingError::Unavailable("it does not tell what bears on what".to_owned()))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RerankError {
    /// The model is not there or cannot be loaded.
    #[error("the reranker is not available: {0}")]
    Unavailable(String),
    #[error("the reranker failed: {0}")]
    Failed(String),
}

/// Judges how well passages answer a question, which it reads together with each of them. A caller that goes away
/// ends the work soon after.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// One score for each passage, in order: 0 to 1.
    async fn rerank(&self, query: &str, passages: Vec<String>) -> Result<Vec<f32>, RerankError>;
}

/// What a clause may tell: nothing, or one of the categories, in their order.
pub const CLAUSE_CLASSES: usize = Category::ALL.len() + 1;

/// What a candidate may name: nothing, a person, an organisation, a project, a place, or anything else.
pub const NAME_CLASSES: usize = 6;

/// Whose words a sentence has that may state a directive: a turn of the user, a note, or what is kept as a preference.
pub const DIRECTIVE_CLASSES: usize = 3;

/// What the encoder says of a sentence, as log-odds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SentenceLogits {
    /// That it states a directive, by whose words it has.
    pub states: [f32; DIRECTIVE_CLASSES],
    /// That it may end or change a directive that was stated before.
    pub revises: f32,
    /// That it states something by which later requests may have to be answered in another way: a directive, or a circumstance.
    pub binds: f32,
}

/// The encoder cannot be loaded or run; another try may do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the text encoder failed: {0}")]
pub struct EncoderError(pub String);

/// Classifies what may be a name, clauses, and sentences that may state directives, by what stands around them. The same text always gives the same numbers. A text that is
/// asked about twice in a row is read once.
#[async_trait]
pub trait TextEncoder: Send + Sync + std::fmt::Debug {
    /// The logits of `names`, each by its places, which are byte ranges of `text`; the first class is none.
    async fn name_logits(
        &self,
        text: Arc<str>,
        names: Vec<Vec<Range<usize>>>,
    ) -> Result<Vec<[f32; NAME_CLASSES]>, EncoderError>;

    /// The logits of `clauses`, which are byte ranges of `text` in its order; the first class is none.
    async fn clause_logits(
        &self,
        text: Arc<str>,
        clauses: Vec<Range<usize>>,
    ) -> Result<Vec<[f32; CLAUSE_CLASSES]>, EncoderError>;

    /// What each of `sentences`, which are byte ranges of `text` in its order, says of directives.
    async fn directive_logits(
        &self,
        text: Arc<str>,
        sentences: Vec<Range<usize>>,
    ) -> Result<Vec<SentenceLogits>, EncoderError>;

    /// The log-odds that an earlier directive, the first of each pair, no longer holds after a later sentence.
    async fn replacement_logits(&self, pairs: Vec<[Arc<str>; 2]>) -> Result<Vec<f32>, EncoderError>;
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
    /// The speaker, where it is known: the author of a turn.
    pub speaker: Option<String>,
    /// When it was written or said: what "tomorrow" counts from.
    pub date: Option<Timestamp>,
    /// The date is when it was stored, since none was given: an earlier one that the text gives itself goes before it.
    pub is_date_of_storing: bool,
    /// Context only: an event whose first evidence is here is not wanted.
    pub context_only: bool,
}

/// Why an extraction has no result, by what is to be done next. The texts never quote a source or an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// A fault of the extractor; another try may do.
    #[error("extraction failed: {0}")]
    Failed(String),
    /// The model took longer than it may; another try may do.
    #[error("the language model did not answer within {} s", .0.as_secs())]
    Timeout(Duration),
    /// The server broke down over this request; another try may do.
    #[error("{0}")]
    ServerFailed(String),
    /// The model's answer has not the form that was asked for, or nothing in it is true; another try may do.
    #[error("the language model's answer cannot be used: {0}")]
    BadOutput(String),
    /// The model will not read this text, however often it is asked.
    #[error("the language model refused: {0}")]
    Refused(String),
    /// It was asked too often. Nothing is wrong with the text.
    #[error("the language model may be asked again in {} s", .retry_after.as_secs())]
    RateLimited { retry_after: Duration },
    /// It does not let us in. Nothing is wrong with the text.
    #[error("{reason}")]
    Unauthorized { reason: String, retry_after: Duration },
    /// It cannot be asked just now. Nothing is wrong with the text.
    #[error("{reason}")]
    Unavailable { reason: String, retry_after: Duration },
}

/// The state of an extractor, for operators. Has no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractorHealth {
    pub is_healthy: bool,
    pub detail: String,
}

/// Finds semantic events and entities in a text.
#[async_trait]
pub trait Extractor: Send + Sync {
    /// Name, such as `rules`.
    fn name(&self) -> &'static str;

    /// Raised whenever the same text may give another result.
    fn version(&self) -> i32;

    async fn extract(&self, source: &SourceText) -> Result<Extraction, ExtractError>;

    /// The longest that one extraction may take, where that may be longer than a job's lease.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// Whether it reads a short text in a few milliseconds, so that several are read and written at a time.
    fn is_quick(&self) -> bool {
        false
    }

    /// The encoder that it reads texts with, if it has one.
    fn text_encoder(&self) -> Option<Arc<dyn TextEncoder>> {
        None
    }

    fn health(&self) -> ExtractorHealth {
        ExtractorHealth { is_healthy: true, detail: format!("{} version {}", self.name(), self.version()) }
    }
}
