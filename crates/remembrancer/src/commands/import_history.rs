//! `import --from`: history that other programs exported, text by text. What is there already is not stored twice, so that
//! a stopped import is run again to go on.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use futures::StreamExt;
use memory_agents::history::{Format, Found, Text, read};
use memory_language::text::counted;
use rmcp::model::JsonObject;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use walkdir::WalkDir;

use super::note_links::{self, LINKS_AT_ONCE, NoteLink};
use super::transfer_bar;
use super::verbs::given;
use crate::client::Client;
use crate::daemon::Signals;
use crate::settings::Settings;

/// Texts under way at the same time, and how many are read ahead.
const AT_ONCE: usize = 4;
const AHEAD: usize = 64;
/// How many lines of a kind are named, and how many kept.
const NAMED_MAX: usize = 20;
const KEPT_MAX: usize = 10_000;
/// So many texts in a row that fail for one reason end the import: it is the memory that is at fault.
const FAILURES_IN_A_ROW: u32 = 20;

/// What is imported.
pub(super) struct History {
    pub(super) format: Format,
    pub(super) files: Vec<PathBuf>,
    pub(super) tags: Vec<String>,
    pub(super) dry_run: bool,
    pub(super) as_json: bool,
}

/// What was found, with the file that it is in.
struct Item {
    file: String,
    found: Found,
}

#[derive(Default)]
struct Tally {
    files: usize,
    texts: u64,
    turns: u64,
    conversations: BTreeSet<String>,
    by_role: BTreeMap<&'static str, u64>,
    created: u64,
    unchanged: u64,
    links: u64,
    first: Option<String>,
    last: Option<String>,
    unreadable: Vec<String>,
    failed: Vec<String>,
    failures: u64,
    /// How many of the last texts failed for the reason that was noted last.
    failures_in_a_row: u32,
    is_stopped: bool,
}

impl Tally {
    /// Whether something was read, all of that was stored, and nothing ended it before.
    fn is_well(&self) -> bool {
        let is_unread = self.texts == 0 && self.links == 0 && !self.unreadable.is_empty();
        self.failures == 0 && !self.is_stopped && !is_unread
    }

    fn count(&mut self, text: &Text) {
        self.texts += 1;
        if let Some((conversation, _)) = &text.turn {
            self.turns += 1;
            if !self.conversations.contains(conversation) {
                self.conversations.insert(conversation.clone());
            }
        }
        if let Some(role) = text.role {
            *self.by_role.entry(role).or_default() += 1;
        }
        if let Some(date) = &text.date {
            if self.first.as_ref().is_none_or(|first| date < first) {
                self.first = Some(date.clone());
            }
            if self.last.as_ref().is_none_or(|last| date > last) {
                self.last = Some(date.clone());
            }
        }
    }
}

