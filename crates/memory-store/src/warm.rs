//! Connections that were just used, lent again before others: last in, first out. What the pool is given back it tests
//! with a round trip, and lends in turn; this spares a call that reads many times both.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sqlx::Postgres;
use sqlx::pool::PoolConnection;

/// One of so many connections may be kept; whoever asks the pool itself, as transactions do, has the others.
const SHARE: usize = 4;
/// After so long a connection goes back to the pool, to be tested, and renewed when it is old.
const KEPT_FOR: Duration = Duration::from_secs(60);

#[derive(Debug, Clone)]
pub(crate) struct Warm(Arc<Mutex<Kept>>);

#[derive(Debug)]
struct Kept {
    connections: Vec<Lent>,
    most: usize,
    /// How many wait for the pool: what is given back meanwhile is theirs.
    waiting: usize,
    is_closed: bool,
}

/// A connection and when the pool lent it.
#[derive(Debug)]
pub(crate) struct Lent {
    pub(crate) connection: PoolConnection<Postgres>,
    since: Instant,
}

impl Lent {
    pub(crate) fn now(connection: PoolConnection<Postgres>) -> Self {
        Self { connection, since: Instant::now() }
    }
}

/// Somebody waits for the pool as long as it is there.
pub(crate) struct Waiting<'a>(&'a Warm);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.lock().waiting -= 1;
    }
}

impl Warm {
    /// For a pool of at most so many connections.
    pub(crate) fn of(pool_connections: u32) -> Self {
        let most = pool_connections as usize / SHARE;
        let kept = Kept { connections: Vec::with_capacity(most), most, waiting: 0, is_closed: false };
        Self(Arc::new(Mutex::new(kept)))
    }

    /// The connection that was kept last; else the caller is one of those who wait for the pool.
    pub(crate) fn take(&self) -> Result<Lent, Waiting<'_>> {
        let mut kept = self.lock();
        while let Some(lent) = kept.connections.pop() {
            if lent.since.elapsed() < KEPT_FOR {
                return Ok(lent);
            }
        }
        kept.waiting += 1;
        Err(Waiting(self))
    }

    /// Keeps a connection on which the last statement came to its end, or gives it back to the pool.
    pub(crate) fn keep(&self, lent: Lent) {
        let mut kept = self.lock();
        if kept.waiting == 0 && !kept.is_closed && kept.connections.len() < kept.most {
            kept.connections.push(lent);
        }
    }

    /// How many are kept.
    pub(crate) fn len(&self) -> usize {
        self.lock().connections.len()
    }

    /// Gives everything back, now and from now on.
    pub(crate) fn close(&self) {
        let mut kept = self.lock();
        kept.is_closed = true;
        kept.connections.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
