//! Text to vectors with a sentence encoder that runs in this process, under ONNX Runtime.
//!
//! One thread owns the model. Queries, passages of texts just written, and passages of background work have a lane
//! each; passages are taken in small batches, and between any two of them the more urgent lanes are served. While many
//! passages are queued, as in an import, a second thread with a copy of the model helps.

mod batches;
mod bearing;
mod description;
mod encoder;
mod lanes;
mod windows;
mod worker;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use async_trait::async_trait;
use memory_core::ports::{Embedded, EmbeddingError, EmbeddingModel, ModelInfo};
use tokio::sync::oneshot;

use self::bearing::Bearing;
use self::description::unavailable;
pub use self::description::{MODEL_FILE, ModelDescription};
use self::encoder::Encoder;
use self::lanes::{Job, Lane, Lanes};
use crate::adapted::{BEARING_ENCODER, BEARING_VERSION};
use crate::runtime;

const ONNX_FILE: &str = "model_int8.onnx";
/// The most texts of one job: more are divided, so that two threads can share them.
const PIECE: usize = 16;

/// A model of one folder, loaded. Dropping it ends its thread after the batch that runs.
pub struct OnnxEmbedding {
    info: ModelInfo,
    lanes: Arc<Lanes>,
    thread: Option<JoinHandle<()>>,
    load: Arc<dyn Fn() -> Result<Encoder, EmbeddingError> + Send + Sync>,
    /// Where setup has made it.
    bearing: Option<Arc<Bearing>>,
    /// The last one.
    helper: Mutex<Option<JoinHandle<()>>>,
}

impl OnnxEmbedding {
    /// Loads the model in `model_dir` (`model.json`, `model_int8.onnx`, `config.json` and `tokenizer.json`) and
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
        let environment = runtime::environment(onnxruntime_library)
            .map_err(|error| EmbeddingError::Unavailable(error.to_string()))?;
        let info = ModelInfo { id: description.id.clone(), dimension: description.dimension };
        let model_dir = model_dir.to_owned();
        let has_bearing = model_dir.join(BEARING_ENCODER.file).is_file();
        let load = move |file| Encoder::load(&model_dir, file, &description, &environment, threads);
        let load = Arc::new(load);
        let bearing = has_bearing.then(|| {
            let load = Arc::clone(&load);
            Arc::new(Bearing::new(move || load(BEARING_ENCODER.file)))
        });
        let load = move || load(ONNX_FILE);
        let encoder = load()?;
        let lanes = Arc::new(Lanes::default());
        let thread = worker::spawn(encoder, Arc::clone(&lanes))
            .map_err(|error| EmbeddingError::Unavailable(format!("no thread for the model: {error}")))?;
        Ok(Self {
            info,
            lanes,
            thread: Some(thread),
            load: Arc::new(load),
            bearing,
            helper: Mutex::default(),
        })
    }

    /// Starts the second thread. Without it everything is done as well, later.
    fn call_help(&self) {
        let (load, lanes) = (Arc::clone(&self.load), Arc::clone(&self.lanes));
        let helping = Builder::new().name("embedding".to_owned()).spawn(move || {
            match load() {
                Ok(encoder) => worker::help(encoder, &lanes),
                // Nor will another try do.
                Err(error) => tracing::warn!(%error, "passages are embedded by one thread"),
            }
        });
        match helping {
            Ok(helper) => *self.helper.lock().unwrap_or_else(PoisonError::into_inner) = Some(helper),
            Err(error) => tracing::warn!(%error, "passages are embedded by one thread"),
        }
    }

    async fn embed(&self, lane: Lane, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        let count = texts.len();
        let mut answers = Vec::with_capacity(count.div_ceil(PIECE));
        let mut texts = texts.into_iter();
        while !texts.as_slice().is_empty() {
            let (reply, answer) = oneshot::channel();
            self.lanes.push(lane, Job { texts: texts.by_ref().take(PIECE).collect(), reply });
            answers.push(answer);
        }
        if self.lanes.wants_help() {
            self.call_help();
        }
        let mut embedded = Vec::with_capacity(count);
        for answer in answers {
            let ended = |_| EmbeddingError::Failed("the thread of the model has ended".to_owned());
            embedded.extend(answer.await.map_err(ended)??);
        }
        Ok(embedded)
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

    async fn embed_in_background(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        self.embed(Lane::Background, texts).await
    }

    async fn embed_query(&self, text: &str) -> Result<Embedded, EmbeddingError> {
        let embedded = self.embed(Lane::Queries, vec![text.to_owned()]).await?;
        embedded.into_iter().next().ok_or_else(|| EmbeddingError::Failed("no vector came back".to_owned()))
    }

    fn bearing_version(&self) -> Option<i16> {
        self.bearing.is_some().then_some(BEARING_VERSION)
    }

    async fn embed_for_bearing(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let Some(bearing) = self.bearing.clone() else {
            return Err(unavailable(format!("{} is missing", BEARING_ENCODER.file)));
        };
        let made = tokio::task::spawn_blocking(move || bearing.vectors(&texts)).await;
        made.unwrap_or_else(|ended| Err(EmbeddingError::Failed(ended.to_string())))
    }
}

impl Drop for OnnxEmbedding {
    fn drop(&mut self) {
        self.lanes.close();
        let helper = self.helper.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        for thread in self.thread.take().into_iter().chain(helper) {
            // Its panics are answered to the callers; there is nothing left to report here.
            let _ = thread.join();
        }
    }
}
