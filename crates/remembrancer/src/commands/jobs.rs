//! `jobs`: what operators see of the queue, and what they do with it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use memory_core::id::{JobId, Namespace};
use memory_core::job::{ErrorCode, JobKind, JobState};
use memory_engine::Memory;
use memory_language::text::{counted, span_of_time};
use memory_store::jobs::{Cancelled, JobFilter, JobRow, Retried};
use serde_json::{Value, json};

use super::one_of::OneOf;
use super::print::{Style, printable};
use crate::operator::with_memory;
use crate::settings::Settings;

const NOT_FOUND: &str =
    "there is no such job in this namespace; look with `remembrancer jobs list --all-namespaces`";
/// How many jobs one command names.
const IDS_MAX: usize = 1000;

#[derive(Debug, Args)]
pub(crate) struct JobsArgs {
    #[command(subcommand)]
    command: JobsCommand,
}

#[derive(Debug, Subcommand)]
enum JobsCommand {
    /// The newest jobs, newest first
    List(ListArgs),
    /// All that is known of one job
    Show(ShowArgs),
    /// Try failed jobs again, with all their attempts before them
    Retry(RetryArgs),
    /// End jobs that wait or are being done: what is not written yet is never written; and leave failed ones undone
    Cancel(CancelArgs),
}

/// Where, and how it is shown.
#[derive(Debug, Args)]
pub(crate) struct Scope {
    /// In every namespace, not only in the one of --namespace
    #[arg(long)]
    pub(super) all_namespaces: bool,
    /// Print the answer as JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Only jobs in this state
    #[arg(long, ignore_case = true, value_parser = OneOf::new(JobState::ALL, JobState::as_str))]
    state: Option<JobState>,
    /// Only jobs of this kind
    #[arg(long, ignore_case = true, value_parser = OneOf::new(JobKind::ALL, JobKind::as_str))]
    kind: Option<JobKind>,
    /// Only jobs whose last attempt failed like this
    #[arg(long, ignore_case = true, value_parser = OneOf::new(ErrorCode::ALL, ErrorCode::as_str))]
    code: Option<ErrorCode>,
    /// Most jobs, 1 to 1000
    #[arg(long, short = 'n', default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    #[command(flatten)]
    scope: Scope,
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// job_12, or 12
    id: String,
    #[command(flatten)]
    scope: Scope,
}

#[derive(Debug, Args)]
struct RetryArgs {
    /// job_12, or 12; at most 1000
    #[arg(required_unless_present = "failed", conflicts_with = "failed")]
    ids: Vec<String>,
    /// All failed jobs
    #[arg(long)]
    failed: bool,
    /// Of these only those that failed like this
    #[arg(long, ignore_case = true, requires = "failed", value_parser = OneOf::new(ErrorCode::ALL, ErrorCode::as_str))]
    code: Option<ErrorCode>,
    /// Of these only those of this kind
    #[arg(long, ignore_case = true, requires = "failed", value_parser = OneOf::new(JobKind::ALL, JobKind::as_str))]
    kind: Option<JobKind>,
    #[command(flatten)]
    scope: Scope,
}

#[derive(Debug, Args)]
struct CancelArgs {
    /// job_12, or 12; at most 1000
    #[arg(required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    scope: Scope,
}

impl Scope {
    /// `None` for all.
    pub(super) fn namespace(&self, settings: &Settings) -> anyhow::Result<Option<Namespace>> {
        if self.all_namespaces { Ok(None) } else { Ok(Some(settings.namespace()?)) }
    }
}

