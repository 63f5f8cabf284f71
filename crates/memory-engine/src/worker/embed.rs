//! Embedding jobs: the vectors of texts that were too long, or whose model was away, when they came in.

use memory_core::id::RevisionId;
use memory_core::job::{ErrorCode, Lane};
use memory_core::ports::EmbeddingError;
use memory_core::render::Rendered;
use memory_store::StoreError;
use memory_store::jobs::{self, LeasedJob};
use memory_store::passages;

use super::{JobError, MODEL_WAIT};
use crate::Memory;
use crate::remember::embed;

/// How many passages are embedded and committed at a time.
const BATCH: i64 = 64;

impl Memory {
    pub(super) async fn embed_revision(
        &self,
        job: &LeasedJob,
        revision_id: RevisionId,
    ) -> Result<(), JobError> {
        let ns = &job.namespace;
        loop {
            let Some((model, active)) = self.ready_model() else {
                return Err(JobError::Wait(ErrorCode::EmbeddingUnavailable, MODEL_WAIT));
            };
            let mut conn = self.store.acquire().await?;
            let (surroundings, rendering) =
                passages::surroundings(&mut conn, ns, revision_id).await?.ok_or(JobError::Lost)?;
            let batch = passages::without_vector(&mut conn, ns, revision_id, active.model_id, BATCH).await?;
            drop(conn);
            let rendered: Vec<Rendered> =
                batch.iter().map(|p| surroundings.render(&p.text, p.ordinal == 0)).collect();
            let embedded = match embed(&*model, &rendered, Lane::Large).await {
                Ok(embedded) => embedded,
                Err(EmbeddingError::Unavailable(_)) => {
                    return Err(JobError::Wait(ErrorCode::EmbeddingUnavailable, MODEL_WAIT));
                }
                Err(error) => return Err(JobError::Retry(ErrorCode::Internal, error.to_string())),
            };
            let is_last = (batch.len() as i64) < BATCH;
            let mut tx = self.store.begin().await?;
            if is_last {
                jobs::finish(&mut tx, job).await?;
            } else {
                jobs::renew(&mut tx, job, self.settings.lease).await?;
            }
            let vectors = batch.iter().map(|p| p.passage_id).zip(embedded).collect();
            match passages::insert_vectors(&mut tx, ns, revision_id, active.model_id, rendering, vectors)
                .await
            {
                Ok(()) => tx.commit().await?,
                // The rendering or the model changed while the model worked: what was made is dropped, and made again.
                Err(StoreError::Conflict) => {
                    self.leave_removed_model().await;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            if is_last {
                return Ok(());
            }
        }
    }
}
