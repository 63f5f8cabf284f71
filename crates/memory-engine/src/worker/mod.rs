//! The event worker: claims jobs as it has hands free, does them within their lease, and stops cleanly.

mod embed;
mod extract;
mod index_graph;

use std::sync::Arc;
use std::time::Duration;

use memory_core::id::JobId;
use memory_core::job::{ErrorCode, LEASE_MARGIN_SECONDS, MAX_ATTEMPTS, backoff_ceiling};
use memory_store::jobs::{self, JobTarget, LeasedJob};
use memory_store::{Hints, StoreError, Topic};
use rand::RngExt;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::memory::chain;
use crate::{EngineError, Memory};

/// How often a worker says that it is alive.
const BEAT_INTERVAL: Duration = Duration::from_secs(15);
/// How often ended jobs are swept, and for how long they are kept.
const SWEEP_INTERVAL: Duration = Duration::from_secs(3600);
const ENDED_JOBS_KEPT_DAYS: i32 = 14;
/// How long a stopping worker lets its jobs finish before it gives them back.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a job waits whose model is not there.
const MODEL_WAIT: Duration = Duration::from_secs(30);

/// How an attempt at a job failed, decided by who saw it fail.
#[derive(Debug, Clone)]
pub(crate) enum JobError {
    /// Try again later; an attempt is spent.
    Retry(ErrorCode, String),
    /// No other try would end otherwise.
    Fail(ErrorCode, String),
    /// Not the job's fault: wait, spend nothing.
    Wait(ErrorCode, Duration),
    /// The job belongs to another worker now, or is gone with its artifact.
    Lost,
}

impl From<StoreError> for JobError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::LeaseLost => Self::Lost,
            StoreError::Unreachable(_) => Self::Wait(ErrorCode::Internal, Duration::from_secs(2)),
            other => Self::Retry(ErrorCode::Internal, chain(&other)),
        }
    }
}

pub struct Worker {
    memory: Arc<Memory>,
    worker_id: uuid::Uuid,
}

impl Worker {
    pub fn new(memory: Arc<Memory>) -> Self {
        Self { memory, worker_id: uuid::Uuid::new_v4() }
    }

    /// Works until told to stop; then finishes what it can in three seconds and gives the rest back.
    pub async fn run(&self, stop: CancellationToken) {
        let mut running = JoinSet::new();
        let mut held: Vec<LeasedJob> = Vec::new();
        let mut hints = None;
        let mut next_beat = Instant::now();
        let mut next_sweep = Instant::now() + SWEEP_INTERVAL;
        let mirroring = tokio::spawn({
            let (memory, stop) = (Arc::clone(&self.memory), stop.clone());
            async move { memory.keep_mirror(&stop).await }
        });
        while !stop.is_cancelled() {
            if Instant::now() >= next_beat {
                self.beat().await;
                next_beat = Instant::now() + BEAT_INTERVAL;
            }
            if Instant::now() >= next_sweep {
                self.sweep().await;
                next_sweep = Instant::now() + SWEEP_INTERVAL;
            }
            if hints.is_none() {
                hints = self.memory.store.listen_for(Topic::Jobs).await.ok();
            }
            let claimed = self.claim(running.len()).await;
            let has_more = !claimed.is_empty();
            for job in claimed {
                let memory = Arc::clone(&self.memory);
                held.push(job.clone());
                running.spawn(async move {
                    memory.do_job(&job).await;
                    job.job_id
                });
            }
            if let Some(done) = self.rest(&mut running, &mut hints, has_more, &stop).await {
                held.retain(|job| job.job_id != done);
            }
        }
        self.drain(running, held).await;
        let _ = mirroring.await;
    }

    async fn claim(&self, running: usize) -> Vec<LeasedJob> {
        let free = self.memory.settings.concurrency.saturating_sub(running);
        if free == 0 {
            return Vec::new();
        }
        let claimed = async {
            let mut conn = self.memory.store.acquire().await?;
            jobs::claim(&mut conn, self.memory.settings.lease, free as i64).await
        };
        claimed.await.unwrap_or_else(|error| {
            tracing::warn!(error = %chain(&error), "no jobs could be claimed");
            Vec::new()
        })
    }

