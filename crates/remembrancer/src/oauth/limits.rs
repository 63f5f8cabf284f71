//! How often an address may ask what needs no key.

use std::net::IpAddr;
use std::num::NonZeroU32;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::Problem;

/// From how many addresses on those that have rested are forgotten.
const ADDRESSES_MAX: usize = 10_000;

pub(super) struct Limits {
    pub(super) authorize: Limit,
    /// Each attempt costs 19 MiB and tens of milliseconds.
    pub(super) password: Limit,
    pub(super) token: Limit,
    pub(super) register: Limit,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            authorize: Limit::new(60, 60),
            password: Limit::new(10, 10),
            token: Limit::new(120, 120),
            register: Limit::new(20, 20),
        }
    }
}

/// So many at once, and so many a minute.
pub(super) struct Limit(DefaultKeyedRateLimiter<IpAddr>);

impl Limit {
    fn new(at_once: u32, a_minute: u32) -> Self {
        let number = |n| NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN);
        Self(RateLimiter::keyed(Quota::per_minute(number(a_minute)).allow_burst(number(at_once))))
    }

    /// Counts one.
    pub(super) fn begin(&self, peer: IpAddr) -> Result<(), Problem> {
        if self.0.len() > ADDRESSES_MAX {
            self.0.retain_recent();
        }
        let checked = self.0.check_key(&peer);
        checked.map_err(|until| Problem::too_many(until.wait_time_from(DefaultClock::default().now())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_one_address_have_to_wait_and_those_of_others_do_not() {
        let limits = Limits::default();
        let (one, other): (IpAddr, IpAddr) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        let admitted = (0..1_000).filter(|_| limits.password.begin(one).is_ok()).count();
        assert!((10..15).contains(&admitted), "{admitted}");
        assert!(limits.password.begin(one).is_err_and(|problem| problem.retry_after.is_some()));
        assert!(limits.password.begin(other).is_ok());
    }
}
