//! `forget` on the wire.

use futures::FutureExt;
use memory_core::id::AnyId;
use memory_engine::forget::Forgotten;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Answer, Call, Declared, Refusal, Registered, answer, arguments, register};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// art_…
    id: String,
    /// Must be true: deletion is final
    confirm: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    deleted: bool,
    id: String,
    cascade: CascadeOut,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CascadeOut {
    chunks: i64,
    events: i64,
    entities: i64,
}

pub(super) fn tool() -> Registered {
    let declared = Declared {
        name: "forget",
        title: "Forget",
        description: "Delete a remembered text for good, with its events, evidence and every entity only it named. Needs \
                      confirm=true.",
        read_only: false,
        destructive: true,
        idempotent: true,
    };
    register::<Input, Output>(&declared, |call, given| run(call, given).boxed())
}

async fn run(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
    let input: Input = arguments("forget", given)?;
    let id = input.id.trim().to_owned();
    let refused = |error: String, hint: &str| {
        Refusal::of(json!({ "deleted": false, "id": id, "error": error, "hint": hint }))
    };
    let parsed =
        AnyId::parse(&id).map_err(|e| refused(e.0, "Pass the art_ id that remember or recall gave."))?;
    match call.memory.forget(&call.namespace, &parsed, input.confirm.unwrap_or(false)).await? {
        Forgotten::Deleted(cascade) => answer(&Output {
            deleted: true,
            id,
            cascade: CascadeOut {
                chunks: cascade.chunks,
                events: cascade.events,
                entities: cascade.entities,
            },
        }),
        Forgotten::NotConfirmed => Err(refused(
            "Deletion was not confirmed.".to_owned(),
            "This deletes the text and everything extracted from it for good. Call again with confirm=true.",
        )),
        Forgotten::IsEvent { source } => {
            let text = format!("Events are derived data. Delete source artifact '{source}' instead.");
            Err(Refusal::of(json!({
                "deleted": false, "id": id, "error": text, "hint": text, "source_artifact_id": source.0,
            })))
        }
        Forgotten::NotFound if matches!(parsed, AnyId::Event(_)) => Err(refused(
            format!("Content not found: {id}"),
            "Events are derived from texts and go with them. Pass the art_ id of the text: recall gives it with each event.",
        )),
        Forgotten::NotFound => Err(refused(
            format!("Content not found: {id}"),
            "It may be forgotten already; recall finds what is there.",
        )),
    }
}