    /// Waits for something to change: a job that ends, a hint, the poll interval, or the order to stop.
    async fn rest(
        &self,
        running: &mut JoinSet<JobId>,
        hints: &mut Option<Hints>,
        has_more: bool,
        stop: &CancellationToken,
    ) -> Option<JobId> {
        let has_free_hands = running.len() < self.memory.settings.concurrency;
        if has_more && has_free_hands {
            return None;
        }
        let hint = async {
            match hints {
                Some(listening) => listening.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            Some(done) = running.join_next() => return done.ok(),
            () = self.memory.jobs_were_queued(), if has_free_hands => {}
            heard = hint, if has_free_hands => if heard.is_err() { *hints = None },
            () = tokio::time::sleep(self.memory.settings.poll_interval) => {}
        }
        None
    }

    async fn drain(&self, mut running: JoinSet<JobId>, mut held: Vec<LeasedJob>) {
        let finished = tokio::time::timeout(DRAIN_TIMEOUT, async {
            while let Some(done) = running.join_next().await {
                held.retain(|job| !done.as_ref().is_ok_and(|id| *id == job.job_id));
            }
        });
        if finished.await.is_err() {
            // A task that is dropped rolls its transaction back.
            running.shutdown().await;
        }
        let Ok(mut conn) = self.memory.store.acquire().await else { return };
        for job in &held {
            // Fails for a job that has ended after all, and that is right.
            let _ = jobs::release(&mut conn, job).await;
        }
        let _ = jobs::sign_off(&mut conn, self.worker_id).await;
    }

    /// Says that the worker is alive.
    pub async fn beat(&self) {
        let beaten = async {
            let mut conn = self.memory.store.acquire().await?;
            jobs::beat(&mut conn, self.worker_id).await
        };
        if let Err(error) = beaten.await {
            tracing::warn!(error = %chain(&error), "the worker could not report itself");
        }
    }

    async fn sweep(&self) {
        let swept = async {
            let mut conn = self.memory.store.acquire().await?;
            jobs::sweep(&mut conn, ENDED_JOBS_KEPT_DAYS).await
        };
        match swept.await {
            Ok(0) => {}
            Ok(jobs) => tracing::info!(jobs, "old jobs were deleted"),
            Err(error) => tracing::warn!(error = %chain(&error), "old jobs could not be deleted"),
        }
    }
}

impl Memory {
    /// Whether a job is being done or will be due within a minute.
    pub async fn has_due_jobs(&self) -> Result<bool, EngineError> {
        let mut conn = self.store.acquire().await?;
        Ok(jobs::any_open(&mut conn).await?)
    }

    /// Takes up what a killed worker has left; for the only worker of a database.
    pub async fn expire_leases(&self) -> Result<(), EngineError> {
        Ok(jobs::expire_leases(&mut *self.store.acquire().await?).await?)
    }

    /// Does every job that is due, one after the other; gives how many. Makes a test or a command that
    /// must not end before the work is done independent of time.
    pub async fn drain_jobs(&self) -> Result<usize, EngineError> {
        let mut done = 0;
        loop {
            let mut conn = self.store.acquire().await?;
            let claimed = jobs::claim(&mut conn, self.settings.lease, 8).await?;
            drop(conn);
            if claimed.is_empty() {
                return Ok(done);
            }
            for job in claimed {
                self.do_job(&job).await;
                done += 1;
            }
        }
    }

    #[tracing::instrument(skip_all, fields(job = %job.job_id, ns = %job.namespace))]
    async fn do_job(&self, job: &LeasedJob) {
        let work = async {
            match &job.target {
                JobTarget::Extract(revision_id) => self.extract_revision(job, *revision_id).await,
                JobTarget::ExtractConversation(id) => self.extract_conversation(job, id).await,
                JobTarget::Embed(revision_id) => self.embed_revision(job, *revision_id).await,
                JobTarget::IndexGraph(thread_id) => self.index_graph(job, *thread_id).await,
            }
        };
        let error = match tokio::time::timeout(self.time_for(job), work).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error,
            Err(_) => JobError::Retry(ErrorCode::Internal, "it took longer than it may".to_owned()),
        };
        if matches!(error, JobError::Retry(..)) {
            self.leave_removed_model().await;
        }
        let put_back = self.persist(|| async { Ok(self.settle(job, error.clone()).await?) });
        if let Err(error) = put_back.await {
            // The lease runs out and the job is claimed again.
            tracing::warn!(error = %chain(&error), "a failed job could not be put back");
        }
    }

    /// How long a job may take: less than its lease, or what the extractor asks for, since its lease is renewed then.
    fn time_for(&self, job: &LeasedJob) -> Duration {
        let margin = Duration::from_secs(LEASE_MARGIN_SECONDS).min(self.settings.lease / 2);
        let within_lease = self.settings.lease.saturating_sub(margin);
        match &job.target {
            JobTarget::Extract(_) | JobTarget::ExtractConversation(_) => {
                self.extractor.patience().unwrap_or_default().max(within_lease)
            }
            JobTarget::Embed(_) | JobTarget::IndexGraph(_) => within_lease,
        }
    }

    async fn settle(&self, job: &LeasedJob, error: JobError) -> Result<(), StoreError> {
        let settled = match error {
            JobError::Lost => {
                tracing::info!("the job is gone or belongs to another worker; nothing was written");
                return Ok(());
            }
            JobError::Wait(code, delay) => {
                let mut conn = self.store.acquire().await?;
                jobs::snooze(&mut conn, job, code, delay).await
            }
            JobError::Fail(code, reason) => {
                tracing::error!(%code, reason, "the job failed for good");
                let mut conn = self.store.acquire().await?;
                jobs::fail(&mut conn, job, code).await
            }
            JobError::Retry(code, reason) if job.attempts >= MAX_ATTEMPTS => {
                tracing::error!(%code, reason, "the job failed for good");
                let mut conn = self.store.acquire().await?;
                jobs::fail(&mut conn, job, code).await
            }
            JobError::Retry(code, reason) => {
                let ceiling = backoff_ceiling(job.attempts).as_secs_f64();
                let delay = Duration::from_secs_f64(rand::rng().random_range(0.0..=ceiling));
                tracing::warn!(%code, reason, attempt = job.attempts, "the job will be tried again");
                let mut conn = self.store.acquire().await?;
                jobs::retry(&mut conn, job, code, delay).await
            }
        };
        match settled {
            Err(StoreError::LeaseLost) => Ok(()),
            other => other,
        }
    }
}
