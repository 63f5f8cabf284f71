//! Text to vectors with a sentence encoder that runs in this process, under ONNX Runtime.
//!
//! One thread owns the model. Queries and passages wait in two lanes; passages are taken in small
//! batches, and queries that wait go first between any two of them.

mod batches;
mod description;
mod encoder;
mod windows;
mod worker;

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use async_trait::async_trait;
use memory_core::ports::{Embedded, EmbeddingError, EmbeddingModel, ModelInfo};
use tokio::sync::oneshot;

pub use self::description::{MODEL_FILE, ModelDescription};
use self::encoder::Encoder;
use self::worker::{Job, Lane, Lanes};
use crate::runtime;

/// A model of one folder, loaded. Dropping it ends its thread after the batch that runs.
#[derive(Debug)]
pub struct OnnxEmbedding {
    info: ModelInfo,
    lanes: Arc<Lanes>,
    thread: Option<JoinHandle<()>>,
}

impl OnnxEmbedding {
    /// Loads the model in `model_dir` (`model.json`, `model_int8.onnx` and the files of the tokenizer) and
    /// the ONNX Runtime library, which a process loads once. Blocks for a fraction of a second.
    ///
    /// `threads` is how many cores one batch may use. A file that is missing or of another kind is
    /// [`EmbeddingError::Unavailable`], naming it.
    pub fn load(
        model_dir: &Path,
        onnxruntime_library: &Path,
        threads: usize,
    ) -> Result<Self, EmbeddingError> {
        let description = ModelDescription::read(model_dir)?;
        let environment = runtime::environment(onnxruntime_library).map_err(EmbeddingError::Unavailable)?;
        let encoder = Encoder::load(model_dir, &description, environment, threads)?;
        let lanes = Arc::new(Lanes::default());
        let thread = worker::spawn(encoder, Arc::clone(&lanes))
            .map_err(|error| EmbeddingError::Unavailable(format!("no thread for the model: {error}")))?;
        let info = ModelInfo { id: description.id, dimension: description.dimension };
        Ok(Self { info, lanes, thread: Some(thread) })
    }

    async fn embed(&self, lane: Lane, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let (reply, answer) = oneshot::channel();
        self.lanes.push(lane, Job { texts, reply });
        answer.await.map_err(|_| EmbeddingError::Failed("the thread of the model has ended".to_owned()))?
    }
}

#[async_trait]
impl EmbeddingModel for OnnxEmbedding {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        self.embed(Lane::Passages, texts).await
    }

    async fn embed_query(&self, text: &str) -> Result<Embedded, EmbeddingError> {
        let embedded = self.embed(Lane::Queries, vec![text.to_owned()]).await?;
        embedded.into_iter().next().ok_or_else(|| EmbeddingError::Failed("no vector came back".to_owned()))
    }
}

impl Drop for OnnxEmbedding {
    fn drop(&mut self) {
        self.lanes.close();
        if let Some(thread) = self.thread.take() {
            // Its panics are answered to the callers; there is nothing left to report here.
            let _ = thread.join();
        }
    }
}
