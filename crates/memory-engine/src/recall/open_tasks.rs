//! What has a task that is open, before the rest of what was found, where tasks are asked for.

use std::collections::HashSet;

use memory_core::id::{Namespace, PassageId, RevisionId};
use memory_language::asked_for::tells_of_open;
use memory_store::{Conn, listing, search};

use super::ranking::Ranked;
use crate::{EngineError, Memory};

/// Of so many of the best it is looked up whether they have one.
const LOOKED_UP_MAX: usize = 50;

impl Memory {
    /// Lowers those of the best that have no commitment which is still open, and do not say that something is.
    pub(super) async fn lower_without_tasks(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        ranked: &mut [Ranked],
    ) -> Result<(), EngineError> {
        let best: Vec<RevisionId> = ranked.iter().take(LOOKED_UP_MAX).map(|it| it.revision_id).collect();
        let with_tasks = listing::with_open_commitments(conn, ns, &best).await?;
        if with_tasks.is_empty() {
            return Ok(());
        }
        let passages: Vec<PassageId> = ranked.iter().take(LOOKED_UP_MAX).map(|it| it.passage_id).collect();
        let told = search::told(conn, ns, &passages).await?;
        let says_so: HashSet<PassageId> =
            told.into_iter().filter(|told| tells_of_open(&told.text)).map(|told| told.passage_id).collect();
        let has_one = |it: &Ranked| with_tasks.contains(&it.revision_id) || says_so.contains(&it.passage_id);
        for other in ranked.iter_mut().filter(|it| !has_one(it)) {
            other.score_again(other.explanation.artifact.without_tasks());
        }
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(())
    }
}
