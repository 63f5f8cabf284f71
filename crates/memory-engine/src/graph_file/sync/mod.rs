//! One graph and its file, kept in step: when the file is imported and when it is written. How that is done is in
//! `sync/transfer.rs`.
//!
//! Calls that change the graph run beside each other; when all that are under way have ended, one of them writes the file for
//! all. From the first change to the writing the file's folder is locked against other processes that do the same.

mod transfer;

use std::io;
use std::mem;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memory_core::Invalid;
use memory_core::graph::{GraphFile, GraphScope};
use memory_core::id::Namespace;
use memory_store::Store;
use memory_store::graph::{self, InStep};
use tokio::sync::{Mutex, MutexGuard, OwnedRwLockReadGuard, RwLock};

use super::compose::{CacheBudget, CachedFile};
use super::disk::{self, FolderLock, Seen, Stamp};
use super::filed_graph::FiledGraph;
use super::import_progress::ImportProgress;
use crate::EngineError;
use crate::error::on_own_thread;
use crate::graph::changed::{Changed, Warning};
use crate::graph::watched::WatchedGraphs;
use crate::locking::locked;

/// How long a call waits for other processes.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// A graph and its file, with the locks that keep them in step.
pub(crate) struct GraphFileSync {
    file: FiledGraph,
    /// How long a call waits for others that use the file.
    patience: Duration,
    cache_budget: CacheBudget,
    /// Calls that change the graph share it; the call that writes the file has it alone, after them.
    writers: Arc<RwLock<()>>,
    state: Mutex<State>,
    /// The file as it was when an import was last started in the background.
    tried: std::sync::Mutex<Option<Seen>>,
}

#[derive(Default)]
struct State {
    lock: Option<FolderLock>,
    /// The file when graph and file were last in step.
    seen: Option<Seen>,
    /// The graph's version that the file has.
    written: i64,
    /// A change of an earlier call is in the graph but not yet in the file.
    is_unwritten: bool,
    failure: Option<String>,
    /// Warnings for the next answer.
    notices: Vec<String>,
    cache: Option<CachedFile>,
    /// A task drops the cache when it is idle.
    cache_is_watched: bool,
}

/// What is done to bring graph and file in step outside of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CatchUp {
    /// The file is imported; nothing is written.
    ImportOnly,
    /// The file is written too where it lacks something, and drafts that others have left beside it are removed.
    ImportAndWrite,
}

impl State {
    /// Everything that the next answer has to say.
    fn take_notice(&mut self) -> Option<String> {
        (!self.notices.is_empty()).then(|| mem::take(&mut self.notices).join(" "))
    }
}

/// A call's share in the next writing of the file. Dropped without [`end`](Self::end), it leaves the change to be
/// written by the next call, and the folder unlocked.
pub(crate) struct WriteGuard {
    sync: Arc<GraphFileSync>,
    shared: Option<OwnedRwLockReadGuard<()>>,
    /// The graph may have been changed.
    has_begun: bool,
}

impl WriteGuard {
    /// After the change: it is in the file when this returns, or the answer says why it is not.
    pub(crate) async fn end<T>(
        mut self,
        changed: Result<Changed<T>, EngineError>,
    ) -> Result<Changed<T>, EngineError> {
        self.shared = None;
        let version = changed.as_ref().ok().and_then(|changed| changed.version);
        let sync = Arc::clone(&self.sync);
        // In a task of its own: a call that is dropped leaves nothing half done.
        let leaving = tokio::spawn(async move {
            let mut state = sync.leave(version).await;
            (state.take_notice(), state.is_unwritten)
        });
        let (notice, is_unwritten) = leaving.await?;
        let mut changed = changed?;
        changed.warning = notice.map(|text| Warning { text, is_unwritten });
        Ok(changed)
    }
}

impl Drop for WriteGuard {
    fn drop(&mut self) {
        if self.shared.take().is_some() {
            let (sync, is_unwritten) = (Arc::clone(&self.sync), self.has_begun);
            tokio::spawn(async move { sync.unlock(is_unwritten).await });
        }
    }
}

