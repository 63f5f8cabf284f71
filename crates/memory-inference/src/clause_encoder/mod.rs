//! Classifies clauses with the sentence encoder of setup and what fine-tuning on labelled documents added to it
//! (`data/clause_encoder.safetensors`, see `tools/train-clauses/encoder`).
//!
//! One thread owns the model. It loads it when there is something to read and gives it back after a while without.

mod tokens;
mod windows;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::Builder;
use std::time::Duration;

use async_trait::async_trait;
use memory_core::ports::{CLAUSE_CLASSES, ClauseEncoder, ClauseEncoderError};
use safetensors::SafeTensors;
use tokenizers::Tokenizer;
use tokio::sync::oneshot;

use self::tokens::Tokens;
use self::windows::Window;
use crate::convert::decode;
use crate::integrity::Sums;
use crate::runtime;
use crate::sentence_encoder::{SentenceEncoder, States};
use crate::tokenizer::tokenizer;

/// Low-rank differences to the weights of the encoder, which setup merges with them, and the classification head.
pub const ADAPTER: &[u8] = include_bytes!("../../data/clause_encoder.safetensors");
/// The merged model in the folder of the embedding model. Another adapter takes the next number: setup adds what is missing.
pub const CLAUSE_ENCODER_FILE: &str = "clause_encoder_6.onnx";
/// Without anything to read, the model is given back after this.
const IDLE: Duration = Duration::from_secs(30);

/// How far it stands back behind calls.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

type Logits = Result<Vec<[f32; CLAUSE_CLASSES]>, ClauseEncoderError>;

struct Request {
    text: String,
    clauses: Vec<Range<usize>>,
    /// Closed once the caller has been cancelled.
    reply: oneshot::Sender<Logits>,
}

/// The clause encoder of a folder. Dropping it ends its thread after the text that it reads.
#[derive(Debug)]
pub struct OnnxClauseEncoder {
    requests: mpsc::Sender<Request>,
}

impl OnnxClauseEncoder {
    /// The one that setup put into `model_dir`; `None` after a setup that made none. Nothing is loaded yet.
    pub fn in_folder(model_dir: &Path, onnxruntime_library: &Path) -> Option<Self> {
        if !model_dir.join(CLAUSE_ENCODER_FILE).is_file() {
            return None;
        }
        let (requests, waiting) = mpsc::channel();
        let (model_dir, library) = (model_dir.to_owned(), onnxruntime_library.to_owned());
        let answering = move || answer_all(&waiting, &model_dir, &library);
        // Without the thread each request fails.
        let _ = Builder::new().name("clause-encoder".to_owned()).spawn(answering);
        Some(Self { requests })
    }
}

#[async_trait]
impl ClauseEncoder for OnnxClauseEncoder {
    async fn logits(&self, text: String, clauses: Vec<Range<usize>>) -> Logits {
        let (reply, answer) = oneshot::channel();
        self.requests.send(Request { text, clauses, reply }).map_err(|_| failed("its thread has ended"))?;
        answer.await.map_err(|_| failed("its thread has ended"))?
    }
}

