//! The types of the graph tools on the wire.

use memory_core::graph::{Detail, EntityObservations, GraphEntity, GraphRelation, PageRequest, grouped};
use memory_engine::graph::{GraphPage, More, PageEntity, WholeGraph};
use memory_language::text::cut as cut_to;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// Told as required, as the reference server has it; missing observations are none all the same.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("required" = ["name", "entityType", "observations"]))]
pub(super) struct Entity {
    pub(super) name: String,
    pub(super) entity_type: String,
    #[serde(default)]
    pub(super) observations: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Relation {
    /// Name of the entity where it starts
    pub(super) from: String,
    /// Name of the entity where it ends
    pub(super) to: String,
    pub(super) relation_type: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Addition {
    pub(super) entity_name: String,
    pub(super) contents: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Deletion {
    pub(super) entity_name: String,
    pub(super) observations: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateEntities {
    pub(super) entities: Vec<Entity>,
    /// A graph of its own; default: default
    pub(super) thread_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Relations {
    pub(super) relations: Vec<Relation>,
    pub(super) thread_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AddObservations {
    pub(super) observations: Vec<Addition>,
    pub(super) thread_id: Option<String>,
    /// 0 to 1, default 1
    pub(super) confidence: Option<f64>,
    /// 0 to 1, default 0.5
    pub(super) importance: Option<f64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DeleteEntities {
    pub(super) entity_names: Vec<String>,
    pub(super) thread_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DeleteObservations {
    pub(super) deletions: Vec<Deletion>,
    pub(super) thread_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReadGraph {
    pub(super) thread_id: Option<String>,
    /// Entities a page, 1 to 1000
    pub(super) limit: Option<i64>,
    /// next_cursor of the page before
    pub(super) cursor: Option<String>,
    /// names, summary or full (default)
    pub(super) detail: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SearchNodes {
    /// Part of a name, type or observation, in any case
    pub(super) query: String,
    pub(super) thread_id: Option<String>,
    /// Entities a page, 1 to 1000
    pub(super) limit: Option<i64>,
    /// next_cursor of the page before
    pub(super) cursor: Option<String>,
    /// names, summary or full (default)
    pub(super) detail: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct OpenNodes {
    pub(super) names: Vec<String>,
    pub(super) thread_id: Option<String>,
    pub(super) limit: Option<i64>,
    pub(super) cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Entities {
    pub(super) entities: Vec<Entity>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CreatedRelations {
    pub(super) relations: Vec<Relation>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Additions {
    pub(super) results: Vec<Added>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Added {
    pub(super) entity_name: String,
    pub(super) added_observations: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Deleted {
    pub(super) success: bool,
    pub(super) message: &'static str,
}

/// A graph in one component.
#[derive(Debug, Serialize)]
pub(super) struct Whole {
    entities: Vec<Entity>,
    relations: Vec<Relation>,
}

impl From<WholeGraph> for Whole {
    fn from(graph: WholeGraph) -> Self {
        Self {
            entities: graph.entities.into_iter().map(Entity::from).collect(),
            relations: graph.relations.into_iter().map(Relation::from).collect(),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Graph {
    pub(super) entities: Vec<Shown>,
    pub(super) relations: Vec<Relation>,
    /// There is more
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown {
    pub(super) name: String,
    pub(super) entity_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) observations: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) observation_count: Option<usize>,
}

impl From<Entity> for GraphEntity {
    fn from(entity: Entity) -> Self {
        Self { name: entity.name, entity_type: entity.entity_type, observations: entity.observations }
    }
}

impl From<GraphEntity> for Entity {
    fn from(entity: GraphEntity) -> Self {
        Self { name: entity.name, entity_type: entity.entity_type, observations: entity.observations }
    }
}

impl From<Relation> for GraphRelation {
    fn from(relation: Relation) -> Self {
        Self { from: relation.from, to: relation.to, relation_type: relation.relation_type }
    }
}

impl From<GraphRelation> for Relation {
    fn from(relation: GraphRelation) -> Self {
        Self { from: relation.from, to: relation.to, relation_type: relation.relation_type }
    }
}

impl From<Addition> for EntityObservations {
    fn from(addition: Addition) -> Self {
        Self { entity_name: addition.entity_name, contents: addition.contents }
    }
}

impl From<EntityObservations> for Added {
    fn from(added: EntityObservations) -> Self {
        Self { entity_name: added.entity_name, added_observations: added.contents }
    }
}

impl From<Deletion> for EntityObservations {
    fn from(deletion: Deletion) -> Self {
        Self { entity_name: deletion.entity_name, contents: deletion.observations }
    }
}

impl Graph {
    pub(super) fn new(page: GraphPage, asked: PageRequest) -> Self {
        Self {
            next_cursor: page.more.map(|more| more.cursor.to_string()),
            note: note(&page, asked),
            entities: page.entities.into_iter().map(|entity| Shown::new(entity, asked.detail)).collect(),
            relations: page.relations.into_iter().map(Relation::from).collect(),
        }
    }
}

impl Shown {
    fn new(page: PageEntity, detail: Detail) -> Self {
        let GraphEntity { name, entity_type, observations } = page.entity;
        Self {
            name,
            entity_type,
            observations: (detail != Detail::Names).then_some(observations),
            observation_count: (detail == Detail::Summary || page.is_cut && detail == Detail::Full)
                .then_some(page.observation_count),
        }
    }
}

/// What was left out, and how to get it.
fn note(page: &GraphPage, asked: PageRequest) -> Option<String> {
    let cut = (asked.detail == Detail::Full).then(|| cut_entities(page)).flatten();
    let parts: Vec<String> = cut.into_iter().chain(page.more.map(|more| rest(&more))).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Entities that are larger than a page.
fn cut_entities(page: &GraphPage) -> Option<String> {
    const NAMED_MAX: usize = 3;
    let cut: Vec<&PageEntity> = page.entities.iter().filter(|entity| entity.is_cut).collect();
    let of = |entity: &&PageEntity| {
        let name = cut_to(&entity.entity.name, 100);
        let (shown, all) = (entity.entity.observations.len() as u64, entity.observation_count as u64);
        if shown == all {
            format!("'{name}' (the beginning of its observation)")
        } else {
            format!("'{name}' ({} of its {} observations)", grouped(shown), grouped(all))
        }
    };
    let named: Vec<String> = cut.iter().take(NAMED_MAX).map(of).collect();
    let more =
        if cut.len() > NAMED_MAX { format!(" and {} more", cut.len() - NAMED_MAX) } else { String::new() };
    (!cut.is_empty()).then(|| {
        format!(
            "Too large to be shown whole: {}{more}. get_observation_history with entityName has all, page by page.",
            named.join(", ")
        )
    })
}

fn rest(more: &More) -> String {
    if more.has_more_relations {
        return format!(
            "The entities up to here have more relations. Call again with cursor \"{}\" for the next ones; limit (up to 1000) \
             makes a page larger.",
            more.cursor
        );
    }
    if more.last < more.first {
        return format!("Call again with cursor \"{}\" for the next entities.", more.cursor);
    }
    let of = more.total.map_or(", there are more".to_owned(), |total| format!(" of {}", grouped(total)));
    format!(
        "Showing entities {}–{}{of}. Call again with cursor \"{}\" for the next ones; detail \"names\" or \"summary\" and \
         limit (up to 1000) change how much a page shows.",
        grouped(more.first),
        grouped(more.last),
        more.cursor
    )
}
