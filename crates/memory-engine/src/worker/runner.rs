//! Running jobs: one after the other here, beside each other in a [`Worker`](super::Worker).

use std::sync::Arc;

use futures::future::BoxFuture;
use memory_core::ports::Extractor;
use memory_store::{Store, jobs};

use super::batch::Turns;
use crate::EngineError;
use crate::model::CurrentModel;
use crate::recovery::Recovery;
use crate::settings::EngineSettings;
use crate::statistics::Statistics;

/// Does claimed jobs; what each kind does is in the file of its name.
pub struct JobRunner {
    pub(crate) store: Store,
    pub(crate) recovery: Recovery,
    pub(crate) model: CurrentModel,
    pub(crate) extractor: Arc<dyn Extractor>,
    pub(crate) settings: Arc<EngineSettings>,
    pub(crate) statistics: Arc<Statistics>,
    pub(crate) turns: Turns,
}

impl JobRunner {
    /// Whether a job is being done or will be due within a minute.
    pub fn has_due_jobs(&self) -> BoxFuture<'_, Result<bool, EngineError>> {
        Box::pin(async move {
            let mut conn = self.store.acquire_across().await?;
            Ok(jobs::any_open(&mut conn).await?)
        })
    }

    /// Makes jobs claimable that a killed worker has left; for the only worker of a database.
    pub fn expire_leases(&self) -> BoxFuture<'_, Result<(), EngineError>> {
        Box::pin(async move { Ok(jobs::expire_leases(&mut *self.store.acquire_across().await?).await?) })
    }

    /// Does every job that is due, one after the other; gives how many. Makes a test or a command that must not end
    /// before the work is done independent of time.
    pub fn drain(&self) -> BoxFuture<'_, Result<usize, EngineError>> {
        Box::pin(async move {
            let mut done = 0;
            loop {
                let mut conn = self.store.acquire_across().await?;
                let claimed = jobs::claim(&mut conn, self.settings.lease, 8).await?;
                conn.done();
                if claimed.is_empty() {
                    return Ok(done);
                }
                for job in claimed {
                    self.run(&job).await;
                    done += 1;
                }
            }
        })
    }
}
