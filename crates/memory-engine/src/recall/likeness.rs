//! How alike passages that were found are to each other.

use std::collections::HashMap;

use memory_core::id::{Namespace, PassageId};
use memory_store::Conn;
use memory_store::search;

use super::search::Asked;
use crate::EngineError;
use crate::resident::product;

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
