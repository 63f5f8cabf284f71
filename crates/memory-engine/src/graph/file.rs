//! A graph in step with a file: what others write there is taken in before a call, and what a call changes
//! stands there before it answers.
//!
//! Calls that change the graph come in together; then one of them writes the file for all, alone. From the
//! first change to the writing the file's folder is locked against other processes that do the same.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memory_core::Invalid;
use memory_core::graph::{GraphFile, GraphScope};
use memory_core::id::Namespace;
use memory_store::graph::{self, InStep};
use tokio::sync::{Mutex, MutexGuard, OwnedRwLockReadGuard, RwLock};

use super::Changed;
use super::disk::{self, Draft, FolderLock, Seen, Stamp};
use super::replace::replace;
use super::transfer::{GraphLines, unite};
use crate::lines::unreported;
use crate::{EngineError, Memory};

/// How long a call waits for other processes.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);
/// How often a file is written again that somebody else changed meanwhile.
const ATTEMPTS: usize = 5;

/// The files of this process, each with its turns.
#[derive(Default)]
pub(crate) struct GraphFiles(std::sync::Mutex<HashMap<(Namespace, GraphFile), Arc<Turns>>>);

/// How a graph and its file are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHealth {
    pub path: String,
    /// Why they are not in step.
    pub failure: Option<String>,
}

