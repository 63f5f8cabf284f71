//! Which jobs a worker gets: by priority, namespace, kind and age, each for the length of a lease.

use std::collections::HashMap;
use std::time::Duration;

use memory_core::fair_shares::{FairShares, Use};
use memory_core::id::{JobId, Namespace, RevisionId};
use memory_core::job::{JobKind, MAX_ATTEMPTS, Priority};
use sqlx::Row;
use uuid::Uuid;

use super::{JobTarget, LeasedJob};
use crate::{Conn, StoreError};

/// How many jobs are claimed at once at most.
const CLAIM_MAX: usize = 64;

/// The least cost that a job is counted with, in seconds: jobs that cost nothing would keep the turn forever.
const COST_MIN: f64 = 0.001;
/// The weight of the last job's cost in the moving average that is expected of its priority.
const LAST_JOB_COUNTS: f64 = 0.2;

/// Which priority, and in each priority which namespace and kind of job, one claimer serves next: whoever has had least of its
/// time, as [`FairScheduler::ended`] reports it.
#[derive(Debug)]
pub struct FairScheduler {
    worker_id: Option<Uuid>,
    priorities: FairShares<Priority>,
    by_priority: [OfPriority; Priority::ALL.len()],
    running: HashMap<JobId, Running>,
}

/// The namespaces and kinds of a priority.
#[derive(Debug)]
struct OfPriority {
    shares: FairShares<(Namespace, JobKind)>,
    /// The namespace last served; of those that have had the same the one after it is next.
    last_served: String,
    /// How long a job takes, in seconds.
    expected: f64,
}

/// What a job that was claimed is counted with.
#[derive(Debug)]
struct Running {
    priority: Priority,
    weight: f64,
    of_priority: Use<Priority>,
    of_kind: Use<(Namespace, JobKind)>,
}

impl Default for FairScheduler {
    fn default() -> Self {
        let by_priority = std::array::from_fn(|n| OfPriority {
            shares: FairShares::default(),
            last_served: String::new(),
            expected: Priority::ALL[n].expected_seconds(),
        });
        Self { worker_id: None, priorities: FairShares::default(), by_priority, running: HashMap::new() }
    }
}

impl FairScheduler {
    /// Of a worker, which is recorded in the jobs that it claims: see [`release_unheld`].
    pub fn of(worker_id: Uuid) -> Self {
        Self { worker_id: Some(worker_id), ..Self::default() }
    }

    /// Counts a job that was claimed in its turn as long as it is expected to take.
    fn began(&mut self, job: &LeasedJob, priority: Priority, has_bulk_aged: bool) {
        let (weight, own) = (priority.weight(has_bulk_aged), &mut self.by_priority[priority as usize]);
        job.namespace.as_str().clone_into(&mut own.last_served);
        let of_priority = self.priorities.begin(priority, own.expected / weight);
        let of_kind = own.shares.begin((job.namespace.clone(), job.target.kind()), own.expected);
        self.running.insert(job.job_id, Running { priority, weight, of_priority, of_kind });
    }

    /// Counts how long a job really took. To be called once for each job that was claimed, however it ended.
    pub fn ended(&mut self, job: &LeasedJob, took: Duration) {
        let Some(Running { priority, weight, of_priority, of_kind }) = self.running.remove(&job.job_id)
        else {
            return;
        };
        let cost = took.as_secs_f64().max(COST_MIN);
        let own = &mut self.by_priority[priority as usize];
        self.priorities.finish(of_priority, cost / weight);
        own.shares.finish(of_kind, cost);
        own.expected += (cost - own.expected) * LAST_JOB_COUNTS;
    }

    /// By priority.
    fn each<T>(&self, value: impl Fn(Priority, &OfPriority) -> T) -> Vec<T> {
        Priority::ALL.iter().zip(&self.by_priority).map(|(priority, own)| value(*priority, own)).collect()
    }
}

/// Leases up to `limit` due jobs for a claimer that has nothing else in hand and comes for the first time.
pub async fn claim(conn: &mut Conn, lease: Duration, limit: i64) -> Result<Vec<LeasedJob>, StoreError> {
    let limit = usize::try_from(limit).unwrap_or_default();
    claim_in_turn(conn, &mut FairScheduler::default(), lease, limit, true).await
}

