//! Signals between the verbs of this process and its worker, and hints for other processes.

use std::sync::Arc;
use std::time::Duration;

use memory_store::{Store, Topic};
use tokio::sync::Notify;

/// Wakes what waits for work in this process. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Signals(Arc<Waiting>);

#[derive(Default)]
struct Waiting {
    jobs_queued: Notify,
    vectors_changed: Notify,
}

impl Signals {
    /// Wakes the worker of this process and the updates of the mirror, and notifies other processes.
    pub(crate) fn wake_worker(&self) {
        self.0.jobs_queued.notify_one();
        self.0.vectors_changed.notify_one();
    }

    /// Only what keeps the mirror.
    pub(crate) fn wake_mirror(&self) {
        self.0.vectors_changed.notify_one();
    }

    pub(crate) fn jobs_queued(&self) -> &Notify {
        &self.0.jobs_queued
    }

    pub(crate) fn vectors_changed(&self) -> &Notify {
        &self.0.vectors_changed
    }
}

/// Passes a signal of this process on to others, coalesced; runs until it is dropped.
pub(crate) async fn forward(store: &Store, topic: Topic, signal: &Notify) {
    loop {
        signal.notified().await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        hint(store, topic).await;
    }
}

/// A lost hint costs a poll interval.
pub(crate) async fn hint(store: &Store, topic: Topic) {
    if let Err(error) = store.hint(topic).await {
        tracing::debug!(%error, ?topic, "failed to hint other processes; they poll");
    }
}
