//! What passes between a graph and its file: the import of what others wrote, and the writing, with the text that was written
//! last kept for the next time.

use std::io;
use std::mem;
use std::sync::Arc;

use memory_store::StoreError;
use memory_store::graph::{self, InStep};

use super::super::compose::{CACHE_IDLE, CachedFile, compose};
use super::super::disk::{self, Draft};
use super::super::filed_graph::{FiledGraph, Imported};
use super::{GraphFileSync, State};
use crate::EngineError;

/// How often a file is written again that another program changed meanwhile.
const ATTEMPTS: usize = 5;

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
enum NotWritten {
    #[error(transparent)]
    Disk(#[from] io::Error),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<StoreError> for NotWritten {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl State {
    /// The file has what this process wrote there last.
    fn has_written(&self, content: Option<&[u8]>) -> bool {
        self.seen.is_some()
            && self.cache.as_ref().is_some_and(|cache| content == Some(&cache.composed.text[..]))
    }
}

impl GraphFileSync {
    /// Imports what another program has written to the file. The folder is locked.
    pub(super) async fn import_changes(&self, state: &mut State) -> Result<(), EngineError> {
        let now = self.stamp().await?;
        if state.seen.is_some_and(|seen| seen.still_is(now)) {
            return Ok(());
        }
        let imported = async {
            let read = self.on_disk(|path| disk::read(&path)).await?;
            let (content, seen) = read.map_err(|error| self.unreadable(&error))?;
            if state.has_written(content.as_deref()) {
                return Ok((Imported::silent(state.written, state.is_unwritten), seen));
            }
            Ok::<_, EngineError>((self.file.import(content.as_deref()).await?, seen))
        };
        let imported = imported.await;
        match imported {
            Ok((imported, seen)) => {
                state.seen = Some(seen);
                state.written = imported.written;
                state.is_unwritten = imported.is_unwritten;
                state.notices.extend(imported.notices);
                state.failure = state.failure.take().filter(|_| state.is_unwritten);
                Ok(())
            }
            Err(error) => {
                state.failure = Some(error.to_string());
                Err(error)
            }
        }
    }

    /// Writes the file; why it could not be written is said by the next answer.
    pub(super) async fn write_or_note(self: &Arc<Self>, state: &mut State) {
        state.is_unwritten = true;
        match self.write(state).await {
            Ok(()) => {
                state.is_unwritten = false;
                state.failure = None;
                self.drop_cache_when_idle(state);
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

    async fn write(&self, state: &mut State) -> Result<(), NotWritten> {
        for _ in 0..ATTEMPTS {
            self.import_changes(state).await?;
            let FiledGraph { store, ns, scope, .. } = &self.file;
            let mut tx = store.begin_snapshot(ns).await?;
            let thread = graph::find_thread(&mut tx, ns, scope).await?;
            // Nothing was ever stored of the graph.
            let Some(thread) = thread else { return Ok(()) };
            let draft = Draft::begin(self.file.path().as_ref())?;
            let old = state.cache.take().map(|cache| cache.composed).unwrap_or_default();
            let composed = Arc::new(compose(&mut tx, &thread, &old).await?);
            drop((tx, old));
            let (seen, new) = (state.seen, Arc::clone(&composed));
            let written = self.on_disk(move |path| draft.replace(&path, &new.text, seen)).await??;
            state.cache = CachedFile::keep(composed, &self.cache_budget);
            if let Some(written) = written {
                state.seen = Some(written.seen);
                state.written = thread.version;
                let in_step = InStep { version: thread.version, sha256: Some(written.sha256) };
                self.file.note_written(&thread, in_step).await;
                return Ok(());
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "another program keeps writing it").into())
    }

    /// Starts the task that drops the cache when nothing was written for a while.
    fn drop_cache_when_idle(self: &Arc<Self>, state: &mut State) {
        if state.cache.is_none() || mem::replace(&mut state.cache_is_watched, true) {
            return;
        }
        let sync = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(CACHE_IDLE).await;
                let Some(sync) = sync.upgrade() else { return };
                let mut state = sync.state.lock().await;
                if state.cache.as_ref().is_none_or(CachedFile::is_idle) {
                    state.cache = None;
                    state.cache_is_watched = false;
                    return;
                }
            }
        });
    }
}
