//! `reconcile` and `reindex`: the mirror of the vectors compared with Postgres, and built anew.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use memory_engine::Memory;
use memory_engine::mirror::{Compared, Look, Reconciled};
use memory_engine::progress::{Progress, Report};
use memory_language::text::counted;
use serde_json::{Value, json};

use super::transfer_bar;
use crate::daemon::Signals;
use crate::operator::with_memory;
use crate::settings::Settings;

#[derive(Debug, Args)]
pub(crate) struct ReconcileArgs {
    /// Mend what is missing, left over or out of date
    #[arg(long)]
    repair: bool,
    /// Read every vector and all that is kept with it, not only the digest that each point says of itself (slower)
    #[arg(long)]
    thorough: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReindexArgs {
    /// Mirror nothing any more, and delete the collections
    #[arg(long)]
    end: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Ends with an error when something differs and is not mended.
pub(crate) async fn reconcile(settings: &Settings, args: ReconcileArgs) -> anyhow::Result<ExitCode> {
    let summary =
        run(settings, MirrorTask::Reconcile { repair: args.repair, thorough: args.thorough }).await?;
    let is_sound = differences(if args.repair { &summary["left"] } else { &summary["found"] }) == 0
        && (args.repair || summary["orphans"].as_array().is_none_or(Vec::is_empty));
    print(args.json, &summary, || comparison(&summary))?;
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(crate) async fn reindex(settings: &Settings, args: ReindexArgs) -> anyhow::Result<ExitCode> {
    let task = if args.end { MirrorTask::End } else { MirrorTask::Reindex };
    let summary = run(settings, task).await?;
    print(args.json, &summary, || {
        if args.end {
            return format!(
                "{} deleted. Take QDRANT_URL away, or a new mirror is begun.\n",
                match summary["collections_deleted"].as_u64().unwrap_or(0) {
                    1 => "1 collection was".to_owned(),
                    n => format!("{} were", counted(n, "collection")),
                }
            );
        }
        let mut out = format!(
            "{} is searched now, with {}",
            text(&summary, "collection"),
            counted(summary["points"].as_u64().unwrap_or(0), "point")
        );
        match summary["replaced"].as_str() {
            Some(replaced) => {
                let _ = writeln!(out, ", in the place of {replaced}, which is deleted in a minute.");
            }
            None => out.push_str(".\n"),
        }
        out
    })?;
    Ok(ExitCode::SUCCESS)
}

fn print(json: bool, summary: &Value, sentences: impl FnOnce() -> String) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(summary)?);
    } else {
        print!("{}", sentences());
    }
    Ok(())
}

async fn run(settings: &Settings, task: MirrorTask) -> anyhow::Result<Value> {
    let mut signals = Signals::new()?;
    let bar = transfer_bar("points", false);
    let report = |at: Progress| {
        bar.set_length(at.total);
        bar.set_position(at.done);
    };
    let summary = tokio::select! {
        summary = with_memory(settings, async |open| task.perform(&open.memory, &report).await) => summary,
        () = signals.any() => Err(anyhow::anyhow!("stopped; what is done stays done, run it again to go on")),
    };
    bar.finish_and_clear();
    summary
}

/// What is to be done.
#[derive(Debug, Clone, Copy)]
enum MirrorTask {
    Reconcile {
        repair: bool,
        /// Contents are compared too.
        thorough: bool,
    },
    Reindex,
    /// No mirror any more.
    End,
}

impl MirrorTask {
    /// Does it; gives what became of it.
    async fn perform(self, memory: &Memory, report: Report<'_>) -> anyhow::Result<Value> {
        match self {
            Self::Reconcile { repair, thorough } => {
                let look = if thorough { Look::Contents } else { Look::Digests };
                Ok(reconciled(&memory.mirror()?.reconcile(repair, look, report).await?))
            }
            Self::Reindex => {
                let done = memory.mirror()?.reindex(report).await?;
                Ok(json!({
                    "collection": done.collection,
                    "replaced": done.replaced,
                    "points": done.points,
                    "compared": compared(&done.compared),
                }))
            }
            Self::End => Ok(json!({ "collections_deleted": memory.mirror()?.end().await? })),
        }
    }
}

fn reconciled(done: &Reconciled) -> Value {
    json!({
        "found": done.found.iter().map(compared).collect::<Vec<_>>(),
        "left": done.left.iter().map(compared).collect::<Vec<_>>(),
        "orphans": done.orphans,
        "orphans_deleted": done.orphans_deleted,
    })
}

fn compared(compared: &Compared) -> Value {
    json!({
        "collection": compared.collection,
        "points": compared.points,
        "missing": compared.missing,
        "extra": compared.extra,
        "stale": compared.stale,
        "waiting": compared.waiting,
        "examples": compared.examples,
    })
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn differences(compared: &Value) -> u64 {
    let number = |one: &Value, key: &str| one[key].as_u64().unwrap_or(0);
    let all = compared.as_array().into_iter().flatten();
    all.map(|one| number(one, "missing") + number(one, "extra") + number(one, "stale")).sum()
}

fn comparison(summary: &Value) -> String {
    let mut out = String::new();
    let found = summary["found"].as_array().map_or(&[][..], Vec::as_slice);
    if found.is_empty() {
        out.push_str("No collection is searched yet; `remembrancer status` shows how far it is.\n");
    }
    for (when, compared) in [("", &summary["found"]), ("After the repair: ", &summary["left"])] {
        for one in compared.as_array().into_iter().flatten() {
            let _ = write!(
                out,
                "{when}{}: {} points; {} missing, {} extra, {} stale",
                text(one, "collection"),
                one["points"],
                one["missing"],
                one["extra"],
                one["stale"]
            );
            if one["waiting"].as_u64().unwrap_or(0) > 0 {
                let _ = write!(out, "; {} are under way", one["waiting"]);
            }
            out.push('\n');
        }
    }
    let orphans = summary["orphans"].as_array().map_or(&[][..], Vec::as_slice);
    for orphan in orphans.iter().filter_map(Value::as_str) {
        let what = if summary["orphans_deleted"] == true {
            "was deleted"
        } else {
            "is there and belongs to nothing"
        };
        let _ = writeln!(out, "The collection {orphan} {what}.");
    }
    if differences(&summary["found"]) > 0 && summary["left"].as_array().is_none_or(Vec::is_empty) {
        out.push_str("`remembrancer reconcile --repair` mends it.\n");
    }
    out
}
