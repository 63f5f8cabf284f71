//! `import`: lines of JSON that `export` or a graph server wrote, all of them or none.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::OwnedWriteHalf;

use super::print::printable;
use super::transfer_bar;
use crate::instance::{Hello, Signals, send_line};
use crate::meeting::Meeting;
use crate::settings::Settings;
use crate::transfer::{Frame, Wanted};

/// How much of a file is passed on at a time, in bytes.
const PART_BYTES: usize = 128 * 1024;

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The file to read; standard input when it is - or left out
    file: Option<PathBuf>,
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
    let wanted =
        if args.graph { Wanted::Graph { thread: args.thread } } else { Wanted::Archive { events: false } };
    let namespace = settings.namespace()?.to_string();
    let source: Box<dyn AsyncRead + Send + Unpin> = match &args.file {
        Some(file) if file.as_os_str() != "-" => Box::new(
            tokio::fs::File::open(file)
                .await
                .with_context(|| format!("{} cannot be read", file.display()))?,
        ),
        _ => Box::new(tokio::io::stdin()),
    };
    let mut signals = Signals::new()?;
    let (read, mut write) = Meeting::of(settings)?.connect_or_start(settings).await?.into_split();
    send_line(&mut write, &Hello::Import { namespace, wanted }).await?;
    let bar = transfer_bar("bytes", false);
    let receiving = async {
        let mut read = BufReader::new(read);
        loop {
            match Frame::receive(&mut read).await.context("the memory's process has ended; try again")? {
                Frame::Progress(done, total) => {
                    bar.set_length(total);
                    bar.set_position(done);
                }
                Frame::Done(summary) => return Ok(summary),
                Frame::Failed(reason) => bail!("{reason}"),
                Frame::Part(_) => bail!("the memory's process speaks another version; restart it"),
            }
        }
    };
    tokio::pin!(receiving);
    let sending = pass_on(source, write);
    tokio::pin!(sending);
    let mut is_sent = false;
    let summary: Value = loop {
        tokio::select! {
            summary = &mut receiving => break summary?,
            sent = &mut sending, if !is_sent => match sent {
                Ok(()) => is_sent = true,
                // The other side has closed: it says why.
                Err(error) if error.downcast_ref::<ToServer>().is_some() => is_sent = true,
                Err(error) => return Err(error),
            },
            () = signals.any() => bail!("stopped; nothing was changed unless all of it was sent"),
        }
    };
    bar.finish_and_clear();
    if args.json {
        println!("{}", serde_json::to_string_pretty(&summary)?);
    } else {
        print!("{}", sentences(&summary));
    }
    Ok(ExitCode::SUCCESS)
}

/// The connection to the memory's process failed, not the file.
#[derive(Debug, thiserror::Error)]
#[error("the memory's process has ended; try again")]
struct ToServer;

async fn pass_on(mut source: impl AsyncRead + Unpin, mut to: OwnedWriteHalf) -> anyhow::Result<()> {
    loop {
        let mut part = vec![0; PART_BYTES];
        let length = source.read(&mut part).await.context("what is imported cannot be read")?;
        part.truncate(length);
        let frame = if length == 0 { Frame::Done(Value::Null) } else { Frame::Part(part) };
        frame.send(&mut to).await.map_err(|_| ToServer)?;
        if length == 0 {
            return to.flush().await.map_err(|_| ToServer.into());
        }
    }
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
        let _ = writeln!(out, "{name}: {created} new{known}");
    }
    for warning in summary["warnings"].as_array().into_iter().flatten() {
        let _ = writeln!(out, "note: {}", printable(warning.as_str().unwrap_or_default()));
    }
    out
}
