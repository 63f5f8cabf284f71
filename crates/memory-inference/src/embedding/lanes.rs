//! The queues of texts before the model, one for each urgency.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use memory_core::ports::{Embedded, EmbeddingError};
use tokio::sync::oneshot;

/// A helper is started when so many jobs with passages are queued.
const HELPED_FROM: usize = 2;

/// Texts to embed by their urgency, most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    Queries,
    /// Of texts that clients have just written.
    Passages,
    /// Of long texts and imports.
    Background,
}

const LANES: [Lane; 3] = [Lane::Queries, Lane::Passages, Lane::Background];
/// What the helper takes.
const PASSAGES: &[Lane] = &[Lane::Passages, Lane::Background];

/// Texts to embed and where the vectors go. The reply is closed once the caller has been cancelled.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) texts: Vec<String>,
    pub(super) reply: oneshot::Sender<Result<Vec<Embedded>, EmbeddingError>>,
}

#[derive(Debug, Default)]
pub(super) struct Lanes {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    /// By lane.
    jobs: [VecDeque<Job>; LANES.len()],
    closed: bool,
    has_help: bool,
}

impl Waiting {
    /// The next of these lanes, best first.
    fn take(&mut self, lanes: &[Lane]) -> Option<(Lane, Job)> {
        lanes.iter().find_map(|lane| Some((*lane, self.jobs[*lane as usize].pop_front()?)))
    }
}

impl Lanes {
    pub(super) fn push(&self, lane: Lane, job: Job) {
        self.lock().jobs[lane as usize].push_back(job);
        // The helper does not come for a query.
        self.changed.notify_all();
    }

    /// Whether more passages are queued than one thread should embed, and there is no helper yet. The caller has to start it.
    pub(super) fn wants_help(&self) -> bool {
        let mut waiting = self.lock();
        let passages: usize = PASSAGES.iter().map(|lane| waiting.jobs[*lane as usize].len()).sum();
        let wants = !waiting.closed && !waiting.has_help && passages >= HELPED_FROM;
        waiting.has_help |= wants;
        wants
    }

    /// The helper has ended; another may be started.
    pub(super) fn dismiss_help(&self) {
        self.lock().has_help = false;
    }

    /// Waits for passages; none once the lanes are closed or nothing has come for a while.
    pub(super) fn next_passages(&self, patience: Duration) -> Option<(Lane, Job)> {
        let deadline = Instant::now() + patience;
        let mut waiting = self.lock();
        loop {
            if waiting.closed {
                return None;
            }
            if let Some(next) = waiting.take(PASSAGES) {
                return Some(next);
            }
            let left = deadline.checked_duration_since(Instant::now())?;
            waiting = self.changed.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Drops queued work; its callers get the error that the thread has ended.
    pub(super) fn close(&self) {
        let mut waiting = self.lock();
        waiting.closed = true;
        waiting.jobs.iter_mut().for_each(VecDeque::clear);
        drop(waiting);
        self.changed.notify_all();
    }

    /// Waits for work, queries first; none once the lanes are closed.
    pub(super) fn next(&self) -> Option<(Lane, Job)> {
        let mut waiting = self.lock();
        loop {
            if waiting.closed {
                return None;
            }
            if let Some(next) = waiting.take(&LANES) {
                return Some(next);
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What waits in a lane before this one.
    pub(super) fn next_before(&self, lane: Lane) -> Option<(Lane, Job)> {
        self.lock().take(&LANES[..lane as usize])
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
