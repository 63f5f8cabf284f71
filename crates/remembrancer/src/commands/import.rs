//! `import`: lines of JSON that `export` or a graph server wrote, all of them or none.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use memory_agents::history::Format;
use memory_core::graph::GraphScope;
use memory_core::id::Namespace;
use memory_engine::archive::{ArchiveImported, Tally};
use memory_engine::graph::GraphImported;
use memory_engine::progress::{Progress, Report};
use memory_engine::{EngineError, Memory};
use serde_json::{Value, json};
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader};

use super::export::{graph_scope, shown};
use super::import_history::{self, History};
use super::print::printable;
use super::transfer_bar;
use crate::daemon::Signals;
use crate::operator::with_memory;
use crate::settings::Settings;

const BUFFER_BYTES: usize = 256 * 1024;
/// How often an import is tried that other writers get in the way of.
const ATTEMPTS: usize = 3;
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The file to read; standard input when it is - or left out. With --from files or folders, one or more
    files: Vec<PathBuf>,
    /// What it is that other programs wrote: chatgpt, claude, claude-code, codex, opencode, mem0, zep, mcp-memory-service, basic-memory, obsidian or server-memory
    #[arg(long, value_name = "FORMAT", conflicts_with = "graph")]
    from: Option<Format>,
    /// With --from, say what would be stored, store nothing
    #[arg(long, requires = "from")]
    dry_run: bool,
    /// With --from, a word to find the texts by; may be given several times
    #[arg(long = "tag", value_name = "TAG", requires = "from")]
    tags: Vec<String>,
    /// It is a knowledge graph, in the format of the reference memory server
    #[arg(long)]
    graph: bool,
    /// Which graph of the namespace it is added to
    #[arg(long, value_name = "ID", requires = "graph")]
    thread: Option<String>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: ImportArgs) -> anyhow::Result<ExitCode> {
    let is_graph = args.graph || args.from == Some(Format::ServerMemory);
    if let Some(format) = args.from.filter(|_| !is_graph) {
        let history =
            History { format, files: args.files, tags: args.tags, dry_run: args.dry_run, as_json: args.json };
        return import_history::run(settings, history).await;
    }
    if args.dry_run {
        bail!("a graph is imported whole or not at all; leave --dry-run out");
    }
    if args.files.len() > 1 {
        bail!("give one file; --from takes several");
    }
    let file = args.files.first().map(PathBuf::as_path);
    let namespace = settings.namespace()?;
    let scope = if is_graph { Some(graph_scope(args.thread.as_deref())?) } else { None };
    let mut signals = Signals::new()?;
    let bar = transfer_bar("bytes", false);
    let report = |at: Progress| {
        bar.set_length(at.total);
        bar.set_position(at.done);
    };
    let importing = async {
        let (mut file, length) = opened(file).await?;
        with_memory(settings, async |open| {
            import(&open.memory, &namespace, scope.as_ref(), &mut file, length, &report).await
        })
        .await
    };
    let summary = tokio::select! {
        summary = importing => summary?,
        () = signals.any() => bail!("stopped; either all of it is there or nothing was changed"),
    };
    bar.finish_and_clear();
    if args.json {
        println!("{}", serde_json::to_string_pretty(&summary)?);
    } else {
        print!("{}", sentences(&summary));
    }
    Ok(ExitCode::SUCCESS)
}

/// The file and its length in bytes. What cannot be read twice is copied first, so that no transaction waits for it.
async fn opened(file: Option<&Path>) -> anyhow::Result<(File, u64)> {
    let mut source: Box<dyn AsyncRead + Send + Unpin> = match file {
        Some(path) if path.as_os_str() != "-" => {
            let unreadable = || format!("{} cannot be read", path.display());
            let file = File::open(path).await.with_context(unreadable)?;
            let metadata = file.metadata().await.with_context(unreadable)?;
            if metadata.is_file() {
                return Ok((file, metadata.len()));
            }
            Box::new(file)
        }
        _ => Box::new(tokio::io::stdin()),
    };
    let no_room = || {
        format!(
            "there is no room in {} for what is imported; name another folder with TMPDIR",
            std::env::temp_dir().display()
        )
    };
    let mut copy = File::from_std(tempfile::tempfile().with_context(no_room)?);
    let mut part = vec![0; BUFFER_BYTES];
    let mut length = 0;
    loop {
        let read = source.read(&mut part).await.context("what is imported cannot be read")?;
        if read == 0 {
            break;
        }
        copy.write_all(&part[..read]).await.with_context(no_room)?;
        length += read as u64;
    }
    copy.flush().await.with_context(no_room)?;
    Ok((copy, length))
}

/// All of it in one transaction, again where other writers get in its way.
async fn import(
    memory: &Memory,
    ns: &Namespace,
    graph: Option<&GraphScope>,
    file: &mut File,
    length: u64,
    report: Report<'_>,
) -> anyhow::Result<Value> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        file.rewind().await?;
        let lines = &mut BufReader::with_capacity(BUFFER_BYTES, &mut *file);
        let outcome = match graph {
            Some(scope) => {
                memory.graph().import(ns, scope, lines, length, report).await.map(|d| graph_imported(&d))
            }
            None => memory.archive().import(ns, lines, length, report).await.map(|d| archive_imported(&d)),
        };
        match outcome {
            Err(EngineError::Unavailable(_)) if attempt < ATTEMPTS => tokio::time::sleep(PAUSE).await,
            other => return Ok(other?),
        }
    }
}

fn graph_imported(done: &GraphImported) -> Value {
    json!({
        "entities": { "created": done.entities_created, "known": done.entities_known },
        "observations": { "created": done.observations_added },
        "relations": { "created": done.relations_created, "known": done.relations_known },
        "warnings": done.warnings,
    })
}

fn archive_imported(done: &ArchiveImported) -> Value {
    let tally = |tally: Tally| json!({ "created": tally.created, "known": tally.known });
    json!({
        "artifacts": tally(done.artifacts),
        "revisions": tally(done.revisions),
        "threads": tally(done.threads),
        "entities": tally(done.entities),
        "observations": tally(done.observations),
        "relations": tally(done.relations),
        "extractions": tally(done.extractions),
        "decisions": tally(done.decisions),
    })
}

/// `entities: 3 new, 2 already there`, a line each, and the warnings.
fn sentences(summary: &Value) -> String {
    let mut out = String::new();
    for (name, counts) in summary.as_object().into_iter().flatten() {
        let Some(created) = counts["created"].as_u64() else { continue };
        let known = match counts["known"].as_u64() {
            None | Some(0) if created == 0 => continue,
            None | Some(0) => String::new(),
            Some(known) => format!(", {known} already there"),
        };
        let _ = writeln!(out, "{}: {created} new{known}", shown(name));
    }
    for warning in summary["warnings"].as_array().into_iter().flatten() {
        let _ = writeln!(out, "note: {}", printable(warning.as_str().unwrap_or_default()));
    }
    out
}
