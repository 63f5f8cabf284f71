//! The event worker: claims jobs as it has hands free, does them within their lease, and stops cleanly.

mod attempt;
mod embed;
mod extract;
mod hands;
mod index_graph;

use std::sync::Arc;
use std::time::Duration;

use memory_store::jobs::{self, LeasedJob, Turns};
use memory_store::{Hints, StoreError, Topic};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::hands::Hands;
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
/// By how much the database's clock may be behind what is expected of it.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(30);

pub struct Worker {
    memory: Arc<Memory>,
    worker_id: uuid::Uuid,
}

/// When things that a worker does besides jobs are due.
struct Due {
    beat: Instant,
    sweep: Instant,
    leases: Instant,
    /// The time of the database at the last beat, in seconds, and when that was.
    clock: Option<(Instant, f64)>,
}

impl Worker {
    pub fn new(memory: Arc<Memory>) -> Self {
        Self { memory, worker_id: uuid::Uuid::new_v4() }
    }

    /// Works until told to stop; then finishes what it can in three seconds and gives the rest back.
    pub async fn run(&self, stop: CancellationToken) {
        let mut hands = Hands::default();
        let mut turns = Turns::of(self.worker_id);
        let mut hints = None;
        let mirroring = tokio::spawn({
            let (memory, stop) = (Arc::clone(&self.memory), stop.clone());
            async move { memory.keep_mirror(&stop).await }
        });
        let mut is_cut_off = false;
        let now = Instant::now();
        let mut due = Due { beat: now, sweep: now + FIRST_SWEEP, leases: now + LEASES_INTERVAL, clock: None };
        self.mend_clock().await;
        while !stop.is_cancelled() {
            self.see_to(&mut due, &hands).await;
            if hints.is_none() {
                hints = self.memory.store.listen_for(Topic::Jobs).await.ok();
            }
            let claimed = self.claim(&hands, &mut turns).await;
            if is_cut_off && claimed.is_ok() {
                // What was claimed just before, and nobody was told of.
                self.let_go_of_unheld(&hands, claimed.as_deref().unwrap_or_default()).await;
            }
            if matches!(claimed, Err(StoreError::DiskFull(_))) {
                self.memory.note_full_disk();
            }
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
            let clock = self.beat().await.map(|seconds| (Instant::now(), seconds));
            if was_set_back(due.clock, clock) {
                tracing::warn!("the database's clock was set back");
                self.mend_clock().await;
            }
            due.clock = clock.or(due.clock);
            self.let_go_of_unheld(hands, &[]).await;
        }
        if now >= due.sweep {
            due.sweep = now + SWEEP_INTERVAL;
            self.sweep().await;
            self.mend_clock().await;
        }
        if now >= due.leases && !hands.is_empty() {
            due.leases = now + LEASES_INTERVAL;
            let asked = async {
                let mut conn = self.memory.store.acquire().await?;
                jobs::lost_leases(&mut conn, &hands.jobs()).await
            };
            // Who cannot ask goes on: without its lease nothing is written anyway.
            hands.drop_jobs(&asked.await.unwrap_or_default());
        }
    }

    /// Places that are kept free of long work are filled first, then the others by turns.
    async fn claim(&self, hands: &Hands, turns: &mut Turns) -> Result<Vec<LeasedJob>, StoreError> {
        let settings = &self.memory.settings;
        let room = hands.room(settings.concurrency);
        let mut claimed = Vec::new();
        if room.all == 0 {
            return Ok(claimed);
        }
        let mut conn = self.memory.store.acquire().await?;
        if room.all > room.long {
            claimed = jobs::claim_short(&mut conn, turns, settings.lease, room.all - room.long).await?;
        }
        if room.long > 0 {
            let is_free = hands.is_empty() && claimed.is_empty();
            match jobs::claim_in_turn(&mut conn, turns, settings.lease, room.long, is_free).await {
                Ok(more) => claimed.extend(more),
                Err(error) if claimed.is_empty() => return Err(error),
                // It shows itself again at the next claim.
                Err(error) => tracing::debug!(error = %chain(&error), "only short work was claimed"),
            }
        }
        Ok(claimed)
    }

    /// Jobs of ours that we do not have: their claim was committed and its answer lost, as when the database crashes.
    async fn let_go_of_unheld(&self, hands: &Hands, more: &[LeasedJob]) {
        let mut held = hands.jobs();
        held.extend_from_slice(more);
        let ended = async {
            let mut conn = self.memory.store.acquire().await?;
            jobs::let_go_of_unheld(&mut conn, self.worker_id, &held).await
        };
        match ended.await {
            Ok(0) => {}
            Ok(jobs) => tracing::info!(jobs, "claimed without an answer, and given back"),
            Err(error) => tracing::debug!(error = %chain(&error), "what is not held could not be given back"),
        }
    }

    async fn mend_clock(&self) {
        let mended = async { jobs::mend_clock(&mut *self.memory.store.acquire().await?).await };
        match mended.await {
            Ok(0) => {}
            Ok(jobs) => tracing::warn!(jobs, "jobs of a clock that was ahead were made due"),
            Err(error) => tracing::debug!(error = %chain(&error), "jobs of the future were not looked for"),
        }
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
        if has_more && hands.room(self.memory.settings.concurrency).all > 0 {
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
            hands.shut_down().await;
        }
        let Ok(mut conn) = self.memory.store.acquire().await else { return };
        for job in hands.jobs() {
            // Fails for a job that has ended after all, and that is right.
            let _ = jobs::release(&mut conn, &job).await;
        }
        let _ = jobs::sign_off(&mut conn, self.worker_id).await;
    }

    /// Says that the worker is alive; gives the database's time in seconds.
    pub async fn beat(&self) -> Option<f64> {
        let beaten = async {
            let mut conn = self.memory.store.acquire().await?;
            jobs::beat(&mut conn, self.worker_id).await
        };
        let beaten = beaten.await.inspect_err(|error| {
            tracing::warn!(error = %chain(error), "the worker could not report itself");
        });
        beaten.ok()
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

/// Whether less time has gone by on the database's clock than on ours.
fn was_set_back(before: Option<(Instant, f64)>, now: Option<(Instant, f64)>) -> bool {
    let Some(((then, clock_then), (now, clock_now))) = before.zip(now) else { return false };
    clock_now - clock_then + CLOCK_TOLERANCE.as_secs_f64() < now.duration_since(then).as_secs_f64()
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
}
