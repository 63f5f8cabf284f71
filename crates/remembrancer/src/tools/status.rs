//! `status` on the wire.

use std::collections::BTreeMap;

use futures::FutureExt;
use memory_core::Invalid;
use memory_core::event::EVENTS_MAX;
use memory_core::id::{AnyId, JobId};
use memory_engine::status::Status;
use memory_store::stats::JobStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Call, Declared, Refusal, Registered, answer, arguments, register};
use memory_engine::readiness::Readiness;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// art_… to see how far its extraction is
    artifact_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    version: &'static str,
    /// Whether there are no problems
    healthy: bool,
    /// What is wrong, since when, and what to do
    problems: Vec<ProblemOut>,
    services: BTreeMap<&'static str, ServiceOut>,
    counts: CountsOut,
    pending_jobs: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: Option<JobsOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vector_mirror: Option<MirrorOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_status: Option<JobStatusOut>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ProblemOut {
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    advice: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ServiceOut {
    /// up or down
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ms: Option<f64>,
    detail: String,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct CountsOut {
    artifacts: i64,
    chunks: i64,
    events: i64,
    entities: i64,
    graph_entities: i64,
    graph_relations: i64,
    graph_observations: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct JobsOut {
    pending: i64,
    processing: i64,
    done: i64,
    failed: i64,
    /// Texts and graphs whose vectors wait, are being made, or failed
    pending_embeddings: i64,
    /// Found by words alone
    passages_without_vector: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest_pending_seconds: Option<f64>,
    failures: BTreeMap<String, i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MirrorOut {
    /// none, filling (not searched yet) or searched
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    collection: Option<String>,
    /// Passages whose change is not in the mirror yet
    waiting: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lag_seconds: Option<f64>,
    /// Points of the namespace by kind: content, chunk, observation
    points: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<String>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct JobStatusOut {
    artifact_id: String,
    /// PENDING, PROCESSING, DONE, FAILED, NONE (no job) or NOT_FOUND
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extracted_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_count: Option<i32>,
    /// Set where as many events were found as one text may have: there may be more
    #[serde(skip_serializing_if = "Option::is_none")]
    events_cut: Option<bool>,
    passages: i64,
    /// Found by words alone
    passages_without_vector: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    embed_job: Option<EmbedJobOut>,
}

/// The last job for the text's vectors
#[derive(Debug, Serialize, JsonSchema)]
struct EmbedJobOut {
    id: String,
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error_message: Option<String>,
}

pub(super) fn tool() -> Registered {
    let declared = Declared {
        name: "status",
        title: "Status",
        description: "Health of the memory: problems, services, counts, pending and failed jobs; with artifact_id, how \
                      far one text is.",
        read_only: true,
        destructive: false,
        idempotent: true,
    };
    let mut registered = register::<Input, Output>(&declared, |call, given| run(call, given).boxed());
    registered.unready = Some(unready);
    registered
}

/// What status says while there is no memory to ask.
fn unready(readiness: &Readiness) -> serde_json::Value {
    let down = ServiceOut { status: "down", latency_ms: None, detail: readiness.to_string() };
    let advice = match readiness {
        Readiness::Starting | Readiness::Ready(_) => {
            "Ask again in a few seconds; if this stays so see the server's log."
        }
        Readiness::Waiting(_) | Readiness::Failed(_) => {
            "Run `remembrancer doctor` where the server runs: it checks the installation and says what to do."
        }
    };
    let problem = ProblemOut { what: down.detail.clone(), since: None, advice: advice.to_owned() };
    let output = Output {
        version: env!("CARGO_PKG_VERSION"),
        healthy: false,
        problems: vec![problem],
        services: BTreeMap::from([("postgres", down)]),
        counts: CountsOut::default(),
        pending_jobs: 0,
        jobs: None,
        vector_mirror: None,
        job_status: None,
    };
    serde_json::to_value(&output).unwrap_or_default()
}

async fn run(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
    let input: Input = arguments("status", given)?;
    let artifact_id = match input.artifact_id.as_deref().map(str::trim).filter(|id| !id.is_empty()) {
        None => None,
        Some(id) => match AnyId::parse(id)? {
            AnyId::Artifact(id) => Some(id),
            AnyId::Event(id) => {
                return Err(Invalid::new(format!(
                    "Invalid artifact_id {id}: it is an event. Pass its art_ id."
                ))
                .into());
            }
        },
    };
    let mut status = call.memory.status(&call.namespace, artifact_id.as_ref()).await;
    let own_file = call.graph.file().and_then(|file| call.memory.graph_file_service(&call.namespace, file));
    if let Some(service) = own_file {
        status.add(service);
    }
    answer(&output(status, artifact_id.map(|id| id.0)))
}

fn output(status: Status, asked: Option<String>) -> Output {
    let jobs = jobs(&status);
    let (healthy, queue) = (status.is_healthy(), &status.queue);
    let pending_jobs = queue.as_ref().map_or(0, |q| q.pending + q.processing);
    let counts = status.counts.unwrap_or_default();
    let problems = status.problems.into_iter().map(|problem| ProblemOut {
        what: problem.what,
        since: problem.since.map(|since| since.to_string()),
        advice: problem.advice,
    });
    let services = status.services.into_iter().map(|service| {
        let status = if service.is_healthy { "up" } else { "down" };
        (service.name, ServiceOut { status, latency_ms: service.latency_ms, detail: service.detail })
    });
    Output {
        version: env!("CARGO_PKG_VERSION"),
        healthy,
        problems: problems.collect(),
        services: services.collect(),
        counts: CountsOut {
            artifacts: counts.artifacts,
            chunks: counts.chunks,
            events: counts.events,
            entities: counts.entities,
            graph_entities: counts.graph_entities,
            graph_relations: counts.graph_relations,
            graph_observations: counts.graph_observations,
        },
        pending_jobs,
        jobs,
        vector_mirror: status.mirror.map(|mirror| MirrorOut {
            state: mirror.state,
            collection: mirror.collection,
            waiting: mirror.lag.waiting,
            lag_seconds: mirror.lag.oldest_seconds.map(|s| (s * 10.0).round() / 10.0),
            points: mirror.kinds.into_iter().collect(),
            last_error: mirror.trouble.or(mirror.lag.last_error),
        }),
        job_status: asked.map(|artifact_id| job_status(artifact_id, status.job)),
    }
}

fn jobs(status: &Status) -> Option<JobsOut> {
    let pending_embeddings = status.pending_embeddings();
    status.queue.as_ref().map(|q| JobsOut {
        pending: q.pending,
        processing: q.processing,
        done: q.done,
        failed: q.failed,
        pending_embeddings,
        passages_without_vector: status.vectors.map_or(0, |vectors| vectors.missing),
        oldest_pending_seconds: q.oldest_pending_seconds.map(|s| (s * 10.0).round() / 10.0),
        failures: q.failures.iter().cloned().collect(),
    })
}

fn job_status(artifact_id: String, job: Option<JobStatus>) -> JobStatusOut {
    let Some(job) = job else {
        return JobStatusOut { artifact_id, status: "NOT_FOUND".into(), ..JobStatusOut::default() };
    };
    JobStatusOut {
        artifact_id,
        status: job.status.unwrap_or_else(|| "NONE".to_owned()),
        job_id: job.job_id.map(|id| JobId(id).to_string()),
        attempts: job.attempts,
        last_error_code: job.last_error_code,
        last_error_message: job.last_error_message,
        extracted_at: job.extracted_at.map(|t| t.to_string()),
        event_count: job.event_count,
        events_cut: job.event_count.map(|count| count as usize >= EVENTS_MAX).filter(|is_cut| *is_cut),
        passages: job.passages,
        passages_without_vector: job.passages_without_vector,
        embed_job: job.embed.map(|embed| EmbedJobOut {
            id: JobId(embed.job_id).to_string(),
            status: embed.status,
            last_error_code: embed.last_error_code,
            last_error_message: embed.last_error_message,
        }),
    }
}
