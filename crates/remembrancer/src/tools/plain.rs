//! The tools for programs that speak no MCP: the same calls by HTTP alone, and the document that describes them.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::http::request::Parts;
use memory_core::id::Namespace;
use memory_engine::Memory;
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, JsonObject, Tool};
use serde_json::{Value, json};

use super::connection::Connection;
use super::measured::Outcome;
use super::{Scope, protocol};
use crate::access::{self, Caller};
use memory_core::feed::FeedKind;
use memory_language::text::cut;

/// The path that tools are below.
pub(crate) const PATH: &str = "/api/v1";
/// Where what happens is streamed.
pub(crate) const STREAM_PATH: &str = "/api/v1/events/stream";

/// What is answered: the same JSON as over MCP.
pub(crate) struct PlainAnswer {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
}

impl PlainAnswer {
    pub(crate) fn refusal(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, body: json!({ "error": error.into() }) }
    }
}

impl Connection {
    /// Calls a tool for a request that came over HTTP.
    pub(crate) async fn call_plainly(&self, parts: &Parts, tool: &str, arguments: JsonObject) -> PlainAnswer {
        let Some(caller) = parts.extensions.get::<Caller>().cloned() else {
            return PlainAnswer::refusal(StatusCode::UNAUTHORIZED, access::KEY_NEEDED);
        };
        let admitted = match self.admit(caller, access::named_namespace(&parts.uri).as_deref()) {
            Ok(admitted) => admitted,
            Err(error) => return not_admitted(error),
        };
        if !admitted.offer.has(tool) {
            let is_known = self.registry.tools.iter().any(|registered| registered.tool.name == tool);
            let status = if is_known { StatusCode::FORBIDDEN } else { StatusCode::NOT_FOUND };
            let tool = cut(tool, protocol::NAME_MAX_CHARS);
            return PlainAnswer::refusal(status, admitted.offer.refusal(&tool));
        }
        let graph = self.graph_of(&admitted.namespace);
        let scope = Scope { caller: admitted.caller, namespace: admitted.namespace, graph, in_bulk: false };
        let Some((result, outcome)) = self.registry.call(tool, arguments, scope).await else {
            return PlainAnswer::refusal(StatusCode::NOT_FOUND, "there is no such tool");
        };
        let status = status_of(outcome);
        let body = result.structured_content.unwrap_or_default();
        PlainAnswer { status, body: if status == StatusCode::OK { body } else { with_error(body) } }
    }

    /// Who reads what happens in which namespace: whoever may read there.
    pub(crate) async fn admit_reader(
        &self,
        parts: &Parts,
    ) -> Result<(Arc<Memory>, Caller, Namespace), PlainAnswer> {
        let Some(caller) = parts.extensions.get::<Caller>().cloned() else {
            return Err(PlainAnswer::refusal(StatusCode::UNAUTHORIZED, access::KEY_NEEDED));
        };
        let admitted =
            self.admit(caller, access::named_namespace(&parts.uri).as_deref()).map_err(not_admitted)?;
        let memory = self.registry.readiness().ready().await.map_err(|readiness| {
            PlainAnswer::refusal(StatusCode::SERVICE_UNAVAILABLE, readiness.to_string())
        })?;
        access::confirm(&memory, &admitted.caller)
            .await
            .map_err(|closed| PlainAnswer::refusal(StatusCode::UNAUTHORIZED, closed.to_string()))?;
        Ok((memory, admitted.caller, admitted.namespace))
    }

    /// The document of what this caller may call, as OpenAPI 3.1 has it.
    pub(crate) fn document(&self, parts: &Parts) -> PlainAnswer {
        let Some(caller) = parts.extensions.get::<Caller>().cloned() else {
            return PlainAnswer::refusal(StatusCode::UNAUTHORIZED, access::KEY_NEEDED);
        };
        match self.admit(caller, access::named_namespace(&parts.uri).as_deref()) {
            Ok(admitted) => {
                let paths: serde_json::Map<String, Value> = self
                    .offered(&admitted.offer)
                    .map(|tool| (format!("{PATH}/{}", tool.name), path(tool)))
                    .chain([(STREAM_PATH.to_owned(), stream_path())])
                    .collect();
                PlainAnswer { status: StatusCode::OK, body: document(&Value::Object(paths)) }
            }
            Err(error) => not_admitted(error),
        }
    }
}

