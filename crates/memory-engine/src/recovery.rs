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
        let mut patience = Patience::new();
        loop {
            match verb().await {
                Ok(done) => return Ok(done),
                Err(error) => {
                    self.note(&error).await;
                    patience.wait_after(error).await?;
                }
            }
        }
    }

    async fn note(&self, error: &EngineError) {
        match error {
            EngineError::Unavailable(StoreError::Conflict) => self.model.leave_removed().await,
            EngineError::DiskFull(_) => self.note_full_disk(),
            _ => {}
        }
    }
}

/// Makes a call again while its fault is transient: another writer was first, or the database is away. Every verb may
/// run twice: contents are found by their hash.
pub(crate) async fn retry_transient<T, F>(mut verb: impl FnMut() -> F) -> Result<T, EngineError>
where
    F: Future<Output = Result<T, EngineError>>,
{
    let mut patience = Patience::new();
    loop {
        match verb().await {
            Ok(done) => return Ok(done),
            Err(error) => patience.wait_after(error).await?,
        }
    }
}

/// How long a call has been made again so far, and how long until it is made once more. The loops above are compiled for each
/// verb; this is not.
struct Patience {
    deadline: Instant,
    pause: Duration,
}

impl Patience {
    fn new() -> Self {
        Self { deadline: Instant::now() + RETRY_FOR, pause: Duration::from_millis(5) }
    }

    /// Returns when the call may be made again, or the error where that would not help or has been done for long enough.
    async fn wait_after(&mut self, error: EngineError) -> Result<(), EngineError> {
        match error {
            EngineError::Unavailable(error) if Instant::now() + self.pause < self.deadline => {
                tracing::debug!(%error, "retrying after a transient error");
                tokio::time::sleep(self.pause).await;
                self.pause = (self.pause * 2).min(Duration::from_millis(500));
                Ok(())
            }
            error => {
                if let EngineError::Internal(error) | EngineError::Unavailable(error) = &error {
                    tracing::error!(error = %chain(error), "a call failed");
                }
                Err(error)
            }
        }
    }
}
