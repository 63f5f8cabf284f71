//! Whether there is a memory to work with yet: protocols answer before the database and the model are up.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use memory_engine::Memory;
use tokio::sync::watch;

/// How long a tool call waits for the memory.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub(crate) enum Readiness {
    Starting,
    /// Why there is no memory yet, as a sentence; it is tried again and again.
    Waiting(String),
    Ready(Arc<Memory>),
    /// Why there is no memory, as a sentence for the user.
    Failed(String),
}

impl fmt::Display for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Starting => write!(f, "The memory is still starting. Try again in a few seconds."),
            Self::Waiting(reason) => {
                write!(f, "The memory is not available yet: {reason}. It is tried again every few seconds.")
            }
            Self::Ready(_) => write!(f, "The memory is ready."),
            Self::Failed(reason) => write!(f, "The memory is not available: {reason}."),
        }
    }
}

/// Sees when the memory becomes ready.
#[derive(Clone)]
pub(crate) struct Watch(watch::Receiver<Readiness>);

/// Says how far the memory is.
#[derive(Clone)]
pub(crate) struct Announce(Arc<watch::Sender<Readiness>>);

pub(crate) fn channel() -> (Announce, Watch) {
    let (sender, receiver) = watch::channel(Readiness::Starting);
    (Announce(Arc::new(sender)), Watch(receiver))
}

impl Announce {
    pub(crate) fn set(&self, readiness: Readiness) {
        self.0.send_replace(readiness);
    }
}

impl Watch {
    pub(crate) fn is_ready(&self) -> bool {
        matches!(&*self.0.borrow(), Readiness::Ready(_))
    }

    /// The memory, once it is ready; at most a minute is waited.
    pub(crate) async fn ready(&self) -> Result<Arc<Memory>, Readiness> {
        let mut receiver = self.0.clone();
        let settled = receiver.wait_for(|readiness| !matches!(readiness, Readiness::Starting));
        match tokio::time::timeout(WAIT_TIMEOUT, settled).await {
            Ok(Ok(readiness)) => match &*readiness {
                Readiness::Ready(memory) => Ok(Arc::clone(memory)),
                other => Err(other.clone()),
            },
            Ok(Err(_)) => Err(Readiness::Failed("the server is shutting down".to_owned())),
            Err(_) => Err(Readiness::Starting),
        }
    }
}
