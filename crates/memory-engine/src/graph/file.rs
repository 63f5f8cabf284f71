//! A graph in step with a file: what others write there is taken in before a call, and what a call changes
//! stands there before it answers.
//!
//! Calls that change the graph come in together; then one of them writes the file for all, alone. From the
//! first change to the writing the file's folder is locked against other processes that do the same.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_core::Invalid;
use memory_core::graph::{GraphFile, GraphReach, GraphScope};
use memory_core::id::Namespace;
use memory_store::Store;
use tokio::sync::{Mutex, MutexGuard, OwnedRwLockReadGuard, RwLock};

use super::disk::{self, FolderLock, Seen, Stamp};
use super::intake::Intake;
use super::lines::{Lines, LinesKept};
use super::watch::WatchedGraphs;
use super::{Changed, Warning};
use crate::{EngineError, Memory};

/// How long a call waits for other processes.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);
/// For so long a search takes a file to be there, or not, as it was found.
const LOOKED_AT_FOR: Duration = Duration::from_millis(500);

/// The files of this process, each with its turns.
#[derive(Default)]
pub(crate) struct GraphFiles {
    turns: std::sync::Mutex<HashMap<(Namespace, GraphFile), Arc<Turns>>>,
    lines_kept: LinesKept,
}

/// How a graph and its file are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHealth {
    /// Of the file, without its folder.
    pub name: String,
    /// Why they are not in step.
    pub failure: Option<String>,
}

/// Who is at a file, and what is known of it.
pub(super) struct Turns {
    pub(super) store: Store,
    pub(super) graphs: Arc<WatchedGraphs>,
    pub(super) ns: Namespace,
    pub(super) file: GraphFile,
    pub(super) scope: GraphScope,
    /// How long a call waits for those who are at the file.
    patience: Duration,
    pub(super) lines_kept: LinesKept,
    /// How far whoever takes in the file has come.
    pub(super) intake: Intake,
    /// Calls that change the graph share it; whoever writes the file is alone behind it.
    pub(super) gate: Arc<RwLock<()>>,
    pub(super) state: Mutex<State>,
    /// When a search last looked whether the file is there, and whether it was.
    looked: std::sync::Mutex<Option<(Instant, bool)>>,
    /// The file as it was when somebody last had it taken in without waiting for it.
    tried: std::sync::Mutex<Option<Seen>>,
}

#[derive(Default)]
pub(super) struct State {
    lock: Option<FolderLock>,
    /// The file when graph and file were last in step.
    pub(super) seen: Option<Seen>,
    /// The graph's version that the file has.
    pub(super) written: i64,
    /// The graph has what the file does not, of an earlier call.
    pub(super) is_owed: bool,
    pub(super) failure: Option<String>,
    /// What the next answer has to say.
    pub(super) notices: Vec<String>,
    /// What the graph looks like as a file.
    pub(super) lines: Option<Lines>,
    /// Somebody sees to it that they are not kept for ever.
    pub(super) lines_are_watched: bool,
}

/// A call's turn at a graph that it changes.
pub(super) struct Turn {
    at_file: Option<AtFile>,
}

struct AtFile {
    turns: Arc<Turns>,
    /// Shared with everyone else who changes the graph.
    shared: Option<OwnedRwLockReadGuard<()>>,
}

impl Memory {
    /// Finds out where a graph's file is; see [`disk::resolve_graph_file`].
    pub async fn resolve_graph_file(path: PathBuf) -> Result<GraphFile, Invalid> {
        tokio::task::spawn_blocking(move || disk::resolve_graph_file(&path))
            .await
            .unwrap_or_else(|_| Err(Invalid::new("The path of the graph's file could not be looked up.")))
    }

    /// The same without making or renaming anything, for whoever only reads; see [`disk::locate_graph_file`].
    pub async fn locate_graph_file(path: PathBuf) -> Result<GraphFile, Invalid> {
        tokio::task::spawn_blocking(move || disk::locate_graph_file(&path))
            .await
            .unwrap_or_else(|_| Err(Invalid::new("The path of the graph's file could not be looked up.")))
    }

    /// Brings a graph and its file in step, as at the start of a process.
    pub async fn bind_graph_file(&self, ns: &Namespace, file: &GraphFile) -> Result<(), EngineError> {
        let turns = self.turns(ns, &GraphScope::File(file.clone()));
        match turns {
            Some(turns) => turns.catch_up_alone(CatchUp::AndTidy).await,
            None => Ok(()),
        }
    }

    /// Takes in what a file has, and writes nothing there.
    pub async fn read_graph_file(&self, ns: &Namespace, file: &GraphFile) -> Result<(), EngineError> {
        self.take_in_file(ns, &GraphScope::File(file.clone())).await.map(|_| ())
    }

    /// How a graph and its file are, where this process keeps them in step.
    pub fn graph_file(&self, ns: &Namespace, file: &GraphFile) -> Option<FileHealth> {
        let files = self.graph_files.turns.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let turns = files.get(&(ns.clone(), file.clone()))?;
        Some(FileHealth {
            name: file.name().to_owned(),
            // Whoever is at it will know better in a moment.
            failure: turns.state.try_lock().ok().and_then(|state| state.failure.clone()),
        })
    }

