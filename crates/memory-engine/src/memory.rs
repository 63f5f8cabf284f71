//! The memory itself: a store, the models, and what is remembered of both between calls.

use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use memory_core::authoring::AuthoringLimits;
use memory_core::ports::{Embedded, EmbeddingError, EmbeddingModel, Extractor, ModelInfo};
use memory_core::recall::RankingWeights;
use memory_store::models::{self, ActiveModel};
use memory_store::{Store, StoreError, Topic};
use tokio::sync::{Notify, watch};

use crate::EngineError;
use crate::graph::{GraphFiles, WatchedGraphs};
use crate::measures;
use crate::mirror::VectorMirror;
use crate::observing::LastObserved;
use crate::readiness::LastHealth;
use crate::recall::{Rankings, Reranking};
use crate::statistics::Statistics;
use crate::status::Problem;

/// How long a call is made again while the database is away, restarting for example.
const RETRY_FOR: Duration = Duration::from_secs(8);

/// Times that a test may want shorter.
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// A conversation is read after this long without new turns …
    pub conversation_pause: Duration,
    /// … but no later than this after its first unread turn.
    pub conversation_patience: Duration,
    /// How often the worker looks for due jobs without a hint.
    pub poll_interval: Duration,
    /// How long a claimed job belongs to its worker.
    pub lease: Duration,
    /// How long a job is worked on before others have their turn, where it can be done in parts.
    pub slice: Duration,
    /// Jobs one worker does at the same time. One place is kept free of long work, unless there is only one.
    pub concurrency: usize,
    /// How long a call waits for others at a graph's file, one that takes in a large file above all.
    pub file_patience: Duration,
    /// About how many characters a page of the graph has unless a limit is asked for.
    pub graph_page_chars: usize,
    /// How results are ranked.
    pub weights: RankingWeights,
    /// What may be written to the graph under its rules.
    pub authoring: AuthoringLimits,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            conversation_pause: Duration::from_secs(2),
            conversation_patience: Duration::from_secs(30),
            poll_interval: Duration::from_secs(1),
            lease: Duration::from_secs(memory_core::job::LEASE_SECONDS),
            slice: Duration::from_secs(5),
            concurrency: 2,
            file_patience: Duration::from_secs(20),
            graph_page_chars: memory_core::graph::PAGE_CHARS,
            weights: RankingWeights::DEFAULT,
            authoring: AuthoringLimits::default(),
        }
    }
}

/// The embedding model as far as it has got.
#[derive(Clone)]
pub enum ModelState {
    Loading,
    Ready {
        model: Arc<dyn EmbeddingModel>,
        active: ActiveModel,
    },
    /// Why there is none.
    Failed(String),
}

/// A model that calls work with. Whoever works with it holds it until the results are written: so it can be told when
/// the last one has ended.
pub(crate) struct InUse(pub(crate) Arc<dyn EmbeddingModel>);

#[async_trait]
impl EmbeddingModel for InUse {
    fn info(&self) -> &ModelInfo {
        self.0.info()
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        measures::embedding("passages", texts.len(), self.0.embed_passages(texts)).await
    }

    async fn embed_in_background(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        measures::embedding("background", texts.len(), self.0.embed_in_background(texts)).await
    }

    async fn embed_query(&self, text: &str) -> Result<Embedded, EmbeddingError> {
        measures::embedding("query", 1, self.0.embed_query(text)).await
    }
}

/// What is known of the database's disk.
#[derive(Default)]
pub(crate) struct Disk {
    /// Where the data lies, if it is on this machine.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) full_at: Mutex<Option<Instant>>,
}

/// A store and its models: the one object behind every tool, command and worker.
pub struct Memory {
    pub(crate) store: Store,
    pub(crate) extractor: Arc<dyn Extractor>,
    pub(crate) settings: EngineSettings,
    model: watch::Sender<ModelState>,
    jobs_queued: Notify,
    pub(crate) graphs: Arc<WatchedGraphs>,
    pub(crate) statistics: Statistics,
    pub(crate) graph_files: GraphFiles,
    pub(crate) mirror: Option<VectorMirror>,
    pub(crate) reranking: Option<Reranking>,
    pub(crate) disk: Disk,
    pub(crate) rankings: Rankings,
    pub(crate) last_health: LastHealth,
    /// What is wrong with the backups that this process makes, if anything.
    pub(crate) backups: Mutex<Option<Problem>>,
    pub(crate) last_observed: LastObserved,
}

impl Memory {
    pub fn new(store: Store, extractor: Arc<dyn Extractor>, settings: EngineSettings) -> Self {
        Self {
            store,
            extractor,
            settings,
            model: watch::Sender::new(ModelState::Loading),
            jobs_queued: Notify::new(),
            graphs: Arc::default(),
            statistics: Statistics::default(),
            graph_files: GraphFiles::default(),
            mirror: None,
            reranking: None,
            disk: Disk::default(),
            rankings: Rankings::default(),
            last_health: LastHealth::default(),
            backups: Mutex::default(),
            last_observed: LastObserved::default(),
        }
    }

    /// Has status look how much room is left where the database of this process keeps its data.
    #[must_use]
    pub fn with_data_folder(mut self, folder: PathBuf) -> Self {
        self.disk.folder = Some(folder);
        self
    }

