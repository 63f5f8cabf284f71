//! `reconcile` and `reindex`: the mirror of the vectors compared with Postgres, and built anew.

use std::fmt::Write;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use indicatif::ProgressBar;
use memory_engine::Memory;
use memory_engine::lines::Progress;
use memory_extraction::RulesExtractor;
use memory_language::text::counted;
use memory_store::Store;
use serde_json::Value;
use tokio::io::BufReader;

use super::transfer_bar;
use crate::instance::{Hello, Signals, send_line};
use crate::meeting::Meeting;
use crate::mirror::MirrorTask;
use crate::settings::Settings;
use crate::transfer::Frame;

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
    let working = async {
        match &settings.store.database_url {
            None => by_the_holder(settings, task, &bar).await,
            Some(url) => by_ourselves(settings, url, task, &bar).await,
        }
    };
    let summary = tokio::select! {
        summary = working => summary,
        () = signals.any() => Err(anyhow::anyhow!("stopped; what is done stays done, run it again to go on")),
    };
    bar.finish_and_clear();
    summary
}

async fn by_the_holder(settings: &Settings, task: MirrorTask, bar: &ProgressBar) -> anyhow::Result<Value> {
    let (read, mut write) = Meeting::of(settings)?.connect_or_start(settings).await?.into_split();
    send_line(&mut write, &Hello::Mirror(task)).await?;
    let mut read = BufReader::new(read);
    loop {
        let frame = Frame::receive(&mut read).await;
        match frame
            .context("the memory's process has ended; what is done stays done, run it again to go on")?
        {
            Frame::Progress(done, total) => show(bar, done, total),
            Frame::Done(summary) => return Ok(summary),
            Frame::Failed(reason) => bail!("{reason}"),
            Frame::Part(_) => bail!("the memory's process speaks another version; restart it"),
        }
    }
}

async fn by_ourselves(
    settings: &Settings,
    url: &str,
    task: MirrorTask,
    bar: &ProgressBar,
) -> anyhow::Result<Value> {
    let mirror = settings.mirror_server()?;
    let store = Store::open(url, settings.store.database_connections).await?;
    let memory = Memory::new(store, Arc::new(RulesExtractor::new()), settings.engine()).with_mirror(mirror);
    let report = |at: Progress| show(bar, at.done, at.total);
    let done = task.run(&memory, &report).await;
    memory.close().await;
    done
}

fn show(bar: &ProgressBar, done: u64, total: u64) {
    bar.set_length(total);
    bar.set_position(done);
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
