//! A graph, the file that it is kept in, and what importing and writing that work with.

use std::sync::Arc;

use memory_core::graph::{GraphFile, GraphScope};
use memory_core::id::Namespace;
use memory_store::Store;
use memory_store::graph::{self, InStep, Thread};

use super::import_progress::ImportProgress;
use crate::graph::watched::WatchedGraphs;

/// A graph and its file. Importing and writing it need the locks of [`GraphFileSync`](super::GraphFileSync).
pub(super) struct FiledGraph {
    pub(super) store: Store,
    pub(super) watched: Arc<WatchedGraphs>,
    pub(super) ns: Namespace,
    pub(super) file: GraphFile,
    pub(super) scope: GraphScope,
    pub(super) progress: ImportProgress,
}

impl FiledGraph {
    pub(super) fn path(&self) -> &str {
        self.file.path()
    }

    /// Notes that the file has this version of the graph.
    pub(super) async fn note_written(&self, thread: &Thread, in_step: InStep) {
        let noted = async {
            let mut tx = self.store.begin(&self.ns).await?;
            tx.may_be_lost().await?;
            graph::note_in_step(&mut tx, thread, in_step).await?;
            tx.commit().await
        };
        if let Err(error) = noted.await {
            // The next process finds a file that it does not know, reads it, and finds the graph as it is.
            tracing::warn!(%error, "failed to note that a graph's file was written");
        }
    }
}

/// The state of graph and file after an import.
pub(super) struct Imported {
    /// The version of the graph that the file has.
    pub(super) written: i64,
    /// The graph has what the file does not.
    pub(super) is_unwritten: bool,
    pub(super) notices: Vec<String>,
}

impl Imported {
    pub(super) fn silent(written: i64, is_unwritten: bool) -> Self {
        Self { written, is_unwritten, notices: Vec::new() }
    }
}
