//! forget: an artifact and everything that came from it, at once.

use std::slice;
use std::sync::Mutex;

use futures::future::BoxFuture;
use memory_core::id::{AnyId, ArtifactId, Namespace};
use memory_store::forgetting::{self, Cascade};
use memory_store::{Tx, talks};

use crate::locking::locked;
use crate::remember::{render_following_line, render_following_turn};
use crate::{EngineError, Memory};

/// What became of a request to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forgotten {
    Deleted(Cascade),
    /// Nothing was deleted: the caller has not confirmed.
    NotConfirmed,
    /// Nothing was deleted: events go with the artifact they came from.
    IsEvent {
        source: ArtifactId,
    },
    NotFound,
}

impl Memory {
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn forget<'a>(
        &'a self,
        ns: &'a Namespace,
        id: &'a AnyId,
        confirm: bool,
    ) -> BoxFuture<'a, Result<Forgotten, EngineError>> {
        Box::pin(async move {
            // What an attempt has deleted whose commit was not answered: the next one then finds nothing.
            let unanswered = Mutex::new(None);
            let answer =
                self.recovery.retry_transient(|| self.try_forget(ns, id, confirm, &unanswered)).await?;
            let answer = match (answer, locked(&unanswered).take()) {
                (Forgotten::NotFound, Some(cascade)) => Forgotten::Deleted(cascade),
                (answer, _) => answer,
            };
            if matches!(answer, Forgotten::Deleted(_)) {
                self.signals.wake_worker();
            }
            Ok(answer)
        })
    }

    /// Forgets several texts in one transaction, all or none, without asking; gives how many of them there were.
    #[tracing::instrument(skip_all, fields(%ns, texts = ids.len()))]
    pub fn forget_texts<'a>(
        &'a self,
        ns: &'a Namespace,
        ids: &'a [ArtifactId],
    ) -> BoxFuture<'a, Result<u64, EngineError>> {
        Box::pin(async move {
            // As in `forget`: how many an attempt has deleted whose commit was not answered.
            let unanswered = Mutex::new(None);
            let trying = || async {
                let mut tx = self.store.begin(ns).await?;
                let (count, _) = delete(&mut tx, ns, ids).await?;
                if count > 0 {
                    *locked(&unanswered) = Some(count);
                    tx.commit().await?;
                }
                Ok(count)
            };
            let deleted = self.recovery.retry_transient(trying).await?;
            let count = if deleted > 0 { deleted } else { locked(&unanswered).take().unwrap_or(0) };
            if count > 0 {
                self.signals.wake_worker();
            }
            Ok(count)
        })
    }

    /// Forgets all texts of a namespace, at once and without asking.
    pub fn forget_namespace<'a>(&'a self, ns: &'a Namespace) -> BoxFuture<'a, Result<(), EngineError>> {
        Box::pin(async move {
            self.recovery
                .retry_transient(|| async {
                    let mut tx = self.store.begin(ns).await?;
                    forgetting::delete_all(&mut tx, ns).await?;
                    Ok(tx.commit().await?)
                })
                .await
        })
    }

    async fn try_forget(
        &self,
        ns: &Namespace,
        id: &AnyId,
        confirm: bool,
        unanswered: &Mutex<Option<Cascade>>,
    ) -> Result<Forgotten, EngineError> {
        let id = match id {
            AnyId::Artifact(id) => id,
            AnyId::Event(id) => {
                let mut conn = self.store.acquire(ns).await?;
                let source = forgetting::artifact_of_event(&mut conn, ns, id).await?;
                return Ok(source.map_or(Forgotten::NotFound, |source| Forgotten::IsEvent { source }));
            }
        };
        let mut tx = self.store.begin(ns).await?;
        if !confirm {
            let found = memory_store::hydration::content_page(&mut tx, ns, id, 0, 1).await?;
            return Ok(if found.is_some() { Forgotten::NotConfirmed } else { Forgotten::NotFound });
        }
        let (count, cascade) = delete(&mut tx, ns, slice::from_ref(id)).await?;
        if count == 0 {
            return Ok(Forgotten::NotFound);
        }
        *locked(unanswered) = Some(cascade);
        tx.commit().await?;
        Ok(Forgotten::Deleted(cascade))
    }
}

/// Deletes the artifacts, and counts the words of what followed them in conversations and talks again. Gives how many there were.
async fn delete(tx: &mut Tx, ns: &Namespace, ids: &[ArtifactId]) -> Result<(u64, Cascade), EngineError> {
    let places = forgetting::places(tx, ns, ids).await?;
    let mut conversations: Vec<&str> = places.iter().map(|place| place.conversation_id.as_str()).collect();
    conversations.dedup();
    if !conversations.is_empty() {
        talks::lock_conversations(tx, ns, &conversations).await?;
    }
    let lines = forgetting::lines(tx, ns, ids).await?;
    let (count, cascade) = forgetting::delete_artifacts(tx, ns, ids).await?;
    if count == 0 {
        return Ok((0, cascade));
    }
    for place in &places {
        let (conversation, turn) = (place.conversation_id.as_str(), place.turn_index);
        // Where a replaced turn was forgotten, the latest one at its place comes before the next.
        let after = turn.saturating_add(1);
        let previous = talks::previous_turn(tx, ns, conversation, after).await?;
        render_following_turn(tx, ns, conversation, turn, previous).await?;
    }
    for place in lines {
        render_following_line(tx, ns, place).await?;
    }
    Ok((count, cascade))
}
