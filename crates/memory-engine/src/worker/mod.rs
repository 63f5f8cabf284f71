//! The event worker: claims as many jobs as it may run, does them within their lease, and stops cleanly.

mod attempt;
mod batch;
mod embed;
mod extract;
mod index_graph;
mod runner;
mod running_jobs;

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use memory_store::jobs::{self, FairScheduler, LeasedJob};
use memory_store::{Hints, Store, StoreError, Topic, feed, search};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(crate) use self::batch::Turns;
pub use self::runner::JobRunner;
use self::running_jobs::RunningJobs;
use crate::Memory;
use crate::error::chain;
use crate::mirror::VectorMirror;
use crate::push::Push;
use crate::recovery::Recovery;
use crate::resident::CHANGES_KEPT_DAYS;
use crate::settings::EngineSettings;
use crate::signals::Signals;

/// How often a worker writes its heartbeat.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);
/// How often the leases of running jobs are checked.
const LEASES_INTERVAL: Duration = Duration::from_secs(1);
/// How long until ended jobs are first deleted, how often from then on, and for how long they are kept.
const FIRST_SWEEP: Duration = Duration::from_secs(60);
const SWEEP_INTERVAL: Duration = Duration::from_secs(3600);
const ENDED_JOBS_KEPT_DAYS: i32 = 14;
/// How long a stopping worker lets its jobs finish before it releases them.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);
/// By how much the database's clock may lag behind this process' before it counts as set back.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(30);

/// A worker that is registered in the database while it runs.
pub struct Worker {
    store: Store,
    recovery: Recovery,
    settings: Arc<EngineSettings>,
    signals: Signals,
    mirror: Option<VectorMirror>,
    push: Push,
    runner: Arc<JobRunner>,
    worker_id: uuid::Uuid,
}

/// When the maintenance that a worker does beside jobs is due.
struct Due {
    heartbeat: Instant,
    sweep: Instant,
    leases: Instant,
    /// The time of the database at the last heartbeat, in seconds, and when that was.
    clock: Option<(Instant, f64)>,
}

impl Worker {
    pub fn new(memory: &Memory) -> Self {
        Self {
            store: memory.store.clone(),
            recovery: memory.recovery.clone(),
            settings: Arc::clone(&memory.settings),
            signals: memory.signals.clone(),
            mirror: memory.mirror.clone(),
            push: memory.push(),
            runner: Arc::new(memory.job_runner()),
            worker_id: uuid::Uuid::new_v4(),
        }
    }

