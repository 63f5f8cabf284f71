//! The tools that write to the knowledge graph under its rules: `save_memory`, `validate_memory`,
//! `update_observation` and `get_observation_history`.

mod versions;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::FutureExt;
use memory_core::authoring::{Checked, EntityCheck, VALIDATION_HINT};
use memory_core::graph::GraphScope;
use memory_language::text::cut;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::drafts::Sent;
use super::{Answer, Call, Declared, Refusal, Registered, answer, register, schema};
use versions::{HistoryInput, HistoryOutput, UpdateInput, UpdateOutput, run_history, run_update};

/// About how many characters of errors, and of warnings, one answer has; what is over that is counted.
const MESSAGES_CHARS: usize = 30_000;
/// How much of a name or a type that was sent comes back.
const SENT_CHARS: usize = 200;

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
    let mut validate =
        register::<SaveInput, ValidateOutput>(&validate, |call, given| run_validate(call, given).boxed());
    let mut input = Value::Object(validate.tool.input_schema.as_ref().clone());
    schema::without_words(&mut input);
    validate.tool.input_schema = Arc::new(input.as_object().cloned().unwrap_or_default());
    vec![
        register::<SaveInput, SaveOutput>(&save, |call, given| run_save(call, given).boxed()),
        validate,
        register::<UpdateInput, UpdateOutput>(&update, |call, given| run_update(call, given).boxed()),
        register::<HistoryInput, HistoryOutput>(&history, |call, given| run_history(call, given).boxed()),
    ]
}

// The schema of what [`Sent`] reads.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SaveInput {
    entities: Vec<EntityInput>,
    /// Project or conversation that the graph belongs to
    thread_id: String,
}

// What is missing is said by the rules, in their words.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[serde(rename_all = "camelCase")]
#[schemars(extend("required" = ["name", "entityType", "observations"]))]
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

#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
#[serde(rename_all = "camelCase")]
#[schemars(extend("required" = ["targetEntity", "relationType"]))]
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
    hint: Option<String>,
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

/// A call that the rules can be applied to, or all that is wrong with its shape or thread.
enum Read {
    Whole(GraphScope, Sent),
    Faulty(Checked),
}

async fn read(call: &Call, given: &JsonObject) -> Result<Read, Refusal> {
    let mut sent = Sent::read(given);
    let scope = match (sent.thread_id.is_empty(), call.graph.scope(Some(sent.thread_id.clone()))) {
        (true, _) => None,
        (false, Ok(scope)) => Some(scope),
        (false, Err(error)) => {
            sent.faults.push(error.0);
            None
        }
    };
    let mut checked = match scope {
        Some(scope) if sent.faults.is_empty() => return Ok(Read::Whole(scope, sent)),
        Some(scope) if !sent.drafts.is_empty() => {
            call.memory.graph().validate_memory(&call.namespace, &scope, &sent.drafts).await?
        }
        _ => sent.unread(),
    };
    checked.errors.splice(0..0, sent.faults);
    Ok(Read::Faulty(checked))
}

async fn run_save(call: Call, given: JsonObject) -> Result<Answer, Refusal> {
    let (scope, sent) = match read(&call, &given).await? {
        Read::Whole(scope, sent) => (scope, sent),
        Read::Faulty(checked) => return Err(refusal(&checked)?),
    };
    let changed = call.memory.graph().save_memory(&call.namespace, &scope, &sent.drafts).await?;
    let saved = changed.answer;
    if !saved.checked.is_valid() {
        return Err(refusal(&saved.checked)?);
    }
    let answered = answer(&SaveOutput {
        success: true,
        created: Created { entities: saved.new_entities, relations: saved.new_relations },
        entity_ids: saved.ids.into_iter().collect(),
        warnings: bounded(saved.checked.warnings()),
        quality_score: rounded(saved.checked.quality_score),
        validation_errors: None,
        hint: None,
    })?;
    Ok(Answer { warning: changed.warning, ..answered })
}

