//! status: what runs, what is stored, what waits.

use std::time::Instant;

use memory_core::graph::GraphFile;
use memory_core::id::{ArtifactId, Namespace};
use memory_core::ports::ExtractorHealth;
use memory_store::survey::{self, Counts, JobStatus, Queue};

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

#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    pub services: Vec<Service>,
    /// `None` when the database cannot be asked.
    pub counts: Option<Counts>,
    pub queue: Option<Queue>,
    /// Set when an artifact was asked for and is there.
    pub job: Option<JobStatus>,
    /// Set where the vectors are mirrored.
    pub mirror: Option<MirrorStatus>,
}

impl Memory {
    /// Never fails: what cannot be asked is reported as such.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub async fn status(&self, ns: &Namespace, artifact_id: Option<&ArtifactId>) -> Status {
        let started = Instant::now();
        let mut status = Status { services: Vec::new(), counts: None, queue: None, job: None, mirror: None };
        let mut worker_seen = None;
        let asked = async {
            let mut conn = self.store.acquire().await?;
            status.counts = Some(survey::counts(&mut conn, ns).await?);
            let latency_ms = started.elapsed().as_secs_f64() * 1e3;
            status.queue = Some(survey::queue(&mut conn, ns).await?);
            worker_seen = survey::worker_last_seen_seconds(&mut conn).await?;
            if let Some(id) = artifact_id {
                status.job = survey::job_status(&mut conn, ns, id).await?;
            }
            Ok::<f64, EngineError>(latency_ms)
        };
        let postgres = match asked.await {
            Ok(latency) => Service {
                name: "postgres",
                is_healthy: true,
                latency_ms: Some((latency * 100.0).round() / 100.0),
                detail: "answers".into(),
            },
            Err(error) => {
                Service { name: "postgres", is_healthy: false, latency_ms: None, detail: error.to_string() }
            }
        };
        let is_reachable = postgres.is_healthy;
        let waiting = status.queue.as_ref().map_or(0, |q| q.pending_embeddings);
        status.services = vec![
            postgres,
            Service {
                name: "vector_index",
                is_healthy: is_reachable,
                latency_ms: None,
                detail: match (is_reachable, waiting) {
                    (false, _) => "cannot be asked: it is in the database".into(),
                    (true, 0) => "pgvector; every passage has its vector".into(),
                    (true, n) => format!("pgvector; {n} texts wait for their vectors"),
                },
            },
            self.model_service(),
            self.extractor_service(),
            worker_service(worker_seen),
        ];
        if is_reachable {
            status.mirror = self.mirror_status(ns).await;
            status.services.extend(status.mirror.as_ref().map(mirror_service));
        }
        status
    }

    /// The file that a connection keeps its graph in; other connections' files are not its business.
    pub fn graph_file_service(&self, ns: &Namespace, file: &GraphFile) -> Option<Service> {
        let health = self.graph_file(ns, file)?;
        Some(Service {
            name: "graph_file",
            is_healthy: health.failure.is_none(),
            latency_ms: None,
            detail: health.failure.unwrap_or_else(|| format!("in step: {}", health.name)),
        })
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
    let (is_healthy, detail) = match seen_seconds {
        Some(seconds) if seconds < WORKER_SILENT_SECONDS => (true, format!("last seen {seconds:.0} s ago")),
        Some(seconds) => (false, format!("last seen {seconds:.0} s ago; start `event-worker`")),
        None => (false, "never seen; start `event-worker`".to_owned()),
    };
    Service { name: "event_worker", is_healthy, latency_ms: None, detail }
}