impl GraphFileSync {
    pub(super) fn new(
        store: Store,
        watched: Arc<WatchedGraphs>,
        ns: &Namespace,
        file: &GraphFile,
        patience: Duration,
        cache_budget: CacheBudget,
    ) -> Self {
        let (ns, file, scope) = (ns.clone(), file.clone(), GraphScope::File(file.clone()));
        Self {
            file: FiledGraph { store, watched, ns, file, scope, progress: ImportProgress::default() },
            patience,
            cache_budget,
            writers: Arc::default(),
            state: Mutex::default(),
            tried: std::sync::Mutex::default(),
        }
    }

    /// Why graph and file are not in step. `None` where they are, and while a call holds the state: it will report the failure itself.
    pub(crate) fn failure(&self) -> Option<String> {
        self.state.try_lock().ok().and_then(|state| state.failure.clone())
    }

    /// The warnings for an answer.
    pub(crate) async fn take_notice(&self) -> Result<Option<String>, EngineError> {
        Ok(self.in_time(self.state.lock()).await?.take_notice())
    }

    /// Before the graph is read: what was written to its file is imported.
    pub(crate) async fn refresh(self: &Arc<Self>) -> Result<(), EngineError> {
        let seen = self.in_time(self.state.lock()).await?.seen;
        let now = self.stamp().await?;
        if seen.is_some_and(|seen| seen.still_is(now)) {
            return Ok(());
        }
        self.catch_up_in_background().await
    }

    /// Before the graph is changed; [`WriteGuard::end`] comes after.
    pub(crate) async fn begin_write(self: &Arc<Self>) -> Result<WriteGuard, EngineError> {
        let sync = Arc::clone(self);
        let entering = tokio::spawn(async move { sync.enter().await });
        let mut guard = self.in_time(entering).await???;
        guard.has_begun = true;
        Ok(guard)
    }

    /// Waits for others that use the file, as long as a call can.
    async fn in_time<T>(&self, waiting: impl Future<Output = T>) -> Result<T, EngineError> {
        tokio::time::timeout(self.patience, waiting).await.map_err(|_| {
            let path = self.file.path();
            EngineError::Busy(match self.file.progress.so_far() {
                Some(so_far) => format!(
                    "The graph's file {path} is still being taken in ({so_far}). Nothing was changed; call again in some seconds."
                ),
                None => format!(
                    "Other calls are still busy with the graph's file {path}. Nothing was changed; call again in some seconds."
                ),
            })
        })
    }

    /// Takes a share of the lock for a change, beside other changes, and imports what others have written.
    async fn enter(self: Arc<Self>) -> Result<WriteGuard, EngineError> {
        let shared = Some(Arc::clone(&self.writers).read_owned().await);
        // Where this fails there may be no other call left that would unlock the folder.
        let guard = WriteGuard { sync: Arc::clone(&self), shared, has_begun: false };
        let mut state = self.state.lock().await;
        self.lock_folder(&mut state).await?;
        self.import_changes(&mut state).await?;
        drop(state);
        Ok(guard)
    }

