//! Analytics of a thread of the knowledge graph: `list_entities`, `query_nodes`,
//! `find_relation_path`, `get_analytics` and `suggest_merges`.

use futures::FutureExt;
use jiff::Timestamp;
use memory_core::date::{parse_date, parse_end_date};
use memory_core::graph::{PageRequest, as_given, share};
use memory_engine::graph::{RelationPath, list_limit, path_depth};
use memory_language::text::cut;
use memory_store::graph::{QueriedEntity, Ranges};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Call, Declared, Refusal, Registered, answer, arguments, register};

/// How many pairs are suggested unless a limit is given.
const MERGES_DEFAULT: usize = 20;
/// How much of a name or a type is shown in figures, paths and suggestions.
const SHOWN_CHARS: usize = 500;

pub(super) fn tools() -> Vec<Registered> {
    let declared = |name, title, description| Declared {
        name,
        title,
        description,
        read_only: true,
        destructive: false,
        idempotent: true,
    };
    vec![
        register::<ListInput, ListOutput>(
            &declared(
                "list_entities",
                "List Entities",
                "List names and types of graph entities in a thread, by type or part of a name. Look here for \
                 exact names before you write relations.",
            ),
            |call, given| list(call, given).boxed(),
        ),
        register::<QueryInput, QueryOutput>(
            &declared(
                "query_nodes",
                "Query Nodes",
                "Find graph entities and their observations by time, confidence or importance. Shows observation \
                 ids, as update_observation needs them.",
            ),
            |call, given| query(call, given).boxed(),
        ),
        register::<PathInput, PathOutput>(
            &declared(
                "find_relation_path",
                "Find Relation Path",
                "Find the shortest chain of relations between two graph entities of a thread, in either direction.",
            ),
            |call, given| path(call, given).boxed(),
        ),
        register::<ThreadInput, AnalyticsOutput>(
            &declared(
                "get_analytics",
                "Get Analytics",
                "Show the state of a thread's graph: recent changes, most important, most connected and orphaned \
                 entities, 10 each.",
            ),
            |call, given| analytics(call, given).boxed(),
        ),
        register::<MergesInput, MergesOutput>(
            &declared(
                "suggest_merges",
                "Suggest Merges",
                "Suggest pairs of graph entities whose names probably mean the same. Changes nothing.",
            ),
            |call, given| merges(call, given).boxed(),
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ListInput {
    /// Default: default
    thread_id: Option<String>,
    entity_type: Option<String>,
    /// Part of a name, in upper or lower case
    name_pattern: Option<String>,
    /// 1 to 1000, default 200
    limit: Option<i64>,
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ListOutput {
    entities: Vec<Named>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Named {
    name: String,
    entity_type: String,
}

async fn list(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
    let input: ListInput = arguments("list_entities", given)?;
    let scope = call.graph.scope(input.thread_id)?;
    let page = PageRequest::new(input.limit, input.cursor.as_deref(), None)?;
    let entity_type = input.entity_type.as_deref().filter(|t| !t.is_empty());
    let part = input.name_pattern.as_deref().filter(|p| !p.is_empty());
    let listed = call.memory.graph().list_entities(&call.namespace, &scope, entity_type, part, page).await?;
    let entities = listed.entities.into_iter();
    answer(&ListOutput {
        entities: entities.map(|e| Named { name: e.name, entity_type: e.entity_type }).collect(),
        next_cursor: listed.next.map(|cursor| cursor.to_string()),
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct QueryInput {
    /// Default: default
    thread_id: Option<String>,
    entity_type: Option<String>,
    /// 2026-03-01 or 2026-03-01T10:00:00Z
    created_from: Option<String>,
    created_to: Option<String>,
    /// 0.0 to 1.0
    min_confidence: Option<f64>,
    max_confidence: Option<f64>,
    min_importance: Option<f64>,
    max_importance: Option<f64>,
    /// 1 to 1000, default 50
    limit: Option<i64>,
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct QueryOutput {
    /// Entities with the observations in all ranges
    entities: Vec<Queried>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Queried {
    name: String,
    entity_type: String,
    confidence: f64,
    importance: f64,
    #[schemars(with = "String")]
    created_at: Timestamp,
    #[schemars(with = "String")]
    updated_at: Timestamp,
    observations: Vec<QueriedObservation>,
    /// Where not all of them are shown
    #[serde(skip_serializing_if = "Option::is_none")]
    observation_count: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct QueriedObservation {
    id: String,
    content: String,
    version: i32,
    #[schemars(with = "String")]
    timestamp: Timestamp,
    confidence: f64,
    importance: f64,
}

async fn query(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
    let input: QueryInput = arguments("query_nodes", given)?;
    let scope = call.graph.scope(input.thread_id)?;
    let page = PageRequest::new(input.limit, input.cursor.as_deref(), None)?;
    let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let ranges = Ranges {
        created_from: given(input.created_from).map(|t| parse_date("createdFrom", &t)).transpose()?,
        created_to: given(input.created_to).map(|t| parse_end_date("createdTo", &t)).transpose()?,
        min_confidence: share("minConfidence", input.min_confidence)?,
        max_confidence: share("maxConfidence", input.max_confidence)?,
        min_importance: share("minImportance", input.min_importance)?,
        max_importance: share("maxImportance", input.max_importance)?,
        entity_type: input.entity_type.filter(|t| !t.is_empty()),
    };
    let found = call.memory.graph().query_nodes(&call.namespace, &scope, &ranges, page).await?;
    let observation = |o: memory_store::graph::QueriedObservation| QueriedObservation {
        id: o.handle().to_string(),
        content: o.content,
        version: o.version,
        timestamp: o.created_at,
        confidence: as_given(o.confidence),
        importance: as_given(o.importance),
    };
    let is_cut = |e: &QueriedEntity| e.observations.len() < e.observation_count;
    let note = found.entities.iter().any(is_cut).then_some(
        "Of entities with an observationCount only the newest observations are shown. get_observation_history with \
         entityName has all, page by page; or ask for narrower ranges.",
    );
    let entities = found.entities.into_iter().map(|e| Queried {
        observation_count: is_cut(&e).then_some(e.observation_count),
        name: e.name,
        entity_type: e.entity_type,
        confidence: as_given(e.weights.confidence),
        importance: as_given(e.weights.importance),
        created_at: e.created_at,
        updated_at: e.updated_at,
        observations: e.observations.into_iter().map(observation).collect(),
    });
    answer(&QueryOutput {
        entities: entities.collect(),
        next_cursor: found.next.map(|cursor| cursor.to_string()),
        note,
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct PathInput {
    from: String,
    to: String,
    /// Most relations in the path, 1 to 20, default 5
    max_depth: Option<i64>,
    /// Default: default
    thread_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PathOutput {
    found: bool,
    /// Relations from `from` to `to`
    path: Vec<PathStep>,
    length: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PathStep {
    from: String,
    to: String,
    relation_type: String,
    /// forward, or backward when the path goes from `to` to `from`
    direction: &'static str,
    importance: f64,
}

async fn path(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
    let input: PathInput = arguments("find_relation_path", given)?;
    let scope = call.graph.scope(input.thread_id)?;
    let depth = path_depth(input.max_depth)?;
    let found = call
        .memory
        .graph()
        .find_relation_path(&call.namespace, &scope, &input.from, &input.to, depth)
        .await?;
    let (steps, found, note) = match found {
        RelationPath::Found(steps) => (steps, true, None),
        RelationPath::NotFound(nameless) => (Vec::new(), false, Some(no_path(depth, &nameless))),
        RelationPath::Isolated(names) => (Vec::new(), false, Some(isolated(&names))),
        RelationPath::GaveUp => (
            Vec::new(),
            false,
            Some("Too many entities lie between them. Try a smaller maxDepth.".to_owned()),
        ),
    };
    let path: Vec<PathStep> = steps
        .into_iter()
        .map(|step| PathStep {
            from: cut(&step.relation.from, SHOWN_CHARS),
            to: cut(&step.relation.to, SHOWN_CHARS),
            relation_type: cut(&step.relation.relation_type, SHOWN_CHARS),
            importance: as_given(step.importance),
            direction: if step.is_forward { "forward" } else { "backward" },
        })
        .collect();
    answer(&PathOutput { found, length: path.len(), path, note })
}

fn no_path(depth: usize, nameless: &[String]) -> String {
    let none = format!("No path of at most {depth} relations.");
    if nameless.is_empty() {
        return format!("{none} Try a larger maxDepth.");
    }
    let named: Vec<String> = nameless.iter().map(|name| format!("'{}'", cut(name, 100))).collect();
    format!(
        "{none} A path does not go through names that no entity has, such as {}: make them with create_entities, or try a \
         larger maxDepth.",
        named.join(", ")
    )
}

/// No depth would find a path there.
fn isolated(names: &[String]) -> String {
    let named: Vec<String> = names.iter().map(|name| format!("'{}'", cut(name, 100))).collect();
    let has = if named.len() == 1 { "has" } else { "have" };
    format!("{} {has} no relation to another entity. Add some with create_relations.", named.join(" and "))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ThreadInput {
    /// Default: default
    thread_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AnalyticsOutput {
    recent_changes: Vec<RecentlyChanged>,
    top_important: Vec<Important>,
    most_connected: Vec<WellConnected>,
    orphaned_entities: Vec<Orphaned>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RecentlyChanged {
    entity_name: String,
    entity_type: String,
    #[schemars(with = "String")]
    last_modified: Timestamp,
    /// created or updated
    change_type: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Important {
    entity_name: String,
    entity_type: String,
    importance: f64,
    observation_count: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WellConnected {
    entity_name: String,
    entity_type: String,
    relation_count: i64,
    connected_to: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Orphaned {
    entity_name: String,
    entity_type: String,
    /// no_relations or broken_relation
    reason: String,
}

async fn analytics(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
    let input: ThreadInput = arguments("get_analytics", given)?;
    let scope = call.graph.scope(input.thread_id)?;
    let found = call.memory.graph().analytics(&call.namespace, &scope).await?;
    let changes = found.recent_changes.into_iter().map(|change| RecentlyChanged {
        entity_name: cut(&change.name, SHOWN_CHARS),
        entity_type: cut(&change.entity_type, SHOWN_CHARS),
        last_modified: change.changed_at,
        change_type: if change.is_new { "created" } else { "updated" },
    });
    let important = found.top_important.into_iter().map(|entity| Important {
        entity_name: cut(&entity.name, SHOWN_CHARS),
        entity_type: cut(&entity.entity_type, SHOWN_CHARS),
        importance: as_given(entity.importance),
        observation_count: entity.observation_count,
    });
    let connected = found.most_connected.into_iter().map(|entity| WellConnected {
        entity_name: cut(&entity.name, SHOWN_CHARS),
        entity_type: cut(&entity.entity_type, SHOWN_CHARS),
        relation_count: entity.relation_count,
        connected_to: entity.connected_to.iter().map(|name| cut(name, SHOWN_CHARS)).collect(),
    });
    let orphaned = found.orphaned_entities.into_iter().map(|entity| Orphaned {
        entity_name: cut(&entity.name, SHOWN_CHARS),
        entity_type: cut(&entity.entity_type, SHOWN_CHARS),
        reason: entity.reason,
    });
    answer(&AnalyticsOutput {
        recent_changes: changes.collect(),
        top_important: important.collect(),
        most_connected: connected.collect(),
        orphaned_entities: orphaned.collect(),
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct MergesInput {
    /// Default: default
    thread_id: Option<String>,
    /// 1 to 1000, default 20
    limit: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MergesOutput {
    /// Likeliest first
    suggestions: Vec<Suggestion>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Suggestion {
    a: String,
    b: String,
    /// 0 to 1
    score: f64,
    reason: String,
}

async fn merges(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
    let input: MergesInput = arguments("suggest_merges", given)?;
    let scope = call.graph.scope(input.thread_id)?;
    let limit = list_limit(input.limit, MERGES_DEFAULT)?;
    let found = call.memory.graph().suggest_merges(&call.namespace, &scope, limit).await?;
    let suggestions = found.candidates.into_iter().map(|c| Suggestion {
        a: cut(&c.a, SHOWN_CHARS),
        b: cut(&c.b, SHOWN_CHARS),
        score: (c.score * 100.0).round() / 100.0,
        reason: c.reason,
    });
    answer(&MergesOutput {
        suggestions: suggestions.collect(),
        note: found.is_cut.then(|| "Only the first 100,000 entities of the thread were compared.".to_owned()),
    })
}