/// A namespace that is none, or one that is not open to the caller.
fn not_admitted(error: ErrorData) -> PlainAnswer {
    let is_faulty = error.code == ErrorCode::INVALID_PARAMS;
    let status = if is_faulty { StatusCode::BAD_REQUEST } else { StatusCode::FORBIDDEN };
    PlainAnswer::refusal(status, error.message)
}

/// A refusal of a tool that answers at length what is wrong says it in `error` too, as all others do.
fn with_error(mut body: Value) -> Value {
    if !body["error"].is_string() {
        let hint = body["hint"].as_str().unwrap_or("It was refused.").to_owned();
        match &mut body {
            Value::Object(fields) => _ = fields.insert("error".to_owned(), Value::String(hint)),
            _ => body = json!({ "error": hint }),
        }
    }
    body
}

fn status_of(outcome: Outcome) -> StatusCode {
    match outcome {
        Outcome::Ok => StatusCode::OK,
        Outcome::Refused => StatusCode::BAD_REQUEST,
        Outcome::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Outcome::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        Outcome::Failed | Outcome::Left => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn document(paths: &Value) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Remembrancer",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The tools of the MCP server for programs that speak no MCP: the same names, arguments, answers, roles and limits.",
            "license": { "name": "MIT", "identifier": "MIT" },
        },
        "servers": [{ "url": "/" }],
        "security": [{}, { "key": [] }],
        "components": {
            "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } },
            "parameters": {
                "namespace": {
                    "name": "namespace", "in": "query", "required": false, "schema": { "type": "string" },
                    "description": "The namespace to work in; the default of the server, or of the key, when left out",
                },
            },
            "schemas": {
                "Error": {
                    "type": "object",
                    "required": ["error"],
                    "properties": { "error": { "type": "string" } },
                },
            },
        },
        "paths": paths,
    })
}

/// Why a request was not answered.
fn refusal(description: &str) -> Value {
    json!({
        "description": description,
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
    })
}

/// The stream of what happens.
fn stream_path() -> Value {
    let kinds: Vec<&str> = FeedKind::ALL.iter().map(|kind| kind.as_str()).collect();
    json!({
        "get": {
            "operationId": "stream_events",
            "summary": "What happens in the namespace",
            "description": format!(
                "Server-sent events, of the types {}. Each has an id; send the last one as Last-Event-ID to go on after it.",
                kinds.join(", ")
            ),
            "parameters": [
                { "$ref": "#/components/parameters/namespace" },
                {
                    "name": "Last-Event-ID", "in": "header", "required": false,
                    "schema": { "type": "integer", "minimum": 0 },
                    "description": "The id of the last event that was seen; what is new from now on when left out",
                },
            ],
            "responses": {
                "200": { "description": "The stream", "content": { "text/event-stream": { "schema": { "type": "string" } } } },
                "400": refusal("What was wrong, with which value, and what to do instead"),
                "401": refusal("A key is needed"),
                "403": refusal("Not open to this caller"),
                "429": refusal("Too many requests; Retry-After says when"),
                "503": refusal("The memory is not available now, or there are too many streams"),
            },
        },
    })
}

/// One tool: what it takes and answers.
fn path(tool: &Tool) -> Value {
    let schema = tool.output_schema.as_ref().map(|schema| Value::Object((**schema).clone()));
    json!({
        "post": {
            "operationId": tool.name,
            "summary": tool.title,
            "description": tool.description,
            "parameters": [{ "$ref": "#/components/parameters/namespace" }],
            "requestBody": {
                "required": true,
                "content": { "application/json": { "schema": Value::Object((*tool.input_schema).clone()) } },
            },
            "responses": {
                "200": {
                    "description": "Done",
                    "content": { "application/json": { "schema": schema.unwrap_or_else(|| json!({ "type": "object" })) } },
                },
                "400": refusal("What was wrong, with which value, and what to do instead"),
                "401": refusal("A key is needed"),
                "403": refusal("Not open to this caller"),
                "413": refusal("The body is too large"),
                "415": refusal("The body is not JSON"),
                "429": refusal("Too many requests; Retry-After says when"),
                "500": refusal("A fault of the server; its log has the details"),
                "503": refusal("The memory is not available now; the same request may be made again"),
                "504": refusal("It took too long"),
            },
        },
    })
}
