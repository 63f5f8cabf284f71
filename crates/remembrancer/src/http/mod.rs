//! MCP over HTTP: one endpoint, stateless, behind checks of host, origin and key.

mod attempts;
mod body;
mod connections;
mod credentials;
mod guard;
mod health;
mod shares;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use axum::response::Response;
use axum::routing::get;
use axum::{Router, middleware};
use memory_core::id::Namespace;
use memory_engine::readiness::Watch;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::credentials::Credentials;
use self::guard::Guard;
use self::shares::Requests;
use crate::message::MESSAGE_MAX_BYTES;
use crate::stopping::refuse_while_stopping;
use crate::tools::{Connection, GraphHome, ToolRegistry, ToolSettings};

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
    #[serde(default = "default_max_connections")]
    pub(crate) max_connections: usize,
    /// Those of one address that is not loopback.
    #[serde(default = "default_connections_per_address")]
    pub(crate) connections_per_address: usize,
    /// Those of one key.
    #[serde(default = "default_requests_per_minute")]
    pub(crate) requests_per_minute: u32,
    /// The address of health and metrics for operators, if there is one.
    #[serde(default)]
    pub(crate) metrics_bind: Option<String>,
}

/// What a `serve` of old means, which does not say.
fn default_max_connections() -> usize {
    512
}

fn default_connections_per_address() -> usize {
    128
}

fn default_requests_per_minute() -> u32 {
    1_200
}

/// An open listener; it serves until its token is cancelled.
pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    /// That of the metrics.
    pub(crate) metrics: Option<SocketAddr>,
    /// Without a token, others than this machine can reach it: there must be a key.
    needs_key: bool,
    bind: String,
    task: tokio::task::JoinHandle<()>,
}

impl Listening {
    /// Refuses a listener that nobody could come in by. Until this is known it has let nobody in without a key.
    pub(crate) async fn check_keys(&self, readiness: &Watch) -> anyhow::Result<()> {
        if !self.needs_key {
            return Ok(());
        }
        let memory = readiness.ready().await.map_err(|readiness| anyhow::anyhow!("{readiness}"))?;
        if !memory.access().has_keys().await? {
            bail!(
                "{} can be reached from other machines, so it needs a key: make one with `remembrancer keys create`, set \
                 REMEMBRANCER_TOKEN, or bind to 127.0.0.1",
                self.bind
            );
        }
        Ok(())
    }

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
    registry: Arc<ToolRegistry>,
    stop: CancellationToken,
) -> anyhow::Result<Listening> {
    let namespace = Namespace::new(&options.namespace)?;
    let addresses: Vec<SocketAddr> = tokio::net::lookup_host(&options.bind)
        .await
        .with_context(|| {
            format!("{} is not an address to listen on; use one such as 127.0.0.1:3100", options.bind)
        })?
        .collect();
    let is_local = addresses.iter().all(|address| address.ip().is_loopback());
    let needs_key = options.token.is_none() && !is_local;
    let listener = TcpListener::bind(&addresses[..]).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => anyhow::anyhow!(
            "{} is in use by another program; choose another address with --bind, such as 127.0.0.1:3101",
            options.bind
        ),
        _ => anyhow::anyhow!("cannot listen on {}: {error}", options.bind),
    })?;
    let address = listener.local_addr()?;
    let metrics = match &options.metrics_bind {
        Some(bind) => {
            let readiness = registry.readiness().clone();
            Some(memory_telemetry::listener::listen(bind, readiness, stop.clone()).await?.0)
        }
        None => None,
    };
    let graph =
        GraphHome::open(options.graph_file.clone(), options.tools.read_only, &registry, &namespace).await;
    let connection = Connection::new(registry, namespace, graph, &options.tools);
    let app = router(&options, is_local, connection, &stop);
    let most = connections::Most {
        in_all: connections::most_connections(options.max_connections),
        of_an_address: options.connections_per_address,
    };
    let task = tokio::spawn(connections::serve(listener, app, most, stop));
    Ok(Listening { address, metrics, needs_key, bind: options.bind, task })
}

fn router(
    options: &ListenOptions,
    is_local: bool,
    connection: Connection,
    stop: &CancellationToken,
) -> Router {
    let readiness = connection.readiness().clone();
    let credentials = Credentials::new(
        options.token.as_deref(),
        is_local,
        readiness.clone(),
        Requests::new(options.requests_per_minute),
    );
    let guard = Arc::new(Guard::new(&options.allowed_hosts, credentials));
    let (hosts, origins) = guard.hosts_and_origins();
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(Some(Duration::from_secs(15)))
        .with_cancellation_token(stop.child_token())
        .with_max_request_body_bytes(MESSAGE_MAX_BYTES)
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation();
    let health = health::router(readiness.clone(), Arc::clone(&guard), stop.clone());
    let connection = Arc::new(connection);
    let mcp = StreamableHttpService::new(
        move || Ok(Arc::clone(&connection)),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    Router::new()
        .route_service("/mcp", mcp.clone())
        .route_service("/mcp/", mcp)
        .route("/metrics", get(move |caller| health::metrics(readiness.clone(), caller)))
        .route_layer(middleware::from_fn(body::take_in))
        // Nothing of a body is read before its sender is known.
        .route_layer(middleware::from_fn_with_state(guard, guard::admit))
        .layer(middleware::from_fn_with_state(stop.clone(), refuse_while_stopping))
        .merge(health)
        .layer(middleware::map_response(count))
}

async fn count(response: Response) -> Response {
    let code = response.status().as_u16().to_string();
    metrics::counter!("remembrancer_http_requests_total", "code" => code).increment(1);
    response
}
