//! remember: a content, its passages and vectors, and its jobs, all or nothing.

mod ended;
mod following;
mod keeping;

use std::sync::Arc;
use std::task::Poll;

use futures::future::BoxFuture;
use jiff::Timestamp;
use memory_core::artifact::{ArtifactUid, Context, Draft, Metadata, NewArtifact};
use memory_core::chunk::{Chunked, chunk_text};
use memory_core::directive::{FoundDirective, find_directives};
use memory_core::id::{ArtifactId, JobId, Namespace};
use memory_core::job::Priority;
use memory_core::ports::{EmbeddingError, EmbeddingModel};
use memory_core::render::{PreviousTurn, Surroundings};
use memory_language::lexicon::lexeme_counts;
use memory_store::artifacts::{self, CurrentRevision, Entry};
use memory_store::jobs;
use memory_store::models::ActiveModel;
use memory_store::passages::{self, NewPassage, PassageVector};
use memory_store::talks;

use self::following::as_previous;
pub(crate) use self::following::{render_following_line, render_following_turn};
use self::keeping::keep_what_was_not_given;
use crate::error::on_own_thread;
use crate::spoken_lines::{SpokenLine, line_of};
use crate::{EngineError, Memory, directives, long_text};

/// Up to this many passages are embedded before the commit; a longer text gets its vectors by a job.
pub const EMBEDDED_AT_ONCE_MAX: usize = 32;
/// A conversation turn under this many tokens queues no job of its own.
pub(crate) const SHORT_TURN_TOKENS: usize = 100;

/// What became of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    pub id: ArtifactId,
    pub summary: String,
    pub context: Context,
    pub is_created: bool,
    /// The artifact that was at this place until now.
    pub supersedes: Option<ArtifactId>,
    /// The text's own extraction job, queued by this call or open already.
    pub job_id: Option<JobId>,
    pub num_chunks: usize,
    pub token_count: usize,
    /// Vectors are still to be computed; the text is found by its words meanwhile.
    pub is_embedding_pending: bool,
}

/// A text on its way to its place.
pub(crate) struct Incoming<'a> {
    pub(crate) new: &'a NewArtifact,
    pub(crate) chunked: &'a Arc<Chunked>,
    /// The turn before it.
    pub(crate) previous: Option<PreviousTurn>,
    pub(crate) priority: Priority,
    /// What it says that the user wants.
    pub(crate) directives: &'a [FoundDirective],
    /// Set for a new text that is a line of a talk.
    pub(crate) line: Option<SpokenLine<'a>>,
}

/// A text cut, rendered and, where that could be done at once, embedded.
struct Prepared {
    chunked: Arc<Chunked>,
    surroundings: Surroundings,
    passages: Vec<NewPassage>,
    /// What made their vectors; held until they are written.
    made_by: Option<(Arc<dyn EmbeddingModel>, ActiveModel)>,
}

