//! What the knowledge graph adds to an answer: observations that the question meets, observations of the
//! entities that the results are about, and which graph entities these may be.

use std::collections::HashSet;

use memory_core::entity::EntityType;
use memory_core::graph::{fold, shown_thread};
use memory_core::id::{Namespace, PassageId};
use memory_language::text::cut;
use memory_store::expansion::FoundEntity;
use memory_store::facts::{self, StoredFact};
use memory_store::search::{self, Breadth, Owner};

use super::RecallRequest;
use super::hits::Scored;
use super::search::{Asked, Found};
use crate::{EngineError, Memory};

/// The most facts of an answer.
const FACTS_MAX: usize = 10;
/// The most facts that the question meets by itself.
const FACTS_BY_QUESTION_MAX: usize = 5;
/// The most facts of one entity that the results are about.
const FACTS_OF_ENTITY_MAX: i64 = 2;
/// The most relations shown with a fact.
const RELATIONS_MAX: i64 = 5;
/// How many passages of observations each arm may bring in.
const ARM_LIMIT: Breadth = Breadth { passages: 40, of_text: usize::MAX };
/// Late interaction below which an observation does not answer the question.
const LATE_MIN: f32 = 0.27;
/// How much of an observation a fact shows.
const OBSERVATION_CHARS: usize = 600;
/// The longest name that is looked for among the graph's entities, and that a fact shows whole, in characters.
const NAME_MAX_CHARS: usize = 200;
/// The most graph entities that one answer links to.
const LINKS_MAX: i64 = 40;

/// A current observation of the graph that belongs to an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    pub stored: StoredFact,
    /// How well the question meets it, 0 to 1; `None` for one that is there for its entity's sake.
    pub score: Option<f32>,
}

/// A graph entity that an extracted entity may be: the name is the same and the types do not contradict each other.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityLink {
    pub thread: String,
    pub name: String,
    pub entity_type: String,
    /// How likely they are the same, 0 to 1.
    pub score: f32,
}

impl Memory {
    /// Handles and scores of the observations that the question meets, best first.
    pub(super) async fn facts_of_question(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        asked: &Asked,
    ) -> Result<Vec<(i64, f32)>, EngineError> {
        let Some(reach) = self.graph.still_there(ns, &request.graph).await else { return Ok(Vec::new()) };
        let mut conn = self.store.acquire(ns).await?;
        let scope = search::scope_of_observations(&mut conn, ns, reach, asked.observations).await?;
        if scope.is_empty() {
            return Ok(Vec::new());
        }
        let by_words = if self.settings.weights.lexical > 0.0 {
            asked.question.passages(&mut conn, ns, &scope, ARM_LIMIT, None).await?
        } else {
            Vec::new()
        };
        conn.done();
        let nearest = match &asked.embedded {
            // What it would warn of, the search of texts does.
            Some(embedded) => self.nearest(ns, (&scope, None), embedded, ARM_LIMIT, &mut Vec::new()).await?,
            None => Vec::new(),
        };
        let met: HashSet<PassageId> = by_words.iter().map(|hit| hit.passage_id).collect();
        let found = Found { by_words, nearest };
        let mut conn = self.store.acquire(ns).await?;
        let scored = self.rank(&mut conn, ns, asked, found, &HashSet::new()).await?;
        conn.done();
        let answering = scored.into_iter().filter(|scored| answers(scored, &met));
        Ok(answering
            .filter_map(|Scored { candidate, fused }| match candidate.owner {
                Owner::Observation(handle) => Some((handle, fused.score)),
                Owner::Revision { .. } => None,
            })
            .take(FACTS_BY_QUESTION_MAX)
            .collect())
    }

    /// The facts of an answer: those that the question meets, then those of the entities in it. Links the
    /// entities to those of the graph.
    pub(super) async fn facts(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        of_question: Vec<(i64, f32)>,
        entities: &[FoundEntity],
    ) -> Result<(Vec<Fact>, Vec<Vec<EntityLink>>), EngineError> {
        let mut links = vec![Vec::new(); entities.len()];
        let Some(reach) = self.graph.still_there(ns, &request.graph).await else {
            return Ok((Vec::new(), links));
        };
        let mut conn = self.store.acquire(ns).await?;
        let names = folded_names(entities);
        let mut handles: Vec<i64> = of_question.iter().map(|(handle, _)| *handle).collect();
        if !names.is_empty() {
            let known = facts::entities_named(&mut conn, ns, &reach, &names, LINKS_MAX).await?;
            for (entity, links) in entities.iter().zip(&mut links) {
                links.extend(known.iter().filter_map(|known| link(entity, known)));
            }
            let linked: Vec<String> = known
                .iter()
                .filter(|known| links.iter().flatten().any(|link| link.name == known.name))
                .map(|known| known.folded_name.clone())
                .collect();
            let more =
                facts::of_entities(&mut conn, ns, &reach, &linked, FACTS_OF_ENTITY_MAX, FACTS_MAX as i64)
                    .await?;
            for handle in more {
                if !handles.contains(&handle) && handles.len() < FACTS_MAX {
                    handles.push(handle);
                }
            }
        }
        if handles.is_empty() {
            conn.done();
            return Ok((Vec::new(), links));
        }
        let stored = facts::of_observations(&mut conn, ns, &handles, RELATIONS_MAX).await?;
        conn.done();
        let facts = stored.into_iter().map(|mut stored| {
            stored.thread = shown_thread(&stored.thread);
            shorten(&mut stored);
            let score =
                of_question.iter().find(|(handle, _)| *handle == stored.handle.0).map(|(_, score)| *score);
            Fact { stored, score }
        });
        Ok((facts.collect(), links))
    }
}

