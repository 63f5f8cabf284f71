//! What operators do with jobs: look at them, try failed ones again, cancel.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::id::{JobId, Namespace};
use memory_core::job::{ErrorCode, JobKind, JobState, Priority};
use sqlx::{QueryBuilder, Row};
use uuid::Uuid;

use crate::{Conn, StoreError, Tx};

/// A job as operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    pub namespace: String,
    pub job_id: JobId,
    pub kind: String,
    pub priority: Option<Priority>,
    pub state: String,
    pub attempts: i32,
    pub last_error_code: Option<String>,
    pub last_error_message: Option<String>,
    pub last_error_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// When it is or was due.
    pub run_at: Timestamp,
    pub leased_until: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    /// Its target: a text, a conversation, or a thread of the graph.
    pub artifact_id: Option<String>,
    pub revision_id: Option<i64>,
    pub char_count: Option<i32>,
    pub conversation_id: Option<String>,
    pub thread: Option<String>,
    /// Who claimed it last.
    pub worker: Option<Uuid>,
    /// While vectors are made: how many passages have theirs, of how many.
    pub made: Option<(i64, i64)>,
}

/// Which jobs are meant; what is not said does not narrow it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFilter {
    pub namespace: Option<Namespace>,
    pub state: Option<JobState>,
    pub kind: Option<JobKind>,
    pub code: Option<ErrorCode>,
    pub ids: Option<Vec<JobId>>,
    /// Only those with a smaller number.
    pub before: Option<JobId>,
}

impl JobFilter {
    fn ids(&self) -> Option<Vec<i64>> {
        self.ids.as_ref().map(|ids| ids.iter().map(|id| id.0).collect())
    }
}

/// The newest jobs that are meant, newest first.
pub async fn list(conn: &mut Conn, filter: &JobFilter, limit: i64) -> Result<Vec<JobRow>, StoreError> {
    let mut statement = QueryBuilder::new(
        "select j.namespace, j.job_id, j.kind, j.lane, j.status, j.attempts, j.last_error_code,
                j.last_error_message, j.last_error_at, j.created_at, j.run_at,
                j.leased_until, j.finished_at, r.artifact_id, j.revision_id, a.char_count, j.conversation_id,
                t.name as thread, j.worker_id, r.passages::bigint as passages,
                case when j.status = 'PROCESSING' and j.kind = 'embed' then
                    (select count(*) from passage_embedding e
                     where e.namespace = j.namespace and e.revision_id = j.revision_id
                       and e.model_id = (select model_id from embedding_model where is_active)) end as made
         from (select * from event_jobs where true",
    );
    if let Some(namespace) = &filter.namespace {
        statement.push(" and namespace = ").push_bind(namespace.as_str().to_owned());
    }
    if let Some(state) = filter.state {
        // Written out: each state has an index of its own, which a plan for any state could not use.
        statement.push(format!(" and status = '{}'", state.as_str()));
    }
    if let Some(kind) = filter.kind {
        statement.push(" and kind = ").push_bind(kind.as_str());
    }
    if let Some(code) = filter.code {
        statement.push(" and last_error_code = ").push_bind(code.as_str());
    }
    if let Some(ids) = filter.ids() {
        statement.push(" and job_id = any(").push_bind(ids).push(")");
    }
    if let Some(before) = filter.before {
        statement.push(" and job_id < ").push_bind(before.0);
    }
    statement.push(" order by job_id desc limit ").push_bind(limit).push(
        ") j
         left join artifact_revision r on r.namespace = j.namespace and r.revision_id = j.revision_id
         left join artifact a on a.namespace = r.namespace and a.artifact_id = r.artifact_id
         left join graph_thread t on t.namespace = j.namespace and t.thread_id = j.thread_id
         order by j.job_id desc",
    );
    let rows = statement.build().fetch_all(conn).await?;
    rows.iter().map(job_row).collect()
}

fn job_row(row: &sqlx::postgres::PgRow) -> Result<JobRow, StoreError> {
    let time = |column: &str| -> Result<Option<Timestamp>, StoreError> {
        Ok(row.try_get::<Option<SqlTimestamp>, _>(column)?.map(SqlTimestamp::to_jiff))
    };
    Ok(JobRow {
        namespace: row.try_get("namespace")?,
        job_id: JobId(row.try_get("job_id")?),
        kind: row.try_get("kind")?,
        priority: Priority::of_number(row.try_get("lane")?),
        state: row.try_get("status")?,
        attempts: row.try_get("attempts")?,
        last_error_code: row.try_get("last_error_code")?,
        last_error_message: row.try_get("last_error_message")?,
        last_error_at: time("last_error_at")?,
        created_at: row.try_get::<SqlTimestamp, _>("created_at")?.to_jiff(),
        run_at: row.try_get::<SqlTimestamp, _>("run_at")?.to_jiff(),
        leased_until: time("leased_until")?,
        finished_at: time("finished_at")?,
        artifact_id: row.try_get("artifact_id")?,
        revision_id: row.try_get("revision_id")?,
        char_count: row.try_get("char_count")?,
        conversation_id: row.try_get("conversation_id")?,
        thread: row.try_get("thread")?,
        worker: row.try_get("worker_id")?,
        made: row.try_get::<Option<i64>, _>("made")?.zip(row.try_get("passages")?),
    })
}

/// A worker that was seen of late.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerRow {
    pub id: Uuid,
    /// Seconds since it started and since it was last seen.
    pub runs_seconds: f64,
    pub seen_seconds: f64,
}