fn answer_all(waiting: &mpsc::Receiver<Request>, model_dir: &Path, library: &Path) {
    // Of this thread alone: nobody waits for it while others wait for the processor.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, NICENESS);
    let mut model: Option<Model> = None;
    loop {
        let received = match model {
            Some(_) => waiting.recv_timeout(IDLE),
            None => waiting.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let Request { text, clauses, reply } = match received {
            Ok(request) => request,
            Err(RecvTimeoutError::Timeout) => {
                model = None;
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        };
        if reply.is_closed() {
            continue;
        }
        let loaded = model.take();
        let answered = catch_unwind(AssertUnwindSafe(|| {
            let mut loaded = loaded.map_or_else(|| Model::load(model_dir, library), Ok)?;
            let logits = loaded.logits(&text, &clauses, || reply.is_closed())?;
            Ok((loaded, logits))
        }));
        // After a failure it is loaded anew, so that a file that was mended is found.
        let answer = match answered {
            Ok(Ok((loaded, logits))) => {
                model = Some(loaded);
                Ok(logits)
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(failed("it panicked")),
        };
        // The caller may have been cancelled meanwhile.
        let _ = reply.send(answer);
    }
}

struct Model {
    encoder: SentenceEncoder,
    tokenizer: Arc<Tokenizer>,
    head: Head,
}

/// The last layer: numbers of a clause (the mean and the most of its tokens' states) to classes.
struct Head {
    /// \[classes, 2 × hidden\]
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Model {
    fn load(model_dir: &Path, library: &Path) -> Result<Self, ClauseEncoderError> {
        let sums = Sums::of(model_dir).map_err(failed)?;
        let environment = runtime::environment(library).map_err(failed)?;
        let tokenizer = tokenizer(model_dir, &sums).map_err(failed)?;
        let encoder = SentenceEncoder::load(model_dir, CLAUSE_ENCODER_FILE, &sums, &environment, 1);
        Ok(Self { encoder: encoder.map_err(failed)?, tokenizer, head: Head::read(ADAPTER)? })
    }

    fn logits(&mut self, text: &str, clauses: &[Range<usize>], is_cancelled: impl Fn() -> bool) -> Logits {
        let tokens = Tokens::of(text, &self.tokenizer).map_err(failed)?;
        let mut logits = vec![[0.0; CLAUSE_CLASSES]; clauses.len()];
        // One by one: activations are quantized over all that runs together, and what stands in another window must not
        // change what is read in this one.
        for window in windows::cut(&tokens, clauses) {
            if is_cancelled() {
                return Err(failed("cancelled"));
            }
            self.read_window(window, &mut logits)?;
        }
        Ok(logits)
    }

    fn read_window(
        &mut self,
        window: Window,
        logits: &mut [[f32; CLAUSE_CLASSES]],
    ) -> Result<(), ClauseEncoderError> {
        let States { values, dimension: hidden, .. } =
            self.encoder.states(&[window.ids], 0).map_err(failed)?;
        for (clause, tokens) in window.clauses {
            let states = values.get(tokens.start * hidden..tokens.end * hidden).unwrap_or_default();
            logits[clause] = self.head.logits(states, hidden)?;
        }
        Ok(())
    }
}

impl Head {
    fn read(adapter: &[u8]) -> Result<Self, ClauseEncoderError> {
        let tensors = SafeTensors::deserialize(adapter).map_err(failed)?;
        let floats = |name: &str| {
            let tensor = tensors.tensor(name).map_err(failed)?;
            decode(tensor.data(), tensor.dtype()).ok_or_else(|| failed(format!("{name} is no float")))
        };
        Ok(Self { weight: floats("head.weight")?, bias: floats("head.bias")? })
    }

    /// `states` are those of the tokens of a clause, one after the other.
    fn logits(&self, states: &[f32], hidden: usize) -> Result<[f32; CLAUSE_CLASSES], ClauseEncoderError> {
        let mut pooled = vec![0.0; hidden];
        pooled.resize(2 * hidden, f32::MIN);
        let (mean, most) = pooled.split_at_mut(hidden);
        let count = (states.len() / hidden).max(1) as f32;
        for state in states.chunks_exact(hidden) {
            for ((mean, most), value) in mean.iter_mut().zip(&mut *most).zip(state) {
                *mean += value / count;
                *most = most.max(*value);
            }
        }
        let mut logits = [0.0; CLAUSE_CLASSES];
        let rows = self.weight.chunks_exact(2 * hidden).zip(&self.bias);
        for (logit, (row, bias)) in logits.iter_mut().zip(rows) {
            *logit = bias + row.iter().zip(&pooled).map(|(weight, value)| weight * value).sum::<f32>();
        }
        let sound = !states.is_empty() && logits.iter().all(|logit| logit.is_finite());
        sound.then_some(logits).ok_or_else(|| failed("it gives what is no number"))
    }
}

#[allow(clippy::needless_pass_by_value, reason = "errors are mapped by it")]
fn failed(reason: impl ToString) -> ClauseEncoderError {
    ClauseEncoderError(reason.to_string())
}
