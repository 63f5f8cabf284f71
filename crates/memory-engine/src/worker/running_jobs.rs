//! The jobs that a worker is running, and how many more it may claim.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_core::id::JobId;
use memory_store::jobs::LeasedJob;
use tokio::task::{self, AbortHandle, JoinSet};

use super::JobRunner;

#[derive(Default)]
pub(super) struct RunningJobs {
    running: JoinSet<()>,
    held: HashMap<task::Id, Held>,
}

struct Held {
    job: LeasedJob,
    task: AbortHandle,
    since: Instant,
}

/// How many more jobs a worker may claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) all: usize,
    /// At most so many of these may be long.
    pub(super) long: usize,
}

impl Room {
    /// One place is kept free of long jobs, unless there is no other.
    fn of(concurrency: usize, held: usize, held_long: usize) -> Self {
        let all = concurrency.saturating_sub(held);
        let long = concurrency.saturating_sub(1).max(1).saturating_sub(held_long);
        Self { all, long: long.min(all) }
    }
}

impl RunningJobs {
    pub(super) fn start(&mut self, runner: &Arc<JobRunner>, job: LeasedJob) {
        let (runner, mine) = (Arc::clone(runner), job.clone());
        let task = self.running.spawn(async move { runner.run(&mine).await });
        self.held.insert(task.id(), Held { job, task, since: Instant::now() });
    }

    /// None beside a job that is to be done alone.
    pub(super) fn room(&self, concurrency: usize) -> Room {
        if self.held.values().any(|held| held.job.is_suspect) {
            return Room { all: 0, long: 0 };
        }
        let long = self.held.values().filter(|held| held.job.priority.is_long()).count();
        Room::of(concurrency, self.held.len(), long)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Waits for a job to end, and says how long it took; `None` when there is none.
    pub(super) async fn next_ended(&mut self) -> Option<(LeasedJob, Duration)> {
        let ended = self.running.join_next_with_id().await?;
        let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
        self.held.remove(&id).map(|held| (held.job, held.since.elapsed()))
    }

    pub(super) fn jobs(&self) -> Vec<LeasedJob> {
        self.held.values().map(|held| held.job.clone()).collect()
    }

    /// Stops waiting for these jobs; what they write is rolled back.
    pub(super) fn drop_jobs(&self, lost: &[JobId]) {
        for Held { job, task, .. } in self.held.values().filter(|held| lost.contains(&held.job.job_id)) {
            tracing::info!(job = %job.job_id, ns = %job.namespace, "the job's lease was lost; nothing is written");
            task.abort();
        }
    }

    /// The same with all that run.
    pub(super) async fn shut_down(&mut self) {
        self.running.shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_is_kept_free_of_long_work_unless_it_is_the_only_one() {
        let room = |concurrency, held, long| {
            let Room { all, long } = Room::of(concurrency, held, long);
            (all, long)
        };
        assert_eq!(
            [room(2, 0, 0), room(2, 1, 1), room(2, 1, 0), room(2, 2, 1)],
            [(2, 1), (1, 0), (1, 1), (0, 0)]
        );
        assert_eq!([room(1, 0, 0), room(1, 1, 1)], [(1, 1), (0, 0)]);
        assert_eq!([room(4, 0, 0), room(4, 3, 3), room(4, 2, 1)], [(4, 3), (1, 0), (2, 2)]);
    }
}
