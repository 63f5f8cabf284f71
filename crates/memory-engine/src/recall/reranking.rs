//! Reading the best results again with a reranker, where there is one: within a deadline, and as they were where it fails.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use memory_core::id::{Namespace, PassageId};
use memory_core::ports::Reranker;
use memory_core::recall::{ArtifactScore, join_reranked};
use memory_core::render::Surroundings;
use memory_store::hydration::{self, HydratedHit, Wanted};

use super::ranking::Ranked;
use crate::{EngineError, Memory, measures};

/// How many of the best are read again.
const DEPTH: usize = 20;

/// A reranker and how long an answer waits for it.
#[derive(Clone)]
pub struct Reranking {
    pub reranker: Arc<dyn Reranker>,
    pub deadline: Duration,
}

impl Memory {
    /// Has the best results of each question read again.
    #[must_use]
    pub fn with_reranking(mut self, reranking: Option<Reranking>) -> Self {
        self.reranking = reranking;
        self
    }

    /// Whether there is a reranker.
    pub fn reranks(&self) -> bool {
        self.reranking.is_some()
    }

    /// Puts `chosen`, best first, into the order that the reranker makes of it.
    pub(super) async fn rerank(
        &self,
        ns: &Namespace,
        query: &str,
        mut chosen: Vec<Ranked>,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Ranked>, EngineError> {
        let Some(Reranking { reranker, deadline }) = &self.reranking else { return Ok(chosen) };
        if chosen.len() < 2 {
            return Ok(chosen);
        }
        let passages = self.texts(ns, &chosen[..chosen.len().min(DEPTH)]).await?;
        let judged = match tokio::time::timeout(*deadline, reranker.rerank(query, passages)).await {
            Ok(Ok(judged)) => judged,
            Ok(Err(error)) => {
                tracing::warn!(%error, "results are not read again");
                measures::degraded("not_reranked");
                warnings.push(format!("Not reranked: {error}."));
                return Ok(chosen);
            }
            Err(_) => {
                measures::degraded("not_reranked");
                warnings.push(format!("Not reranked: it would have taken over {} ms.", deadline.as_millis()));
                return Ok(chosen);
            }
        };
        let mut scores: Vec<ArtifactScore> = chosen.iter().map(|c| c.explanation.artifact).collect();
        join_reranked(&mut scores, &judged, self.settings.weights.reranker);
        for (chosen, score) in chosen.iter_mut().zip(scores) {
            chosen.score = score.score;
            chosen.explanation.artifact = score;
        }
        chosen.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(chosen)
    }

    /// The passages as a reader would want them, in order; one that is gone meanwhile is empty.
    async fn texts(&self, ns: &Namespace, chosen: &[Ranked]) -> Result<Vec<String>, EngineError> {
        let ids: Vec<PassageId> = chosen.iter().map(|chosen| chosen.passage_id).collect();
        // The connection is given back before the model reads.
        let mut conn = self.store.acquire(ns).await?;
        let wanted = Wanted { content: false, events: 0, categories: &[] };
        let hits = hydration::hydrate(&mut conn, ns, &ids, wanted).await?;
        let mut texts: HashMap<PassageId, String> =
            hits.into_iter().map(|hit| (hit.passage_id, rendered(hit))).collect();
        Ok(ids.iter().map(|id| texts.remove(id).unwrap_or_default()).collect())
    }
}

/// With title, date and speaker.
fn rendered(hit: HydratedHit) -> String {
    let around = Surroundings {
        title: hit.title,
        speaker: hit.author.or(hit.role),
        date: Some(hit.date),
        previous: None,
    };
    around.words_of(&hit.passage, false)
}
