//! Access control of HTTP requests: the host that a request is for, the origin of the page that sends it, its key.
#![expect(clippy::result_large_err, reason = "a refusal is an answer, made once a refused request")]

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::attempts::network;
use super::credentials::{Credentials, RequestHead};
use crate::access::{self, StepUp};
use crate::oauth::Peer;

const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// What clients accept that can read every answer.
const ACCEPTS: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
/// Headers of answers that a page may read.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After");
const METHODS: HeaderValue = HeaderValue::from_static("POST, GET, DELETE, OPTIONS");
const ALLOW_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");
const ASK_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-request-private-network");

/// A host as requests and pages name it; without a port every port is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Host {
    name: String,
    port: Option<u16>,
}

impl Host {
    /// `None` where it is none, or has a port that is none.
    fn parse(text: &str) -> Option<Self> {
        let authority: Authority = text.parse().ok()?;
        let name = authority.host();
        let port = match authority.as_str().strip_prefix(name)? {
            "" => None,
            port => {
                let digits =
                    port.strip_prefix(':').filter(|port| port.bytes().all(|b| b.is_ascii_digit()))?;
                Some(digits.parse().ok()?)
            }
        };
        let name = name.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        (!name.is_empty()).then_some(Self { name, port })
    }

    /// The same as operators write it: also an IPv6 address without brackets.
    fn allowed(text: &str) -> Self {
        let text = text.trim();
        Self::parse(text).unwrap_or_else(|| Self { name: text.to_ascii_lowercase(), port: None })
    }

    fn covers(&self, other: &Self) -> bool {
        self.name == other.name && (self.port.is_none() || self.port == other.port)
    }
}

/// What every request is held against before anything else of it is read.
pub(super) struct Guard {
    hosts: Vec<Host>,
    credentials: Credentials,
}

impl Guard {
    pub(super) fn new(allowed_hosts: &[String], credentials: Credentials) -> Self {
        let hosts = LOOPBACK_HOSTS.into_iter().chain(allowed_hosts.iter().map(String::as_str));
        Self { hosts: hosts.filter(|host| !host.trim().is_empty()).map(Host::allowed).collect(), credentials }
    }

    /// The hosts and the origins of their pages as the protocol library takes them.
    pub(super) fn hosts_and_origins(&self) -> (Vec<String>, Vec<String>) {
        let bracketed = |name: &str| if name.contains(':') { format!("[{name}]") } else { name.to_owned() };
        let hosts = self.hosts.iter().map(|Host { name, port }| match port {
            Some(port) => format!("{}:{port}", bracketed(name)),
            None => name.clone(),
        });
        let origins = self.hosts.iter().flat_map(|Host { name, port }| {
            let port = port.map_or_else(|| "*".to_owned(), |port| port.to_string());
            ["http", "https"].map(|scheme| format!("{scheme}://{}:{port}", bracketed(name)))
        });
        (hosts.collect(), origins.collect())
    }

    /// Whether a request is for one of our hosts and from none but their pages; who sends it is not looked at.
    pub(super) fn check_address(&self, request: &Request) -> Result<(), Response> {
        self.check_host(request.uri(), request.headers())?;
        if access::has_secret(request.uri()) {
            return Err(refused(
                StatusCode::BAD_REQUEST,
                "Keys do not belong in an address, which others log.",
            ));
        }
        self.check_origin(request.headers()).map(drop)
    }

    pub(super) fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Whether a request is of one who may see how the installation is; `is_well` where the memory can be asked.
    pub(super) async fn admits_admin(&self, request: &RequestHead, is_well: bool) -> bool {
        self.check_host(&request.uri, &request.headers).is_ok()
            && self.check_origin(&request.headers).is_ok()
            && self.credentials.is_admin(request, is_well).await
    }

    fn allows(&self, host: &Host) -> bool {
        self.hosts.iter().any(|allowed| allowed.covers(host))
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Response> {
        let named = only(headers, &header::HOST)?;
        let named = named.ok_or_else(|| refused(StatusCode::BAD_REQUEST, "A Host header is needed."))?;
        let host = named.to_str().ok().and_then(Host::parse);
        let host = host.ok_or_else(|| refused(StatusCode::BAD_REQUEST, "The Host header names no host."))?;
        let target = uri.authority().map(|authority| Host::parse(authority.as_str()));
        if !self.allows(&host) || target.is_some_and(|target| target.as_ref() != Some(&host)) {
            return Err(refused(
                StatusCode::FORBIDDEN,
                "This server does not answer to that host; --allowed-hosts names those that it answers to.",
            ));
        }
        Ok(())
    }

    /// The page that sends the request, if one does.
    fn check_origin(&self, headers: &HeaderMap) -> Result<Option<HeaderValue>, Response> {
        let Some(origin) = only(headers, &header::ORIGIN)? else { return Ok(None) };
        let host = origin.to_str().ok().and_then(|origin| {
            let (scheme, host) = origin.split_once("://")?;
            let default = match scheme {
                "http" => 80,
                "https" => 443,
                _ => return None,
            };
            let host = Host::parse(host)?;
            Some(Host { port: host.port.or(Some(default)), ..host })
        });
        if host.is_some_and(|host| self.allows(&host)) {
            return Ok(Some(origin.clone()));
        }
        Err(refused(
            StatusCode::FORBIDDEN,
            "Pages of that origin may not send requests; --allowed-hosts names the hosts whose pages may.",
        ))
    }
}

/// The header's value; two of them are refused, since other software may use either.
pub(super) fn only<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'h HeaderValue>, Response> {
    let mut values = headers.get_all(name).iter();
    let value = values.next();
    match values.next() {
        None => Ok(value),
        Some(_) => Err(refused(StatusCode::BAD_REQUEST, &format!("There are two {name} headers; send one."))),
    }
}

