//! The tools that write to the knowledge graph under its rules: `save_memory`, `validate_memory`,
//! `update_observation` and `get_observation_history`.

use std::collections::BTreeMap;

use futures::FutureExt;
use jiff::Timestamp;
use memory_core::authoring::{Checked, EntityCheck, EntityDraft, RelationDraft, VALIDATION_HINT};
use memory_core::graph::{GraphScope, ObservationHandle, ThreadId, as_given};
use memory_engine::graph::ObservationUpdate;
use memory_store::graph::ObservationVersion;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Answer, Call, Declared, Refusal, Registered, answer, arguments, register};

pub(super) fn tools() -> Vec<Registered> {
    let save = Declared {
        name: "save_memory",
        title: "Save Memory",
        description: "Save entities with observations and relations to the knowledge graph, all or nothing. Each \
                      observation is one fact of at most 300 characters and 3 sentences; each new entity has at \
                      least 1 relation to an entity of this call or the thread, or isRoot. Errors say how to mend \
                      the call.",
        read_only: false,
        destructive: false,
        idempotent: true,
    };
    let validate = Declared {
        name: "validate_memory",
        title: "Validate Memory",
        description: "Check entities as save_memory would, and write nothing.",
        read_only: true,
        destructive: false,
        idempotent: true,
    };
    let update = Declared {
        name: "update_observation",
        title: "Update Observation",
        description: "Replace an observation that is no longer true by a new version; the old one stays in its \
                      history.",
        read_only: false,
        destructive: false,
        idempotent: true,
    };
    let history = Declared {
        name: "get_observation_history",
        title: "Get Observation History",
        description: "Show the versions of an observation, or of all of an entity's observations with their ids.",
        read_only: true,
        destructive: false,
        idempotent: true,
    };
    vec![
        register::<SaveInput, SaveOutput>(&save, |call, given| run_save(call, given).boxed()),
        register::<SaveInput, ValidateOutput>(&validate, |call, given| run_validate(call, given).boxed()),
        register::<UpdateInput, UpdateOutput>(&update, |call, given| run_update(call, given).boxed()),
        register::<HistoryInput, HistoryOutput>(&history, |call, given| run_history(call, given).boxed()),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SaveInput {
    entities: Vec<EntityInput>,
    /// Project or conversation that the graph belongs to
    thread_id: String,
}

// What is missing is said by the rules, in their words.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EntityInput {
    /// 1 to 100 characters
    #[serde(default)]
    name: String,
    /// Person, Document, Service or any other word, capitalised
    #[serde(default)]
    entity_type: String,
    /// Facts, each on its own
    #[serde(default)]
    observations: Vec<String>,
    #[serde(default)]
    relations: Vec<RelationInput>,
    /// 0.0 to 1.0, default 1.0
    confidence: Option<f64>,
    /// 0.0 to 1.0, default 0.5
    importance: Option<f64>,
    /// Stands without relations
    is_root: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RelationInput {
    /// Name of an entity of this call or of the thread
    #[serde(default)]
    target_entity: String,
    /// Such as uses, depends on, created by
    #[serde(default)]
    relation_type: String,
    /// 0.0 to 1.0, default 0.7
    importance: Option<f64>,
}

impl From<EntityInput> for EntityDraft {
    fn from(input: EntityInput) -> Self {
        let relation = |relation: RelationInput| RelationDraft {
            target: relation.target_entity,
            relation_type: relation.relation_type,
            importance: relation.importance,
        };
        Self {
            name: input.name,
            entity_type: input.entity_type,
            observations: input.observations,
            relations: input.relations.into_iter().map(relation).collect(),
            confidence: input.confidence,
            importance: input.importance,
            is_root: input.is_root.unwrap_or(false),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct SaveOutput {
    success: bool,
    created: Created,
    /// Ids of the entities by name
    entity_ids: BTreeMap<String, String>,
    warnings: Vec<String>,
    /// 0 to 1
    quality_score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation_errors: Option<Vec<ValidationError>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Created {
    entities: usize,
    relations: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ValidationError {
    entity_index: usize,
    entity_name: String,
    entity_type: String,
    errors: Vec<String>,
    observation_issues: Vec<Issue>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Issue {
    observation: String,
    issue: String,
}

fn read(tool: &str, call: &Call, given: JsonObject) -> Result<(GraphScope, Vec<EntityDraft>), Refusal> {
    let input: SaveInput = arguments(tool, given)?;
    let scope = call.graph.scope(Some(input.thread_id))?;
    Ok((scope, input.entities.into_iter().map(EntityDraft::from).collect()))
}

async fn run_save(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let (scope, drafts) = read("save_memory", &call, given)?;
    let saved = call.memory.save_memory(&call.namespace, &scope, &drafts).await?.answer;
    if !saved.checked.is_valid() {
        return Err(refusal(&saved.checked)?);
    }
    answer(&SaveOutput {
        success: true,
        created: Created { entities: saved.new_entities, relations: saved.new_relations },
        entity_ids: saved.ids.into_iter().collect(),
        warnings: saved.checked.warnings(),
        quality_score: rounded(saved.checked.quality_score),
        validation_errors: None,
        hint: None,
    })
}

/// Everything that is wrong with a call, at once.
fn refusal(checked: &Checked) -> Result<Refusal, Refusal> {
    let of_entity = |check: &EntityCheck| ValidationError {
        entity_index: check.index,
        entity_name: if check.name.is_empty() { "unknown".to_owned() } else { check.name.clone() },
        entity_type: if check.entity_type.is_empty() {
            "unknown".to_owned()
        } else {
            check.entity_type.clone()
        },
        errors: check.errors.clone(),
        observation_issues: check
            .observation_issues
            .iter()
            .map(|issue| Issue { observation: issue.observation.clone(), issue: issue.issue.clone() })
            .collect(),
    };
    let errors = checked.entities.iter().filter(|check| !check.is_valid()).map(of_entity).collect();
    let Answer { structured: mut value, .. } = answer(&SaveOutput {
        success: false,
        created: Created { entities: 0, relations: 0 },
        entity_ids: BTreeMap::new(),
        warnings: checked.warnings(),
        quality_score: rounded(checked.quality_score),
        validation_errors: Some(errors),
        hint: Some(VALIDATION_HINT),
    })?;
    if !checked.errors.is_empty() {
        value["error"] = json!(checked.errors.join(" "));
    }
    Ok(Refusal(value))
}

fn rounded(score: f64) -> f64 {
    (score * 1_000.0).round() / 1_000.0
}

#[derive(Debug, Serialize, JsonSchema)]
struct ValidateOutput {
    all_valid: bool,
    results: Vec<Validated>,
    /// What is wrong with the call as a whole
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Validated {
    index: usize,
    name: String,
    r#type: String,
    valid: bool,
    errors: Vec<String>,
    warnings: Vec<String>,
}

async fn run_validate(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let (scope, drafts) = read("validate_memory", &call, given)?;
    let checked = call.memory.validate_memory(&call.namespace, &scope, &drafts).await?;
    answer(&ValidateOutput {
        all_valid: checked.is_valid(),
        errors: checked.errors,
        results: checked
            .entities
            .into_iter()
            .map(|check| Validated {
                index: check.index,
                valid: check.is_valid(),
                name: check.name,
                r#type: check.entity_type,
                errors: check.errors,
                warnings: check.warnings,
            })
            .collect(),
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct UpdateInput {
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
struct UpdateOutput {
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

async fn run_update(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let input: UpdateInput = arguments("update_observation", given)?;
    let scope = call.graph.scope(input.thread_id)?;
    let update = ObservationUpdate {
        handle: ObservationHandle::parse(&input.observation_id)?,
        entity_name: input.entity_name,
        content: input.content,
        confidence: input.confidence,
        importance: input.importance,
    };
    let changed = call.memory.update_observation(&call.namespace, &scope, &update).await?;
    answer(&UpdateOutput {
        entity_name: update.entity_name,
        observation: ShownObservation::new(changed.answer, &scope),
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct HistoryInput {
    entity_name: String,
    /// Id of any version; without it all observations are shown
    observation_id: Option<String>,
    /// Default: default
    thread_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HistoryOutput {
    entity_name: String,
    /// The first version of each observation first
    observations: Vec<ShownObservation>,
}

async fn run_history(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let input: HistoryInput = arguments("get_observation_history", given)?;
    let scope = call.graph.scope(input.thread_id)?;
    let handle = input.observation_id.as_deref().filter(|id| !id.trim().is_empty());
    let handle = handle.map(ObservationHandle::parse).transpose()?;
    let versions =
        call.memory.observation_history(&call.namespace, &scope, &input.entity_name, handle).await?;
    answer(&HistoryOutput {
        entity_name: input.entity_name,
        observations: versions.into_iter().map(|version| ShownObservation::new(version, &scope)).collect(),
    })
}
