//! `reextract`: have texts read again, by another extractor or a newer version, while servers and hosts go on.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use memory_core::artifact::Context;
use memory_core::id::Namespace;
use memory_engine::operations::Requeued;
use memory_engine::progress::{Progress, Report};
use memory_extraction::EXTRACTORS;
use memory_language::text::counted;
use memory_store::events::ExtractorId;
use memory_store::reextraction::Selection;
use serde_json::{Value, json};

use super::jobs::{Scope, as_json};
use super::transfer_bar;
use crate::daemon::Signals;
use crate::operator::{OpenMemory, with_memory};
use crate::settings::Settings;

/// How many failed jobs a wait names in its summary.
const FAILED_SHOWN_MAX: usize = 20;

#[derive(Debug, Args)]
pub(crate) struct ReextractArgs {
    /// Also what the present extractor has read in its present version
    #[arg(long)]
    all: bool,
    /// Only what was read by a version before this one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    older_than_version: Option<i32>,
    /// Only what was read by the extractor of this name: rules or llm
    #[arg(long, value_name = "NAME")]
    extractor: Option<String>,
    /// Only texts of this kind, as in remember
    #[arg(long)]
    context: Option<String>,
    /// Wait until it is done
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    scope: Scope,
}

pub(crate) async fn run(settings: &Settings, args: ReextractArgs) -> anyhow::Result<ExitCode> {
    let context = match args.context.as_deref() {
        None => None,
        Some(name) => match Context::parse(name) {
            Some(context) => Some(context),
            None => bail!("Invalid context '{name}'. Must be one of: {}", Context::names()),
        },
    };
    if let Some(name) = args.extractor.as_deref().filter(|name| !EXTRACTORS.contains(name)) {
        bail!("there is no extractor {name:?} (--extractor); the extractors are {}", EXTRACTORS.join(", "));
    }
    let selection = Selection {
        all: args.all,
        older_than_version: args.older_than_version,
        extractor: args.extractor,
        context,
    };
    let namespace = args.scope.namespace(settings)?;
    let mut signals = Signals::new()?;
    let bar = transfer_bar(if args.wait { "jobs" } else { "texts" }, false);
    let report = |at: Progress| {
        bar.set_length(at.total);
        bar.set_position(at.done);
    };
    let summary = tokio::select! {
        summary = with_memory(settings, async |open| requeue(open, namespace, &selection, args.wait, &report).await) => summary,
        () = signals.any() => Err(anyhow::anyhow!("stopped; what was queued is extracted all the same")),
    };
    bar.finish_and_clear();
    let summary = summary?;
    if args.scope.json {
        println!("{}", serde_json::to_string_pretty(&summary)?);
    } else {
        print!("{}", sentences(&summary));
    }
    let has_failed = summary["failed_count"].as_u64() > Some(0);
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn requeue(
    open: &OpenMemory,
    namespace: Option<Namespace>,
    selection: &Selection,
    waits: bool,
    report: Report<'_>,
) -> anyhow::Result<Value> {
    let memory = &open.memory;
    let extractor = ExtractorId { name: &open.extractor.0, version: open.extractor.1 };
    let namespaces = match namespace {
        Some(namespace) => vec![namespace],
        None => memory.operations().namespaces().await?,
    };
    let mut sum = Requeued::default();
    let mut queued = Vec::new();
    for namespace in namespaces {
        let requeued =
            memory.operations().requeue_extraction(&namespace, extractor, selection, report).await?;
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
            failed.extend(memory.operations().wait_for_jobs(namespace, jobs, &report_sum).await?);
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
        "has_worker": memory.operations().has_worker().await?,
        "waited": waits,
        "failed_count": failed.len(),
        "failed": failed.iter().take(FAILED_SHOWN_MAX).map(as_json).collect::<Vec<_>>(),
    }))
}

fn sentences(summary: &Value) -> String {
    let count = |name: &str| summary[name].as_u64().unwrap_or(0);
    let extractor = summary["extractor"].as_str().unwrap_or_default();
    let (texts, turns) = (count("texts"), count("turns"));
    let mut out = String::new();
    let _ = match (texts, turns) {
        (0, 0) => writeln!(out, "Nothing was queued for {extractor}."),
        (1, 0) => writeln!(out, "1 text is extracted again by {extractor}."),
        (texts, 0) => writeln!(out, "{} are extracted again by {extractor}.", counted(texts, "text")),
        (texts, turns) => writeln!(
            out,
            "{} and {} of {} are extracted again by {extractor}.",
            counted(texts, "text"),
            counted(turns, "turn"),
            counted(count("conversations"), "conversation")
        ),
    };
    if count("waiting") > 0 {
        let _ = writeln!(out, "{} waited before.", count("waiting"));
    }
    if count("running") > 0 {
        let _ = writeln!(
            out,
            "Being extracted at this moment, and left alone: {}. If their worker is of an older version, run this \
             again when they have ended.",
            counted(count("running"), "text")
        );
    }
    if summary["waited"] == true {
        let _ = writeln!(out, "All jobs have ended, {} of them as FAILED.", count("failed_count"));
        for job in summary["failed"].as_array().into_iter().flatten() {
            let name = |key: &str| job[key].as_str().unwrap_or_default();
            let _ = writeln!(out, "  {}  {}", name("id"), name("last_error_code"));
        }
    } else if texts + turns > 0 && summary["has_worker"] == false {
        let _ = writeln!(out, "No worker has been seen lately: start `event-worker`.");
    } else if texts + turns > 0 {
        let _ = writeln!(out, "`remembrancer status` shows how many are left.");
    }
    out
}