row!(WorkerRow { id, runs_seconds, seen_seconds });

/// Workers that were seen within the hour, the one that has run longest first.
pub async fn workers(conn: &mut Conn) -> Result<Vec<WorkerRow>, StoreError> {
    Ok(sqlx::query_as(
        "select worker_id as id, greatest(0, extract(epoch from now() - started_at))::float8 as runs_seconds,
                greatest(0, extract(epoch from now() - last_seen))::float8 as seen_seconds
         from event_worker
         where last_seen > now() - interval '1 hour'
         order by started_at, worker_id
         limit 100",
    )
    .fetch_all(conn)
    .await?)
}

/// How many jobs of a kind are in a state, and since when.
#[derive(Debug, Clone, PartialEq)]
pub struct JobGroup {
    pub kind: String,
    pub state: String,
    pub count: i64,
    pub oldest_seconds: f64,
}

row!(JobGroup { kind, state, count, oldest_seconds });

/// Jobs that are not done, by state and kind: each state is read by an index of its own.
pub async fn groups(conn: &mut Conn, ns: &Namespace) -> Result<Vec<JobGroup>, StoreError> {
    Ok(sqlx::query_as(
        "select kind, state, count(*) as count,
                greatest(0, extract(epoch from now() - min(created_at)))::float8 as oldest_seconds
         from (select kind, 'PENDING' as state, created_at from event_jobs
               where lane = any('{0,1,2,3}') and namespace = $1 and status = 'PENDING'
               union all
               select kind, 'PROCESSING', created_at from event_jobs where namespace = $1 and status = 'PROCESSING'
               union all
               select kind, 'FAILED', created_at from event_jobs where namespace = $1 and status = 'FAILED') j
         group by 1, 2
         order by array_position('{PROCESSING,PENDING,FAILED}'::text[], state), 1",
    )
    .bind(ns.as_str())
    .fetch_all(conn)
    .await?)
}

/// The outcome of retrying a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retried {
    /// It is pending again, with its attempts counted from 0.
    Queued,
    /// Another job for the same waits or is being done.
    Covered,
    /// It has not failed, but is in this state.
    NotFailed(String),
    NotFound,
}

/// Tries a failed job again.
pub async fn retry_failed(tx: &mut Tx, ns: Option<&Namespace>, id: JobId) -> Result<Retried, StoreError> {
    let row: Option<(String, String)> = sqlx::query_as(
        "select namespace, status from event_jobs where ($1::text is null or namespace = $1) and job_id = $2 for update",
    )
    .bind(ns.map(Namespace::as_str))
    .bind(id.0)
    .fetch_optional(&mut **tx)
    .await?;
    let Some((namespace, state)) = row else { return Ok(Retried::NotFound) };
    if state != JobState::Failed.as_str() {
        return Ok(Retried::NotFailed(state));
    }
    let queued = sqlx::query(
        "update event_jobs j
         set status = 'PENDING', attempts = 0, run_at = now(), last_error_code = null, last_error_message = null,
             last_error_at = null, finished_at = null
         where j.namespace = $1 and j.job_id = $2
           and not exists (select from event_jobs o
                           where o.namespace = $1 and o.revision_id = j.revision_id and o.kind = j.kind
                             and o.status in ('PENDING', 'PROCESSING'))
           and not exists (select from event_jobs o
                           where o.namespace = $1 and o.conversation_id = j.conversation_id and o.status = 'PENDING')
           and not exists (select from event_jobs o
                           where o.namespace = $1 and o.thread_id = j.thread_id and o.status = 'PENDING')",
    )
    .bind(namespace)
    .bind(id.0)
    .execute(&mut **tx)
    .await?;
    Ok(if queued.rows_affected() == 1 { Retried::Queued } else { Retried::Covered })
}

