//! Embedding jobs: the vectors of texts that were too long, or whose model was away, when they came in.

use futures::future::BoxFuture;
use memory_core::id::RevisionId;
use memory_core::job::ErrorCode;
use memory_core::ports::EmbeddingError;
use memory_store::StoreError;
use memory_store::jobs::{self, LeasedJob};
use memory_store::passages;

use super::JobRunner;
use super::attempt::{JobError, MODEL_WAIT, Slice};
use crate::error::chain;
use crate::remember::embed;
use crate::{ModelState, directives};

/// How many passages are embedded and committed at a time.
const BATCH: i64 = 64;

impl JobRunner {
    /// Batch by batch, each committed; when the slice is over the job yields.
    pub(super) async fn embed_revision(
        &self,
        job: &LeasedJob,
        revision_id: RevisionId,
        slice: &Slice,
    ) -> Result<(), JobError> {
        let ns = &job.namespace;
        // The passages before this one have their vectors, as long as they are rendered like this.
        let (mut from, mut known_rendering) = (0, None);
        loop {
            let (model, active) = self.model.ready().ok_or_else(|| self.no_model())?;
            let mut conn = self.store.acquire(ns).await?;
            let (surroundings, rendering) =
                passages::surroundings(&mut conn, ns, revision_id).await?.ok_or(JobError::Lost)?;
            if known_rendering != Some(rendering) {
                (from, known_rendering) = (0, Some(rendering));
            }
            let batch =
                passages::without_vector(&mut conn, ns, revision_id, active.model_id, from, BATCH).await?;
            drop(conn);
            let texts = batch.iter().map(|passage| surroundings.for_model(&passage.text)).collect();
            let embedded = embed(&*model, texts, job.priority).await.map_err(model_error)?;
            let is_last = (batch.len() as i64) < BATCH;
            if is_last {
                directives::embed_missing(&self.store, &*model, &active, Some((ns, revision_id)))
                    .await?
                    .map_err(model_error)?;
            }
            let is_over = is_last || slice.is_over();
            let mut tx = self.store.begin(ns).await?;
            if is_last {
                jobs::finish(&mut tx, job).await?;
            } else if is_over {
                jobs::yield_turn(&mut tx, job).await?;
            } else {
                jobs::renew(&mut tx, job, self.settings.lease).await?;
            }
            let next = batch.last().map_or(from, |passage| passage.ordinal + 1);
            let vectors = batch.iter().map(|p| p.passage_id).zip(embedded).collect();
            match passages::insert_vectors(&mut tx, ns, revision_id, active.model_id, rendering, vectors)
                .await
            {
                Ok(()) => {
                    tx.commit().await?;
                    slice.got_on();
                    from = next;
                }
                // The rendering or the model changed while the model worked: what was made is dropped, and made again.
                Err(StoreError::Conflict) => {
                    self.model.leave_removed().await;
                    from = 0;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            if is_over {
                return Ok(());
            }
        }
    }

    /// Computes the vectors that directives lack which were stored without the model, or by an earlier version. What fails is logged, and
    /// done next time.
    pub fn embed_directives(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let Some((model, active)) = self.model.ready() else { return };
            match directives::embed_missing(&self.store, &*model, &active, None).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "failed to compute the vectors of directives"),
                Err(error) => {
                    tracing::warn!(error = %chain(&error), "failed to write the vectors of directives");
                }
            }
        })
    }

    /// The model is being loaded, or why there is none.
    pub(super) fn no_model(&self) -> JobError {
        let reason = match self.model.state() {
            ModelState::Failed(reason) => reason,
            ModelState::Loading | ModelState::Ready { .. } => "it is being loaded".to_owned(),
        };
        JobError::Wait(ErrorCode::EmbeddingUnavailable, reason, MODEL_WAIT)
    }
}

pub(super) fn model_error(error: EmbeddingError) -> JobError {
    match error {
        EmbeddingError::Unavailable(reason) => {
            JobError::Wait(ErrorCode::EmbeddingUnavailable, reason, MODEL_WAIT)
        }
        EmbeddingError::Failed(_) => JobError::Retry(ErrorCode::Internal, error.to_string()),
    }
}
