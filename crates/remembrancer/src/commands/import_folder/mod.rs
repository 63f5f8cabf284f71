//! `import-folder`: remember every text file of a tree. A file is a document whose place is its path, so
//! running it again stores only what has changed.

mod missing;
mod tree;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use futures::StreamExt;
use memory_core::artifact::{CONTENT_MAX_CHARS, Context};
use memory_language::text::counted;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use self::missing::Remembered;
use self::tree::Tree;
use super::text_file::{self, NotText};
use super::transfer_bar;
use crate::client::Client;
use crate::daemon::Signals;
use crate::settings::Settings;

/// Files under way at the same time: enough to keep the model busy while others are read and committed.
const AT_ONCE: usize = 8;
/// A larger file cannot be a content; four bytes a character at most.
const FILE_MAX_BYTES: u64 = 4 * CONTENT_MAX_CHARS as u64;
/// How many files of a kind are named.
const NAMED_MAX: usize = 10;

#[derive(Debug, Args)]
pub(crate) struct ImportFolderArgs {
    /// The folder
    dir: PathBuf,
    /// Kind of the texts, as in remember
    #[arg(long, default_value = "document", value_name = "KIND")]
    context: String,
    /// A word to find the texts by; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Also what .gitignore names, and the folders node_modules, target and vendor
    #[arg(long)]
    include_ignored: bool,
    /// Forget the files that are remembered of this folder and are gone; says which, and needs --confirm
    #[arg(long)]
    forget_missing: bool,
    /// Really forget them
    #[arg(long, requires = "forget_missing")]
    confirm: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error("{0} bytes, the limit is {FILE_MAX_BYTES}; split the file")]
    TooLarge(u64),
    #[error(transparent)]
    NotText(#[from] NotText),
    #[error("empty")]
    Empty,
    #[error("{0} characters, the limit is {CONTENT_MAX_CHARS}; split the file")]
    TooLong(usize),
    /// It may be readable another time.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Date(#[from] jiff::Error),
}

impl From<ReadError> for Outcome {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(_) | ReadError::Date(_) => Self::Failed(error.to_string()),
            _ => Self::Skipped(error.to_string()),
        }
    }
}

