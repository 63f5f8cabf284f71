//! `import-folder`: remember every text file of a tree. A file is a document whose place is its path, so
//! running it again stores only what has changed.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use futures::StreamExt;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use memory_core::artifact::CONTENT_MAX_CHARS;
use rmcp::model::JsonObject;
use serde_json::{Value, json};
use walkdir::WalkDir;

use crate::client::Client;
use crate::instance::Signals;
use crate::settings::Settings;

/// Files under way at the same time: enough to keep the model busy while others are read and committed.
const AT_ONCE: usize = 8;
/// A larger file cannot be a content; four bytes a character at most.
const FILE_MAX_BYTES: u64 = 4 * CONTENT_MAX_CHARS as u64;

#[derive(Debug, Args)]
pub(crate) struct ImportFolderArgs {
    dir: PathBuf,
    /// Kind of the texts, as in remember
    #[arg(long, default_value = "document")]
    context: String,
    /// May be given several times
    #[arg(long = "tag")]
    tags: Vec<String>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

enum Outcome {
    Created,
    Unchanged,
    /// Not text, or too long: said why.
    Skipped(String),
    Failed(String),
}

#[derive(Default)]
struct Tally {
    created: usize,
    unchanged: usize,
    skipped: Vec<String>,
    failed: Vec<String>,
}

pub(crate) async fn run(settings: &Settings, args: ImportFolderArgs) -> anyhow::Result<ExitCode> {
    let root = args
        .dir
        .canonicalize()
        .with_context(|| format!("the folder {} cannot be read", args.dir.display()))?;
    if !root.is_dir() {
        bail!("{} is not a folder; remember a single file with `remembrancer remember FILE`", root.display());
    }
    let files = text_files(&root);
    let client = Arc::new(Client::connect_in_bulk(settings).await?);
    let bar = progress_bar(files.len() as u64);
    let mut signals = Signals::new()?;
    let args = Arc::new(args);
    let mut outcomes = futures::stream::iter(files.into_iter().map(|file| {
        let (client, args, root) = (Arc::clone(&client), Arc::clone(&args), root.clone());
        async move {
            let outcome = import(&client, &args, &root, &file).await;
            (file, outcome)
        }
    }))
    .buffer_unordered(AT_ONCE);
    let mut tally = Tally::default();
    let mut is_stopped = false;
    loop {
        let (file, outcome) = tokio::select! {
            next = outcomes.next() => match next { Some(done) => done, None => break },
            () = signals.any() => { is_stopped = true; break }
        };
        bar.inc(1);
        match outcome {
            Outcome::Created => tally.created += 1,
            Outcome::Unchanged => tally.unchanged += 1,
            Outcome::Skipped(why) => tally.skipped.push(format!("{}: {why}", file.display())),
            Outcome::Failed(why) => {
                bar.suspend(|| eprintln!("{}: {why}", file.display()));
                tally.failed.push(format!("{}: {why}", file.display()));
            }
        }
    }
    bar.finish_and_clear();
    report(&tally, is_stopped, args.json)?;
    Ok(if is_stopped || !tally.failed.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn report(tally: &Tally, is_stopped: bool, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        let summary = json!({
            "created": tally.created, "unchanged": tally.unchanged, "skipped": tally.skipped, "failed": tally.failed,
            "stopped": is_stopped,
        });
        println!("{}", serde_json::to_string_pretty(&summary)?);
        return Ok(());
    }
    println!(
        "{} new, {} unchanged, {} skipped, {} failed",
        tally.created,
        tally.unchanged,
        tally.skipped.len(),
        tally.failed.len()
    );
    for skipped in tally.skipped.iter().take(10) {
        println!("  skipped {skipped}");
    }
    if tally.skipped.len() > 10 {
        println!("  … and {} more", tally.skipped.len() - 10);
    }
    if is_stopped {
        println!("Stopped. Run the same command again to go on; what is stored is not stored twice.");
    }
    Ok(())
}

/// All files below the folder in a fixed order, hidden ones and links left out.
fn text_files(root: &Path) -> Vec<PathBuf> {
    WalkDir::new(root)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.'))
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect()
}

async fn import(client: &Client, args: &ImportFolderArgs, root: &Path, file: &Path) -> Outcome {
    let arguments = match read(args, root, file).await {
        Ok(Ok(arguments)) => arguments,
        Ok(Err(why)) => return Outcome::Skipped(why),
        Err(error) => return Outcome::Failed(format!("{error:#}")),
    };
    match client.call("remember", arguments).await {
        Ok(answer) if answer.is_refusal => Outcome::Failed(answer.reason()),
        Ok(answer) if answer.value["status"] == "unchanged" => Outcome::Unchanged,
        Ok(_) => Outcome::Created,
        Err(error) => Outcome::Failed(format!("{error:#}")),
    }
}

/// The file as arguments of remember; the inner error says why it is no text to remember.
async fn read(
    args: &ImportFolderArgs,
    root: &Path,
    file: &Path,
) -> anyhow::Result<Result<JsonObject, String>> {
    let metadata = tokio::fs::metadata(file).await?;
    if metadata.len() > FILE_MAX_BYTES {
        return Ok(Err(format!("{} bytes, the limit is {FILE_MAX_BYTES}", metadata.len())));
    }
    let Ok(content) = String::from_utf8(tokio::fs::read(file).await?) else {
        return Ok(Err("not UTF-8 text".to_owned()));
    };
    if content.contains('\0') {
        return Ok(Err("not text (it has NUL characters)".to_owned()));
    }
    if content.trim().is_empty() {
        return Ok(Err("empty".to_owned()));
    }
    let modified = jiff::Timestamp::try_from(metadata.modified()?)?;
    let seconds = jiff::Timestamp::from_second(modified.as_second())?;
    let arguments = json!({
        "content": content,
        "context": args.context,
        "source": root.to_string_lossy(),
        "source_id": file.strip_prefix(root).unwrap_or(file).to_string_lossy(),
        "title": file.file_name().unwrap_or_default().to_string_lossy(),
        "date": seconds.to_string(),
        "tags": args.tags,
    });
    match arguments {
        Value::Object(arguments) => Ok(Ok(arguments)),
        _ => Ok(Err("not text".to_owned())),
    }
}

fn progress_bar(files: u64) -> ProgressBar {
    let bar = ProgressBar::new(files);
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} files  {per_sec}  {eta} left") {
        bar.set_style(style);
    }
    bar
}
