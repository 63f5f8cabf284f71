//! The key of a request: whether it opens anything, before anything of its body is read.
#![expect(clippy::result_large_err, reason = "a refusal is an answer, made once a refused request")]

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use jiff::Timestamp;
use memory_core::access::{GivenKey, KeyId, KeyKind, Role};
use memory_dashboard::SignInRefused;
use memory_engine::EngineError;
use memory_engine::password::{PasswordCheck, PasswordMark};
use memory_engine::readiness::Watch;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::attempts::Attempts;
use super::guard::{only, refused};
use super::proxies::ClientAddress;
use super::shares::{Requests, too_many};
use crate::access::{self, Caller, Closed, KEY_NEEDED, KEY_REFUSED, NAMESPACE_REFUSED};
use crate::oauth::{NotRead, OAuth};

/// The path at which only keys are accepted and refusals do not mention OAuth.
pub(super) const KEY_PATH: &str = "/key/mcp";

/// The refusal of a valid token none of whose claim values has a grant here.
const NOTHING_OPENED: &str =
    "That token is sound, but its claim opens nothing here; REMEMBRANCER_OIDC_GRANTS says which values do.";

/// What a request to a listener may be authenticated by.
pub(super) struct Credentials {
    token: Option<[u8; 32]>,
    /// Only this machine can reach it.
    is_local: bool,
    readiness: Watch,
    attempts: Attempts,
    requests: Requests,
    oauth: Option<Arc<OAuth>>,
}

impl Credentials {
    pub(super) fn new(
        token: Option<&str>,
        is_local: bool,
        readiness: Watch,
        requests: Requests,
        oauth: Option<Arc<OAuth>>,
    ) -> Self {
        let token = token.map(|token| Sha256::digest(token.as_bytes()).into());
        Self { token, is_local, readiness, attempts: Attempts::default(), requests, oauth }
    }

    /// OAuth, where the path of the request accepts its tokens.
    fn oauth_at(&self, request: &RequestHead) -> Option<&OAuth> {
        self.oauth.as_deref().filter(|_| request.uri.path() != KEY_PATH)
    }

    /// Who sends the request. One with a wrong key is refused even where requests without a key are accepted.
    pub(super) async fn caller(&self, request: &RequestHead) -> Result<Caller, Response> {
        if access::has_secret(&request.uri) {
            return Err(refused(
                StatusCode::BAD_REQUEST,
                "Keys do not belong in an address, which others log: send it as Authorization: Bearer KEY, and replace this one \
                 with `remembrancer keys rotate`.",
            ));
        }
        let oauth = self.oauth_at(request);
        let Some(given) = bearer(&request.headers)? else { return self.without_key(oauth).await };
        if self.is_token(&given) {
            return Ok(Caller::Token);
        }
        let key = brought(&given, oauth);
        let counted = self.attempts.begin(key.as_ref(), request.peer);
        counted.map_err(|wait| too_many("Too many keys that open nothing came from this address", wait))?;
        let Some(key) = key else { return Err(unauthorized(KEY_REFUSED, true, oauth)) };
        match self.holder(&key, &given, oauth).await {
            Ok(caller) => {
                self.attempts.was_right(&key);
                let id = caller.key().unwrap_or(&key.id);
                self.requests.begin(id).map_err(|wait| self.requests.refusal(wait))?;
                let named = access::named_namespace(&request.uri);
                if caller.grant().is_some_and(|grant| grant.namespace(named.as_deref()).is_none()) {
                    return Err(refused(StatusCode::FORBIDDEN, NAMESPACE_REFUSED));
                }
                Ok(caller)
            }
            Err(Closed::Refused(reason)) => {
                self.attempts.was_wrong(&key);
                Err(unauthorized(reason, true, oauth))
            }
            Err(Closed::Forbidden(reason)) => Err(refused(StatusCode::FORBIDDEN, reason)),
            Err(Closed::Unknown(error)) => Err(unavailable(&error.to_string())),
        }
    }

    /// The holder of a key or token, if it is valid and issued for this server.
    async fn holder(&self, key: &GivenKey, given: &str, oauth: Option<&OAuth>) -> Result<Caller, Closed> {
        if let (KeyKind::Issued { .. }, Some(oauth)) = (key.kind, oauth) {
            return match oauth.read_issued(given).await {
                Ok((key, grant)) => Ok(Caller::Key(key, grant)),
                Err(NotRead::Refused) => Err(Closed::Refused(KEY_REFUSED)),
                Err(NotRead::NothingOpened) => Err(Closed::Forbidden(NOTHING_OPENED)),
                Err(NotRead::Unavailable) => {
                    let why = "The issuer of tokens cannot be reached right now; try again in a few seconds.";
                    Err(Closed::Unknown(EngineError::Busy(why.to_owned())))
                }
            };
        }
        let memory = self.readiness.ready().await;
        let memory = memory.map_err(|readiness| Closed::Unknown(EngineError::Busy(readiness.to_string())))?;
        let caller = access::holder(&memory, key).await?;
        let is_for_us = caller.grant().is_none_or(|grant| match oauth {
            Some(oauth) => oauth.is_for_us(grant),
            None => grant.resource.is_none(),
        });
        if is_for_us { Ok(caller) } else { Err(Closed::Refused(KEY_REFUSED)) }
    }

    /// The answer to an OAuth token whose role was too low, by which its client can ask the owner for another; `None` for other callers.
    pub(super) fn insufficient(&self, caller: &Caller, role: Role) -> Option<Response> {
        let oauth = self.oauth.as_deref().filter(|_| caller.is_by_oauth())?;
        let mut response =
            refused(StatusCode::FORBIDDEN, "This takes a token that may do more: ask the owner for it.");
        let challenge = oauth.challenge(Some("insufficient_scope"), role);
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        Some(response)
    }

