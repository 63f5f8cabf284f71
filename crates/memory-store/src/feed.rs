//! The feed: what has happened in the namespaces that somebody reads it of. The database's triggers write its entries; here they are
//! numbered, handed to webhooks, read, and deleted.

use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::feed::{DUE_AHEAD_HOURS, FeedEntry, FeedKind, FeedText};
use memory_core::id::{JobId, Namespace};
use serde_json::{Map, Value};
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::types::Json;

use crate::{Conn, StoreError, Tx};

/// How many entries are numbered, or deleted, at a time.
pub const AT_ONCE: i64 = 1_000;
/// For how long entries are kept, and what was sent of them.
const KEPT_DAYS: i32 = 14;
/// Entries of a namespace beyond so many are deleted, the oldest first.
const KEPT_MAX: i64 = 100_000;
/// For how long a namespace's feed is written after its last stream, where it has no webhook.
const UNREAD_DAYS: i32 = 7;
/// Commitments that were due longer ago are not reported any more. So it has to be kept for a bounded time which were reported.
const REPORTED_DAYS: i32 = 30;

/// Has the namespace's feed written from now on; `is_stream` notes that a stream reads it.
pub async fn begin(conn: &mut Conn, ns: &Namespace, is_stream: bool) -> Result<(), StoreError> {
    sqlx::query(
        "insert into feed_namespace (namespace, streamed_at) values ($1, case when $2 then date_trunc('hour', now()) end)
         on conflict (namespace) do update set streamed_at = excluded.streamed_at
         where $2 and feed_namespace.streamed_at is distinct from excluded.streamed_at",
    )
    .bind(ns.as_str())
    .bind(is_stream)
    .execute(conn)
    .await?;
    Ok(())
}

/// Whether anybody reads the feed of any namespace.
pub async fn is_read(conn: &mut Conn) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar("select exists (select from feed_namespace)").fetch_one(conn).await?)
}

/// Numbers what was committed, in the order in which it is found, and queues it for the webhooks that want it. One process
/// at a time; gives how many entries there were, none where another process is at it.
pub async fn publish(tx: &mut Tx) -> Result<usize, StoreError> {
    let is_ours: bool = sqlx::query_scalar(
        "select exists (select from feed_entry where seq is null)
             and pg_try_advisory_xact_lock(hashtextextended('remembrancer feed', 3))",
    )
    .fetch_one(&mut **tx)
    .await?;
    if !is_ours {
        return Ok(0);
    }
    let numbered = sqlx::query(include_str!("sql/publish_feed.sql")).bind(AT_ONCE).execute(&mut **tx).await?;
    Ok(numbered.rows_affected() as usize)
}

/// Writes an entry for each open commitment that has become due soon, or overdue, since it was last looked.
pub async fn remind(conn: &mut Conn) -> Result<u64, StoreError> {
    let reminded = sqlx::query(include_str!("sql/remind.sql"))
        .bind(DUE_AHEAD_HOURS)
        .bind(REPORTED_DAYS)
        .execute(conn)
        .await?;
    Ok(reminded.rows_affected())
}

/// The number of the last entry, and up to which they were deleted; `None` where the feed is not written.
pub async fn ends(conn: &mut Conn, ns: &Namespace) -> Result<Option<(i64, i64)>, StoreError> {
    Ok(sqlx::query_as("select last_seq, dropped_to from feed_namespace where namespace = $1")
        .bind(ns.as_str())
        .fetch_optional(conn)
        .await?)
}

/// What an entry is read with.
const ENTRY: &str = "e.namespace, e.seq, e.message_id, e.kind, e.at, e.event_id, e.job_id, e.details,
     r.artifact_id, r.title, r.context, r.source, r.source_id, r.conversation_id, r.turn_index
     from feed_entry e
     left join artifact_revision r on r.namespace = e.namespace and r.revision_id = e.revision_id";

