//! The knowledge graph that clients write themselves: [`KnowledgeGraph`] and its verbs, each in the file of its name.

pub(crate) mod changed;
pub(crate) mod merge_lines;
pub(crate) mod watched;

mod analytics;
mod files;
mod page;
mod read;
mod save;
mod sought;
mod transfer;
mod versions;
mod watch;
mod write;

use std::sync::Arc;

use memory_store::Store;
use tokio::sync::Notify;

use self::watched::WatchedGraphs;
use crate::graph_file::GraphFiles;
use crate::recovery::Recovery;
use crate::settings::EngineSettings;
use crate::signals::Signals;

pub use analytics::{Analytics, Listed, PATH_DEPTH_MAX, RelationPath, Step, list_limit, path_depth};
pub use changed::{Changed, Warning};
pub use files::{FileHealth, KnownFile};
pub use merge_lines::GraphImported;
pub use page::{GraphPage, More, PageEntity};
pub use read::WholeGraph;
pub use save::{Merges, Saved};
pub use transfer::GraphExported;
pub use versions::{History, HistoryRequest, ObservationUpdate};
pub use watched::GraphWatch;

/// The graphs of all namespaces, in threads of their own; some are kept in files. Clones share what they watch.
#[derive(Clone)]
pub struct KnowledgeGraph {
    store: Store,
    recovery: Recovery,
    settings: Arc<EngineSettings>,
    signals: Signals,
    watched: Arc<WatchedGraphs>,
    files: GraphFiles,
}

impl KnowledgeGraph {
    pub(crate) fn new(
        store: Store,
        recovery: Recovery,
        settings: Arc<EngineSettings>,
        signals: Signals,
    ) -> Self {
        let watched = Arc::<WatchedGraphs>::default();
        let files = GraphFiles::new(store.clone(), Arc::clone(&watched), settings.file_patience);
        Self { store, recovery, settings, signals, watched, files }
    }

    /// Notified when this process has changed a graph.
    pub(crate) fn changed_here(&self) -> &Notify {
        &self.watched.changed_here
    }

    /// Notifies watchers and the indexing job of a committed change.
    pub(crate) fn announce_change(&self) {
        self.signals.wake_worker();
        self.watched.announce_change();
    }
}