    /// Who signs in with a secret, a key, the token or the password; one that opens nothing counts against its address.
    pub(super) async fn sign_in(&self, given: &str, peer: IpAddr) -> Result<SignedIn, SignInRefused> {
        let key = GivenKey::parse(given);
        if self.is_token(given) {
            return Ok(SignedIn::As(Caller::Token));
        }
        self.attempts.begin(key.as_ref(), peer).map_err(SignInRefused::Wait)?;
        let memory = self.readiness.ready().await.map_err(|r| SignInRefused::Unavailable(r.to_string()))?;
        let Some(key) = key else {
            self.attempts.begin_password(peer).map_err(SignInRefused::Wait)?;
            return match memory.password().check(given).await {
                Ok(PasswordCheck::Right(mark)) => Ok(SignedIn::Administrator(mark)),
                Ok(PasswordCheck::Wrong | PasswordCheck::NotSet) => Err(SignInRefused::Wrong),
                Err(error) => Err(SignInRefused::Unavailable(error.to_string())),
            };
        };
        match access::holder(&memory, &key).await {
            Ok(caller) => {
                self.attempts.was_right(&key);
                Ok(SignedIn::As(caller))
            }
            Err(Closed::Refused(_) | Closed::Forbidden(_)) => {
                self.attempts.was_wrong(&key);
                Err(SignInRefused::Wrong)
            }
            Err(Closed::Unknown(error)) => Err(SignInRefused::Unavailable(error.to_string())),
        }
    }

    /// Counts a request of a key; an error is how long to wait.
    pub(super) fn count(&self, key: &KeyId) -> Result<(), Duration> {
        self.requests.begin(key)
    }

    /// Requests without a key are accepted: only this machine can reach the listener, and there is neither a token nor a public address.
    /// (Behind a public address is a proxy, whose requests all come from loopback.)
    pub(super) fn is_open(&self) -> bool {
        self.is_local && self.token.is_none() && self.oauth.is_none()
    }

    async fn without_key(&self, oauth: Option<&OAuth>) -> Result<Caller, Response> {
        // Who has a public address has a proxy, and all that comes by it comes from loopback.
        if self.token.is_some() || !self.is_local || self.oauth.is_some() {
            return Err(unauthorized(KEY_NEEDED, false, oauth));
        }
        // What calls a tool while the memory starts waits for it, and is asked about then.
        let Some(memory) = self.readiness.memory() else {
            return Ok(Caller::Anonymous { is_confirmed: false });
        };
        match memory.access().has_keys().await {
            Ok(false) => Ok(Caller::Anonymous { is_confirmed: true }),
            Ok(true) => Err(unauthorized(KEY_NEEDED, false, oauth)),
            Err(_) => Ok(Caller::Anonymous { is_confirmed: false }),
        }
    }

    /// Whether the sender may see the state of the installation. Does not wait for the memory where it is not healthy.
    pub(super) async fn is_admin(&self, request: &RequestHead, is_well: bool) -> bool {
        match bearer(&request.headers) {
            Ok(Some(given)) if self.is_token(&given) => true,
            Ok(None) if !is_well => {
                let seen = self.readiness.memory().and_then(|memory| memory.access().last_seen_keys());
                self.token.is_none() && self.is_local && self.oauth.is_none() && seen != Some(true)
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

/// Who has signed in to the pages.
pub(super) enum SignedIn {
    As(Caller),
    /// By the password of the installation.
    Administrator(PasswordMark),
}

/// What of a request says who sends it.
pub(super) struct RequestHead {
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) peer: IpAddr,
}

/// The address that a request comes from.
pub(super) fn peer_of(request: &Request) -> IpAddr {
    let client = request.extensions().get::<ClientAddress>();
    client.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |client| client.0)
}

impl RequestHead {
    pub(super) fn of(request: &Request) -> Self {
        Self { uri: request.uri().clone(), headers: request.headers().clone(), peer: peer_of(request) }
    }
}

fn bearer(headers: &HeaderMap) -> Result<Option<String>, Response> {
    let Some(value) = only(headers, &header::AUTHORIZATION)? else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    let (scheme, given) = text.split_once(' ').unwrap_or((text, ""));
    Ok(scheme.eq_ignore_ascii_case("bearer").then(|| given.trim().to_owned()))
}

/// What a request has brought: a key, or where there is OAuth a token.
fn brought(given: &str, oauth: Option<&OAuth>) -> Option<GivenKey> {
    let key = GivenKey::parse(given);
    let Some(oauth) = oauth.filter(|_| key.is_none()) else { return key };
    if oauth.has_issuer() {
        // Whose it is, is known when it is read; until then it counts as itself.
        let is_signed = given.split('.').count() == 3;
        return is_signed.then(|| GivenKey::issued("", given, given, Timestamp::MIN));
    }
    GivenKey::parse_access_token(given)
}

fn unauthorized(reason: &str, had_key: bool, oauth: Option<&OAuth>) -> Response {
    let mut response = refused(StatusCode::UNAUTHORIZED, reason);
    let error = had_key.then_some("invalid_token");
    let challenge = match (oauth, error) {
        (Some(oauth), error) => oauth.challenge(error, Role::Writer),
        (None, Some(_)) => HeaderValue::from_static("Bearer error=\"invalid_token\""),
        (None, None) => HeaderValue::from_static("Bearer"),
    };
    response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    response
}

fn unavailable(reason: &str) -> Response {
    let mut response = refused(StatusCode::SERVICE_UNAVAILABLE, reason);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    response
}
