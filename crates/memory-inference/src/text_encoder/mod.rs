//! Classifies names, clauses and sentences that may state directives with the first layers of the sentence encoder of setup and what fine-tuning on labelled documents
//! added to them (`data/text_encoder.safetensors`, see `tools/train-clauses/encoder`).
//!
//! One thread owns the model. It loads it when there is something to read and gives it back after a while without.

mod model;
mod reading;
mod tokens;
mod windows;

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::Builder;
use std::time::Duration;

use async_trait::async_trait;
use memory_core::ports::{CLAUSE_CLASSES, EncoderError, NAME_CLASSES, SentenceLogits, TextEncoder};
use tokio::sync::oneshot;

use self::model::{Failed, Model, PairModel, Place};
use self::reading::{IsCancelled, Reading};
use crate::adapted::TEXT_ENCODER;

/// Without anything to read, the model is given back after this. Loading it again takes less than a tenth of a second.
const IDLE: Duration = Duration::from_secs(5);
/// Texts whose names were asked for and whose clauses may be asked for next: of as many extractions at a time.
const READINGS_MAX: usize = 4;

/// How far it stands back behind calls.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

type Answer<Logits> = Result<Vec<Logits>, EncoderError>;

struct Question<Wanted, Logits> {
    text: Arc<str>,
    wanted: Vec<Wanted>,
    /// Closed once the caller has been cancelled.
    reply: oneshot::Sender<Answer<Logits>>,
}

type NamesQuestion = Question<Vec<Range<usize>>, [f32; NAME_CLASSES]>;
type ClausesQuestion = Question<Range<usize>, [f32; CLAUSE_CLASSES]>;
type DirectivesQuestion = Question<Range<usize>, SentenceLogits>;
type ReplacementQuestion = Question<Range<usize>, f32>;

enum Request {
    Names(NamesQuestion),
    Clauses(ClausesQuestion),
    Directives(DirectivesQuestion),
    /// Of an earlier and a later statement, one below the other.
    Replacement(ReplacementQuestion),
}

/// The encoder of a folder. Dropping it ends its thread after the text that it reads.
#[derive(Debug)]
pub struct OnnxTextEncoder {
    requests: mpsc::Sender<Request>,
}

impl OnnxTextEncoder {
    /// What setup put into `model_dir`, if it did. Nothing is loaded yet.
    pub fn in_folder(model_dir: &Path, onnxruntime_library: &Path) -> Option<Arc<dyn TextEncoder>> {
        if !model_dir.join(TEXT_ENCODER.file).is_file() {
            return None;
        }
        let place = Place { model_dir: model_dir.to_owned(), library: onnxruntime_library.to_owned() };
        let (requests, waiting) = mpsc::channel();
        // Without the thread each request fails.
        let _ = Builder::new().name("encoder".to_owned()).spawn(move || answer_all(&waiting, &place));
        Some(Arc::new(Self { requests }))
    }

    async fn ask<Wanted, Logits>(
        &self,
        text: Arc<str>,
        wanted: Vec<Wanted>,
        request: fn(Question<Wanted, Logits>) -> Request,
    ) -> Answer<Logits> {
        let ended = || EncoderError("its thread has ended".to_owned());
        let (reply, answer) = oneshot::channel();
        self.requests.send(request(Question { text, wanted, reply })).map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }
}

#[async_trait]
impl TextEncoder for OnnxTextEncoder {
    async fn name_logits(
        &self,
        text: Arc<str>,
        names: Vec<Vec<Range<usize>>>,
    ) -> Result<Vec<[f32; NAME_CLASSES]>, EncoderError> {
        self.ask(text, names, Request::Names).await
    }

    async fn clause_logits(
        &self,
        text: Arc<str>,
        clauses: Vec<Range<usize>>,
    ) -> Result<Vec<[f32; CLAUSE_CLASSES]>, EncoderError> {
        self.ask(text, clauses, Request::Clauses).await
    }

    async fn directive_logits(
        &self,
        text: Arc<str>,
        sentences: Vec<Range<usize>>,
    ) -> Result<Vec<SentenceLogits>, EncoderError> {
        self.ask(text, sentences, Request::Directives).await
    }

    async fn replacement_logits(&self, pairs: Vec<[Arc<str>; 2]>) -> Result<Vec<f32>, EncoderError> {
        let mut logits = Vec::with_capacity(pairs.len());
        for pair in pairs {
            // Each is a line of its own.
            let [earlier, later] = pair.map(|text| text.replace(['\n', '\r'], " "));
            let spans = vec![0..earlier.len(), earlier.len() + 1..earlier.len() + 1 + later.len()];
            let text = format!("{earlier}\n{later}").into();
            logits.extend(self.ask(text, spans, Request::Replacement).await?);
        }
        Ok(logits)
    }
}

