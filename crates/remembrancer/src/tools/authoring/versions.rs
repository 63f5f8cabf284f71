//! An observation's next version, and the versions before it: `update_observation` and `get_observation_history`.

use jiff::Timestamp;
use memory_core::graph::{GraphScope, ObservationHandle, ThreadId, as_given};
use memory_engine::graph::{HistoryRequest, ObservationUpdate};
use memory_store::graph::ObservationVersion;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tools::{Answer, Call, Refusal, answer, arguments};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct UpdateInput {
    entity_name: String,
    /// Id of any version: obs_…, as get_observation_history and query_nodes show it
    observation_id: String,
    /// The observation as it is now
    content: String,
    /// 0.0 to 1.0, default as before
    confidence: Option<f64>,
    importance: Option<f64>,
    /// Default: default
    thread_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdateOutput {
    entity_name: String,
    observation: ShownObservation,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ShownObservation {
    id: String,
    content: String,
    version: i32,
    #[schemars(with = "String")]
    timestamp: Timestamp,
    /// Id of the version before
    #[serde(skip_serializing_if = "Option::is_none")]
    supersedes: Option<String>,
    /// Id of the version after
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
    confidence: f64,
    importance: f64,
    #[serde(rename = "threadId")]
    thread_id: String,
}

impl ShownObservation {
    fn new(version: ObservationVersion, scope: &GraphScope) -> Self {
        Self {
            id: version.handle.to_string(),
            content: version.content,
            version: version.version,
            timestamp: version.created_at,
            supersedes: version.supersedes.map(|handle| handle.to_string()),
            superseded_by: version.superseded_by.map(|handle| handle.to_string()),
            confidence: as_given(version.weights.confidence),
            importance: as_given(version.weights.importance),
            thread_id: match scope {
                GraphScope::Thread(thread) => thread.as_str().to_owned(),
                GraphScope::File(_) => ThreadId::default().as_str().to_owned(),
            },
        }
    }
}

pub(super) async fn run_update(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let input: UpdateInput = arguments("update_observation", given)?;
    let scope = call.graph.scope(input.thread_id)?;
    let update = ObservationUpdate {
        handle: ObservationHandle::parse(&input.observation_id)?,
        entity_name: input.entity_name,
        content: input.content,
        confidence: input.confidence,
        importance: input.importance,
    };
    let changed = call.memory.graph().update_observation(&call.namespace, &scope, &update).await?;
    let answered = answer(&UpdateOutput {
        entity_name: update.entity_name,
        observation: ShownObservation::new(changed.answer, &scope),
    })?;
    Ok(Answer { warning: changed.warning, ..answered })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct HistoryInput {
    entity_name: String,
    /// Id of any version; without it all observations are shown
    observation_id: Option<String>,
    /// Default: default
    thread_id: Option<String>,
    /// 1 to 1000, default 200
    limit: Option<i64>,
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HistoryOutput {
    entity_name: String,
    /// The first version of each observation first
    observations: Vec<ShownObservation>,
    #[serde(rename = "next_cursor", skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

pub(super) async fn run_history(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let input: HistoryInput = arguments("get_observation_history", given)?;
    let scope = call.graph.scope(input.thread_id)?;
    let handle = input.observation_id.as_deref().filter(|id| !id.trim().is_empty());
    let handle = handle.map(ObservationHandle::parse).transpose()?;
    let page = HistoryRequest::new(input.limit, input.cursor.as_deref())?;
    let history = call
        .memory
        .graph()
        .observation_history(&call.namespace, &scope, &input.entity_name, handle, page)
        .await?;
    answer(&HistoryOutput {
        entity_name: input.entity_name,
        next_cursor: history.next_cursor,
        observations: history
            .versions
            .into_iter()
            .map(|version| ShownObservation::new(version, &scope))
            .collect(),
    })
}
