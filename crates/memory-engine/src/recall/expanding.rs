//! From results to what hangs together with them: related events and entities.

use memory_core::entity::names_in_question;
use memory_core::id::{Namespace, RevisionId};
use memory_store::Conn;
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
        conn: &mut Conn,
        ns: &Namespace,
        request: &RecallRequest,
        query: &str,
    ) -> Result<Vec<i64>, EngineError> {
        let is_wanted = request.include_entities || request.expand;
        if !is_wanted || request.offset > 0 || request.filters.narrow() {
            return Ok(Vec::new());
        }
        Ok(expansion::entities_called(conn, ns, &names_in_question(query), NAMED_MAX).await?)
    }

    /// What hangs together with one text.
    pub(super) async fn expand_text(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        request: &RecallRequest,
        revision: RevisionId,
    ) -> Result<Expansion, EngineError> {
        let mut expansion = Expansion::default();
        let seeds = Seeds { revisions: &[revision], named: &[], filters: &request.filters };
        if request.expand && request.graph_budget > 0 {
            expansion.related = expansion::related_events(conn, ns, seeds, request.graph_budget).await?;
        }
        if request.include_entities {
            expansion.entities = expansion::entities_of(conn, ns, seeds, ENTITIES_MAX).await?;
        }
        Ok(expansion)
    }

    /// What hangs together with the results, and with the entities that the question names: two statements at a time, on
    /// connections of their own. Seeds are the events of all of them; the filters hold for what they bring in as well.
    pub(super) async fn expand(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        revisions: &[RevisionId],
        named: &[i64],
    ) -> Result<Expansion, EngineError> {
        if revisions.is_empty() && named.is_empty() {
            return Ok(Expansion::default());
        }
        let seeds = Seeds { revisions, named, filters: &request.filters };
        let relating = async {
            if !request.expand || request.graph_budget == 0 {
                return Ok(Vec::new());
            }
            let mut conn = self.store.acquire(ns).await?;
            let related = expansion::related_events(&mut conn, ns, seeds, request.graph_budget).await?;
            conn.done();
            Ok::<_, EngineError>(related)
        };
        let naming = async {
            if !request.include_entities {
                return Ok(Vec::new());
            }
            let mut conn = self.store.acquire(ns).await?;
            let entities = expansion::entities_of(&mut conn, ns, seeds, ENTITIES_MAX).await?;
            conn.done();
            Ok(entities)
        };
        let (related, entities) = futures::try_join!(relating, naming)?;
        Ok(Expansion { related, entities })
    }
}

#[derive(Default)]
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