/// Everything that is wrong with a call, at once, as far as it has room.
fn refusal(checked: &Checked) -> Result<Refusal, Refusal> {
    let sent = |text: &str| if text.is_empty() { "unknown".to_owned() } else { cut(text, SENT_CHARS) };
    let of_entity = |check: &EntityCheck| ValidationError {
        entity_index: check.index,
        entity_name: sent(&check.name),
        entity_type: sent(&check.entity_type),
        errors: check.errors.clone(),
        observation_issues: check
            .observation_issues
            .iter()
            .map(|issue| Issue { observation: issue.observation.clone(), issue: issue.issue.clone() })
            .collect(),
    };
    let mut room = Room(MESSAGES_CHARS);
    let invalid: Vec<&EntityCheck> = checked.entities.iter().filter(|check| !check.is_valid()).collect();
    let fitting = invalid.iter().take_while(|check| room.has(size(check)));
    let errors: Vec<ValidationError> = fitting.map(|check| of_entity(check)).collect();
    let hint = match invalid.len() - errors.len() {
        0 => VALIDATION_HINT.to_owned(),
        more => {
            format!("{VALIDATION_HINT} {more} more entities have errors that are not shown: fix these first.")
        }
    };
    let Answer { structured: mut value, .. } = answer(&SaveOutput {
        success: false,
        created: Created { entities: 0, relations: 0 },
        entity_ids: BTreeMap::new(),
        warnings: bounded(checked.warnings()),
        quality_score: rounded(checked.quality_score),
        validation_errors: Some(errors),
        hint: Some(hint),
    })?;
    if !checked.errors.is_empty() {
        value["error"] = json!(checked.errors.join(" "));
    }
    Ok(Refusal::of(value))
}

/// Characters that an answer still has room for.
struct Room(usize);

impl Room {
    /// Whether anything was left before this.
    fn has(&mut self, chars: usize) -> bool {
        let has_any = self.0 > 0;
        self.0 = self.0.saturating_sub(chars);
        has_any
    }
}

fn size(check: &EntityCheck) -> usize {
    let errors = check.errors.iter().map(String::len).sum::<usize>();
    let issues = check.observation_issues.iter().map(|issue| issue.observation.len() + issue.issue.len());
    200 + errors + issues.sum::<usize>()
}

fn bounded(mut warnings: Vec<String>) -> Vec<String> {
    let mut room = Room(MESSAGES_CHARS);
    let kept = warnings.iter().take_while(|warning| room.has(warning.len())).count();
    let left_out = warnings.len() - kept;
    warnings.truncate(kept);
    if left_out > 0 {
        warnings.push(format!("{left_out} more warnings are not shown."));
    }
    warnings
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
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
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
    let checked = match read(&call, &given).await? {
        Read::Whole(scope, sent) => {
            call.memory.graph().validate_memory(&call.namespace, &scope, &sent.drafts).await?
        }
        Read::Faulty(checked) => checked,
    };
    let mut room = Room(MESSAGES_CHARS);
    let mut hidden = 0;
    let all_valid = checked.is_valid();
    let results = checked.entities.into_iter().map(|check| {
        let said = size(&check) - 200 + check.warnings.iter().map(String::len).sum::<usize>();
        let is_shown = said == 0 || room.has(said);
        hidden += usize::from(!is_shown);
        let shown = |messages: Vec<String>| if is_shown { messages } else { Vec::new() };
        Validated {
            index: check.index,
            valid: check.is_valid(),
            name: cut(&check.name, SENT_CHARS),
            r#type: cut(&check.entity_type, SENT_CHARS),
            errors: shown(check.errors),
            warnings: shown(check.warnings),
        }
    });
    let results = results.collect();
    let note = (hidden > 0)
        .then(|| format!("The messages of {hidden} more entities are not shown: fix these first."));
    answer(&ValidateOutput { all_valid, errors: checked.errors, results, note })
}
