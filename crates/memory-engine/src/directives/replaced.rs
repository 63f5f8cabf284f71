//! Which earlier directives a text ends or changes in other words ("coffee's back on the menu"), as the text encoder judges.

use std::error::Error;
use std::sync::Arc;

use memory_core::directive::{FoundDirective, HeldAgainst, Judged, ToHold, to_hold_against};
use memory_core::id::Namespace;
use memory_core::ports::{EmbeddingModel, TextEncoder};
use memory_store::directives::{self, NewDirective};
use memory_store::events::Source;
use memory_store::models::ActiveModel;
use memory_store::{Store, StoreError};

/// A text is held against so many of the earlier directives: those most like it.
const NEAREST: i64 = 8;

/// Where the directives are that a text is held against.
pub(crate) struct Earlier {
    pub(crate) store: Store,
    pub(crate) ns: Namespace,
    /// Without it nothing is held against them.
    pub(crate) model: Option<(Arc<dyn EmbeddingModel>, ActiveModel)>,
}

impl Earlier {
    /// What a source states, each with the directives that no longer hold after it. Sentences that only end some are kept as
    /// permissions.
    pub(super) async fn held_against(
        &self,
        encoder: &Arc<dyn TextEncoder>,
        source: &Source,
        judged: Judged,
    ) -> Result<Vec<NewDirective>, StoreError> {
        let stated = judged.directives.len();
        let held = to_hold_against(&source.content, &judged);
        let circumstances = judged.circumstances;
        let found = judged.directives.into_iter().chain(judged.revising);
        let mut new: Vec<NewDirective> = found.map(NewDirective::from).collect();
        for (statement, earlier) in self.ended_by(encoder, source, held).await? {
            new[statement].replaces.push(earlier);
        }
        let mut at = 0;
        new.retain(|new| {
            at += 1;
            at <= stated || !new.replaces.is_empty()
        });
        // A sentence that ends a directive is kept for that.
        let starts: Vec<usize> = new.iter().map(|new| new.found.span.start).collect();
        let is_free = |found: &FoundDirective| !starts.contains(&found.span.start);
        new.extend(circumstances.into_iter().filter(is_free).map(NewDirective::from));
        Ok(new)
    }

    /// The places of statements, each with the number of an earlier directive that no longer holds after it.
    async fn ended_by(
        &self,
        encoder: &Arc<dyn TextEncoder>,
        source: &Source,
        held: Vec<ToHold>,
    ) -> Result<Vec<(usize, i64)>, StoreError> {
        let Some((model, active)) = self.model.as_ref().filter(|_| !held.is_empty()) else {
            return Ok(Vec::new());
        };
        if !directives::has_other_than(
            &mut *self.store.acquire(&self.ns).await?,
            &self.ns,
            source.revision_id,
        )
        .await?
        {
            return Ok(Vec::new());
        }
        let embedded =
            match model.embed_in_background(held.iter().map(|held| held.text.clone()).collect()).await {
                Ok(embedded) => embedded,
                Err(error) => return Ok(not_held(&error)),
            };
        let mut conn = self.store.acquire(&self.ns).await?;
        let mut near = Vec::with_capacity(held.len());
        for (held, embedded) in held.iter().zip(embedded) {
            let (model, vector) = (active.model_id, &embedded.vector);
            let mut earlier =
                directives::nearest_before(&mut conn, &self.ns, source, model, vector, NEAREST).await?;
            earlier.retain(|earlier| !held.leaves(&earlier.quote, earlier.condition.as_deref()));
            near.push(earlier);
        }
        drop(conn);
        let pairs = held.iter().zip(&near).flat_map(|(held, near)| {
            near.iter().map(|earlier| [earlier.quote.as_str(), &held.text].map(Arc::from))
        });
        let mut logits = match encoder.replacement_logits(pairs.collect()).await {
            Ok(logits) => logits.into_iter(),
            Err(error) => return Ok(not_held(&error)),
        };
        let mut ended = Vec::new();
        for (held, near) in held.iter().zip(&near) {
            let against = near.iter().zip(&mut logits);
            let against: Vec<HeldAgainst> = against
                .map(|(earlier, log_odds)| HeldAgainst { log_odds, similarity: earlier.similarity })
                .collect();
            ended.extend(held.ends(&against).map(|at| (held.statement, near[at].directive_id)));
        }
        Ok(ended)
    }
}

/// Earlier directives stay as they are.
fn not_held(error: &dyn Error) -> Vec<(usize, i64)> {
    tracing::warn!(%error, "a text is not held against earlier directives");
    Vec::new()
}
