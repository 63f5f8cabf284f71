//! The mirror of the vectors in Qdrant: kept up with Postgres, compared with it, and built anew.
//!
//! What is to be done stands in the outbox, which the database writes itself; what a point has to be is read when it is made
//! so. Nothing here is asked by a search: that is `recall/mirrored.rs`.

mod apply;
mod reconcile;
mod reindex;

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use memory_core::id::Namespace;
use memory_store::StoreError;
use memory_store::vector::IndexError;
use memory_store::vector::mirrors::{self, Mirror, MirrorState};
use memory_store::vector::outbox::{self, Lag};
use memory_store::vector::points::KINDS;
use memory_store::vector::qdrant::Qdrant;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

pub use memory_store::vector::qdrant::Look;
pub use reconcile::{Compared, Reconciled};
pub use reindex::Reindexed;

use crate::memory::chain;
use crate::{EngineError, Memory};

/// How often the server is looked at without anything to do: so soon a collection that is gone is noticed.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);
/// The longest that a server which is overloaded is left alone, however long it asks for.
const ASKED_PAUSE_MAX: Duration = Duration::from_secs(60);
/// How often is asked whether a comparison is due.
const AUDIT_POLL: Duration = Duration::from_secs(5);

/// A server to mirror to, and what this process has seen of it.
pub(crate) struct VectorMirror {
    pub(crate) server: Qdrant,
    /// Something was written here.
    pub(crate) news: Notify,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// Collections that are there with all their indexes.
    made: HashSet<String>,
    looked_at: Option<Instant>,
    /// Why nothing can be done at the moment.
    trouble: Option<String>,
    /// Since when it could not be searched.
    silent_since: Option<Timestamp>,
}

impl VectorMirror {
    pub(crate) fn new(server: Qdrant) -> Self {
        Self { server, news: Notify::new(), seen: Mutex::default() }
    }

    /// A search has failed; gives since when they do. A collection that is gone is looked for at once.
    pub(crate) fn fell_silent(&self, error: &IndexError) -> Timestamp {
        let mut seen = self.seen();
        if matches!(error, IndexError::Missing(_)) {
            seen.looked_at = None;
            self.news.notify_one();
        }
        *seen.silent_since.get_or_insert_with(Timestamp::now)
    }

