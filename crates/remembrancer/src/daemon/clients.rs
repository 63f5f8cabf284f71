//! How many clients are connected, which a process in the background lives by.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How many clients are connected, and since when there is none.
pub(super) struct Clients {
    connected: AtomicUsize,
    last_seen: Mutex<Instant>,
}

/// One connection, counted until it is dropped.
pub(super) struct Connected(Arc<Clients>);

impl Clients {
    pub(super) fn new() -> Self {
        Self { connected: AtomicUsize::new(0), last_seen: Mutex::new(Instant::now()) }
    }

    pub(super) fn enter(self: &Arc<Self>) -> Connected {
        self.connected.fetch_add(1, Ordering::SeqCst);
        Connected(Arc::clone(self))
    }

    pub(super) fn idle_for(&self) -> Duration {
        if self.connected.load(Ordering::SeqCst) > 0 {
            return Duration::ZERO;
        }
        self.last_seen.lock().map_or(Duration::ZERO, |seen| seen.elapsed())
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        if let Ok(mut seen) = self.0.last_seen.lock() {
            *seen = Instant::now();
        }
        self.0.connected.fetch_sub(1, Ordering::SeqCst);
    }
}
