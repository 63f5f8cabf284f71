//! What one key may take of a server: requests a minute, and bytes of bodies at a time.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use memory_core::access::KeyId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::guard::refused;
use crate::message::MESSAGE_MAX_BYTES;

/// Kilobytes of bodies that one key has in this process at a time: one of the largest message.
const HELD_KB: usize = MESSAGE_MAX_BYTES / 1024;
/// Above this many keys, those with nothing in flight and those whose limit has recovered are dropped from memory.
const KEYS_MAX: usize = 1_000;

type Held = HashMap<KeyId, Weak<Semaphore>>;

/// Requests a minute of each key.
pub(super) struct Requests {
    a_minute: NonZeroU32,
    limiter: DefaultKeyedRateLimiter<KeyId>,
}

impl Requests {
    pub(super) fn new(a_minute: u32) -> Self {
        let a_minute = NonZeroU32::new(a_minute).unwrap_or(NonZeroU32::MIN);
        Self { a_minute, limiter: RateLimiter::keyed(Quota::per_minute(a_minute)) }
    }

    /// Counts one; an error is how long to wait before the next.
    pub(super) fn begin(&self, key: &KeyId) -> Result<(), Duration> {
        if self.limiter.len() > KEYS_MAX {
            self.limiter.retain_recent();
        }
        self.limiter.check_key(key).map_err(|until| until.wait_time_from(DefaultClock::default().now()))
    }

    pub(super) fn refusal(&self, wait: Duration) -> Response {
        too_many(&format!("This key may send {} requests a minute", self.a_minute), wait)
    }
}

/// The answer to what comes too often.
pub(super) fn too_many(what: &str, wait: Duration) -> Response {
    let seconds = wait.as_secs() + 1;
    let reason = format!("{what}; try again in {seconds} s.");
    let mut response = refused(StatusCode::TOO_MANY_REQUESTS, &reason);
    let headers = response.headers_mut();
    headers.insert(header::RETRY_AFTER, seconds.into());
    // A body that is not read is not waited for.
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The bytes that one key has in flight.
pub(super) struct Bytes(Arc<Semaphore>);

impl Bytes {
    pub(super) fn of(key: &KeyId) -> Self {
        static HELD: Mutex<Option<Held>> = Mutex::new(None);
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        let held = held.get_or_insert_default();
        if let Some(semaphore) = held.get(key).and_then(Weak::upgrade) {
            return Self(semaphore);
        }
        if held.len() >= KEYS_MAX {
            held.retain(|_, semaphore| semaphore.strong_count() > 0);
        }
        let semaphore = Arc::new(Semaphore::new(HELD_KB));
        held.insert(key.clone(), Arc::downgrade(&semaphore));
        Self(semaphore)
    }

    /// Reserves this many; `None` where the key would have too many in flight. It does not wait, since waiting requests are in flight as
    /// well.
    pub(super) fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let kilobytes = bytes.div_ceil(1024).clamp(1, HELD_KB) as u32;
        Arc::clone(&self.0).try_acquire_many_owned(kilobytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u8) -> KeyId {
        memory_core::access::DrawnKey::new([n; 6], [n; 32]).key.id
    }

    #[test]
    fn a_key_has_its_requests_a_minute_and_takes_none_of_another() {
        let requests = Requests::new(60);
        let admitted = (0..200).filter(|_| requests.begin(&id(1)).is_ok()).count();
        assert!((60..65).contains(&admitted), "{admitted}");
        let wait = requests.begin(&id(1)).expect_err("it waits");
        assert!(wait <= Duration::from_secs(1), "{wait:?}");
        assert_eq!(requests.refusal(wait).headers()[header::RETRY_AFTER], "1");
        assert!(requests.begin(&id(2)).is_ok());
    }

    #[test]
    fn a_key_has_one_largest_message_in_flight_and_as_much_again_when_that_is_done() {
        let key = id(3);
        let whole = Bytes::of(&key).take(MESSAGE_MAX_BYTES).expect("there is room");
        assert!(Bytes::of(&key).take(1).is_none(), "also for a small one");
        assert!(Bytes::of(&id(4)).take(MESSAGE_MAX_BYTES).is_some(), "another key has its own");
        drop(whole);
        assert!(Bytes::of(&key).take(MESSAGE_MAX_BYTES + 1).is_some());
    }
}
