//! `reembed`: change the embedding model while servers and hosts go on.

use std::fmt::Write;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use indicatif::ProgressBar;
use memory_core::ports::EmbeddingModel;
use memory_engine::Memory;
use memory_engine::progress::Progress;
use memory_extraction::RulesExtractor;
use memory_language::text::counted;
use memory_store::Store;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::transfer_bar;
use crate::daemon::{ClientRequest, Signals, send_line};
use crate::instance_paths::InstancePaths;
use crate::reembed::{self, ReembedReply};
use crate::settings::Settings;
use crate::setup::import_model;

#[derive(Debug, Args)]
pub(crate) struct ReembedArgs {
    /// Leave the old model's vectors there: going back to it then takes no time
    #[arg(long)]
    keep_old: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: ReembedArgs) -> anyhow::Result<ExitCode> {
    if settings.model.model_dir.is_none() {
        bail!("which model? Name the folder of the new one with --model-dir DIR");
    }
    let mut signals = Signals::new()?;
    let bar = transfer_bar("passages", false);
    let working = async {
        match &settings.store.database_url {
            None => by_the_holder(settings, args.keep_old, &bar).await,
            Some(url) => by_ourselves(settings, url, args.keep_old, &bar).await,
        }
    };
    let summary = tokio::select! {
        summary = working => summary,
        () = signals.any() => Err(anyhow::anyhow!("stopped; what was made is kept, run it again to go on")),
    };
    bar.finish_and_clear();
    let summary = summary?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&summary)?);
    } else {
        print!("{}", sentences(&summary, settings.store.database_url.is_some()));
    }
    Ok(ExitCode::SUCCESS)
}

/// The process that holds the data folder has the database and goes on with the new model.
async fn by_the_holder(settings: &Settings, keep_old: bool, bar: &ProgressBar) -> anyhow::Result<Value> {
    let mut settings = settings.clone();
    let given = settings.model.model_dir.take().unwrap_or_default();
    let data_dir = settings.data_dir()?;
    let model_dir = tokio::task::spawn_blocking(move || import_model(&data_dir, &given)).await??;
    // Where it has to be started first, that is not with the new model: the stored vectors are of the old.
    let paths = InstancePaths::of(&settings)?;
    let (read, mut write) = paths.connect_or_start(&settings).await?.into_split();
    send_line(&mut write, &ClientRequest::Reembed { model_dir, keep_old }).await?;
    let mut lines = BufReader::new(read).lines();
    loop {
        let line = lines.next_line().await?;
        let line =
            line.context("the memory's process has ended; what was made is kept, run it again to go on")?;
        match serde_json::from_str(&line)
            .context("the memory's process speaks another version; restart it")?
        {
            ReembedReply::Progress { done, total } => {
                bar.set_length(total);
                bar.set_position(done);
            }
            ReembedReply::Done(summary) => {
                paths.forget_settings();
                return Ok(summary);
            }
            ReembedReply::Failed(reason) => bail!("{reason}"),
        }
    }
}

/// With a database of the user's own there may be any number of servers and workers, which have the old model until
/// they are started again.
async fn by_ourselves(
    settings: &Settings,
    url: &str,
    keep_old: bool,
    bar: &ProgressBar,
) -> anyhow::Result<Value> {
    let files = settings.model.files()?;
    let model_dir = files.model_dir.clone();
    let model = reembed::load(files, model_dir).await?;
    let store = Store::open(url, settings.store.database_connections).await?;
    let searched = store.active_model().await?;
    // They still search with the old vectors: those go in a later run.
    let switches = searched.is_none_or(|searched| searched.info != *model.info());
    let memory = Memory::new(store, Arc::new(RulesExtractor::new()), settings.engine());
    let memory = memory.with_mirror(settings.mirror_server()?);
    let report = |at: Progress| {
        bar.set_length(at.total);
        bar.set_position(at.done);
    };
    let done = memory.reembedding().run(model, keep_old || switches, &report).await;
    memory.close().await;
    Ok(reembed::summary(&done?))
}

fn sentences(summary: &Value, is_shared: bool) -> String {
    let mut out = String::new();
    let model = summary["model"].as_str().unwrap_or_default();
    let [embedded, failed, passages] =
        ["embedded", "failed", "passages"].map(|name| summary[name].as_u64().unwrap_or(0));
    let names = |name: &str| {
        let names = summary[name].as_array().into_iter().flatten().filter_map(Value::as_str);
        names.collect::<Vec<_>>().join(", ")
    };
    let (replaced, removed, kept) = (summary["replaced"].as_str(), names("removed"), names("kept"));
    if replaced.is_none() && embedded == 0 && removed.is_empty() && failed == 0 {
        let _ = writeln!(
            out,
            "Nothing to do: {model} is the model that is searched, and of {} all have its vectors.",
            counted(passages, "passage")
        );
    } else {
        let verb = if embedded == 1 { "was" } else { "were" };
        let _ = writeln!(out, "{embedded} of {} {verb} embedded by {model}.", counted(passages, "passage"));
    }
    if failed > 0 {
        let failed = counted(failed, "passage");
        let _ = writeln!(
            out,
            "It could not embed {failed}; what cannot be embedded is found by its words alone."
        );
    }
    if let Some(replaced) = replaced {
        let _ = writeln!(out, "It is searched now, in the place of {replaced}.");
    }
    if !removed.is_empty() {
        let _ = writeln!(out, "The vectors of {removed} were deleted.");
    }
    if !kept.is_empty() {
        let _ = writeln!(out, "The vectors of {kept} are still there.");
    }
    if is_shared && replaced.is_some() {
        let _ = writeln!(
            out,
            "Start every `remembrancer serve` and `event-worker` of this database again with the same --model-dir; then \
             run this command again: it makes up for what they wrote meanwhile and deletes the old vectors."
        );
    }
    out
}
