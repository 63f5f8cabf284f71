//! Entities of a thread: `list_entities` by type or name, `query_nodes` by time, confidence or importance.

use jiff::Timestamp;
use memory_core::date::{parse_date, parse_end_date};
use memory_core::graph::{PageRequest, as_given, share};
use memory_store::graph::{QueriedEntity, Ranges};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{Answer, Call, Refusal, answer, arguments};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ListInput {
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
pub(super) struct ListOutput {
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

pub(super) async fn list(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
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
pub(super) struct QueryInput {
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
pub(super) struct QueryOutput {
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

pub(super) async fn query(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
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
