//! How many clients are connected, by which a process in the background decides when to end, and the HTTP listeners that it has opened
//! for clients.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many clients are connected, and since when there is none.
pub(super) struct Clients {
    connected: AtomicUsize,
    last_seen: Mutex<Instant>,
    listeners: Mutex<Vec<String>>,
}

/// A listener for a client, known by its address until it is dropped.
pub(super) struct Listens(Arc<Clients>, String);

/// One connection, counted until it is dropped.
pub(super) struct Connected(Arc<Clients>);

impl Clients {
    pub(super) fn new() -> Self {
        Self {
            connected: AtomicUsize::new(0),
            last_seen: Mutex::new(Instant::now()),
            listeners: Mutex::default(),
        }
    }

    pub(super) fn listens(self: &Arc<Self>, address: &str) -> Listens {
        locked(&self.listeners).push(address.to_owned());
        Listens(Arc::clone(self), address.to_owned())
    }

    /// Where this process listens for others, which end with it.
    pub(super) fn listeners(&self) -> Vec<String> {
        locked(&self.listeners).clone()
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

impl Drop for Listens {
    fn drop(&mut self) {
        let mut listeners = locked(&self.0.listeners);
        if let Some(at) = listeners.iter().position(|address| *address == self.1) {
            listeners.swap_remove(at);
        }
    }
}

fn locked(listeners: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    listeners.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_known_as_long_as_it_is_there() {
        let clients = Arc::new(Clients::new());
        let (one, other) = (clients.listens("localhost:1"), clients.listens("localhost:2"));
        assert_eq!(clients.listeners(), ["localhost:1", "localhost:2"]);
        drop(one);
        assert_eq!(clients.listeners(), ["localhost:2"]);
        drop(other);
        assert!(clients.listeners().is_empty());
    }
}
