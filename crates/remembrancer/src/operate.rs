//! What operators ask for, over the private socket or, with a database of the user's own, by the command itself.

use std::io;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use memory_core::artifact::Context;
use memory_core::id::{JobId, Namespace};
use memory_core::job::{ErrorCode, JobKind, JobState};
use memory_engine::Memory;
use memory_engine::graph::KnownFile;
use memory_engine::lines::{Progress, Report};
use memory_engine::operate::Requeued;
use memory_store::jobs::{Cancelled, JobFilter, JobRow, Retried};
use memory_store::reextraction::Selection;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

use crate::tools::Toolbox;
use crate::transfer::{FRAME_MAX_BYTES, Frame};

/// How many places of a source are told at a time.
const PLACES_PAGE: i64 = 5_000;
/// How many failed jobs a wait names in its summary.
const FAILED_SHOWN_MAX: usize = 20;

/// What is asked for. Names and ids were checked by the command.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Operation {
    ListJobs {
        state: Option<String>,
        kind: Option<String>,
        code: Option<String>,
        ids: Option<Vec<i64>>,
        limit: u16,
    },
    RetryJobs {
        ids: Vec<i64>,
    },
    RetryFailedJobs {
        kind: Option<String>,
        code: Option<String>,
    },
    CancelJobs {
        ids: Vec<i64>,
    },
    ListGraphFiles,
    DeleteGraphFiles {
        paths: Vec<String>,
    },
    Reextract {
        all: bool,
        older_than_version: Option<i32>,
        extractor: Option<String>,
        context: Option<String>,
        waits: bool,
    },
    /// The places of a source, in order of their ids there; with the first of them other sources of the same texts.
    ListPlaces {
        source: String,
        after: String,
    },
    /// To forget all that stood at these places.
    ForgetPlaces {
        source: String,
        source_ids: Vec<String>,
    },
}

/// Answers a client of the socket, as long as it waits.
pub(crate) async fn attend(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    toolbox: &Toolbox,
    namespace: Option<&Namespace>,
    operation: Operation,
) -> io::Result<()> {
    let (progress, mut seen) = watch::channel(Progress::default());
    let report = |at: Progress| {
        progress.send_replace(at);
    };
    let working = async {
        let memory = toolbox.memory().await.map_err(|readiness| anyhow::anyhow!("{readiness}"))?;
        perform(&memory, namespace, operation, &report).await
    };
    tokio::pin!(working);
    let outcome = loop {
        tokio::select! {
            outcome = &mut working => break outcome,
            Ok(()) = seen.changed() => {
                let Progress { done, total } = *seen.borrow_and_update();
                Frame::Progress(done, total).send(to).await?;
            }
            // It says nothing more: it has gone.
            _ = from.read_u8() => return Err(io::ErrorKind::BrokenPipe.into()),
        }
    };
    match outcome {
        // It may be longer than a frame.
        Ok(summary) => {
            for part in summary.to_string().as_bytes().chunks(FRAME_MAX_BYTES) {
                Frame::Part(part.to_vec()).send(to).await?;
            }
            Frame::Done(Value::Null).send(to).await?;
        }
        Err(error) => Frame::Failed(format!("{error:#}")).send(to).await?,
    }
    to.flush().await
}

/// The other end of [`attend`].
pub(crate) async fn receive(
    from: &mut (impl AsyncRead + Unpin),
    report: Report<'_>,
) -> anyhow::Result<Value> {
    let mut answer = Vec::new();
    loop {
        let frame = Frame::receive(from).await;
        match frame
            .context("the memory's process has ended; look with `remembrancer jobs list` how far it came")?
        {
            Frame::Progress(done, total) => report(Progress { done, total }),
            Frame::Part(bytes) => answer.extend(bytes),
            Frame::Done(_) => return Ok(serde_json::from_slice(&answer)?),
            Frame::Failed(reason) => bail!("{reason}"),
        }
    }
}

