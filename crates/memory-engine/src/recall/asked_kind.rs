//! What has an open task or a decision, before the rest of what was found, where such are asked for.

use std::collections::HashSet;

use memory_core::id::{Namespace, PassageId, RevisionId};
use memory_language::asked_for::AskedKind;
use memory_store::{Conn, listing, search};

use super::ranking::Ranked;
use crate::{EngineError, Memory};

/// Of so many of the best it is looked up whether they have one.
const LOOKED_UP_MAX: usize = 100;

impl Memory {
    /// Lowers those of the best that have no event of the kind, and do not say so by their words.
    pub(super) async fn lower_other_kinds(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        kind: AskedKind,
        ranked: &mut [Ranked],
    ) -> Result<(), EngineError> {
        let best: Vec<RevisionId> = ranked.iter().take(LOOKED_UP_MAX).map(|it| it.revision_id).collect();
        let with_events = match kind {
            AskedKind::OpenTasks => listing::with_open_commitments(conn, ns, &best).await?,
            AskedKind::Decisions => listing::with_decisions(conn, ns, &best).await?,
        };
        if with_events.is_empty() {
            return Ok(());
        }
        let passages: Vec<PassageId> = ranked.iter().take(LOOKED_UP_MAX).map(|it| it.passage_id).collect();
        let told = search::told(conn, ns, &passages).await?;
        let says_so: HashSet<PassageId> =
            told.into_iter().filter(|told| kind.is_told_by(&told.text)).map(|told| told.passage_id).collect();
        let has_one = |it: &Ranked| with_events.contains(&it.revision_id) || says_so.contains(&it.passage_id);
        for other in ranked.iter_mut().filter(|it| !has_one(it)) {
            other.score_again(other.explanation.artifact.of_another_kind());
        }
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(())
    }
}