enum Outcome {
    Created(Option<&'static str>),
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
    /// What was read in another way than others, with how.
    notes: Vec<String>,
}

pub(crate) async fn run(settings: &Settings, args: ImportFolderArgs) -> anyhow::Result<ExitCode> {
    if Context::parse(&args.context).is_none() {
        bail!("Invalid context '{}'. Must be one of: {}", args.context, Context::names());
    }
    let root = root(&args)?;
    // A folder that is gone has nothing to import, but may have files to forget.
    let mut tree = if root.is_dir() { Tree::of(&root, args.include_ignored) } else { Tree::default() };
    let args = Arc::new(args);
    let mut tally = Tally { failed: std::mem::take(&mut tree.unreadable), ..Tally::default() };
    let is_stopped = import_all(settings, &args, &root, std::mem::take(&mut tree.files), &mut tally).await?;
    let remembered = if is_stopped { Remembered::default() } else { missing::look(settings, &root).await? };
    let forgotten = if args.confirm && !remembered.missing.is_empty() {
        Some(missing::forget(settings, &root, &remembered.missing).await?)
    } else {
        None
    };
    let report = Report { tally, tree, remembered, forgotten, is_stopped, root };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report.summary())?);
    } else {
        print!("{}", report.sentences());
    }
    if args.forget_missing && !args.confirm && !report.remembered.missing.is_empty() {
        eprintln!(
            "remembrancer: Nothing was forgotten yet. This deletes {} and everything extracted from them for good. Call \
             again with --forget-missing --confirm.",
            counted(report.remembered.missing.len() as u64, "remembered file")
        );
        return Ok(ExitCode::FAILURE);
    }
    let is_well = !report.is_stopped && report.tally.failed.is_empty();
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The folder by its real path; one that is gone by the path that was given.
fn root(args: &ImportFolderArgs) -> anyhow::Result<PathBuf> {
    match args.dir.canonicalize() {
        Ok(root) if root.is_dir() => Ok(root),
        Ok(file) => {
            bail!(
                "{} is not a folder; remember a single file with `remembrancer remember FILE`",
                file.display()
            )
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && args.forget_missing => {
            Ok(std::path::absolute(&args.dir)?)
        }
        Err(error) => Err(error).with_context(|| format!("the folder {} cannot be read", args.dir.display())),
    }
}

/// Remembers the files; gives whether it was stopped before the last.
async fn import_all(
    settings: &Settings,
    args: &Arc<ImportFolderArgs>,
    root: &Path,
    files: Vec<PathBuf>,
    tally: &mut Tally,
) -> anyhow::Result<bool> {
    let client = Arc::new(Client::connect_in_bulk(settings).await?);
    let bar = transfer_bar("files", false);
    bar.set_length(files.len() as u64);
    let mut signals = Signals::new()?;
    let mut outcomes = futures::stream::iter(files.into_iter().map(|file| {
        let (client, args, root) = (Arc::clone(&client), Arc::clone(args), root.to_owned());
        async move {
            let outcome = import(&client, &args, &root, &file).await;
            (file, outcome)
        }
    }))
    .buffer_unordered(AT_ONCE);
    loop {
        let (file, outcome) = tokio::select! {
            next = outcomes.next() => match next { Some(done) => done, None => break },
            () = signals.any() => { bar.finish_and_clear(); return Ok(true) }
        };
        bar.inc(1);
        let line = |why: &str| format!("{}: {why}", file.display());
        match outcome {
            Outcome::Created(note) => {
                tally.created += 1;
                tally.notes.extend(note.map(line));
            }
            Outcome::Unchanged => tally.unchanged += 1,
            Outcome::Skipped(why) => tally.skipped.push(line(&why)),
            Outcome::Failed(why) => {
                bar.suspend(|| eprintln!("{}", line(&why)));
                tally.failed.push(line(&why));
            }
        }
    }
    bar.finish_and_clear();
    Ok(false)
}

async fn import(client: &Client, args: &ImportFolderArgs, root: &Path, file: &Path) -> Outcome {
    let (arguments, note) = match read(args, root, file).await {
        Ok(read) => read,
        Err(error) => return error.into(),
    };
    match client.call("remember", arguments).await {
        Ok(answer) if answer.is_refusal => Outcome::Failed(answer.reason()),
        Ok(answer) if answer.value["status"] == "unchanged" => Outcome::Unchanged,
        Ok(_) => Outcome::Created(note),
        Err(error) => Outcome::Failed(format!("{error:#}")),
    }
}

/// The file as arguments of remember, with a note on how it was read.
async fn read(
    args: &ImportFolderArgs,
    root: &Path,
    file: &Path,
) -> Result<(JsonObject, Option<&'static str>), ReadError> {
    let metadata = tokio::fs::metadata(file).await?;
    if metadata.len() > FILE_MAX_BYTES {
        return Err(ReadError::TooLarge(metadata.len()));
    }
    let decoded = text_file::decode(tokio::fs::read(file).await?)?;
    if decoded.text.trim().is_empty() {
        return Err(ReadError::Empty);
    }
    let count = decoded.text.chars().count();
    if count > CONTENT_MAX_CHARS {
        return Err(ReadError::TooLong(count));
    }
    let modified = jiff::Timestamp::try_from(metadata.modified()?)?;
    let seconds = jiff::Timestamp::from_second(modified.as_second())?;
    let arguments = rmcp::object!({
        "content": decoded.text,
        "context": args.context,
        "source": root.to_string_lossy(),
        "source_id": file.strip_prefix(root).unwrap_or(file).to_string_lossy(),
        "title": file.file_name().unwrap_or_default().to_string_lossy(),
        "date": seconds.to_string(),
        "tags": args.tags,
    });
    Ok((arguments, decoded.note()))
}

/// All that was found and done.
struct Report {
    tally: Tally,
    tree: Tree,
    remembered: Remembered,
    forgotten: Option<u64>,
    is_stopped: bool,
    root: PathBuf,
}

impl Report {
    fn summary(&self) -> Value {
        let (tally, tree) = (&self.tally, &self.tree);
        json!({
            "created": tally.created, "unchanged": tally.unchanged, "skipped": tally.skipped, "failed": tally.failed,
            "notes": tally.notes,
            "left_out": { "hidden": tree.hidden, "links": tree.links, "ignored": tree.ignored },
            "missing": self.remembered.missing, "also_in": self.remembered.gone_folders,
            "forgotten": self.forgotten.unwrap_or(0),
            "stopped": self.is_stopped,
        })
    }

    fn sentences(&self) -> String {
        let tally = &self.tally;
        let mut out = format!(
            "{} new, {} unchanged, {} skipped, {} failed\n",
            tally.created,
            tally.unchanged,
            tally.skipped.len(),
            tally.failed.len()
        );
        push_named(&mut out, "skipped ", &tally.skipped);
        push_named(&mut out, "", &tally.notes);
        self.push_left_out(&mut out);
        self.push_missing(&mut out);
        if self.is_stopped {
            out.push_str(
                "Stopped. Run the same command again to go on; what is stored is not stored twice.\n",
            );
        }
        out
    }

    fn push_left_out(&self, out: &mut String) {
        let Tree { hidden, links, ignored, .. } = &self.tree;
        let mut parts = Vec::new();
        if *hidden > 0 {
            parts.push(format!("{hidden} hidden"));
        }
        if *links > 0 {
            parts.push(counted(*links, "link"));
        }
        if !ignored.is_empty() {
            let named: Vec<&str> = ignored.iter().take(3).map(String::as_str).collect();
            let more = if ignored.len() > named.len() { ", …" } else { "" };
            let named = named.join(", ");
            parts.push(format!("{} ignored ({named}{more}), which --include-ignored takes", ignored.len()));
        }
        if !parts.is_empty() {
            let _ = writeln!(out, "  left out: {}", parts.join("; "));
        }
    }

    fn push_missing(&self, out: &mut String) {
        let (missing, root) = (&self.remembered.missing, self.root.display());
        match self.forgotten {
            Some(count) => {
                let _ = writeln!(out, "Forgotten, since it is gone: {}", counted(count, "file"));
            }
            None if missing.is_empty() => {}
            None => {
                let _ = writeln!(
                    out,
                    "Remembered, but gone: {}. `remembrancer import-folder '{root}' --forget-missing` forgets what is gone",
                    counted(missing.len() as u64, "file")
                );
                push_named(out, "gone ", missing);
            }
        }
        for (folder, texts) in &self.remembered.gone_folders {
            let _ = writeln!(
                out,
                "{} also remembered under {folder}, which is gone. If it was moved here, `remembrancer import-folder \
                 '{folder}' --forget-missing` forgets the old places and keeps the new",
                if *texts == 1 {
                    "1 of these texts is".to_owned()
                } else {
                    format!("{texts} of these texts are")
                }
            );
        }
    }
}

fn push_named(out: &mut String, what: &str, lines: &[String]) {
    for line in lines.iter().take(NAMED_MAX) {
        let _ = writeln!(out, "  {what}{line}");
    }
    if lines.len() > NAMED_MAX {
        let _ = writeln!(out, "  … and {} more", lines.len() - NAMED_MAX);
    }
}
