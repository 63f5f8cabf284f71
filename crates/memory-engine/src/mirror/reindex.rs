//! Replacing the searched collection by a new one, without a gap.

use std::time::Duration;

use futures::future::BoxFuture;
use memory_core::Invalid;
use memory_store::models::{self, ActiveModel};
use memory_store::reembedding;
use memory_store::vector::mirrors::{self, Mirror, MirrorState};
use memory_store::vector::outbox;
use memory_store::vector::qdrant::Look;

use super::{Compared, VectorMirror};
use crate::EngineError;
use crate::progress::{Progress, Report};

/// How long to wait while other workers fill the collection.
const PAUSE: Duration = Duration::from_millis(100);

/// The outcome of a rebuild.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reindexed {
    pub collection: String,
    /// The one that was searched until now; it is deleted soon.
    pub replaced: Option<String>,
    pub points: u64,
    /// Compared with Postgres once it was searched.
    pub compared: Compared,
}

impl VectorMirror {
    /// Fills a new collection with the present settings and searches it from then on. It may be interrupted at any moment:
    /// workers and the next call continue it.
    #[tracing::instrument(skip_all)]
    pub fn reindex<'a>(&'a self, report: Report<'a>) -> BoxFuture<'a, Result<Reindexed, EngineError>> {
        Box::pin(async move {
            let active = models::active(&mut *self.store.acquire_across().await?).await?;
            let Some(model) = active else {
                return Err(Invalid::new(
                    "There is no embedding model yet, so there are no vectors to mirror.",
                )
                .into());
            };
            let replaced = {
                let mut conn = self.store.acquire_across().await?;
                mirrors::of_model(&mut conn, model.model_id, MirrorState::Searched).await?
            };
            let prefix = self.server.settings().qdrant_collection.clone();
            let target = self.store.register_mirror(&model, &prefix, true).await?;
            self.fill(&model, &target, report).await?;
            let compared = self
                .compare(&target, true, Look::Digests, &crate::progress::unreported)
                .await
                .map_err(|error| self.failed(error))?;
            self.drain().await?;
            Ok(Reindexed {
                collection: target.collection,
                replaced: replaced.map(|replaced| replaced.collection),
                points: compared.points,
                compared,
            })
        })
    }

    /// Works until the collection is searched, beside any worker that does the same.
    async fn fill(
        &self,
        model: &ActiveModel,
        target: &Mirror,
        report: Report<'_>,
    ) -> Result<(), EngineError> {
        loop {
            let done = self.round().await.map_err(|error| self.failed(error))?;
            let mut conn = self.store.acquire_across().await?;
            let known = mirrors::all(&mut conn).await?;
            match known.iter().find(|one| one.mirror_id == target.mirror_id).map(|one| one.state) {
                Some(MirrorState::Searched) => return Ok(()),
                Some(MirrorState::Filling) => {}
                _ => {
                    return Err(EngineError::Busy(format!(
                        "The collection {} was given up while it was filled: it was deleted on the server, or its model is gone. \
                         Try again.",
                        target.collection
                    )));
                }
            }
            let total = reembedding::coverage(&mut conn, model.model_id).await?.1;
            let waiting = outbox::lag(&mut conn, target.mirror_id).await?.waiting as u64;
            report(Progress { done: total.saturating_sub(waiting), total });
            drop(conn);
            if done == 0 {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Ends mirroring and deletes the collections.
    pub fn end(&self) -> BoxFuture<'_, Result<usize, EngineError>> {
        Box::pin(async move {
            self.store.end_mirroring().await?;
            let mut deleted = 0;
            for one in mirrors::all(&mut *self.store.acquire_across().await?).await? {
                self.server
                    .delete_collection(&one.collection)
                    .await
                    .map_err(|error| self.failed(error.into()))?;
                mirrors::delete(&mut *self.store.acquire_across().await?, one.mirror_id).await?;
                deleted += 1;
            }
            Ok(deleted)
        })
    }
}