    /// After a change: when all changes under way have ended, the first to get the lock writes the file for all.
    async fn leave(self: &Arc<Self>, version: Option<i64>) -> MutexGuard<'_, State> {
        let _alone = self.writers.write().await;
        let mut state = self.state.lock().await;
        if state.is_unwritten || version.is_some_and(|version| version > state.written) {
            self.write_or_note(&mut state).await;
        }
        state.lock = None;
        state
    }

    /// Imports the file in a task of its own: it goes on when the call that wanted it is dropped, or answered before.
    async fn catch_up_in_background(self: &Arc<Self>) -> Result<(), EngineError> {
        let sync = Arc::clone(self);
        let catching_up = tokio::spawn(async move { sync.catch_up_and_unlock(CatchUp::ImportOnly).await });
        self.in_time(catching_up).await??
    }

    pub(crate) async fn catch_up_and_unlock(self: &Arc<Self>, what: CatchUp) -> Result<(), EngineError> {
        let _alone = self.writers.write().await;
        let mut state = self.state.lock().await;
        let caught_up = self.catch_up(&mut state, what).await;
        state.lock = None;
        caught_up
    }

    async fn catch_up(self: &Arc<Self>, state: &mut State, what: CatchUp) -> Result<(), EngineError> {
        self.lock_folder(state).await?;
        if what == CatchUp::ImportAndWrite {
            self.on_disk(|path| disk::remove_drafts(&path)).await?;
        }
        self.import_changes(state).await?;
        if state.is_unwritten && what == CatchUp::ImportAndWrite {
            self.write_or_note(state).await;
        }
        Ok(())
    }

    async fn unlock(&self, is_unwritten: bool) {
        let _alone = self.writers.write().await;
        let mut state = self.state.lock().await;
        state.lock = None;
        state.is_unwritten |= is_unwritten;
    }

    async fn lock_folder(&self, state: &mut State) -> Result<(), EngineError> {
        if state.lock.is_none() {
            let locking = self.on_disk(|path| FolderLock::take(&path));
            let Ok(lock) = tokio::time::timeout(LOCK_PATIENCE, locking).await else {
                let why = "another process keeps its folder locked";
                return Err(self.unreadable(&io::Error::new(io::ErrorKind::TimedOut, why)));
            };
            state.lock = Some(lock?);
        }
        Ok(())
    }

    /// Does something with the file that waits for the disk.
    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(PathBuf) -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let path = PathBuf::from(self.file.path());
        on_own_thread(move || work(path)).await
    }

    /// Whether the file is there. If others have changed it an import is started, without waiting for it.
    pub(crate) async fn import_in_background(self: &Arc<Self>) -> bool {
        let Ok(now) = self.stamp().await else { return false };
        // If the state is locked, a call is at the file already.
        let is_new =
            self.state.try_lock().is_ok_and(|state| !state.seen.is_some_and(|seen| seen.still_is(now)));
        // One that is damaged is not read again and again.
        let tried = locked(&self.tried).replace(Seen::new(now));
        if is_new && !tried.is_some_and(|tried| tried.still_is(now)) {
            let sync = Arc::clone(self);
            tokio::spawn(async move {
                if let Err(error) = sync.catch_up_and_unlock(CatchUp::ImportOnly).await {
                    tracing::debug!(%error, "a graph's file was not imported");
                }
            });
        }
        now.is_some()
    }

    /// How the file looks now.
    async fn stamp(&self) -> Result<Option<Stamp>, EngineError> {
        self.on_disk(|path| Stamp::of(&path)).await?.map_err(|error| self.unreadable(&error))
    }

    fn unreadable(&self, error: &io::Error) -> EngineError {
        Invalid::new(format!(
            "The graph's file {} cannot be read: {error}. Nothing was changed; make it readable, or set MEMORY_FILE_PATH \
             to another.",
            self.file.path()
        ))
        .into()
    }

    /// Empties the graph, as after the deletion of its file. The thread stays, so that watchers see a later version.
    pub(crate) async fn clear_graph(&self) -> Result<(), EngineError> {
        let _alone = self.writers.write().await;
        let mut state = self.state.lock().await;
        if self.stamp().await?.is_some() {
            return Err(
                Invalid::new(format!("The file {} is back; nothing was deleted.", self.file.path())).into()
            );
        }
        let mut tx = self.file.store.begin(&self.file.ns).await?;
        let thread = graph::lock_thread(&mut tx, &self.file.ns, &self.file.scope).await?;
        graph::clear(&mut tx, &thread).await?;
        graph::note_in_step(&mut tx, &thread, InStep { version: thread.version, sha256: None }).await?;
        tx.commit().await?;
        state.seen = Some(Seen::new(None));
        state.written = thread.version;
        state.is_unwritten = false;
        state.failure = None;
        state.cache = None;
        self.file.watched.announce_change();
        Ok(())
    }
}