pub(super) fn refused(status: StatusCode, reason: &str) -> Response {
    (status, format!("{reason}\n")).into_response()
}

/// Lets a request through to what answers it; pages that may send requests may read the answers too.
pub(super) async fn admit(State(guard): State<Arc<Guard>>, mut request: Request, next: Next) -> Response {
    let (uri, headers) = (request.uri(), request.headers());
    let origin = match guard.check_host(uri, headers).and_then(|()| guard.check_origin(headers)) {
        Ok(origin) => origin,
        Err(refusal) => return refusal,
    };
    let is_preflight =
        request.method() == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if origin.is_some() && is_preflight {
        // It comes before the request and without its key.
        preflight(headers)
    } else {
        let caller = guard.credentials.caller(&RequestHead::of(&request)).await;
        let caller = caller.and_then(|caller| match access::check_parameters(uri) {
            Ok(()) => Ok(caller),
            Err(fault) => Err(refused(StatusCode::BAD_REQUEST, &fault.0)),
        });
        match caller {
            Err(refusal) => refusal,
            Ok(caller) => {
                accept_what_covers_all(request.headers_mut());
                let step_up = StepUp::default();
                request.extensions_mut().insert(step_up.clone());
                request.extensions_mut().insert(caller.clone());
                let response = next.run(request).await;
                match step_up.needed() {
                    Some(role) => guard.credentials.insufficient(&caller, role).unwrap_or(response),
                    None => response,
                }
            }
        }
    };
    response.headers_mut().append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
    response
}

/// The same without a key: for what tells where keys are to be had, and gives them out.
pub(super) async fn admit_anybody(
    State(guard): State<Arc<Guard>>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Err(refusal) = guard.check_host(request.uri(), request.headers()) {
        return refusal;
    }
    let peer = Peer(network(RequestHead::of(&request).peer));
    request.extensions_mut().insert(peer);
    next.run(request).await
}

fn preflight(asked: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    // The protocol has headers that are named after arguments: what the page means to send is allowed.
    if let Some(wanted) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    if asked.contains_key(ASK_PRIVATE_NETWORK) {
        headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    response
}

/// The protocol library requires both types by name. A client that accepts everything, or sends no such header, accepts them.
fn accept_what_covers_all(headers: &mut HeaderMap) {
    let mut given = headers.get_all(header::ACCEPT).iter().peekable();
    let covers_all = given.peek().is_none()
        || given.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(|range| {
            let (essence, quality) = range.split_once(';').unwrap_or((range, ""));
            let quality = quality.trim().strip_prefix("q=").and_then(|q| q.trim().parse::<f32>().ok());
            essence.trim() == "*/*" && quality != Some(0.0)
        });
    if covers_all {
        headers.insert(header::ACCEPT, ACCEPTS);
    }
}

#[cfg(test)]
mod tests {
    use super::super::shares::Requests;
    use super::*;

    fn host(name: &str, port: Option<u16>) -> Host {
        Host { name: name.to_owned(), port }
    }

    #[test]
    fn a_host_has_a_name_and_at_most_a_port() {
        assert_eq!(Host::parse("LocalHost:3100"), Some(host("localhost", Some(3100))));
        assert_eq!(Host::parse("[::1]:3"), Some(host("::1", Some(3))));
        assert_eq!(Host::parse("[::1]"), Some(host("::1", None)));
        for bad in [
            "localhost:33x",
            "localhost:",
            "a@localhost",
            "localhost:99999",
            "",
            ":80",
            "a b",
            "localhost:+80",
        ] {
            assert_eq!(Host::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_port_counts_where_the_operator_names_one() {
        let credentials =
            Credentials::new(None, true, memory_engine::readiness::channel().1, Requests::new(1), None);
        let guard = Guard::new(&["memory.example:8443".to_owned(), "other.example".to_owned()], credentials);
        let allows = |text: &str| guard.allows(&Host::parse(text).expect("a host"));
        assert!(allows("memory.example:8443") && allows("other.example:1") && allows("[::1]:9"));
        assert!(!allows("memory.example") && !allows("memory.example:80") && !allows("evil.example"));
        let (hosts, origins) = guard.hosts_and_origins();
        assert_eq!(hosts, ["localhost", "127.0.0.1", "::1", "memory.example:8443", "other.example"]);
        assert!(
            origins.contains(&"http://[::1]:*".to_owned())
                && origins.contains(&"https://memory.example:8443".to_owned())
        );
    }

    #[test]
    fn who_accepts_everything_accepts_both_types() {
        let accepts = |given: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            given.map(|given| headers.insert(header::ACCEPT, HeaderValue::from_static(given)));
            accept_what_covers_all(&mut headers);
            headers[header::ACCEPT].clone()
        };
        for given in [None, Some("*/*"), Some("text/html, */*;q=0.8")] {
            assert_eq!(accepts(given), ACCEPTS, "{given:?}");
        }
        for given in ["application/json", "*/*;q=0", "text/*"] {
            assert_eq!(accepts(Some(given)), given);
        }
    }
}
