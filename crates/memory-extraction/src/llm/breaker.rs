//! The circuit breaker: when the server fails again and again it is left alone for a while, then asked once.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use memory_core::ports::ExtractError;

/// So many failures in a row and the server is left alone.
const FAILURES_MAX: u32 = 3;
/// For how long at first; each time that the one call after it fails doubles it.
const PAUSE_MIN: Duration = Duration::from_secs(15);
const PAUSE_MAX: Duration = Duration::from_secs(600);

/// Why the server is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It did not answer, or broke off, or answered that it failed: that may have been the request's fault.
    Failing(String),
    /// It cannot be asked by anyone now: waiting for it spends nothing.
    Away { reason: String, retry_after: Option<Duration> },
    /// It does not let us in.
    Unauthorized(String),
    /// It asked to be left alone.
    RateLimited { retry_after: Option<Duration> },
}

impl Trouble {
    fn reason(&self) -> String {
        match self {
            Self::Failing(reason) | Self::Away { reason, .. } | Self::Unauthorized(reason) => reason.clone(),
            Self::RateLimited { .. } => "it is asked too often".to_owned(),
        }
    }

    fn error(&self, retry_after: Duration) -> ExtractError {
        match self {
            Self::RateLimited { .. } => ExtractError::RateLimited { retry_after },
            Self::Unauthorized(reason) => ExtractError::Unauthorized { reason: reason.clone(), retry_after },
            Self::Failing(reason) | Self::Away { reason, .. } => {
                ExtractError::Unavailable { reason: reason.clone(), retry_after }
            }
        }
    }
}

#[derive(Debug, Default)]
struct State {
    has_answered: bool,
    failures: u32,
    /// How often in a row it was left alone.
    pauses: u32,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    until: Instant,
    trouble: Trouble,
    /// Somebody is finding out whether it is over.
    is_tried: bool,
}

#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<State>);

impl Breaker {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the server may be asked now. After a pause the first who comes is let through, and the others wait for
    /// what becomes of it, `probe` at most.
    pub(super) fn admit(&self, now: Instant, probe: Duration) -> Result<(), ExtractError> {
        let mut state = self.state();
        let Some(open) = &mut state.open else { return Ok(()) };
        if now < open.until {
            let wait = open.until - now;
            return Err(open.trouble.error(if open.is_tried { wait.min(PAUSE_MIN) } else { wait }));
        }
        open.until = now + probe;
        open.is_tried = true;
        Ok(())
    }

    pub(super) fn answered(&self) {
        *self.state() = State { has_answered: true, ..State::default() };
    }

    /// Notes a failure; gives how long to wait before the next try.
    pub(super) fn failed(&self, now: Instant, trouble: Trouble) -> Duration {
        let mut state = self.state();
        state.failures += 1;
        let asked_for = match &trouble {
            Trouble::Failing(_) if state.failures < FAILURES_MAX && state.open.is_none() => {
                return Duration::ZERO;
            }
            Trouble::RateLimited { retry_after } | Trouble::Away { retry_after, .. } => *retry_after,
            _ => None,
        };
        let doubled = PAUSE_MIN.saturating_mul(1 << state.pauses.min(10)).min(PAUSE_MAX);
        let pause = asked_for.unwrap_or(doubled);
        state.pauses += 1;
        tracing::warn!(
            seconds = pause.as_secs(),
            reason = trouble.reason(),
            "the language model is left alone"
        );
        state.open = Some(Open { until: now + pause, trouble, is_tried: false });
        pause
    }

    /// For status: what keeps it from being asked, else whether it ever answered.
    pub(super) fn told(&self, now: Instant) -> Result<&'static str, String> {
        let state = self.state();
        match &state.open {
            Some(Open { until, trouble, .. }) => {
                let seconds = until.saturating_duration_since(now).as_secs();
                Err(format!("left alone for {seconds} s: {}", trouble.reason()))
            }
            None if state.has_answered => Ok("answers"),
            None => Ok("not asked yet"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBE: Duration = Duration::from_secs(60);

    fn failing() -> Trouble {
        Trouble::Failing("it answers with the status 500".to_owned())
    }

    #[test]
    fn three_failures_in_a_row_open_it_and_an_answer_closes_it() {
        let (breaker, now) = (Breaker::default(), Instant::now());
        breaker.failed(now, failing());
        breaker.failed(now, failing());
        breaker.answered();
        breaker.failed(now, failing());
        breaker.failed(now, failing());
        assert!(breaker.admit(now, PROBE).is_ok());
        breaker.failed(now, failing());
        let refused = breaker.admit(now + Duration::from_secs(5), PROBE).unwrap_err();
        let ExtractError::Unavailable { retry_after, .. } = refused else { panic!("{refused:?}") };
        assert_eq!(retry_after.as_secs(), 10);
        assert!(breaker.told(now).unwrap_err().contains("500"));
        breaker.answered();
        assert_eq!(breaker.told(now), Ok("answers"));
    }

    #[test]
    fn after_the_pause_one_call_is_let_through_and_its_failure_doubles_the_pause() {
        let (breaker, mut now) = (Breaker::default(), Instant::now());
        let away = || Trouble::Away { reason: "gone".to_owned(), retry_after: None };
        for expected in [15, 30, 60, 120, 240, 480, 600, 600] {
            assert_eq!(breaker.failed(now, away()).as_secs(), expected);
            now += Duration::from_secs(expected);
            assert!(breaker.admit(now, PROBE).is_ok(), "one is let through");
            assert!(breaker.admit(now, PROBE).is_err(), "the others wait");
        }
        assert!(breaker.admit(now + PROBE, PROBE).is_ok(), "one that never came back is not waited for");
    }

    #[test]
    fn a_wait_that_the_server_asks_for_is_kept_and_so_is_its_kind() {
        let (breaker, now) = (Breaker::default(), Instant::now());
        let asked_for = Duration::from_secs(42);
        breaker.failed(now, Trouble::RateLimited { retry_after: Some(asked_for) });
        assert_eq!(breaker.admit(now, PROBE), Err(ExtractError::RateLimited { retry_after: asked_for }));
        breaker.answered();
        breaker.failed(now, Trouble::Unauthorized("the key is refused".to_owned()));
        assert!(matches!(breaker.admit(now, PROBE), Err(ExtractError::Unauthorized { .. })));
    }
}
