//! The same content at the same place again: what is said about it changes, or stays as it was said.

use memory_core::artifact::Metadata;
use memory_core::directive::find_directives;
use memory_core::id::Namespace;
use memory_core::job::JobKind;
use memory_core::render::Surroundings;
use memory_store::artifacts::{self, CurrentRevision};
use memory_store::{jobs, passages, talks};

use super::following::{as_previous, render_following_turn};
use super::{Incoming, Remembered, SHORT_TURN_TOKENS};
use crate::{EngineError, Memory, directives};

impl Memory {
    /// The same content at the same place: only what is said about it may change.
    pub(crate) async fn keep_current(
        &self,
        ns: &Namespace,
        Incoming { new, chunked, mut previous, priority, .. }: Incoming<'_>,
        meta: Metadata,
        current: CurrentRevision,
    ) -> Result<Remembered, EngineError> {
        let mut job_id = current.open_job;
        let mut is_embedding_pending = current.lacks_vectors;
        let summary = new.summary_under(&meta);
        let queues_extraction = meta.turn().is_none() || chunked.token_count >= SHORT_TURN_TOKENS;
        let lacks_extraction = !current.was_extracted && job_id.is_none() && queues_extraction;
        if meta != current.meta || lacks_extraction || is_embedding_pending {
            let is_rendered_anew = Surroundings::new(&meta, None) != Surroundings::new(&current.meta, None);
            let mut prepared = if is_rendered_anew {
                if meta.turn().is_none() {
                    previous = self.line_before(ns, current.revision_id).await?;
                }
                Some(self.prepare(ns, &meta, chunked, previous, priority).await?)
            } else {
                None
            };
            // Whose words they are may have changed.
            let found = find_directives(&new.content, &meta);
            let directives = directives::with_vectors(self.model.ready(), &new.content, found).await;
            let mut tx = self.store.begin(ns).await?;
            if let Some((conversation, _)) = meta.turn() {
                talks::lock_conversation(&mut tx, ns, conversation).await?;
            }
            artifacts::update_metadata(&mut tx, ns, current.revision_id, &meta, &summary).await?;
            directives::put(&mut tx, ns, current.revision_id, &directives).await?;
            if let Some(prepared) = &mut prepared {
                is_embedding_pending = prepared.lacks_vectors();
                let passages = std::mem::take(&mut prepared.passages);
                passages::replace(&mut tx, ns, current.revision_id, passages, prepared.model_id()).await?;
                if let Some((conversation, turn)) = meta.turn() {
                    let own = as_previous(new, &meta);
                    render_following_turn(&mut tx, ns, conversation, turn, Some(own)).await?;
                }
            }
            if lacks_extraction {
                job_id = jobs::queue(&mut tx, ns, JobKind::Extract, current.revision_id, priority).await?;
            }
            if is_embedding_pending {
                jobs::queue(&mut tx, ns, JobKind::Embed, current.revision_id, priority).await?;
            }
            tx.commit().await?;
            self.signals.wake_worker();
        }
        Ok(Remembered {
            id: current.artifact_id,
            summary,
            context: meta.context,
            is_created: false,
            supersedes: None,
            job_id,
            num_chunks: chunked.chunks.len(),
            token_count: chunked.token_count,
            is_embedding_pending,
        })
    }
}

/// What a second call leaves out stays as the first call said it.
pub(super) fn keep_what_was_not_given(
    meta: &mut Metadata,
    current: &Metadata,
    given_context: bool,
    given_importance: bool,
) {
    let keep = |new: &mut Option<String>, old: &Option<String>| {
        if new.is_none() {
            new.clone_from(old);
        }
    };
    keep(&mut meta.source, &current.source);
    keep(&mut meta.source_id, &current.source_id);
    keep(&mut meta.author, &current.author);
    keep(&mut meta.title, &current.title);
    keep(&mut meta.conversation_id, &current.conversation_id);
    meta.role = meta.role.or(current.role);
    meta.date = meta.date.or(current.date);
    meta.turn_index = meta.turn_index.or(current.turn_index);
    if meta.participants.is_empty() {
        meta.participants.clone_from(&current.participants);
    }
    if meta.tags.is_empty() {
        meta.tags.clone_from(&current.tags);
    }
    if !given_context {
        meta.context = current.context;
    }
    if !given_importance {
        meta.importance = current.importance;
    }
}