impl Memory {
    /// Stores a text at its place. The same text at the same place changes nothing but what is said about it.
    pub fn remember<'a>(
        &'a self,
        ns: &'a Namespace,
        draft: Draft,
    ) -> BoxFuture<'a, Result<Remembered, EngineError>> {
        Box::pin(async move { self.remember_for(ns, draft, Priority::Small).await })
    }

    /// The same for one of many texts, as of an import: their jobs get bulk priority.
    pub fn remember_in_bulk<'a>(
        &'a self,
        ns: &'a Namespace,
        draft: Draft,
    ) -> BoxFuture<'a, Result<Remembered, EngineError>> {
        Box::pin(async move { self.remember_for(ns, draft, Priority::Bulk).await })
    }

    #[tracing::instrument(name = "remember", skip_all, fields(%ns))]
    async fn remember_for(
        &self,
        ns: &Namespace,
        draft: Draft,
        priority: Priority,
    ) -> Result<Remembered, EngineError> {
        let given_context = draft.context.is_some();
        let given_importance = draft.importance.is_some();
        let mut new = NewArtifact::new(draft)?;
        new.meta.tags = self.with_endings(ns, new.meta.tags).await?;
        // A long text takes a while to cut; other calls go on meanwhile.
        let (new, chunked, directives) = on_own_thread(move || {
            let chunked = Arc::new(chunk_text(&new.content));
            let directives = find_directives(&new.content, &new.meta);
            (new, chunked, directives)
        })
        .await?;
        let priority = priority_of(priority, &chunked);
        self.recovery
            .retry_transient(|| async {
                // The model begins with a text of its own while its place is looked up.
                let is_early = priority == Priority::Small && new.meta.turn().is_none();
                let mut early =
                    is_early.then(|| Box::pin(self.prepare(ns, &new.meta, &chunked, None, priority)));
                let made = match &mut early {
                    Some(preparing) => futures::poll!(preparing),
                    None => Poll::Pending,
                };
                let mut conn = self.store.acquire(ns).await?;
                let (uid, current) = artifacts::find_place(&mut conn, ns, &new).await?;
                let previous = match new.meta.turn() {
                    Some((conversation, turn)) => {
                        talks::previous_turn(&mut conn, ns, conversation, turn).await?
                    }
                    None => None,
                };
                let line = match &current {
                    Some(current) if current.hash == new.hash => None,
                    _ => line_of(&mut conn, ns, &new, Timestamp::now()).await?,
                };
                conn.done();
                let directives = &directives;
                let incoming =
                    Incoming { new: &new, chunked: &chunked, previous, priority, directives, line };
                match current {
                    Some(current) if current.hash == new.hash => {
                        let mut meta = new.meta.clone();
                        keep_what_was_not_given(&mut meta, &current.meta, given_context, given_importance);
                        self.keep_current(ns, incoming, meta, current).await
                    }
                    current => {
                        let mut prepared = match (made, early) {
                            (Poll::Ready(made), _) => made?,
                            (Poll::Pending, Some(preparing)) => preparing.await?,
                            (Poll::Pending, None) => {
                                let previous = incoming.previous.clone();
                                self.prepare(ns, &new.meta, &chunked, previous, priority).await?
                            }
                        };
                        if let Some(line) = &incoming.line {
                            prepared.correct_previous(ns, line.previous.clone());
                        }
                        self.put_in_place(ns, incoming, prepared, uid, current).await
                    }
                }
            })
            .await
    }

    /// A new content at a place, free or taken.
    async fn put_in_place(
        &self,
        ns: &Namespace,
        Incoming { new, chunked, priority, directives: found, line, .. }: Incoming<'_>,
        mut prepared: Prepared,
        uid: ArtifactUid,
        current: Option<CurrentRevision>,
    ) -> Result<Remembered, EngineError> {
        let directives = directives::with_vectors(self.model.ready(), &new.content, found.to_vec()).await;
        let is_embedding_pending = prepared.lacks_vectors();
        let entry = Entry {
            uid: &uid,
            is_latest: true,
            created_at: None,
            queue_extract: new.meta.turn().is_none() || chunked.token_count >= SHORT_TURN_TOKENS,
            queue_embed: is_embedding_pending,
            priority,
            line: line.as_ref().map(|line| (line.speaker, line.place)),
        };
        let remembered = |id, job_id| Remembered {
            id,
            summary: new.summary(),
            context: new.meta.context,
            is_created: true,
            supersedes: current.as_ref().map(|current| current.artifact_id.clone()),
            job_id,
            num_chunks: chunked.chunks.len(),
            token_count: chunked.token_count,
            is_embedding_pending,
        };
        let model_id = prepared.model_id();
        let is_alone = new.meta.turn().is_none() && current.is_none() && directives.is_empty();
        if is_alone
            && chunked.chunks.is_empty()
            && let Some((id, job_id)) = self.put_alone(ns, (new, chunked), &prepared, entry).await?
        {
            return Ok(remembered(id, job_id));
        }
        let mut tx = self.store.begin(ns).await?;
        if let Some((conversation, turn)) = new.meta.turn() {
            talks::lock_conversation(&mut tx, ns, conversation).await?;
            let now = talks::previous_turn(&mut tx, ns, conversation, turn).await?;
            prepared.correct_previous(ns, now);
        }
        let artifact_id =
            artifacts::insert_artifact(&mut tx, ns, &new.hash, &new.content, chunked.token_count).await?;
        artifacts::insert_chunks(&mut tx, ns, &artifact_id, &chunked.chunks).await?;
        if let Some(current) = &current {
            artifacts::retire(&mut tx, ns, current.revision_id).await?;
        }
        let (revision_id, job_id) =
            artifacts::insert_revision(&mut tx, ns, &artifact_id, new, prepared.passages, model_id, entry)
                .await?;
        if let Some(current) = &current {
            artifacts::name_successor(&mut tx, ns, current.revision_id, revision_id).await?;
        }
        if !directives.is_empty() {
            directives::put(&mut tx, ns, revision_id, &directives).await?;
        }
        if let Some((conversation, turn)) = new.meta.turn() {
            let own = as_previous(new, &new.meta);
            render_following_turn(&mut tx, ns, conversation, turn, Some(own)).await?;
            jobs::queue_conversation(
                &mut tx,
                ns,
                conversation,
                priority,
                self.settings.conversation_pause.as_secs_f64(),
                self.settings.conversation_patience.as_secs_f64(),
            )
            .await?;
        }
        tx.commit().await?;
        self.signals.wake_worker();
        Ok(remembered(artifact_id, job_id))
    }

    /// A short text of its own that states nothing else, in one statement; `None` where its content is in the namespace already.
    async fn put_alone(
        &self,
        ns: &Namespace,
        (new, chunked): (&NewArtifact, &Chunked),
        prepared: &Prepared,
        entry: Entry<'_>,
    ) -> Result<Option<(ArtifactId, Option<JobId>)>, EngineError> {
        let mut conn = self.store.acquire(ns).await?;
        let (tokens, passages) = (chunked.token_count, prepared.passages.clone());
        let model_id = prepared.model_id();
        let put = artifacts::insert_whole(&mut conn, ns, new, tokens, passages, model_id, entry).await?;
        conn.done();
        if put.is_some() {
            self.signals.wake_worker();
        }
        Ok(put.map(|(id, _, job_id)| (id, job_id)))
    }

    /// Renders the passages and embeds them where they are few and the model is there. No transaction is
    /// open meanwhile.
    async fn prepare(
        &self,
        ns: &Namespace,
        meta: &Metadata,
        chunked: &Arc<Chunked>,
        previous: Option<PreviousTurn>,
        priority: Priority,
    ) -> Result<Prepared, EngineError> {
        let surroundings = Surroundings::new(meta, previous);
        let chunked = Arc::clone(chunked);
        if chunked.passages.len() > EMBEDDED_AT_ONCE_MAX {
            let passages = long_text::without_vectors(ns, &chunked, &surroundings).await?;
            return Ok(Prepared { chunked, surroundings, passages, made_by: None });
        }
        let mut passages = long_text::counted(ns, &chunked.passages, &surroundings);
        let mut made_by = None;
        if let Some((model, active)) = self.model.ready() {
            let texts =
                chunked.passages.iter().map(|passage| surroundings.for_model(&passage.text)).collect();
            match embed(&*model, texts, priority).await {
                Ok(made) => {
                    for (passage, made) in passages.iter_mut().zip(made) {
                        passage.embedding = Some(made);
                    }
                    made_by = Some((model, active));
                }
                Err(error) => tracing::warn!(%error, "vectors will be computed later"),
            }
        }
        Ok(Prepared { chunked, surroundings, passages, made_by })
    }
}