    /// It was searched, or is not to be searched at the moment.
    pub(crate) fn is_not_silent(&self) {
        self.seen().silent_since = None;
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why the mirror could not be worked on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MirrorError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl Memory {
    /// Mirrors the vectors to a server.
    #[must_use]
    pub fn with_mirror(mut self, server: Option<Qdrant>) -> Self {
        self.mirror = server.map(VectorMirror::new);
        self
    }

    /// Nobody mirrors any more: for the only process of a database, without a server to mirror to.
    pub async fn leave_mirror(&self) -> Result<(), EngineError> {
        if self.mirror.is_none() && self.store.end_mirroring().await? {
            tracing::warn!(
                "QDRANT_URL is not set any more: nothing is mirrored from here on, and the collections stay on the server \
                 until it is set again"
            );
        }
        Ok(())
    }

    /// Keeps the mirror up with Postgres until told to stop.
    pub(crate) async fn keep_mirror(&self, stop: &CancellationToken) {
        if self.mirror.is_none() {
            return;
        }
        let _ = stop
            .run_until_cancelled(async { tokio::join!(self.keep_applying(), self.keep_auditing()) })
            .await;
    }

    async fn keep_applying(&self) {
        let Some(mirror) = &self.mirror else { return };
        let times = mirror.server.times().clone();
        let mut pause = times.pause;
        loop {
            match self.mirror_round().await {
                Ok(0) => {
                    pause = times.pause;
                    self.mirror_recovered();
                    let _ = tokio::time::timeout(self.settings.poll_interval, mirror.news.notified()).await;
                }
                Ok(done) => {
                    metrics::counter!("remembrancer_mirror_applied_total").increment(done as u64);
                    pause = times.pause;
                    self.mirror_recovered();
                }
                Err(error) => {
                    metrics::counter!("remembrancer_mirror_failures_total").increment(1);
                    self.mirror_troubled(&error);
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

    /// Tells it once.
    fn mirror_troubled(&self, error: &MirrorError) {
        let Some(mirror) = &self.mirror else { return };
        let reason = chain(error);
        let before = mirror.seen().trouble.replace(reason.clone());
        if before.is_none() {
            tracing::warn!(reason, "the vector mirror falls behind; it is tried again");
        }
        // Whatever was there may be another now.
        mirror.seen().looked_at = None;
    }

    fn mirror_recovered(&self) {
        let Some(mirror) = &self.mirror else { return };
        if mirror.seen().trouble.take().is_some() {
            tracing::info!("the vector mirror is kept up again");
        }
    }

    /// Compares all points with Postgres from time to time, and when the server seems to have lost some.
    async fn keep_auditing(&self) {
        let Some(mirror) = &self.mirror else { return };
        let audit = mirror.server.times().audit;
        loop {
            tokio::time::sleep(AUDIT_POLL.min(audit)).await;
            match self.audit_due(audit).await {
                Ok(()) => {}
                Err(error) => {
                    tracing::warn!(
                        error = chain(&error),
                        "the vector mirror could not be compared; later again"
                    );
                }
            }
        }
    }

    async fn audit_due(&self, every: Duration) -> Result<(), MirrorError> {
        let known = mirrors::all(&mut *self.store.acquire().await?).await?;
        for one in known.iter().filter(|one| one.state == MirrorState::Searched) {
            let is_mine = {
                let mut conn = self.store.acquire().await?;
                mirrors::begin_audit(&mut conn, one.mirror_id, every.as_secs_f64()).await?
            };
            if !is_mine {
                continue;
            }
            let compared = self.compare(one, true, Look::Digests, &crate::lines::unreported).await?;
            if compared.differences() > 0 {
                tracing::warn!(
                    missing = compared.missing,
                    extra = compared.extra,
                    stale = compared.stale,
                    "the vector mirror was not as it should be; it is mended"
                );
            }
        }
        Ok(())
    }

    /// Whether the mirror can be used, as far as this process has seen; `None` where there is none.
    pub(crate) fn mirror_is_up(&self) -> Option<bool> {
        let mirror = self.mirror.as_ref()?;
        Some(mirror.server.out_of_service().is_none() && mirror.seen().trouble.is_none())
    }

    /// How the mirror stands; `None` where there is none.
    pub(crate) async fn mirror_status(&self, ns: &Namespace) -> Option<MirrorStatus> {
        let mirror = self.mirror.as_ref()?;
        let mut status = MirrorStatus {
            address: mirror.server.address().to_owned(),
            state: "none",
            collection: None,
            lag: Lag::default(),
            kinds: Vec::new(),
            trouble: mirror.server.out_of_service().or_else(|| mirror.seen().trouble.clone()),
        };
        let searched = match self.mirror_of_active_model().await {
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
            Ok(None) => return Some(status),
            Err(error) => {
                status.trouble = Some(chain(&error));
                return Some(status);
            }
        };
        let counts = KINDS.map(|kind| mirror.server.count(&searched.collection, ns, kind));
        for (kind, count) in KINDS.into_iter().zip(futures::future::join_all(counts).await) {
            match count {
                Ok(count) => status.kinds.push((kind, count)),
                Err(IndexError::Missing(_)) if searched.state == MirrorState::Filling => {}
                Err(error) => status.trouble = Some(error.to_string()),
            }
        }
        Some(status)
    }

    async fn mirror_of_active_model(&self) -> Result<Option<(Mirror, Lag)>, StoreError> {
        let mut conn = self.store.acquire().await?;
        let Some(model) = memory_store::models::active(&mut conn).await? else { return Ok(None) };
        let mut live: Vec<Mirror> = mirrors::all(&mut conn).await?;
        live.retain(|one| one.model_id == Some(model.model_id) && one.state != MirrorState::Retired);
        live.sort_by_key(|one| one.state != MirrorState::Searched);
        let Some(one) = live.into_iter().next() else { return Ok(None) };
        let lag = outbox::lag(&mut conn, one.mirror_id).await?;
        Ok(Some((one, lag)))
    }

    pub(crate) fn mirror(&self) -> Result<&VectorMirror, EngineError> {
        self.mirror.as_ref().ok_or_else(|| {
            memory_core::Invalid::new(
                "No vector mirror is set up. Set QDRANT_URL, for example to http://localhost:6334, and try again.",
            )
            .into()
        })
    }

    fn mirror_failed(&self, error: MirrorError) -> EngineError {
        match error {
            MirrorError::Store(error) => error.into(),
            MirrorError::Index(error) => EngineError::Busy(format!(
                "Qdrant at {} could not be used: {error}. The memory itself is complete without it; try again.",
                self.mirror.as_ref().map_or("", |mirror| mirror.server.address())
            )),
        }
    }
}

/// The mirror as `status` tells it.
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