/// Leases up to `limit` due jobs, best first. A job that has lost its worker in its last attempt ends here as FAILED; one
/// that was lost twice is given alone, to a claimer that `is_free` of other jobs.
pub async fn claim_in_turn(
    conn: &mut Conn,
    scheduler: &mut FairScheduler,
    lease: Duration,
    limit: usize,
    is_free: bool,
) -> Result<Vec<LeasedJob>, StoreError> {
    claim_of(conn, scheduler, lease, limit, is_free, Priority::ALL).await
}

/// The same of short work alone: it fills places that are kept free of long work.
pub async fn claim_short(
    conn: &mut Conn,
    scheduler: &mut FairScheduler,
    lease: Duration,
    limit: usize,
) -> Result<Vec<LeasedJob>, StoreError> {
    let short: Vec<Priority> = Priority::ALL.iter().copied().filter(|priority| !priority.is_long()).collect();
    claim_of(conn, scheduler, lease, limit, false, &short).await
}

/// Leases up to `limit` further jobs like one that was claimed in its turn: of its namespace, kind and priority, and due for the
/// first time, oldest first. They are counted with it.
pub async fn claim_with(
    conn: &mut Conn,
    scheduler: &mut FairScheduler,
    lease: Duration,
    job: &LeasedJob,
    limit: usize,
) -> Result<Vec<LeasedJob>, StoreError> {
    let rows = sqlx::query(
        "update event_jobs j
         set status = 'PROCESSING', lease_token = gen_random_uuid(), leased_until = now() + make_interval(secs => $4),
             attempts = 1, worker_id = $5
         from (select namespace, job_id from event_jobs
               where status = 'PENDING' and lane = $2 and namespace = $1 and kind = $3 and run_at <= now() and attempts = 0
               order by run_at, job_id
               limit $6
               for update skip locked) due
         where j.namespace = due.namespace and j.job_id = due.job_id
         returning j.namespace, j.job_id, j.kind, j.revision_id, j.conversation_id, j.thread_id, j.attempts, j.lease_token,
             j.lane as own_lane, j.lane",
    )
    .bind(job.namespace.as_str())
    .bind(job.priority.number())
    .bind(job.target.kind().as_str())
    .bind(lease.as_secs_f64())
    .bind(scheduler.worker_id)
    .bind(limit as i64)
    .fetch_all(conn)
    .await?;
    let mut jobs = rows.iter().map(leased).collect::<Result<Vec<LeasedJob>, _>>()?;
    jobs.sort_by_key(|job| job.job_id.0);
    for more in &jobs {
        scheduler.began(more, job.priority, false);
    }
    Ok(jobs)
}

async fn claim_of(
    conn: &mut Conn,
    scheduler: &mut FairScheduler,
    lease: Duration,
    limit: usize,
    is_free: bool,
    of: &[Priority],
) -> Result<Vec<LeasedJob>, StoreError> {
    let limit = limit.min(CLAIM_MAX);
    let mut ahead: (Vec<i16>, Vec<&str>, Vec<&str>, Vec<f64>) = Default::default();
    for (priority, own) in Priority::ALL.iter().zip(&scheduler.by_priority) {
        for ((namespace, kind), seconds) in own.shares.all_ahead() {
            ahead.0.push(priority.number());
            ahead.1.push(namespace.as_str());
            ahead.2.push(kind.as_str());
            ahead.3.push(seconds);
        }
    }
    let rows = sqlx::query(include_str!("../sql/claim_jobs.sql"))
        .bind(limit as i64)
        .bind(lease.as_secs_f64())
        .bind(MAX_ATTEMPTS)
        .bind(is_free)
        .bind(scheduler.each(|priority, _| scheduler.priorities.ahead(&priority)))
        .bind(scheduler.each(|priority, own| own.expected / priority.weight(false)))
        .bind(scheduler.each(|priority, own| own.expected / priority.weight(true)))
        .bind(scheduler.each(|_, own| own.expected))
        .bind(scheduler.each(|_, own| own.last_served.clone()))
        .bind(of.iter().map(|priority| priority.number()).collect::<Vec<i16>>())
        .bind(scheduler.worker_id)
        .bind(ahead.0)
        .bind(ahead.1)
        .bind(ahead.2)
        .bind(ahead.3)
        .fetch_all(conn)
        .await?;
    let mut jobs = Vec::with_capacity(rows.len());
    for row in rows {
        let job = leased(&row)?;
        // In the order of the turns: the last one of a priority is where it goes on.
        if let Some(priority) = row.try_get::<Option<i16>, _>("lane")?.and_then(Priority::of_number) {
            scheduler.began(&job, priority, row.try_get("has_bulk_aged")?);
        }
        jobs.push(job);
    }
    Ok(jobs)
}