/// Unlike texts, of which the best are shown however little they fit, a fact is shown only where it fits.
fn answers(scored: &Scored, met: &HashSet<PassageId>) -> bool {
    match scored.fused.late {
        Some(late) => late.score >= LATE_MIN,
        None => met.contains(&scored.candidate.passage_id),
    }
}

/// A fact is shown as far as it takes to know what it is; open_nodes shows the rest.
fn shorten(stored: &mut StoredFact) {
    stored.observation = cut(&stored.observation, OBSERVATION_CHARS);
    let relations = stored.relations.iter_mut().flat_map(|r| [&mut r.from, &mut r.to, &mut r.relation_type]);
    for name in relations.chain([&mut stored.entity, &mut stored.entity_type]) {
        *name = cut(name, NAME_MAX_CHARS);
    }
}

fn folded_names(entities: &[FoundEntity]) -> Vec<String> {
    let names = entities.iter().flat_map(|entity| std::iter::once(&entity.name).chain(&entity.aliases));
    let mut seen = HashSet::new();
    names
        .filter(|name| name.chars().count() <= NAME_MAX_CHARS)
        .map(|name| fold(name))
        .filter(|name| seen.insert(name.clone()))
        .collect()
}

/// Whether a graph entity of the same name may be the entity, and how likely.
fn link(entity: &FoundEntity, known: &facts::NamedEntity) -> Option<EntityLink> {
    let by_name = if fold(&entity.name) == known.folded_name {
        1.0
    } else if entity.aliases.iter().any(|alias| fold(alias) == known.folded_name) {
        0.9
    } else {
        return None;
    };
    let by_type = match (EntityType::parse(&entity.entity_type), graph_type(&known.entity_type)) {
        (Some(a), Some(b)) if a == b => 0.95,
        (Some(EntityType::Other), _) | (_, None | Some(EntityType::Other)) => 0.7,
        // A product is a project to one and an object to the other.
        (Some(EntityType::Project | EntityType::Object), Some(EntityType::Project | EntityType::Object)) => {
            0.8
        }
        _ => return None,
    };
    Some(EntityLink {
        thread: shown_thread(&known.thread),
        name: known.name.clone(),
        entity_type: cut(&known.entity_type, NAME_MAX_CHARS),
        score: by_name * by_type,
    })
}

/// What a type that a client has chosen freely amounts to, as far as its name tells.
fn graph_type(name: &str) -> Option<EntityType> {
    const NAMES: [(EntityType, &[&str]); 5] = [
        (
            EntityType::Person,
            &[
                "person",
                "people",
                "human",
                "user",
                "employee",
                "developer",
                "engineer",
                "customer",
                "contact",
                "member",
            ],
        ),
        (EntityType::Org, &["org", "company", "team", "department", "vendor", "institution", "business"]),
        (EntityType::Project, &["project", "product", "initiative", "program", "epic"]),
        (EntityType::Place, &["place", "location", "city", "country", "office", "region", "site"]),
        (
            EntityType::Object,
            &[
                "object",
                "server",
                "service",
                "database",
                "file",
                "component",
                "system",
                "tool",
                "device",
                "api",
                "library",
                "module",
            ],
        ),
    ];
    let folded = fold(name);
    NAMES.iter().find(|(_, words)| words.iter().any(|word| folded.contains(word))).map(|(kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, entity_type: &str, aliases: &[&str]) -> FoundEntity {
        FoundEntity {
            name: name.into(),
            entity_type: entity_type.into(),
            mention_count: 1,
            aliases: aliases.iter().map(ToString::to_string).collect(),
            possibly_same: Vec::new(),
        }
    }

    fn known(name: &str, entity_type: &str) -> facts::NamedEntity {
        facts::NamedEntity {
            folded_name: fold(name),
            thread: "default".into(),
            name: name.into(),
            entity_type: entity_type.into(),
        }
    }

    #[test]
    fn entities_are_linked_by_name_or_alias_unless_their_types_contradict_each_other() {
        let ann = found("Ann Lee", "person", &["ann@x.org", "Annie"]);
        let score = |known: &facts::NamedEntity| link(&ann, known).map(|link| link.score);
        let same = score(&known("ann lee", "Person")).expect("a link");
        let alias = score(&known("Annie", "Team")).is_none();
        let free = score(&known("Ann Lee", "Thing")).expect("a link");
        assert!(same > free && free > 0.5);
        assert!(alias, "a team is no person");
        assert!(score(&known("Annie", "developer")).is_some_and(|score| score < same));
        assert_eq!(score(&known("Ann Lee", "Company")), None);
        assert_eq!(score(&known("Bob", "Person")), None);
        let apollo = found("Apollo", "project", &[]);
        assert!(link(&apollo, &known("APOLLO", "Service")).is_some());
    }
}
