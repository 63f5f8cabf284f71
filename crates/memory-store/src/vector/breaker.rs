//! A breaker: a server that did not answer in time is not waited for again until it has answered a trial.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Closed: calls go through. Open: they do not, and somebody tries whether the server is back.
#[derive(Debug)]
pub struct Breaker {
    pause: Duration,
    pause_max: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Why calls do not go through.
    open: Option<String>,
    /// How long to wait before the next trial.
    next_pause: Duration,
    closed_at: Option<Instant>,
}

impl Breaker {
    pub fn new(pause: Duration, pause_max: Duration) -> Self {
        Self { pause, pause_max, state: Mutex::new(State { open: None, next_pause: pause, closed_at: None }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why calls do not go through, if so.
    pub fn open(&self) -> Option<String> {
        self.state().open.clone()
    }

    /// A call has failed. Gives whether this opened the breaker: whoever did that sees to the trials.
    pub fn trip(&self, reason: &str) -> bool {
        let mut state = self.state();
        if state.open.is_some() {
            return false;
        }
        // One that answers trials but not calls is tried less and less often.
        let was_stable = state.closed_at.is_none_or(|at| at.elapsed() > self.pause_max);
        if was_stable {
            state.next_pause = self.pause;
        }
        state.open = Some(reason.to_owned());
        true
    }

    /// How long to wait before the next trial; longer each time.
    pub fn next_pause(&self) -> Duration {
        let mut state = self.state();
        let pause = state.next_pause;
        state.next_pause = (pause * 2).min(self.pause_max);
        pause
    }

    /// A trial went well.
    pub fn close(&self) {
        let mut state = self.state();
        state.open = None;
        state.closed_at = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_opens_it_and_trials_become_rarer_until_it_was_closed_for_long() {
        let second = Duration::from_secs(1);
        let breaker = Breaker::new(second, second * 4);
        assert_eq!(breaker.open(), None);
        assert!(breaker.trip("it is slow"));
        assert!(!breaker.trip("again"), "only one call sees to the trials");
        assert_eq!(breaker.open().as_deref(), Some("it is slow"));
        let pauses: Vec<u64> = (0..4).map(|_| breaker.next_pause().as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 4]);
        breaker.close();
        assert_eq!(breaker.open(), None);
        assert!(breaker.trip("at once again"));
        assert_eq!(breaker.next_pause(), second * 4, "it only seemed to be well");
    }
}
