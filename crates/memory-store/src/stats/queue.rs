//! How the work stands, for `status`: jobs by state, those that are stuck, the job of one text, and the workers.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::id::{ArtifactId, JobId, Namespace};
use memory_core::job::ErrorCode;
use sqlx::Row;

use crate::{Conn, StoreError};

/// The queue of a namespace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Queue {
    pub pending: i64,
    pub processing: i64,
    pub done: i64,
    pub failed: i64,
    /// Texts and graphs whose vectors are being made or wait to be.
    pub open_embeddings: i64,
    pub oldest_pending_seconds: Option<f64>,
    /// By how much the oldest waiting job is dated in the future.
    pub ahead_seconds: f64,
    /// Error code and how many FAILED jobs have it.
    pub failures: Vec<(String, i64)>,
}

/// Every count is of an index alone, so that a status costs little however long the queue.
pub async fn queue(conn: &mut Conn, ns: &Namespace) -> Result<Queue, StoreError> {
    let row = sqlx::query(
        "with waiting as (
             select count(*) as jobs, count(*) filter (where kind in ('embed', 'index_graph')) as embeddings,
                    min(job_id) as oldest
             from event_jobs
             where lane = any('{0,1,2,3}') and namespace = $1 and status = 'PENDING'
         ), running as (
             select count(*) as jobs, count(*) filter (where kind in ('embed', 'index_graph')) as embeddings
             from event_jobs
             where namespace = $1 and status = 'PROCESSING'
         ), counted as materialized (
             select (select count(*) from event_jobs where namespace = $1) as jobs,
                    (select count(*) from event_jobs where namespace = $1 and status = 'FAILED') as failed
         )
         select w.jobs as pending, w.embeddings + r.embeddings as open_embeddings, r.jobs as processing, c.failed,
                c.jobs - w.jobs - r.jobs - c.failed as done,
                (select extract(epoch from now() - j.created_at)::float8 from event_jobs j
                 where j.namespace = $1 and j.job_id = w.oldest) as oldest_seconds
         from waiting w, running r, counted c",
    )
    .bind(ns.as_str())
    .fetch_one(&mut *conn)
    .await?;
    let failures = sqlx::query_as(
        "select last_error_code, count(*) from event_jobs
         where namespace = $1 and status = 'FAILED'
         group by last_error_code
         order by 2 desc, 1",
    )
    .bind(ns.as_str())
    .fetch_all(conn)
    .await?;
    let oldest: Option<f64> = row.try_get("oldest_seconds")?;
    Ok(Queue {
        pending: row.try_get("pending")?,
        processing: row.try_get("processing")?,
        done: row.try_get("done")?,
        failed: row.try_get("failed")?,
        open_embeddings: row.try_get("open_embeddings")?,
        oldest_pending_seconds: oldest.map(|seconds| seconds.max(0.0)),
        ahead_seconds: oldest.map_or(0.0, |seconds| (-seconds).max(0.0)),
        failures,
    })
}

/// Jobs of one kind that are stuck for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StuckJobs {
    pub kind: String,
    pub code: String,
    /// They have failed for good; otherwise they are pending until the reason is gone.
    pub have_failed: bool,
    pub count: i64,
    pub first: JobId,
    /// When the first one failed, or was made.
    pub since: Timestamp,
    /// What the last one says.
    pub message: Option<String>,
}

/// How many jobs of each state are read: the newest failed ones, and the pending ones that are due last.
const STUCK_JOBS_MAX: i64 = 1000;

/// Failed jobs, without those of the codes `seen_to` and those whose target has a newer job; and pending jobs whose last error is
/// one of `waiting_for`, which only an operator can solve.
pub async fn stuck_jobs(
    conn: &mut Conn,
    ns: &Namespace,
    seen_to: &[ErrorCode],
    waiting_for: &[ErrorCode],
) -> Result<Vec<StuckJobs>, StoreError> {
    let names = |codes: &[ErrorCode]| codes.iter().map(|code| code.as_str()).collect::<Vec<_>>();
    let rows = sqlx::query(
        "with failed as (
             select f.*
             from (select * from event_jobs
                   where namespace = $1 and status = 'FAILED' and last_error_code <> all($2)
                   order by job_id desc limit $4) f
             where not exists (select from event_jobs o
                               where o.namespace = f.namespace and o.revision_id = f.revision_id and o.kind = f.kind
                                 and o.job_id > f.job_id)
               and not exists (select from event_jobs o
                               where o.namespace = f.namespace and o.conversation_id = f.conversation_id
                                 and o.job_id > f.job_id)
               and not exists (select from event_jobs o
                               where o.namespace = f.namespace and o.thread_id = f.thread_id and o.job_id > f.job_id)
         ), waiting as (
             select j.*
             from (select namespace, job_id from event_jobs
                   where lane = any('{0,1,2,3}') and namespace = $1 and status = 'PENDING'
                   order by run_at desc limit $4) w
             join event_jobs j on j.namespace = w.namespace and j.job_id = w.job_id
             where j.last_error_code = any($3)
         ), stuck as (
             select *, finished_at as since from failed
             union all
             select *, created_at from waiting
         )
         select kind, last_error_code as code, status = 'FAILED' as have_failed, count(*) as count, min(job_id) as first,
                least(min(since), now()) as since, (array_agg(last_error_message order by job_id desc))[1] as message
         from stuck
         group by 1, 2, 3
         order by 3 desc, 6, 5",
    )
    .bind(ns.as_str())
    .bind(names(seen_to))
    .bind(names(waiting_for))
    .bind(STUCK_JOBS_MAX)
    .fetch_all(conn)
    .await?;
    let stuck = rows.iter().map(|row| {
        Ok(StuckJobs {
            kind: row.try_get("kind")?,
            code: row.try_get("code")?,
            have_failed: row.try_get("have_failed")?,
            count: row.try_get("count")?,
            first: JobId(row.try_get("first")?),
            since: row.try_get::<SqlTimestamp, _>("since")?.to_jiff(),
            message: row.try_get("message")?,
        })
    });
    stuck.collect()
}