fn leased(row: &sqlx::postgres::PgRow) -> Result<LeasedJob, StoreError> {
    let kind: String = row.try_get("kind")?;
    let revision_id: Option<i64> = row.try_get("revision_id")?;
    let conversation_id: Option<String> = row.try_get("conversation_id")?;
    let thread_id: Option<i64> = row.try_get("thread_id")?;
    let target = match (JobKind::parse(&kind), revision_id, conversation_id, thread_id) {
        (Some(JobKind::Extract), Some(id), ..) => JobTarget::Extract(RevisionId(id)),
        (Some(JobKind::Embed), Some(id), ..) => JobTarget::Embed(RevisionId(id)),
        (Some(JobKind::ExtractConversation), _, Some(id), _) => JobTarget::ExtractConversation(id),
        (Some(JobKind::IndexGraph), .., Some(id)) => JobTarget::IndexGraph(id),
        _ => return Err(StoreError::Unsuitable(format!("a job has the unknown kind {kind}"))),
    };
    let namespace: String = row.try_get("namespace")?;
    let attempts = row.try_get("attempts")?;
    Ok(LeasedJob {
        namespace: Namespace::new(&namespace).map_err(|e| StoreError::Unsuitable(e.0))?,
        job_id: JobId(row.try_get("job_id")?),
        target,
        priority: Priority::of_number(row.try_get("own_lane")?).unwrap_or(Priority::Large),
        attempts,
        is_suspect: attempts > 2 && row.try_get::<Option<i16>, _>("lane")?.is_none(),
        lease_token: row.try_get("lease_token")?,
    })
}

/// Which of these jobs their holder has lost: taken over by another, cancelled, or gone with their target. Those that it has
/// itself just ended or put back are not among them.
pub async fn lost_leases(conn: &mut Conn, held: &[LeasedJob]) -> Result<Vec<JobId>, StoreError> {
    let namespaces: Vec<&str> = held.iter().map(|job| job.namespace.as_str()).collect();
    let ids: Vec<i64> = held.iter().map(|job| job.job_id.0).collect();
    let tokens: Vec<Uuid> = held.iter().map(|job| job.lease_token).collect();
    let lost: Vec<i64> = sqlx::query_scalar(
        "select h.job_id
         from unnest($1::text[], $2::bigint[], $3::uuid[]) h (namespace, job_id, lease_token)
         left join event_jobs j on j.namespace = h.namespace and j.job_id = h.job_id
         where j.job_id is null or j.status = 'FAILED' or j.lease_token <> h.lease_token",
    )
    .bind(namespaces)
    .bind(ids)
    .bind(tokens)
    .fetch_all(conn)
    .await?;
    Ok(lost.into_iter().map(JobId).collect())
}

/// Ends the leases of jobs that this worker has claimed and does not hold, since the answer to its claim was lost: they can
/// be claimed at once, and no attempt is spent.
pub async fn release_unheld(conn: &mut Conn, worker_id: Uuid, held: &[LeasedJob]) -> Result<u64, StoreError> {
    let tokens: Vec<Uuid> = held.iter().map(|job| job.lease_token).collect();
    let ended = sqlx::query(
        "update event_jobs
         set leased_until = now(), attempts = greatest(attempts - 1, 0)
         where status = 'PROCESSING' and leased_until > now() and worker_id = $1 and lease_token <> all($2)",
    )
    .bind(worker_id)
    .bind(tokens)
    .execute(conn)
    .await?;
    Ok(ended.rows_affected())
}
