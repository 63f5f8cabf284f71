//! `jobs`: what operators see of the queue, and what they do with it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

use anyhow::bail;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Subcommand};
use jiff::Timestamp;
use memory_core::id::JobId;
use memory_core::job::{ErrorCode, JobKind, JobState};
use memory_engine::Memory;
use memory_engine::lines::{Report, unreported};
use memory_language::text::{counted, span_of_time};
use memory_store::Store;
use serde_json::Value;
use tokio::io::BufReader;

use super::print::{Style, printable};
use crate::instance::{Hello, send_line};
use crate::meeting::Meeting;
use crate::operate::{self, Operation};
use crate::settings::Settings;

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

/// The values of one of the core's closed lists, in any case: none can be missing here.
#[derive(Clone)]
struct OneOf(&'static [&'static str]);

impl TypedValueParser for OneOf {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let given = PossibleValuesParser::new(self.0).parse_ref(command, arg, value)?;
        Ok(self
            .0
            .iter()
            .find(|name| name.eq_ignore_ascii_case(&given))
            .map_or(given, |name| (*name).to_owned()))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(PossibleValue::new)))
    }
}

fn states() -> OneOf {
    static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| JobState::ALL.iter().map(|s| s.as_str()).collect());
    OneOf(&NAMES)
}

fn kinds() -> OneOf {
    static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| JobKind::ALL.iter().map(|k| k.as_str()).collect());
    OneOf(&NAMES)
}

fn codes() -> OneOf {
    static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| ErrorCode::ALL.iter().map(|c| c.as_str()).collect());
    OneOf(&NAMES)
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
    #[arg(long, ignore_case = true, value_parser = states())]
    state: Option<String>,
    /// Only jobs of this kind
    #[arg(long, ignore_case = true, value_parser = kinds())]
    kind: Option<String>,
    /// Only jobs whose last attempt failed like this
    #[arg(long, ignore_case = true, value_parser = codes())]
    code: Option<String>,
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
    #[arg(long, ignore_case = true, requires = "failed", value_parser = codes())]
    code: Option<String>,
    /// Of these only those of this kind
    #[arg(long, ignore_case = true, requires = "failed", value_parser = kinds())]
    kind: Option<String>,
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

pub(crate) async fn run(settings: &Settings, args: JobsArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        JobsCommand::List(args) => {
            let operation = Operation::ListJobs {
                state: args.state,
                kind: args.kind,
                code: args.code,
                ids: None,
                limit: args.limit,
            };
            let answer = ask(settings, &args.scope, operation, &unreported).await?;
            show(&answer, &args.scope, table)
        }
        JobsCommand::Show(args) => {
            let ids = parsed(std::slice::from_ref(&args.id))?;
            let id = JobId(ids[0]);
            let operation =
                Operation::ListJobs { state: None, kind: None, code: None, ids: Some(ids), limit: 1 };
            let answer = ask(settings, &args.scope, operation, &unreported).await?;
            let Some(job) = answer["jobs"].get(0) else {
                bail!("{id}: {}", operate::NOT_FOUND);
            };
            show(job, &args.scope, details)
        }
        JobsCommand::Retry(args) => {
            let operation = if args.failed {
                Operation::RetryFailedJobs { kind: args.kind, code: args.code }
            } else {
                Operation::RetryJobs { ids: parsed(&args.ids)? }
            };
            let answer = ask(settings, &args.scope, operation, &unreported).await?;
            show(&answer, &args.scope, |answer, _| retried(answer))
        }
        JobsCommand::Cancel(args) => {
            let operation = Operation::CancelJobs { ids: parsed(&args.ids)? };
            let answer = ask(settings, &args.scope, operation, &unreported).await?;
            show(&answer, &args.scope, |answer, _| cancelled(answer))
        }
    }
}

fn parsed(ids: &[String]) -> anyhow::Result<Vec<i64>> {
    if ids.len() > IDS_MAX {
        bail!("{} jobs are named, the limit is {IDS_MAX}; name them in several commands", ids.len());
    }
    ids.iter().map(|id| Ok(JobId::parse(id)?.0)).collect()
}

/// Has it done by the process that holds the data folder. With a database of the user's own no such process is needed.
pub(super) async fn ask(
    settings: &Settings,
    scope: &Scope,
    operation: Operation,
    report: Report<'_>,
) -> anyhow::Result<Value> {
    let namespace = if scope.all_namespaces { None } else { Some(settings.namespace()?) };
    if let Some(url) = &settings.store.database_url {
        let store = Store::open(url, settings.store.database_connections).await?;
        let memory = Arc::new(Memory::new(store, settings.extractor()?, settings.engine()));
        let answer = operate::perform(&memory, namespace.as_ref(), operation, report).await;
        memory.close().await;
        return answer;
    }
    let (read, mut write) = Meeting::of(settings)?.connect_or_start(settings).await?.into_split();
    let namespace = namespace.map(|namespace| namespace.to_string());
    send_line(&mut write, &Hello::Operate { namespace, operation }).await?;
    operate::receive(&mut BufReader::new(read), report).await
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
    let mut told = BTreeSet::new();
    for job in jobs {
        let (code, state) = (text(job, "last_error_code"), text(job, "state"));
        if code.is_empty() || state == "DONE" || !told.insert(code) {
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
