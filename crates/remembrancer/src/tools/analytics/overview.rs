//! The state of a thread's graph: `get_analytics`, and `suggest_merges` for entities that may be the same.

use jiff::Timestamp;
use memory_core::graph::as_given;
use memory_engine::graph::list_limit;
use memory_language::text::cut;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{Answer, Call, Refusal, answer, arguments};
use super::SHOWN_CHARS;

/// How many pairs are suggested unless a limit is given.
const MERGES_DEFAULT: usize = 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ThreadInput {
    /// Default: default
    thread_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AnalyticsOutput {
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

pub(super) async fn analytics(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
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
pub(super) struct MergesInput {
    /// Default: default
    thread_id: Option<String>,
    /// 1 to 1000, default 20
    limit: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MergesOutput {
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

pub(super) async fn merges(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
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
