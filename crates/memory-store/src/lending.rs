//! Lending connections. The pool pings each connection that is returned, so that an unfinished statement has ended before the next
//! use; this costs a round trip, and setting the namespace of a connection costs another. So a connection whose borrower reports
//! that all its statements were answered is kept ready beside the pool, its namespace still set: most calls find one of theirs.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, PgPool, Postgres};
use tokio::runtime::Handle;

use crate::row_security::Reach;
use crate::{Conn, StoreError};

/// An idle connection goes back to the pool after this long …
const READY_FOR: Duration = Duration::from_secs(30);
/// … and any connection this long after it was taken out of the pool.
const OUT_FOR: Duration = Duration::from_secs(600);

/// The pool, and connections that are ready beside it. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Lending(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    pool: PgPool,
    /// The most connections that are kept ready. The rest stay in the pool, which serves waiting callers in turn.
    ready_max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The most recently used one is the last.
    ready: Vec<Ready>,
    /// How many callers wait for a connection of the pool.
    waiting: usize,
    is_watched: bool,
    is_closed: bool,
}

#[derive(Debug)]
struct Ready {
    conn: PoolConnection<Postgres>,
    reach: String,
    taken: Instant,
    since: Instant,
}

/// A connection that is lent. Dropped without [`done`](Self::done) it goes back to the pool, which waits for statements that were not
/// answered.
#[derive(Debug)]
pub struct Pooled {
    conn: PoolConnection<Postgres>,
    /// The namespace that is set on it; `None` while that is unknown.
    reach: Option<String>,
    taken: Instant,
    lending: Lending,
}

impl Pooled {
    /// Returns the connection, all of whose statements have been answered: the next borrower gets it without a check.
    pub fn done(self) {
        let Self { conn, reach, taken, lending } = self;
        if let Some(reach) = reach {
            lending.keep(Ready { conn, reach, taken, since: Instant::now() });
        }
    }

    pub(crate) fn detach(self) -> Conn {
        self.conn.detach()
    }
}

impl Deref for Pooled {
    type Target = Conn;
    fn deref(&self) -> &Conn {
        &self.conn
    }
}

impl DerefMut for Pooled {
    fn deref_mut(&mut self) -> &mut Conn {
        &mut self.conn
    }
}

/// A transaction; dropped without [`commit`](Tx::commit) it never happened.
#[derive(Debug)]
pub struct Tx(Option<Pooled>);

impl Tx {
    pub fn commit(mut self) -> BoxFuture<'static, Result<(), StoreError>> {
        Box::pin(async move {
            sqlx::raw_sql("commit").execute(&mut *self).await?;
            if let Some(conn) = self.0.take() {
                conn.done();
            }
            Ok(())
        })
    }

    /// The commit does not wait for the disk: for writes that are made again when a crash loses them.
    pub fn may_be_lost(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.run("set local synchronous_commit = off")
    }

    /// Lets the transaction pause between its statements while a client reads its results.
    pub fn allow_pauses(&mut self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.run("set local idle_in_transaction_session_timeout = 0")
    }

    fn run(&mut self, statement: &'static str) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            sqlx::raw_sql(statement).execute(&mut **self).await?;
            Ok(())
        })
    }
}

const OPEN: &str = "a transaction has its connection until it ends";

impl Deref for Tx {
    type Target = Conn;
    fn deref(&self) -> &Conn {
        self.0.as_ref().expect(OPEN)
    }
}

impl DerefMut for Tx {
    fn deref_mut(&mut self) -> &mut Conn {
        self.0.as_mut().expect(OPEN)
    }
}

impl Drop for Tx {
    fn drop(&mut self) {
        let Some(mut conn) = self.0.take() else { return };
        // It ends with its connection.
        let Ok(runtime) = Handle::try_current() else { return conn.conn.close_on_drop() };
        runtime.spawn(async move {
            if sqlx::raw_sql("rollback").execute(&mut *conn).await.is_err() {
                conn.conn.close_on_drop();
            }
        });
    }
}

impl Lending {
    pub(crate) fn new(pool: PgPool) -> Self {
        let ready_max = (pool.options().get_max_connections() / 2) as usize;
        Self(Arc::new(Shared { pool, ready_max, state: Mutex::default() }))
    }