pub(super) async fn run(settings: &Settings, history: History) -> anyhow::Result<ExitCode> {
    let files = files(&history)?;
    let mut tally = Tally { files: files.len(), ..Tally::default() };
    import(settings, &history, files, &mut tally).await?;
    if history.as_json {
        println!("{:#}", summary(&tally, history.dry_run));
    } else {
        print!("{}", sentences(&tally, history.dry_run));
    }
    Ok(if tally.is_well() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The files, each with the name that it is known by: its path below the folder that was given.
fn files(history: &History) -> anyhow::Result<Vec<(PathBuf, String)>> {
    if history.files.is_empty() {
        bail!("name the files or folders to import");
    }
    let mut files = Vec::new();
    for given in &history.files {
        let found = given.metadata().with_context(|| format!("{} cannot be read", given.display()))?;
        if !found.is_dir() {
            let name = given.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((given.clone(), name));
            continue;
        }
        let entries = WalkDir::new(given).sort_by_file_name().into_iter().filter_map(Result::ok);
        let in_folder =
            entries.map(walkdir::DirEntry::into_path).filter(|path| is_of(history.format, given, path));
        files.extend(in_folder.map(|path| {
            let name = path.strip_prefix(given).unwrap_or(&path).to_string_lossy().into_owned();
            (path, name)
        }));
    }
    if files.is_empty() {
        bail!("no .{} file is in what was named", history.format.ending());
    }
    Ok(files)
}

/// Whether a file of a folder is of the format: exports have other files beside their conversations.
fn is_of(format: Format, folder: &Path, path: &Path) -> bool {
    let below = path.strip_prefix(folder).unwrap_or(path);
    let is_hidden = below.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'));
    let has_ending = path.extension().is_some_and(|ending| ending == format.ending());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_export = !matches!(format, Format::ChatGpt | Format::Claude) || name.starts_with("conversations");
    path.is_file() && has_ending && is_export && !is_hidden
}

async fn import(
    settings: &Settings,
    history: &History,
    files: Vec<(PathBuf, String)>,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let client = if history.dry_run { None } else { Some(Client::connect_in_bulk(settings).await?) };
    let mut signals = Signals::new()?;
    let bar = transfer_bar("texts", history.dry_run);
    let (send, receive) = mpsc::channel(AHEAD);
    let format = history.format;
    let reading = tokio::task::spawn_blocking(move || read_all(format, &files, &send));
    let items = futures::stream::unfold(receive, |mut receive| async {
        receive.recv().await.map(|item: Item| (item, receive))
    });
    let client = client.as_ref();
    let mut done = std::pin::pin!(items.map(|item| store(client, history, item)).buffered(AT_ONCE));
    let mut links = Vec::new();
    loop {
        let outcome = tokio::select! {
            next = done.next() => match next { Some(outcome) => outcome, None => break },
            () = signals.any() => { tally.is_stopped = true; break }
        };
        note(tally, outcome, &mut links);
        if tally.failures_in_a_row >= FAILURES_IN_A_ROW {
            tally.is_stopped = true;
            break;
        }
        bar.set_position(tally.texts);
        if links.len() >= LINKS_AT_ONCE {
            write_links(client, &mut links, tally).await?;
        }
    }
    bar.finish_and_clear();
    if tally.is_stopped {
        return Ok(());
    }
    write_links(client, &mut links, tally).await?;
    reading.await.context("the thread that reads has panicked")
}

/// On a thread of its own; waits while what was read is stored.
fn read_all(format: Format, files: &[(PathBuf, String)], send: &mpsc::Sender<Item>) {
    for (path, name) in files {
        let file = path.display().to_string();
        let mut take = |found| send.blocking_send(Item { file: file.clone(), found }).is_ok();
        if let Err(error) = read(format, path, name, &mut take) {
            take(Found::Problem { line: 0, reason: error.to_string() });
        }
    }
}

/// What became of an item.
enum Outcome {
    Counted(Text),
    Created(Text),
    Unchanged(Text),
    Failed(Text, String),
    Link(NoteLink),
    Unreadable(String),
}

async fn store(client: Option<&Client>, history: &History, Item { file, found }: Item) -> Outcome {
    let text = match found {
        Found::Text(text) => text,
        Found::Link { from, to, kind } => return Outcome::Link(NoteLink { from, to, kind }),
        Found::Problem { line: 0, reason } => return Outcome::Unreadable(format!("{file}: {reason}")),
        Found::Problem { line, reason } => return Outcome::Unreadable(format!("{file}:{line}: {reason}")),
    };
    let Some(client) = client else { return Outcome::Counted(text) };
    match client.call("remember", arguments(&text, history)).await {
        Ok(answer) if answer.is_refusal => Outcome::Failed(text, format!("{file}: {}", answer.reason())),
        Ok(answer) if answer.value["status"] == "unchanged" => Outcome::Unchanged(text),
        Ok(_) => Outcome::Created(text),
        Err(error) => Outcome::Failed(text, format!("{file}: {error:#}")),
    }
}

fn arguments(text: &Text, history: &History) -> JsonObject {
    let (conversation, index) = match &text.turn {
        Some((conversation, index)) => (Some(conversation), Some(index)),
        None => (None, None),
    };
    let tags: Vec<&String> = text.tags.iter().chain(&history.tags).collect();
    given(json!({
        "content": text.content, "context": text.context, "source": history.format.as_str(), "source_id": text.source_id,
        "title": text.title, "author": text.author, "date": text.date, "conversation_id": conversation,
        "turn_index": index, "role": text.role, "tags": tags,
    }))
}

fn note(tally: &mut Tally, outcome: Outcome, links: &mut Vec<NoteLink>) {
    let keep = |lines: &mut Vec<String>, line| {
        if lines.len() < KEPT_MAX {
            lines.push(line);
        }
    };
    match outcome {
        Outcome::Counted(text) => tally.count(&text),
        Outcome::Created(text) => {
            tally.count(&text);
            tally.failures_in_a_row = 0;
            tally.created += 1;
        }
        Outcome::Unchanged(text) => {
            tally.count(&text);
            tally.failures_in_a_row = 0;
            tally.unchanged += 1;
        }
        Outcome::Failed(text, reason) => {
            tally.count(&text);
            tally.failures += 1;
            let is_as_before = tally.failed.last() == Some(&reason);
            tally.failures_in_a_row = if is_as_before { tally.failures_in_a_row + 1 } else { 1 };
            keep(&mut tally.failed, reason);
        }
        Outcome::Link(link) => links.push(link),
        Outcome::Unreadable(reason) => keep(&mut tally.unreadable, reason),
    }
}

/// Writes the links that were found so far.
async fn write_links(
    client: Option<&Client>,
    links: &mut Vec<NoteLink>,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    tally.links += links.len() as u64;
    let links = std::mem::take(links);
    let Some(client) = client else { return Ok(()) };
    let refused = note_links::write(client, &links).await?;
    tally.failures += refused.len() as u64;
    tally.failed.extend(refused);
    Ok(())
}

fn summary(tally: &Tally, dry_run: bool) -> Value {
    json!({
        "dry_run": dry_run, "files": tally.files, "texts": tally.texts, "turns": tally.turns,
        "conversations": tally.conversations.len(), "by_role": tally.by_role, "first": tally.first, "last": tally.last,
        "links": tally.links, "created": tally.created, "unchanged": tally.unchanged, "failed": tally.failed,
        "unreadable": tally.unreadable, "stopped": tally.is_stopped,
    })
}

fn sentences(tally: &Tally, dry_run: bool) -> String {
    let mut out = format!(
        "{} in {}: {} in {}",
        counted(tally.texts, "text"),
        counted(tally.files as u64, "file"),
        counted(tally.turns, "turn"),
        counted(tally.conversations.len() as u64, "conversation"),
    );
    if let (Some(first), Some(last)) = (&tally.first, &tally.last) {
        let day = |date: &str| date.chars().take(10).collect::<String>();
        let _ = write!(out, ", {} to {}", day(first), day(last));
    }
    if tally.links > 0 {
        let _ = write!(out, ", {}", counted(tally.links, "link"));
    }
    out.push('\n');
    if dry_run {
        out.push_str("Nothing was stored: leave --dry-run out to do it.\n");
    } else {
        let (created, unchanged, failed) = (tally.created, tally.unchanged, tally.failures);
        let _ = writeln!(out, "{created} new, {unchanged} already there, {failed} failed");
    }
    for (what, lines) in [("failed", &tally.failed), ("not read", &tally.unreadable)] {
        for line in lines.iter().take(NAMED_MAX) {
            let _ = writeln!(out, "  {what}: {}", super::print::printable(line));
        }
        if lines.len() > NAMED_MAX {
            let _ = writeln!(out, "  … and {} more {what}; --json names them", lines.len() - NAMED_MAX);
        }
    }
    if tally.failures_in_a_row >= FAILURES_IN_A_ROW {
        let _ = writeln!(out, "The last {FAILURES_IN_A_ROW} texts failed for the same reason.");
    }
    if tally.is_stopped {
        out.push_str("Stopped. Run the same command again to go on; what is stored is not stored twice.\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_that_could_read_nothing_has_failed() {
        let unreadable = || vec!["foo.json:1: a conversation without id".to_owned()];
        assert!(Tally::default().is_well());
        assert!(!Tally { unreadable: unreadable(), ..Tally::default() }.is_well());
        assert!(Tally { unreadable: unreadable(), texts: 1, ..Tally::default() }.is_well());
        assert!(!Tally { texts: 1, failures: 1, ..Tally::default() }.is_well());
    }
}
