//! Watching graphs for changes, whichever process makes them.
//!
//! The truth is the version in the database: it is looked up at every poll interval as long as a graph is watched. Hints
//! of this process and of others only make it sooner.

use std::time::Duration;

use futures::future::BoxFuture;
use memory_core::graph::GraphScope;
use memory_core::id::Namespace;
use memory_store::graph::{self, Thread};
use memory_store::{Hints, StoreError, Topic, Tx, jobs};

use super::watched::{Graph, GraphWatch};
use super::{Changed, KnowledgeGraph};
use crate::EngineError;
use crate::error::chain;

/// Changes within this time count as one.
const COALESCED: Duration = Duration::from_millis(50);

impl KnowledgeGraph {
    /// Watches a graph from its present state on.
    pub fn watch<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
    ) -> BoxFuture<'a, Result<GraphWatch, EngineError>> {
        Box::pin(async move {
            let graph = (ns.clone(), scope.clone());
            // First the place, then the state: what changes between the two is seen.
            let version = self.watched.enter(graph.clone())?;
            let graphs = [graph];
            let seen =
                self.recovery.retry_transient(|| async { Ok(self.versions_of(&graphs).await?) }).await?;
            Ok(GraphWatch { seen: seen.into_iter().max().unwrap_or_default(), version })
        })
    }

    async fn versions_of(&self, graphs: &[Graph]) -> Result<Vec<i64>, StoreError> {
        graph::versions(&mut *self.store.acquire_across().await?, graphs).await
    }

    /// Commits a change of a graph and notifies watchers. Every change ends here.
    pub(crate) async fn commit_change<T>(
        &self,
        mut tx: Tx,
        thread: &Thread,
        answer: T,
    ) -> Result<Changed<T>, EngineError> {
        jobs::queue_indexing(&mut tx, thread).await?;
        tx.commit().await?;
        self.announce_change();
        Ok(Changed::to(thread, answer))
    }

    /// Looks up the versions of the watched graphs of this process; runs until it is dropped.
    pub fn follow_changes(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut hints = None;
            loop {
                let graphs = self.watched.watched();
                if graphs.is_empty() {
                    hints = None;
                    self.watched.look.notified().await;
                    continue;
                }
                if hints.is_none() {
                    hints = self.store.listen_for(Topic::Graphs).await.ok();
                }
                for (ns, scope) in &graphs {
                    self.import_file_in_background(ns, scope).await;
                }
                match self.versions_of(&graphs).await {
                    Ok(versions) => self.watched.publish(&graphs, versions),
                    Err(error) => {
                        tracing::debug!(error = %chain(&error), "failed to check the watched graphs; trying again");
                    }
                }
                self.wait_to_look(&mut hints).await;
            }
        })
    }

    async fn wait_to_look(&self, hints: &mut Option<Hints>) {
        let hint = async {
            match hints {
                Some(listening) => listening.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.watched.look.notified() => {}
            heard = hint => if heard.is_err() { *hints = None },
            () = tokio::time::sleep(self.settings.poll_interval) => return,
        }
        tokio::time::sleep(COALESCED).await;
    }
}
