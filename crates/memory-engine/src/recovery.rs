//! What a call does when the database fails it: it is made again while the fault is transient, and a full disk or a
//! removed model is recorded.

use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use memory_store::StoreError;

use crate::EngineError;
use crate::error::chain;
use crate::locking::locked;
use crate::model::CurrentModel;

/// How long a call is made again while the database is away, restarting for example.
const RETRY_FOR: Duration = Duration::from_secs(8);

/// The disk that the database keeps its data on.
#[derive(Default)]
pub(crate) struct Disk {
    /// Where the data lies, if it is on this machine.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) full_at: Option<Instant>,
}

/// Clones share what they record.
#[derive(Clone)]
pub(crate) struct Recovery {
    model: CurrentModel,
    disk: Arc<Mutex<Disk>>,
}

impl Recovery {
    pub(crate) fn new(model: CurrentModel) -> Self {
        Self { model, disk: Arc::default() }
    }

    pub(crate) fn set_data_folder(&self, folder: PathBuf) {
        locked(&self.disk).folder = Some(folder);
    }

    pub(crate) fn data_folder(&self) -> Option<PathBuf> {
        locked(&self.disk).folder.clone()
    }

    /// When the database last said that its disk is full.
    pub(crate) fn disk_full_at(&self) -> Option<Instant> {
        locked(&self.disk).full_at
    }

    pub(crate) fn note_full_disk(&self) {
        metrics::counter!("remembrancer_database_disk_full_total").increment(1);
        locked(&self.disk).full_at = Some(Instant::now());
    }

    /// [`retry_transient`], noting what a failure says of the disk and of the model.
    pub(crate) async fn retry_transient<T, F>(&self, mut verb: impl FnMut() -> F) -> Result<T, EngineError>
    where
        F: Future<Output = Result<T, EngineError>>,
    {
        retry_transient(|| {
            let call = verb();
            async move {
                let outcome = call.await;
                if matches!(&outcome, Err(EngineError::Unavailable(StoreError::Conflict))) {
                    self.model.leave_removed().await;
                }
                if matches!(&outcome, Err(EngineError::DiskFull(_))) {
                    self.note_full_disk();
                }
                outcome
            }
        })
        .await
    }
}

/// Makes a call again while its fault is transient: another writer was first, or the database is away. Every verb may
/// run twice: contents are found by their hash.
pub(crate) async fn retry_transient<T, F>(mut verb: impl FnMut() -> F) -> Result<T, EngineError>
where
    F: Future<Output = Result<T, EngineError>>,
{
    let deadline = Instant::now() + RETRY_FOR;
    let mut pause = Duration::from_millis(5);
    loop {
        match verb().await {
            Err(EngineError::Unavailable(error)) if Instant::now() + pause < deadline => {
                tracing::debug!(%error, "retrying after a transient error");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_millis(500));
            }
            other => {
                if let Err(EngineError::Internal(error) | EngineError::Unavailable(error)) = &other {
                    tracing::error!(error = %chain(error), "a call failed");
                }
                return other;
            }
        }
    }
}
