//! The archive of a namespace: everything that cannot be derived, out as lines and in again.
//!
//! Coming in, it is one transaction. What the namespace has already stays as it is, so an archive may come in
//! twice, or into a namespace that has a life of its own. Passages and indexes are made anew; vectors and
//! events by jobs.

mod decisions;
mod export;
mod graph;
mod import;
mod whole;

pub use self::whole::Whole;

use std::sync::Arc;

use futures::future::BoxFuture;
use memory_core::id::Namespace;
use memory_store::Store;
use serde::{Deserialize, Serialize};

use crate::EngineError;
use crate::graph::KnowledgeGraph;
use crate::progress::Report;
use crate::settings::EngineSettings;
use crate::streams::{Input, Output};

/// How many rows of each kind went out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchiveExported {
    pub artifacts: u64,
    pub revisions: u64,
    pub threads: u64,
    pub entities: u64,
    /// Every version counts.
    pub observations: u64,
    pub relations: u64,
    /// Revisions with what was found in them.
    pub extractions: u64,
    /// Decisions of people about entities: merges and rejections.
    pub decisions: u64,
}

/// What became of the rows of one kind that came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    pub created: u64,
    /// They were there before.
    pub known: u64,
}

impl Tally {
    fn count(&mut self, is_new: bool) {
        if is_new {
            self.created += 1;
        } else {
            self.known += 1;
        }
    }
}

/// What became of the lines that came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ArchiveImported {
    pub artifacts: Tally,
    pub revisions: Tally,
    pub threads: Tally,
    pub entities: Tally,
    /// Every version counts.
    pub observations: Tally,
    pub relations: Tally,
    pub extractions: Tally,
    /// One that contradicts what was decided here counts as known: it changes nothing.
    pub decisions: Tally,
}

impl ArchiveImported {
    fn has_changed(&self) -> bool {
        let all = [
            self.artifacts,
            self.revisions,
            self.threads,
            self.entities,
            self.observations,
            self.relations,
            self.extractions,
            self.decisions,
        ];
        all.iter().any(|tally| tally.created > 0)
    }
}

/// All that a namespace holds, as lines.
#[derive(Clone)]
pub struct Archive {
    store: Store,
    settings: Arc<EngineSettings>,
    graph: KnowledgeGraph,
}

impl Archive {
    pub(crate) fn new(store: Store, settings: Arc<EngineSettings>, graph: KnowledgeGraph) -> Self {
        Self { store, settings, graph }
    }

    /// Writes one state of the namespace, with what was extracted if that is wanted. It is not held in memory.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn export<'a>(
        &'a self,
        ns: &'a Namespace,
        with_events: bool,
        out: Output<'a>,
        report: Report<'a>,
    ) -> BoxFuture<'a, Result<ArchiveExported, EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin_snapshot(ns).await?;
            tx.allow_pauses().await?;
            export::export(&mut tx, ns, with_events, out, report).await
        })
    }

    /// Adds to the namespace what the lines say: all of it, or nothing when one of them cannot be taken.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn import<'a>(
        &'a self,
        ns: &'a Namespace,
        from: Input<'a>,
        total_bytes: u64,
        report: Report<'a>,
    ) -> BoxFuture<'a, Result<ArchiveImported, EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin(ns).await?;
            tx.allow_pauses().await?;
            let imported = import::import(&mut tx, ns, &self.settings, from, total_bytes, report).await?;
            if imported.has_changed() {
                tx.commit().await?;
                self.graph.announce_change();
            }
            Ok(imported)
        })
    }
}
