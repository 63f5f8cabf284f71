//! Whether there is a memory to work with yet: protocols answer before the database and the model are up.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use memory_language::text::counted;
use tokio::sync::watch;

use crate::{Memory, ModelState};

/// How long a tool call waits for the memory.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);
/// How long the database has for its answer when readiness is checked.
const HEALTH_TIMEOUT: Duration = Duration::from_millis(1_500);
/// For how long such an answer holds, however often it is asked.
const HEALTH_HOLDS: Duration = Duration::from_millis(500);

#[derive(Clone)]
pub enum Readiness {
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

/// Why the memory cannot do all its work right now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotReady {
    /// `memory`, `database`, `migrations` or `model`.
    pub part: &'static str,
    /// What is wrong with it, for operators: it may name the database's host.
    pub reason: String,
}

impl NotReady {
    /// The same for strangers.
    pub fn in_short(&self) -> &'static str {
        match self.part {
            "database" => "the database cannot be reached",
            "migrations" => "the database's schema is not up to date",
            "model" => "the embedding model is not loaded",
            _ => "the memory is not up",
        }
    }
}

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.part, self.reason)
    }
}

/// What was last found of a memory that is up, and when.
pub(crate) type LastHealth = tokio::sync::Mutex<Option<(Instant, Result<(), NotReady>)>>;

/// Sees when the memory becomes ready.
#[derive(Clone)]
pub struct Watch(watch::Receiver<Readiness>);

/// Says how far the memory is.
#[derive(Clone)]
pub struct Announce(Arc<watch::Sender<Readiness>>);

pub fn channel() -> (Announce, Watch) {
    let (sender, receiver) = watch::channel(Readiness::Starting);
    (Announce(Arc::new(sender)), Watch(receiver))
}

impl Announce {
    pub fn set(&self, readiness: Readiness) {
        self.0.send_replace(readiness);
    }
}

impl Watch {
    /// The memory, if there is one by now.
    pub fn memory(&self) -> Option<Arc<Memory>> {
        match &*self.0.borrow() {
            Readiness::Ready(memory) => Some(Arc::clone(memory)),
            _ => None,
        }
    }

    /// Whether all can be done at this moment: the database answers, its schema is ours, the model is loaded. Asked as
    /// often as desired, since an answer holds for a moment.
    pub fn health(&self) -> BoxFuture<'_, Result<(), NotReady>> {
        Box::pin(async move {
            let state = self.0.borrow().clone();
            match state {
                Readiness::Ready(memory) => memory.health().await,
                Readiness::Waiting(reason) => Err(NotReady { part: "database", reason }),
                Readiness::Failed(reason) => Err(NotReady { part: "memory", reason }),
                Readiness::Starting => {
                    Err(NotReady { part: "memory", reason: "it is still starting".to_owned() })
                }
            }
        })
    }

    /// The memory, once it is ready; at most a minute is waited.
    pub fn ready(&self) -> BoxFuture<'_, Result<Arc<Memory>, Readiness>> {
        Box::pin(async move {
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
        })
    }
}

impl Memory {
    async fn health(&self) -> Result<(), NotReady> {
        let mut last = self.last_health.lock().await;
        if let Some((_, found)) = last.as_ref().filter(|(at, _)| at.elapsed() < HEALTH_HOLDS) {
            return found.clone();
        }
        let found = self.look_at_health().await;
        *last = Some((Instant::now(), found.clone()));
        found
    }

    async fn look_at_health(&self) -> Result<(), NotReady> {
        match self.store.health(HEALTH_TIMEOUT).await {
            Err(error) => return Err(NotReady { part: "database", reason: error.summary() }),
            Ok(health) if health.missing_migrations > 0 => {
                let missing = counted(health.missing_migrations as i64, "migration");
                let reason = format!("the database lacks {missing} of this version");
                return Err(NotReady { part: "migrations", reason });
            }
            Ok(_) => {}
        }
        match self.model_state() {
            ModelState::Ready { .. } => Ok(()),
            ModelState::Loading => Err(NotReady { part: "model", reason: "it is being loaded".to_owned() }),
            ModelState::Failed(reason) => Err(NotReady { part: "model", reason }),
        }
    }
}
