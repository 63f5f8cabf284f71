//! [`VectorMirror`]: the mirror of the vectors in Qdrant, kept up to date with Postgres, compared with it, and rebuilt.
//!
//! The database's triggers write the outbox; a point's content is read when the point is written. Searching the mirror is
//! `recall/mirrored.rs`.

mod apply;
mod reconcile;
mod reindex;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use memory_core::id::Namespace;
use memory_store::models::ActiveModel;
use memory_store::vector::IndexError;
use memory_store::vector::mirrors::{self, Mirror, MirrorState};
use memory_store::vector::outbox::{self, Lag};
use memory_store::vector::points::KINDS;
use memory_store::vector::qdrant::Qdrant;
use memory_store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

pub use memory_store::vector::qdrant::Look;
pub use reconcile::{Compared, Reconciled};
pub use reindex::Reindexed;

use crate::EngineError;
use crate::error::chain;
use crate::locking::locked;
use crate::signals::Signals;

/// How often collections are looked up when there is nothing to apply, so that a lost one is noticed.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);
/// The longest pause that an overloaded server is given, however long it asks for.
const ASKED_PAUSE_MAX: Duration = Duration::from_secs(60);
/// How often the due time of a comparison is checked.
const AUDIT_POLL: Duration = Duration::from_secs(5);

/// The mirror of the vectors on a server, and the server's state as this process last saw it. Clones share it.
#[derive(Clone)]
pub struct VectorMirror {
    store: Store,
    pub(crate) server: Arc<Qdrant>,
    signals: Signals,
    poll_interval: Duration,
    seen: Arc<Mutex<MirrorHealth>>,
}

#[derive(Default)]
struct MirrorHealth {
    /// Collections that exist with all their indexes.
    made: HashSet<String>,
    looked_at: Option<Instant>,
    /// Why the outbox cannot be applied at the moment.
    trouble: Option<String>,
    /// Since when searches fail.
    silent_since: Option<Timestamp>,
}

impl VectorMirror {
    pub(crate) fn new(store: Store, server: Qdrant, signals: Signals, poll_interval: Duration) -> Self {
        Self { store, server: Arc::new(server), signals, poll_interval, seen: Arc::default() }
    }

    /// Notes a failed search; gives since when searches fail. A missing collection is looked up at once.
    pub(crate) fn fell_silent(&self, error: &IndexError) -> Timestamp {
        let mut seen = self.seen();
        if matches!(error, IndexError::Missing(_)) {
            seen.looked_at = None;
            self.signals.wake_mirror();
        }
        *seen.silent_since.get_or_insert_with(Timestamp::now)
    }

    /// Notes that a search was answered, or that none is wanted at the moment.
    pub(crate) fn is_not_silent(&self) {
        self.seen().silent_since = None;
    }

    fn seen(&self) -> MutexGuard<'_, MirrorHealth> {
        locked(&self.seen)
    }
}

