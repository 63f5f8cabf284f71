//! Changes that are not in the mirror yet: claimed with a lease, settled under its token, like jobs.
//!
//! The rows are written by triggers, in the transaction that changes a vector or what its point says.

use std::time::Duration;

use sqlx::Row;
use uuid::Uuid;

use super::mirrors::Mirror;
use crate::{Conn, StoreError};

/// Passages that are one worker's until their lease ends.
#[derive(Debug, Clone)]
pub struct Claimed {
    pub mirror_id: i16,
    pub passages: Vec<i64>,
    /// Larger than that of every claim before.
    pub rev: i64,
    token: Uuid,
}

/// Leases up to `limit` due passages. An attempt whose worker died counts as one that was not answered.
pub async fn claim(
    conn: &mut Conn,
    mirror: &Mirror,
    lease: Duration,
    limit: i64,
) -> Result<Option<Claimed>, StoreError> {
    let token = Uuid::new_v4();
    let rows = sqlx::query(
        "with claim as materialized (select nextval('vector_outbox_rev') as rev),
         due as materialized (
             select passage_id from vector_outbox
             where mirror_id = $1 and due_at <= now()
             order by due_at, passage_id
             limit $4
             for update skip locked
         ), claimed as (
             update vector_outbox o
             set is_unclear = o.is_unclear or o.lease_token is not null, is_changed = false,
                 lease_token = $2, due_at = now() + make_interval(secs => $3), attempts = o.attempts + 1
             from due
             where o.mirror_id = $1 and o.passage_id = due.passage_id
             returning o.passage_id
         )
         select passage_id, rev from claimed cross join claim",
    )
    .bind(mirror.mirror_id)
    .bind(token)
    .bind(lease.as_secs_f64())
    .bind(limit)
    .fetch_all(conn)
    .await?;
    let Some(first) = rows.first() else { return Ok(None) };
    let rev = first.try_get("rev")?;
    let mut passages = rows.iter().map(|row| row.try_get("passage_id")).collect::<Result<Vec<i64>, _>>()?;
    passages.sort_unstable();
    Ok(Some(Claimed { mirror_id: mirror.mirror_id, passages, rev, token }))
}

/// Settles claimed passages that were written to the mirror as they were read after the claim. A passage that has changed since is
/// due again; one that had an attempt without an answer is written once more after `confirm`.
pub async fn settle(conn: &mut Conn, claimed: &Claimed, confirm: Duration) -> Result<(), StoreError> {
    sqlx::query(
        "with held as materialized (
             select passage_id, is_changed, is_unclear from vector_outbox
             where mirror_id = $1 and passage_id = any($2) and lease_token = $3
             order by passage_id
             for update
         ), done as (
             delete from vector_outbox o using held
             where o.mirror_id = $1 and o.passage_id = held.passage_id and not held.is_changed and not held.is_unclear
         )
         update vector_outbox o
         set lease_token = null, attempts = 0, is_changed = false, last_error = null,
             is_unclear = held.is_changed and held.is_unclear, is_confirming = not held.is_changed,
             due_at = now() + make_interval(secs => case when held.is_changed then 0 else $4 end)
         from held
         where o.mirror_id = $1 and o.passage_id = held.passage_id and (held.is_changed or held.is_unclear)",
    )
    .bind(claimed.mirror_id)
    .bind(&claimed.passages)
    .bind(claimed.token)
    .bind(confirm.as_secs_f64())
    .execute(conn)
    .await?;
    Ok(())
}

/// Settles claimed passages that could not be written to the mirror: they are due again after `delay`.
pub async fn put_back(
    conn: &mut Conn,
    claimed: &Claimed,
    passages: &[i64],
    is_unclear: bool,
    reason: &str,
    delay: Duration,
) -> Result<(), StoreError> {
    sqlx::query(
        "update vector_outbox
         set lease_token = null, is_changed = false, is_unclear = is_unclear or $4, last_error = $5,
             due_at = now() + make_interval(secs => $6)
         where mirror_id = $1 and passage_id = any($2) and lease_token = $3",
    )
    .bind(claimed.mirror_id)
    .bind(passages)
    .bind(claimed.token)
    .bind(is_unclear)
    .bind(reason)
    .bind(delay.as_secs_f64())
    .execute(conn)
    .await?;
    Ok(())
}

/// How many wait, counted up to a limit.
pub async fn count_up_to(conn: &mut Conn, mirror_id: i16, limit: i64) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar(
        "select count(*) from (select from vector_outbox where mirror_id = $1 limit $2) waiting",
    )
    .bind(mirror_id)
    .bind(limit)
    .fetch_one(conn)
    .await?)
}

/// Which of the passages wait.
pub async fn waiting_among(
    conn: &mut Conn,
    mirror_id: i16,
    passages: &[i64],
) -> Result<Vec<i64>, StoreError> {
    Ok(sqlx::query_scalar(
        "select o.passage_id
         from unnest($2::bigint[]) wanted (passage_id)
         cross join lateral (
             select passage_id from vector_outbox o
             where o.mirror_id = $1 and o.passage_id = wanted.passage_id
             offset 0
         ) o",
    )
    .bind(mirror_id)
    .bind(passages)
    .fetch_all(conn)
    .await?)
}

/// Queues passages whose points are not as they should be.
pub async fn queue(conn: &mut Conn, mirror_id: i16, passages: &[i64]) -> Result<(), StoreError> {
    sqlx::query(
        "insert into vector_outbox (mirror_id, passage_id, namespace)
         select $1, w.passage_id, coalesce(p.namespace, '')
         from (select distinct unnest($2::bigint[]) as passage_id) w
         left join lateral (
             select e.namespace from passage_embedding e
             join vector_mirror m on m.mirror_id = $1 and m.model_id = e.model_id
             where e.passage_id = w.passage_id
             limit 1
         ) p on true
         order by w.passage_id
         on conflict do nothing",
    )
    .bind(mirror_id)
    .bind(passages)
    .execute(conn)
    .await?;
    Ok(())
}

/// Raises the counter so that later claims get numbers above this one. After a restore of an older database the mirror may hold
/// points with higher numbers than the database has given out.
pub async fn rise_above(conn: &mut Conn, rev: i64) -> Result<(), StoreError> {
    sqlx::query(
        "select setval('vector_outbox_rev', $1) where $1 > (select last_value from vector_outbox_rev)",
    )
    .bind(rev)
    .execute(conn)
    .await?;
    Ok(())
}

/// How far the mirror is behind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lag {
    /// Passages whose change it has yet to get.
    pub waiting: i64,
    /// Since when the oldest of them waits.
    pub oldest_seconds: Option<f64>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
}

pub async fn lag(conn: &mut Conn, mirror_id: i16) -> Result<Lag, StoreError> {
    let row = sqlx::query(
        "select count(*) as waiting, extract(epoch from now() - min(queued_at))::float8 as oldest_seconds,
                max(last_error) as last_error
         from vector_outbox
         where mirror_id = $1 and not is_confirming",
    )
    .bind(mirror_id)
    .fetch_one(conn)
    .await?;
    Ok(Lag {
        waiting: row.try_get("waiting")?,
        oldest_seconds: row.try_get("oldest_seconds")?,
        last_error: row.try_get("last_error")?,
    })
}
