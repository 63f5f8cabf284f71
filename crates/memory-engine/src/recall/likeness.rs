//! The best of what was found beside each other: when each was written, and how alike they are.

use std::collections::HashMap;

use jiff::Timestamp;
use memory_core::id::{Namespace, PassageId};
use memory_store::Conn;
use memory_store::search;
use memory_vectors::product;

use super::ranking::Ranked;
use super::search::Asked;
use crate::EngineError;

/// How many of the best are compared with each other.
const COMPARED_MAX: usize = 30;

/// The best of those whose dates are known, with these; `None` where there are not two.
pub(super) fn dated_best<'r>(
    ranked: &'r mut [Ranked],
    dates: &HashMap<PassageId, Timestamp>,
) -> Option<Vec<(&'r mut Ranked, Timestamp)>> {
    let dated =
        ranked.iter_mut().filter_map(|ranked| dates.get(&ranked.passage_id).map(|date| (ranked, *date)));
    Some(dated.take(COMPARED_MAX).collect::<Vec<_>>()).filter(|best| best.len() > 1)
}

/// The vectors of some passages.
pub(super) struct Likeness<'a> {
    passages: &'a [PassageId],
    vectors: HashMap<PassageId, Vec<f32>>,
}

impl<'a> Likeness<'a> {
    /// From memory where the namespace is there, else by one statement; `None` where the question has no vector either.
    pub(super) async fn of(
        conn: &mut Conn,
        ns: &Namespace,
        asked: &Asked,
        passages: &'a [PassageId],
    ) -> Result<Option<Self>, EngineError> {
        let Some((_, model)) = &asked.embedded else { return Ok(None) };
        let resident = asked.resident.as_ref().filter(|resident| resident.is_of(model));
        let mut vectors = resident.map(|resident| resident.vectors(passages)).unwrap_or_default();
        let missing: Vec<PassageId> =
            passages.iter().copied().filter(|id| !vectors.contains_key(id)).collect();
        if !missing.is_empty() {
            vectors.extend(search::vectors(conn, ns, &missing, model).await?);
        }
        Ok(Some(Self { passages, vectors }))
    }

    /// The cosine similarity of two, by where they stand among the passages.
    pub(super) fn between(&self, a: usize, b: usize) -> Option<f32> {
        let vector = |at: usize| self.vectors.get(&self.passages[at]);
        Some(product(vector(a)?, vector(b)?))
    }
}