/// Why the mirror could not be updated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MirrorError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl VectorMirror {
    /// Mirrors the vectors of a model.
    pub(crate) async fn register(&self, model: &ActiveModel) -> Result<(), StoreError> {
        let prefix = &self.server.settings().qdrant_collection;
        self.store.register_mirror(model, prefix, false).await?;
        Ok(())
    }

    /// Keeps the mirror up to date with Postgres until `stop`.
    pub(crate) async fn keep_up_to_date(&self, stop: &CancellationToken) {
        let _ = stop
            .run_until_cancelled(async { tokio::join!(self.keep_applying(), self.keep_auditing()) })
            .await;
    }

    async fn keep_applying(&self) {
        let times = self.server.times().clone();
        let mut pause = times.pause;
        loop {
            match self.round().await {
                Ok(0) => {
                    pause = times.pause;
                    self.note_recovery();
                    let _ =
                        tokio::time::timeout(self.poll_interval, self.signals.vectors_changed().notified())
                            .await;
                }
                Ok(done) => {
                    metrics::counter!("remembrancer_mirror_applied_total").increment(done as u64);
                    pause = times.pause;
                    self.note_recovery();
                }
                Err(error) => {
                    metrics::counter!("remembrancer_mirror_failures_total").increment(1);
                    self.note_trouble(&error);
                    let asked = match error {
                        MirrorError::Index(IndexError::Busy(wait)) => wait.min(ASKED_PAUSE_MAX),
                        _ => Duration::ZERO,
                    };
                    tokio::time::sleep(pause.max(asked)).await;
                    pause = (pause * 2).min(times.pause_max);
                }
            }
        }
    }

    /// Logged once until the mirror has recovered.
    fn note_trouble(&self, error: &MirrorError) {
        let reason = chain(error);
        let before = self.seen().trouble.replace(reason.clone());
        if before.is_none() {
            tracing::warn!(reason, "failed to update the vector mirror; trying again");
        }
        // The server may be another one now: its collections are looked up again.
        self.seen().looked_at = None;
    }

    fn note_recovery(&self) {
        if self.seen().trouble.take().is_some() {
            tracing::info!("the vector mirror is updated again");
        }
    }

    /// Compares all points with Postgres from time to time, and when the server seems to have lost some.
    async fn keep_auditing(&self) {
        let audit = self.server.times().audit;
        loop {
            tokio::time::sleep(AUDIT_POLL.min(audit)).await;
            match self.audit_due(audit).await {
                Ok(()) => {}
                Err(error) => {
                    tracing::warn!(
                        error = chain(&error),
                        "failed to compare the vector mirror with the database; trying again later"
                    );
                }
            }
        }
    }

    async fn audit_due(&self, every: Duration) -> Result<(), MirrorError> {
        let known = mirrors::all(&mut *self.store.acquire_across().await?).await?;
        for one in known.iter().filter(|one| one.state == MirrorState::Searched) {
            let is_mine = {
                let mut conn = self.store.acquire_across().await?;
                mirrors::begin_audit(&mut conn, one.mirror_id, every.as_secs_f64()).await?
            };
            if !is_mine {
                continue;
            }
            let compared = self.compare(one, true, Look::Digests, &crate::progress::unreported).await?;
            if compared.differences() > 0 {
                tracing::warn!(
                    missing = compared.missing,
                    extra = compared.extra,
                    stale = compared.stale,
                    "the vector mirror differs from the database; repairing it"
                );
            }
        }
        Ok(())
    }

    /// Whether the mirror can be used, as far as this process has seen.
    pub(crate) fn is_up(&self) -> bool {
        self.server.out_of_service().is_none() && self.seen().trouble.is_none()
    }

    /// The state of the mirror, and how many points of the namespace it has.
    pub(crate) async fn status(&self, ns: &Namespace) -> MirrorStatus {
        let mut status = MirrorStatus {
            address: self.server.address().to_owned(),
            state: "none",
            collection: None,
            lag: Lag::default(),
            kinds: Vec::new(),
            trouble: self.server.out_of_service().or_else(|| self.seen().trouble.clone()),
        };
        let searched = match self.of_active_model().await {
            Ok(Some((one, lag))) => {
                status.state = match one.state {
                    MirrorState::Filling => "filling",
                    MirrorState::Searched => "searched",
                    MirrorState::Retired => "retired",
                };
                status.lag = lag;
                status.collection = Some(one.collection.clone());
                one
            }
            Ok(None) => return status,
            Err(error) => {
                status.trouble = Some(chain(&error));
                return status;
            }
        };
        let counts = KINDS.map(|kind| self.server.count(&searched.collection, ns, kind));
        for (kind, count) in KINDS.into_iter().zip(futures::future::join_all(counts).await) {
            match count {
                Ok(count) => status.kinds.push((kind, count)),
                Err(IndexError::Missing(_)) if searched.state == MirrorState::Filling => {}
                Err(error) => status.trouble = Some(error.to_string()),
            }
        }
        status
    }

    async fn of_active_model(&self) -> Result<Option<(Mirror, Lag)>, StoreError> {
        let mut conn = self.store.acquire_across().await?;
        let Some(model) = memory_store::models::active(&mut conn).await? else { return Ok(None) };
        let mut live: Vec<Mirror> = mirrors::all(&mut conn).await?;
        live.retain(|one| one.model_id == Some(model.model_id) && one.state != MirrorState::Retired);
        live.sort_by_key(|one| one.state != MirrorState::Searched);
        let Some(one) = live.into_iter().next() else { return Ok(None) };
        let lag = outbox::lag(&mut conn, one.mirror_id).await?;
        Ok(Some((one, lag)))
    }

    fn failed(&self, error: MirrorError) -> EngineError {
        match error {
            MirrorError::Store(error) => error.into(),
            MirrorError::Index(error) => EngineError::Busy(format!(
                "Qdrant at {} could not be used: {error}. The memory itself is complete without it; try again.",
                self.server.address()
            )),
        }
    }
}

/// The mirror as `status` reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct MirrorStatus {
    pub address: String,
    /// `none`, `filling` or `searched`.
    pub state: &'static str,
    pub collection: Option<String>,
    pub lag: Lag,
    /// Points of the namespace by their kind.
    pub kinds: Vec<(&'static str, u64)>,
    /// Why it cannot be used at the moment.
    pub trouble: Option<String>,
}
