//! What was inserted and deleted in each table while something else was done, as the database counts it. It counts late: a
//! session reports at the end of a transaction, once a second at most, and what is left then when it has been idle for ten
//! seconds.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff_sqlx::{Timestamp, ToSqlx};
use sqlx::Row;
use tokio::time::{Instant, sleep};

use crate::{Conn, StoreError};

/// After so long of idleness a session has reported everything, and a little more.
const REPORTED_AFTER: Duration = Duration::from_millis(10_500);
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// The counters of a database at one moment, to be compared with those of a later one.
#[derive(Debug)]
pub struct Beginning {
    snapshot: String,
    /// Rows inserted and deleted so far, by table.
    counted: BTreeMap<String, i64>,
}

/// The moment up to which is asked.
#[derive(Debug)]
pub struct End {
    snapshot: String,
    at: jiff::Timestamp,
    waits_until: Instant,
}

impl Beginning {
    pub async fn now(conn: &mut Conn) -> Result<Self, StoreError> {
        // In this order: what is written between the two is counted rather than missed.
        let counted = counted(conn).await?;
        Ok(Self { snapshot: snapshot(conn).await?, counted })
    }
}

impl End {
    pub async fn now(conn: &mut Conn) -> Result<Self, StoreError> {
        let snapshot = snapshot(conn).await?;
        let at: Timestamp = sqlx::query_scalar("select clock_timestamp()").fetch_one(conn).await?;
        Ok(Self { snapshot, at: at.to_jiff(), waits_until: Instant::now() + REPORTED_AFTER })
    }
}

/// How many rows were inserted and deleted between two moments, by table; at least so many. None where that cannot be known:
/// a transaction has been open all the time, or the counters began anew.
pub async fn between(
    conn: &mut Conn,
    beginning: &Beginning,
    end: &End,
) -> Result<Option<BTreeMap<String, i64>>, StoreError> {
    // No transaction that changed anything has ended.
    if beginning.snapshot == end.snapshot {
        return Ok(Some(BTreeMap::new()));
    }
    while Instant::now() < end.waits_until && is_any_unreported(conn).await? {
        sleep(LOOK_INTERVAL).await;
    }
    if is_any_busy_since(conn, end.at).await? {
        return Ok(None);
    }
    let mut written = BTreeMap::new();
    for (table, now) in counted(conn).await? {
        let more = now - beginning.counted.get(&table).copied().unwrap_or(0);
        match more {
            0 => {}
            1.. => {
                written.insert(table, more);
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(written))
}

async fn counted(conn: &mut Conn) -> Result<BTreeMap<String, i64>, StoreError> {
    let rows: Vec<(String, i64)> = sqlx::query_as(
        "select relname::text, n_tup_ins + n_tup_del from pg_stat_user_tables where schemaname = 'public'",
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().collect())
}

async fn snapshot(conn: &mut Conn) -> Result<String, StoreError> {
    Ok(sqlx::query_scalar("select pg_current_snapshot()::text").fetch_one(conn).await?)
}

/// Whether another session may have written rows that it has not reported to the counters yet.
async fn is_any_unreported(conn: &mut Conn) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar(
        "select exists (
             select from pg_stat_activity
             where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
               and (state <> 'idle' or state_change > clock_timestamp() - make_interval(secs => $1)))",
    )
    .bind(REPORTED_AFTER.as_secs_f64())
    .fetch_one(conn)
    .await?)
}

/// Whether another session has been in one transaction since before that moment, and so had no occasion to report its writes.
async fn is_any_busy_since(conn: &mut Conn, at: jiff::Timestamp) -> Result<bool, StoreError> {
    let row = sqlx::query(
        "select exists (
             select from pg_stat_activity
             where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
               and xact_start < $1 + interval '1 second') as is_any",
    )
    .bind(at.to_sqlx())
    .fetch_one(conn)
    .await?;
    Ok(row.try_get("is_any")?)
}