    /// A connection on which the reach is set. The futures here are boxed since each crate that awaits a future compiles all of it, and
    /// these contain the driver.
    pub(crate) fn lend<'a>(&'a self, reach: Reach<'a>) -> BoxFuture<'a, Result<Pooled, StoreError>> {
        Box::pin(async move {
            let mut lent = self.take(reach).await?;
            if lent.reach.as_deref() != Some(reach.value()) {
                lent.reach = None;
                sqlx::raw_sql(AssertSqlSafe(reach.session())).execute(&mut *lent).await?;
                lent.reach = Some(reach.value().to_owned());
            }
            Ok(lent)
        })
    }

    /// A transaction begun by this statement, in one round trip.
    pub(crate) fn begin<'a>(
        &'a self,
        begin: &'a str,
        reach: Reach<'a>,
    ) -> BoxFuture<'a, Result<Tx, StoreError>> {
        Box::pin(async move {
            let lent = self.take(reach).await?;
            let is_told = lent.reach.as_deref() == Some(reach.value());
            let statement = if is_told { begin.to_owned() } else { format!("{begin}; {}", reach.local()) };
            let mut tx = Tx(Some(lent));
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut *tx).await?;
            Ok(tx)
        })
    }

    /// A connection, if possible one on which this reach is set already.
    async fn take(&self, reach: Reach<'_>) -> Result<Pooled, StoreError> {
        let told = self.lock().take_of(reach.value());
        if let Some(ready) = told {
            return Ok(self.pooled(ready));
        }
        if let Some(conn) = self.0.pool.try_acquire() {
            return Ok(self.fresh(conn));
        }
        let other = {
            let mut state = self.lock();
            let other = state.ready.pop();
            state.waiting += usize::from(other.is_none());
            other
        };
        if let Some(ready) = other {
            return Ok(self.pooled(ready));
        }
        let _waiting = Waiting(self);
        Ok(self.fresh(self.0.pool.acquire().await?))
    }

    fn pooled(&self, Ready { conn, reach, taken, .. }: Ready) -> Pooled {
        Pooled { conn, reach: Some(reach), taken, lending: self.clone() }
    }

    /// A connection out of the pool; which reach is set on it is unknown.
    fn fresh(&self, conn: PoolConnection<Postgres>) -> Pooled {
        Pooled { conn, reach: None, taken: Instant::now(), lending: self.clone() }
    }

    /// Keeps a connection ready, unless somebody waits for one of the pool, or enough are.
    fn keep(&self, ready: Ready) {
        let mut state = self.lock();
        let is_kept = !state.is_closed
            && state.waiting == 0
            && state.ready.len() < self.0.ready_max
            && ready.taken.elapsed() < OUT_FOR;
        if !is_kept {
            drop(state);
            return drop(ready);
        }
        state.ready.push(ready);
        if std::mem::replace(&mut state.is_watched, true) {
            return;
        }
        drop(state);
        let shared = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(READY_FOR / 2).await;
                let Some(shared) = shared.upgrade() else { return };
                if !Self(shared).give_back_idle() {
                    return;
                }
            }
        });
    }

    /// Returns ready connections that were idle for [`READY_FOR`] to the pool; false where none are left.
    fn give_back_idle(&self) -> bool {
        let mut state = self.lock();
        let (idle, ready): (Vec<Ready>, Vec<Ready>) =
            std::mem::take(&mut state.ready).into_iter().partition(|ready| ready.since.elapsed() > READY_FOR);
        state.ready = ready;
        state.is_watched = !state.ready.is_empty();
        let is_watched = state.is_watched;
        drop(state);
        drop(idle);
        is_watched
    }

    /// How many are ready.
    pub(crate) fn ready(&self) -> usize {
        self.lock().ready.len()
    }

    /// Returns the ready connections to the pool, and keeps none from now on.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let ready = std::mem::take(&mut state.ready);
        drop(state);
        drop(ready);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take_of(&mut self, reach: &str) -> Option<Ready> {
        let at = self.ready.iter().rposition(|ready| ready.reach == reach)?;
        Some(self.ready.remove(at))
    }
}

/// A caller that waits for a connection of the pool.
struct Waiting<'a>(&'a Lending);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.lock().waiting -= 1;
    }
}
