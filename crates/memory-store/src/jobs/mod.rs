//! The job queue: claim with a lease, finish under its token, retry, fail, release.
//!
//! ```text
//!               claim                    finish
//! PENDING ─────────────▶ PROCESSING ──────────────▶ DONE
//!    ▲                    │  │  │
//!    └ retry/release/yield┘  │  └── fail, or a lease lost too often ──▶ FAILED
//!                            └── lease expired: claimable again
//! ```
//!
//! The order is decided by the claim, in one look-up: see `sql/claim_jobs.sql`. What operators do with jobs is
//! in `jobs/control.rs`, what the maintenance of the table does in `jobs/upkeep.rs`.

mod claim;
mod control;
mod upkeep;

use std::time::Duration;

use memory_core::id::{JobId, Namespace, RevisionId};
use memory_core::job::{ErrorCode, JobKind, Priority};
use uuid::Uuid;

use crate::graph::Thread;
use crate::{Conn, StoreError, Tx};

pub use claim::{FairScheduler, claim, claim_in_turn, claim_short, claim_with, lost_leases, release_unheld};
pub use control::{
    Cancelled, JobFilter, JobGroup, JobRow, Retried, WorkerRow, cancel, groups, list, retry_all_failed,
    retry_failed, still_open, workers,
};
pub use upkeep::{SWEPT_AT_ONCE, deregister, expire_leases, heartbeat, mend_clock, sweep};

/// A claimed job. Holding it is the only way to finish the job.
#[derive(Debug, Clone)]
pub struct LeasedJob {
    pub namespace: Namespace,
    pub job_id: JobId,
    pub target: JobTarget,
    pub priority: Priority,
    /// How often it was claimed, this time included.
    pub attempts: i32,
    /// It lost its lease twice, as when its worker crashes: it must run while nothing else does, so that it takes no other job down.
    pub is_suspect: bool,
    lease_token: Uuid,
}

/// Why an attempt failed: an error code, and a message for people that quotes nothing of the text.
#[derive(Debug, Clone, Copy)]
pub struct Fault<'a> {
    pub code: ErrorCode,
    pub message: &'a str,
}

impl From<ErrorCode> for Fault<'_> {
    fn from(code: ErrorCode) -> Self {
        Self { code, message: code.meaning() }
    }
}

/// The longest message of a fault, in characters; the rest is cut.
const MESSAGE_MAX_CHARS: usize = 300;

impl Fault<'_> {
    fn shown(&self) -> String {
        self.message.chars().filter(|c| !c.is_control()).take(MESSAGE_MAX_CHARS).collect()
    }
}

/// What a job works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobTarget {
    Extract(RevisionId),
    Embed(RevisionId),
    ExtractConversation(String),
    /// A thread of the graph, by its row.
    IndexGraph(i64),
}

impl JobTarget {
    pub fn kind(&self) -> JobKind {
        match self {
            Self::Extract(_) => JobKind::Extract,
            Self::ExtractConversation(_) => JobKind::ExtractConversation,
            Self::Embed(_) => JobKind::Embed,
            Self::IndexGraph(_) => JobKind::IndexGraph,
        }
    }
}

/// Queues a job for a revision unless one of its kind is open; gives the new job's id.
pub async fn queue(
    tx: &mut Tx,
    ns: &Namespace,
    kind: JobKind,
    revision_id: RevisionId,
    priority: Priority,
) -> Result<Option<JobId>, StoreError> {
    let id: Option<i64> = sqlx::query_scalar(
        "insert into event_jobs (namespace, kind, revision_id, lane) values ($1, $2, $3, $4)
         on conflict do nothing
         returning job_id",
    )
    .bind(ns.as_str())
    .bind(kind.as_str())
    .bind(revision_id.0)
    .bind(priority.number())
    .fetch_optional(&mut **tx)
    .await?;
    Ok(id.map(JobId))
}

/// Queues the reading of a conversation after a pause of `delay_seconds` without new turns, but no later
/// than `at_most_seconds` after the first unread one.
pub async fn queue_conversation(
    tx: &mut Tx,
    ns: &Namespace,
    conversation_id: &str,
    priority: Priority,
    delay_seconds: f64,
    at_most_seconds: f64,
) -> Result<JobId, StoreError> {
    let id: i64 = sqlx::query_scalar(
        "insert into event_jobs (namespace, kind, conversation_id, lane, run_at)
         values ($1, 'extract_conversation', $2, $5, now() + make_interval(secs => $3))
         on conflict (namespace, conversation_id) where conversation_id is not null and status = 'PENDING'
         do update set run_at = least(excluded.run_at, event_jobs.created_at + make_interval(secs => $4)),
             lane = least(excluded.lane, event_jobs.lane)
         returning job_id",
    )
    .bind(ns.as_str())
    .bind(conversation_id)
    .bind(delay_seconds)
    .bind(at_most_seconds)
    .bind(priority.number())
    .fetch_one(&mut **tx)
    .await?;
    Ok(JobId(id))
}

