//! MCP over HTTP: one endpoint, stateless, behind checks of host, origin and key.

mod attempts;
mod body;
mod connections;
mod credentials;
mod dashboard;
mod front;
mod guard;
mod health;
mod proxies;
mod rest;
mod shares;
mod stream;
mod unread;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use axum::response::Response;
use axum::routing::get;
use axum::{Router, middleware};
use ipnet::IpNet;
use memory_core::id::Namespace;
use memory_engine::readiness::Watch;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::credentials::Credentials;
use self::guard::Guard;
use self::proxies::TrustedProxies;
use self::shares::Requests;
use crate::message::MESSAGE_MAX_BYTES;
use crate::oauth::{self, OAuth, OAuthSettings};
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
    /// Proxies that are believed when they say whom a request comes from.
    #[serde(default)]
    pub(crate) trusted_proxies: Vec<IpNet>,
    /// Those of one key.
    #[serde(default = "default_requests_per_minute")]
    pub(crate) requests_per_minute: u32,
    /// Whether there are pages for people.
    #[serde(default)]
    pub(crate) dashboard: bool,
    /// The settings that they show; no secret is among them.
    #[serde(default)]
    pub(crate) shown_settings: Vec<(String, String)>,
    /// The address of health and metrics for operators, if there is one.
    #[serde(default)]
    pub(crate) metrics_bind: Option<String>,
    #[serde(default)]
    pub(crate) oauth: OAuthSettings,
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
    /// Its consent page asks for the password.
    asks_for_password: bool,
    bind: String,
    task: tokio::task::JoinHandle<()>,
}

impl Listening {
    /// Refuses a listener that nobody could come in by. Until this is known it has let nobody in without a key.
    pub(crate) async fn check_keys(&self, readiness: &Watch) -> anyhow::Result<()> {
        if !self.needs_key && !self.asks_for_password {
            return Ok(());
        }
        let memory = readiness.ready().await.map_err(|readiness| anyhow::anyhow!("{readiness}"))?;
        if self.asks_for_password && !memory.password().is_set().await? {
            tracing::warn!(
                "OAuth is on and no password is set, so nobody can consent: run `remembrancer password set`"
            );
        }
        if self.needs_key && !memory.access().has_keys().await? {
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
    let oauth = OAuth::new(&options.oauth, registry.readiness().clone(), namespace.clone())?;
    // By OAuth nobody comes in whom the owner has not let in.
    let needs_key = options.token.is_none() && !is_local && oauth.is_none();
    let listener = match TcpListener::bind(&addresses[..]).await {
        Ok(listener) => listener,
        Err(error) => bail!("{}", not_to_be_had(&options.bind, &addresses, &error).await),
    };
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
    let asks_for_password = oauth.as_ref().is_some_and(|oauth| !oauth.has_issuer());
    let app = router(&options, is_local, connection, oauth, &stop);
    let most = connections::Most {
        in_all: connections::most_connections(options.max_connections),
        of_an_address: options.connections_per_address,
        proxies: TrustedProxies(options.trusted_proxies),
    };
    let task = tokio::spawn(connections::serve(listener, app, most, stop));
    Ok(Listening { address, metrics, needs_key, asks_for_password, bind: options.bind, task })
}

/// Why an address cannot be listened on, and what to do.
async fn not_to_be_had(bind: &str, addresses: &[SocketAddr], error: &std::io::Error) -> String {
    if error.kind() != std::io::ErrorKind::AddrInUse {
        return format!("cannot listen on {bind}: {error}");
    }
    if front::answers_at(addresses).await {
        return format!(
            "a remembrancer already listens on {bind}: connect to http://{bind}/mcp, or choose another address with --bind, \
             such as 127.0.0.1:3101"
        );
    }
    format!("{bind} is in use by another program; choose another address with --bind, such as 127.0.0.1:3101")
}

fn router(
    options: &ListenOptions,
    is_local: bool,
    connection: Connection,
    oauth: Option<Arc<OAuth>>,
    stop: &CancellationToken,
) -> Router {
    let readiness = connection.readiness().clone();
    let credentials = Credentials::new(
        options.token.as_deref(),
        is_local,
        readiness.clone(),
        Requests::new(options.requests_per_minute),
        oauth.clone(),
    );
    let public_host = oauth.as_ref().map(|oauth| oauth.host());
    let hosts: Vec<String> = options.allowed_hosts.iter().cloned().chain(public_host).collect();
    let guard = Arc::new(Guard::new(&hosts, credentials));
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
    let front = front::router(options.dashboard, Arc::clone(&guard));
    let at_door = Arc::clone(&guard);
    let pages = options.dashboard.then(|| dashboard::router(options, &connection, &guard, stop));
    let connection = Arc::new(connection);
    let rest = rest::router(Arc::clone(&connection), stop.child_token());
    let mcp = StreamableHttpService::new(
        move || Ok(Arc::clone(&connection)),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let oauth_router = oauth::router(oauth)
        .layer(middleware::from_fn_with_state(Arc::clone(&guard), guard::admit_anybody))
        .layer(middleware::from_fn_with_state(stop.clone(), refuse_while_stopping));
    Router::new()
        .route_service("/mcp", mcp.clone())
        .route_service("/mcp/", mcp.clone())
        // For hosts that leave their headers away where they find that there is OAuth.
        .route_service(credentials::KEY_PATH, mcp)
        .merge(rest)
        .route("/metrics", get(move |caller, step_up| health::metrics(readiness.clone(), caller, step_up)))
        .route_layer(middleware::from_fn(body::take_in))
        // Nothing of a body is read before its sender is known.
        .route_layer(middleware::from_fn_with_state(guard, guard::admit))
        .layer(middleware::from_fn_with_state(stop.clone(), refuse_while_stopping))
        .merge(health)
        .merge(front)
        .merge(oauth_router)
        .merge(pages.unwrap_or_default())
        .layer(middleware::from_fn_with_state((at_door, options.dashboard), front::point_out))
        .layer(middleware::from_fn(rest::explain))
        .layer(middleware::map_response(count))
}

async fn count(response: Response) -> Response {
    let code = response.status().as_u16().to_string();
    metrics::counter!("remembrancer_http_requests_total", "code" => code).increment(1);
    response
}