    /// What of a reach answers: a file that is gone does not. `None` where that was all. One that was changed is taken
    /// in meanwhile; nobody waits for it.
    pub(crate) async fn still_there(&self, ns: &Namespace, reach: &GraphReach) -> Option<GraphReach> {
        let scope = reach.file().map(|file| GraphScope::File(file.clone()));
        match scope.and_then(|scope| self.turns(ns, &scope)) {
            Some(turns) if !turns.is_there().await => reach.clone().without_file(),
            _ => Some(reach.clone()),
        }
    }

    /// Sees to it that what others write to a watched file is taken in.
    pub(super) async fn look_at_file(&self, ns: &Namespace, scope: &GraphScope) {
        if let Some(turns) = self.turns(ns, scope) {
            turns.take_in_soon().await;
        }
    }

    pub(super) fn turns(&self, ns: &Namespace, scope: &GraphScope) -> Option<Arc<Turns>> {
        let GraphScope::File(file) = scope else { return None };
        let mut files = self.graph_files.turns.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let turns = files.entry((ns.clone(), file.clone())).or_insert_with(|| {
            Arc::new(Turns {
                store: self.store.clone(),
                graphs: Arc::clone(&self.graphs),
                patience: self.settings.file_patience,
                lines_kept: self.graph_files.lines_kept.clone(),
                intake: Intake::default(),
                ns: ns.clone(),
                file: file.clone(),
                scope: scope.clone(),
                gate: Arc::default(),
                state: Mutex::default(),
                looked: std::sync::Mutex::default(),
                tried: std::sync::Mutex::default(),
            })
        });
        Some(Arc::clone(turns))
    }

    /// Before a graph is read: what was written to its file is taken in. Gives what the answer has to say.
    pub(super) async fn in_step(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
    ) -> Result<Option<String>, EngineError> {
        match self.take_in_file(ns, scope).await? {
            Some(turns) => Ok(turns.in_time(turns.state.lock()).await?.notice()),
            None => Ok(None),
        }
    }

    /// The same, leaving what there is to say to the next answer.
    pub(super) async fn take_in_file(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
    ) -> Result<Option<Arc<Turns>>, EngineError> {
        let Some(turns) = self.turns(ns, scope) else { return Ok(None) };
        let seen = turns.in_time(turns.state.lock()).await?.seen;
        let now = turns.stamp().await?;
        if !seen.is_some_and(|seen| seen.still_is(now)) {
            turns.catch_up_meanwhile().await?;
        }
        Ok(Some(turns))
    }

    /// Before a graph is changed; [`Turn::end`] comes after.
    pub(super) async fn turn(&self, ns: &Namespace, scope: &GraphScope) -> Result<Turn, EngineError> {
        let at_file = match self.turns(ns, scope) {
            None => None,
            Some(turns) => {
                let shared = Some(turns.enter().await?);
                Some(AtFile { turns, shared })
            }
        };
        Ok(Turn { at_file })
    }
}

impl Turn {
    /// After the change: it is in the file when this returns, or the answer says why it is not.
    pub(super) async fn end<T>(
        self,
        changed: Result<Changed<T>, EngineError>,
    ) -> Result<Changed<T>, EngineError> {
        let Some(mut at_file) = self.at_file else { return changed };
        at_file.shared = None;
        let version = changed.as_ref().ok().and_then(|changed| changed.version);
        let mut state = at_file.turns.leave(version).await;
        let mut changed = changed?;
        let is_unwritten = state.is_owed;
        changed.warning = state.notice().map(|text| Warning { text, is_unwritten });
        Ok(changed)
    }
}

impl Drop for AtFile {
    /// A call that is broken off leaves its change to be written by the next one, and the folder unlocked.
    fn drop(&mut self) {
        if self.shared.take().is_some() {
            let turns = Arc::clone(&self.turns);
            tokio::spawn(async move { turns.unlock(true).await });
        }
    }
}

impl State {
    /// Everything that the next answer has to say.
    fn notice(&mut self) -> Option<String> {
        (!self.notices.is_empty()).then(|| std::mem::take(&mut self.notices).join(" "))
    }
}

/// What is done at a file without a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CatchUp {
    /// What it has is taken in; nothing is written.
    Only,
    /// What it lacks is written too, and what others have left beside it is removed.
    AndTidy,
}

impl Turns {
    /// Waits for others at the file as long as a call can.
    async fn in_time<T>(&self, waiting: impl Future<Output = T>) -> Result<T, EngineError> {
        tokio::time::timeout(self.patience, waiting).await.map_err(|_| {
            let path = self.file.path();
            EngineError::Busy(match self.intake.so_far() {
                Some(so_far) => format!(
                    "The graph's file {path} is still being taken in ({so_far}). Nothing was changed; call again in some seconds."
                ),
                None => format!(
                    "Other calls are still busy with the graph's file {path}. Nothing was changed; call again in some seconds."
                ),
            })
        })
    }

