//! Another embedding model for the process that holds the data folder: loaded here, asked for over the private socket.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use memory_engine::Memory;
use memory_engine::progress::Progress;
use memory_engine::reembed::Reembedded;
use memory_inference::embedding::OnnxEmbedding;
use memory_inference::files::{ModelFiles, ModelSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::sync::{Notify, watch};

use crate::daemon::send_line;
use crate::tools::ToolRegistry;
use memory_engine::readiness::{Announce, Readiness};

/// A line to the client that waits for it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ReembedReply {
    /// Passages so far.
    Progress {
        done: u64,
        total: u64,
    },
    Done(Value),
    /// Nothing was changed but vectors that are kept for another try; why.
    Failed(String),
}

/// Changes the model of the process that holds the folder.
pub(crate) struct Reembedder {
    settings: ModelSettings,
    announce: Announce,
    restart: Notify,
}

impl Reembedder {
    pub(crate) fn new(settings: ModelSettings, announce: Announce) -> Self {
        Self { settings, announce, restart: Notify::new() }
    }

    /// Waits until the memory, which could not be started, is to be started without its model: that is about to be
    /// replaced, and may be why.
    pub(crate) async fn restart_wanted(&self) {
        self.restart.notified().await;
    }

    /// Serves a client's request for the vectors of another model, for as long as the client waits.
    pub(crate) async fn reembed(
        &self,
        from: &mut (impl AsyncRead + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
        registry: &ToolRegistry,
        model_dir: PathBuf,
        keep_old: bool,
    ) -> io::Result<()> {
        let work = self.work(to, registry, model_dir, keep_old);
        let outcome = tokio::select! {
            outcome = work => outcome,
            // It says nothing more: it has gone. What was made is kept.
            _ = from.read_u8() => return Err(io::ErrorKind::BrokenPipe.into()),
        };
        let last =
            outcome.map_or_else(|error| ReembedReply::Failed(format!("{error:#}")), ReembedReply::Done);
        send_line(to, &last).await
    }

    async fn work(
        &self,
        to: &mut (impl AsyncWrite + Unpin),
        registry: &ToolRegistry,
        model_dir: PathBuf,
        keep_old: bool,
    ) -> anyhow::Result<Value> {
        let memory = self.memory(registry).await?;
        let model = load(self.settings.files()?, model_dir).await?;
        let (progress, mut seen) = watch::channel(Progress::default());
        let report = |at: Progress| {
            progress.send_replace(at);
        };
        let reembedding = memory.reembedding();
        let working = reembedding.run(model, keep_old, &report);
        tokio::pin!(working);
        loop {
            tokio::select! {
                outcome = &mut working => return Ok(summary(&outcome?)),
                Ok(()) = seen.changed() => {
                    let Progress { done, total } = *seen.borrow_and_update();
                    send_line(to, &ReembedReply::Progress { done, total }).await?;
                }
            }
        }
    }

    async fn memory(&self, registry: &ToolRegistry) -> anyhow::Result<Arc<Memory>> {
        match registry.memory().await {
            Ok(memory) => return Ok(memory),
            Err(Readiness::Failed(_)) => {
                self.announce.set(Readiness::Starting);
                self.restart.notify_one();
            }
            Err(readiness) => bail!("{readiness}"),
        }
        registry.memory().await.map_err(|readiness| anyhow::anyhow!("{readiness}"))
    }
}

/// Loads the model of another folder than that of the settings.
pub(crate) async fn load(files: ModelFiles, model_dir: PathBuf) -> anyhow::Result<Arc<OnnxEmbedding>> {
    let files = ModelFiles { model_dir, ..files };
    Ok(Arc::new(tokio::task::spawn_blocking(move || files.load()).await??))
}

/// What became of the models, as the command shows it.
pub(crate) fn summary(done: &Reembedded) -> Value {
    let ids = |models: &[memory_core::ports::ModelInfo]| -> Vec<String> {
        models.iter().map(|model| model.id.clone()).collect()
    };
    json!({
        "model": done.model.id,
        "dimension": done.model.dimension,
        "replaced": done.replaced.as_ref().map(|model| &model.id),
        "passages": done.passages,
        "embedded": done.embedded,
        "failed": done.failed,
        "removed": ids(&done.removed),
        "kept": ids(&done.kept),
    })
}
