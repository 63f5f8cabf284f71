//! `export`: everything of a namespace that cannot be derived, or one of its graphs, as lines of JSON.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use memory_language::text::counted;
use serde_json::Value;
use tempfile::NamedTempFile;
use tokio::io::BufReader;

use super::transfer_bar;
use crate::instance::{Hello, send_line};
use crate::meeting::Meeting;
use crate::settings::Settings;
use crate::transfer::{Frame, Wanted};

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
    Stdout(std::io::Stdout),
    File(NamedTempFile, PathBuf),
}

impl Target {
    fn open(file: Option<PathBuf>) -> anyhow::Result<Self> {
        let Some(path) = file.filter(|file| file.as_os_str() != "-") else {
            return Ok(Self::Stdout(std::io::stdout()));
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let temporary = tempfile::Builder::new()
            .prefix(".remembrancer-export-")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .tempfile_in(folder)
            .with_context(|| format!("cannot write to the folder {}", folder.display()))?;
        Ok(Self::File(temporary, path))
    }

    fn write(&mut self, part: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.write_all(part),
            Self::File(file, _) => file.write_all(part),
        }
    }

    fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Stdout(mut stdout) => stdout.flush()?,
            Self::File(file, path) => {
                file.as_file().sync_all()?;
                file.persist(&path).with_context(|| format!("cannot write {}", path.display()))?;
            }
        }
        Ok(())
    }
}

pub(crate) async fn run(settings: &Settings, args: ExportArgs) -> anyhow::Result<ExitCode> {
    let wanted = if args.graph {
        Wanted::Graph { thread: args.thread }
    } else {
        Wanted::Archive { events: args.events }
    };
    let namespace = settings.namespace()?.to_string();
    let mut target = Target::open(args.file)?;
    let (read, mut write) = Meeting::of(settings)?.connect_or_start(settings).await?.into_split();
    send_line(&mut write, &Hello::Export { namespace, wanted }).await?;
    let mut read = BufReader::new(read);
    // A bar would stand amid the lines where these are shown themselves.
    let is_shown = matches!(&target, Target::Stdout(stdout) if stdout.is_terminal());
    let bar = transfer_bar("lines", is_shown);
    let summary = loop {
        match Frame::receive(&mut read).await.context("the memory's process has ended; try again")? {
            Frame::Part(part) => target.write(&part)?,
            Frame::Progress(done, total) => {
                bar.set_length(total);
                bar.set_position(done);
            }
            Frame::Done(summary) => break summary,
            Frame::Failed(reason) => bail!("{reason}"),
        }
    };
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

/// `3 entities, 2 relations`
fn sentence(summary: &Value) -> String {
    let counts = summary.as_object().into_iter().flatten();
    // What is counted is named in the plural.
    let told = |(name, count): (&String, &Value)| {
        let noun = match name.strip_suffix("ies") {
            Some(stem) => format!("{stem}y"),
            None => name.trim_end_matches('s').to_owned(),
        };
        count.as_u64().map(|count| counted(count, &noun))
    };
    counts.filter_map(told).collect::<Vec<_>>().join(", ")
}
