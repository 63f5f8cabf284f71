//! The graphs that are watched in this process, with the version last seen of each.

use std::collections::HashMap;
use std::sync::Mutex;

use futures::future::BoxFuture;
use memory_core::Invalid;
use memory_core::graph::GraphScope;
use memory_core::id::Namespace;
use tokio::sync::{Notify, watch};

use crate::locking::locked;

/// Most watchers of one process; each is a connection of a client that waits.
const WATCHERS_MAX: usize = 1_000;
pub(super) type Graph = (Namespace, GraphScope);

/// The graphs that are watched in this process.
#[derive(Default)]
pub(crate) struct WatchedGraphs {
    versions: Mutex<HashMap<Graph, watch::Sender<i64>>>,
    /// There may be something to see: a change of this process, or a new watcher.
    pub(super) look: Notify,
    /// A change of this process, for the other ones.
    pub(crate) changed_here: Notify,
}

impl WatchedGraphs {
    pub(super) fn enter(&self, graph: Graph) -> Result<watch::Receiver<i64>, Invalid> {
        let mut versions = locked(&self.versions);
        if versions.values().map(watch::Sender::receiver_count).sum::<usize>() >= WATCHERS_MAX {
            return Err(Invalid::new(format!(
                "This server notifies {WATCHERS_MAX} subscribers of changes and has no place for another. Read again when you need to know."
            )));
        }
        let receiver = versions.entry(graph).or_insert_with(|| watch::Sender::new(0)).subscribe();
        self.look.notify_one();
        Ok(receiver)
    }

    /// Notifies watchers, here and in other processes, of a committed change.
    pub(crate) fn announce_change(&self) {
        self.look.notify_one();
        self.changed_here.notify_one();
    }

    /// The graphs that are still watched.
    pub(super) fn watched(&self) -> Vec<Graph> {
        let mut versions = locked(&self.versions);
        versions.retain(|_, version| version.receiver_count() > 0);
        versions.keys().cloned().collect()
    }

    pub(super) fn publish(&self, graphs: &[Graph], seen: Vec<i64>) {
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
    pub(super) seen: i64,
    pub(super) version: watch::Receiver<i64>,
}

impl GraphWatch {
    /// Waits until the graph is another than at the last call, or than when it was watched first. Any number
    /// of changes since then count as one.
    pub fn changed(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let seen = self.seen;
            let newer = self.version.wait_for(|version| *version > seen).await.map(|version| *version);
            match newer {
                Ok(version) => self.seen = version,
                // The memory is gone, and its graphs will never change.
                Err(_) => std::future::pending().await,
            }
        })
    }
}
