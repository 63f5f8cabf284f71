//! One attempt at a job: how long it may take, and what becomes of the job when it fails.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memory_core::job::{ErrorCode, JobKind, LEASE_MARGIN_SECONDS, MAX_ATTEMPTS, backoff_ceiling};
use memory_store::StoreError;
use memory_store::jobs::{self, Fault, JobTarget, LeasedJob};
use rand::RngExt;

use super::JobRunner;
use crate::error::chain;
use crate::measures;

/// How long a job waits while the model is not available.
pub(super) const MODEL_WAIT: Duration = Duration::from_secs(30);
/// How long a job waits while the disk is full.
const DISK_WAIT: Duration = Duration::from_secs(30);
/// How long a job waits while the database is away.
const DATABASE_WAIT: Duration = Duration::from_secs(2);
/// How many leases an extractor in this process may work on one text; the lease is renewed meanwhile.
const EXTRACTION_LEASES: u32 = 4;

/// How an attempt at a job failed, as decided where it failed. The texts are shown to people and hold no content.
#[derive(Debug, Clone)]
pub(crate) enum JobError {
    /// Try again later; an attempt is spent.
    Retry(ErrorCode, String),
    /// Another attempt would fail in the same way.
    Fail(ErrorCode, String),
    /// Not the job's fault: wait, without spending an attempt.
    Wait(ErrorCode, String, Duration),
    /// Its time slice is used up and a part of the work is committed: it is queued again, without spending an attempt.
    Yield,
    /// The job belongs to another worker now, or is gone with its artifact.
    Lost,
}

impl JobError {
    fn measure(&self, job: &LeasedJob, kind: JobKind, took: Duration) {
        let outcome = match self {
            Self::Retry(..) if job.attempts < MAX_ATTEMPTS => "retried",
            Self::Retry(..) | Self::Fail(..) => "failed",
            Self::Wait(..) => "waits",
            Self::Yield => "yielded",
            Self::Lost => "lost",
        };
        measures::attempted(kind, outcome, took);
        if let Self::Retry(code, _) | Self::Fail(code, _) | Self::Wait(code, _, _) = self {
            measures::job_failed(kind, *code);
        }
    }
}

impl From<StoreError> for JobError {
    fn from(error: StoreError) -> Self {
        let summary = error.summary();
        match error {
            StoreError::LeaseLost => Self::Lost,
            StoreError::Unreachable(_) => Self::Wait(ErrorCode::Internal, summary, DATABASE_WAIT),
            StoreError::DiskFull(_) => Self::Wait(ErrorCode::DiskFull, summary, DISK_WAIT),
            other => {
                // The details are for the log alone: they may quote what was to be stored.
                tracing::warn!(error = %chain(&other), "the database refused what a job wrote");
                Self::Retry(ErrorCode::Internal, summary)
            }
        }
    }
}

/// The time that a job has before it yields to others.
pub(super) struct Slice {
    ends: Instant,
    has_got_on: AtomicBool,
}

impl Slice {
    fn of(length: Duration) -> Self {
        Self { ends: Instant::now() + length, has_got_on: AtomicBool::new(false) }
    }

    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.ends
    }

    /// A part of the work is committed.
    pub(super) fn got_on(&self) {
        self.has_got_on.store(true, Ordering::Relaxed);
    }
}

