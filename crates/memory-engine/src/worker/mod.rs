//! The event worker: claims jobs as it has hands free, does them within their lease, and stops cleanly.

mod embed;
mod extract;
mod index_graph;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use memory_core::id::JobId;
use memory_core::job::{ErrorCode, LEASE_MARGIN_SECONDS, MAX_ATTEMPTS, backoff_ceiling};
use memory_store::jobs::{self, JobTarget, LeasedJob, Turns};
use memory_store::{Hints, StoreError, Topic};
use rand::RngExt;
use tokio::task::{self, AbortHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::memory::chain;
use crate::{EngineError, Memory};

/// How often a worker says that it is alive.
const BEAT_INTERVAL: Duration = Duration::from_secs(15);
/// How often it is asked whether the jobs under way still belong to the worker.
const LEASES_INTERVAL: Duration = Duration::from_secs(1);
/// How long until ended jobs are swept, how often from then on, and for how long they are kept.
const FIRST_SWEEP: Duration = Duration::from_secs(60);
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

/// What a worker has under way.
#[derive(Default)]
struct Hands {
    running: JoinSet<()>,
    held: HashMap<task::Id, (LeasedJob, AbortHandle)>,
}

impl Hands {
    fn take(&mut self, memory: &Arc<Memory>, job: LeasedJob) {
        let (memory, mine) = (Arc::clone(memory), job.clone());
        let handle = self.running.spawn(async move { memory.do_job(&mine).await });
        self.held.insert(handle.id(), (job, handle));
    }

    /// How many more jobs it may have: none beside one that is to be done alone.
    fn free(&self, concurrency: usize) -> usize {
        let is_alone = self.held.values().any(|(job, _)| job.is_suspect);
        if is_alone { 0 } else { concurrency.saturating_sub(self.held.len()) }
    }

    /// Waits for a job to end; `None` when there is none.
    async fn ended(&mut self) -> Option<()> {
        let ended = self.running.join_next_with_id().await?;
        let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
        self.held.remove(&id);
        Some(())
    }

    fn jobs(&self) -> Vec<LeasedJob> {
        self.held.values().map(|(job, _)| job.clone()).collect()
    }

    /// Stops waiting for these jobs; what they write is rolled back.
    fn drop_jobs(&self, lost: &[JobId]) {
        for (job, handle) in self.held.values().filter(|(job, _)| lost.contains(&job.job_id)) {
            tracing::info!(job = %job.job_id, ns = %job.namespace, "the job was taken away; nothing is written");
            handle.abort();
        }
    }
}

/// When things that a worker does besides jobs are due.
struct Due {
    beat: Instant,
    sweep: Instant,
    leases: Instant,
}

impl Worker {
    pub fn new(memory: Arc<Memory>) -> Self {
        Self { memory, worker_id: uuid::Uuid::new_v4() }
    }

    /// Works until told to stop; then finishes what it can in three seconds and gives the rest back.
    pub async fn run(&self, stop: CancellationToken) {
        let mut hands = Hands::default();
        let mut turns = Turns::default();
        let mut hints = None;
        let mirroring = tokio::spawn({
            let (memory, stop) = (Arc::clone(&self.memory), stop.clone());
            async move { memory.keep_mirror(&stop).await }
        });
        let mut is_cut_off = false;
        let now = Instant::now();
        let mut due = Due { beat: now, sweep: now + FIRST_SWEEP, leases: now + LEASES_INTERVAL };
        while !stop.is_cancelled() {
            self.see_to(&mut due, &hands).await;
            if hints.is_none() {
                hints = self.memory.store.listen_for(Topic::Jobs).await.ok();
            }
            let claimed = self.claim(&hands, &mut turns).await;
            Self::tell_whether_cut_off(claimed.as_ref().err(), &mut is_cut_off);
            let claimed = claimed.unwrap_or_default();
            let has_more = !claimed.is_empty();
            for job in claimed {
                hands.take(&self.memory, job);
            }
            self.rest(&mut hands, &mut hints, &mut due, has_more, &stop).await;
        }
        self.drain(hands).await;
        let _ = mirroring.await;
    }

    async fn see_to(&self, due: &mut Due, hands: &Hands) {
        let now = Instant::now();
        if now >= due.beat {
            due.beat = now + BEAT_INTERVAL;
            self.beat().await;
        }
        if now >= due.sweep {
            due.sweep = now + SWEEP_INTERVAL;
            self.sweep().await;
        }
        if now >= due.leases && !hands.held.is_empty() {
            due.leases = now + LEASES_INTERVAL;
            let asked = async {
                let mut conn = self.memory.store.acquire().await?;
                jobs::lost_leases(&mut conn, &hands.jobs()).await
            };
            // Who cannot ask goes on: without its lease nothing is written anyway.
            hands.drop_jobs(&asked.await.unwrap_or_default());
        }
    }

    async fn claim(&self, hands: &Hands, turns: &mut Turns) -> Result<Vec<LeasedJob>, StoreError> {
        let settings = &self.memory.settings;
        let free = hands.free(settings.concurrency);
        if free == 0 {
            return Ok(Vec::new());
        }
        let mut conn = self.memory.store.acquire().await?;
        jobs::claim_in_turn(&mut conn, turns, settings.lease, free, hands.held.is_empty()).await
    }

    /// Once when it begins and once when it ends, however often it is tried between.
    fn tell_whether_cut_off(error: Option<&StoreError>, is_cut_off: &mut bool) {
        match error {
            Some(error) if !*is_cut_off => {
                tracing::warn!(error = %chain(error), "no jobs can be claimed; trying on");
            }
            None if *is_cut_off => tracing::info!("jobs can be claimed again"),
            _ => {}
        }
        *is_cut_off = error.is_some();
    }

    /// Waits for something to change: a job that ends, a hint, the poll interval, or the order to stop.
    async fn rest(
        &self,
        hands: &mut Hands,
        hints: &mut Option<Hints>,
        due: &mut Due,
        has_more: bool,
        stop: &CancellationToken,
    ) {
        if has_more && hands.free(self.memory.settings.concurrency) > 0 {
            return;
        }
        let hint = async {
            match hints {
                Some(listening) => listening.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            Some(()) = hands.ended() => {}
            () = self.memory.jobs_were_queued() => due.leases = Instant::now(),
            heard = hint => {
                due.leases = Instant::now();
                if heard.is_err() {
                    *hints = None;
                }
            }
            () = tokio::time::sleep(self.memory.settings.poll_interval) => {}
        }
    }

    async fn drain(&self, mut hands: Hands) {
        let finished = tokio::time::timeout(DRAIN_TIMEOUT, async { while hands.ended().await.is_some() {} });
        if finished.await.is_err() {
            // A task that is dropped rolls its transaction back.
            hands.running.shutdown().await;
        }
        let Ok(mut conn) = self.memory.store.acquire().await else { return };
        for job in hands.jobs() {
            // Fails for a job that has ended after all, and that is right.
            let _ = jobs::release(&mut conn, &job).await;
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
            let mut swept = 0;
            loop {
                let now = jobs::sweep(&mut conn, ENDED_JOBS_KEPT_DAYS).await?;
                swept += now;
                if now < jobs::SWEPT_AT_ONCE {
                    return Ok::<u64, StoreError>(swept);
                }
            }
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
        // While the database is away there is nothing else to do; after the lease the job is claimed again anyway.
        let put_back = async {
            while let Err(error) = self.persist(|| async { Ok(self.settle(job, error.clone()).await?) }).await
            {
                tracing::debug!(error = %chain(&error), "a failed job could not be put back");
                tokio::time::sleep(self.settings.poll_interval).await;
            }
        };
        if tokio::time::timeout(self.settings.lease, put_back).await.is_err() {
            tracing::warn!(
                "a failed job could not be put back; it is claimed again when its lease has ended"
            );
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
