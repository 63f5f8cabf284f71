//! Operator verbs: list, retry and cancel jobs; queue texts to be extracted again.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::BoxFuture;
use memory_core::id::{JobId, Namespace, RevisionId};
use memory_core::job::{JobState, Priority};
use memory_store::events::ExtractorId;
use memory_store::jobs;
pub use memory_store::jobs::{Cancelled, JobFilter, JobGroup, JobRow, Retried, WorkerRow};
use memory_store::reextraction::{self, BatchOf, QueuedBatch, Selection};
pub use memory_store::stats::Held;
use memory_store::{Store, Topic, stats};

use crate::EngineError;
use crate::progress::{Progress, Report};
use crate::recovery::Recovery;
use crate::remember::SHORT_TURN_TOKENS;
use crate::settings::EngineSettings;
use crate::signals::{Signals, hint};
use crate::status::WORKER_SILENT_SECONDS;

/// How many jobs are queued in one transaction.
const BATCH: i64 = 1000;

/// How many running jobs are looked at.
const RUNNING_MAX: i64 = 200;

/// A worker, and what it does now.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerNow {
    pub worker: WorkerRow,
    /// It was not seen for so long that it counts as gone.
    pub is_silent: bool,
    pub jobs: Vec<JobRow>,
}

/// What was queued to be extracted again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requeued {
    /// The extractor that will read it, with its version.
    pub extractor: String,
    /// Texts that have a job of their own.
    pub texts: u64,
    /// Short turns, read with their conversations.
    pub turns: u64,
    pub conversations: u64,
    /// Jobs that waited before.
    pub waiting: u64,
    /// Jobs that are running; they are left alone.
    pub running: u64,
    pub jobs: Vec<JobId>,
}

impl Requeued {
    fn add(&mut self, batch: &QueuedBatch) {
        self.texts += batch.jobs.len() as u64;
        self.turns += batch.turns as u64;
        self.waiting += batch.waiting as u64;
        self.running += batch.running as u64;
        self.jobs.extend(&batch.jobs);
    }
}

/// The verbs of operators.
#[derive(Clone)]
pub struct Operations {
    store: Store,
    recovery: Recovery,
    settings: Arc<EngineSettings>,
    signals: Signals,
}

impl Operations {
    pub(crate) fn new(
        store: Store,
        recovery: Recovery,
        settings: Arc<EngineSettings>,
        signals: Signals,
    ) -> Self {
        Self { store, recovery, settings, signals }
    }