/// Queues the indexing of a graph that this transaction has changed.
pub async fn queue_indexing(tx: &mut Tx, thread: &Thread) -> Result<(), StoreError> {
    queue_indexing_of(tx, &thread.ns, thread.id, Priority::Small).await
}

/// The same as [`queue_indexing`], by the id of the thread's row. No worker claims the job before the transaction is committed, so
/// no change is missed. A pending job that was put off until a model is available becomes due at once, since the words of the
/// change can be indexed without one.
pub async fn queue_indexing_of(
    tx: &mut Tx,
    ns: &Namespace,
    thread_id: i64,
    priority: Priority,
) -> Result<(), StoreError> {
    sqlx::query(
        "insert into event_jobs (namespace, kind, thread_id, lane) values ($1, 'index_graph', $2, $3)
         on conflict (namespace, thread_id) where thread_id is not null and status = 'PENDING'
         do update set run_at = least(event_jobs.run_at, now()), lane = least(excluded.lane, event_jobs.lane)",
    )
    .bind(ns.as_str())
    .bind(thread_id)
    .bind(priority.number())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Ends the job. Call it first in the transaction that writes its results: a lost lease then writes nothing.
pub async fn finish(tx: &mut Tx, job: &LeasedJob) -> Result<(), StoreError> {
    held(
        &sqlx::query(
            "update event_jobs
             set status = 'DONE', finished_at = now(), lease_token = null, leased_until = null, last_error_code = null,
                 last_error_message = null, last_error_at = null
             where namespace = $1 and job_id = $2 and lease_token = $3 and status = 'PROCESSING'",
        )
        .bind(job.namespace.as_str())
        .bind(job.job_id.0)
        .bind(job.lease_token)
        .execute(&mut **tx)
        .await?,
    )
}

/// Ends several jobs of a namespace in the transaction that writes their results; gives those whose lease still held. For the
/// others nothing may be written.
pub async fn finish_all(tx: &mut Tx, ns: &Namespace, jobs: &[LeasedJob]) -> Result<Vec<JobId>, StoreError> {
    let finished: Vec<i64> = sqlx::query_scalar(
        "update event_jobs j
         set status = 'DONE', finished_at = now(), lease_token = null, leased_until = null, last_error_code = null,
             last_error_message = null, last_error_at = null
         from unnest($2::bigint[], $3::uuid[]) h (job_id, lease_token)
         where j.namespace = $1 and j.job_id = h.job_id and j.lease_token = h.lease_token and j.status = 'PROCESSING'
         returning j.job_id",
    )
    .bind(ns.as_str())
    .bind(jobs.iter().map(|job| job.job_id.0).collect::<Vec<_>>())
    .bind(jobs.iter().map(|job| job.lease_token).collect::<Vec<_>>())
    .fetch_all(&mut **tx)
    .await?;
    Ok(finished.into_iter().map(JobId).collect())
}

/// Renews the lease in the transaction that writes a part of the results.
pub async fn renew(tx: &mut Tx, job: &LeasedJob, lease: Duration) -> Result<(), StoreError> {
    held(
        &sqlx::query(
            "update event_jobs set leased_until = now() + make_interval(secs => $4)
             where namespace = $1 and job_id = $2 and lease_token = $3 and status = 'PROCESSING'",
        )
        .bind(job.namespace.as_str())
        .bind(job.job_id.0)
        .bind(job.lease_token)
        .bind(lease.as_secs_f64())
        .execute(&mut **tx)
        .await?,
    )
}

/// Makes the job due again after `delay`; an attempt is spent. When another waiting job already covers
/// the same conversation or graph, this one is done.
pub async fn retry(
    conn: &mut Conn,
    job: &LeasedJob,
    fault: impl Into<Fault<'_>>,
    delay: Duration,
) -> Result<(), StoreError> {
    put_back(conn, job, Some(fault.into()), delay, Attempt::Spent).await
}

/// Gives the job back untouched, as a worker does that stops: no attempt is spent.
pub async fn release(conn: &mut Conn, job: &LeasedJob) -> Result<(), StoreError> {
    put_back(conn, job, None, Duration::ZERO, Attempt::Returned).await
}

/// Makes the job wait without spending an attempt, where the reason lies elsewhere: no model, no disk space.
pub async fn snooze(
    conn: &mut Conn,
    job: &LeasedJob,
    fault: impl Into<Fault<'_>>,
    delay: Duration,
) -> Result<(), StoreError> {
    put_back(conn, job, Some(fault.into()), delay, Attempt::Returned).await
}

/// Queues a job that has made progress but is not finished behind the others of its kind. Its attempts start again from 0, and
/// from now on it has the priority of long work. Call it first in the transaction that writes the progress, or on its own.
pub async fn yield_turn(conn: &mut Conn, job: &LeasedJob) -> Result<(), StoreError> {
    put_back(conn, job, None, Duration::ZERO, Attempt::GotOn).await
}

/// What becomes of the attempt that a claim has counted.
#[derive(Debug, Clone, Copy)]
enum Attempt {
    Spent,
    Returned,
    GotOn,
}

async fn put_back(
    conn: &mut Conn,
    job: &LeasedJob,
    fault: Option<Fault<'_>>,
    delay: Duration,
    attempt: Attempt,
) -> Result<(), StoreError> {
    let (spent, priority) = match attempt {
        Attempt::Spent => (Some(1), job.priority),
        Attempt::Returned => (Some(0), job.priority),
        Attempt::GotOn => (None, job.priority.of_long_work()),
    };
    held(
        &sqlx::query(
            "with covered as (
                 select exists (select from event_jobs other
                                where other.namespace = $1 and other.status = 'PENDING'
                                  and other.conversation_id = mine.conversation_id)
                     or exists (select from event_jobs other
                                where other.namespace = $1 and other.status = 'PENDING'
                                  and other.thread_id = mine.thread_id) as by_other
                 from event_jobs mine
                 where mine.namespace = $1 and mine.job_id = $2
             )
             update event_jobs
             set status = case when by_other then 'DONE' else 'PENDING' end,
                 finished_at = case when by_other then now() end,
                 attempts = coalesce(attempts - 1 + $6, 0),
                 run_at = now() + make_interval(secs => $5),
                 lane = $7,
                 last_error_code = case when $6 is null then null else coalesce($4, last_error_code) end,
                 last_error_message = case when $6 is null then null else coalesce($8, last_error_message) end,
                 last_error_at = case when $6 is null then null when $4 is null then last_error_at else now() end,
                 lease_token = null, leased_until = null
             from covered
             where namespace = $1 and job_id = $2 and lease_token = $3 and status = 'PROCESSING'",
        )
        .bind(job.namespace.as_str())
        .bind(job.job_id.0)
        .bind(job.lease_token)
        .bind(fault.map(|fault| fault.code.as_str()))
        .bind(delay.as_secs_f64())
        .bind(spent)
        .bind(priority.number())
        .bind(fault.map(|fault| fault.shown()))
        .execute(conn)
        .await?,
    )
}

