//! Where the graph of a connection is: in the threads of its namespace, or in a file that it brings.

use std::path::PathBuf;
use std::sync::Arc;

use memory_core::Invalid;
use memory_core::graph::{GraphFile, GraphReach, GraphScope, ThreadId, shown_thread};
use memory_core::id::Namespace;
use memory_engine::graph::KnowledgeGraph;

use super::ToolRegistry;

#[derive(Debug, Clone)]
pub(crate) enum GraphHome {
    Threads,
    File(GraphFile),
    /// Why there is none.
    Unusable(Invalid),
}

impl GraphHome {
    /// Brings a file that is named in step with its graph as soon as the memory is there; for a connection that
    /// only reads, nothing is made, renamed or written.
    pub(crate) async fn open(
        file: Option<PathBuf>,
        is_read_only: bool,
        registry: &Arc<ToolRegistry>,
        namespace: &Namespace,
    ) -> Self {
        let Some(path) = file else { return Self::Threads };
        let resolved = if is_read_only {
            KnowledgeGraph::locate_file(path).await
        } else {
            KnowledgeGraph::resolve_file(path).await
        };
        let file = match resolved {
            Ok(file) => file,
            Err(error) => return Self::Unusable(error),
        };
        let (registry, namespace, bound) = (Arc::clone(registry), namespace.clone(), file.clone());
        tokio::spawn(async move {
            let Ok(memory) = registry.memory().await else { return };
            let in_step = if is_read_only {
                memory.graph().import_file(&namespace, &bound).await
            } else {
                memory.graph().bind_file(&namespace, &bound).await
            };
            if let Err(error) = in_step {
                tracing::warn!(%error, "a graph and its file are not in step yet");
            }
        });
        Self::File(file)
    }

    /// The graph that a call means: the thread that it names, else the connection's file or the default thread.
    pub(crate) fn scope(&self, thread_id: Option<String>) -> Result<GraphScope, Invalid> {
        let named = thread_id.filter(|id| !id.trim().is_empty());
        if let (Self::File(file), Some(name)) = (self, &named) {
            let own = GraphScope::File(file.clone());
            // As facts call it.
            if shown_thread(&own.thread_name()) == name.trim() {
                return Ok(own);
            }
        }
        let named = named.map(|id| ThreadId::new(&id)).transpose()?;
        match (self, named) {
            (Self::Unusable(error), _) => Err(error.clone()),
            (Self::Threads, None) => Ok(GraphScope::default()),
            (Self::Threads, Some(thread)) => Ok(GraphScope::Thread(thread)),
            (Self::File(_), Some(thread)) if thread != ThreadId::default() => Ok(GraphScope::Thread(thread)),
            (Self::File(file), _) => Ok(GraphScope::File(file.clone())),
        }
    }

    /// What facts may come from: the graph that a call names, else all threads and the connection's file.
    pub(crate) fn reach(&self, thread_id: Option<String>) -> Result<GraphReach, Invalid> {
        match thread_id.filter(|id| !id.trim().is_empty()) {
            Some(id) => Ok(GraphReach::One(self.scope(Some(id))?)),
            None => Ok(GraphReach::Threads { own_file: self.file().cloned() }),
        }
    }

    pub(crate) fn file(&self) -> Option<&GraphFile> {
        match self {
            Self::File(file) => Some(file),
            Self::Threads | Self::Unusable(_) => None,
        }
    }
}