/// Does what is asked for in one namespace, or in all.
pub(crate) async fn perform(
    memory: &Arc<Memory>,
    namespace: Option<&Namespace>,
    operation: Operation,
    report: Report<'_>,
) -> anyhow::Result<Value> {
    match operation {
        Operation::ListJobs { state, kind, code, ids, limit } => {
            let filter = JobFilter {
                namespace: namespace.cloned(),
                state: known("state", state, JobState::parse, JobState::names)?,
                kind: known("kind", kind, JobKind::parse, JobKind::names)?,
                code: known("code", code, ErrorCode::parse, ErrorCode::names)?,
                ids: ids.map(|ids| ids.into_iter().map(JobId).collect()),
            };
            let mut listed = memory.list_jobs(&filter, i64::from(limit) + 1).await?;
            let has_more = listed.len() > usize::from(limit);
            listed.truncate(usize::from(limit));
            Ok(json!({ "jobs": listed.iter().map(job).collect::<Vec<_>>(), "has_more": has_more }))
        }
        Operation::RetryJobs { ids } => {
            let (mut retried, mut refused) = (Vec::new(), Vec::new());
            for id in ids.into_iter().map(JobId) {
                match memory.retry_job(namespace, id).await? {
                    Retried::Queued => retried.push(id.to_string()),
                    other => refused.push(json!({ "id": id.to_string(), "reason": not_retried(&other) })),
                }
            }
            Ok(json!({ "retried": retried, "refused": refused }))
        }
        Operation::RetryFailedJobs { kind, code } => {
            let filter = JobFilter {
                namespace: namespace.cloned(),
                kind: known("kind", kind, JobKind::parse, JobKind::names)?,
                code: known("code", code, ErrorCode::parse, ErrorCode::names)?,
                ..JobFilter::default()
            };
            Ok(json!({ "retried_count": memory.retry_failed_jobs(&filter).await? }))
        }
        Operation::CancelJobs { ids } => {
            let (mut cancelled, mut refused) = (Vec::new(), Vec::new());
            for id in ids.into_iter().map(JobId) {
                match was_cancelled(memory.cancel_job(namespace, id).await?) {
                    Ok(was) => cancelled.push(json!({ "id": id.to_string(), "was": was })),
                    Err(reason) => refused.push(json!({ "id": id.to_string(), "reason": reason })),
                }
            }
            Ok(json!({ "cancelled": cancelled, "refused": refused }))
        }
        Operation::ListGraphFiles => {
            let files = memory.list_graph_files(namespace).await?;
            Ok(json!({ "files": files.iter().map(graph_file).collect::<Vec<_>>() }))
        }
        Operation::DeleteGraphFiles { paths } => delete_graph_files(memory, namespace, paths).await,
        Operation::ListPlaces { source, after } => list_places(memory, namespace, &source, &after).await,
        Operation::ForgetPlaces { source, source_ids } => {
            forget_places(memory, namespace, &source, &source_ids).await
        }
        Operation::Reextract { all, older_than_version, extractor, context, waits } => {
            let context = known("context", context, Context::parse, Context::names)?;
            let selection = Selection { all, older_than_version, extractor, context };
            reextract(memory, namespace, &selection, waits, report).await
        }
    }
}

/// A name that was given must be known: a command of another version may know more, and means less than everything.
fn known<T>(
    what: &str,
    given: Option<String>,
    parse: impl Fn(&str) -> Option<T>,
    names: impl Fn() -> String,
) -> anyhow::Result<Option<T>> {
    let Some(name) = given else { return Ok(None) };
    let Some(value) = parse(&name) else {
        bail!(
            "The {what} '{name}' is not known to the memory's process; it knows {}. If the command is newer, start that process again.",
            names()
        )
    };
    Ok(Some(value))
}

async fn forget_places(
    memory: &Memory,
    namespace: Option<&Namespace>,
    source: &str,
    source_ids: &[String],
) -> anyhow::Result<Value> {
    let namespace = namespace.context("a source belongs to a namespace")?;
    let (places, cascade) = memory.forget_places(namespace, source, source_ids).await?;
    Ok(json!({ "forgotten": places, "events": cascade.events, "entities": cascade.entities }))
}

async fn list_places(
    memory: &Memory,
    namespace: Option<&Namespace>,
    source: &str,
    after: &str,
) -> anyhow::Result<Value> {
    let namespace = namespace.context("a source belongs to a namespace")?;
    let places = memory.list_places(namespace, source, after, PLACES_PAGE).await?;
    let shared = if after.is_empty() { memory.shared_sources(namespace, source).await? } else { Vec::new() };
    Ok(json!({
        "places": places.iter().map(|place| &place.source_id).collect::<Vec<_>>(),
        "has_more": places.len() as i64 == PLACES_PAGE,
        "shared": shared.iter().map(|(source, texts)| json!({ "source": source, "texts": texts })).collect::<Vec<_>>(),
    }))
}

pub(crate) const NOT_FOUND: &str =
    "there is no such job in this namespace; look with `remembrancer jobs list --all-namespaces`";

/// The state that a job had until it was cancelled, or why it was not.
fn was_cancelled(cancelled: Cancelled) -> Result<&'static str, String> {
    match cancelled {
        Cancelled::Waiting => Ok(JobState::Pending.as_str()),
        Cancelled::Running => Ok(JobState::Processing.as_str()),
        Cancelled::Failed => Ok(JobState::Failed.as_str()),
        Cancelled::Ended(state) => {
            Err(format!("it is {state} already; only a job that is open or has failed can be cancelled"))
        }
        Cancelled::NotFound => Err(NOT_FOUND.to_owned()),
    }
}

