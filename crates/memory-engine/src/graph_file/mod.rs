//! Graphs that are kept in files. [`GraphFileSync`] keeps one graph and its file in step: it imports what others write
//! there before a call, and writes the file before a changing call answers.

pub(crate) mod path;

mod compose;
mod disk;
mod filed_graph;
mod import;
mod import_progress;
mod replace;
mod sync;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memory_core::graph::{GraphFile, GraphScope};
use memory_core::id::Namespace;
use memory_store::Store;

use self::compose::CacheBudget;
use self::sync::GraphFileSync;
pub(crate) use self::sync::{CatchUp, WriteGuard};
use crate::graph::watched::WatchedGraphs;
use crate::locking::locked;

type Syncs = HashMap<(Namespace, GraphFile), Arc<GraphFileSync>>;

/// The files of this process. Clones share them.
#[derive(Clone)]
pub(crate) struct GraphFiles {
    store: Store,
    watched: Arc<WatchedGraphs>,
    /// How long a call waits for others that use the same file.
    patience: Duration,
    cache_budget: CacheBudget,
    syncs: Arc<Mutex<Syncs>>,
}

impl GraphFiles {
    pub(crate) fn new(store: Store, watched: Arc<WatchedGraphs>, patience: Duration) -> Self {
        Self { store, watched, patience, cache_budget: CacheBudget::default(), syncs: Arc::default() }
    }

    /// `None` for a graph that is kept in the database alone.
    pub(crate) fn of_scope(&self, ns: &Namespace, scope: &GraphScope) -> Option<Arc<GraphFileSync>> {
        let GraphScope::File(file) = scope else { return None };
        let mut syncs = locked(&self.syncs);
        let sync = syncs.entry((ns.clone(), file.clone())).or_insert_with(|| {
            let (store, watched) = (self.store.clone(), Arc::clone(&self.watched));
            Arc::new(GraphFileSync::new(store, watched, ns, file, self.patience, self.cache_budget.clone()))
        });
        Some(Arc::clone(sync))
    }

    /// `None` where this process does not keep the file in step.
    pub(crate) fn in_use(&self, ns: &Namespace, file: &GraphFile) -> Option<Arc<GraphFileSync>> {
        locked(&self.syncs).get(&(ns.clone(), file.clone())).map(Arc::clone)
    }
}
