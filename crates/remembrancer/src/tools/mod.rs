//! The MCP tools: wire types, their schemas, and one door through which every call goes.

mod admission;
mod analytics;
mod arguments;
mod audited;
mod authoring;
pub(crate) mod briefing;
mod connection;
mod drafts;
mod forget;
mod graph;
mod graph_home;
mod guide;
mod measured;
mod plain;
mod prompts;
mod protocol;
pub(crate) mod recall;
mod remember;
mod resource;
pub(crate) mod schema;
mod skills;
mod standing;
mod status;
mod tool_filter;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use memory_core::Invalid;
use memory_core::id::Namespace;
use memory_engine::graph::Warning;
use memory_engine::{EngineError, Memory};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

pub(crate) use self::arguments::arguments;
use self::audited::{Auditing, Called};
pub(crate) use self::connection::{Connection, KeyOfConnection};
pub(crate) use self::measured::describe;
use self::measured::{Measured, Outcome};
pub(crate) use self::plain::{PATH, PlainAnswer, STREAM_PATH};
pub(crate) use self::tool_filter::{ToolSettings, check_toolsets};
use crate::access::{self, Caller};
pub(crate) use graph_home::GraphHome;
use memory_engine::readiness::Readiness;

/// How long any tool may take.
const TOOL_TIMEOUT: Duration = Duration::from_secs(120);

/// A refusal or failure as the tool's answer: JSON that says what was wrong and what to do instead.
pub(crate) struct Refusal(Value, Outcome);

impl Refusal {
    /// One that the client can do something about.
    pub(crate) fn of(answer: Value) -> Self {
        Self(answer, Outcome::Refused)
    }
}

impl From<Invalid> for Refusal {
    fn from(invalid: Invalid) -> Self {
        Self::of(json!({ "error": invalid.0 }))
    }
}

impl From<EngineError> for Refusal {
    fn from(error: EngineError) -> Self {
        let outcome = match &error {
            EngineError::Invalid(_) | EngineError::UnknownEntity { .. } => Outcome::Refused,
            EngineError::Unavailable(_) | EngineError::Busy(_) | EngineError::DiskFull(_) => {
                Outcome::Unavailable
            }
            EngineError::Transfer(_)
            | EngineError::Reembedding { .. }
            | EngineError::Internal(_)
            | EngineError::Panicked(_) => Outcome::Failed,
        };
        let mut answer = json!({ "error": error.to_string() });
        if let EngineError::UnknownEntity { hint, .. } = &error {
            answer["hint"] = json!(hint);
        }
        Self(answer, outcome)
    }
}

/// Where a call works, and for whom.
pub(crate) struct Scope {
    pub(crate) caller: Caller,
    pub(crate) namespace: Namespace,
    pub(crate) graph: GraphHome,
    /// Jobs queued by this call get bulk priority.
    pub(crate) in_bulk: bool,
}

/// What a tool works with.
pub(crate) struct Call {
    pub(crate) memory: Arc<Memory>,
    pub(crate) namespace: Namespace,
    pub(crate) graph: GraphHome,
    /// Jobs queued by this call get bulk priority.
    pub(crate) in_bulk: bool,
}

/// A tool's answer: its JSON, and the text beside it where that is another.
pub(crate) struct Answer {
    structured: Value,
    text: Option<String>,
    /// Repeated in the JSON and in a text block of its own. Where the change is not in the file yet it is joined to the first text block
    /// instead, since some clients read only that.
    warning: Option<Warning>,
}

impl From<Answer> for CallToolResult {
    fn from(mut answer: Answer) -> Self {
        if let (Some(warning), Some(fields)) = (&answer.warning, answer.structured.as_object_mut()) {
            fields.insert("warning".to_owned(), json!(warning.text));
        }
        let Some(text) = answer.text else { return Self::structured(answer.structured) };
        // A large answer is written once.
        let mut result = Self::structured(Value::Null);
        result.structured_content = Some(answer.structured);
        result.content = match answer.warning {
            None => vec![ContentBlock::text(text)],
            Some(warning) if warning.is_unwritten => {
                vec![ContentBlock::text(format!("{text}\n\n{}", warning.text))]
            }
            Some(warning) => vec![ContentBlock::text(text), ContentBlock::text(warning.text)],
        };
        result
    }
}

type Run = fn(Call, JsonObject) -> BoxFuture<'static, Result<Answer, Refusal>>;

struct Registered {
    tool: Tool,
    run: Run,
    /// Answers even when the memory is not ready.
    unready: Option<fn(&Readiness) -> Value>,
}

/// A tool as its module declares it.
pub(crate) struct Declared {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    read_only: bool,
    destructive: bool,
    idempotent: bool,
}

fn register<In: JsonSchema, Out: JsonSchema>(declared: &Declared, run: Run) -> Registered {
    let annotations = ToolAnnotations::new()
        .read_only(declared.read_only)
        .destructive(declared.destructive)
        .idempotent(declared.idempotent)
        .open_world(false);
    let mut tool = Tool::new(declared.name, declared.description, Arc::new(schema::portable::<In>()));
    tool.title = Some(declared.title.to_owned());
    tool.output_schema = Some(Arc::new(schema::answered::<Out>()));
    tool.annotations = Some(annotations);
    Registered { tool, run, unready: None }
}

pub(crate) fn answer<Out: Serialize>(out: &Out) -> Result<Answer, Refusal> {
    let structured = serde_json::to_value(out).map_err(|error| unwritable(&error))?;
    Ok(Answer { structured, text: None, warning: None })
}