    /// Comes in for a change, with everyone else who does.
    async fn enter(self: &Arc<Self>) -> Result<OwnedRwLockReadGuard<()>, EngineError> {
        let seen = self.in_time(self.state.lock()).await?.seen;
        let now = self.stamp().await?;
        if !seen.is_some_and(|seen| seen.seems_to_be(now)) {
            self.catch_up_meanwhile().await?;
        }
        let coming_in = async {
            let shared = Arc::clone(&self.gate).read_owned().await;
            (shared, self.state.lock().await)
        };
        let (shared, mut state) = self.in_time(coming_in).await?;
        let entered = match self.lock_folder(&mut state).await {
            Ok(()) => self.catch_up(&mut state).await,
            Err(error) => Err(error),
        };
        if let Err(error) = entered {
            drop((state, shared));
            // Nobody else may be left to unlock the folder.
            self.unlock(false).await;
            return Err(error);
        }
        drop(state);
        Ok(shared)
    }

    /// Goes out after a change: when everyone is out, whoever comes first writes for all.
    async fn leave(self: &Arc<Self>, version: Option<i64>) -> MutexGuard<'_, State> {
        let _alone = self.gate.write().await;
        let mut state = self.state.lock().await;
        if state.is_owed || version.is_some_and(|version| version > state.written) {
            self.settle(&mut state).await;
            self.forget_lines_when_idle(&mut state);
        }
        state.lock = None;
        state
    }

    /// Takes in what the file has. It goes on when the call that wanted it is broken off or answered before.
    async fn catch_up_meanwhile(self: &Arc<Self>) -> Result<(), EngineError> {
        let turns = Arc::clone(self);
        let catching_up = tokio::spawn(async move { turns.catch_up_alone(CatchUp::Only).await });
        self.in_time(catching_up).await?.unwrap_or_else(|error| Err(io::Error::other(error).into()))
    }

    async fn catch_up_alone(self: &Arc<Self>, what: CatchUp) -> Result<(), EngineError> {
        let _alone = self.gate.write().await;
        let mut state = self.state.lock().await;
        let mut caught_up = self.lock_folder(&mut state).await;
        if caught_up.is_ok() {
            if what == CatchUp::AndTidy {
                disk::remove_drafts(self.file.path());
            }
            caught_up = self.catch_up(&mut state).await;
        }
        if caught_up.is_ok() && state.is_owed && what == CatchUp::AndTidy {
            self.settle(&mut state).await;
            self.forget_lines_when_idle(&mut state);
        }
        state.lock = None;
        caught_up
    }

    async fn unlock(&self, is_owed: bool) {
        let _alone = self.gate.write().await;
        let mut state = self.state.lock().await;
        state.lock = None;
        state.is_owed |= is_owed;
    }

    async fn lock_folder(&self, state: &mut State) -> Result<(), EngineError> {
        if state.lock.is_none() {
            let lock = FolderLock::take(self.file.path(), LOCK_PATIENCE).await;
            state.lock = Some(lock.map_err(|error| self.unreadable(&error))?);
        }
        Ok(())
    }

    /// Whether the file is there, as of a moment ago.
    async fn is_there(self: &Arc<Self>) -> bool {
        let looked = || self.looked.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((at, was_there)) = *looked()
            && at.elapsed() < LOOKED_AT_FOR
        {
            return was_there;
        }
        let is_there = self.take_in_soon().await;
        *looked() = Some((Instant::now(), is_there));
        is_there
    }

    /// Looks at the file and has what others have written there taken in, without waiting for it. Gives whether it is
    /// there.
    pub(super) async fn take_in_soon(self: &Arc<Self>) -> bool {
        let Ok(now) = self.stamp().await else { return false };
        // Whoever holds the state is at the file already.
        let is_new =
            self.state.try_lock().is_ok_and(|state| !state.seen.is_some_and(|seen| seen.still_is(now)));
        // One that is damaged is not read again and again.
        let tried =
            self.tried.lock().unwrap_or_else(std::sync::PoisonError::into_inner).replace(Seen::new(now));
        if is_new && !tried.is_some_and(|tried| tried.still_is(now)) {
            let turns = Arc::clone(self);
            tokio::spawn(async move {
                if let Err(error) = turns.catch_up_alone(CatchUp::Only).await {
                    tracing::debug!(%error, "a graph's file was not taken in");
                }
            });
        }
        now.is_some()
    }

    /// How the file looks now.
    pub(super) async fn stamp(&self) -> Result<Option<Stamp>, EngineError> {
        Stamp::of(self.file.path()).await.map_err(|error| self.unreadable(&error))
    }

    pub(super) fn unreadable(&self, error: &io::Error) -> EngineError {
        Invalid::new(format!(
            "The graph's file {} cannot be read: {error}. Nothing was changed; make it readable, or set MEMORY_FILE_PATH \
             to another.",
            self.file.path()
        ))
        .into()
    }
}
