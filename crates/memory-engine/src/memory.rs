//! [`Memory`]: the semantic memory, and the way to the types that do everything else on the same database.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use jiff::Timestamp;
use memory_core::Invalid;
use memory_core::id::Namespace;
use memory_core::ports::{EmbeddingModel, Extractor};
use memory_store::vector::qdrant::Qdrant;
use memory_store::{Store, StoreError, Topic};

use crate::EngineError;
use crate::access::Access;
use crate::archive::Archive;
use crate::audit::Audit;
use crate::entity_review::EntityReview;
use crate::graph::KnowledgeGraph;
use crate::locking::locked;
use crate::mirror::VectorMirror;
use crate::model::{CurrentModel, ModelState};
use crate::oauth::OAuth;
use crate::observing::LastObserved;
use crate::operations::Operations;
use crate::password::AdminPassword;
use crate::places::Places;
use crate::push::Push;
use crate::readiness::LastHealth;
use crate::recall::{Rankings, Repeated, Reranking};
use crate::recovery::Recovery;
use crate::reembed::Reembedding;
use crate::resident::ResidentIndexes;
use crate::settings::EngineSettings;
use crate::signals::{Signals, forward, hint};
use crate::statistics::Statistics;
use crate::status::Problem;
use crate::worker::{JobRunner, Turns};

/// The semantic memory: remember, recall, forget and status are its verbs, each in the file of its name. Graph,
/// archive, mirror and the work of operators are types of their own, which the accessors give.
pub struct Memory {
    pub(crate) store: Store,
    pub(crate) recovery: Recovery,
    pub(crate) model: CurrentModel,
    pub(crate) extractor: Arc<dyn Extractor>,
    pub(crate) settings: Arc<EngineSettings>,
    pub(crate) signals: Signals,
    pub(crate) access: Access,
    pub(crate) audit: Audit,
    pub(crate) graph: KnowledgeGraph,
    pub(crate) mirror: Option<VectorMirror>,
    pub(crate) statistics: Arc<Statistics>,
    pub(crate) reranking: Option<Reranking>,
    pub(crate) rankings: Rankings,
    pub(crate) repeated: Repeated,
    pub(crate) resident: ResidentIndexes,
    pub(crate) last_health: LastHealth,
    /// What is wrong with the backups that this process makes, if anything.
    pub(crate) backups: Mutex<Option<Problem>>,
    /// When the last backup of the schedule was made that is there.
    pub(crate) last_backup: Mutex<Option<Timestamp>>,
    pub(crate) last_observed: LastObserved,
}

impl Memory {
    pub fn new(store: Store, extractor: Arc<dyn Extractor>, settings: EngineSettings) -> Self {
        let settings = Arc::new(settings);
        let model = CurrentModel::new(store.clone());
        let recovery = Recovery::new(model.clone());
        let signals = Signals::default();
        Self {
            access: Access::new(store.clone(), recovery.clone(), settings.audited),
            audit: Audit::new(store.clone(), recovery.clone(), Arc::clone(&settings)),
            graph: KnowledgeGraph::new(
                store.clone(),
                recovery.clone(),
                Arc::clone(&settings),
                signals.clone(),
            ),
            resident: ResidentIndexes::new(settings.resident_bytes),
            store,
            recovery,
            model,
            extractor,
            settings,
            signals,
            mirror: None,
            statistics: Arc::default(),
            reranking: None,
            rankings: Rankings::default(),
            repeated: Repeated::default(),
            last_health: LastHealth::default(),
            backups: Mutex::default(),
            last_backup: Mutex::default(),
            last_observed: LastObserved::default(),
        }
    }

    /// Has status look how much room is left where the database of this process keeps its data.
    #[must_use]
    pub fn with_data_folder(self, folder: PathBuf) -> Self {
        self.recovery.set_data_folder(folder);
        self
    }

    /// Mirrors the vectors to a server.
    #[must_use]
    pub fn with_mirror(mut self, server: Option<Qdrant>) -> Self {
        self.mirror = server.map(|server| {
            VectorMirror::new(self.store.clone(), server, self.signals.clone(), self.settings.poll_interval)
        });
        self
    }

    /// Whether searches of the namespace are answered from memory.
    pub fn is_in_memory(&self, ns: &Namespace) -> bool {
        self.resident.has(ns)
    }

    /// The graph that clients write themselves.
    pub fn graph(&self) -> &KnowledgeGraph {
        &self.graph
    }

    /// The keys, and what they open.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// The password of the installation.
    pub fn password(&self) -> AdminPassword {
        AdminPassword::new(self.store.clone(), self.settings.audited)
    }

