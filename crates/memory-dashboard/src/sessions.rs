//! Sessions: who has signed in, for how long, and what their forms must bring. They are held in memory alone: a restart
//! signs everybody out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::door::Who;

/// A session ends after so long without a request, and after so long in any case.
const IDLE: Duration = Duration::from_hours(8);
pub(crate) const LIFETIME: Duration = Duration::from_hours(24 * 7);
/// How many there may be, and how many for whom no key is needed; the one that rested longest goes for a new one.
const SESSIONS_MAX: usize = 1_000;

/// One that is open.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) who: Who,
    /// What a form of it must bring.
    pub(crate) csrf: Arc<str>,
    id: [u8; 32],
}

struct Held {
    who: Who,
    csrf: Arc<str>,
    began: Instant,
    seen: Instant,
    notice: Option<Notice>,
}

/// What the next page says of what was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) is_error: bool,
    pub(crate) text: String,
}

/// By the hash of what the cookie holds.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<[u8; 32], Held>>);

fn drawn() -> String {
    hex::encode(rand::random::<[u8; 32]>())
}

impl Sessions {
    fn held(&self) -> MutexGuard<'_, HashMap<[u8; 32], Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new session, and what its cookie holds.
    pub(crate) fn begin(&self, who: Who) -> (Session, String) {
        let now = Instant::now();
        let mut held = self.held();
        held.retain(|_, session| session.lives(now));
        if held.len() >= SESSIONS_MAX {
            // Those of signed-in people go last.
            let oldest = held.iter().min_by_key(|(_, s)| (s.who != Who::Anyone, s.seen)).map(|(id, _)| *id);
            oldest.map(|id| held.remove(&id));
        }
        let token = drawn();
        let id: [u8; 32] = Sha256::digest(&token).into();
        let csrf: Arc<str> = drawn().into();
        let session = Session { who: who.clone(), csrf: Arc::clone(&csrf), id };
        held.insert(id, Held { who, csrf, began: now, seen: now, notice: None });
        (session, token)
    }

    /// The session of a cookie, if it lives.
    pub(crate) fn find(&self, token: &str) -> Option<Session> {
        let id: [u8; 32] = Sha256::digest(token).into();
        let now = Instant::now();
        let mut held = self.held();
        let found = held.get_mut(&id)?;
        if !found.lives(now) {
            held.remove(&id);
            return None;
        }
        found.seen = now;
        Some(Session { who: found.who.clone(), csrf: Arc::clone(&found.csrf), id })
    }

    pub(crate) fn lives(&self, session: &Session) -> bool {
        self.held().get(&session.id).is_some_and(|held| held.lives(Instant::now()))
    }

    pub(crate) fn end(&self, session: &Session) {
        self.held().remove(&session.id);
    }

    pub(crate) fn leave_notice(&self, session: &Session, notice: Notice) {
        if let Some(held) = self.held().get_mut(&session.id) {
            held.notice = Some(notice);
        }
    }

    pub(crate) fn take_notice(&self, session: &Session) -> Option<Notice> {
        self.held().get_mut(&session.id)?.notice.take()
    }
}

impl Held {
    fn lives(&self, now: Instant) -> bool {
        now.duration_since(self.seen) < IDLE && now.duration_since(self.began) < LIFETIME
    }
}

impl Session {
    pub(crate) fn is_from_own_form(&self, given: &str) -> bool {
        self.csrf.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_by_its_cookie_until_it_ends_and_by_no_other() {
        let sessions = Sessions::default();
        let (session, token) = sessions.begin(Who::Token);
        assert_eq!(sessions.find(&token).expect("it lives").who, Who::Token);
        assert!(sessions.find(&token[1..]).is_none() && sessions.find("").is_none());
        assert!(session.is_from_own_form(&session.csrf) && !session.is_from_own_form(""));
        sessions.end(&session);
        assert!(sessions.find(&token).is_none());
    }

    #[test]
    fn sessions_are_bounded_and_those_without_a_key_go_first() {
        let sessions = Sessions::default();
        let (_, token) = sessions.begin(Who::Token);
        for _ in 0..SESSIONS_MAX + 10 {
            sessions.begin(Who::Anyone);
        }
        assert_eq!(sessions.held().len(), SESSIONS_MAX);
        assert!(sessions.find(&token).is_some());
    }

    #[test]
    fn a_session_that_rested_too_long_is_over() {
        let sessions = Sessions::default();
        let (_, token) = sessions.begin(Who::Token);
        for held in sessions.held().values_mut() {
            held.seen = Instant::now().checked_sub(IDLE).expect("a time");
        }
        assert!(sessions.find(&token).is_none());
    }

    #[test]
    fn a_notice_is_read_once() {
        let sessions = Sessions::default();
        let (session, _) = sessions.begin(Who::Anyone);
        let notice = Notice { is_error: false, text: "Forgotten.".to_owned() };
        sessions.leave_notice(&session, notice.clone());
        assert_eq!(sessions.take_notice(&session), Some(notice));
        assert_eq!(sessions.take_notice(&session), None);
    }
}
