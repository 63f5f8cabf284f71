//! A cross-encoder that reads a question and a passage together, under ONNX Runtime: slower and better than comparing
//! what was made of each alone. Only where a folder of one is named.
//!
//! One thread owns the model and reads a few passages at a time; a question whose caller was cancelled is dropped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

use async_trait::async_trait;
use fastembed::{RerankInitOptionsUserDefined, TextRerank, TokenizerFiles, UserDefinedRerankingModel};
use memory_core::ports::{RerankError, Reranker};
use thiserror::Error;
use tokio::sync::oneshot;

use crate::integrity::{FileError, Sums};
use crate::runtime::{self, RuntimeError};

/// Where the model lies in its folder: there, or as in the repositories of fastembed's catalogue.
const ONNX_FILES: [&str; 2] = ["model.onnx", "onnx/model.onnx"];
/// Tokens of question and passage together; more of a passage is not read.
const WINDOW_TOKENS: usize = 512;
/// Passages of one run; between two runs a cancelled question is dropped.
const BATCH: usize = 4;

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Models")]
pub struct RerankerSettings {
    /// Folder of a cross-encoder that reads the best results of a recall again and orders them [default: none]
    #[arg(long, env = "REMEMBRANCER_RERANKER_DIR", global = true, value_name = "DIR")]
    pub reranker_dir: Option<PathBuf>,
    /// Milliseconds that reranking may take; an answer does not wait longer for it
    #[arg(long, env = "REMEMBRANCER_RERANKER_DEADLINE_MS", default_value_t = 500, value_name = "MILLISECONDS", value_parser = clap::value_parser!(u64).range(1..=60_000), global = true)]
    pub reranker_deadline_ms: u64,
}

impl RerankerSettings {
    /// The same settings as environment variables, for a process that is started with them.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let Some(dir) = &self.reranker_dir else { return Vec::new() };
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
        vec![
            ("REMEMBRANCER_RERANKER_DIR", dir.to_string_lossy().into_owned()),
            ("REMEMBRANCER_RERANKER_DEADLINE_MS", self.reranker_deadline_ms.to_string()),
        ]
    }
}

/// Why a folder holds no model that can be used: install another.
#[derive(Debug, Error)]
enum LoadError {
    #[error("there is neither {} nor {}", ONNX_FILES[0], ONNX_FILES[1])]
    NoModel,
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error("the model does not load: {0}")]
    Refused(String),
    #[error(transparent)]
    FirstRun(#[from] RerankError),
}

/// A loaded cross-encoder. Dropping it ends its thread after the run that it is in.
#[derive(Debug)]
pub struct CrossEncoder {
    /// Always there until it is dropped.
    questions: Option<mpsc::Sender<Question>>,
    thread: Option<JoinHandle<()>>,
}

struct Question {
    text: String,
    passages: Vec<String>,
    /// Closed once the caller has been cancelled.
    reply: oneshot::Sender<Result<Vec<f32>, RerankError>>,
}

impl CrossEncoder {
    /// Loads the model of `dir` (`model.onnx` and the files of its tokenizer, as fastembed's catalogue has them) and
    /// the ONNX Runtime library, which a process loads once. Blocks for up to some seconds.
    ///
    /// `threads` is how many cores one run may use. A file that is missing or of another kind is
    /// [`RerankError::Unavailable`], naming it.
    pub fn load(dir: &Path, onnxruntime_library: &Path, threads: usize) -> Result<Self, RerankError> {
        let model = read(dir, onnxruntime_library, threads)
            .map_err(|reason| RerankError::Unavailable(format!("{}: {reason}", dir.display())))?;
        let (questions, waiting) = mpsc::channel();
        let thread =
            Builder::new()
                .name("reranking".to_owned())
                .spawn(move || answer_all(model, &waiting))
                .map_err(|error| RerankError::Unavailable(format!("no thread for the model: {error}")))?;
        Ok(Self { questions: Some(questions), thread: Some(thread) })
    }
}

#[async_trait]
impl Reranker for CrossEncoder {
    async fn rerank(&self, query: &str, passages: Vec<String>) -> Result<Vec<f32>, RerankError> {
        let ended = || RerankError::Failed("the thread of the model has ended".to_owned());
        let (reply, answer) = oneshot::channel();
        let question = Question { text: query.to_owned(), passages, reply };
        self.questions.as_ref().and_then(|questions| questions.send(question).ok()).ok_or_else(ended)?;
        answer.await.map_err(|_| ended())?
    }
}

impl Drop for CrossEncoder {
    fn drop(&mut self) {
        self.questions = None;
        if let Some(thread) = self.thread.take() {
            // Its panics are answered to the callers; there is nothing left to report here.
            let _ = thread.join();
        }
    }
}

fn read(dir: &Path, onnxruntime_library: &Path, threads: usize) -> Result<TextRerank, LoadError> {
    let sums = Sums::of(dir)?;
    let file = |name: &str| sums.read(dir, name);
    let onnx = ONNX_FILES.iter().map(|name| dir.join(name)).find(|path| path.is_file());
    let onnx = onnx.ok_or(LoadError::NoModel)?;
    let tokenizer = TokenizerFiles {
        tokenizer_file: file("tokenizer.json")?,
        config_file: file("config.json")?,
        special_tokens_map_file: file("special_tokens_map.json")?,
        tokenizer_config_file: file("tokenizer_config.json")?,
    };
    let environment = runtime::environment(onnxruntime_library)?;
    let options = RerankInitOptionsUserDefined::new()
        .with_environment(environment)
        .with_max_length(WINDOW_TOKENS)
        .with_intra_threads(threads.max(1))
        .with_session_config("session.intra_op.allow_spinning", "0");
    // From its path: the weights of a large model lie in a second file beside it.
    let mut model =
        TextRerank::try_new_from_user_defined(UserDefinedRerankingModel::new(onnx, tokenizer), options)
            .map_err(|error| LoadError::Refused(error.to_string()))?;
    // A model of another kind shows itself here and not in an answer.
    judge(&mut model, "question", &["passage".to_owned()])?;
    Ok(model)
}

fn answer_all(mut model: TextRerank, waiting: &mpsc::Receiver<Question>) {
    while let Ok(Question { text, passages, reply }) = waiting.recv() {
        let mut scores = Vec::with_capacity(passages.len());
        let mut failed = None;
        for batch in passages.chunks(BATCH) {
            if reply.is_closed() {
                break;
            }
            // The model holds no state from one run to the next, so it can be used after a panic.
            let judged = catch_unwind(AssertUnwindSafe(|| judge(&mut model, &text, batch)));
            match judged.unwrap_or_else(|_| Err(RerankError::Failed("the model panicked".to_owned()))) {
                Ok(judged) => scores.extend(judged),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        // The caller may have been cancelled meanwhile.
        let _ = reply.send(failed.map_or(Ok(scores), Err));
    }
}

/// One score for each passage, in order, 0 to 1.
fn judge(model: &mut TextRerank, question: &str, passages: &[String]) -> Result<Vec<f32>, RerankError> {
    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    let judged = model
        .rerank(question, &passages[..], false, Some(BATCH))
        .map_err(|error| RerankError::Failed(error.to_string()))?;
    let mut scores = vec![0.0; passages.len()];
    for result in judged {
        if !result.score.is_finite() {
            return Err(RerankError::Failed("it gives what is no number".to_owned()));
        }
        // Trained on the logistic function of what it gives.
        scores[result.index] = 1.0 / (1.0 + (-result.score).exp());
    }
    Ok(scores)
}
