//! Export and import over the private socket: lines in frames, so that a transfer that was broken off is never
//! taken for one that is complete.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use memory_core::graph::{GraphScope, ThreadId};
use memory_core::id::Namespace;
use memory_engine::archive::{ArchiveExported, ArchiveImported, Tally};
use memory_engine::graph::{GraphExported, GraphImported};
use memory_engine::lines::Progress;
use memory_engine::{EngineError, Memory};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncSeekExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::watch;

use crate::tools::Toolbox;

/// The longest frame, in bytes.
pub(crate) const FRAME_MAX_BYTES: usize = 256 * 1024;
/// How often an import is tried that other writers get in the way of.
const ATTEMPTS: usize = 3;
const PAUSE: Duration = Duration::from_millis(500);

/// What is exported or imported.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wanted {
    /// One thread of the knowledge graph.
    Graph { thread: Option<String> },
    /// All of the namespace; what was extracted only on the way out and if it is wanted.
    Archive { events: bool },
}

impl Wanted {
    fn scope(thread: Option<&str>) -> anyhow::Result<GraphScope> {
        Ok(thread.map(ThreadId::new).transpose()?.map_or_else(GraphScope::default, GraphScope::Thread))
    }
}

/// What goes over the socket, each with its tag and its length before it.
#[derive(Debug)]
pub(crate) enum Frame {
    /// A part of the file, cut anywhere.
    Part(Vec<u8>),
    Progress(u64, u64),
    /// It is complete; what there is to say about it.
    Done(Value),
    /// Nothing was done; why.
    Failed(String),
}

impl Frame {
    pub(crate) async fn send(&self, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let (tag, body) = match self {
            Self::Part(bytes) => (b'=', bytes.clone()),
            Self::Progress(done, total) => (b'%', [done.to_be_bytes(), total.to_be_bytes()].concat()),
            Self::Done(summary) => (b'.', summary.to_string().into_bytes()),
            Self::Failed(reason) => (b'!', reason.clone().into_bytes()),
        };
        to.write_u8(tag).await?;
        to.write_u32(body.len() as u32).await?;
        to.write_all(&body).await
    }

