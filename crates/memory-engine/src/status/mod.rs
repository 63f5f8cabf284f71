//! status: what runs, what is stored, what waits, and what is wrong.

mod problems;

use std::time::Instant;

use futures::future::BoxFuture;
use memory_core::graph::GraphFile;
use memory_core::id::{ArtifactId, Namespace};
use memory_core::ports::ExtractorHealth;
use memory_language::text::{counted, span_of_time};
use memory_store::stats::{self, Counts, JobStatus, Queue, StuckJobs, Vectors, WorkersSeen};
use memory_store::webhooks::{self, DeadLetters};

pub use self::problems::Problem;
use crate::locking::locked;
use crate::mirror::MirrorStatus;
use crate::{EngineError, Memory, ModelState};

/// A worker not seen for this long is not counted on, in seconds.
pub(crate) const WORKER_SILENT_SECONDS: f64 = 60.0;

/// One part of the system.
#[derive(Debug, Clone, PartialEq)]
pub struct Service {
    pub name: &'static str,
    pub is_healthy: bool,
    pub latency_ms: Option<f64>,
    pub detail: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Status {
    pub services: Vec<Service>,
    /// All that is wrong. Where there is nothing the memory is healthy.
    pub problems: Vec<Problem>,
    /// `None` when the database cannot be asked.
    pub counts: Option<Counts>,
    pub queue: Option<Queue>,
    pub vectors: Option<Vectors>,
    /// Set when an artifact was asked for and is there.
    pub job: Option<JobStatus>,
    /// Set where the vectors are mirrored.
    pub mirror: Option<MirrorStatus>,
}

impl Status {
    pub fn is_healthy(&self) -> bool {
        self.problems.is_empty()
    }

    /// Adds a service that not every caller is shown, with what is wrong with it.
    pub fn add(&mut self, service: Service) {
        self.problems.extend(problems::of_services(std::slice::from_ref(&service)));
        self.services.push(service);
    }

    /// Texts and graphs whose vectors are missing, as far as jobs show: those that wait, run, or have failed.
    pub fn pending_embeddings(&self) -> i64 {
        let failed = self.vectors.map_or(0, |vectors| vectors.failed_texts);
        match (self.vectors, &self.queue) {
            (Some(Vectors { missing: 0, .. }) | None, _) | (_, None) => 0,
            (Some(_), Some(queue)) => queue.open_embeddings + failed,
        }
    }
}

/// What the database says, but for counts.
#[derive(Default)]
struct DatabaseReport {
    latency_ms: f64,
    workers: WorkersSeen,
    stuck: Vec<StuckJobs>,
    dead_letters: Vec<DeadLetters>,
}

impl Memory {
    /// Never fails: what cannot be asked is reported as such.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn status<'a>(
        &'a self,
        ns: &'a Namespace,
        artifact_id: Option<&'a ArtifactId>,
    ) -> BoxFuture<'a, Status> {
        Box::pin(async move {
            let mut status = Status::default();
            let asked = self.ask_database(ns, artifact_id, &mut status).await;
            let postgres = match &asked {
                Ok(asked) => Service {
                    name: "postgres",
                    is_healthy: true,
                    latency_ms: Some((asked.latency_ms * 100.0).round() / 100.0),
                    detail: "answers".into(),
                },
                Err(error) => Service {
                    name: "postgres",
                    is_healthy: false,
                    latency_ms: None,
                    detail: error.to_string(),
                },
            };
            let is_reachable = postgres.is_healthy;
            let asked = asked.unwrap_or_default();
            status.services = vec![
                postgres,
                index_service(status.vectors, is_reachable),
                self.model_service(),
                self.extractor_service(),
                worker_service(asked.workers.seconds),
            ];
            if let Some(mirror) = self.mirror.as_ref().filter(|_| is_reachable) {
                let mirror = mirror.status(ns).await;
                status.services.push(mirror_service(&mirror));
                status.mirror = Some(mirror);
            }
            status.problems = problems::of_services(&status.services);
            status.problems.extend(problems::of_jobs(&asked.stuck));
            status.problems.extend(asked.dead_letters.iter().map(problems::of_dead_letters));
            let is_worked_on = asked.workers.seconds.is_some_and(|seconds| seconds < WORKER_SILENT_SECONDS);
            status.problems.extend(problems::of_queue(&status, is_worked_on));
            status.problems.extend(problems::of_vectors(&status));
            status.problems.extend(problems::of_disk(
                self.recovery.data_folder().as_deref(),
                self.recovery.disk_full_at(),
            ));
            status.problems.extend(locked(&self.backups).clone());
            let ahead = status.queue.as_ref().map_or(0.0, |queue| queue.ahead_seconds);
            status.problems.extend(problems::of_clock(asked.workers.ahead_seconds.max(ahead)));
            status
        })
    }

    /// The file that a connection keeps its graph in; other connections' files are not its business.
    pub fn graph_file_service(&self, ns: &Namespace, file: &GraphFile) -> Option<Service> {
        let health = self.graph.file_health(ns, file)?;
        Some(Service {
            name: "graph_file",
            is_healthy: health.failure.is_none(),
            latency_ms: None,
            detail: health.failure.unwrap_or_else(|| format!("in step: {}", health.name)),
        })
    }

    async fn ask_database(
        &self,
        ns: &Namespace,
        artifact_id: Option<&ArtifactId>,
        status: &mut Status,
    ) -> Result<DatabaseReport, EngineError> {
        let started = Instant::now();
        let mut conn = self.store.acquire(ns).await?;
        status.counts = Some(stats::counts(&mut conn, ns).await?);
        let latency_ms = started.elapsed().as_secs_f64() * 1e3;
        status.queue = Some(stats::queue(&mut conn, ns).await?);
        status.vectors = Some(stats::vectors(&mut conn, ns).await?);
        let workers = stats::workers_seen(&mut conn).await?;
        let stuck =
            stats::stuck_jobs(&mut conn, ns, problems::CODES_SEEN_TO, problems::CODES_WAITED_FOR).await?;
        let dead_letters = webhooks::dead_letters(&mut *conn, Some(ns)).await?;
        if let Some(id) = artifact_id {
            status.job = stats::job_status(&mut conn, ns, id).await?;
        }
        Ok(DatabaseReport { latency_ms, workers, stuck, dead_letters })
    }

    fn extractor_service(&self) -> Service {
        let ExtractorHealth { is_healthy, detail } = self.extractor.health();
        Service { name: "extractor", is_healthy, latency_ms: None, detail }
    }

    fn model_service(&self) -> Service {
        let (is_healthy, detail) = match self.model_state() {
            ModelState::Ready { active, .. } => {
                (true, format!("{} ({} dimensions)", active.info.id, active.info.dimension))
            }
            ModelState::Loading => (false, "is being loaded".to_owned()),
            ModelState::Failed(reason) => (false, reason),
        };
        Service { name: "embedding_model", is_healthy, latency_ms: None, detail }
    }
}