/// Retries up to `limit` failed jobs at bulk priority: of each target the last one, unless a newer job exists for it. They are
/// taken in the order of their ids, those after `begin` only, so that a job which soon fails again is not retried twice.
pub async fn retry_all_failed(
    tx: &mut Tx,
    filter: &JobFilter,
    begin: Option<&(String, JobId)>,
    limit: i64,
) -> Result<Vec<(String, JobId)>, StoreError> {
    let rows: Vec<(String, i64)> = sqlx::query_as(
        "with again as materialized (
             select f.namespace, f.job_id from event_jobs f
             where f.status = 'FAILED' and ($1::text is null or f.namespace = $1)
               and ($2::text is null or f.kind = $2) and ($3::text is null or f.last_error_code = $3)
               and ($5::text is null or (f.namespace, f.job_id) > ($5, $6))
               and not exists (select from event_jobs o
                               where o.namespace = f.namespace and o.revision_id = f.revision_id and o.kind = f.kind
                                 and (o.job_id > f.job_id or o.status in ('PENDING', 'PROCESSING')))
               and not exists (select from event_jobs o
                               where o.namespace = f.namespace and o.conversation_id = f.conversation_id
                                 and (o.job_id > f.job_id or o.status = 'PENDING'))
               and not exists (select from event_jobs o
                               where o.namespace = f.namespace and o.thread_id = f.thread_id
                                 and (o.job_id > f.job_id or o.status = 'PENDING'))
             order by f.namespace, f.job_id
             limit $4
             for update skip locked
         ), queued as (
             update event_jobs j
             set status = 'PENDING', attempts = 0, run_at = now(), last_error_code = null, last_error_message = null,
                 last_error_at = null, finished_at = null, lane = case when lane in (1, 3) then 3 else 2 end
             from again
             where j.namespace = again.namespace and j.job_id = again.job_id
         )
         select namespace, job_id from again order by namespace, job_id",
    )
    .bind(filter.namespace.as_ref().map(Namespace::as_str))
    .bind(filter.kind.map(JobKind::as_str))
    .bind(filter.code.map(ErrorCode::as_str))
    .bind(limit)
    .bind(begin.map(|(namespace, _)| namespace))
    .bind(begin.map(|(_, id)| id.0))
    .fetch_all(&mut **tx)
    .await?;
    Ok(rows.into_iter().map(|(namespace, id)| (namespace, JobId(id))).collect())
}

/// The outcome of cancelling a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cancelled {
    /// It was waiting.
    Waiting,
    /// It was running: its worker has lost the lease and will write nothing.
    Running,
    /// It had failed: it stays undone, and `status` no longer lists it as a problem.
    Failed,
    /// It had ended before, in this state.
    Ended(String),
    NotFound,
}

impl Cancelled {
    /// The state that the job had until it was cancelled; none if it was not cancelled.
    pub fn state_before(&self) -> Option<JobState> {
        match self {
            Self::Waiting => Some(JobState::Pending),
            Self::Running => Some(JobState::Processing),
            Self::Failed => Some(JobState::Failed),
            Self::Ended(_) | Self::NotFound => None,
        }
    }
}

/// Ends a job that is open, or has failed for another reason, as FAILED/CANCELLED.
pub async fn cancel(tx: &mut Tx, ns: Option<&Namespace>, id: JobId) -> Result<Cancelled, StoreError> {
    let row: Option<(String, String, Option<String>)> = sqlx::query_as(
        "select namespace, status, last_error_code from event_jobs
         where ($1::text is null or namespace = $1) and job_id = $2
         for update",
    )
    .bind(ns.map(Namespace::as_str))
    .bind(id.0)
    .fetch_optional(&mut **tx)
    .await?;
    let Some((namespace, state, code)) = row else { return Ok(Cancelled::NotFound) };
    let cancelled = match JobState::parse(&state) {
        Some(JobState::Pending) => Cancelled::Waiting,
        Some(JobState::Processing) => Cancelled::Running,
        Some(JobState::Failed) if code.as_deref() != Some(ErrorCode::Cancelled.as_str()) => Cancelled::Failed,
        _ => return Ok(Cancelled::Ended(state)),
    };
    sqlx::query(
        "update event_jobs
         set status = 'FAILED', last_error_code = $3, last_error_message = null, last_error_at = now(),
             finished_at = now(), lease_token = null, leased_until = null
         where namespace = $1 and job_id = $2",
    )
    .bind(namespace)
    .bind(id.0)
    .bind(ErrorCode::Cancelled.as_str())
    .execute(&mut **tx)
    .await?;
    Ok(cancelled)
}

/// Which of these jobs wait or are being done.
pub async fn still_open(conn: &mut Conn, ns: &Namespace, ids: &[JobId]) -> Result<Vec<JobId>, StoreError> {
    let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let open: Vec<i64> = sqlx::query_scalar(
        "select job_id from event_jobs
         where namespace = $1 and job_id = any($2) and status in ('PENDING', 'PROCESSING')",
    )
    .bind(ns.as_str())
    .bind(ids)
    .fetch_all(conn)
    .await?;
    Ok(open.into_iter().map(JobId).collect())
}
