//! Telling who wants to know that a graph has changed, whichever process changed it.
//!
//! The truth is the version in the database: it is looked up at every poll interval as long as anybody
//! watches. Hints of this process and of others only make it sooner.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use memory_core::Invalid;
use memory_core::graph::GraphScope;
use memory_core::id::Namespace;
use memory_store::graph::{self, Thread};
use memory_store::{Hints, StoreError, Topic, Tx, jobs};
use tokio::sync::{Notify, watch};

use super::Changed;
use crate::memory::{chain, locked};
use crate::{EngineError, Memory};

/// Most watchers of one process; each is a connection of a client that waits.
const WATCHERS_MAX: usize = 1_000;
/// Changes that follow one another so fast are told as one.
const COALESCED: Duration = Duration::from_millis(50);

type Graph = (Namespace, GraphScope);

/// The graphs that somebody of this process watches.
#[derive(Default)]
pub(crate) struct WatchedGraphs {
    versions: Mutex<HashMap<Graph, watch::Sender<i64>>>,
    /// There may be something to see: a change of this process, or a new watcher.
    look: Notify,
    /// A change of this process, for the other ones.
    pub(crate) changed_here: Notify,
}

impl WatchedGraphs {
    fn enter(&self, graph: Graph) -> Result<watch::Receiver<i64>, Invalid> {
        let mut versions = locked(&self.versions);
        if versions.values().map(watch::Sender::receiver_count).sum::<usize>() >= WATCHERS_MAX {
            return Err(Invalid::new(format!(
                "This server tells {WATCHERS_MAX} subscribers of changes and has no place for another. Read again when you need to know."
            )));
        }
        let receiver = versions.entry(graph).or_insert_with(|| watch::Sender::new(0)).subscribe();
        self.look.notify_one();
        Ok(receiver)
    }

    /// Tells who watches that something was committed.
    pub(super) fn were_changed(&self) {
        self.look.notify_one();
        self.changed_here.notify_one();
    }

    /// The graphs that are still watched.
    fn watched(&self) -> Vec<Graph> {
        let mut versions = locked(&self.versions);
        versions.retain(|_, version| version.receiver_count() > 0);
        versions.keys().cloned().collect()
    }

    fn tell(&self, graphs: &[Graph], seen: Vec<i64>) {
        let versions = locked(&self.versions);
        for (graph, seen) in graphs.iter().zip(seen) {
            if let Some(version) = versions.get(graph) {
                version.send_if_modified(|known| std::mem::replace(known, seen) != seen);
            }
        }
    }
}

/// Sees a graph change. Dropped, it watches no more.
pub struct GraphWatch {
    seen: i64,
    version: watch::Receiver<i64>,
}

impl GraphWatch {
    /// Waits until the graph is another than at the last call, or than when it was watched first. Any number
    /// of changes since then count as one.
    pub async fn changed(&mut self) {
        let seen = self.seen;
        let newer = self.version.wait_for(|version| *version > seen).await.map(|version| *version);
        match newer {
            Ok(version) => self.seen = version,
            // The memory is gone, and its graphs will never change.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Memory {
    /// Watches a graph from its present state on.
    pub async fn watch_graph(&self, ns: &Namespace, scope: &GraphScope) -> Result<GraphWatch, EngineError> {
        let graph = (ns.clone(), scope.clone());
        // First the place, then the state: what changes between the two is seen.
        let version = self.graphs.enter(graph.clone())?;
        let graphs = [graph];
        let seen = self.persist(|| async { Ok(self.versions_of(&graphs).await?) }).await?;
        Ok(GraphWatch { seen: seen.into_iter().max().unwrap_or_default(), version })
    }

    async fn versions_of(&self, graphs: &[Graph]) -> Result<Vec<i64>, StoreError> {
        graph::versions(&mut *self.store.acquire().await?, graphs).await
    }

    /// Commits a change of a graph and tells who watches it. Every change ends here.
    pub(crate) async fn commit_change<T>(
        &self,
        mut tx: Tx,
        thread: &Thread,
        answer: T,
    ) -> Result<Changed<T>, EngineError> {
        jobs::queue_indexing(&mut tx, thread).await?;
        tx.commit().await?;
        self.graph_was_changed();
        Ok(Changed::to(thread, answer))
    }

    /// Tells who watches that something was committed, and who indexes it.
    pub(crate) fn graph_was_changed(&self) {
        self.wake_worker();
        self.graphs.were_changed();
    }

    /// Looks after the watched graphs of this process; runs until it is dropped.
    pub async fn follow_graphs(&self) {
        let mut hints = None;
        loop {
            let graphs = self.graphs.watched();
            if graphs.is_empty() {
                hints = None;
                self.graphs.look.notified().await;
                continue;
            }
            if hints.is_none() {
                hints = self.store.listen_for(Topic::Graphs).await.ok();
            }
            for (ns, scope) in &graphs {
                self.look_at_file(ns, scope).await;
            }
            match self.versions_of(&graphs).await {
                Ok(versions) => self.graphs.tell(&graphs, versions),
                Err(error) => {
                    tracing::debug!(error = %chain(&error), "watched graphs will be looked at again");
                }
            }
            self.wait_to_look(&mut hints).await;
        }
    }

    async fn wait_to_look(&self, hints: &mut Option<Hints>) {
        let hint = async {
            match hints {
                Some(listening) => listening.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.graphs.look.notified() => {}
            heard = hint => if heard.is_err() { *hints = None },
            () = tokio::time::sleep(self.settings.poll_interval) => return,
        }
        tokio::time::sleep(COALESCED).await;
    }
}