fn unwritable(error: &serde_json::Error) -> Refusal {
    tracing::error!(%error, "an answer could not be written as JSON");
    let error = json!({ "error": "An internal error occurred; the server's log has the details." });
    Refusal(error, Outcome::Failed)
}

/// All tools and what they need, shared by every connection.
pub(crate) struct ToolRegistry {
    tools: Vec<Registered>,
    readiness: memory_engine::readiness::Watch,
}

/// What each tool takes, for the command line's test.
#[cfg(test)]
pub(crate) fn inputs() -> std::collections::BTreeMap<String, Vec<String>> {
    let taken = |tool: &Tool| {
        let properties = tool.input_schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(|properties| properties.keys().cloned()).collect()
    };
    registered().iter().map(|r| (r.tool.name.to_string(), taken(&r.tool))).collect()
}

/// Every tool, by name.
fn registered() -> Vec<Registered> {
    let mut tools = vec![remember::tool(), recall::tool(), forget::tool(), status::tool(), briefing::tool()];
    tools.extend(graph::tools());
    tools.extend(authoring::tools());
    tools.extend(analytics::tools());
    tools.sort_by(|a, b| a.tool.name.cmp(&b.tool.name));
    tools
}

impl ToolRegistry {
    pub(crate) fn new(readiness: memory_engine::readiness::Watch) -> Arc<Self> {
        Arc::new(Self { tools: registered(), readiness })
    }

    pub(crate) fn readiness(&self) -> &memory_engine::readiness::Watch {
        &self.readiness
    }

    /// The memory, once it is there.
    pub(crate) async fn memory(&self) -> Result<Arc<Memory>, Readiness> {
        self.readiness.ready().await
    }

    /// What a tool answers to an agent that sees all of the namespace, for a page that shows it.
    pub(crate) async fn answer_to_agent(
        &self,
        tool: &str,
        arguments: Value,
        namespace: Namespace,
        graph: GraphHome,
    ) -> Result<Value, String> {
        let Value::Object(arguments) = arguments else {
            return Err("The arguments are no object.".to_owned());
        };
        let scope = Scope { caller: Caller::Owner, namespace, graph, in_bulk: false };
        let answered =
            self.call(tool, arguments, scope).await.and_then(|(answer, _)| answer.structured_content);
        answered.ok_or_else(|| format!("There is no tool {tool}."))
    }

    /// The one door: arguments are mended, the memory is waited for, a panic or a timeout is an answer.
    async fn call(
        &self,
        name: &str,
        mut given: JsonObject,
        scope: Scope,
    ) -> Option<(CallToolResult, Outcome)> {
        let registered = self.tools.iter().find(|registered| registered.tool.name == name)?;
        let mut measured = Measured::begin(registered.tool.name.clone());
        schema::repair(&registered.tool.input_schema, &mut given);
        let memory = match self.memory().await {
            Ok(memory) => memory,
            Err(readiness) => {
                measured.outcome = Outcome::Unavailable;
                return Some(match registered.unready {
                    Some(answer) => (CallToolResult::structured(answer(&readiness)), Outcome::Ok),
                    None => {
                        let error = json!({ "error": readiness.to_string() });
                        (CallToolResult::structured_error(error), Outcome::Unavailable)
                    }
                });
            }
        };
        if let Err(closed) = access::confirm(&memory, &scope.caller).await {
            measured.outcome = Outcome::Refused;
            let error = json!({ "error": closed.to_string() });
            return Some((CallToolResult::structured_error(error), Outcome::Refused));
        }
        let Scope { caller, namespace, graph, in_bulk } = scope;
        let auditing = Auditing::begin(&memory, &caller, &namespace, &Called::tool(registered, &given));
        let call = (registered.run)(Call { memory, namespace, graph, in_bulk }, given);
        // A task of its own: when the client goes away, what was accepted is still written, and recorded.
        let task = tokio::spawn(async move {
            let done = AssertUnwindSafe(tokio::time::timeout(TOOL_TIMEOUT, call)).catch_unwind().await;
            let done: Done = done.map(Result::ok).map_err(drop);
            let outcome = outcome_of(&done);
            if let Some(auditing) = auditing {
                let answer =
                    done.as_ref().ok().and_then(|done| Some(&done.as_ref()?.as_ref().ok()?.structured));
                auditing.end(outcome, answer).await;
            }
            (done, outcome)
        });
        let (done, outcome) = task.await.unwrap_or((Err(()), Outcome::Failed));
        measured.outcome = outcome;
        let result = match done {
            Ok(Some(Ok(answer))) => {
                let id = answer.structured["id"].as_str().filter(|id| id.starts_with("art_"));
                measured.artifact = id.map(str::to_owned);
                answer.into()
            }
            Ok(Some(Err(Refusal(value, _)))) => CallToolResult::structured_error(value),
            Ok(None) => CallToolResult::structured_error(json!({
                "error": format!("`{name}` took longer than {} s and was stopped. Ask for less at once.", TOOL_TIMEOUT.as_secs())
            })),
            Err(()) => {
                tracing::error!(tool = name, "a tool panicked");
                CallToolResult::structured_error(json!({
                    "error": format!("An internal error occurred in `{name}`. Try once more; the server's log has the details.")
                }))
            }
        };
        Some((result, outcome))
    }
}

/// What a call came to: an answer or a refusal; `None` when it took too long, an error when it panicked.
type Done = Result<Option<Result<Answer, Refusal>>, ()>;

fn outcome_of(done: &Done) -> Outcome {
    match done {
        Ok(Some(Ok(_))) => Outcome::Ok,
        Ok(Some(Err(Refusal(_, outcome)))) => *outcome,
        Ok(None) => Outcome::TimedOut,
        Err(()) => Outcome::Failed,
    }
}