/// Ends the job as FAILED with its reason.
pub async fn fail(conn: &mut Conn, job: &LeasedJob, fault: impl Into<Fault<'_>>) -> Result<(), StoreError> {
    let fault = fault.into();
    held(
        &sqlx::query(
            "update event_jobs
             set status = 'FAILED', finished_at = now(), last_error_code = $4, last_error_message = $5,
                 last_error_at = now(), lease_token = null, leased_until = null
             where namespace = $1 and job_id = $2 and lease_token = $3 and status = 'PROCESSING'",
        )
        .bind(job.namespace.as_str())
        .bind(job.job_id.0)
        .bind(job.lease_token)
        .bind(fault.code.as_str())
        .bind(fault.shown())
        .execute(conn)
        .await?,
    )
}

fn held(result: &sqlx::postgres::PgQueryResult) -> Result<(), StoreError> {
    if result.rows_affected() == 1 { Ok(()) } else { Err(StoreError::LeaseLost) }
}

/// Whether any job is due or being done.
pub async fn any_open(conn: &mut Conn) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar(
        "select exists (select from event_jobs where status = 'PROCESSING')
             or exists (select from event_jobs where status = 'PENDING' and run_at <= now() + interval '1 minute')",
    )
    .fetch_one(conn)
    .await?)
}
