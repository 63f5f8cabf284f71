//! Classifies clauses and names with the sentence encoder of setup and what fine-tuning on labelled documents added to it
//! (`data/clause_encoder.safetensors`, `data/name_encoder.safetensors`, see `tools/train-clauses/encoder`).
//!
//! One thread owns both models. It loads each when there is something to read and gives them back after a while without.

mod clause_windows;
mod clauses;
mod model;
mod names;
mod tokens;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::Builder;
use std::time::Duration;

use async_trait::async_trait;
use memory_core::ports::{CLAUSE_CLASSES, ClauseEncoder, EncoderError, Encoders, NAME_CLASSES, NameEncoder};
use tokio::sync::oneshot;

use self::clauses::ClauseReader;
use self::model::{Failed, Place};
use self::names::NameReader;

/// Low-rank differences to the weights of the encoder, which setup merges with them, and the classification head.
pub const CLAUSE_ADAPTER: &[u8] = include_bytes!("../../data/clause_encoder.safetensors");
/// The merged model in the folder of the embedding model. Another adapter takes the next number: setup adds what is missing.
pub const CLAUSE_ENCODER_FILE: &str = "clause_encoder_6.onnx";
/// The same for names, of the first layers only.
pub const NAME_ADAPTER: &[u8] = include_bytes!("../../data/name_encoder.safetensors");
pub const NAME_ENCODER_FILE: &str = "name_encoder_1.onnx";
pub const NAME_ENCODER_LAYERS: usize = 3;
/// Without anything to read, models are given back after this. Loading both again takes less than a tenth of a second.
const IDLE: Duration = Duration::from_secs(5);

/// How far it stands back behind calls.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

/// A model that is loaded.
trait Reader: Sized {
    const NAME: &'static str;
    type Wanted;
    type Logits;

    fn load(place: &Place) -> Result<Self, Failed>;

    fn logits(
        &mut self,
        text: &str,
        wanted: &[Self::Wanted],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Vec<Self::Logits>, Failed>;
}

type Answer<R> = Result<Vec<<R as Reader>::Logits>, EncoderError>;

struct Question<R: Reader> {
    text: String,
    wanted: Vec<R::Wanted>,
    /// Closed once the caller has been cancelled.
    reply: oneshot::Sender<Answer<R>>,
}

enum Request {
    Clauses(Question<ClauseReader>),
    Names(Question<NameReader>),
}

/// The encoders of a folder. Dropping them ends their thread after the text that it reads.
#[derive(Debug)]
pub struct OnnxEncoders {
    requests: mpsc::Sender<Request>,
}

impl OnnxEncoders {
    /// Those that setup put into `model_dir`. Nothing is loaded yet.
    pub fn in_folder(model_dir: &Path, onnxruntime_library: &Path) -> Encoders {
        let place = Place { model_dir: model_dir.to_owned(), library: onnxruntime_library.to_owned() };
        let has = |file: &str| model_dir.join(file).is_file();
        let (clauses, names) = (has(CLAUSE_ENCODER_FILE), has(NAME_ENCODER_FILE));
        if !clauses && !names {
            return Encoders::default();
        }
        let (requests, waiting) = mpsc::channel();
        // Without the thread each request fails.
        let _ = Builder::new().name("encoder".to_owned()).spawn(move || answer_all(&waiting, &place));
        let both = Arc::new(Self { requests });
        Encoders {
            clauses: clauses.then(|| Arc::clone(&both) as Arc<dyn ClauseEncoder>),
            names: names.then_some(both as Arc<dyn NameEncoder>),
        }
    }

    async fn ask<R: Reader>(
        &self,
        text: String,
        wanted: Vec<R::Wanted>,
        request: fn(Question<R>) -> Request,
    ) -> Answer<R> {
        let ended = || error::<R>("its thread has ended");
        let (reply, answer) = oneshot::channel();
        self.requests.send(request(Question { text, wanted, reply })).map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }
}

#[async_trait]
impl ClauseEncoder for OnnxEncoders {
    async fn logits(
        &self,
        text: String,
        clauses: Vec<Range<usize>>,
    ) -> Result<Vec<[f32; CLAUSE_CLASSES]>, EncoderError> {
        self.ask(text, clauses, Request::Clauses).await
    }
}

#[async_trait]
impl NameEncoder for OnnxEncoders {
    async fn name_logits(
        &self,
        text: String,
        names: Vec<Vec<Range<usize>>>,
    ) -> Result<Vec<[f32; NAME_CLASSES]>, EncoderError> {
        self.ask(text, names, Request::Names).await
    }
}

fn answer_all(waiting: &mpsc::Receiver<Request>, place: &Place) {
    // Of this thread alone: nobody waits for it while others wait for the processor.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, NICENESS);
    let (mut clauses, mut names) = (None, None);
    loop {
        let is_loaded = clauses.is_some() || names.is_some();
        let received = if is_loaded {
            waiting.recv_timeout(IDLE)
        } else {
            waiting.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        match received {
            Ok(Request::Clauses(question)) => answer(&mut clauses, question, place),
            Ok(Request::Names(question)) => answer(&mut names, question, place),
            Err(RecvTimeoutError::Timeout) => (clauses, names) = (None, None),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Loads the model unless it is there. After a failure it is loaded anew, so that a file that was mended is found.
fn answer<R: Reader>(model: &mut Option<R>, question: Question<R>, place: &Place) {
    let Question { text, wanted, reply } = question;
    if reply.is_closed() {
        return;
    }
    let loaded = model.take();
    let answered = catch_unwind(AssertUnwindSafe(|| {
        let mut loaded = loaded.map_or_else(|| R::load(place), Ok)?;
        let logits = loaded.logits(&text, &wanted, &|| reply.is_closed())?;
        Ok((loaded, logits))
    }));
    let answer = match answered {
        Ok(Ok((loaded, logits))) => {
            *model = Some(loaded);
            Ok(logits)
        }
        Ok(Err(Failed(reason))) => Err(error::<R>(&reason)),
        Err(_) => Err(error::<R>("it panicked")),
    };
    // The caller may have been cancelled meanwhile.
    let _ = reply.send(answer);
}

fn error<R: Reader>(reason: &str) -> EncoderError {
    EncoderError { encoder: R::NAME, reason: reason.to_owned() }
}
