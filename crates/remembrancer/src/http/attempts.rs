//! How often an address may be wrong about a key.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use memory_core::access::GivenKey;

/// Keys of one address that are looked up at once, and then one a second.
const BURST: NonZeroU32 = NonZeroU32::new(100).expect("more than none");
const A_SECOND: NonZeroU32 = NonZeroU32::new(1).expect("more than none");
/// Passwords of one address at once and a minute: each is worth guessing, and costs 19 MiB and tens of milliseconds.
const PASSWORDS: NonZeroU32 = NonZeroU32::new(10).expect("more than none");
/// How many addresses, and how many keys, are remembered.
const REMEMBERED_MAX: usize = 10_000;

/// Counts keys that were not right before. One that was is never made to wait, so that behind one proxy the guesses of one
/// client do not keep out the others.
pub(super) struct Attempts {
    strangers: DefaultKeyedRateLimiter<IpAddr>,
    passwords: DefaultKeyedRateLimiter<IpAddr>,
    right: Mutex<HashSet<GivenKey>>,
}

impl Default for Attempts {
    fn default() -> Self {
        let quota = Quota::per_second(A_SECOND).allow_burst(BURST);
        let passwords = RateLimiter::keyed(Quota::per_minute(PASSWORDS));
        Self { strangers: RateLimiter::keyed(quota), passwords, right: Mutex::default() }
    }
}

impl Attempts {
    /// Counts an attempt with a key that may be wrong; an error is how long to wait before the next.
    pub(super) fn begin(&self, key: Option<&GivenKey>, peer: IpAddr) -> Result<(), Duration> {
        if key.is_some_and(|key| self.right().contains(key)) {
            return Ok(());
        }
        count(&self.strangers, peer)
    }

    /// Counts a password, right or wrong; an error is how long to wait before the next.
    pub(super) fn begin_password(&self, peer: IpAddr) -> Result<(), Duration> {
        count(&self.passwords, peer)
    }

    pub(super) fn was_right(&self, key: &GivenKey) {
        let mut right = self.right();
        if right.contains(key) {
            return;
        }
        if right.len() >= REMEMBERED_MAX {
            right.clear();
        }
        right.insert(key.clone());
    }

    pub(super) fn was_wrong(&self, key: &GivenKey) {
        self.right().remove(key);
    }

    fn right(&self) -> MutexGuard<'_, HashSet<GivenKey>> {
        self.right.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn count(limiter: &DefaultKeyedRateLimiter<IpAddr>, peer: IpAddr) -> Result<(), Duration> {
    if limiter.len() > REMEMBERED_MAX {
        limiter.retain_recent();
    }
    let checked = limiter.check_key(&network(peer));
    checked.map_err(|until| until.wait_time_from(DefaultClock::default().now()))
}

/// Whoever has one IPv6 address has the 2^64 of its network.
pub(super) fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u8) -> GivenKey {
        memory_core::access::DrawnKey::new([n; 6], [n; 32]).key
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn wrong_keys_of_one_address_have_to_wait_and_others_do_not() {
        let (attempts, stranger, other) = (Attempts::default(), address("192.0.2.1"), address("192.0.2.2"));
        attempts.was_right(&key(1));
        let admitted = (0..10_000).filter(|_| attempts.begin(Some(&key(2)), stranger).is_ok()).count();
        assert!((100..200).contains(&admitted), "{admitted}");
        let wait = attempts.begin(None, stranger).expect_err("it waits");
        assert!(wait <= Duration::from_secs(1), "{wait:?}");
        assert!(attempts.begin(Some(&key(1)), stranger).is_ok(), "a key that was right does not wait");
        assert!(attempts.begin(Some(&key(2)), other).is_ok());
        attempts.was_wrong(&key(1));
        assert!(attempts.begin(Some(&key(1)), stranger).is_err());
    }

    #[test]
    fn passwords_have_to_wait_sooner_than_keys() {
        let (attempts, one) = (Attempts::default(), address("192.0.2.1"));
        let admitted = (0..1_000).filter(|_| attempts.begin_password(one).is_ok()).count();
        assert!((10..15).contains(&admitted), "{admitted}");
        assert!(attempts.begin_password(address("192.0.2.2")).is_ok());
    }

    #[test]
    fn addresses_of_one_network_count_as_one() {
        assert_eq!(network(address("2001:db8:1:2:3::4")), network(address("2001:db8:1:2:ffff::1")));
        assert_ne!(network(address("2001:db8:1:2::4")), network(address("2001:db8:1:3::4")));
        assert_eq!(network(address("::ffff:192.0.2.1")), address("192.0.2.1"));
    }
}