    /// Works until `stop`; then finishes what it can in three seconds and releases the rest.
    pub fn run(&self, stop: CancellationToken) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut running = RunningJobs::default();
            let mut scheduler = FairScheduler::of(self.worker_id);
            let mut hints = None;
            let mirroring = tokio::spawn({
                let (mirror, stop) = (self.mirror.clone(), stop.clone());
                async move {
                    if let Some(mirror) = mirror {
                        mirror.keep_up_to_date(&stop).await;
                    }
                }
            });
            let pushing = tokio::spawn({
                let (push, stop) = (self.push.clone(), stop.clone());
                async move { push.keep_sending(&stop).await }
            });
            let mut is_failing = false;
            // More waits than is done at once.
            let mut is_behind = false;
            let now = Instant::now();
            let mut due =
                Due { heartbeat: now, sweep: now + FIRST_SWEEP, leases: now + LEASES_INTERVAL, clock: None };
            self.mend_clock().await;
            while !stop.is_cancelled() {
                self.run_maintenance(&mut due, &running).await;
                if hints.is_none() {
                    hints = self.store.listen_for(Topic::Jobs).await.ok();
                }
                if !is_behind {
                    tokio::select! {
                        () = stop.cancelled() => break,
                        () = self.signals.calm() => {}
                    }
                }
                let claimed = self.claim(&running, &mut scheduler).await;
                if is_failing && claimed.is_ok() {
                    // Claims that were committed, but whose answers were lost.
                    let claimed = claimed.as_ref().map(|claimed| claimed.concat()).unwrap_or_default();
                    self.release_unheld(&running, &claimed).await;
                }
                if matches!(claimed, Err(StoreError::DiskFull(_))) {
                    self.recovery.note_full_disk();
                }
                Self::log_claim_state_change(claimed.as_ref().err(), &mut is_failing);
                let claimed = claimed.unwrap_or_default();
                let has_more = !claimed.is_empty();
                is_behind = claimed.iter().any(|jobs| jobs.len() == batch::JOBS_MAX);
                for jobs in claimed {
                    running.start(&self.runner, jobs);
                }
                let ended = self.wait_for_work(&mut running, &mut hints, &mut due, has_more, &stop).await;
                let (ended, each) = ended.unwrap_or_default();
                for job in &ended {
                    scheduler.ended(job, each);
                }
            }
            self.drain(running).await;
            let _ = tokio::join!(mirroring, pushing);
        })
    }

    async fn run_maintenance(&self, due: &mut Due, running: &RunningJobs) {
        let now = Instant::now();
        if now >= due.heartbeat {
            due.heartbeat = now + HEARTBEAT_INTERVAL;
            let clock = self.heartbeat().await.map(|seconds| (Instant::now(), seconds));
            if was_set_back(due.clock, clock) {
                tracing::warn!("the database's clock was set back");
                self.mend_clock().await;
            }
            due.clock = clock.or(due.clock);
            self.release_unheld(running, &[]).await;
        }
        if now >= due.sweep {
            due.sweep = now + SWEEP_INTERVAL;
            self.sweep().await;
            // Beside the jobs: after an upgrade there may be many.
            let runner = Arc::clone(&self.runner);
            tokio::spawn(async move { runner.embed_directives().await });
            self.mend_clock().await;
        }
        if now >= due.leases && !running.is_empty() {
            due.leases = now + LEASES_INTERVAL;
            let asked = async {
                let mut conn = self.store.acquire_across().await?;
                let lost = jobs::lost_leases(&mut conn, &running.jobs()).await?;
                conn.done();
                Ok::<_, StoreError>(lost)
            };
            // If the database cannot be asked the jobs go on: without its lease a job writes nothing.
            running.drop_jobs(&asked.await.unwrap_or_default());
        }
    }

    /// First short jobs, for the place that is kept free of long ones; then any, in the scheduler's order. With a short text come
    /// others of its namespace, to be done together.
    async fn claim(
        &self,
        running: &RunningJobs,
        scheduler: &mut FairScheduler,
    ) -> Result<Vec<Vec<LeasedJob>>, StoreError> {
        let settings = &self.settings;
        let room = running.room(settings.concurrency);
        let mut claimed = Vec::new();
        if room.all == 0 {
            return Ok(Vec::new());
        }
        let mut conn = self.store.acquire_across().await?;
        if room.all > room.long {
            claimed = jobs::claim_short(&mut conn, scheduler, settings.lease, room.all - room.long).await?;
        }
        if room.long > 0 {
            let is_free = running.is_empty() && claimed.is_empty();
            match jobs::claim_in_turn(&mut conn, scheduler, settings.lease, room.long, is_free).await {
                Ok(more) => claimed.extend(more),
                Err(error) if claimed.is_empty() => return Err(error),
                // The next claim fails in the same way and is reported.
                Err(error) => {
                    tracing::debug!(error = %chain(&error), "claimed short jobs only");
                }
            }
        }
        let mut together = Vec::with_capacity(claimed.len());
        for job in claimed {
            let mut company = Vec::new();
            if self.runner.may_have_company(&job) {
                let more = jobs::claim_with(&mut conn, scheduler, settings.lease, &job, batch::JOBS_MAX - 1);
                match more.await {
                    Ok(more) => company = more,
                    Err(error) => tracing::debug!(error = %chain(&error), "claimed one job only"),
                }
            }
            company.insert(0, job);
            together.push(company);
        }
        conn.done();
        Ok(together)
    }

    /// Releases jobs that are claimed by this worker and not running here: the claim was committed and its answer lost, as
    /// when the database crashes.
    async fn release_unheld(&self, running: &RunningJobs, more: &[LeasedJob]) {
        let mut held = running.jobs();
        held.extend_from_slice(more);
        let ended = async {
            let mut conn = self.store.acquire_across().await?;
            jobs::release_unheld(&mut conn, self.worker_id, &held).await
        };
        match ended.await {
            Ok(0) => {}
            Ok(jobs) => tracing::info!(jobs, "released jobs whose claim was not answered"),
            Err(error) => {
                tracing::debug!(error = %chain(&error), "jobs whose claim was not answered could not be released");
            }
        }
    }

    async fn mend_clock(&self) {
        let mended = async { jobs::mend_clock(&mut *self.store.acquire_across().await?).await };
        match mended.await {
            Ok(0) => {}
            Ok(jobs) => {
                tracing::warn!(jobs, "made jobs due that a clock ahead had dated in the future");
            }
            Err(error) => {
                tracing::debug!(error = %chain(&error), "failed to look for jobs dated in the future");
            }
        }
    }

    /// Logs when claiming begins to fail and when it works again, not each attempt between.
    fn log_claim_state_change(error: Option<&StoreError>, is_failing: &mut bool) {
        match error {
            Some(error) if !*is_failing => {
                tracing::warn!(error = %chain(error), "failed to claim jobs; trying again");
            }
            None if *is_failing => tracing::info!("jobs are claimed again"),
            _ => {}
        }
        *is_failing = error.is_some();
    }

    /// Waits for a job to end, a hint, the poll interval or `stop`; gives the jobs that ended together and how long each took.
    async fn wait_for_work(
        &self,
        running: &mut RunningJobs,
        hints: &mut Option<Hints>,
        due: &mut Due,
        has_more: bool,
        stop: &CancellationToken,
    ) -> Option<(Vec<LeasedJob>, Duration)> {
        if has_more && running.room(self.settings.concurrency).all > 0 {
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
            Some(ended) = running.next_ended() => return Some(ended),
            () = self.signals.jobs_queued().notified() => due.leases = Instant::now(),
            heard = hint => {
                due.leases = Instant::now();
                if heard.is_err() {
                    *hints = None;
                }
            }
            () = tokio::time::sleep(self.settings.poll_interval) => {}
        }
        None
    }

    async fn drain(&self, mut running: RunningJobs) {
        let finished =
            tokio::time::timeout(DRAIN_TIMEOUT, async { while running.next_ended().await.is_some() {} });
        if finished.await.is_err() {
            running.shut_down().await;
        }
        let Ok(mut conn) = self.store.acquire_across().await else { return };
        for job in running.jobs() {
            // Fails for a job that has ended meanwhile, as it should.
            let _ = jobs::release(&mut conn, &job).await;
        }
        let _ = jobs::deregister(&mut conn, self.worker_id).await;
    }

    /// Writes the worker's heartbeat; gives the database's time in seconds.
    pub fn heartbeat(&self) -> BoxFuture<'_, Option<f64>> {
        Box::pin(async move {
            let reported = async {
                let mut conn = self.store.acquire_across().await?;
                jobs::heartbeat(&mut conn, self.worker_id).await
            };
            let reported = reported.await.inspect_err(|error| {
                tracing::warn!(error = %chain(error), "failed to write the worker's heartbeat");
            });
            reported.ok()
        })
    }

    async fn sweep(&self) {
        let swept = async {
            let mut conn = self.store.acquire_across().await?;
            search::forget_changes(&mut conn, CHANGES_KEPT_DAYS).await?;
            while feed::sweep(&mut conn).await? as i64 >= feed::AT_ONCE {}
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
            Err(error) => tracing::warn!(error = %chain(&error), "failed to delete old jobs"),
        }
    }
}

/// Whether less time has gone by on the database's clock than on ours.
fn was_set_back(before: Option<(Instant, f64)>, now: Option<(Instant, f64)>) -> bool {
    let Some(((then, clock_then), (now, clock_now))) = before.zip(now) else { return false };
    clock_now - clock_then + CLOCK_TOLERANCE.as_secs_f64() < now.duration_since(then).as_secs_f64()
}
