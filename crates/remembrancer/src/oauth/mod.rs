//! OAuth: what this server says of itself as a protected resource, the built-in authorization server, and tokens of an external
//! issuer. All of it is off until REMEMBRANCER_PUBLIC_URL is set.

mod authorize;
mod client_lookup;
mod clients;
mod external;
mod limits;
mod metadata;
mod pages;
mod request;
mod settings;
mod token;

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use memory_core::access::{GivenKey, Grant, Role};
use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_engine::readiness::Watch;
use serde_json::{Value, json};
use url::Url;

use client_lookup::Documents;
pub(crate) use clients::{check_redirect_uri, shown_name};
use external::External;
pub(crate) use external::NotRead;
use limits::Limits;
pub(crate) use settings::OAuthSettings;

/// The longest form or document that is read.
const BODY_MAX_BYTES: usize = 16 * 1024;
const BODY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);

/// Who is asking, as limits count it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The OAuth of a listener.
pub(crate) struct OAuth {
    /// The origin, which names the built-in authorization server.
    public: String,
    is_tls: bool,
    /// The MCP endpoint, which tokens are bound to.
    resource: String,
    readiness: Watch,
    /// What the consent page proposes.
    namespace: Namespace,
    limits: Limits,
    documents: Documents,
    external: Option<External>,
}

impl OAuth {
    /// `None` where OAuth is off.
    pub(crate) fn new(
        settings: &OAuthSettings,
        readiness: Watch,
        namespace: Namespace,
    ) -> anyhow::Result<Option<Arc<Self>>> {
        let Some(url) = settings.public()? else { return Ok(None) };
        let public = url.origin().ascii_serialization();
        let resource = format!("{public}/mcp");
        let external = settings.external()?.map(|external| External::new(external, &resource));
        Ok(Some(Arc::new(Self {
            is_tls: url.scheme() == "https",
            public,
            resource,
            readiness,
            namespace,
            limits: Limits::default(),
            documents: Documents::default(),
            external,
        })))
    }

    /// The host that requests may be addressed to, with its port where that is not the usual one.
    pub(crate) fn host(&self) -> String {
        let url = Url::parse(&self.public).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
        url.as_ref().and_then(Url::port).map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Whether a token opens this server.
    pub(crate) fn is_for_us(&self, grant: &Grant) -> bool {
        grant.resource.as_ref().is_none_or(|resource| *resource == self.resource)
    }

    /// Whether tokens may be of an external issuer.
    pub(crate) fn has_issuer(&self) -> bool {
        self.external.is_some()
    }

    /// What a token of the external issuer opens.
    pub(crate) async fn read_issued(&self, token: &str) -> Result<(GivenKey, Grant), NotRead> {
        match &self.external {
            Some(external) => external.read(token).await,
            None => Err(NotRead::Refused),
        }
    }

    /// What a request without a token that opens, or with one that opens too little, is answered with in `WWW-Authenticate`.
    pub(crate) fn challenge(&self, error: Option<&str>, role: Role) -> HeaderValue {
        let error = error.map_or_else(String::new, |error| format!("error=\"{error}\", "));
        let metadata = format!("resource_metadata=\"{}{}/mcp\"", self.public, metadata::PROTECTED_RESOURCE);
        let scope = match &self.external {
            // Its scopes are not ours.
            Some(_) => String::new(),
            None => format!(", scope=\"{}\"", scope_of(role)),
        };
        let text = format!("Bearer {error}{metadata}{scope}");
        HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
    }

    /// The resource that a client names, as it is kept; `None` where it is another's.
    fn resource_named(&self, named: &str) -> Option<&str> {
        let named = named.strip_suffix('/').unwrap_or(named);
        (named == self.resource || named == self.public).then_some(self.resource.as_str())
    }

    async fn memory(&self) -> Result<Arc<Memory>, Problem> {
        self.readiness.ready().await.map_err(|_| Problem::unavailable())
    }
}

/// What a role is called among scopes.
fn scope_of(role: Role) -> &'static str {
    match role {
        Role::Reader => "memory:read",
        Role::Writer => "memory:write",
        Role::Admin => "memory:admin",
    }
}