fn index_service(vectors: Option<Vectors>, is_reachable: bool) -> Service {
    let detail = match vectors {
        _ if !is_reachable => "cannot be asked: it is in the database".to_owned(),
        None | Some(Vectors { missing: 0, .. }) => "pgvector; every passage has its vector".to_owned(),
        Some(Vectors { missing, passages, .. }) => {
            let of_all = counted(passages, "passage");
            format!("pgvector; {missing} of {of_all} without a vector yet, found by words alone")
        }
    };
    Service { name: "vector_index", is_healthy: is_reachable, latency_ms: None, detail }
}

fn mirror_service(mirror: &MirrorStatus) -> Service {
    let at = &mirror.address;
    let waiting = match (mirror.lag.waiting, mirror.lag.oldest_seconds) {
        (0, _) | (_, None) => "nothing waits".to_owned(),
        (1, Some(seconds)) => format!("1 passage has waited for {seconds:.0} s"),
        (n, Some(seconds)) => format!("{n} passages wait, the oldest for {seconds:.0} s"),
    };
    let detail = match (&mirror.trouble, mirror.state) {
        (Some(trouble), _) => format!("Qdrant at {at}: {trouble}; Postgres searches instead; {waiting}"),
        (None, "searched") => format!("Qdrant at {at}: searched; {waiting}"),
        (None, "filling") => format!("Qdrant at {at}: is being filled, Postgres searches; {waiting}"),
        (None, _) => format!("Qdrant at {at}: not begun yet; start `event-worker` with QDRANT_URL"),
    };
    let is_healthy = mirror.trouble.is_none() && mirror.state != "none";
    Service { name: "vector_mirror", is_healthy, latency_ms: None, detail }
}

fn worker_service(seen_seconds: Option<f64>) -> Service {
    let ago = |seconds: f64| span_of_time(seconds as i64);
    let (is_healthy, detail) = match seen_seconds {
        Some(seconds) if seconds < WORKER_SILENT_SECONDS => (true, format!("last seen {} ago", ago(seconds))),
        Some(seconds) => (false, format!("last seen {} ago; start `event-worker`", ago(seconds))),
        None => (false, "never seen; start `event-worker`".to_owned()),
    };
    Service { name: "event_worker", is_healthy, latency_ms: None, detail }
}
