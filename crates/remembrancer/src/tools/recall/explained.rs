//! How a result came by its score, as `explain` shows it.

use memory_core::recall::ArmPlace;
use memory_engine::recall::Explanation;
use schemars::JsonSchema;
use serde::Serialize;

use super::formats::decimal;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExplainOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) vector: Option<PlaceOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lexical: Option<PlaceOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) late_interaction: Option<PlaceOut>,
    /// What the arms' shares were multiplied by: the less the best found answers the question, the less
    pub(super) sureness: f64,
    /// Taken off for the text's length
    pub(super) length: f64,
    /// Taken off since an assistant said it, where it is asked what the user said
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<f64>,
    /// The arms' shares, length and role together
    pub(super) passage: f64,
    /// These and passage add up to the score
    pub(super) neighbourhood: f64,
    /// Taken off since somebody else than those whom the query names said it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) speaker: Option<f64>,
    /// Taken off since it asks something itself
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) question: Option<f64>,
    /// Where the query asks how things are: taken off since a newer text like it was found, or added since it is that newer text
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) age: Option<f64>,
    /// Taken off since open tasks, or decisions, are asked for and it has none
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<f64>,
    /// For a date that fits the query
    pub(super) time: f64,
    pub(super) priors: f64,
    /// Gained to rank before outdated texts of its place
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) place: Option<f64>,
    /// Gained since it says what the user wants where this is asked
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) directive: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reranker: Option<PlaceOut>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PlaceOut {
    pub(super) rank: usize,
    /// Cosine similarity, BM25, mean best similarity of the question's tokens, or the reranker's judgement
    pub(super) score: f64,
    /// What it adds to the result's score
    pub(super) share: f64,
}

impl From<Explanation> for ExplainOut {
    fn from(e: Explanation) -> Self {
        Self {
            vector: e.vector.map(Into::into),
            lexical: e.lexical.map(Into::into),
            late_interaction: e.late.map(Into::into),
            sureness: decimal(e.sureness, 3),
            length: decimal(e.artifact.length, 3),
            role: (e.artifact.role != 0.0).then(|| decimal(e.artifact.role, 3)),
            passage: decimal(e.artifact.passage, 3),
            neighbourhood: decimal(e.artifact.neighbourhood, 3),
            speaker: (e.artifact.speaker < 0.0).then(|| decimal(e.artifact.speaker, 3)),
            question: (e.artifact.question < 0.0).then(|| decimal(e.artifact.question, 3)),
            age: (e.artifact.age < 0.0).then(|| decimal(e.artifact.age, 3)),
            kind: (e.artifact.kind < 0.0).then(|| decimal(e.artifact.kind, 3)),
            time: decimal(e.artifact.time, 3),
            priors: decimal(e.artifact.priors, 3),
            place: (e.artifact.place > 0.0).then(|| decimal(e.artifact.place, 3)),
            directive: (e.artifact.directive > 0.0).then(|| decimal(e.artifact.directive, 3)),
            reranker: e.artifact.reranker.map(Into::into),
        }
    }
}

impl From<ArmPlace> for PlaceOut {
    fn from(place: ArmPlace) -> Self {
        Self { rank: place.rank, score: decimal(place.score, 3), share: decimal(place.share, 3) }
    }
}
