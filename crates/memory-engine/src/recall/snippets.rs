//! What is shown of the passages on a page.

use std::collections::HashMap;
use std::sync::Arc;

use memory_core::id::{Namespace, PassageId};
use memory_core::snippet::{PassageTokens, max_chars};
use memory_store::Conn;
use memory_store::hydration::HydratedHit;
use memory_store::search;
use memory_vectors::late_interaction::MetTokens;

use super::ranking::Ranked;
use super::search::Asked;
use crate::EngineError;

/// How well the tokens of those passages meet the question that are longer than what is shown of them.
pub(super) struct LongPassages(HashMap<PassageId, PassageTokens>);

impl LongPassages {
    /// From memory where the namespace is there, else by one statement; of none where the question has no vector.
    pub(super) async fn of(
        conn: &mut Conn,
        ns: &Namespace,
        asked: Option<&Asked>,
        hits: &[HydratedHit],
        page: &[(usize, &Ranked)],
    ) -> Result<Self, EngineError> {
        let Some((asked, (embedded, model))) = asked.and_then(|it| Some((it, it.embedded.as_ref()?))) else {
            return Ok(Self(HashMap::new()));
        };
        let is_long = |hit: &&HydratedHit| {
            let ranked = page.iter().find(|(_, ranked)| ranked.passage_id == hit.passage_id);
            ranked.is_some_and(|(place, _)| hit.passage.chars().nth(max_chars(*place)).is_some())
        };
        let long: Vec<&HydratedHit> = hits.iter().filter(is_long).collect();
        let ids: Vec<PassageId> = long.iter().map(|hit| hit.passage_id).collect();
        let resident = asked.resident.as_ref().filter(|resident| resident.is_of(model));
        let mut states: HashMap<PassageId, Arc<[u8]>> =
            resident.map(|resident| resident.states(&ids)).unwrap_or_default();
        let missing: Vec<PassageId> = ids.into_iter().filter(|id| !states.contains_key(id)).collect();
        if !missing.is_empty() {
            states.extend(search::states(conn, ns, &missing, model).await?);
        }
        let question = asked.question.weighed(&embedded.tokens);
        let tokens = |hit: &&HydratedHit| {
            let met = MetTokens::new(&question, states.get(&hit.passage_id)?)?;
            let before = hit.surroundings().for_model("").chars().count();
            Some((hit.passage_id, PassageTokens { met, before, chars: hit.passage.chars().count() }))
        };
        Ok(Self(long.iter().filter_map(tokens).collect()))
    }

    pub(super) fn get(&self, passage: PassageId) -> Option<&PassageTokens> {
        self.0.get(&passage)
    }
}