/// When workers reported themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WorkersSeen {
    /// Seconds since any was seen; `None` when none ever was.
    pub seconds: Option<f64>,
    /// By how much one reported itself in the future.
    pub ahead_seconds: f64,
}

/// A worker seen in the future, before a clock was set back, does not count as running.
pub async fn workers_seen(conn: &mut Conn) -> Result<WorkersSeen, StoreError> {
    let row = sqlx::query(
        "select extract(epoch from now() - max(last_seen) filter (where last_seen <= now() + interval '5 s'))::float8 as seconds,
                extract(epoch from max(last_seen) - now())::float8 as ahead
         from event_worker",
    )
    .fetch_one(conn)
    .await?;
    let (seconds, ahead): (Option<f64>, Option<f64>) = (row.try_get("seconds")?, row.try_get("ahead")?);
    Ok(WorkersSeen {
        seconds: seconds.map(|seconds| seconds.max(0.0)),
        ahead_seconds: ahead.unwrap_or(0.0).max(0.0),
    })
}

/// The state of the extraction of an artifact's newest revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobStatus {
    pub job_id: Option<i64>,
    /// PENDING, PROCESSING, DONE or FAILED; `None` when no job was ever queued for it.
    pub status: Option<String>,
    pub attempts: Option<i32>,
    pub last_error_code: Option<String>,
    pub last_error_message: Option<String>,
    pub extracted_at: Option<Timestamp>,
    pub event_count: Option<i32>,
    pub passages: i64,
    /// Passages whose vector is still to be computed.
    pub passages_without_vector: i64,
    /// The last job for its vectors, if it ever had one.
    pub embed: Option<EmbedJob>,
}

/// A job for the vectors of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedJob {
    pub job_id: i64,
    pub status: String,
    pub last_error_code: Option<String>,
    pub last_error_message: Option<String>,
}

/// `None` when the namespace has no such artifact.
pub async fn job_status(
    conn: &mut Conn,
    ns: &Namespace,
    id: &ArtifactId,
) -> Result<Option<JobStatus>, StoreError> {
    let row = sqlx::query(
        "select j.job_id, j.status, j.attempts, j.last_error_code, j.last_error_message, r.extracted_at, r.event_count,
                e.job_id as embed_job_id, e.status as embed_status, e.last_error_code as embed_code,
                e.last_error_message as embed_message,
                (select count(*) from passage p where p.namespace = r.namespace and p.revision_id = r.revision_id)
                    as passages,
                (select count(*) from passage p
                 where p.namespace = r.namespace and p.revision_id = r.revision_id
                   and not exists (select from passage_embedding e join embedding_model m using (model_id)
                                   where e.namespace = p.namespace and e.passage_id = p.passage_id and m.is_active))
                    as passages_without_vector
         from artifact_revision r
         left join lateral (
             select * from event_jobs j
             where j.namespace = r.namespace
               and ((j.revision_id = r.revision_id and j.kind = 'extract') or j.conversation_id = r.conversation_id)
             order by j.revision_id nulls last, j.job_id desc
             limit 1
         ) j on true
         left join lateral (
             select * from event_jobs e
             where e.namespace = r.namespace and e.revision_id = r.revision_id and e.kind = 'embed'
             order by e.job_id desc
             limit 1
         ) e on true
         where r.namespace = $1 and r.artifact_id = $2
         order by r.is_latest desc, r.revision_id desc
         limit 1",
    )
    .bind(ns.as_str())
    .bind(&id.0)
    .fetch_optional(conn)
    .await?;
    row.map(|row| {
        Ok(JobStatus {
            job_id: row.try_get("job_id")?,
            status: row.try_get("status")?,
            attempts: row.try_get("attempts")?,
            last_error_code: row.try_get("last_error_code")?,
            last_error_message: row.try_get("last_error_message")?,
            extracted_at: row.try_get::<Option<SqlTimestamp>, _>("extracted_at")?.map(SqlTimestamp::to_jiff),
            event_count: row.try_get("event_count")?,
            passages: row.try_get("passages")?,
            passages_without_vector: row.try_get("passages_without_vector")?,
            embed: row
                .try_get::<Option<i64>, _>("embed_job_id")?
                .map(|job_id| {
                    Ok::<_, StoreError>(EmbedJob {
                        job_id,
                        status: row.try_get("embed_status")?,
                        last_error_code: row.try_get("embed_code")?,
                        last_error_message: row.try_get("embed_message")?,
                    })
                })
                .transpose()?,
        })
    })
    .transpose()
}
