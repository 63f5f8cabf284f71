//! Short texts of one namespace, read together: one transaction writes what was found in all of them, one after the other as
//! if each had its own. Where anything fails nothing of it is written, and each job is done by itself, with its own end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use memory_core::event::{Extraction, Rejected};
use memory_core::id::{JobId, Namespace, RevisionId};
use memory_core::job::{ErrorCode, JobKind};
use memory_core::ports::ExtractError;
use memory_store::events::{self, ExtractorId, Source};
use memory_store::jobs::{self, JobTarget, LeasedJob};

use super::JobRunner;
use super::attempt::JobError;
use super::extract::source_text;
use crate::directives::Stated;
use crate::locking::locked;
use crate::{directives, measures};

/// How many jobs are done together at most.
pub(super) const JOBS_MAX: usize = 16;
/// A text with more bytes is read by itself.
const TEXT_MAX_BYTES: usize = 8_000;

/// One lock for each namespace, so that batches write one after the other: two that name the same people would block each other on
/// the locks of these names.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<Namespace, Arc<tokio::sync::Mutex<()>>>>);

impl Turns {
    fn of(&self, ns: &Namespace) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = locked(&self.0);
        turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        Arc::clone(turns.entry(ns.clone()).or_default())
    }
}

/// A text of the batch, with its job and what was found in it.
struct Read {
    job: LeasedJob,
    source: Source,
    found: (Extraction, Rejected),
    stated: Stated,
}

impl JobRunner {
    /// Whether others like it may be done with this job.
    pub(super) fn may_have_company(&self, job: &LeasedJob) -> bool {
        let is_short = !job.priority.is_long() && job.attempts == 1 && !job.is_suspect;
        is_short && self.extractor.is_quick() && matches!(job.target, JobTarget::Extract(_))
    }

    /// Does jobs of one namespace, together where that goes.
    pub(super) async fn run_all(&self, mut jobs: Vec<LeasedJob>) {
        if jobs.len() > 1 {
            let begun = Instant::now();
            let done = tokio::time::timeout(self.within_lease() / 2, self.extract_together(&jobs)).await;
            match done {
                Ok(Ok(done)) => {
                    let each = begun.elapsed() / u32::try_from(done.len().max(1)).unwrap_or(1);
                    for id in done {
                        jobs.retain(|job| job.job_id != id);
                        measures::attempted(JobKind::Extract, "done", each);
                        tracing::info!(job.id = %id, duration_ms = each.as_millis() as u64, "the job is done");
                    }
                }
                Ok(Err(error)) => tracing::debug!(?error, "texts are read one by one"),
                Err(_) => tracing::debug!("texts are read one by one: together they took too long"),
            }
        }
        for job in &jobs {
            self.run(job).await;
        }
    }

    /// Gives the jobs that are done. Those of longer texts, and those that were lost, are not among them.
    async fn extract_together(&self, jobs: &[LeasedJob]) -> Result<Vec<JobId>, JobError> {
        let Some(ns) = jobs.first().map(|job| job.namespace.clone()) else { return Ok(Vec::new()) };
        let revision = |job: &LeasedJob| match job.target {
            JobTarget::Extract(revision_id) => Some(revision_id),
            _ => None,
        };
        let revisions: Vec<RevisionId> = jobs.iter().filter_map(revision).collect();
        let mut conn = self.store.acquire(&ns).await?;
        let sources = events::sources(&mut conn, &ns, &revisions).await?;
        conn.done();
        let texts: Vec<(LeasedJob, Source)> = sources
            .into_iter()
            .filter(|source| source.content.len() <= TEXT_MAX_BYTES)
            .filter_map(|source| {
                let job = jobs.iter().find(|job| revision(job) == Some(source.revision_id))?;
                Some((job.clone(), source))
            })
            .collect();
        let read = self.read_together(&ns, texts).await?;
        let turn = self.turns.of(&ns);
        let _alone = turn.lock().await;
        self.write_together(&ns, read).await
    }

    async fn read_together(
        &self,
        ns: &Namespace,
        texts: Vec<(LeasedJob, Source)>,
    ) -> Result<Vec<Read>, JobError> {
        let extractor = Arc::clone(&self.extractor);
        let earlier = self.earlier_directives(ns);
        let runtime = tokio::runtime::Handle::current();
        let reading = tokio::task::spawn_blocking(move || {
            let read = |(job, source): (LeasedJob, Source)| {
                let text = source_text(std::slice::from_ref(&source));
                let stated = runtime.block_on(directives::of_sources(
                    std::slice::from_ref(&source),
                    extractor.text_encoder(),
                    &earlier,
                ));
                let stated = stated.map_err(|error| ExtractError::Failed(error.to_string()))?;
                let extraction = runtime.block_on(extractor.extract(&text))?;
                let segments: Vec<&str> = text.segments.iter().map(|s| s.text.as_str()).collect();
                let found = extraction.verified(&segments);
                Ok(Read { job, source, found, stated })
            };
            texts.into_iter().map(read).collect::<Result<Vec<Read>, ExtractError>>()
        });
        match reading.await {
            Ok(Ok(read)) => Ok(read),
            // Whose fault it is shows itself when each is read alone.
            Ok(Err(error)) => Err(JobError::Retry(ErrorCode::Internal, error.to_string())),
            Err(panic) => Err(JobError::Retry(ErrorCode::Internal, panic.to_string())),
        }
    }

    async fn write_together(&self, ns: &Namespace, read: Vec<Read>) -> Result<Vec<JobId>, JobError> {
        if read.is_empty() {
            return Ok(Vec::new());
        }
        let jobs: Vec<LeasedJob> = read.iter().map(|read| read.job.clone()).collect();
        let mut tx = self.store.begin(ns).await?;
        let held = jobs::finish_all(&mut tx, ns, &jobs).await?;
        let extractor = ExtractorId { name: self.extractor.name(), version: self.extractor.version() };
        let mut priority = None;
        let mut all_stated = Stated::new();
        for Read { job, source, found: (extraction, rejected), stated } in read {
            if !held.contains(&job.job_id) {
                continue;
            }
            all_stated.extend(stated);
            priority.get_or_insert(job.priority);
            events::replace_extraction(&mut tx, ns, extractor, &[source], extraction, rejected).await?;
        }
        if let Some(priority) = priority {
            directives::put_all(&mut tx, ns, all_stated, priority).await?;
        }
        tx.commit().await?;
        Ok(held)
    }
}
