//! From results to what hangs together with them: related events and entities.

use memory_core::entity::names_in_question;
use memory_core::id::{Namespace, RevisionId};
use memory_store::Conn;
use memory_store::expansion::{self, FoundEntity, RelatedEvent, Seeds};

use super::{Recall, RecallRequest};
use crate::resident::Resident;
use crate::{EngineError, Memory};

const ENTITIES_MAX: usize = 20;
/// The most entities that a question is taken to name.
const NAMED_MAX: usize = 8;

impl Memory {
    /// The entities that the question names, under whatever name. A filter on texts would not hold for what they
    /// bring in.
    pub(super) async fn named(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        request: &RecallRequest,
        query: &str,
        resident: Option<&Resident>,
    ) -> Result<Vec<i64>, EngineError> {
        let is_wanted = request.include_entities || request.expand;
        if !is_wanted || request.offset > 0 || request.filters.narrow() {
            return Ok(Vec::new());
        }
        let names = names_in_question(query);
        match resident {
            Some(resident) => Ok(resident.entities_called(&names, NAMED_MAX)),
            None => Ok(expansion::entities_called(conn, ns, &names, NAMED_MAX as i64).await?),
        }
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
            expansion.entities = expansion::entities_of(conn, ns, seeds, ENTITIES_MAX as i64).await?;
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
        (named, resident): (&[i64], Option<&Resident>),
    ) -> Result<Expansion, EngineError> {
        if revisions.is_empty() && named.is_empty() {
            return Ok(Expansion::default());
        }
        if let Some(resident) = resident.filter(|_| !request.filters.narrow()) {
            return self.expand_in_memory(ns, request, revisions, (named, resident)).await;
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
            let entities = expansion::entities_of(&mut conn, ns, seeds, ENTITIES_MAX as i64).await?;
            conn.done();
            Ok(entities)
        };
        let (related, entities) = futures::try_join!(relating, naming)?;
        Ok(Expansion { related, entities })
    }

    /// The same where the namespace is in memory: the related events that are found there are read back.
    async fn expand_in_memory(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        revisions: &[RevisionId],
        (named, resident): (&[i64], &Resident),
    ) -> Result<Expansion, EngineError> {
        let mut expansion = Expansion::default();
        let budget = if request.expand { usize::try_from(request.graph_budget).unwrap_or(0) } else { 0 };
        if request.include_entities {
            expansion.entities = resident.entities_of(revisions, named, ENTITIES_MAX);
        }
        let found = resident.related(revisions, named, budget, request.filters.include_superseded);
        if !found.is_empty() {
            let mut conn = self.store.acquire(ns).await?;
            expansion.related = expansion::related_by_id(&mut conn, ns, found).await?;
            conn.done();
        }
        Ok(expansion)
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
