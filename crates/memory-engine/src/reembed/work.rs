//! Making the vectors of one model: passages without one are read, embedded and committed batch by batch.

use std::collections::BTreeMap;
use std::sync::Arc;

use memory_core::id::{Namespace, PassageId};
use memory_core::ports::{Embedded, EmbeddingError, EmbeddingModel};
use memory_store::Store;
use memory_store::models::ActiveModel;
use memory_store::passages::{self, PassageVector};
use memory_store::reembedding::{self, Lacking, Position};

use crate::progress::{Progress, Report};
use crate::recovery::Recovery;
use crate::{EngineError, directives};

/// How many passages are embedded and committed at a time.
const BATCH: i64 = 64;
/// The model counts as broken when it fails on more passages than this, and on more than one of so many.
const FAILURES_MAX: u64 = 3;
const FAILURES_MAX_SHARE: u64 = 100;

/// Passages with their vectors.
type OfOneNamespace<'a> = (Vec<&'a Lacking>, Vec<(PassageId, PassageVector)>);

/// One run over the passages, with its progress.
pub(super) struct Work<'a> {
    store: Store,
    recovery: Recovery,
    model: Arc<dyn EmbeddingModel>,
    target: ActiveModel,
    report: Report<'a>,
    pub(super) is_switched: bool,
    pub(super) total: u64,
    /// Passages that have their vector, those of earlier runs with them.
    done: u64,
    /// Of this run.
    pub(super) embedded: u64,
    /// Of the last pass.
    pub(super) failed: u64,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        store: Store,
        recovery: Recovery,
        model: Arc<dyn EmbeddingModel>,
        target: ActiveModel,
        report: Report<'a>,
    ) -> Self {
        Self {
            store,
            recovery,
            model,
            target,
            report,
            is_switched: false,
            total: 0,
            done: 0,
            embedded: 0,
            failed: 0,
        }
    }

    async fn count(&mut self) -> Result<(), EngineError> {
        let (store, model_id) = (&self.store, self.target.model_id);
        (self.total, self.done) = self
            .recovery
            .retry_transient(|| async {
                Ok(reembedding::coverage(&mut *store.acquire_across().await?, model_id).await?)
            })
            .await?;
        (self.report)(Progress { done: self.done, total: self.total });
        Ok(())
    }

    /// Goes through all passages once; gives how many vectors were made.
    pub(super) async fn pass(&mut self) -> Result<u64, EngineError> {
        self.count().await?;
        self.failed = 0;
        let (store, model_id) = (self.store.clone(), self.target.model_id);
        let before = self.embedded;
        let mut position = Position::default();
        loop {
            let batch = self
                .recovery
                .retry_transient(|| async {
                    let mut conn = store.acquire_across().await?;
                    Ok(reembedding::lacking(&mut conn, model_id, &position, BATCH).await?)
                })
                .await?;
            let Some(last) = batch.last() else { return Ok(self.embedded - before) };
            position = (last.namespace.to_string(), last.passage_id.0);
            let made = self.embed(&batch).await?;
            self.write(&batch, made).await?;
            (self.report)(Progress { done: self.done.min(self.total), total: self.total });
            if self.is_broken() {
                return Err(self.failure("it could not embed too many of the passages"));
            }
        }
    }

    /// The embedding of each; `None` where the model fails.
    async fn embed(&mut self, batch: &[Lacking]) -> Result<Vec<Option<Embedded>>, EngineError> {
        match self.ask(batch.iter().map(|passage| passage.text.clone()).collect()).await {
            Ok(made) => return Ok(made.into_iter().map(Some).collect()),
            Err(EmbeddingError::Unavailable(reason)) => return Err(self.failure(&reason)),
            Err(EmbeddingError::Failed(reason)) => {
                tracing::warn!(reason, "the model failed on a batch; embedding its passages one by one");
            }
        }
        let mut made = Vec::with_capacity(batch.len());
        for passage in batch {
            match self.ask(vec![passage.text.clone()]).await {
                Ok(one) => made.extend(one.into_iter().map(Some)),
                Err(EmbeddingError::Unavailable(reason)) => return Err(self.failure(&reason)),
                Err(EmbeddingError::Failed(reason)) => {
                    self.failed += 1;
                    if self.failed == 1 {
                        tracing::warn!(
                            reason,
                            passage = passage.passage_id.0,
                            "the model failed on a passage"
                        );
                    }
                    made.push(None);
                }
            }
        }
        Ok(made)
    }

    /// A vector for each text, of the dimension that the model is said to have.
    async fn ask(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        let wanted = texts.len();
        let made = self.model.embed_in_background(texts).await?;
        let dimension = self.target.info.dimension;
        if let Some(odd) = made.iter().find(|made| made.vector.len() != dimension) {
            return Err(EmbeddingError::Unavailable(format!(
                "its vectors have {} numbers, its description says {dimension}",
                odd.vector.len()
            )));
        }
        if made.len() != wanted {
            return Err(EmbeddingError::Failed(format!("{} vectors for {wanted} texts", made.len())));
        }
        Ok(made)
    }

    /// Directives are compared with questions by the vectors of the model that is searched: until these are there, by
    /// the passages that they stand in.
    pub(super) async fn embed_directives(&self) -> Result<(), EngineError> {
        let made = directives::embed_missing(&self.store, &*self.model, &self.target, None).await?;
        made.map_err(|error| self.failure(&error.to_string()))
    }

    async fn write(&mut self, batch: &[Lacking], made: Vec<Option<Embedded>>) -> Result<(), EngineError> {
        let mut by_namespace: BTreeMap<&Namespace, OfOneNamespace> = BTreeMap::new();
        let mut count = 0;
        for (passage, made) in batch.iter().zip(made) {
            let Some(made) = made else { continue };
            let (of, vectors) = by_namespace.entry(&passage.namespace).or_default();
            let vector = PassageVector { states: made.compressed_states(), vector: made.vector };
            of.push(passage);
            vectors.push((passage.passage_id, vector));
            count += 1;
        }
        let (store, model_id) = (&self.store, self.target.model_id);
        self.recovery
            .retry_transient(|| async {
                let mut tx = store.begin_across().await?;
                for (ns, (of, vectors)) in &by_namespace {
                    reembedding::hold_revisions(&mut tx, ns, of).await?;
                    passages::write_vectors(&mut tx, ns, model_id, vectors.clone()).await?;
                }
                Ok(tx.commit().await?)
            })
            .await?;
        self.embedded += count;
        self.done += count;
        Ok(())
    }

    /// A model may fail on a few texts. One that fails on many, or on all, must not be switched to.
    fn is_broken(&self) -> bool {
        self.failed > FAILURES_MAX.max(self.done / FAILURES_MAX_SHARE) || (self.failed > 0 && self.done == 0)
    }

    fn failure(&self, reason: &str) -> EngineError {
        EngineError::Reembedding {
            model: self.target.info.id.clone(),
            reason: reason.to_owned(),
            done: self.done,
            total: self.total,
            now: if self.is_switched {
                "it is the one that is searched"
            } else {
                "the model before is still the one that is searched"
            },
        }
    }
}