    pub(crate) async fn receive(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Self> {
        let tag = from.read_u8().await?;
        let length = from.read_u32().await? as usize;
        if length > FRAME_MAX_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body).await?;
        match (tag, body.as_slice()) {
            (b'=', _) => Ok(Self::Part(body)),
            (b'%', [done @ .., _, _, _, _, _, _, _, _]) if length == 16 => {
                let number = |bytes: &[u8]| bytes.try_into().map(u64::from_be_bytes).unwrap_or_default();
                Ok(Self::Progress(number(done), number(&body[8..])))
            }
            (b'.', _) => Ok(Self::Done(serde_json::from_slice(&body)?)),
            (b'!', _) => Ok(Self::Failed(String::from_utf8_lossy(&body).into_owned())),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Answers a client that wants to have everything.
pub(crate) async fn send_export(
    to: &mut (impl AsyncWrite + Unpin),
    toolbox: &Toolbox,
    namespace: &Namespace,
    wanted: &Wanted,
) -> io::Result<()> {
    let memory = match toolbox.memory().await {
        Ok(memory) => memory,
        Err(readiness) => return Frame::Failed(readiness.to_string()).send(to).await,
    };
    let (progress, mut seen) = watch::channel(Progress::default());
    let (ours, mut theirs) = tokio::io::duplex(FRAME_MAX_BYTES);
    let exporting = async move {
        let report = |at: Progress| {
            progress.send_replace(at);
        };
        match wanted {
            Wanted::Graph { thread } => {
                let scope = Wanted::scope(thread.as_deref())?;
                Ok(graph_exported(&memory.export_graph(namespace, &scope, &mut theirs, &report).await?))
            }
            Wanted::Archive { events } => {
                let done = memory.export_archive(namespace, *events, &mut theirs, &report).await?;
                Ok(archive_exported(&done))
            }
        }
    };
    let forwarding = async {
        let mut ours = ours;
        let mut part = vec![0; FRAME_MAX_BYTES];
        loop {
            let length = ours.read(&mut part).await?;
            if length == 0 {
                return Ok::<_, io::Error>(());
            }
            Frame::Part(part[..length].to_vec()).send(to).await?;
            if seen.has_changed().unwrap_or(false) {
                let Progress { done, total } = *seen.borrow_and_update();
                Frame::Progress(done, total).send(to).await?;
            }
        }
    };
    let (outcome, forwarded): (anyhow::Result<Value>, _) = tokio::join!(exporting, forwarding);
    forwarded?;
    let last = outcome.map_or_else(|error| Frame::Failed(error.to_string()), Frame::Done);
    last.send(to).await?;
    to.flush().await
}

/// Takes in what a client brings: first all of it, then in one transaction.
pub(crate) async fn receive_import(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    toolbox: &Toolbox,
    namespace: &Namespace,
    wanted: &Wanted,
    spool_folder: &Path,
) -> io::Result<()> {
    let imported = async {
        let (spool, length) = spool(from, spool_folder).await?;
        let memory = toolbox.memory().await.map_err(|readiness| anyhow::anyhow!("{readiness}"))?;
        import(to, &memory, namespace, wanted, spool, length).await
    };
    let last = imported.await.map_or_else(|error| Frame::Failed(error.to_string()), Frame::Done);
    last.send(to).await?;
    to.flush().await
}

/// Keeps what comes in a file without a name, so that no transaction waits for the client.
async fn spool(from: &mut (impl AsyncRead + Unpin), folder: &Path) -> anyhow::Result<(tokio::fs::File, u64)> {
    let unusable = || format!("There is no room in {} for what is imported", folder.display());
    let mut file = tokio::fs::File::from_std(tempfile::tempfile_in(folder).with_context(unusable)?);
    let mut length = 0;
    loop {
        match Frame::receive(from).await? {
            Frame::Part(bytes) => {
                length += bytes.len() as u64;
                file.write_all(&bytes).await.with_context(unusable)?;
            }
            Frame::Done(_) => break,
            Frame::Progress(..) | Frame::Failed(_) => {
                bail!("The import was broken off. Nothing was changed.")
            }
        }
    }
    file.flush().await.with_context(unusable)?;
    Ok((file, length))
}

async fn import(
    to: &mut (impl AsyncWrite + Unpin),
    memory: &Arc<Memory>,
    namespace: &Namespace,
    wanted: &Wanted,
    mut spool: tokio::fs::File,
    length: u64,
) -> anyhow::Result<Value> {
    let (progress, mut seen) = watch::channel(Progress::default());
    let report = |at: Progress| {
        progress.send_replace(at);
    };
    let importing = async {
        let mut attempt = 0;
        loop {
            attempt += 1;
            spool.rewind().await?;
            let lines = BufReader::with_capacity(FRAME_MAX_BYTES, &mut spool);
            let outcome = match wanted {
                Wanted::Graph { thread } => {
                    let scope = Wanted::scope(thread.as_deref())?;
                    let done = memory.import_graph(namespace, &scope, lines, length, &report).await;
                    done.map(|done| graph_imported(&done))
                }
                Wanted::Archive { .. } => {
                    let done = memory.import_archive(namespace, lines, length, &report).await;
                    done.map(|done| archive_imported(&done))
                }
            };
            match outcome {
                Err(EngineError::Unavailable(_)) if attempt < ATTEMPTS => tokio::time::sleep(PAUSE).await,
                other => return Ok(other?),
            }
        }
    };
    tokio::pin!(importing);
    loop {
        tokio::select! {
            outcome = &mut importing => return outcome,
            Ok(()) = seen.changed() => {
                let Progress { done, total } = *seen.borrow_and_update();
                Frame::Progress(done, total).send(to).await?;
            }
        }
    }
}

fn graph_exported(done: &GraphExported) -> Value {
    json!({ "entities": done.entities, "relations": done.relations })
}

fn graph_imported(done: &GraphImported) -> Value {
    json!({
        "entities": { "created": done.entities_created, "known": done.entities_known },
        "observations": { "created": done.observations_added },
        "relations": { "created": done.relations_created, "known": done.relations_known },
        "warnings": done.warnings,
    })
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
