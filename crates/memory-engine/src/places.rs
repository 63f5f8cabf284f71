//! Places of a source, such as the files of a folder: listed and forgotten.

use futures::future::BoxFuture;
use memory_core::id::Namespace;
use memory_store::Store;
use memory_store::forgetting::Cascade;
use memory_store::places::{self, SourcePlace};

use crate::EngineError;
use crate::recovery::Recovery;
use crate::signals::Signals;

/// How many places are forgotten in one transaction.
const BATCH: usize = 200;
/// How many other sources are named.
const SHARED_MAX: i64 = 20;

/// The places of the sources of a namespace.
#[derive(Clone)]
pub struct Places {
    store: Store,
    recovery: Recovery,
    signals: Signals,
}

impl Places {
    pub(crate) fn new(store: Store, recovery: Recovery, signals: Signals) -> Self {
        Self { store, recovery, signals }
    }

    /// The next places of a source, in the order of their ids there.
    pub fn list<'a>(
        &'a self,
        ns: &'a Namespace,
        source: &'a str,
        after: &'a str,
        limit: i64,
    ) -> BoxFuture<'a, Result<Vec<SourcePlace>, EngineError>> {
        Box::pin(async move {
            self.recovery
                .retry_transient(|| async {
                    Ok(places::list_places(&mut *self.store.acquire(ns).await?, ns, source, after, limit)
                        .await?)
                })
                .await
        })
    }

    /// Other sources that have texts of this one too, with how many of them.
    pub fn shared_sources<'a>(
        &'a self,
        ns: &'a Namespace,
        source: &'a str,
    ) -> BoxFuture<'a, Result<Vec<(String, i64)>, EngineError>> {
        Box::pin(async move {
            self.recovery
                .retry_transient(|| async {
                    Ok(places::shared_sources(&mut *self.store.acquire(ns).await?, ns, source, SHARED_MAX)
                        .await?)
                })
                .await
        })
    }

    /// Forgets all texts of these places for good; gives the number of places. A text that is at another place too stays
    /// there.
    pub fn forget<'a>(
        &'a self,
        ns: &'a Namespace,
        source: &'a str,
        source_ids: &'a [String],
    ) -> BoxFuture<'a, Result<(u64, Cascade), EngineError>> {
        Box::pin(async move {
            let (mut count, mut sum) = (0, Cascade::default());
            for batch in source_ids.chunks(BATCH) {
                let (places, cascade) = self
                    .recovery
                    .retry_transient(|| async {
                        let mut tx = self.store.begin(ns).await?;
                        let deleted = places::delete_places(&mut tx, ns, source, batch).await?;
                        tx.commit().await?;
                        Ok(deleted)
                    })
                    .await?;
                count += places;
                sum.chunks += cascade.chunks;
                sum.events += cascade.events;
                sum.entities += cascade.entities;
            }
            if count > 0 {
                self.signals.wake_worker();
            }
            Ok((count, sum))
        })
    }
}