/// The priority of a text's jobs: long work never takes the last free place of a worker.
pub(crate) fn priority_of(priority: Priority, chunked: &Chunked) -> Priority {
    if chunked.passages.len() > EMBEDDED_AT_ONCE_MAX { priority.of_long_work() } else { priority }
}

/// Vectors of passages as the model sees them, and the states of their own tokens.
pub(crate) async fn embed(
    model: &dyn EmbeddingModel,
    texts: Vec<String>,
    priority: Priority,
) -> Result<Vec<PassageVector>, EmbeddingError> {
    let embedded = match priority {
        Priority::Small => model.embed_passages(texts).await?,
        _ => model.embed_in_background(texts).await?,
    };
    Ok(embedded
        .into_iter()
        .map(|made| PassageVector { states: made.compressed_states(), vector: made.vector })
        .collect())
}

impl Prepared {
    fn model_id(&self) -> Option<i16> {
        self.made_by.as_ref().map(|(_, active)| active.model_id)
    }

    fn lacks_vectors(&self) -> bool {
        self.passages.iter().any(|p| p.embedding.is_none())
    }

    /// Another turn may have come between the rendering and the lock: then the words of the first passage are
    /// counted again.
    fn correct_previous(&mut self, ns: &Namespace, previous: Option<PreviousTurn>) {
        if self.surroundings.previous == previous {
            return;
        }
        self.surroundings.previous = previous;
        if let (Some(passage), Some(cut)) = (self.passages.first_mut(), self.chunked.passages.first()) {
            let lexemes = lexeme_counts(&self.surroundings.words_of(&cut.text, true));
            passage.lex = passages::lex_literal(ns, &lexemes);
            passage.lex_length = lexemes.length;
        }
    }
}
