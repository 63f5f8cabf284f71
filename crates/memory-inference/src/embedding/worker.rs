//! The thread of a model, and a helper while many passages are queued: they take jobs from the lanes and run them in batches.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use memory_core::ports::{Embedded, EmbeddingError};

use super::batches::{Place, Sums, group};
use super::lanes::{Job, Lane, Lanes};

/// Tokens of one run of the model, padding included. Measured with MiniLM on two cores: 4,096 are no faster
/// than 512, take 200 MB more, and a query that comes meanwhile waits 0.2 s instead of 15 ms.
const BATCH_TOKENS: usize = 512;

/// How long the helper waits for more passages before it ends and its copy of the model is dropped.
const HELPS_FOR: Duration = Duration::from_secs(20);

/// What the thread asks of a model. It is a trait so that order and failures can be tested without one.
pub(super) trait Encode: Send + 'static {
    /// Numbers in a vector.
    fn dimension(&self) -> usize;

    /// The windows of a text that is the `index`-th of its job.
    fn places(&self, lane: Lane, index: usize, text: &str) -> Result<Vec<Place>, EmbeddingError>;

    /// Tokens that come to those of a window when it is run.
    fn added_tokens(&self, lane: Lane) -> usize;

    /// What it makes of each place, in order, from one run of the model. Tokens begin where they do in the text.
    fn run(
        &mut self,
        lane: Lane,
        texts: &[String],
        places: &[Place],
    ) -> Result<Vec<Embedded>, EmbeddingError>;
}

pub(super) fn spawn(encoder: impl Encode, lanes: Arc<Lanes>) -> std::io::Result<JoinHandle<()>> {
    let mut worker = Worker { encoder, lanes };
    Builder::new().name("embedding".to_owned()).spawn(move || {
        while let Some((lane, job)) = worker.lanes.next() {
            worker.answer(lane, job);
        }
    })
}

/// Takes part in the passages, until nothing has come for a while.
pub(super) fn help(encoder: impl Encode, lanes: &Arc<Lanes>) {
    help_for(encoder, lanes, HELPS_FOR);
}

fn help_for(encoder: impl Encode, lanes: &Arc<Lanes>, patience: Duration) {
    let mut worker = Worker { encoder, lanes: Arc::clone(lanes) };
    while let Some((lane, job)) = lanes.next_passages(patience) {
        worker.answer(lane, job);
    }
    lanes.dismiss_help();
}

struct Worker<E> {
    encoder: E,
    lanes: Arc<Lanes>,
}

impl<E: Encode> Worker<E> {
    fn answer(&mut self, lane: Lane, job: Job) {
        let Job { texts, reply } = job;
        if reply.is_closed() {
            return;
        }
        // The model holds no state from one run to the next, so it can be used after a panic.
        let result = catch_unwind(AssertUnwindSafe(|| self.embed(lane, &texts, || reply.is_closed())));
        let result = result.unwrap_or_else(|panic| Err(EmbeddingError::Failed(panic_message(&*panic))));
        // The caller may have been cancelled meanwhile.
        let _ = reply.send(result);
    }