/// Who is at a file, and what is known of it.
pub(super) struct Turns {
    ns: Namespace,
    file: GraphFile,
    scope: GraphScope,
    /// Calls that change the graph share it; whoever writes the file is alone behind it.
    gate: Arc<RwLock<()>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    lock: Option<FolderLock>,
    /// The file when graph and file were last in step.
    seen: Option<Seen>,
    /// The graph's version that the file has.
    written: i64,
    /// The graph has what the file does not, of an earlier call.
    is_owed: bool,
    failure: Option<String>,
    /// What the next answer has to say.
    notices: Vec<String>,
}

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
enum NotWritten {
    #[error(transparent)]
    Disk(#[from] io::Error),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// What became of a file's content.
struct TakenIn {
    written: i64,
    is_owed: bool,
    notices: Vec<String>,
}

impl TakenIn {
    fn quietly(written: i64, is_owed: bool) -> Self {
        Self { written, is_owed, notices: Vec::new() }
    }
}

/// A call's turn at a graph that it changes.
pub(super) struct Turn<'a> {
    memory: &'a Memory,
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

    /// Brings a graph and its file in step, as at the start of a process.
    pub async fn bind_graph_file(&self, ns: &Namespace, file: &GraphFile) -> Result<(), EngineError> {
        let turns = self.turns(ns, &GraphScope::File(file.clone()));
        match turns {
            Some(turns) => turns.catch_up_alone(self, true).await,
            None => Ok(()),
        }
    }

    /// The files that graphs of this namespace are kept in step with by this process.
    pub fn graph_files(&self, ns: &Namespace) -> Vec<FileHealth> {
        let files = self.graph_files.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut health: Vec<FileHealth> = files
            .values()
            .filter(|turns| turns.ns == *ns)
            .map(|turns| FileHealth {
                path: turns.file.path().to_owned(),
                // Whoever is at it will know better in a moment.
                failure: turns.state.try_lock().ok().and_then(|state| state.failure.clone()),
            })
            .collect();
        health.sort_by(|a, b| a.path.cmp(&b.path));
        health
    }

    fn turns(&self, ns: &Namespace, scope: &GraphScope) -> Option<Arc<Turns>> {
        let GraphScope::File(file) = scope else { return None };
        let mut files = self.graph_files.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let turns = files.entry((ns.clone(), file.clone())).or_insert_with(|| {
            Arc::new(Turns {
                ns: ns.clone(),
                file: file.clone(),
                scope: scope.clone(),
                gate: Arc::default(),
                state: Mutex::default(),
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
            Some(turns) => Ok(turns.state.lock().await.notice()),
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
        let is_as_seen = turns.is_as_seen(&*turns.state.lock().await).await?;
        if !is_as_seen {
            turns.catch_up_alone(self, false).await?;
        }
        Ok(Some(turns))
    }

    /// Before a graph is changed; [`Turn::end`] comes after.
    pub(super) async fn turn(&self, ns: &Namespace, scope: &GraphScope) -> Result<Turn<'_>, EngineError> {
        let at_file = match self.turns(ns, scope) {
            None => None,
            Some(turns) => {
                let shared = Some(turns.enter(self).await?);
                Some(AtFile { turns, shared })
            }
        };
        Ok(Turn { memory: self, at_file })
    }
}

impl Turn<'_> {
    /// After the change: it is in the file when this returns, or the answer says why it is not.
    pub(super) async fn end<T>(
        self,
        changed: Result<Changed<T>, EngineError>,
    ) -> Result<Changed<T>, EngineError> {
        let Some(mut at_file) = self.at_file else { return changed };
        at_file.shared = None;
        let version = changed.as_ref().ok().and_then(|changed| changed.version);
        let mut state = at_file.turns.leave(self.memory, version).await;
        let mut changed = changed?;
        changed.warning = state.notice();
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

impl Turns {
    /// Comes in for a change, with everyone else who does.
    async fn enter(&self, memory: &Memory) -> Result<OwnedRwLockReadGuard<()>, EngineError> {
        let shared = Arc::clone(&self.gate).read_owned().await;
        let mut state = self.state.lock().await;
        let entered = match self.lock_folder(&mut state).await {
            Ok(()) => self.catch_up(memory, &mut state).await,
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
    async fn leave(&self, memory: &Memory, version: Option<i64>) -> MutexGuard<'_, State> {
        let _alone = self.gate.write().await;
        let mut state = self.state.lock().await;
        if state.is_owed || version.is_some_and(|version| version > state.written) {
            self.settle(memory, &mut state).await;
        }
        state.lock = None;
        state
    }

    /// Takes in what the file has, and writes what is owed, without a change.
    async fn catch_up_alone(&self, memory: &Memory, is_first: bool) -> Result<(), EngineError> {
        let _alone = self.gate.write().await;
        let mut state = self.state.lock().await;
        let mut caught_up = self.lock_folder(&mut state).await;
        if caught_up.is_ok() {
            if is_first {
                disk::remove_drafts(self.file.path());
            }
            caught_up = self.catch_up(memory, &mut state).await;
        }
        if caught_up.is_ok() && state.is_owed {
            self.settle(memory, &mut state).await;
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

    async fn is_as_seen(&self, state: &State) -> Result<bool, EngineError> {
        let now = Stamp::of(self.file.path()).await.map_err(|error| self.unreadable(&error))?;
        Ok(state.seen.is_some_and(|seen| seen.still_is(now)))
    }

    /// Takes in what somebody else has written to the file.
    async fn catch_up(&self, memory: &Memory, state: &mut State) -> Result<(), EngineError> {
        if self.is_as_seen(state).await? {
            return Ok(());
        }
        let taken_in = async {
            let (content, seen) =
                disk::read(self.file.path()).await.map_err(|error| self.unreadable(&error))?;
            let taken_in = memory.persist(|| self.take_in(memory, content.as_deref())).await?;
            Ok::<_, EngineError>((taken_in, seen))
        };
        match taken_in.await {
            Ok((taken_in, seen)) => {
                state.seen = Some(seen);
                state.written = taken_in.written;
                state.is_owed = taken_in.is_owed;
                state.notices.extend(taken_in.notices);
                state.failure = state.failure.take().filter(|_| state.is_owed);
                Ok(())
            }
            Err(error) => {
                state.failure = Some(error.to_string());
                Err(error)
            }
        }
    }

    async fn take_in(&self, memory: &Memory, content: Option<&[u8]>) -> Result<TakenIn, EngineError> {
        let (ns, scope) = (&self.ns, &self.scope);
        let sha256 = content.map(disk::sha256);
        let mut conn = memory.store.acquire().await?;
        match (graph::last_in_step(&mut conn, ns, scope).await?, sha256) {
            (None, None) => return Ok(TakenIn::quietly(0, false)),
            (Some((thread, None)), None) => return Ok(TakenIn::quietly(0, thread.version > 0)),
            (Some((thread, Some(last))), sha256) if last.sha256 == sha256 => {
                return Ok(TakenIn::quietly(last.version, thread.version > last.version));
            }
            _ => {}
        }
        drop(conn);
        let mut tx = memory.store.begin().await?;
        let thread = graph::lock_thread(&mut tx, ns, scope).await?;
        let last = graph::last_in_step(&mut tx, ns, scope).await?.and_then(|(_, last)| last);
        let before = thread.version - 1;
        let is_ahead = before > last.map_or(0, |last| last.version);
        let Some(content) = content else {
            // Whoever deleted it wants to begin anew, unless the graph has what the file never had.
            let written = if is_ahead { before } else { thread.version };
            if !is_ahead {
                tracing::info!(
                    file = self.file.path(),
                    "the graph's file was deleted: the graph begins anew"
                );
                graph::clear(&mut tx, &thread).await?;
            }
            graph::note_in_step(&mut tx, &thread, InStep { version: written, sha256: None }).await?;
            tx.commit().await?;
            memory.graph_was_changed();
            return Ok(TakenIn::quietly(written, is_ahead));
        };
        if is_ahead {
            let united = unite(&mut tx, &thread, content, content.len() as u64, &unreported).await;
            let united = united.map_err(|error| self.damaged(error))?;
            let mut notices = united.warnings.clone();
            if united.has_changed() {
                notices.push(format!(
                    "{} was changed by another program while the graph had changes that were not in it: both are kept.",
                    self.file.path()
                ));
            }
            graph::note_in_step(&mut tx, &thread, InStep { version: before, sha256 }).await?;
            tx.commit().await?;
            memory.graph_was_changed();
            return Ok(TakenIn { written: before, is_owed: true, notices });
        }
        let replaced = replace(&mut tx, &thread, content).await.map_err(|error| self.damaged(error))?;
        let written = if replaced.has_changed { thread.version } else { before };
        if replaced.has_changed {
            graph::note_in_step(&mut tx, &thread, InStep { version: written, sha256 }).await?;
            tx.commit().await?;
            memory.graph_was_changed();
        } else {
            drop(tx);
            let mut conn = memory.store.acquire().await?;
            if let Some(thread) = graph::find_thread(&mut conn, ns, scope).await? {
                graph::note_in_step(&mut conn, &thread, InStep { version: written, sha256 }).await?;
            }
        }
        Ok(TakenIn { written, is_owed: false, notices: replaced.warning.into_iter().collect() })
    }

    /// Writes the file; what keeps it from being written is what the next answer says.
    async fn settle(&self, memory: &Memory, state: &mut State) {
        state.is_owed = true;
        match self.write(memory, state).await {
            Ok(()) => {
                state.is_owed = false;
                state.failure = None;
            }
            Err(error) => {
                let failure = format!(
                    "The graph's file {} was not written: {}. The change is kept and will be in the file as soon as a \
                     later one can be written there.",
                    self.file.path(),
                    error.to_string().trim_end_matches('.')
                );
                tracing::warn!(failure);
                state.notices.push(failure.clone());
                state.failure = Some(failure);
            }
        }
    }

    async fn write(&self, memory: &Memory, state: &mut State) -> Result<(), NotWritten> {
        for _ in 0..ATTEMPTS {
            self.catch_up(memory, state).await?;
            if self.try_write(memory, state).await? {
                return Ok(());
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "another program keeps writing it").into())
    }

    /// `false` when somebody else has written the file meanwhile.
    async fn try_write(&self, memory: &Memory, state: &mut State) -> Result<bool, NotWritten> {
        let mut tx = memory.store.begin_snapshot().await.map_err(EngineError::from)?;
        let thread = graph::find_thread(&mut tx, &self.ns, &self.scope).await.map_err(EngineError::from)?;
        let Some(thread) = thread else { return Ok(true) };
        let mut draft = Draft::begin(self.file.path())?;
        let mut lines = GraphLines::new(&mut tx, &thread);
        while let Some(part) = lines.next_part().await.map_err(EngineError::from)? {
            draft.write(&part).await?;
        }
        drop(tx);
        draft.sync().await?;
        let now = Stamp::of(self.file.path()).await?;
        if !state.seen.is_some_and(|seen| seen.seems_to_be(now)) {
            return Ok(false);
        }
        let (sha256, seen) = draft.put_in_place().await?;
        state.seen = Some(seen);
        state.written = thread.version;
        let in_step = InStep { version: thread.version, sha256: Some(sha256) };
        let noted = async {
            let mut conn = memory.store.acquire().await?;
            graph::note_in_step(&mut conn, &thread, in_step).await
        };
        if let Err(error) = noted.await {
            // The next process finds a file that it does not know, reads it, and finds the graph as it is.
            tracing::warn!(%error, "the writing of a graph's file was not noted");
        }
        Ok(true)
    }

    fn unreadable(&self, error: &io::Error) -> EngineError {
        Invalid::new(format!(
            "The graph's file {} cannot be read: {error}. Nothing was changed; make it readable, or set MEMORY_FILE_PATH \
             to another.",
            self.file.path()
        ))
        .into()
    }

    /// What is wrong with the content is said together with where it is.
    fn damaged(&self, error: EngineError) -> EngineError {
        match error {
            EngineError::Invalid(reason) => Invalid::new(format!(
                "The graph's file {} is damaged, and left as it is. {}",
                self.file.path(),
                reason.0
            ))
            .into(),
            other => other,
        }
    }
}
