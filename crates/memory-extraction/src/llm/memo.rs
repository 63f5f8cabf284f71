//! Answers that were paid for: a job that failed on the way goes on where it was.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::answer::Answer;

const ANSWERS_MAX: usize = 256;
const KEPT_FOR: Duration = Duration::from_secs(3600);

struct Entry {
    question: String,
    answer: Arc<Answer>,
    since: Instant,
}

#[derive(Default)]
pub(super) struct Memo(Mutex<VecDeque<Entry>>);

impl Memo {
    /// What is too old is forgotten on the way.
    fn entries(&self, now: Instant) -> MutexGuard<'_, VecDeque<Entry>> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|entry| now.duration_since(entry.since) < KEPT_FOR);
        entries
    }

    pub(super) fn recall(&self, question: &str) -> Option<Arc<Answer>> {
        let entries = self.entries(Instant::now());
        entries.iter().find(|entry| entry.question == question).map(|entry| Arc::clone(&entry.answer))
    }

    pub(super) fn keep(&self, question: String, answer: Arc<Answer>) {
        let since = Instant::now();
        let mut entries = self.entries(since);
        if entries.len() == ANSWERS_MAX {
            entries.pop_front();
        }
        entries.push_back(Entry { question, answer, since });
    }

    /// Forgets the answers of a source that is done.
    pub(super) fn forget(&self, questions: &[String]) {
        self.entries(Instant::now()).retain(|entry| !questions.contains(&entry.question));
    }
}