pub(crate) async fn run(settings: &Settings, args: JobsArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        JobsCommand::List(ListArgs { state, kind, code, limit, scope }) => {
            let namespace = scope.namespace(settings)?;
            let filter = JobFilter { namespace, state, kind, code, ids: None, before: None };
            let listing = with_memory(settings, async |open| {
                Ok(open.memory.operations().list_jobs(&filter, i64::from(limit) + 1).await?)
            });
            let mut listed = listing.await?;
            let has_more = listed.len() > usize::from(limit);
            listed.truncate(usize::from(limit));
            let answer =
                json!({ "jobs": listed.iter().map(as_json).collect::<Vec<_>>(), "has_more": has_more });
            show(&answer, &scope, table)
        }
        JobsCommand::Show(ShowArgs { id, scope }) => {
            let id = JobId::parse(&id)?;
            let namespace = scope.namespace(settings)?;
            let filter = JobFilter { namespace, ids: Some(vec![id]), ..JobFilter::default() };
            let listing = with_memory(settings, async |open| {
                Ok(open.memory.operations().list_jobs(&filter, 1).await?)
            });
            let Some(job) = listing.await?.pop() else {
                bail!("{id}: {NOT_FOUND}");
            };
            show(&as_json(&job), &scope, details)
        }
        JobsCommand::Retry(RetryArgs { ids, failed, code, kind, scope }) => {
            let namespace = scope.namespace(settings)?;
            let answer = if failed {
                let filter = JobFilter { namespace, kind, code, ..JobFilter::default() };
                let retrying = with_memory(settings, async |open| {
                    Ok(open.memory.operations().retry_failed_jobs(&filter).await?)
                });
                json!({ "retried_count": retrying.await? })
            } else {
                let ids = parsed(&ids)?;
                with_memory(settings, async |open| retry(&open.memory, namespace.as_ref(), ids).await).await?
            };
            show(&answer, &scope, |answer, _| retried(answer))
        }
        JobsCommand::Cancel(CancelArgs { ids, scope }) => {
            let (ids, namespace) = (parsed(&ids)?, scope.namespace(settings)?);
            let cancelling =
                with_memory(settings, async |open| cancel(&open.memory, namespace.as_ref(), ids).await);
            show(&cancelling.await?, &scope, |answer, _| cancelled(answer))
        }
    }
}

fn parsed(ids: &[String]) -> anyhow::Result<Vec<JobId>> {
    if ids.len() > IDS_MAX {
        bail!("{} jobs are named, the limit is {IDS_MAX}; name them in several commands", ids.len());
    }
    ids.iter().map(|id| Ok(JobId::parse(id)?)).collect()
}

async fn retry(memory: &Memory, ns: Option<&Namespace>, ids: Vec<JobId>) -> anyhow::Result<Value> {
    let (mut retried, mut refused) = (Vec::new(), Vec::new());
    for id in ids {
        match memory.operations().retry_job(ns, id).await? {
            Retried::Queued => retried.push(id.to_string()),
            other => refused.push(json!({ "id": id.to_string(), "reason": not_retried(&other) })),
        }
    }
    Ok(json!({ "retried": retried, "refused": refused }))
}

async fn cancel(memory: &Memory, ns: Option<&Namespace>, ids: Vec<JobId>) -> anyhow::Result<Value> {
    let (mut cancelled, mut refused) = (Vec::new(), Vec::new());
    for id in ids {
        let outcome = memory.operations().cancel_job(ns, id).await?;
        match outcome.state_before() {
            Some(was) => cancelled.push(json!({ "id": id.to_string(), "was": was.as_str() })),
            None => refused.push(json!({ "id": id.to_string(), "reason": not_cancelled(&outcome) })),
        }
    }
    Ok(json!({ "cancelled": cancelled, "refused": refused }))
}

fn not_cancelled(why: &Cancelled) -> String {
    match why {
        Cancelled::Ended(state) => {
            format!("it is {state} already; only a job that is open or has failed can be cancelled")
        }
        _ => NOT_FOUND.to_owned(),
    }
}

fn not_retried(why: &Retried) -> String {
    match why {
        Retried::NotFound => NOT_FOUND.to_owned(),
        Retried::NotFailed(state) => format!("it is {state}; only a FAILED job can be tried again"),
        _ => "another job for the same is open already".to_owned(),
    }
}

