//! The knowledge graph: what its nine verbs do. Writing, reading, passing it on
//! and keeping it in step with a file stand below.

mod disk;
mod file;
mod intake;
mod lines;
mod read;
mod replace;
mod save;
mod survey;
mod tidy;
mod transfer;
mod versions;
mod watch;
mod write;

pub use file::FileHealth;
pub(crate) use file::GraphFiles;
use memory_store::graph::Thread;
pub use read::{GraphPage, More, PageEntity, WholeGraph};
pub use save::{Merges, Saved};
pub use survey::{Analytics, Listed, PATH_DEPTH_MAX, RelationPath, Step, list_limit, path_depth};
pub use tidy::KnownFile;
pub use transfer::{GraphExported, GraphImported};
pub use versions::{History, HistoryRequest, ObservationUpdate};
pub use watch::GraphWatch;
pub(crate) use watch::WatchedGraphs;

/// What a change gave, and the version that the graph has by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed<T> {
    pub answer: T,
    /// `None` when there was nothing to change.
    pub version: Option<i64>,
    /// What else there is to say, of a graph that is kept in a file.
    pub warning: Option<Warning>,
}

/// What is said beside an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub text: String,
    /// The change is stored, but not in the file yet.
    pub is_unwritten: bool,
}

impl<T> Changed<T> {
    fn nothing(answer: T) -> Self {
        Self { answer, version: None, warning: None }
    }

    fn to(thread: &Thread, answer: T) -> Self {
        Self { answer, version: Some(thread.version), warning: None }
    }
}