    /// What was consented to, and the codes and tokens of it.
    pub fn oauth(&self) -> OAuth {
        OAuth::new(self.store.clone(), self.settings.audited)
    }

    /// Who did what.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// All that a namespace holds, out as lines and in again.
    pub fn archive(&self) -> Archive {
        Archive::new(self.store.clone(), Arc::clone(&self.settings), self.graph.clone())
    }

    /// Jobs, namespaces and extracting again, for operators.
    pub fn operations(&self) -> Operations {
        Operations::new(
            self.store.clone(),
            self.recovery.clone(),
            Arc::clone(&self.settings),
            self.signals.clone(),
        )
    }

    /// Webhooks, and the feed of what has happened.
    pub fn push(&self) -> Push {
        Push::new(self.store.clone(), self.recovery.clone(), Arc::clone(&self.settings))
    }

    /// Decisions of people about the extracted entities.
    pub fn entity_review(&self) -> EntityReview {
        EntityReview::new(self.store.clone(), self.recovery.clone())
    }

    /// Places of a source, such as the files of a folder.
    pub fn places(&self) -> Places {
        Places::new(self.store.clone(), self.recovery.clone(), self.signals.clone())
    }

    /// Replacing the embedding model.
    pub fn reembedding(&self) -> Reembedding {
        Reembedding::new(self.store.clone(), self.recovery.clone(), self.model.clone(), self.mirror.clone())
    }

    /// What does the jobs of the queue.
    pub fn job_runner(&self) -> JobRunner {
        JobRunner {
            store: self.store.clone(),
            recovery: self.recovery.clone(),
            model: self.model.clone(),
            extractor: Arc::clone(&self.extractor),
            settings: Arc::clone(&self.settings),
            statistics: Arc::clone(&self.statistics),
            turns: Turns::default(),
        }
    }

    /// The mirror of the vectors, if one is set up.
    pub fn mirror(&self) -> Result<&VectorMirror, Invalid> {
        self.mirror.as_ref().ok_or_else(|| {
            Invalid::new(
                "No vector mirror is set up. Set QDRANT_URL, for example to http://localhost:6334, and try again.",
            )
        })
    }

    /// Ends mirroring where no server to mirror to is set up any more; for the only process of a database.
    pub fn leave_mirror(&self) -> BoxFuture<'_, Result<(), EngineError>> {
        Box::pin(async move {
            if self.mirror.is_none() && self.store.end_mirroring().await? {
                tracing::warn!(
                    "QDRANT_URL is not set any more: nothing is mirrored from here on, and the collections stay on the server \
                 until it is set again"
                );
            }
            Ok(())
        })
    }

    /// Sets the problem with the backups that `status` reports, or clears it. A problem that persists keeps its time.
    pub fn report_backups(&self, problem: Option<Problem>) {
        let mut reported = locked(&self.backups);
        let since = reported.as_ref().and_then(|before| before.since);
        *reported = problem.map(|problem| Problem { since: since.or(problem.since), ..problem });
    }

    /// Notes of when the newest backup is that the schedule finds.
    pub fn note_backup(&self, made_at: Option<Timestamp>) {
        *locked(&self.last_backup) = made_at;
    }

    /// When the newest backup was made; `None` where this process makes none.
    pub fn last_backup(&self) -> Option<Timestamp> {
        *locked(&self.last_backup)
    }

    /// Starts using a loaded model, if its vectors and the stored ones belong together.
    pub fn adopt_model(&self, model: Arc<dyn EmbeddingModel>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { self.model.adopt(model).await })
    }

    /// Goes on without a model: words are still searched, vectors wait.
    pub fn lacks_model(&self, reason: String) {
        self.model.fail(reason);
    }

    pub fn model_state(&self) -> ModelState {
        self.model.state()
    }

    /// Passes hints of new jobs and changed graphs on to other processes, coalesced; runs until it is dropped.
    pub fn forward_hints(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            tokio::join!(
                forward(&self.store, Topic::Jobs, self.signals.jobs_queued()),
                forward(&self.store, Topic::Graphs, self.graph.changed_here()),
            );
        })
    }

    /// Hints to other processes at once that there may be jobs and changed graphs, for a process that ends now.
    pub fn hint_others(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            for topic in [Topic::Jobs, Topic::Graphs] {
                hint(&self.store, topic).await;
            }
        })
    }

    /// Name and version of the extractor.
    pub fn extractor_identity(&self) -> (&'static str, i32) {
        (self.extractor.name(), self.extractor.version())
    }

    pub fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.store.close().await;
        })
    }
}