    fn embed(
        &mut self,
        lane: Lane,
        texts: &[String],
        given_up: impl Fn() -> bool,
    ) -> Result<Vec<Embedded>, EmbeddingError> {
        let mut places: Vec<Place> = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            self.let_others_pass(lane);
            places.extend(self.encoder.places(lane, index, text)?);
        }
        let mut sums = Sums::new(texts.len(), self.encoder.dimension());
        for batch in group(&mut places, self.encoder.added_tokens(lane), BATCH_TOKENS) {
            self.let_others_pass(lane);
            if given_up() || self.lanes.is_closed() {
                return Err(EmbeddingError::Failed("no one waits for the vectors".to_owned()));
            }
            let batch = &places[batch];
            let made = self.encoder.run(lane, texts, batch)?;
            for (place, made) in batch.iter().zip(made) {
                sums.add(place, made)?;
            }
        }
        sums.into_embedded()
    }

    fn let_others_pass(&mut self, lane: Lane) {
        while let Some((before, job)) = self.lanes.next_before(lane) {
            self.answer(before, job);
        }
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the model panicked: {}", text.unwrap_or("without a message"))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::super::windows::Window;
    use super::*;

    /// Fills a batch with each text, reports which it runs and waits for leave; panics where the text says so.
    struct Scripted {
        ran: mpsc::Sender<String>,
        leave: mpsc::Receiver<()>,
    }

    impl Encode for Scripted {
        fn dimension(&self) -> usize {
            1
        }

        fn places(&self, _: Lane, index: usize, text: &str) -> Result<Vec<Place>, EmbeddingError> {
            Ok(vec![Place {
                text: index,
                window: Window { bytes: 0..text.len(), begins: vec![0; BATCH_TOKENS] },
            }])
        }

        fn added_tokens(&self, _: Lane) -> usize {
            0
        }

        fn run(
            &mut self,
            _: Lane,
            texts: &[String],
            places: &[Place],
        ) -> Result<Vec<Embedded>, EmbeddingError> {
            let text = &texts[places[0].text];
            self.ran.send(text.clone()).unwrap();
            self.leave.recv().unwrap();
            assert!(text != "panic", "as scripted");
            Ok(vec![Embedded { vector: vec![1.0], tokens: Vec::new() }])
        }
    }

    struct Thread {
        lanes: Arc<Lanes>,
        ran: mpsc::Receiver<String>,
        leave: mpsc::Sender<()>,
        handle: JoinHandle<()>,
    }

    type Answer = oneshot::Receiver<Result<Vec<Embedded>, EmbeddingError>>;

    impl Thread {
        fn start() -> Self {
            let (ran_sender, ran) = mpsc::channel();
            let (leave, leave_receiver) = mpsc::channel();
            let lanes = Arc::new(Lanes::default());
            let model = Scripted { ran: ran_sender, leave: leave_receiver };
            let handle = spawn(model, Arc::clone(&lanes)).unwrap();
            Self { lanes, ran, leave, handle }
        }

        fn ask(&self, lane: Lane, texts: &[&str]) -> Answer {
            let (reply, answer) = oneshot::channel();
            self.lanes.push(lane, Job { texts: texts.iter().map(ToString::to_string).collect(), reply });
            answer
        }

        fn runs(&self) -> String {
            self.ran.recv_timeout(Duration::from_secs(10)).unwrap()
        }

        fn let_run(&self) {
            self.leave.send(()).unwrap();
        }
    }

    #[test]
    fn a_query_goes_before_the_next_batch_of_passages() {
        let thread = Thread::start();
        let passages = thread.ask(Lane::Passages, &["first", "second"]);
        assert_eq!(thread.runs(), "first");
        let query = thread.ask(Lane::Queries, &["query"]);
        for next in ["query", "second"] {
            thread.let_run();
            assert_eq!(thread.runs(), next);
        }
        assert_eq!(query.blocking_recv().unwrap().unwrap()[0].vector, [1.0]);
        thread.let_run();
        assert_eq!(passages.blocking_recv().unwrap().unwrap().len(), 2);
    }

    #[test]
    fn a_short_text_passes_what_nobody_waits_for() {
        let thread = Thread::start();
        let long = thread.ask(Lane::Background, &["first", "second"]);
        assert_eq!(thread.runs(), "first");
        let more = thread.ask(Lane::Background, &["third"]);
        let note = thread.ask(Lane::Passages, &["note"]);
        for next in ["note", "second", "third"] {
            thread.let_run();
            assert_eq!(thread.runs(), next);
        }
        assert_eq!(note.blocking_recv().unwrap().unwrap().len(), 1, "it is answered before the long text");
        thread.let_run();
        assert!(long.blocking_recv().unwrap().is_ok() && more.blocking_recv().unwrap().is_ok());
    }

    #[test]
    fn a_panic_is_answered_and_the_thread_lives() {
        let thread = Thread::start();
        let spoiled = thread.ask(Lane::Passages, &["panic"]);
        thread.runs();
        thread.let_run();
        let error = spoiled.blocking_recv().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "the embedding model failed: the model panicked: as scripted");
        let next = thread.ask(Lane::Queries, &["next"]);
        thread.runs();
        thread.let_run();
        assert!(next.blocking_recv().unwrap().is_ok());
    }

    #[test]
    fn work_that_no_one_waits_for_is_not_run() {
        let thread = Thread::start();
        let first = thread.ask(Lane::Queries, &["first"]);
        assert_eq!(thread.runs(), "first");
        drop(thread.ask(Lane::Passages, &["given up"]));
        let last = thread.ask(Lane::Passages, &["last"]);
        thread.let_run();
        assert_eq!(thread.runs(), "last");
        thread.let_run();
        assert!(first.blocking_recv().unwrap().is_ok() && last.blocking_recv().unwrap().is_ok());
    }

    #[test]
    fn help_is_called_once_while_much_waits_takes_passages_and_goes() {
        let thread = Thread::start();
        let first = thread.ask(Lane::Passages, &["first"]);
        assert_eq!(thread.runs(), "first");
        let second = thread.ask(Lane::Passages, &["second"]);
        assert!(!thread.lanes.wants_help(), "one waits");
        let third = thread.ask(Lane::Passages, &["third"]);
        assert!(thread.lanes.wants_help(), "two wait");
        assert!(!thread.lanes.wants_help(), "it was called for");

        let (ran_sender, ran) = mpsc::channel();
        let (leave, leave_receiver) = mpsc::channel();
        let lanes = Arc::clone(&thread.lanes);
        let helper = std::thread::spawn(move || {
            let model = Scripted { ran: ran_sender, leave: leave_receiver };
            help_for(model, &lanes, Duration::from_millis(50));
        });
        for (text, answer) in [("second", second), ("third", third)] {
            assert_eq!(ran.recv_timeout(Duration::from_secs(10)).unwrap(), text);
            leave.send(()).unwrap();
            assert!(answer.blocking_recv().unwrap().is_ok());
        }
        helper.join().unwrap();
        thread.let_run();
        assert!(first.blocking_recv().unwrap().is_ok());
        assert!(!thread.lanes.wants_help(), "nothing waits");
    }

    #[test]
    fn closed_lanes_end_the_thread_and_tell_those_who_wait() {
        let thread = Thread::start();
        let running = thread.ask(Lane::Queries, &["running"]);
        thread.runs();
        let waiting = thread.ask(Lane::Passages, &["waiting"]);
        thread.lanes.close();
        assert!(waiting.blocking_recv().is_err());
        thread.let_run();
        assert!(running.blocking_recv().unwrap().is_ok());
        thread.handle.join().unwrap();
    }
}
