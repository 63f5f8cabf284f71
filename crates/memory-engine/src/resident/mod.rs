//! Small namespaces in memory: their passages, and what these hang together with, are searched in the process instead of by
//! statements. Postgres stays the truth. Before each search it is asked which revisions have changed since what was read, and these
//! are read again first; what is found is read back from it as always. The first search of a namespace begins to read it and goes to Postgres meanwhile.

mod index;
mod linked;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use memory_core::id::{Namespace, PassageId, RevisionId};
use memory_store::expansion::FoundEntity;
use memory_store::models::ActiveModel;
use memory_store::search::{
    self, Admitted, Breadth, Candidate, Changes, Horizon, Read, WordMatch, WordSearch,
};
use memory_store::{Conn, Store, StoreError};

use self::index::Index;
use self::linked::Linked;
use crate::locking::locked;

/// After more notes of changes than this, everything is read again, in the background.
const NOTES_MAX: i64 = 200;
/// What nobody has searched for so long is dropped …
const IDLE: Duration = Duration::from_secs(900);
/// … and so is what was not compared with the database for so long: notes of changes are kept for [`CHANGES_KEPT_DAYS`].
const TRUSTED: SignedDuration = SignedDuration::from_hours(12);
pub(crate) const CHANGES_KEPT_DAYS: i32 = 1;
/// A namespace that is too large to be kept is not tried again for so long.
const REFUSED_FOR: Duration = Duration::from_secs(600);

/// The indexes of this process, within a bound of memory. Clones share them.
#[derive(Clone)]
pub(crate) struct ResidentIndexes {
    bytes_max: usize,
    kept: Arc<Mutex<HashMap<Namespace, Kept>>>,
}

struct Kept {
    used: Instant,
    state: State,
}

#[derive(Clone)]
enum State {
    Loading,
    Ready(Arc<Resident>),
    /// It is too large.
    Refused,
}

/// A namespace in memory.
pub(crate) struct Resident {
    model_id: i16,
    bytes_max: usize,
    content: RwLock<Content>,
    /// Held while changes are read, so that an older state is never put over a newer one.
    refreshing: tokio::sync::Mutex<()>,
}

struct Content {
    index: Index,
    linked: Linked,
    horizon: Horizon,
    /// Another number for all that was ever in memory in this process.
    version: u64,
    /// When it was last compared with the database.
    compared: Timestamp,
}

impl Content {
    fn bytes(&self) -> usize {
        self.index.bytes() + self.linked.bytes()
    }
}

impl ResidentIndexes {
    /// None are kept where `bytes_max` is 0.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, kept: Arc::default() }
    }

    /// The namespace as the database holds it now; `None` where it is not in memory, and what should be searched is Postgres.
    pub(crate) async fn current(
        &self,
        store: &Store,
        conn: &mut Conn,
        ns: &Namespace,
        model: &ActiveModel,
    ) -> Result<Option<Arc<Resident>>, StoreError> {
        if self.bytes_max == 0 {
            return Ok(None);
        }
        let Some(resident) = self.ready(store, ns, model) else { return Ok(None) };
        if resident.catch_up(conn, ns).await? {
            return Ok(Some(resident));
        }
        locked(&self.kept).remove(ns);
        Ok(None)
    }

    /// Whether the namespace has been read.
    pub(crate) fn has(&self, ns: &Namespace) -> bool {
        locked(&self.kept).get(ns).is_some_and(|it| matches!(it.state, State::Ready(_)))
    }

    /// One that has been read; else it is begun to be read, unless that is going on or was given up.
    fn ready(&self, store: &Store, ns: &Namespace, model: &ActiveModel) -> Option<Arc<Resident>> {
        let mut kept = locked(&self.kept);
        kept.retain(|_, it| match it.state {
            State::Loading => true,
            State::Ready(_) => it.used.elapsed() < IDLE,
            State::Refused => it.used.elapsed() < REFUSED_FOR,
        });
        match kept.get_mut(ns) {
            Some(Kept { used, state: State::Ready(resident) }) if resident.model_id == model.model_id => {
                *used = Instant::now();
                return Some(Arc::clone(resident));
            }
            Some(Kept { state: State::Loading | State::Refused, .. }) => return None,
            Some(_) | None => {}
        }
        kept.insert(ns.clone(), Kept { used: Instant::now(), state: State::Loading });
        drop(kept);
        let (indexes, store, ns, model) = (self.clone(), store.clone(), ns.clone(), model.clone());
        tokio::spawn(async move { indexes.load(&store, &ns, &model).await });
        None
    }

    async fn load(&self, store: &Store, ns: &Namespace, model: &ActiveModel) {
        let read = Resident::read(store, ns, model, self.bytes_max).await;
        let mut kept = locked(&self.kept);
        let state = match read {
            Ok(Some(resident)) => State::Ready(Arc::new(resident)),
            Ok(None) => State::Refused,
            Err(error) => {
                tracing::debug!(%error, "a namespace could not be read into memory");
                kept.remove(ns);
                return;
            }
        };
        kept.insert(ns.clone(), Kept { used: Instant::now(), state });
        // Those that were searched longest ago make room.
        while total(&kept) > self.bytes_max {
            let oldest = kept.iter().filter(|(name, it)| *name != ns && it.bytes() > 0);
            let Some(oldest) = oldest.min_by_key(|(_, it)| it.used).map(|(name, _)| name.clone()) else {
                break;
            };
            kept.remove(&oldest);
        }
    }
}

fn next_version() -> u64 {
    static VERSIONS: AtomicU64 = AtomicU64::new(0);
    VERSIONS.fetch_add(1, Ordering::Relaxed)
}

fn total(kept: &HashMap<Namespace, Kept>) -> usize {
    kept.values().map(Kept::bytes).sum()
}

