//! Asking the mirror for the nearest vectors. Its answer is a guess that Postgres judges: the passages it names are looked at
//! here, and with them those that it has yet to hear of. So its lag hides nothing and its leftovers show nothing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use memory_core::id::Namespace;
use memory_core::ports::Embedded;
use memory_store::models::ActiveModel;
use memory_store::search::{EXACT_MAX, Scope};
use memory_store::vector::mirrors;
use memory_store::vector::{IndexError, Wanted};

use crate::{EngineError, Memory, measures};

/// What an answer says when Postgres searched in the place of the mirror, since it does not answer …
fn fallback(since: Timestamp) -> String {
    let since = since.strftime("%Y-%m-%dT%H:%M:%SZ");
    format!(
        "The vector store Qdrant is not available (since {since}): Postgres searched the vectors instead."
    )
}

/// … or has yet to hear of too much.
const BEHIND: &str = "The vector store Qdrant is far behind: Postgres searched the vectors instead.";

impl Memory {
    /// The passages among which the nearest are; `None` where Postgres searches by itself.
    pub(super) async fn mirrored(
        &self,
        ns: &Namespace,
        scope: &Scope,
        (embedded, model): &(Arc<Embedded>, ActiveModel),
        limit: usize,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Vec<i64>>, EngineError> {
        let Some(mirror) = self.mirror.as_ref().filter(|mirror| mirror.server.serves(scope.is_small()))
        else {
            return Ok(None);
        };
        // What waits is read before the search: what does not wait any more is there by then.
        let searchable = {
            let mut conn = self.store.acquire(ns).await?;
            mirrors::searchable(&mut conn, ns, model.model_id, EXACT_MAX).await?
        };
        let Some(searchable) = searchable else {
            mirror.is_not_silent();
            return Ok(None);
        };
        let Some(waiting) = searchable.waiting else {
            measures::degraded("mirror_behind");
            warn(warnings, BEHIND);
            return Ok(None);
        };
        let wanted = Wanted { ns, scope, model, vector: &embedded.vector, limit };
        let asked = Instant::now();
        let answered = mirror.server.searching(searchable.collection).nearest(wanted).await;
        measures::mirror_searched(if answered.is_ok() { "ok" } else { "failed" }, asked.elapsed());
        match answered {
            Ok(near) => {
                mirror.is_not_silent();
                let found = near.into_iter().map(|near| near.passage_id.0);
                Ok(Some(found.chain(waiting).collect::<BTreeSet<i64>>().into_iter().collect()))
            }
            Err(error) => {
                // That it does not answer was said when it was noticed.
                if !matches!(error, IndexError::Unavailable(_) | IndexError::Busy(_)) {
                    tracing::warn!(%error, "the mirror could not be searched");
                }
                measures::degraded("mirror_silent");
                warn(warnings, &fallback(mirror.fell_silent(&error)));
                Ok(None)
            }
        }
    }
}

/// Says it once an answer.
pub(super) fn warn(warnings: &mut Vec<String>, warning: &str) {
    if !warnings.iter().any(|said| said == warning) {
        warnings.push(warning.to_owned());
    }
}
