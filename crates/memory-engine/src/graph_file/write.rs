//! Writing a graph to its file, in one step.

use std::io;

use memory_store::StoreError;
use memory_store::graph::{self, InStep};

use super::disk::{Draft, Seen, Stamp};
use super::file_cache::{CacheBudget, CachedFile, ComposeError, Composing};
use super::filed_graph::FiledGraph;
use crate::EngineError;

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotWritten {
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

impl From<ComposeError> for NotWritten {
    fn from(error: ComposeError) -> Self {
        match error {
            ComposeError::Disk(error) => Self::Disk(error),
            ComposeError::Store(error) => error.into(),
        }
    }
}

/// The outcome of an attempt to write.
pub(super) enum Outcome {
    /// The file has this version of the graph.
    Written { version: i64, seen: Seen },
    /// Nothing was ever stored of the graph.
    NoGraph,
    /// Another program has written the file meanwhile; nothing was replaced.
    ChangedMeanwhile,
}

impl FiledGraph {
    /// Replaces the file if it is still as it was `seen`.
    pub(super) async fn write(
        &self,
        cache: &mut Option<CachedFile>,
        seen: Option<Seen>,
        budget: &CacheBudget,
    ) -> Result<Outcome, NotWritten> {
        let mut tx = self.store.begin_snapshot().await?;
        let thread = graph::find_thread(&mut tx, &self.ns, &self.scope).await?;
        let Some(thread) = thread else { return Ok(Outcome::NoGraph) };
        let mut draft = Draft::begin(self.path())?;
        let old = cache.take().unwrap_or_default();
        *cache = Composing::new(&mut tx, &thread, &mut draft, &old).compose(budget).await?;
        drop((tx, old));
        draft.sync().await?;
        let now = Stamp::of(self.path()).await?;
        if !seen.is_some_and(|seen| seen.seems_to_be(now)) {
            return Ok(Outcome::ChangedMeanwhile);
        }
        let (sha256, seen) = draft.put_in_place().await?;
        let in_step = InStep { version: thread.version, sha256: Some(sha256) };
        let noted = async {
            let mut tx = self.store.begin().await?;
            tx.may_be_lost().await?;
            graph::note_in_step(&mut tx, &thread, in_step).await?;
            tx.commit().await
        };
        if let Err(error) = noted.await {
            // The next process finds a file that it does not know, reads it, and finds the graph as it is.
            tracing::warn!(%error, "failed to note that a graph's file was written");
        }
        Ok(Outcome::Written { version: thread.version, seen })
    }
}
