//! Lending connections. What was asked on a connection comes to an end before it is used again: the pool asks each one that
//! comes back whether it is there, which costs a round trip, and so does telling it its namespace. A connection of which the
//! borrower says that all is answered is kept ready beside the pool with what it was told; most calls find one that is theirs.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, PgPool, Postgres};
use tokio::runtime::Handle;

use crate::row_security::Reach;
use crate::{Conn, StoreError};

/// One that nobody wanted for so long goes back to the pool …
const READY_FOR: Duration = Duration::from_secs(30);
/// … as does one that was taken out of it so long ago.
const OUT_FOR: Duration = Duration::from_secs(600);

/// The pool, and connections that are ready beside it. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Lending(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    pool: PgPool,
    /// The others are the pool's, whose callers get them in turn.
    ready_max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The one used last at the end.
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

/// A connection that is lent; dropped it goes back to the pool, which sees to what was not answered.
#[derive(Debug)]
pub struct Pooled {
    conn: PoolConnection<Postgres>,
    /// What it was told last, once it has answered.
    reach: Option<String>,
    taken: Instant,
    lending: Lending,
}

impl Pooled {
    /// All that was asked on it is answered: the next one gets it as it is.
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

    /// Its commit does not wait for the disk: for what is made up for when a crash loses it.
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

    /// A connection that has been told its reach. Boxed, as the others here are: what a future is made of is compiled in each
    /// crate that awaits it, and this is the driver.
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

    /// A connection, if possible one that was told this reach last.
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

    /// What it was told before it came to the pool is not known.
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

    /// Gives those to the pool that nobody wanted for a while; false where none is left.
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

    /// Gives all to the pool, from here on.
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
