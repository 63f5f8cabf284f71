//! Work on the mirror of the vectors, for a command: done by the process that holds the data folder, or here.

use std::io;

use memory_engine::Memory;
use memory_engine::lines::{Progress, Report};
use memory_engine::mirror::{Compared, Look, Reconciled};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

use crate::tools::Toolbox;
use crate::transfer::Frame;

/// What is to be done.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MirrorTask {
    Reconcile {
        repair: bool,
        /// Contents are compared too.
        thorough: bool,
    },
    Reindex,
    /// No mirror any more.
    End,
}

impl MirrorTask {
    /// Does it; gives what became of it.
    pub(crate) async fn run(self, memory: &Memory, report: Report<'_>) -> anyhow::Result<Value> {
        match self {
            Self::Reconcile { repair, thorough } => {
                let look = if thorough { Look::Contents } else { Look::Digests };
                Ok(reconciled(&memory.reconcile(repair, look, report).await?))
            }
            Self::Reindex => {
                let done = memory.reindex(report).await?;
                Ok(json!({
                    "collection": done.collection,
                    "replaced": done.replaced,
                    "points": done.points,
                    "compared": compared(&done.compared),
                }))
            }
            Self::End => Ok(json!({ "collections_deleted": memory.end_mirror().await? })),
        }
    }
}

/// Answers a client that waits for it.
pub(crate) async fn attend(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    toolbox: &Toolbox,
    task: MirrorTask,
) -> io::Result<()> {
    let outcome = tokio::select! {
        outcome = work(to, toolbox, task) => outcome,
        // It says nothing more: it has gone.
        _ = from.read_u8() => return Err(io::ErrorKind::BrokenPipe.into()),
    };
    let last = outcome.map_or_else(|error| Frame::Failed(format!("{error:#}")), Frame::Done);
    last.send(to).await?;
    to.flush().await
}

async fn work(
    to: &mut (impl AsyncWrite + Unpin),
    toolbox: &Toolbox,
    task: MirrorTask,
) -> anyhow::Result<Value> {
    let memory = toolbox.memory().await.map_err(|readiness| anyhow::anyhow!("{readiness}"))?;
    let (progress, mut seen) = watch::channel(Progress::default());
    let report = |at: Progress| {
        progress.send_replace(at);
    };
    let working = task.run(&memory, &report);
    tokio::pin!(working);
    loop {
        tokio::select! {
            outcome = &mut working => return outcome,
            Ok(()) = seen.changed() => {
                let Progress { done, total } = *seen.borrow_and_update();
                Frame::Progress(done, total).send(to).await?;
            }
        }
    }
}

fn reconciled(done: &Reconciled) -> Value {
    json!({
        "found": done.found.iter().map(compared).collect::<Vec<_>>(),
        "left": done.left.iter().map(compared).collect::<Vec<_>>(),
        "orphans": done.orphans,
        "orphans_deleted": done.orphans_deleted,
    })
}

fn compared(compared: &Compared) -> Value {
    json!({
        "collection": compared.collection,
        "points": compared.points,
        "missing": compared.missing,
        "extra": compared.extra,
        "stale": compared.stale,
        "waiting": compared.waiting,
        "examples": compared.examples,
    })
}
