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

/// One job, or several that are done together.
struct Held {
    jobs: Vec<LeasedJob>,
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
    /// Several of them take one place.
    pub(super) fn start(&mut self, runner: &Arc<JobRunner>, jobs: Vec<LeasedJob>) {
        let (runner, mine) = (Arc::clone(runner), jobs.clone());
        let task = self.running.spawn(async move { runner.run_all(mine).await });
        self.held.insert(task.id(), Held { jobs, task, since: Instant::now() });
    }

    /// None beside a job that is to be done alone.
    pub(super) fn room(&self, concurrency: usize) -> Room {
        if self.held.values().any(|held| held.jobs.iter().any(|job| job.is_suspect)) {
            return Room { all: 0, long: 0 };
        }
        let is_long = |held: &&Held| held.jobs.iter().any(|job| job.priority.is_long());
        let long = self.held.values().filter(is_long).count();
        Room::of(concurrency, self.held.len(), long)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Waits for jobs to end that were started together, and says how long each took; `None` when there are none.
    pub(super) async fn next_ended(&mut self) -> Option<(Vec<LeasedJob>, Duration)> {
        let ended = self.running.join_next_with_id().await?;
        let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
        let Held { jobs, since, .. } = self.held.remove(&id)?;
        let each = since.elapsed() / u32::try_from(jobs.len().max(1)).unwrap_or(1);
        Some((jobs, each))
    }

    pub(super) fn jobs(&self) -> Vec<LeasedJob> {
        self.held.values().flat_map(|held| held.jobs.iter().cloned()).collect()
    }

    /// Aborts these jobs; their transactions are rolled back. A job that runs in a batch is not aborted: the batch goes on for the
    /// others, and writes nothing for this one.
    pub(super) fn drop_jobs(&self, lost: &[JobId]) {
        for Held { jobs, task, .. } in self.held.values() {
            let [job] = &jobs[..] else { continue };
            if !lost.contains(&job.job_id) {
                continue;
            }
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
