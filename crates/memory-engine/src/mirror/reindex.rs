//! A new collection in the place of the one that is searched, without a moment in which nothing is.

use std::time::Duration;

use memory_core::Invalid;
use memory_store::models::{self, ActiveModel};
use memory_store::reembedding;
use memory_store::vector::mirrors::{self, Mirror, MirrorState};
use memory_store::vector::outbox;
use memory_store::vector::qdrant::Look;

use super::Compared;
use crate::lines::{Progress, Report};
use crate::{EngineError, Memory};

/// How long is waited while others fill the collection.
const PAUSE: Duration = Duration::from_millis(100);

/// What became of a new collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reindexed {
    pub collection: String,
    /// The one that was searched until now; it is deleted soon.
    pub replaced: Option<String>,
    pub points: u64,
    /// Compared with Postgres once it was searched.
    pub compared: Compared,
}

impl Memory {
    /// Fills a new collection, with the settings as they are now, and searches that one from then on. It may be broken off at
    /// any moment: workers go on with it, and so does the next call.
    #[tracing::instrument(skip_all)]
    pub async fn reindex(&self, report: Report<'_>) -> Result<Reindexed, EngineError> {
        let mirror = self.mirror()?;
        let active = models::active(&mut *self.store.acquire().await?).await?;
        let Some(model) = active else {
            return Err(
                Invalid::new("There is no embedding model yet, so there are no vectors to mirror.").into()
            );
        };
        let replaced = {
            let mut conn = self.store.acquire().await?;
            mirrors::of_model(&mut conn, model.model_id, MirrorState::Searched).await?
        };
        let prefix = mirror.server.settings().qdrant_collection.clone();
        let target = self.store.register_mirror(&model, &prefix, true).await?;
        self.fill(&model, &target, report).await?;
        let compared = self
            .compare(&target, true, Look::Digests, &crate::lines::unreported)
            .await
            .map_err(|error| self.mirror_failed(error))?;
        self.drain_mirror().await?;
        Ok(Reindexed {
            collection: target.collection,
            replaced: replaced.map(|replaced| replaced.collection),
            points: compared.points,
            compared,
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
            let done = self.mirror_round().await.map_err(|error| self.mirror_failed(error))?;
            let mut conn = self.store.acquire().await?;
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

    /// The vectors of a model that is about to be searched are mirrored while they are made.
    pub(crate) async fn mirror_next_model(&self, model: &ActiveModel) -> Result<(), EngineError> {
        if let Some(mirror) = &self.mirror {
            let prefix = &mirror.server.settings().qdrant_collection;
            self.store.register_mirror(model, prefix, false).await?;
        }
        Ok(())
    }

    /// Nothing is mirrored any more, and the collections are deleted.
    pub async fn end_mirror(&self) -> Result<usize, EngineError> {
        let mirror = self.mirror()?;
        self.store.end_mirroring().await?;
        let mut deleted = 0;
        for one in mirrors::all(&mut *self.store.acquire().await?).await? {
            mirror
                .server
                .delete_collection(&one.collection)
                .await
                .map_err(|error| self.mirror_failed(error.into()))?;
            mirrors::delete(&mut *self.store.acquire().await?, one.mirror_id).await?;
            deleted += 1;
        }
        Ok(deleted)
    }
}
