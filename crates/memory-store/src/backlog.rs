//! What waits and what has failed in the whole database, for monitoring: every count has a limit and is of an index.

use std::time::Duration;

use sqlx::Row;

use crate::vector::mirrors::{self, MirrorState};
use crate::{Conn, Store, StoreError, models};

/// Nothing is counted further.
const COUNTED_MAX: i64 = 100_000;

/// Pending jobs of a priority and kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    pub priority: i16,
    pub kind: String,
    pub count: i64,
    /// For how long the oldest is there.
    pub oldest_seconds: f64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Backlog {
    pub waiting: Vec<Waiting>,
    /// Jobs under way by kind.
    pub processing: Vec<(String, i64)>,
    /// Jobs that have failed for good, by code.
    pub failed: Vec<(String, i64)>,
    /// Workers that were seen within a minute.
    pub workers: i64,
    pub database_bytes: i64,
    /// How far the mirror of the searched vectors is behind, where there is one: passages, and seconds of the oldest.
    pub mirror: Option<(i64, f64)>,
}

impl Store {
    /// Reads the backlog; gives up after `patience`.
    pub async fn backlog(&self, patience: Duration) -> Result<Backlog, StoreError> {
        let reading = async {
            let mut conn = self.acquire_across().await?;
            read(&mut conn).await
        };
        tokio::time::timeout(patience, reading).await.unwrap_or_else(|_| {
            let seconds = patience.as_secs_f32();
            Err(StoreError::Unanswered(format!("the database did not answer within {seconds:.1} s")))
        })
    }
}

async fn read(conn: &mut Conn) -> Result<Backlog, StoreError> {
    let rows = sqlx::query(
        "with waiting as (
             select lane, kind, count(*) as jobs, min(job_id) as first,
                    (array_agg(namespace order by job_id))[1] as namespace
             from (select lane, kind, namespace, job_id from event_jobs
                   where lane = any('{0,1,2,3}') and status = 'PENDING'
                   limit $1) w
             group by lane, kind
         )
         select w.lane, w.kind, w.jobs,
                coalesce((select extract(epoch from now() - j.created_at)::float8 from event_jobs j
                          where j.namespace = w.namespace and j.job_id = w.first), 0) as seconds
         from waiting w",
    )
    .bind(COUNTED_MAX)
    .fetch_all(&mut *conn)
    .await?;
    let waiting = rows.iter().map(|row| {
        Ok(Waiting {
            priority: row.try_get("lane")?,
            kind: row.try_get("kind")?,
            count: row.try_get("jobs")?,
            oldest_seconds: row.try_get::<f64, _>("seconds")?.max(0.0),
        })
    });
    let waiting = waiting.collect::<Result<Vec<_>, sqlx::Error>>()?;
    let processing = sqlx::query_as(
        "select kind, count(*) from event_jobs
         where status = 'PROCESSING' and leased_until > '-infinity'
         group by kind",
    )
    .fetch_all(&mut *conn)
    .await?;
    let failed = sqlx::query_as(
        "select last_error_code, count(*)
         from (select last_error_code from event_jobs where status = 'FAILED' limit $1) f
         group by last_error_code",
    )
    .bind(COUNTED_MAX)
    .fetch_all(&mut *conn)
    .await?;
    let (workers, database_bytes) = sqlx::query_as(
        "select count(*) filter (where last_seen > now() - interval '60 s'), pg_database_size(current_database())
         from event_worker",
    )
    .fetch_one(&mut *conn)
    .await?;
    let mirror = mirror_lag(conn).await?;
    Ok(Backlog { waiting, processing, failed, workers, database_bytes, mirror })
}

async fn mirror_lag(conn: &mut Conn) -> Result<Option<(i64, f64)>, StoreError> {
    let Some(model) = models::active(conn).await? else { return Ok(None) };
    let mut live = mirrors::all(conn).await?;
    live.retain(|one| one.model_id == Some(model.model_id) && one.state != MirrorState::Retired);
    let Some(one) = live.iter().min_by_key(|one| one.state != MirrorState::Searched) else { return Ok(None) };
    let lag: (i64, f64) = sqlx::query_as(
        "select count(*), coalesce(greatest(extract(epoch from now() - min(queued_at)), 0), 0)::float8
         from (select queued_at from vector_outbox
               where mirror_id = $1 and not is_confirming
               order by due_at limit $2) o",
    )
    .bind(one.mirror_id)
    .bind(COUNTED_MAX)
    .fetch_one(conn)
    .await?;
    Ok(Some(lag))
}
