//! From results to what hangs together with them: related events and entities.

use memory_core::entity::names_in_question;
use memory_core::id::{Namespace, RevisionId};
use memory_store::expansion::{self, FoundEntity, RelatedEvent, Seeds};

use super::{Recall, RecallRequest};
use crate::{EngineError, Memory};

const ENTITIES_MAX: i64 = 20;
/// The most entities that a question is taken to name.
const NAMED_MAX: i64 = 8;

impl Memory {
    /// The entities that the question names, under whatever name. A filter on texts would not hold for what they
    /// bring in.
    pub(super) async fn named(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        query: &str,
    ) -> Result<Vec<i64>, EngineError> {
        let is_wanted = request.include_entities || request.expand;
        if !is_wanted || request.offset > 0 || request.filters.narrow() {
            return Ok(Vec::new());
        }
        let names = names_in_question(query);
        let mut conn = self.store.acquire().await?;
        let named = expansion::entities_called(&mut conn, ns, &names, NAMED_MAX).await?;
        conn.keep();
        Ok(named)
    }

    /// What hangs together with the results, and with the entities that the question names. Seeds are the events of
    /// all of them; the filters hold for what they bring in as well.
    pub(super) async fn expand(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        revisions: &[RevisionId],
        named: &[i64],
    ) -> Result<Expansion, EngineError> {
        let is_empty = revisions.is_empty() && named.is_empty();
        let seeds = Seeds { revisions, named, filters: &request.filters };
        let related = async {
            if is_empty || !request.expand || request.graph_budget == 0 {
                return Ok(Vec::new());
            }
            let mut conn = self.store.acquire().await?;
            let related = expansion::related_events(&mut conn, ns, seeds, request.graph_budget).await?;
            conn.keep();
            Ok::<_, EngineError>(related)
        };
        let entities = async {
            if is_empty || !request.include_entities {
                return Ok(Vec::new());
            }
            let mut conn = self.store.acquire().await?;
            let entities = expansion::entities_of(&mut conn, ns, seeds, ENTITIES_MAX).await?;
            conn.keep();
            Ok(entities)
        };
        let (related, entities) = futures::try_join!(related, entities)?;
        Ok(Expansion { related, entities })
    }
}

pub(super) struct Expansion {
    related: Vec<RelatedEvent>,
    entities: Vec<FoundEntity>,
}

impl Expansion {
    pub(super) fn fill(self, answer: &mut Recall) {
        answer.related = self.related;
        answer.entities = self.entities;
    }
}