impl JobRunner {
    #[tracing::instrument(skip_all, fields(job.id = %job.job_id, job.kind = %job.target.kind(), namespace = %job.namespace))]
    pub(super) async fn run(&self, job: &LeasedJob) {
        let (begun, kind) = (Instant::now(), job.target.kind());
        let slice = Slice::of(self.settings.slice.min(self.within_lease() / 2));
        let work = async {
            match &job.target {
                JobTarget::Extract(revision_id) => self.extract_revision(job, *revision_id).await,
                JobTarget::ExtractConversation(id) => self.extract_conversation(job, id, &slice).await,
                JobTarget::Embed(revision_id) => self.embed_revision(job, *revision_id, &slice).await,
                JobTarget::IndexGraph(thread_id) => self.index_graph(job, *thread_id, &slice).await,
            }
        };
        let limit = self.time_for(job);
        let error = match tokio::time::timeout(limit, work).await {
            Ok(Ok(())) => {
                let took = begun.elapsed();
                measures::attempted(kind, "done", took);
                tracing::info!(
                    attempt = job.attempts,
                    duration_ms = took.as_millis() as u64,
                    "the job is done"
                );
                return;
            }
            Ok(Err(error)) => error,
            Err(_) if slice.has_got_on.load(Ordering::Relaxed) => JobError::Yield,
            Err(_) => self.timed_out(job, limit),
        };
        error.measure(job, kind, begun.elapsed());
        if matches!(error, JobError::Retry(..)) {
            self.model.leave_removed().await;
        }
        if matches!(error, JobError::Wait(ErrorCode::DiskFull, ..)) {
            self.recovery.note_full_disk();
        }
        // Until the database is back; after the lease the job is claimed again anyway.
        let put_back = async {
            while let Err(error) =
                self.recovery.retry_transient(|| async { Ok(self.settle(job, error.clone()).await?) }).await
            {
                tracing::debug!(error = %chain(&error), "failed to return a failed job to the queue");
                tokio::time::sleep(self.settings.poll_interval).await;
            }
        };
        if tokio::time::timeout(self.settings.lease, put_back).await.is_err() {
            tracing::warn!(
                "failed to return a failed job to the queue; it is claimed again when its lease has ended"
            );
        }
    }

    pub(super) fn within_lease(&self) -> Duration {
        let margin = Duration::from_secs(LEASE_MARGIN_SECONDS).min(self.settings.lease / 2);
        self.settings.lease.saturating_sub(margin)
    }

    /// How long an attempt may take: less than its lease, or longer where its lease is renewed meanwhile.
    fn time_for(&self, job: &LeasedJob) -> Duration {
        match &job.target {
            JobTarget::Extract(_) | JobTarget::ExtractConversation(_) => {
                let in_process = self.settings.lease * EXTRACTION_LEASES;
                self.extractor.patience().unwrap_or(in_process).max(self.within_lease())
            }
            JobTarget::Embed(_) | JobTarget::IndexGraph(_) => self.within_lease(),
        }
    }

    fn timed_out(&self, job: &LeasedJob, limit: Duration) -> JobError {
        let reason = format!("it was not done after {} s and had not got on", limit.as_secs());
        match &job.target {
            // It cannot be cancelled: another attempt would run beside it, and take as long.
            JobTarget::Extract(_) | JobTarget::ExtractConversation(_)
                if self.extractor.patience().is_none() =>
            {
                JobError::Fail(ErrorCode::TimedOut, reason)
            }
            _ => JobError::Retry(ErrorCode::TimedOut, reason),
        }
    }

    async fn settle(&self, job: &LeasedJob, error: JobError) -> Result<(), StoreError> {
        let mut conn = match &error {
            JobError::Lost => {
                tracing::info!("the job is gone or belongs to another worker; nothing was written");
                return Ok(());
            }
            _ => self.store.acquire(&job.namespace).await?,
        };
        let settled = match &error {
            JobError::Lost => Ok(()),
            JobError::Yield => jobs::yield_turn(&mut conn, job).await,
            JobError::Wait(code, message, delay) => {
                jobs::snooze(&mut conn, job, Fault { code: *code, message }, *delay).await
            }
            JobError::Retry(code, message) if job.attempts < MAX_ATTEMPTS => {
                let ceiling = backoff_ceiling(job.attempts).as_secs_f64();
                let delay = Duration::from_secs_f64(rand::rng().random_range(0.0..=ceiling));
                tracing::warn!(%code, reason = message, attempt = job.attempts, "the job will be tried again");
                jobs::retry(&mut conn, job, Fault { code: *code, message }, delay).await
            }
            JobError::Fail(code, message) | JobError::Retry(code, message) => {
                tracing::error!(%code, reason = message, "the job failed for good");
                jobs::fail(&mut conn, job, Fault { code: *code, message }).await
            }
        };
        match settled {
            Err(StoreError::LeaseLost) => Ok(()),
            other => other,
        }
    }
}
