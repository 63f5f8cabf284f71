//! A circuit breaker: after failures a server is not called for a while, then by one call that finds out whether it is back.
//!
//! It reads no clock: callers pass the time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// When a breaker opens, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct BreakerPolicy {
    /// So many failures in a row open it.
    pub failures_max: u32,
    /// How long it stays open at first; each failure while it is open doubles that, up to `pause_max`.
    pub pause_min: Duration,
    pub pause_max: Duration,
    /// Pauses begin at `pause_min` again when it was closed for so long.
    pub stable_after: Duration,
}

/// Why a call is not let through, and when the next may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused<R> {
    pub reason: R,
    pub retry_after: Duration,
    /// A call is on its way that finds out whether the server is back.
    pub is_tried: bool,
}

/// What is known of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BreakerStatus<R> {
    Untried,
    Closed,
    Open { reason: R, remaining: Duration },
}

/// Closed: calls go through. Open: they do not, for the reason `R`.
#[derive(Debug)]
pub struct CircuitBreaker<R> {
    policy: BreakerPolicy,
    state: Mutex<State<R>>,
}

#[derive(Debug)]
struct State<R> {
    failures: u32,
    /// How often in a row it was opened.
    pauses: u32,
    open: Option<Open<R>>,
    closed_at: Option<Instant>,
}

#[derive(Debug)]
struct Open<R> {
    until: Instant,
    reason: R,
    is_tried: bool,
}

impl<R: Clone> CircuitBreaker<R> {
    pub const fn new(policy: BreakerPolicy) -> Self {
        let state = State { failures: 0, pauses: 0, open: None, closed_at: None };
        Self { policy, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why calls do not go through, if they do not.
    pub fn reason(&self) -> Option<R> {
        self.state().open.as_ref().map(|open| open.reason.clone())
    }

    /// Whether the server may be called now. After a pause the first caller is let through; the others wait for what
    /// becomes of that call, `probe` at most.
    pub fn admit(&self, now: Instant, probe: Duration) -> Result<(), Refused<R>> {
        let mut state = self.state();
        let Some(open) = &mut state.open else { return Ok(()) };
        if now < open.until {
            let retry_after = open.until - now;
            return Err(Refused { reason: open.reason.clone(), retry_after, is_tried: open.is_tried });
        }
        open.until = now + probe;
        open.is_tried = true;
        Ok(())
    }

    /// The server has answered: calls go through.
    pub fn succeeded(&self, now: Instant) {
        let mut state = self.state();
        state.failures = 0;
        state.open = None;
        state.closed_at = Some(now);
    }

    /// Counts a failure. Gives the pause where it opens the breaker or keeps it open.
    pub fn failed(&self, now: Instant, reason: R) -> Option<Duration> {
        let mut state = self.state();
        if state.open.is_none() && state.failures + 1 < self.policy.failures_max {
            state.failures += 1;
            return None;
        }
        Some(self.pause(&mut state, now, reason, None))
    }

    /// Opens it at once, or keeps it open, for the pause that the server asked for where it did. Gives the pause.
    pub fn open(&self, now: Instant, reason: R, asked_for: Option<Duration>) -> Duration {
        self.pause(&mut self.state(), now, reason, asked_for)
    }

    /// Opens it unless it is open; gives the pause to the caller that opened it.
    pub fn trip(&self, now: Instant, reason: R) -> Option<Duration> {
        let mut state = self.state();
        state.open.is_none().then(|| self.pause(&mut state, now, reason, None))
    }

    fn pause(&self, state: &mut State<R>, now: Instant, reason: R, asked_for: Option<Duration>) -> Duration {
        let was_stable = |at: Instant| now.saturating_duration_since(at) >= self.policy.stable_after;
        if state.open.is_none() && state.closed_at.is_none_or(was_stable) {
            state.pauses = 0;
        }
        let doubled = self.policy.pause_min.saturating_mul(1 << state.pauses.min(10));
        let pause = asked_for.unwrap_or(doubled.min(self.policy.pause_max));
        state.failures += 1;
        state.pauses += 1;
        state.open = Some(Open { until: now + pause, reason, is_tried: false });
        pause
    }

    pub fn status(&self, now: Instant) -> BreakerStatus<R> {
        let state = self.state();
        match &state.open {
            Some(Open { until, reason, .. }) => {
                let remaining = until.saturating_duration_since(now);
                BreakerStatus::Open { reason: reason.clone(), remaining }
            }
            None if state.closed_at.is_some() => BreakerStatus::Closed,
            None => BreakerStatus::Untried,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn breaker(failures_max: u32, stable_after: Duration) -> CircuitBreaker<&'static str> {
        CircuitBreaker::new(BreakerPolicy {
            failures_max,
            pause_min: SECOND,
            pause_max: SECOND * 4,
            stable_after,
        })
    }

    #[test]
    fn failures_in_a_row_open_it_and_a_success_closes_it() {
        let (breaker, now) = (breaker(3, Duration::ZERO), Instant::now());
        assert_eq!(breaker.status(now), BreakerStatus::Untried);
        assert_eq!([breaker.failed(now, "a"), breaker.failed(now, "b")], [None, None]);
        breaker.succeeded(now);
        assert_eq!([breaker.failed(now, "a"), breaker.failed(now, "b")], [None, None]);
        assert!(breaker.admit(now, SECOND).is_ok());
        assert_eq!(breaker.failed(now, "c"), Some(SECOND));
        assert_eq!(breaker.reason(), Some("c"));
        assert_eq!(breaker.status(now), BreakerStatus::Open { reason: "c", remaining: SECOND });
        breaker.succeeded(now);
        assert_eq!(breaker.status(now), BreakerStatus::Closed);
    }

    #[test]
    fn one_caller_opens_it_and_one_finds_out_whether_the_server_is_back() {
        let (breaker, now) = (breaker(1, Duration::ZERO), Instant::now());
        assert_eq!(breaker.trip(now, "slow"), Some(SECOND));
        assert_eq!(breaker.trip(now, "again"), None, "it is open already");
        let refused = breaker.admit(now, SECOND).unwrap_err();
        assert_eq!(refused, Refused { reason: "slow", retry_after: SECOND, is_tried: false });
        assert!(breaker.admit(now + SECOND, SECOND).is_ok());
        assert!(breaker.admit(now + SECOND, SECOND).unwrap_err().is_tried, "the others wait");
        assert!(
            breaker.admit(now + SECOND * 2, SECOND).is_ok(),
            "a call that never came back is not waited for"
        );
    }

    #[test]
    fn pauses_double_and_begin_anew_only_after_it_was_closed_for_long() {
        let (breaker, now) = (breaker(1, SECOND * 4), Instant::now());
        let pauses: Vec<u64> = (0..4).map(|_| breaker.open(now, "down", None).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 4]);
        breaker.succeeded(now);
        assert_eq!(breaker.trip(now + SECOND, "down"), Some(SECOND * 4), "it only seemed to be well");
        breaker.succeeded(now);
        assert_eq!(breaker.trip(now + SECOND * 4, "down"), Some(SECOND));
    }

    #[test]
    fn a_pause_that_the_server_asks_for_is_kept() {
        let (breaker, now) = (breaker(3, Duration::ZERO), Instant::now());
        assert_eq!(breaker.open(now, "busy", Some(SECOND * 42)), SECOND * 42);
        assert_eq!(breaker.admit(now, SECOND).unwrap_err().retry_after, SECOND * 42);
    }
}
