//! Signals between the verbs of this process and its worker, and hints for other processes.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use memory_store::{Store, Topic};
use tokio::sync::Notify;

use crate::locking::locked;

/// A moment without new jobs, and how long is waited for one.
const CALM_FOR: Duration = Duration::from_millis(20);
const CALM_WITHIN: Duration = Duration::from_millis(100);

/// Wakes what waits for work in this process. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Signals(Arc<Waiting>);

#[derive(Default)]
struct Waiting {
    jobs_queued: Notify,
    /// When that was last.
    queued_at: Mutex<Option<Instant>>,
    vectors_changed: Notify,
}

impl Signals {
    /// Wakes the worker of this process and the updates of the mirror, and notifies other processes.
    pub(crate) fn wake_worker(&self) {
        *locked(&self.0.queued_at) = Some(Instant::now());
        self.0.jobs_queued.notify_one();
        self.0.vectors_changed.notify_one();
    }

    /// Waits until this process has queued no job for a moment, for a bounded time: a client that remembers one text after the other
    /// gets its answers first, and its texts are then extracted together.
    pub(crate) async fn calm(&self) {
        let begun = Instant::now();
        loop {
            let queued_at = *locked(&self.0.queued_at);
            let Some(left) = queued_at.and_then(|at| (at + CALM_FOR).checked_duration_since(Instant::now()))
            else {
                return;
            };
            let Some(patience) = CALM_WITHIN.checked_sub(begun.elapsed()) else { return };
            tokio::time::sleep(left.min(patience).max(Duration::from_millis(1))).await;
        }
    }

    /// Wakes only the updates of the mirror.
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

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn what_comes_one_after_the_other_is_waited_for_and_not_for_long() {
        let signals = Signals::default();
        assert!(signals.calm().now_or_never().is_some(), "nothing was queued");
        let woken = Instant::now();
        signals.wake_worker();
        assert!(signals.calm().now_or_never().is_none(), "something was queued just now");
        signals.calm().await;
        assert!(woken.elapsed() >= CALM_FOR);
        let waking = async {
            loop {
                signals.wake_worker();
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let calm = tokio::time::timeout(CALM_WITHIN * 100, signals.calm());
        tokio::select! {
            () = waking => {}
            calm = calm => assert!(calm.is_ok(), "it never ends by itself"),
        }
    }
}
