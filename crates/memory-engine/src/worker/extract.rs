//! Extraction jobs: load, extract without a transaction, then finish and write together.

use std::sync::Arc;
use std::time::Duration;

use memory_core::artifact::{Metadata, Role};
use memory_core::event::{Extraction, Rejected};
use memory_core::id::{Namespace, RevisionId};
use memory_core::job::ErrorCode;
use memory_core::ports::{ExtractError, Segment, SourceText};
use memory_store::events::{self, ExtractorId, Source};
use memory_store::jobs::{self, LeasedJob};
use tokio_util::sync::CancellationToken;

use super::JobRunner;
use super::attempt::{JobError, Slice};
use crate::directives::{self, Earlier, Stated};

/// How many unread turns one pass over a conversation reads, and how many turns before them it sees.
const WINDOW_TURNS: i64 = 40;
const WINDOW_CONTEXT_TURNS: i64 = 6;

/// What happens to the job in the transaction that writes its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Finish,
    Yield,
    GoOn,
}

/// What was found in texts.
struct Found {
    extraction: Extraction,
    rejected: Rejected,
    stated: Stated,
}

impl JobRunner {
    pub(super) async fn extract_revision(
        &self,
        job: &LeasedJob,
        revision_id: RevisionId,
    ) -> Result<(), JobError> {
        let mut conn = self.store.acquire(&job.namespace).await?;
        let source = events::source(&mut conn, &job.namespace, revision_id).await?.ok_or(JobError::Lost)?;
        conn.done();
        let sources = [source];
        let found = self.extract(job, &sources).await?;
        self.write(job, &sources, found, Then::Finish).await
    }

    /// Extracts from the unread turns window by window. Each window's results are committed with a renewed lease, the last
    /// one's with the job's completion. When the slice is over the job yields.
    pub(super) async fn extract_conversation(
        &self,
        job: &LeasedJob,
        conversation_id: &str,
        slice: &Slice,
    ) -> Result<(), JobError> {
        loop {
            let mut conn = self.store.acquire(&job.namespace).await?;
            let sources = events::unread_window(
                &mut conn,
                &job.namespace,
                conversation_id,
                WINDOW_TURNS,
                WINDOW_CONTEXT_TURNS,
            )
            .await?;
            conn.done();
            let unread = sources.iter().filter(|s| s.unread).count() as i64;
            let is_last = unread < WINDOW_TURNS;
            if unread == 0 {
                let mut tx = self.store.begin(&job.namespace).await?;
                jobs::finish(&mut tx, job).await?;
                return Ok(tx.commit().await?);
            }
            let found = self.extract(job, &sources).await?;
            let then = match (is_last, slice.is_over()) {
                (true, _) => Then::Finish,
                (false, true) => Then::Yield,
                (false, false) => Then::GoOn,
            };
            self.write(job, &sources, found, then).await?;
            slice.got_on();
            if then != Then::GoOn {
                return Ok(());
            }
        }
    }

    /// Runs the extractor off the async threads, for as long as it takes: a language model may need longer than a lease,
    /// which is renewed meanwhile. A panic is an error of the job.
    async fn extract(&self, job: &LeasedJob, sources: &[Source]) -> Result<Found, JobError> {
        let extractor = Arc::clone(&self.extractor);
        let (sources, text) = (sources.to_vec(), source_text(sources));
        let earlier = self.earlier_directives(&job.namespace);
        let runtime = tokio::runtime::Handle::current();
        // When the job is dropped the extraction is cancelled.
        let stop = CancellationToken::new();
        let _stopping = stop.clone().drop_guard();
        let mut extracting = tokio::task::spawn_blocking(move || {
            runtime.block_on(async {
                let reading = async {
                    // First, so that the encoder still knows a text when its clauses are asked for.
                    let stated = directives::of_sources(&sources, extractor.text_encoder(), &earlier).await;
                    let stated = stated.map_err(|error| ExtractError::Failed(error.to_string()))?;
                    Ok((extractor.extract(&text).await?, stated))
                };
                let read = stop.run_until_cancelled(reading).await;
                let (extraction, stated) =
                    read.ok_or_else(|| ExtractError::Failed("it was broken off".to_owned()))??;
                let segments: Vec<&str> = text.segments.iter().map(|s| s.text.as_str()).collect();
                let (extraction, rejected) = extraction.verified(&segments);
                Ok(Found { extraction, rejected, stated })
            })
        });
        let renewal = (self.settings.lease / 3).max(Duration::from_millis(100));
        let extracted = loop {
            match tokio::time::timeout(renewal, &mut extracting).await {
                Ok(extracted) => break extracted,
                Err(_) => self.renew(job).await?,
            }
        };
        match extracted {
            Ok(Ok(found)) => {
                if found.rejected != Rejected::default() {
                    tracing::warn!(
                        rejected.events = found.rejected.events,
                        rejected.mentions = found.rejected.mentions,
                        "found without evidence in the source, rejected"
                    );
                }
                Ok(found)
            }
            Ok(Err(error)) => Err(job_error(&error)),
            Err(_) => Err(JobError::Retry(ErrorCode::Internal, "the extractor panicked".to_owned())),
        }
    }