fn not_retried(why: &Retried) -> String {
    match why {
        Retried::NotFound => NOT_FOUND.to_owned(),
        Retried::NotFailed(state) => format!("it is {state}; only a FAILED job can be tried again"),
        _ => "another job for the same is open already".to_owned(),
    }
}

async fn delete_graph_files(
    memory: &Memory,
    namespace: Option<&Namespace>,
    paths: Vec<String>,
) -> anyhow::Result<Value> {
    let namespace = namespace.context("files are deleted in one namespace")?;
    let (mut deleted, mut refused) = (Vec::new(), Vec::new());
    for path in paths {
        match memory.delete_graph_file(namespace, &path).await {
            Ok(entities) => deleted.push(json!({ "path": path, "entities": entities })),
            Err(error) => refused.push(json!({ "path": path, "reason": error.to_string() })),
        }
    }
    Ok(json!({ "deleted": deleted, "refused": refused }))
}

/// A graph's file as the command shows it.
fn graph_file(known: &KnownFile) -> Value {
    let stored = &known.stored;
    json!({
        "path": stored.path,
        "namespace": stored.namespace,
        "entities": stored.entities,
        "is_there": known.is_there,
        "gone_since": stored.gone_since.map(|at| at.to_string()),
        "has_unwritten_changes": stored.is_ahead,
    })
}

/// A job as the commands show it.
fn job(job: &JobRow) -> Value {
    let time = |at: Option<jiff::Timestamp>| at.map(|at| at.to_string());
    json!({
        "id": job.job_id.to_string(),
        "namespace": job.namespace,
        "state": job.state,
        "kind": job.kind,
        "lane": job.lane.map(memory_core::job::Lane::as_str),
        "attempts": job.attempts,
        "last_error_code": job.last_error_code,
        "last_error_message": job.last_error_message,
        "last_error_at": time(job.last_error_at),
        "advice": job.last_error_code.as_deref().and_then(ErrorCode::parse).map(ErrorCode::advice),
        "created_at": job.created_at.to_string(),
        "run_at": job.run_at.to_string(),
        "leased_until": time(job.leased_until),
        "finished_at": time(job.finished_at),
        "artifact_id": job.artifact_id,
        "revision": job.revision_id,
        "characters": job.char_count,
        "conversation_id": job.conversation_id,
        "thread": job.thread,
    })
}

async fn reextract(
    memory: &Arc<Memory>,
    namespace: Option<&Namespace>,
    selection: &Selection,
    waits: bool,
    report: Report<'_>,
) -> anyhow::Result<Value> {
    let namespaces = match namespace {
        Some(namespace) => vec![namespace.clone()],
        None => memory.namespaces().await?,
    };
    let mut sum = Requeued::default();
    let mut queued = Vec::new();
    for namespace in namespaces {
        let requeued = memory.requeue_extraction(&namespace, selection, report).await?;
        sum.extractor.clone_from(&requeued.extractor);
        sum.texts += requeued.texts;
        sum.turns += requeued.turns;
        sum.conversations += requeued.conversations;
        sum.waiting += requeued.waiting;
        sum.running += requeued.running;
        queued.push((namespace, requeued.jobs));
    }
    let mut failed = Vec::new();
    if waits {
        let total: usize = queued.iter().map(|(_, jobs)| jobs.len()).sum();
        let mut before = 0;
        for (namespace, jobs) in &queued {
            let report_sum =
                |at: Progress| report(Progress { done: before as u64 + at.done, total: total as u64 });
            failed.extend(memory.wait_for_jobs(namespace, jobs, &report_sum).await?);
            before += jobs.len();
        }
    }
    Ok(json!({
        "extractor": sum.extractor,
        "texts": sum.texts,
        "turns": sum.turns,
        "conversations": sum.conversations,
        "waiting": sum.waiting,
        "running": sum.running,
        "has_worker": memory.has_worker().await?,
        "waited": waits,
        "failed_count": failed.len(),
        "failed": failed.iter().take(FAILED_SHOWN_MAX).map(job).collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_known_is_an_error_and_never_no_filter() {
        let parse = |name: &str| known("code", Some(name.to_owned()), ErrorCode::parse, ErrorCode::names);
        for code in ErrorCode::ALL {
            assert_eq!(parse(code.as_str()).unwrap(), Some(*code));
        }
        let refused = parse("OUT_OF_LUCK").unwrap_err().to_string();
        assert!(refused.contains("'OUT_OF_LUCK'") && refused.contains("LLM_UNAVAILABLE"), "{refused}");
        assert_eq!(known("code", None, ErrorCode::parse, ErrorCode::names).unwrap(), None);
    }
}