    /// Has status tell what is wrong with the backups; nothing any more, where it is `None`. What has been wrong since
    /// before keeps its time.
    pub fn report_backups(&self, problem: Option<Problem>) {
        let mut told = locked(&self.backups);
        let since = told.as_ref().and_then(|before| before.since);
        *told = problem.map(|problem| Problem { since: since.or(problem.since), ..problem });
    }

    /// The database said that its disk is full.
    pub(crate) fn note_full_disk(&self) {
        metrics::counter!("remembrancer_database_disk_full_total").increment(1);
        *locked(&self.disk.full_at) = Some(Instant::now());
    }

    /// Puts a loaded model to use, if its vectors and the stored ones belong together.
    pub async fn adopt_model(&self, model: Arc<dyn EmbeddingModel>) -> Result<(), StoreError> {
        let active = self.store.adopt_model(model.info()).await?;
        self.model.send_replace(ModelState::Ready { model: Arc::new(InUse(model)), active });
        Ok(())
    }

    pub(crate) fn model_sender(&self) -> &watch::Sender<ModelState> {
        &self.model
    }

    /// Goes on without a model whose vectors another process has removed: texts then wait for their vectors instead of
    /// being refused.
    pub(crate) async fn leave_removed_model(&self) {
        let Some((_, mine)) = self.ready_model() else { return };
        let Ok(mut conn) = self.store.acquire().await else { return };
        if !matches!(models::is_known(&mut conn, mine.model_id).await, Ok(false)) {
            return;
        }
        let reason = format!(
            "the vectors of {} were replaced by those of another model; start with that (--model-dir)",
            mine.info.id
        );
        self.model.send_if_modified(|state| {
            let is_mine = matches!(&*state, ModelState::Ready { active, .. } if *active == mine);
            if is_mine {
                tracing::warn!(reason, "going on without an embedding model");
                *state = ModelState::Failed(reason);
            }
            is_mine
        });
    }

    /// Goes on without a model: words are still searched, vectors wait.
    pub fn lacks_model(&self, reason: String) {
        self.model.send_replace(ModelState::Failed(reason));
    }

    pub fn model_state(&self) -> ModelState {
        self.model.borrow().clone()
    }

    pub(crate) fn ready_model(&self) -> Option<(Arc<dyn EmbeddingModel>, ActiveModel)> {
        match &*self.model.borrow() {
            ModelState::Ready { model, active } => Some((Arc::clone(model), active.clone())),
            ModelState::Loading | ModelState::Failed(_) => None,
        }
    }

    /// Wakes the worker of this process, and [`jobs_were_queued`](Self::jobs_were_queued).
    pub(crate) fn wake_worker(&self) {
        self.jobs_queued.notify_one();
        if let Some(mirror) = &self.mirror {
            mirror.news.notify_one();
        }
    }

    /// Waits until a job was committed by this process.
    pub async fn jobs_were_queued(&self) {
        self.jobs_queued.notified().await;
    }

    /// Passes hints of new jobs and changed graphs on to other processes, coalesced; runs until it is dropped.
    pub async fn forward_hints(&self) {
        tokio::join!(
            self.forward(Topic::Jobs, &self.jobs_queued),
            self.forward(Topic::Graphs, &self.graphs.changed_here),
        );
    }

    async fn forward(&self, topic: Topic, news: &Notify) {
        loop {
            news.notified().await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            if let Err(error) = self.store.hint(topic).await {
                tracing::debug!(%error, ?topic, "a hint was lost; other processes poll");
            }
        }
    }

    /// Name and version of what texts are extracted with.
    pub fn extractor_identity(&self) -> (&'static str, i32) {
        (self.extractor.name(), self.extractor.version())
    }

    /// Tells other processes at once that there may be jobs and changed graphs, as one does that ends now.
    pub async fn hint_others(&self) {
        for topic in [Topic::Jobs, Topic::Graphs] {
            if let Err(error) = self.store.hint(topic).await {
                tracing::debug!(%error, ?topic, "a hint was lost; other processes poll");
            }
        }
    }

    pub async fn close(&self) {
        self.store.close().await;
    }

    pub(crate) async fn persist<T, F>(&self, mut verb: impl FnMut() -> F) -> Result<T, EngineError>
    where
        F: Future<Output = Result<T, EngineError>>,
    {
        persist(|| {
            let call = verb();
            async move {
                let outcome = call.await;
                if matches!(&outcome, Err(EngineError::Unavailable(StoreError::Conflict))) {
                    self.leave_removed_model().await;
                }
                if matches!(&outcome, Err(EngineError::DiskFull(_))) {
                    self.note_full_disk();
                }
                outcome
            }
        })
        .await
    }
}

/// Makes a call again while its fault is a passing one: another writer was first, or the database is
/// away. Every verb may run twice: contents are found by their hash.
pub(crate) async fn persist<T, F>(mut verb: impl FnMut() -> F) -> Result<T, EngineError>
where
    F: Future<Output = Result<T, EngineError>>,
{
    let deadline = Instant::now() + RETRY_FOR;
    let mut pause = Duration::from_millis(5);
    loop {
        match verb().await {
            Err(EngineError::Unavailable(error)) if Instant::now() + pause < deadline => {
                tracing::debug!(%error, "trying again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_millis(500));
            }
            other => {
                if let Err(EngineError::Internal(error) | EngineError::Unavailable(error)) = &other {
                    tracing::error!(error = %chain(error), "a call failed");
                }
                return other;
            }
        }
    }
}
/// An error with its causes; for the log only.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
