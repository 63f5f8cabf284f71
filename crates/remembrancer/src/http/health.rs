//! Liveness and readiness of the process, for balancers, orchestrators and `remembrancer health`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use memory_core::access::Role;
use memory_engine::readiness::{NotReady, Watch};
use memory_telemetry::health::{self, Detail};
use tokio_util::sync::CancellationToken;

use super::credentials::RequestHead;
use super::guard::{Guard, refused};
use crate::access::{self, Caller, StepUp};

struct HealthState {
    readiness: Watch,
    guard: Arc<Guard>,
    stop: CancellationToken,
}

/// `/livez`, which says that the process answers and checks nothing, and `/readyz`. Neither needs a key.
pub(super) fn router(readiness: Watch, guard: Arc<Guard>, stop: CancellationToken) -> Router {
    let state = Arc::new(HealthState { readiness, guard, stop });
    Router::new().route("/livez", get(|| async { "ok\n" })).route("/readyz", get(readyz)).with_state(state)
}

/// `/metrics` for those who may see how the installation is, behind the same checks as MCP.
pub(super) async fn metrics(
    readiness: Watch,
    Extension(caller): Extension<Caller>,
    Extension(step_up): Extension<StepUp>,
) -> Response {
    if !caller.is_admin() {
        step_up.need(Role::Admin);
        return refused(StatusCode::FORBIDDEN, "This takes a key of the role admin.");
    }
    // While the memory was not there to say whether there are keys, nothing is shown.
    if let (Some(memory), Caller::Anonymous { is_confirmed: false }) = (readiness.memory(), &caller)
        && access::confirm(&memory, &caller).await.is_err()
    {
        return refused(StatusCode::UNAUTHORIZED, access::KEY_NEEDED);
    }
    let mut response = Response::new(Body::from(memory_telemetry::metrics::scrape(&readiness).await));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(memory_telemetry::metrics::CONTENT_TYPE));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn readyz(State(state): State<Arc<HealthState>>, request: Request) -> Response {
    let found = if state.stop.is_cancelled() {
        Err(NotReady { part: "memory", reason: "it is stopping".to_owned() })
    } else {
        state.readiness.health().await
    };
    // A reason may name the host of the database.
    let is_admin = state.guard.admits_admin(&RequestHead::of(&request), found.is_ok()).await;
    let (status, body) = health::answer(&found, if is_admin { Detail::Full } else { Detail::Short });
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