    /// What the directives of a text are held against.
    pub(super) fn earlier_directives(&self, ns: &Namespace) -> Earlier {
        Earlier { store: self.store.clone(), ns: ns.clone(), model: self.model.ready() }
    }

    async fn renew(&self, job: &LeasedJob) -> Result<(), JobError> {
        let mut tx = self.store.begin(&job.namespace).await?;
        jobs::renew(&mut tx, job, self.settings.lease).await?;
        Ok(tx.commit().await?)
    }

    async fn write(
        &self,
        job: &LeasedJob,
        sources: &[Source],
        Found { extraction, rejected, stated }: Found,
        then: Then,
    ) -> Result<(), JobError> {
        let mut tx = self.store.begin(&job.namespace).await?;
        match then {
            Then::Finish => jobs::finish(&mut tx, job).await?,
            Then::Yield => jobs::yield_turn(&mut tx, job).await?,
            Then::GoOn => jobs::renew(&mut tx, job, self.settings.lease).await?,
        }
        let extractor = ExtractorId { name: self.extractor.name(), version: self.extractor.version() };
        let events =
            events::replace_extraction(&mut tx, &job.namespace, extractor, sources, extraction, rejected)
                .await?;
        directives::put_all(&mut tx, &job.namespace, stated, job.priority).await?;
        tx.commit().await?;
        for source in sources {
            tracing::debug!(artifact.id = %source.artifact_id.0, "read");
        }
        tracing::debug!(events, "extracted");
        Ok(())
    }
}

/// What becomes of a job whose text could not be read: only what the text may be to blame for spends an attempt.
fn job_error(error: &ExtractError) -> JobError {
    let reason = error.to_string();
    match error {
        ExtractError::Failed(_) => JobError::Retry(ErrorCode::Internal, reason),
        ExtractError::Timeout(_) => JobError::Retry(ErrorCode::LlmTimeout, reason),
        ExtractError::ServerFailed(_) => JobError::Retry(ErrorCode::LlmUnavailable, reason),
        ExtractError::BadOutput(_) => JobError::Retry(ErrorCode::LlmBadOutput, reason),
        ExtractError::Refused(_) => JobError::Fail(ErrorCode::LlmRefused, reason),
        ExtractError::RateLimited { retry_after } => {
            JobError::Wait(ErrorCode::LlmRateLimited, reason, *retry_after)
        }
        ExtractError::Unauthorized { retry_after, .. } => {
            JobError::Wait(ErrorCode::LlmAuth, reason, *retry_after)
        }
        ExtractError::Unavailable { retry_after, .. } => {
            JobError::Wait(ErrorCode::LlmUnavailable, reason, *retry_after)
        }
    }
}

/// Who says what a source holds, where it is known to be said: in a turn of a conversation, or by an assistant.
fn speaker(meta: &Metadata) -> Option<String> {
    if meta.role == Some(Role::Assistant) {
        return Some(Role::Assistant.as_str().to_owned());
    }
    meta.turn().and(meta.speaker().map(str::to_owned))
}

pub(super) fn source_text(sources: &[Source]) -> SourceText {
    let first = &sources[0].meta;
    SourceText {
        context: first.context,
        title: first.title.clone(),
        author: first.author.clone(),
        participants: sources.iter().flat_map(|s| s.meta.participants.iter().cloned()).fold(
            Vec::new(),
            |mut all, p| {
                if !all.contains(&p) {
                    all.push(p);
                }
                all
            },
        ),
        segments: sources
            .iter()
            .map(|source| Segment {
                text: source.content.clone(),
                speaker: speaker(&source.meta),
                date: Some(source.date),
                context_only: !source.unread,
                is_date_of_storing: source.meta.date.is_none(),
            })
            .collect(),
    }
}
