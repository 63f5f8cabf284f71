//! The answer to HTTP requests while the process ends: that it ends, and when to try again.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Seconds after which another try is worth it: a restart takes about as long.
const RETRY_AFTER: &str = "2";
const NOT_BEGUN: &str = "The server is stopping and has not begun this. Try again in a few seconds.";
const CUT_OFF: &str = "The server stopped before this was answered; whether it was done is not known. Try again in a few \
                       seconds, after a look when it was a change.";

/// Refuses a request that comes too late, and replaces the answer of one that the protocol library had to give up.
pub(crate) async fn refuse_while_stopping(
    State(stop): State<CancellationToken>,
    request: Request,
    next: Next,
) -> Response {
    if stop.is_cancelled() {
        return unavailable(NOT_BEGUN);
    }
    let response = next.run(request).await;
    if response.status() == StatusCode::INTERNAL_SERVER_ERROR && stop.is_cancelled() {
        return unavailable(CUT_OFF);
    }
    response
}

fn unavailable(reason: &str) -> Response {
    let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32000, "message": reason } });
    let retry = [(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER))];
    (StatusCode::SERVICE_UNAVAILABLE, retry, Json(error)).into_response()
}
