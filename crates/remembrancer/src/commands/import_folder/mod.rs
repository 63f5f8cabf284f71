//! `import-folder`: remember every text file of a tree, and with `--watch` what changes in it from then on. A file is a
//! document whose place is its path, so running it again stores only what has changed.

mod missing;
mod notes;
mod reading;
mod report;
mod tree;
mod watch;

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use futures::StreamExt;
use memory_agents::markdown::Link;
use memory_core::artifact::Context;
use memory_language::text::counted;

use self::missing::Remembered;
use self::notes::NoteNames;
use self::reading::{Fingerprint, Folder, Outcome};
use self::report::{Report, Tally};
use self::tree::Tree;
use super::note_links::{self, NoteLink};
use super::transfer_bar;
use crate::client::Client;
use crate::daemon::Signals;
use crate::settings::Settings;

/// Files under way at the same time: enough to keep the model busy while others are read and committed.
const AT_ONCE: usize = 8;

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
    /// Take Markdown files for notes that refer to each other: links become relations of the knowledge graph, #words tags
    #[arg(long)]
    notes: bool,
    /// Go on watching the folder, and remember what changes; ends with Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Print the summary as JSON; with --watch a line of JSON for it and for each file
    #[arg(long)]
    json: bool,
}

/// Places of notes with what they refer to.
type NoteLinks = Vec<(PathBuf, Vec<Link>)>;

/// Files as they were when they were read last.
type Known = HashMap<PathBuf, Fingerprint>;

pub(crate) async fn run(settings: &Settings, args: ImportFolderArgs) -> anyhow::Result<ExitCode> {
    if Context::parse(&args.context).is_none() {
        bail!("Invalid context '{}'. Must be one of: {}", args.context, Context::names());
    }
    if args.watch && args.forget_missing && !args.confirm {
        bail!(
            "--watch with --forget-missing deletes what goes from the folder, and everything extracted from it, for good. \
             Call again with --confirm."
        );
    }
    let folder = Arc::new(Folder { root: root(&args)?, args });
    let args = &folder.args;
    let mut signals = Signals::new()?;
    let (report, known, unwritten) = first_pass(settings, &folder, &mut signals).await?;
    if args.watch && args.json {
        println!("{}", report.summary());
    } else if args.json {
        println!("{}", serde_json::to_string_pretty(&report.summary())?);
    } else {
        print!("{}", report.sentences());
    }
    if args.watch && !report.is_stopped {
        return watch::run(settings, &folder, known, unwritten, &mut signals).await;
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

/// Everything that is there, and what is not there any more.
async fn first_pass(
    settings: &Settings,
    folder: &Arc<Folder>,
    signals: &mut Signals,
) -> anyhow::Result<(Report, Known, NoteLinks)> {
    let (root, args) = (&folder.root, &folder.args);
    // A folder that is gone has nothing to import, but may have files to forget.
    let mut tree = if root.is_dir() { Tree::of(root, args.include_ignored) } else { Tree::default() };
    let mut tally = Tally { failed: std::mem::take(&mut tree.unreadable), ..Tally::default() };
    let mut known = Known::new();
    let files = std::mem::take(&mut tree.files);
    let bar = transfer_bar("files", false);
    bar.set_length(files.len() as u64);
    let client = Client::connect_in_bulk(settings).await?;
    let note = |file: PathBuf, read: Option<Fingerprint>, outcome: Outcome| {
        bar.inc(1);
        let line = |why: &str| format!("{}: {why}", file.display());
        match outcome {
            Outcome::Created(note) => {
                tally.created += 1;
                tally.notes.extend(note.map(|why| line(&why)));
            }
            Outcome::Unchanged => tally.unchanged += 1,
            Outcome::Skipped(why) => tally.skipped.push(line(&why)),
            Outcome::Failed(why) | Outcome::Away(why) => {
                bar.suspend(|| eprintln!("{}", line(&why)));
                tally.failed.push(line(&why));
                return;
            }
        }
        known.extend(read.map(|read| (file, read)));
    };
    let imported = import_all(client, folder, files, signals, NoteLinks::new(), note).await;
    bar.finish_and_clear();
    let is_stopped = imported.is_stopped;
    tally.links = imported.links;
    tally.failed.extend(imported.refused);
    tally.failed.extend(imported.away.map(|why| format!("links: {why}")));
    let remembered = if is_stopped { Remembered::default() } else { missing::look(settings, root).await? };
    let forgotten = if args.confirm && !remembered.missing.is_empty() {
        Some(missing::forget(settings, root, &remembered.missing).await?)
    } else {
        None
    };
    let report = Report { tally, tree, remembered, forgotten, is_stopped, root: root.clone() };
    Ok((report, known, imported.unwritten))
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
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && args.forget_missing && !args.watch => {
            Ok(std::path::absolute(&args.dir)?)
        }
        Err(error) => Err(error).with_context(|| format!("the folder {} cannot be read", args.dir.display())),
    }
}

/// What came of all files together.
#[derive(Debug, Default)]
struct Imported {
    /// Before the last.
    is_stopped: bool,
    /// Links between notes that were written, and what was refused of them.
    links: usize,
    refused: Vec<String>,
    /// Links that are to be written again, since the memory did not answer, and why.
    unwritten: NoteLinks,
    away: Option<String>,
}

/// Remembers the files, and notes for each what it was like before it was read and what became of it. Their links are
/// written with those that were left from before.
async fn import_all(
    client: Client,
    folder: &Arc<Folder>,
    files: Vec<PathBuf>,
    signals: &mut Signals,
    mut links: NoteLinks,
    mut note: impl FnMut(PathBuf, Option<Fingerprint>, Outcome),
) -> Imported {
    let client = Arc::new(client);
    let mut outcomes = futures::stream::iter(files.into_iter().map(|file| {
        let (client, folder) = (Arc::clone(&client), Arc::clone(folder));
        async move {
            let before = Fingerprint::of(&file).ok();
            let (outcome, links) = reading::import(&client, &folder, &file).await;
            (file, before, outcome, links)
        }
    }))
    .buffer_unordered(AT_ONCE);
    loop {
        tokio::select! {
            next = outcomes.next() => match next {
                Some((file, before, outcome, found)) => {
                    if !found.is_empty() {
                        links.push((PathBuf::from(folder.place(&file)), found));
                    }
                    note(file, before, outcome);
                }
                None => break,
            },
            () = signals.any() => return Imported { is_stopped: true, ..Imported::default() },
        }
    }
    drop(outcomes);
    write_links(&client, folder, links).await
}

/// Writes the links of notes, led to the titles of what they mean.
async fn write_links(client: &Client, folder: &Arc<Folder>, links: NoteLinks) -> Imported {
    if links.is_empty() {
        return Imported::default();
    }
    let reader = Arc::clone(folder);
    let names = tokio::task::spawn_blocking(move || {
        let files = Tree::of(&reader.root, reader.args.include_ignored).files;
        NoteNames::of(&reader, &files)
    });
    let names = names.await.unwrap_or_default();
    let resolved: Vec<NoteLink> =
        links.iter().flat_map(|(place, links)| names.resolve(place, links)).collect();
    match note_links::write(client, &resolved).await {
        Ok(refused) => Imported { links: resolved.len(), refused, ..Imported::default() },
        Err(error) => Imported { unwritten: links, away: Some(format!("{error:#}")), ..Imported::default() },
    }
}
