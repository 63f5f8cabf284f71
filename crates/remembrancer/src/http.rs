//! MCP over HTTP: one endpoint, stateless, behind Host, Origin and token checks.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use memory_core::id::Namespace;
use memory_core::text::cut;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::stopping::refuse_while_stopping;
use crate::tools::{Connection, GraphHome, ToolSettings, Toolbox};

/// The longest request: ten million characters of content, escaped.
pub(crate) const BODY_MAX_BYTES: usize = 64 * 1024 * 1024;
/// The most of a fault that is told to who made it.
const FAULT_MAX_CHARS: usize = 200;
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// What a listener is to do; `serve` sends it to the process that holds the data folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ListenOptions {
    pub(crate) bind: String,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) token: Option<String>,
    pub(crate) namespace: String,
    #[serde(default)]
    pub(crate) tools: ToolSettings,
    /// The file that the graph of this listener's clients is kept in, absolute.
    #[serde(default)]
    pub(crate) graph_file: Option<PathBuf>,
}

/// An open listener; it serves until its token is cancelled.
pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

impl Listening {
    /// Waits until every answer under way is given, at most `patience`.
    pub(crate) async fn closed(self, patience: Duration) {
        let abort = self.task.abort_handle();
        if tokio::time::timeout(patience, self.task).await.is_err() {
            abort.abort();
        }
    }
}

/// Opens the listener. Fails in one sentence when the address is not to be had or not to be trusted.
pub(crate) async fn listen(
    options: ListenOptions,
    toolbox: Arc<Toolbox>,
    stop: CancellationToken,
) -> anyhow::Result<Listening> {
    let namespace = Namespace::new(&options.namespace)?;
    let addresses: Vec<SocketAddr> = tokio::net::lookup_host(&options.bind)
        .await
        .with_context(|| {
            format!("{} is not an address to listen on; use one such as 127.0.0.1:3100", options.bind)
        })?
        .collect();
    if options.token.is_none() && addresses.iter().any(|address| !address.ip().is_loopback()) {
        bail!(
            "{} can be reached from other machines, so it needs a token: set REMEMBRANCER_TOKEN, or bind to 127.0.0.1",
            options.bind
        );
    }
    let listener = TcpListener::bind(&addresses[..]).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => anyhow::anyhow!(
            "{} is in use by another program; choose another address with --bind, such as 127.0.0.1:3101",
            options.bind
        ),
        _ => anyhow::anyhow!("cannot listen on {}: {error}", options.bind),
    })?;
    let address = listener.local_addr()?;
    let graph =
        GraphHome::open(options.graph_file.clone(), options.tools.read_only, &toolbox, &namespace).await;
    let app = router(&options, Connection::new(toolbox, namespace, graph, &options.tools), &stop);
    let task = tokio::spawn(async move {
        // An answer must not wait for the client's acknowledgement of the one before.
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        let served = axum::serve(listener, app).with_graceful_shutdown(stop.cancelled_owned());
        if let Err(error) = served.await {
            tracing::error!(%error, "the listener failed");
        }
    });
    Ok(Listening { address, task })
}

fn router(options: &ListenOptions, connection: Connection, stop: &CancellationToken) -> Router {
    let hosts = LOOPBACK_HOSTS.into_iter().map(str::to_owned).chain(options.allowed_hosts.iter().cloned());
    let hosts: Vec<String> = hosts.collect();
    let origins: Vec<String> = hosts
        .iter()
        .map(|host| if host.contains(':') { format!("[{host}]") } else { host.clone() })
        .flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")])
        .collect();
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(Some(Duration::from_secs(15)))
        .with_cancellation_token(stop.child_token())
        .with_max_request_body_bytes(BODY_MAX_BYTES)
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation();
    let connection = Arc::new(connection);
    let mcp = StreamableHttpService::new(
        move || Ok(Arc::clone(&connection)),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let digest =
        options.token.as_ref().map(|token| Arc::new(<[u8; 32]>::from(Sha256::digest(token.as_bytes()))));
    Router::new()
        .route_service("/mcp", mcp.clone())
        .route_service("/mcp/", mcp)
        .route_layer(middleware::map_response(explain_unreadable))
        .route_layer(middleware::from_fn_with_state(digest, require_token))
        // For load balancers: says that the process answers, and nothing else.
        .route("/health", get(|| async { "ok" }))
        .layer(middleware::from_fn_with_state(stop.clone(), refuse_while_stopping))
}

/// Compares digests, so that neither the token's length nor its start can be timed.
async fn require_token(
    State(expected): State<Option<Arc<[u8; 32]>>>,
    request: Request,
    next: Next,
) -> Response {
    let Some(expected) = expected else { return next.run(request).await };
    let given = request
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| <[u8; 32]>::from(Sha256::digest(token.trim().as_bytes())));
    if given.is_some_and(|given| bool::from(given.ct_eq(&*expected))) {
        return next.run(request).await;
    }
    let challenge = [(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))];
    (
        StatusCode::UNAUTHORIZED,
        challenge,
        "A bearer token is needed: Authorization: Bearer <REMEMBRANCER_TOKEN>\n",
    )
        .into_response()
}

/// How the protocol library begins its plain text about a body that it could not read.
const UNREADABLE: &str = "fail to deserialize request body ";
/// How serde begins what is wrong with good JSON of the wrong shape.
const MISSHAPEN: [&str; 7] = [
    "unrecognized JSON-RPC message",
    "data did not match",
    "invalid type",
    "invalid value",
    "invalid length",
    "missing field",
    "unknown ",
];

/// A body that is no JSON, too deep, or no message is answered as JSON-RPC says. Only the answer is looked
/// at: reading the body here as well would cost every call that is well formed.
async fn explain_unreadable(response: Response) -> Response {
    if response.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return response;
    }
    let (parts, body) = response.into_parts();
    let Ok(text) = axum::body::to_bytes(body, 64 * 1024).await else { return parts.into_response() };
    let Some(fault) = std::str::from_utf8(&text).ok().and_then(|text| text.strip_prefix(UNREADABLE)) else {
        return Response::from_parts(parts, text.into());
    };
    let (code, what) = if MISSHAPEN.iter().any(|start| fault.starts_with(start)) {
        (-32600, "Invalid Request")
    } else {
        (-32700, "Parse error")
    };
    let message = format!("{what}: {}", cut(fault, FAULT_MAX_CHARS));
    let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    (StatusCode::BAD_REQUEST, Json(error)).into_response()
}
