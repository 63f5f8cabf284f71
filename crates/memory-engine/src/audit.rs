//! The audit: what was done with a key, recorded and kept for a while.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use memory_core::access::Audited;
pub use memory_store::audit::{AuditFilter, Entry, Recorded};
use memory_store::{Store, audit};

use crate::EngineError;
use crate::error::chain;
use crate::recovery::Recovery;
use crate::settings::EngineSettings;

/// How often entries are looked for that are older than they are kept, and how many are deleted at a time.
const TIDY_INTERVAL: Duration = Duration::from_secs(3600);
const BATCH: i64 = 10_000;

/// Who did what.
#[derive(Clone)]
pub struct Audit {
    store: Store,
    recovery: Recovery,
    settings: Arc<EngineSettings>,
}

impl Audit {
    pub(crate) fn new(store: Store, recovery: Recovery, settings: Arc<EngineSettings>) -> Self {
        Self { store, recovery, settings }
    }

    /// Whether a call is recorded that changes something, or one that does not.
    pub fn records(&self, is_change: bool) -> bool {
        match self.settings.audited {
            Audited::Off => false,
            Audited::Changes => is_change,
            Audited::All => true,
        }
    }

    /// Records what was done. It was done already, so a failure is logged, and that is all.
    pub fn record<'a>(&'a self, entry: &'a Entry) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let recorded = self.recovery.retry_transient(|| async {
                let mut tx = self.store.begin_across().await?;
                tx.may_be_lost().await?;
                audit::insert(&mut tx, entry).await?;
                Ok(tx.commit().await?)
            });
            if let Err(error) = recorded.await {
                tracing::error!(error = %chain(&error), action = entry.action, "failed to record a call in the audit");
            }
        })
    }

    /// The newest entries that are meant, newest first.
    pub fn list<'a>(
        &'a self,
        filter: &'a AuditFilter,
        limit: i64,
    ) -> BoxFuture<'a, Result<Vec<Recorded>, EngineError>> {
        Box::pin(
            async move { Ok(audit::list(&mut *self.store.acquire_across().await?, filter, limit).await?) },
        )
    }

    /// Deletes entries that are older than they are kept; runs until it is dropped.
    pub fn tidy(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            loop {
                match self.delete_old().await {
                    Ok(deleted) if deleted >= BATCH as u64 => continue,
                    Ok(_) => {}
                    Err(error) => {
                        tracing::warn!(error = %chain(&error), "failed to delete old entries of the audit; trying again later");
                    }
                }
                tokio::time::sleep(TIDY_INTERVAL).await;
            }
        })
    }

    async fn delete_old(&self) -> Result<u64, EngineError> {
        let mut conn = self.store.acquire_across().await?;
        Ok(audit::delete_old(&mut conn, self.settings.audit_days.into(), BATCH).await?)
    }
}