/// A job as the commands show it.
pub(super) fn as_json(job: &JobRow) -> Value {
    let time = |at: Option<jiff::Timestamp>| at.map(|at| at.to_string());
    json!({
        "id": job.job_id.to_string(),
        "namespace": job.namespace,
        "state": job.state,
        "kind": job.kind,
        "lane": job.priority.map(memory_core::job::Priority::as_str),
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

/// Prints the answer; what was refused makes the command fail.
fn show(answer: &Value, scope: &Scope, readable: fn(&Value, &Style) -> String) -> anyhow::Result<ExitCode> {
    if scope.json {
        println!("{}", serde_json::to_string_pretty(answer)?);
    } else {
        print!("{}", readable(answer, &Style::of_stdout()));
    }
    let refused = answer["refused"].as_array().is_some_and(|refused| !refused.is_empty());
    Ok(if refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn rows<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// What a job works on.
fn target(job: &Value) -> String {
    let of = |key: &str, what: &str| job[key].as_str().map(|name| format!("{what}{}", printable(name)));
    of("artifact_id", "")
        .or_else(|| of("conversation_id", "conversation "))
        .or_else(|| of("thread", "thread "))
        .unwrap_or_default()
}

/// How long from then to now or from now to then, in the largest unit that fits.
fn span(time: &str, now: Timestamp) -> String {
    let Ok(time) = time.parse::<Timestamp>() else { return "?".to_owned() };
    let seconds = now.duration_since(time).as_secs();
    let amount = span_of_time(seconds.abs());
    if seconds < 0 { format!("in {amount}") } else { format!("{amount} ago") }
}

/// When the last thing happened to a job, or the next will.
fn when(job: &Value, now: Timestamp) -> String {
    match text(job, "state") {
        "PENDING" => format!("due {}", span(text(job, "run_at"), now)),
        "PROCESSING" => format!("lease ends {}", span(text(job, "leased_until"), now)),
        _ => span(text(job, "finished_at"), now),
    }
}

fn table(answer: &Value, style: &Style) -> String {
    let jobs = rows(answer, "jobs");
    if jobs.is_empty() {
        return "No such jobs.\n".to_owned();
    }
    let now = Timestamp::now();
    let mut lines =
        vec![["JOB", "STATE", "KIND", "LANE", "TRIES", "WHEN", "CODE", "NAMESPACE", "OF"].map(str::to_owned)];
    lines.extend(jobs.iter().map(|job| {
        [
            text(job, "id").to_owned(),
            text(job, "state").to_owned(),
            text(job, "kind").to_owned(),
            text(job, "lane").to_owned(),
            job["attempts"].to_string(),
            when(job, now),
            text(job, "last_error_code").to_owned(),
            text(job, "namespace").to_owned(),
            target(job),
        ]
    }));
    let mut out = String::new();
    let width = |column: usize| lines.iter().map(|l| l[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    for (n, line) in lines.iter().enumerate() {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let shown = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(
            out,
            "{}",
            if n == 0 { style.dim(shown.trim_end()) } else { shown.trim_end().to_owned() }
        );
    }
    push_reasons(&mut out, jobs);
    if answer["has_more"] == true {
        let _ = writeln!(
            out,
            "{}",
            style.dim("… and more: raise --limit, or narrow with --state, --kind or --code")
        );
    }
    out
}

/// What each of the codes means here, and what to do about it, once a code.
fn push_reasons(out: &mut String, jobs: &[Value]) {
    let mut explained = BTreeSet::new();
    for job in jobs {
        let (code, state) = (text(job, "last_error_code"), text(job, "state"));
        if code.is_empty() || state == "DONE" || !explained.insert(code) {
            continue;
        }
        let meaning = ErrorCode::parse(code).map_or("", ErrorCode::meaning);
        let reason = job["last_error_message"].as_str().unwrap_or(meaning);
        let _ = writeln!(
            out,
            "{code} (such as {}): {}. → {}",
            text(job, "id"),
            printable(reason),
            text(job, "advice")
        );
    }
}

fn details(job: &Value, style: &Style) -> String {
    let now = Timestamp::now();
    let mut out = format!("{}  {}\n", style.bold(text(job, "id")), text(job, "state"));
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(out, "  {name:<13} {value}");
        }
    };
    let at = |key: &str| match text(job, key) {
        "" => String::new(),
        time => format!("{time}  ({})", span(time, now)),
    };
    line("kind", text(job, "kind"));
    line("of", &target(job));
    line("characters", &job["characters"].as_i64().map(|n| n.to_string()).unwrap_or_default());
    line("namespace", text(job, "namespace"));
    line("lane", text(job, "lane"));
    line("attempts", &job["attempts"].to_string());
    line("last error", text(job, "last_error_code"));
    line("reason", &printable(text(job, "last_error_message")));
    line("failed at", &at("last_error_at"));
    line("what to do", text(job, "advice"));
    line("queued", &at("created_at"));
    if text(job, "state") == "PENDING" {
        line("due", &at("run_at"));
    }
    line("leased until", &at("leased_until"));
    line("ended", &at("finished_at"));
    out
}

fn refusals(answer: &Value) -> String {
    rows(answer, "refused").iter().fold(String::new(), |mut out, refused| {
        let _ = writeln!(out, "{}: {}", text(refused, "id"), text(refused, "reason"));
        out
    })
}

fn retried(answer: &Value) -> String {
    let count = answer["retried_count"].as_u64().unwrap_or(rows(answer, "retried").len() as u64);
    let wait = if count == 1 { "waits" } else { "wait" };
    format!("{} {wait} again.\n{}", counted(count as i64, "job"), refusals(answer))
}

fn cancelled(answer: &Value) -> String {
    let cancelled = rows(answer, "cancelled");
    let running = cancelled.iter().filter(|job| text(job, "was") == "PROCESSING").count();
    let mut out = format!("{} cancelled", counted(cancelled.len() as i64, "job"));
    if running > 0 {
        let _ = write!(out, ", {running} of them while being done: what is not written yet is not written");
    }
    format!("{out}.\n{}", refusals(answer))
}