impl Kept {
    fn bytes(&self) -> usize {
        match &self.state {
            State::Ready(resident) => resident.read_content(Content::bytes),
            State::Loading | State::Refused => 0,
        }
    }
}

impl Resident {
    /// Reads a namespace; `None` where it takes more memory than there may be.
    async fn read(
        store: &Store,
        ns: &Namespace,
        model: &ActiveModel,
        bytes_max: usize,
    ) -> Result<Option<Self>, StoreError> {
        let mut index = Index::new(model.info.dimension);
        let mut linked = Linked::default();
        let mut fits = true;
        let horizon = search::read_all(store, ns, model.model_id, |read| {
            match read {
                Read::Passage(passage) => index.add(*passage, bytes_max),
                Read::Linked(row) => linked.add(row),
            }
            fits = index.bytes() + linked.bytes() <= bytes_max;
            fits
        })
        .await?;
        Ok(fits.then(|| Self {
            model_id: model.model_id,
            bytes_max,
            content: RwLock::new(Content {
                index,
                linked,
                horizon,
                version: next_version(),
                compared: Timestamp::now(),
            }),
            refreshing: tokio::sync::Mutex::default(),
        }))
    }

    /// Reads what has changed; false where everything should be read again.
    async fn catch_up(&self, conn: &mut Conn, ns: &Namespace) -> Result<bool, StoreError> {
        if self.read_content(|it| Timestamp::now().duration_since(it.compared) > TRUSTED) {
            return Ok(false);
        }
        let Some(changes) = self.changes(conn, ns).await? else { return Ok(false) };
        if changes.are_none() {
            self.content.write().unwrap_or_else(PoisonError::into_inner).compared = Timestamp::now();
            return Ok(true);
        }
        let _alone = self.refreshing.lock().await;
        let Some(changes) = self.changes(conn, ns).await? else { return Ok(false) };
        // Another may have read them meanwhile.
        let (mut now, mut linked_now) = (Vec::new(), Vec::new());
        if !changes.revisions.is_empty() {
            now = search::passages_of(conn, ns, self.model_id, &changes.revisions).await?;
        }
        if !changes.are_none() {
            linked_now = search::linked_of(conn, ns, &changes.revisions, &changes.entities).await?;
        }
        let Changes { revisions, entities, horizon } = changes;
        let mut content = self.content.write().unwrap_or_else(PoisonError::into_inner);
        content.index.replace(&revisions, now, self.bytes_max);
        content.linked.replace(&revisions, &entities, linked_now);
        content.horizon = horizon;
        content.version = next_version();
        content.compared = Timestamp::now();
        Ok(!content.index.is_worn() && content.bytes() <= self.bytes_max)
    }

    async fn changes(&self, conn: &mut Conn, ns: &Namespace) -> Result<Option<Changes>, StoreError> {
        let horizon = self.read_content(|content| content.horizon.clone());
        search::changed_since(conn, ns, &horizon, NOTES_MAX).await
    }

    fn read_content<T>(&self, read: impl FnOnce(&Content) -> T) -> T {
        read(&self.content.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// See [`search::with_words`].
    pub(crate) fn with_words(&self, admitted: Admitted<'_>, search: WordSearch<'_>) -> Vec<WordMatch> {
        self.read_content(|content| content.index.with_words(admitted, search))
    }

    /// See [`search::nearest`].
    pub(crate) fn nearest(
        &self,
        admitted: Admitted<'_>,
        vector: &[f32],
        breadth: Breadth,
    ) -> Vec<(PassageId, f32)> {
        self.read_content(|content| content.index.nearest(admitted, vector, breadth))
    }

    /// See [`search::candidates`]; with the passages that are not in memory. `None` where states are wanted that are not kept.
    pub(crate) fn candidates(
        &self,
        given: &[PassageId],
        vector: Option<&[f32]>,
        with_states: bool,
    ) -> Option<(Vec<Candidate>, Vec<PassageId>)> {
        self.read_content(|content| content.index.candidates(given, vector, with_states))
    }

    /// See [`search::vectors`]; of those that are in memory.
    pub(crate) fn vectors(&self, given: &[PassageId]) -> HashMap<PassageId, Vec<f32>> {
        self.read_content(|content| content.index.vectors(given))
    }

    /// See [`search::states`]; of those that are in memory.
    pub(crate) fn states(&self, given: &[PassageId]) -> HashMap<PassageId, Arc<[u8]>> {
        self.read_content(|content| content.index.states(given))
    }

    /// See [`memory_store::expansion::entities_called`].
    pub(crate) fn entities_called(&self, names: &[String], limit: usize) -> Vec<i64> {
        self.read_content(|content| content.linked.called(names, limit))
    }

    /// See [`memory_store::expansion::related_events`]: the events' ids with the reasons, without filters.
    pub(crate) fn related(
        &self,
        revisions: &[RevisionId],
        named: &[i64],
        budget: usize,
        include_superseded: bool,
    ) -> Vec<(String, String)> {
        self.read_content(|content| content.linked.related(revisions, named, budget, include_superseded))
    }

    /// See [`memory_store::expansion::entities_of`], without filters.
    pub(crate) fn entities_of(
        &self,
        revisions: &[RevisionId],
        named: &[i64],
        limit: usize,
    ) -> Vec<FoundEntity> {
        self.read_content(|content| content.linked.entities_of(revisions, named, limit))
    }

    /// The same number for as long as nothing has changed in it.
    pub(crate) fn version(&self) -> u64 {
        self.read_content(|content| content.version)
    }

    /// Whether its vectors are those of this model.
    pub(crate) fn is_of(&self, model: &ActiveModel) -> bool {
        self.model_id == model.model_id
    }
}
