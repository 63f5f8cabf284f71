//! `/api/v1`: the tools for programs that speak no MCP.

use std::sync::Arc;

use axum::body::to_bytes;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use rmcp::model::JsonObject;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::stream;
use crate::message::MESSAGE_MAX_BYTES;
use crate::tools::{Connection, PATH, PlainAnswer, STREAM_PATH};

pub(super) fn router(connection: Arc<Connection>, stop: CancellationToken) -> Router {
    let streams =
        Router::new().route(STREAM_PATH, get(stream::stream)).with_state((Arc::clone(&connection), stop));
    Router::new()
        .route("/api/v1/openapi.json", get(document))
        .route("/api/v1/{tool}", post(call))
        .with_state(connection)
        .merge(streams)
}

async fn document(State(connection): State<Arc<Connection>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    answered(connection.document(&parts))
}

/// How much of a refusal is read to be put into its form.
const REFUSAL_MAX_BYTES: usize = 64 * 1024;

/// Puts refusals of the server itself, which are texts or of JSON-RPC, into the form of the others here. Their headers stay.
pub(super) async fn explain(request: Request, next: Next) -> Response {
    let is_ours = request.uri().path().starts_with(PATH);
    let response = next.run(request).await;
    if !is_ours || !(response.status().is_client_error() || response.status().is_server_error()) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, REFUSAL_MAX_BYTES).await else { return parts.into_response() };
    let json: Option<Value> = serde_json::from_slice(&bytes).ok();
    let of_protocol = json.as_ref().and_then(|json| json["error"]["message"].as_str());
    let error = match (of_protocol, &json) {
        (Some(message), _) => message.to_owned(),
        (None, Some(_)) => return Response::from_parts(parts, bytes.into()),
        (None, None) => match String::from_utf8_lossy(&bytes).trim() {
            "" => parts.status.canonical_reason().unwrap_or("It was refused.").to_owned(),
            text => text.to_owned(),
        },
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(parts, json!({ "error": error }).to_string().into())
}

/// The body is within its limits and walked through already.
async fn call(
    State(connection): State<Arc<Connection>>,
    Path(tool): Path<String>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, MESSAGE_MAX_BYTES).await else {
        return answered(PlainAnswer::refusal(StatusCode::BAD_REQUEST, "The body could not be read."));
    };
    let Ok(arguments) = serde_json::from_slice::<JsonObject>(&bytes) else {
        let error = "The body must be an object of JSON: the arguments of the tool.";
        return answered(PlainAnswer::refusal(StatusCode::BAD_REQUEST, error));
    };
    answered(connection.call_plainly(&parts, &tool, arguments).await)
}

pub(super) fn answered(answer: PlainAnswer) -> Response {
    let mut response = (answer.status, Json(answer.body)).into_response();
    if answer.status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
    }
    response
}
