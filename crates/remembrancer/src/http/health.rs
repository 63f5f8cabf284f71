//! Liveness and readiness of the process, for balancers, orchestrators and `remembrancer health`.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use memory_engine::readiness::{NotReady, Watch};
use memory_telemetry::health::{self, Detail};
use tokio_util::sync::CancellationToken;

use super::guard::Guard;

struct HealthState {
    readiness: Watch,
    guard: Arc<Guard>,
    stop: CancellationToken,
}

/// `/livez`, which says that the process answers and checks nothing, and `/readyz`. Neither needs a token.
pub(super) fn router(readiness: Watch, guard: Arc<Guard>, stop: CancellationToken) -> Router {
    let state = Arc::new(HealthState { readiness, guard, stop });
    Router::new().route("/livez", get(|| async { "ok\n" })).route("/readyz", get(readyz)).with_state(state)
}

async fn readyz(State(state): State<Arc<HealthState>>, request: Request) -> Response {
    let found = if state.stop.is_cancelled() {
        Err(NotReady { part: "memory", reason: "it is stopping".to_owned() })
    } else {
        state.readiness.health().await
    };
    // A client that may call tools may also see the host of the database.
    let is_known = state.guard.admits(request.uri(), request.headers());
    let (status, body) = health::answer(&found, if is_known { Detail::Full } else { Detail::Short });
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
