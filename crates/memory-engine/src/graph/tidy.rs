//! Graphs whose file is gone: who sees to it that they are not kept for ever.
//!
//! The file is the truth. A graph whose file is gone answers nothing, but it is kept for a while: the file may be back, on
//! a disk that was not mounted, and the graph knows more of it than it says, such as former versions.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use memory_core::Invalid;
use memory_core::graph::{GraphFile, GraphScope};
use memory_core::id::Namespace;
use memory_store::graph::{self, FiledGraph, InStep};

use super::disk::Seen;
use super::file::Turns;
use crate::{EngineError, Memory};

/// For so long the graph of a file that is gone is kept.
const GONE_KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A graph of a file, and whether the file is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    pub stored: FiledGraph,
    pub is_there: bool,
}

impl Memory {
    /// The graphs of files that something is stored of, in one namespace or in all.
    pub async fn list_graph_files(&self, ns: Option<&Namespace>) -> Result<Vec<KnownFile>, EngineError> {
        let stored = self
            .persist(|| async { Ok(graph::filed_graphs(&mut *self.store.acquire().await?, ns).await?) })
            .await?;
        let mut files = Vec::with_capacity(stored.len());
        for stored in stored {
            files.push(KnownFile { is_there: is_there(&stored.path).await, stored });
        }
        Ok(files)
    }

    /// Deletes what is stored of the graph of a file that is gone. Gives how many entities that were.
    pub async fn delete_graph_file(&self, ns: &Namespace, path: &str) -> Result<i64, EngineError> {
        let known = self.list_graph_files(Some(ns)).await?;
        let Some(known) = known.into_iter().find(|known| known.stored.path == path) else {
            return Err(Invalid::new(format!(
                "Nothing is stored of a graph in {path}. `remembrancer graph-files list` shows the files there are."
            ))
            .into());
        };
        if known.is_there {
            return Err(Invalid::new(format!(
                "The file {path} is there, and its graph with it. Delete the file first."
            ))
            .into());
        }
        self.empty_graph_file(ns, path).await?;
        Ok(known.stored.entities)
    }

    /// Notes which files are gone, and deletes what is stored of those that have been for 30 days, unless it never came
    /// into the file. For a process on the machine that the files are on.
    pub async fn tidy_graph_files(&self) -> Result<(), EngineError> {
        for KnownFile { stored, is_there } in self.list_graph_files(None).await? {
            let (Ok(ns), Ok(file)) = (Namespace::new(&stored.namespace), GraphFile::new(&stored.path)) else {
                continue;
            };
            let scope = GraphScope::File(file);
            graph::note_gone(&mut *self.store.acquire().await?, &ns, &scope, !is_there).await?;
            let long_gone =
                stored.gone_since.is_some_and(|since| Timestamp::now().duration_since(since) > GONE_KEPT);
            if !is_there && long_gone && !stored.is_ahead {
                self.empty_graph_file(&ns, &stored.path).await?;
                tracing::info!(
                    entities = stored.entities,
                    "the graph of a file that is long gone was deleted"
                );
            }
        }
        Ok(())
    }

    async fn empty_graph_file(&self, ns: &Namespace, path: &str) -> Result<(), EngineError> {
        let scope = GraphScope::File(GraphFile::new(path)?);
        match self.turns(ns, &scope) {
            Some(turns) => self.persist(|| turns.empty()).await,
            None => Ok(()),
        }
    }
}

impl Turns {
    /// The graph begins anew, as after the deletion of its file. The thread stays, so that whoever knows its version
    /// sees a later one.
    async fn empty(&self) -> Result<(), EngineError> {
        let _alone = self.gate.write().await;
        let mut state = self.state.lock().await;
        if self.stamp().await?.is_some() {
            return Err(
                Invalid::new(format!("The file {} is back; nothing was deleted.", self.file.path())).into()
            );
        }
        let mut tx = self.store.begin().await?;
        let thread = graph::lock_thread(&mut tx, &self.ns, &self.scope).await?;
        graph::clear(&mut tx, &thread).await?;
        graph::note_in_step(&mut tx, &thread, InStep { version: thread.version, sha256: None }).await?;
        tx.commit().await?;
        state.seen = Some(Seen::new(None));
        state.written = thread.version;
        state.is_owed = false;
        state.failure = None;
        state.lines = None;
        self.graphs.were_changed();
        Ok(())
    }
}

/// A path that cannot be looked at may be there.
async fn is_there(path: &str) -> bool {
    tokio::fs::try_exists(Path::new(path)).await.unwrap_or(true)
}