/// The model, the one of pairs once it is needed, and the texts that were read last.
struct Loaded {
    place: Place,
    model: Model,
    pairs: Option<PairModel>,
    readings: VecDeque<Reading>,
}

fn answer_all(waiting: &mpsc::Receiver<Request>, place: &Place) {
    // Of this thread alone: nobody waits for it while others wait for the processor.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, NICENESS);
    let mut loaded = None;
    loop {
        let received = if loaded.is_some() {
            waiting.recv_timeout(IDLE)
        } else {
            waiting.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        match received {
            Ok(Request::Names(question)) => answer(&mut loaded, question, place, Loaded::names),
            Ok(Request::Clauses(question)) => answer(&mut loaded, question, place, Loaded::clauses),
            Ok(Request::Directives(question)) => answer(&mut loaded, question, place, Loaded::directives),
            Ok(Request::Replacement(question)) => answer(&mut loaded, question, place, Loaded::replacement),
            Err(RecvTimeoutError::Timeout) => loaded = None,
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

impl Loaded {
    fn from(place: &Place) -> Result<Self, Failed> {
        let model = Model::load(place)?;
        Ok(Self { place: place.clone(), model, pairs: None, readings: VecDeque::new() })
    }

    /// The text as far as it was read, which is then no longer kept.
    fn reading(&mut self, text: &Arc<str>) -> Result<Reading, Failed> {
        match self.readings.iter().position(|reading| reading.text == *text) {
            Some(known) => Ok(self.readings.swap_remove_back(known).expect("it is at that place")),
            None => Reading::of(Arc::clone(text), &self.model.layers),
        }
    }

    fn names(
        &mut self,
        text: &Arc<str>,
        names: &[Vec<Range<usize>>],
        is_cancelled: IsCancelled<'_>,
    ) -> Result<Vec<[f32; NAME_CLASSES]>, Failed> {
        let mut reading = self.reading(text)?;
        let logits = reading.names(names, &mut self.model, is_cancelled)?;
        self.keep(reading);
        Ok(logits)
    }

    fn directives(
        &mut self,
        text: &Arc<str>,
        sentences: &[Range<usize>],
        is_cancelled: IsCancelled<'_>,
    ) -> Result<Vec<SentenceLogits>, Failed> {
        let mut reading = self.reading(text)?;
        let logits = reading.directives(sentences, &mut self.model, is_cancelled)?;
        self.keep(reading);
        Ok(logits)
    }

    fn replacement(
        &mut self,
        text: &Arc<str>,
        statements: &[Range<usize>],
        is_cancelled: IsCancelled<'_>,
    ) -> Result<Vec<f32>, Failed> {
        let model = match &mut self.pairs {
            Some(model) => model,
            none => none.insert(PairModel::load(&self.place)?),
        };
        let mut reading = Reading::of(Arc::clone(text), &model.layers)?;
        reading.replacement(statements, model, is_cancelled).map(|logit| vec![logit])
    }

    fn keep(&mut self, reading: Reading) {
        self.readings.push_front(reading);
        self.readings.truncate(READINGS_MAX);
    }

    /// Clauses are asked for last: nothing of the text is kept.
    fn clauses(
        &mut self,
        text: &Arc<str>,
        clauses: &[Range<usize>],
        is_cancelled: IsCancelled<'_>,
    ) -> Result<Vec<[f32; CLAUSE_CLASSES]>, Failed> {
        self.reading(text)?.clauses(clauses, &mut self.model, is_cancelled)
    }
}

/// What is asked of a text.
type Ask<Wanted, Logits> =
    fn(&mut Loaded, &Arc<str>, &[Wanted], IsCancelled<'_>) -> Result<Vec<Logits>, Failed>;

/// Loads the model unless it is there. After a failure it is loaded anew, so that a file that was mended is found.
fn answer<Wanted, Logits>(
    loaded: &mut Option<Loaded>,
    question: Question<Wanted, Logits>,
    place: &Place,
    ask: Ask<Wanted, Logits>,
) {
    let Question { text, wanted, reply } = question;
    if reply.is_closed() {
        return;
    }
    let known = loaded.take();
    let answered = catch_unwind(AssertUnwindSafe(|| {
        let mut known = known.map_or_else(|| Loaded::from(place), Ok)?;
        let logits = ask(&mut known, &text, &wanted, &|| reply.is_closed())?;
        Ok((known, logits))
    }));
    let answer = match answered {
        Ok(Ok((known, logits))) => {
            *loaded = Some(known);
            Ok(logits)
        }
        Ok(Err(Failed(reason))) => Err(EncoderError(reason)),
        Err(_) => Err(EncoderError("it panicked".to_owned())),
    };
    // The caller may have been cancelled meanwhile.
    let _ = reply.send(answer);
}