/// All that is served without a key. Where OAuth is off, that is the answer to clients that look for it.
pub(crate) fn router(oauth: Option<Arc<OAuth>>) -> Router {
    let Some(oauth) = oauth else {
        return Router::new().route("/.well-known/{*rest}", any(metadata::nothing));
    };
    let resource = get({
        let oauth = Arc::clone(&oauth);
        move || async move { open(metadata::protected_resource(&oauth)) }
    });
    let resource = resource.options(preflight);
    let described = Router::new()
        .route(metadata::PROTECTED_RESOURCE, resource.clone())
        .route(&format!("{}/mcp", metadata::PROTECTED_RESOURCE), resource)
        .route("/.well-known/{*rest}", any(metadata::nothing));
    if oauth.external.is_some() {
        return described;
    }
    let endpoint = |oauth: &Arc<OAuth>| Arc::clone(oauth);
    let (server, token, revoke, register) =
        (endpoint(&oauth), endpoint(&oauth), endpoint(&oauth), endpoint(&oauth));
    let (ask, decide) = (endpoint(&oauth), endpoint(&oauth));
    described
        .route(
            metadata::AUTHORIZATION_SERVER,
            get(move || async move { open(metadata::authorization_server(&server)) }).options(preflight),
        )
        .route(
            "/oauth/token",
            post(move |request| async move { open(token::exchange(&token, request).await) })
                .options(preflight),
        )
        .route(
            "/oauth/revoke",
            post(move |request| async move { open(token::revoke(&revoke, request).await) })
                .options(preflight),
        )
        .route(
            "/oauth/register",
            post(move |request| async move { open(clients::register(&register, request).await) })
                .options(preflight),
        )
        .route(
            "/oauth/authorize",
            get(move |request| async move { authorize::ask(&ask, request).await })
                .post(move |request| async move { authorize::decide(&decide, request).await }),
        )
        .route("/oauth/style.css", get(pages::style))
}

/// Pages of any origin may read it: nothing of it depends on cookies.
fn open(response: impl IntoResponse) -> Response {
    let mut response = response.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn preflight() -> Response {
    let mut response = open(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, OPTIONS"));
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("Content-Type, Authorization, MCP-Protocol-Version"),
    );
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// An error as the protocol has it: a code and a sentence.
#[derive(Debug)]
struct Problem {
    status: StatusCode,
    code: &'static str,
    description: String,
    retry_after: Option<u64>,
}

impl Problem {
    fn new(code: &'static str, description: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code, description: description.into(), retry_after: None }
    }

    fn too_many(wait: std::time::Duration) -> Self {
        let seconds = wait.as_secs() + 1;
        Self {
            status: StatusCode::TOO_MANY_REQUESTS,
            retry_after: Some(seconds),
            ..Self::new("temporarily_unavailable", format!("too many requests; try again in {seconds} s"))
        }
    }

    fn unavailable() -> Self {
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            retry_after: Some(5),
            ..Self::new(
                "temporarily_unavailable",
                "the memory is not available right now; try again in a few seconds",
            )
        }
    }
}

impl From<memory_engine::EngineError> for Problem {
    fn from(error: memory_engine::EngineError) -> Self {
        tracing::warn!(%error, "a request of OAuth failed");
        Self::unavailable()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.code, "error_description": self.description });
        let mut response = json_response(self.status, &body);
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

fn json_response(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The body of a request of this type, within the limits.
async fn body(request: Request, media_type: &str) -> Result<Bytes, Problem> {
    let given =
        request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case(media_type) {
        return Err(Problem::new("invalid_request", format!("send the body as {media_type}")));
    }
    let reading = axum::body::to_bytes(request.into_body(), BODY_MAX_BYTES);
    match tokio::time::timeout(BODY_TIMEOUT, reading).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => Err(Problem::new(
            "invalid_request",
            format!("the body is larger than {BODY_MAX_BYTES} bytes, or broke off"),
        )),
        Err(_) => Err(Problem::new("invalid_request", "the body did not come in time")),
    }
}

/// Where a request comes from.
fn peer(request: &Request) -> IpAddr {
    request.extensions().get::<Peer>().map_or(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED), |peer| peer.0)
}
