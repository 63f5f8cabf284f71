//! The circuit breaker of a server: which failures open it, and the error that callers get while it is open.

use std::time::{Duration, Instant};

use memory_core::circuit_breaker::{BreakerPolicy, BreakerStatus, CircuitBreaker};
use memory_core::ports::ExtractError;

/// After so many failures in a row the breaker opens.
const FAILURES_MAX: u32 = 3;
/// For how long at first; each failed probe doubles it.
const PAUSE_MIN: Duration = Duration::from_secs(15);
const PAUSE_MAX: Duration = Duration::from_secs(600);

/// Why the breaker opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It did not answer, or broke off, or answered that it failed: that may have been the request's fault.
    Failing(String),
    /// It cannot be reached now: waiting for it spends no attempt.
    Away { reason: String, retry_after: Option<Duration> },
    /// It refuses the key.
    Unauthorized(String),
    /// It asked for a pause.
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

/// For `status`: whether requests are sent, and if not, why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ServerStatus {
    pub(super) is_available: bool,
    pub(super) detail: String,
}

#[derive(Debug)]
pub(super) struct Breaker(CircuitBreaker<Trouble>);

impl Default for Breaker {
    fn default() -> Self {
        Self(CircuitBreaker::new(BreakerPolicy {
            failures_max: FAILURES_MAX,
            pause_min: PAUSE_MIN,
            pause_max: PAUSE_MAX,
            stable_after: Duration::ZERO,
        }))
    }
}

impl Breaker {
    /// Whether a request may be sent now. While a probe is under way, callers are asked to wait for a short pause at most.
    pub(super) fn admit(&self, now: Instant, probe: Duration) -> Result<(), ExtractError> {
        self.0.admit(now, probe).map_err(|refused| {
            let wait = refused.retry_after;
            refused.reason.error(if refused.is_tried { wait.min(PAUSE_MIN) } else { wait })
        })
    }

    pub(super) fn answered(&self, now: Instant) {
        self.0.succeeded(now);
    }

    /// Counts a failure; gives how long to wait before the next try.
    pub(super) fn failed(&self, now: Instant, trouble: Trouble) -> Duration {
        let reason = trouble.reason();
        let pause = match trouble {
            Trouble::Failing(_) => self.0.failed(now, trouble),
            Trouble::RateLimited { retry_after } | Trouble::Away { retry_after, .. } => {
                Some(self.0.open(now, trouble, retry_after))
            }
            Trouble::Unauthorized(_) => Some(self.0.open(now, trouble, None)),
        };
        let Some(pause) = pause else { return Duration::ZERO };
        tracing::warn!(seconds = pause.as_secs(), reason, "paused requests to the language model");
        pause
    }

    pub(super) fn status(&self, now: Instant) -> ServerStatus {
        let (is_available, detail) = match self.0.status(now) {
            BreakerStatus::Open { reason, remaining } => {
                (false, format!("left alone for {} s: {}", remaining.as_secs(), reason.reason()))
            }
            BreakerStatus::Closed => (true, "answers".to_owned()),
            BreakerStatus::Untried => (true, "not asked yet".to_owned()),
        };
        ServerStatus { is_available, detail }
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
        breaker.answered(now);
        breaker.failed(now, failing());
        breaker.failed(now, failing());
        assert!(breaker.admit(now, PROBE).is_ok());
        breaker.failed(now, failing());
        let refused = breaker.admit(now + Duration::from_secs(5), PROBE).unwrap_err();
        let ExtractError::Unavailable { retry_after, .. } = refused else { panic!("{refused:?}") };
        assert_eq!(retry_after.as_secs(), 10);
        let status = breaker.status(now);
        assert!(!status.is_available && status.detail.contains("500"), "{status:?}");
        breaker.answered(now);
        assert_eq!(breaker.status(now), ServerStatus { is_available: true, detail: "answers".to_owned() });
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
        breaker.answered(now);
        breaker.failed(now, Trouble::Unauthorized("the key is refused".to_owned()));
        assert!(matches!(breaker.admit(now, PROBE), Err(ExtractError::Unauthorized { .. })));
    }
}