    /// The jobs that match, newest first.
    pub fn list_jobs<'a>(
        &'a self,
        filter: &'a JobFilter,
        limit: i64,
    ) -> BoxFuture<'a, Result<Vec<JobRow>, EngineError>> {
        Box::pin(async move {
            self.recovery
                .retry_transient(|| async {
                    Ok(jobs::list(
                        &mut *self.store.acquire_of(filter.namespace.as_ref()).await?,
                        filter,
                        limit,
                    )
                    .await?)
                })
                .await
        })
    }

    /// What each of the namespaces holds.
    pub fn held<'a>(&'a self, namespaces: &'a [Namespace]) -> BoxFuture<'a, Result<Vec<Held>, EngineError>> {
        Box::pin(async move { Ok(stats::held(&mut *self.store.acquire_across().await?, namespaces).await?) })
    }

    /// The workers that were seen of late, each with what it does now in the namespace.
    pub fn workers<'a>(&'a self, ns: &'a Namespace) -> BoxFuture<'a, Result<Vec<WorkerNow>, EngineError>> {
        Box::pin(async move {
            let mut conn = self.store.acquire(ns).await?;
            let workers = jobs::workers(&mut conn).await?;
            let filter = JobFilter {
                namespace: Some(ns.clone()),
                state: Some(JobState::Processing),
                ..JobFilter::default()
            };
            let running = jobs::list(&mut conn, &filter, RUNNING_MAX).await?;
            let of = |id| running.iter().filter(|job| job.worker == Some(id)).cloned().collect();
            let now = |worker: WorkerRow| WorkerNow {
                is_silent: worker.seen_seconds > WORKER_SILENT_SECONDS,
                jobs: of(worker.id),
                worker,
            };
            Ok(workers.into_iter().map(now).collect())
        })
    }

    /// The jobs of a namespace that are not done, by state and kind.
    pub fn job_groups<'a>(&'a self, ns: &'a Namespace) -> BoxFuture<'a, Result<Vec<JobGroup>, EngineError>> {
        Box::pin(async move { Ok(jobs::groups(&mut *self.store.acquire(ns).await?, ns).await?) })
    }

    /// Tries a failed job again, of one namespace or of any.
    pub fn retry_job<'a>(
        &'a self,
        ns: Option<&'a Namespace>,
        id: JobId,
    ) -> BoxFuture<'a, Result<Retried, EngineError>> {
        Box::pin(async move {
            let retried = self.recovery.retry_transient(|| async {
                let mut tx = self.store.begin_of(ns).await?;
                let retried = jobs::retry_failed(&mut tx, ns, id).await?;
                tx.commit().await?;
                Ok(retried)
            });
            let retried = retried.await?;
            self.hint_workers().await;
            Ok(retried)
        })
    }

    /// Tries all failed jobs again that match; gives how many.
    pub fn retry_failed_jobs<'a>(&'a self, filter: &'a JobFilter) -> BoxFuture<'a, Result<u64, EngineError>> {
        Box::pin(async move {
            let mut all = 0;
            let mut last = None;
            loop {
                let retried = self.recovery.retry_transient(|| async {
                    let mut tx = self.store.begin_of(filter.namespace.as_ref()).await?;
                    let retried = jobs::retry_all_failed(&mut tx, filter, last.as_ref(), BATCH).await?;
                    tx.commit().await?;
                    Ok(retried)
                });
                let mut retried = retried.await?;
                all += retried.len() as u64;
                last = retried.pop();
                if last.is_none() {
                    return Ok(all);
                }
                self.hint_workers().await;
            }
        })
    }

    /// Cancels an open job, of one namespace or of any. The worker that does it notices soon and writes nothing.
    pub fn cancel_job<'a>(
        &'a self,
        ns: Option<&'a Namespace>,
        id: JobId,
    ) -> BoxFuture<'a, Result<Cancelled, EngineError>> {
        Box::pin(async move {
            let cancelled = self.recovery.retry_transient(|| async {
                let mut tx = self.store.begin_of(ns).await?;
                let cancelled = jobs::cancel(&mut tx, ns, id).await?;
                tx.commit().await?;
                Ok(cancelled)
            });
            let cancelled = cancelled.await?;
            self.hint_workers().await;
            Ok(cancelled)
        })
    }

    /// Every namespace that holds texts.
    pub fn namespaces(&self) -> BoxFuture<'_, Result<Vec<Namespace>, EngineError>> {
        Box::pin(async move {
            self.recovery
                .retry_transient(|| async {
                    Ok(reextraction::namespaces(&mut *self.store.acquire_across().await?).await?)
                })
                .await
        })
    }

    /// Queues texts to be extracted again by the present extractor, at bulk priority. What was extracted before
    /// stays until then. Jobs that wait or run are left alone.
    pub fn requeue_extraction<'a>(
        &'a self,
        ns: &'a Namespace,
        present: ExtractorId<'a>,
        selection: &'a Selection,
        report: Report<'a>,
    ) -> BoxFuture<'a, Result<Requeued, EngineError>> {
        Box::pin(async move {
            let total = reextraction::revisions(&mut *self.store.acquire(ns).await?, ns).await? as u64;
            let mut requeued = Requeued {
                extractor: format!("{} version {}", present.name, present.version),
                ..Requeued::default()
            };
            let mut conversations = BTreeSet::new();
            let mut after = RevisionId(0);
            loop {
                let queued = self.recovery.retry_transient(|| async {
                    let mut tx = self.store.begin(ns).await?;
                    let batch = BatchOf { after, limit: BATCH, short_turn_tokens: SHORT_TURN_TOKENS as i64 };
                    let batch = reextraction::queue_batch(&mut tx, ns, selection, present, batch).await?;
                    let mut passes = Vec::new();
                    for conversation in &batch.conversations {
                        passes.push(
                            jobs::queue_conversation(&mut tx, ns, conversation, Priority::Bulk, 0.0, 0.0)
                                .await?,
                        );
                    }
                    tx.commit().await?;
                    Ok((batch, passes))
                });
                let (batch, passes) = queued.await?;
                self.hint_workers().await;
                requeued.add(&batch);
                requeued.jobs.extend(passes);
                conversations.extend(batch.conversations);
                requeued.conversations = conversations.len() as u64;
                let Some(last) = batch.last else { break };
                after = last;
                report(Progress { done: requeued.texts + requeued.turns, total });
            }
            requeued.jobs.sort_unstable();
            requeued.jobs.dedup();
            Ok(requeued)
        })
    }

    /// Waits until these jobs have ended; gives those that failed.
    pub fn wait_for_jobs<'a>(
        &'a self,
        ns: &'a Namespace,
        ids: &'a [JobId],
        report: Report<'a>,
    ) -> BoxFuture<'a, Result<Vec<JobRow>, EngineError>> {
        Box::pin(async move {
            let mut open = ids.to_vec();
            loop {
                let asked = self.recovery.retry_transient(|| async {
                    Ok(jobs::still_open(&mut *self.store.acquire(ns).await?, ns, &open).await?)
                });
                open = asked.await?;
                report(Progress { done: (ids.len() - open.len()) as u64, total: ids.len() as u64 });
                if open.is_empty() {
                    break;
                }
                tokio::time::sleep(self.settings.poll_interval).await;
            }
            let filter = JobFilter {
                namespace: Some(ns.clone()),
                state: Some(JobState::Failed),
                ids: Some(ids.to_vec()),
                ..JobFilter::default()
            };
            self.list_jobs(&filter, ids.len() as i64).await
        })
    }

    /// Whether a worker has written a heartbeat lately.
    pub fn has_worker(&self) -> BoxFuture<'_, Result<bool, EngineError>> {
        Box::pin(async move {
            let seen = stats::workers_seen(&mut *self.store.acquire_across().await?).await?;
            Ok(seen.seconds.is_some_and(|seconds| seconds < WORKER_SILENT_SECONDS))
        })
    }

    /// Wakes the workers of this process and of others. They poll: a lost hint costs a second.
    async fn hint_workers(&self) {
        self.signals.wake_worker();
        hint(&self.store, Topic::Jobs).await;
    }
}
