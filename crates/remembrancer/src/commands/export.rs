//! `export`: everything of a namespace that cannot be derived, or one of its graphs, as lines of JSON.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use memory_core::graph::{GraphScope, ThreadId};
use memory_engine::archive::ArchiveExported;
use memory_engine::graph::GraphExported;
use memory_engine::progress::Progress;
use memory_language::text::counted;
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tokio::io::{AsyncWrite, AsyncWriteExt, BufWriter};

use super::transfer_bar;
use crate::operator::with_memory;
use crate::settings::Settings;

const BUFFER_BYTES: usize = 256 * 1024;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The file to write; standard output when it is - or left out
    file: Option<PathBuf>,
    /// The knowledge graph, in the format of the reference memory server
    #[arg(long)]
    graph: bool,
    /// Which graph of the namespace
    #[arg(long, value_name = "ID", requires = "graph")]
    thread: Option<String>,
    /// With the events and names that were extracted, which an import otherwise extracts anew
    #[arg(long, conflicts_with = "graph")]
    events: bool,
    /// Print the summary as JSON, to standard error
    #[arg(long)]
    json: bool,
}

/// Where it goes. A file takes its place only when it is complete.
enum Target {
    Stdout,
    File(NamedTempFile, PathBuf),
}

impl Target {
    fn open(file: Option<PathBuf>) -> anyhow::Result<Self> {
        let Some(path) = file.filter(|file| file.as_os_str() != "-") else {
            return Ok(Self::Stdout);
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let temporary = tempfile::Builder::new()
            .prefix(".remembrancer-export-")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .tempfile_in(folder)
            .with_context(|| format!("cannot write to the folder {}", folder.display()))?;
        Ok(Self::File(temporary, path))
    }

    fn writer(&self) -> anyhow::Result<Box<dyn AsyncWrite + Send + Unpin>> {
        Ok(match self {
            Self::Stdout => Box::new(tokio::io::stdout()),
            Self::File(file, _) => Box::new(tokio::fs::File::from_std(file.as_file().try_clone()?)),
        })
    }

    fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Stdout => {}
            Self::File(file, path) => {
                file.as_file().sync_all()?;
                file.persist(&path).with_context(|| format!("cannot write {}", path.display()))?;
            }
        }
        Ok(())
    }
}

pub(crate) async fn run(settings: &Settings, args: ExportArgs) -> anyhow::Result<ExitCode> {
    let namespace = settings.namespace()?;
    let target = Target::open(args.file)?;
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, target.writer()?);
    // A progress bar would be mixed with the lines where these go to the terminal.
    let is_shown = matches!(target, Target::Stdout) && std::io::stdout().is_terminal();
    let bar = transfer_bar("lines", is_shown);
    let report = |at: Progress| {
        bar.set_length(at.total);
        bar.set_position(at.done);
    };
    let exporting = with_memory(settings, async |open| {
        let summary = if args.graph {
            let scope = graph_scope(args.thread.as_deref())?;
            graph_exported(&open.memory.graph().export(&namespace, &scope, &mut out, &report).await?)
        } else {
            archive_exported(&open.memory.archive().export(&namespace, args.events, &mut out, &report).await?)
        };
        out.flush().await?;
        Ok(summary)
    });
    let summary = exporting.await?;
    bar.finish_and_clear();
    let is_file = matches!(target, Target::File(..));
    target.finish()?;
    if args.json {
        eprintln!("{summary}");
    } else if is_file {
        eprintln!("{}", sentence(&summary));
    }
    Ok(ExitCode::SUCCESS)
}

/// The thread of this name, or the default one.
pub(super) fn graph_scope(thread: Option<&str>) -> anyhow::Result<GraphScope> {
    Ok(thread.map(ThreadId::new).transpose()?.map_or_else(GraphScope::default, GraphScope::Thread))
}

fn graph_exported(done: &GraphExported) -> Value {
    json!({ "entities": done.entities, "relations": done.relations })
}

fn archive_exported(done: &ArchiveExported) -> Value {
    json!({
        "artifacts": done.artifacts,
        "revisions": done.revisions,
        "threads": done.threads,
        "entities": done.entities,
        "observations": done.observations,
        "relations": done.relations,
        "extractions": done.extractions,
        "decisions": done.decisions,
    })
}

/// What is counted, as people are told: an archive's decisions are not those that texts tell of.
pub(super) fn shown(counted: &str) -> &str {
    if counted == "decisions" { "merge decisions" } else { counted }
}

/// `3 entities, 2 relations`
fn sentence(summary: &Value) -> String {
    let counts = summary.as_object().into_iter().flatten();
    // What is counted is named in the plural.
    let counted_noun = |(name, count): (&String, &Value)| {
        let name = shown(name);
        let noun = match name.strip_suffix("ies") {
            Some(stem) => format!("{stem}y"),
            None => name.trim_end_matches('s').to_owned(),
        };
        count.as_u64().map(|count| counted(count, &noun))
    };
    counts.filter_map(counted_noun).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_about_entities_are_told_from_those_of_texts() {
        let summary = json!({ "entities": 1, "decisions": 0 });
        assert_eq!(sentence(&summary), "0 merge decisions, 1 entity");
    }
}