/// The entries after a number, at most `limit`.
pub async fn after(
    conn: &mut Conn,
    ns: &Namespace,
    seq: i64,
    limit: i64,
) -> Result<Vec<FeedEntry>, StoreError> {
    let statement = sqlx::AssertSqlSafe(format!(
        "select {ENTRY} where e.namespace = $1 and e.seq > $2 order by e.seq limit $3"
    ));
    let rows = sqlx::query(statement).bind(ns.as_str()).bind(seq).bind(limit).fetch_all(conn).await?;
    rows.iter().map(entry_of).collect()
}

/// The entry of a delivery; `None` where it is gone.
pub(crate) async fn entry(
    conn: &mut Conn,
    ns: &Namespace,
    entry_id: i64,
) -> Result<Option<FeedEntry>, StoreError> {
    let statement = sqlx::AssertSqlSafe(format!("select {ENTRY} where e.namespace = $1 and e.entry_id = $2"));
    let row = sqlx::query(statement).bind(ns.as_str()).bind(entry_id).fetch_optional(conn).await?;
    row.as_ref().map(entry_of).transpose()
}

fn entry_of(row: &PgRow) -> Result<FeedEntry, StoreError> {
    let (namespace, kind): (String, String) = (row.try_get("namespace")?, row.try_get("kind")?);
    let text = match row.try_get::<Option<String>, _>("artifact_id")? {
        None => None,
        Some(artifact_id) => Some(FeedText {
            artifact_id,
            title: row.try_get("title")?,
            context: row.try_get("context")?,
            source: row.try_get("source")?,
            source_id: row.try_get("source_id")?,
            conversation_id: row.try_get("conversation_id")?,
            turn_index: row.try_get("turn_index")?,
        }),
    };
    let Json(details): Json<Map<String, Value>> = row.try_get("details")?;
    Ok(FeedEntry {
        namespace: Namespace::new(&namespace).map_err(|error| StoreError::Unsuitable(error.0))?,
        seq: row.try_get::<Option<i64>, _>("seq")?.unwrap_or_default(),
        message_id: row.try_get("message_id")?,
        kind: FeedKind::parse(&kind)
            .ok_or_else(|| StoreError::Unsuitable(format!("the feed has the unknown kind {kind}")))?,
        at: row.try_get::<SqlTimestamp, _>("at")?.to_jiff(),
        text,
        event_id: row.try_get("event_id")?,
        job_id: row.try_get::<Option<i64>, _>("job_id")?.map(JobId),
        details,
    })
}

/// Deletes what was kept for long enough or is too much, a part of it; gives how many rows. Feeds that nobody reads any
/// more end.
pub async fn sweep(conn: &mut Conn) -> Result<u64, StoreError> {
    sqlx::query(
        "delete from feed_namespace f
         where coalesce(f.streamed_at, f.since) < now() - make_interval(days => $1)
           and not exists (select from webhook w where w.namespace = f.namespace)",
    )
    .bind(UNREAD_DAYS)
    .execute(&mut *conn)
    .await?;
    sqlx::query("delete from feed_reminder where due_time < now() - make_interval(days => 2 * $1)")
        .bind(REPORTED_DAYS)
        .execute(&mut *conn)
        .await?;
    let swept = sqlx::query(
        "with old as materialized (
             select e.namespace, e.entry_id
             from feed_entry e
             left join feed_namespace f on f.namespace = e.namespace
             where e.at < now() - make_interval(days => $1) or e.seq <= f.last_seq - $2 or f.namespace is null
             limit $3
         ), gone as (
             delete from feed_entry e using old
             where e.namespace = old.namespace and e.entry_id = old.entry_id
             returning e.namespace, e.seq
         ), noted as (
             update feed_namespace f set dropped_to = greatest(f.dropped_to, g.seq)
             from (select namespace, max(seq) as seq from gone where seq is not null group by namespace) g
             where f.namespace = g.namespace
         )
         select count(*) from gone",
    )
    .bind(KEPT_DAYS)
    .bind(KEPT_MAX)
    .bind(AT_ONCE)
    .fetch_one(conn)
    .await?;
    Ok(swept.try_get::<i64, _>(0)? as u64)
}
