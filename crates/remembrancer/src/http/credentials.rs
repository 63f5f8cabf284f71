//! The key of a request: whether it opens anything, before anything of its body is read.
#![expect(clippy::result_large_err, reason = "a refusal is an answer, made once a refused request")]

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use memory_core::access::GivenKey;
use memory_engine::readiness::Watch;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::attempts::Attempts;
use super::connections::Connection;
use super::guard::{only, refused};
use super::shares::{Requests, too_many};
use crate::access::{self, Caller, Closed, KEY_NEEDED, KEY_REFUSED, NAMESPACE_REFUSED};

/// What opens a listener.
pub(super) struct Credentials {
    token: Option<[u8; 32]>,
    /// Only this machine can reach it.
    is_local: bool,
    readiness: Watch,
    attempts: Attempts,
    requests: Requests,
}

impl Credentials {
    pub(super) fn new(token: Option<&str>, is_local: bool, readiness: Watch, requests: Requests) -> Self {
        let token = token.map(|token| Sha256::digest(token.as_bytes()).into());
        Self { token, is_local, readiness, attempts: Attempts::default(), requests }
    }

    /// Who sends the request; one with a key that opens nothing is from nobody, also where others need no key.
    pub(super) async fn caller(&self, request: &RequestHead) -> Result<Caller, Response> {
        if access::has_secret(&request.uri) {
            return Err(refused(
                StatusCode::BAD_REQUEST,
                "Keys do not belong in an address, which others log: send it as Authorization: Bearer KEY, and replace this one \
                 with `remembrancer keys rotate`.",
            ));
        }
        let Some(given) = bearer(&request.headers)? else { return self.without_key().await };
        if self.is_token(&given) {
            return Ok(Caller::Token);
        }
        let key = GivenKey::parse(&given);
        let counted = self.attempts.begin(key.as_ref(), request.peer);
        counted.map_err(|wait| too_many("Too many keys that open nothing came from this address", wait))?;
        let Some(key) = key else { return Err(unauthorized(KEY_REFUSED, true)) };
        let memory = self.readiness.ready().await.map_err(|readiness| unavailable(&readiness.to_string()))?;
        match access::holder(&memory, &key).await {
            Ok(caller) => {
                self.attempts.was_right(&key);
                self.requests.begin(&key.id).map_err(|wait| self.requests.refusal(wait))?;
                let named = access::named_namespace(&request.uri);
                if caller.grant().is_some_and(|grant| grant.namespace(named).is_none()) {
                    return Err(refused(StatusCode::FORBIDDEN, NAMESPACE_REFUSED));
                }
                Ok(caller)
            }
            Err(Closed::Refused(reason)) => {
                self.attempts.was_wrong(&key);
                Err(unauthorized(reason, true))
            }
            Err(Closed::Unknown(error)) => Err(unavailable(&error.to_string())),
        }
    }

    async fn without_key(&self) -> Result<Caller, Response> {
        if self.token.is_some() || !self.is_local {
            return Err(unauthorized(KEY_NEEDED, false));
        }
        // What calls a tool while the memory starts waits for it, and is asked about then.
        let Some(memory) = self.readiness.memory() else {
            return Ok(Caller::Anonymous { is_confirmed: false });
        };
        match memory.access().has_keys().await {
            Ok(false) => Ok(Caller::Anonymous { is_confirmed: true }),
            Ok(true) => Err(unauthorized(KEY_NEEDED, false)),
            Err(_) => Ok(Caller::Anonymous { is_confirmed: false }),
        }
    }

    /// Whether the sender may see how the installation is. Waits for no memory that is not well.
    pub(super) async fn is_admin(&self, request: &RequestHead, is_well: bool) -> bool {
        match bearer(&request.headers) {
            Ok(Some(given)) if self.is_token(&given) => true,
            Ok(None) if !is_well => {
                let seen = self.readiness.memory().and_then(|memory| memory.access().last_seen_keys());
                self.token.is_none() && self.is_local && seen != Some(true)
            }
            Ok(_) if is_well => self.caller(request).await.is_ok_and(|caller| caller.is_admin()),
            _ => false,
        }
    }

    /// Compares digests, so that neither the token's length nor its start can be timed.
    fn is_token(&self, given: &str) -> bool {
        let digest = <[u8; 32]>::from(Sha256::digest(given.as_bytes()));
        self.token.is_some_and(|token| bool::from(token.ct_eq(&digest)))
    }
}

/// What of a request says who sends it.
pub(super) struct RequestHead {
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    peer: IpAddr,
}

impl RequestHead {
    pub(super) fn of(request: &Request) -> Self {
        let connection = request.extensions().get::<Arc<Connection>>();
        Self {
            uri: request.uri().clone(),
            headers: request.headers().clone(),
            peer: connection.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |connection| connection.peer()),
        }
    }
}

fn bearer(headers: &HeaderMap) -> Result<Option<String>, Response> {
    let Some(value) = only(headers, &header::AUTHORIZATION)? else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    let (scheme, given) = text.split_once(' ').unwrap_or((text, ""));
    Ok(scheme.eq_ignore_ascii_case("bearer").then(|| given.trim().to_owned()))
}

fn unauthorized(reason: &str, had_key: bool) -> Response {
    let mut response = refused(StatusCode::UNAUTHORIZED, reason);
    let challenge = if had_key { "Bearer error=\"invalid_token\"" } else { "Bearer" };
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    response
}

fn unavailable(reason: &str) -> Response {
    let mut response = refused(StatusCode::SERVICE_UNAVAILABLE, reason);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    response
}
