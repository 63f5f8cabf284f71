//! Graphs that are kept in files: bound, looked at, and deleted when the file is gone.
//!
//! The file is the truth. A graph whose file is gone answers nothing, but it is kept for a while: the file may be back, on
//! a disk that was not mounted, and the graph has more than the file, such as former versions.

use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use memory_core::Invalid;
use memory_core::graph::{GraphFile, GraphReach, GraphScope};
use memory_core::id::Namespace;
use memory_store::graph::{self, FiledGraph};

use super::KnowledgeGraph;
use super::changed::Changed;
use crate::EngineError;
use crate::graph_file::{CatchUp, WriteGuard, path};

/// For so long the graph of a file that is gone is kept.
const GONE_KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Whether a graph and its file are in step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHealth {
    /// Of the file, without its folder.
    pub name: String,
    /// Why they are not in step.
    pub failure: Option<String>,
}

/// A graph of a file, and whether the file is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    pub stored: FiledGraph,
    pub is_there: bool,
}

impl KnowledgeGraph {
    /// Finds out where a graph's file is; see `graph_file/path.rs`.
    pub fn resolve_file(path: PathBuf) -> BoxFuture<'static, Result<GraphFile, Invalid>> {
        Box::pin(async move {
            tokio::task::spawn_blocking(move || path::resolve_graph_file(&path))
                .await
                .unwrap_or_else(|_| Err(Invalid::new("The path of the graph's file could not be looked up.")))
        })
    }

    /// The same without making or renaming anything, for commands that only read.
    pub fn locate_file(path: PathBuf) -> BoxFuture<'static, Result<GraphFile, Invalid>> {
        Box::pin(async move {
            tokio::task::spawn_blocking(move || path::locate_graph_file(&path))
                .await
                .unwrap_or_else(|_| Err(Invalid::new("The path of the graph's file could not be looked up.")))
        })
    }

    /// Brings a graph and its file in step, as at the start of a process.
    pub fn bind_file<'a>(
        &'a self,
        ns: &'a Namespace,
        file: &'a GraphFile,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        Box::pin(async move {
            match self.files.of_scope(ns, &GraphScope::File(file.clone())) {
                Some(sync) => sync.catch_up_and_unlock(CatchUp::ImportAndWrite).await,
                None => Ok(()),
            }
        })
    }

    /// Imports what a file has, and writes nothing there.
    pub fn import_file<'a>(
        &'a self,
        ns: &'a Namespace,
        file: &'a GraphFile,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        Box::pin(async move { self.refresh_from_file(ns, &GraphScope::File(file.clone())).await })
    }

    /// Whether a graph and its file are in step; `None` where this process does not keep them so.
    pub fn file_health(&self, ns: &Namespace, file: &GraphFile) -> Option<FileHealth> {
        let sync = self.files.in_use(ns, file)?;
        Some(FileHealth { name: file.name().to_owned(), failure: sync.failure() })
    }

    /// The reach without the connection's file where that is gone; `None` where nothing else is in reach. A file that others have
    /// changed is imported in the background.
    pub(crate) async fn still_there(&self, ns: &Namespace, reach: &GraphReach) -> Option<GraphReach> {
        let scope = reach.file().map(|file| GraphScope::File(file.clone()));
        match scope.and_then(|scope| self.files.of_scope(ns, &scope)) {
            Some(sync) if !sync.import_in_background().await => reach.clone().without_file(),
            _ => Some(reach.clone()),
        }
    }

    /// Starts an import of a watched file that others have changed.
    pub(super) async fn import_file_in_background(&self, ns: &Namespace, scope: &GraphScope) {
        if let Some(sync) = self.files.of_scope(ns, scope) {
            sync.import_in_background().await;
        }
    }

    /// Before a graph is read: what was written to its file is imported. Warnings are left to the next answer.
    pub(super) async fn refresh_from_file(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
    ) -> Result<(), EngineError> {
        match self.files.of_scope(ns, scope) {
            Some(sync) => sync.refresh().await,
            None => Ok(()),
        }
    }

    /// The same, giving the warnings for this answer.
    pub(super) async fn refresh_with_notice(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
    ) -> Result<Option<String>, EngineError> {
        let Some(sync) = self.files.of_scope(ns, scope) else { return Ok(None) };
        sync.refresh().await?;
        sync.take_notice().await
    }

    /// Before a graph is changed; [`end_write`] comes after.
    pub(super) async fn begin_write(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
    ) -> Result<Option<WriteGuard>, EngineError> {
        match self.files.of_scope(ns, scope) {
            Some(sync) => sync.begin_write().await.map(Some),
            None => Ok(None),
        }
    }

    /// The graphs of files that something is stored of, in one namespace or in all.
    pub fn list_files<'a>(
        &'a self,
        ns: Option<&'a Namespace>,
    ) -> BoxFuture<'a, Result<Vec<KnownFile>, EngineError>> {
        Box::pin(async move {
            let stored = self
                .recovery
                .retry_transient(|| async {
                    Ok(graph::filed_graphs(&mut *self.store.acquire_of(ns).await?, ns).await?)
                })
                .await?;
            let mut files = Vec::with_capacity(stored.len());
            for stored in stored {
                files.push(KnownFile { is_there: is_there(&stored.path).await, stored });
            }
            Ok(files)
        })
    }

    /// Deletes what is stored of the graph of a file that is gone. Gives how many entities that were.
    pub fn delete_file<'a>(
        &'a self,
        ns: &'a Namespace,
        path: &'a str,
    ) -> BoxFuture<'a, Result<i64, EngineError>> {
        Box::pin(async move {
            let known = self.list_files(Some(ns)).await?;
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
            self.clear_file_graph(ns, path).await?;
            Ok(known.stored.entities)
        })
    }

    /// Notes which files are gone, and deletes what is stored of those that have been for 30 days, unless it never came
    /// into the file. For a process on the machine that the files are on.
    pub fn tidy_files(&self) -> BoxFuture<'_, Result<(), EngineError>> {
        Box::pin(async move {
            for KnownFile { stored, is_there } in self.list_files(None).await? {
                let (Ok(ns), Ok(file)) = (Namespace::new(&stored.namespace), GraphFile::new(&stored.path))
                else {
                    continue;
                };
                let scope = GraphScope::File(file);
                graph::note_gone(&mut *self.store.acquire(&ns).await?, &ns, &scope, !is_there).await?;
                let long_gone =
                    stored.gone_since.is_some_and(|since| Timestamp::now().duration_since(since) > GONE_KEPT);
                if !is_there && long_gone && !stored.is_ahead {
                    self.clear_file_graph(&ns, &stored.path).await?;
                    tracing::info!(
                        entities = stored.entities,
                        "the graph of a file that is long gone was deleted"
                    );
                }
            }
            Ok(())
        })
    }

    async fn clear_file_graph(&self, ns: &Namespace, path: &str) -> Result<(), EngineError> {
        let scope = GraphScope::File(GraphFile::new(path)?);
        match self.files.of_scope(ns, &scope) {
            Some(sync) => self.recovery.retry_transient(|| sync.clear_graph()).await,
            None => Ok(()),
        }
    }
}

/// After a change: the file of the graph, if it has one, is written.
pub(super) async fn end_write<T>(
    guard: Option<WriteGuard>,
    changed: Result<Changed<T>, EngineError>,
) -> Result<Changed<T>, EngineError> {
    match guard {
        Some(guard) => guard.end(changed).await,
        None => changed,
    }
}

/// A path that cannot be looked at may be there.
async fn is_there(path: &str) -> bool {
    tokio::fs::try_exists(Path::new(path)).await.unwrap_or(true)
}
