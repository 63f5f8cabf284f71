//! One POST: to an address that was checked, without redirects or proxies, within a time and a size.

use std::error::Error;
use std::io;
use std::iter;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use memory_core::Invalid;
use memory_network::{encryption, system_roots};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Response, redirect, retry};
use rustls::RootCertStore;

use super::endpoint::Endpoint;

/// Of an answer no more than this is read.
pub(super) const ANSWER_MAX_BYTES: usize = 2_000_000;
/// How long it may take to connect, encryption included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A server that names a later time is asked again after this.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(3600);

/// A whole answer of the server.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Vec<u8>,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallError {
    Timeout,
    /// There was no connection, or none is allowed to that address.
    Unreachable(String),
    /// It began to answer and did not end.
    Broken(String),
    TooLarge,
}

/// A secret that is shown nowhere.
#[derive(Clone)]
pub struct Key(HeaderValue);

impl Key {
    pub fn new(key: &str) -> Result<Self, Invalid> {
        let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
            .map_err(|_| Invalid::new("the language model's key has characters that no key has"))?;
        value.set_sensitive(true);
        Ok(Self(value))
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

pub(super) struct Client {
    pub(super) endpoint: Endpoint,
    http: reqwest::Client,
    key: Option<Key>,
    pub(super) timeout: Duration,
}

impl Client {
    pub(super) fn new(endpoint: Endpoint, key: Option<Key>, timeout: Duration) -> Result<Self, Invalid> {
        let roots = if endpoint.is_tls() {
            system_roots("the language model's address")?
        } else {
            RootCertStore::empty()
        };
        Self::with_roots(endpoint, key, timeout, roots)
    }

    /// Of servers with certificates of these authorities.
    pub(super) fn with_roots(
        endpoint: Endpoint,
        key: Option<Key>,
        timeout: Duration,
        roots: RootCertStore,
    ) -> Result<Self, Invalid> {
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(encryption(roots)?)
            .dns_resolver(Arc::new(endpoint.clone()))
            .redirect(redirect::Policy::none())
            .no_proxy()
            .retry(retry::never())
            // The name is resolved and its addresses are checked for every call.
            .pool_max_idle_per_host(0)
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(timeout)
            .user_agent(concat!("remembrancer/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Invalid(format!("the language model cannot be asked over HTTP: {error}")))?;
        Ok(Self { endpoint, http, key, timeout })
    }

    pub(super) async fn post(&self, body: Vec<u8>) -> Result<Reply, CallError> {
        let mut request = self
            .http
            .post(self.endpoint.url().clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .header(CONNECTION, "close")
            .body(body);
        if let Some(Key(value)) = &self.key {
            request = request.header(AUTHORIZATION, value.clone());
        }
        read(request.send().await.map_err(|error| failure(&error))?).await
    }
}

async fn read(mut response: Response) -> Result<Reply, CallError> {
    let status = response.status().as_u16();
    let retry_after = retry_after(response.headers(), SystemTime::now());
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > ANSWER_MAX_BYTES => {
                return Err(CallError::TooLarge);
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(Reply { status, retry_after, body }),
            Err(error) if error.is_timeout() => return Err(CallError::Timeout),
            Err(_) => return Err(CallError::Broken("the connection ended before the answer did".to_owned())),
        }
    }
}

/// What a failure is, without anything the server wrote. The error's own text has the whole address, which may hold a
/// secret.
fn failure(error: &reqwest::Error) -> CallError {
    let causes = || iter::successors(error.source(), |cause| (*cause).source());
    if !error.is_connect() {
        return match causes().find_map(<dyn Error>::downcast_ref::<hyper::Error>) {
            _ if error.is_timeout() => CallError::Timeout,
            Some(error) if error.is_parse() => CallError::Broken("what it answers is not HTTP".to_owned()),
            Some(error) if error.is_incomplete_message() || error.is_closed() || error.is_canceled() => {
                CallError::Broken("it closed the connection without an answer".to_owned())
            }
            _ => CallError::Broken("the connection failed".to_owned()),
        };
    }
    if let Some(Invalid(why)) = causes().find_map(<dyn Error>::downcast_ref) {
        return CallError::Unreachable(why.clone());
    }
    CallError::Unreachable(match causes().find_map(<dyn Error>::downcast_ref::<io::Error>) {
        // An error of TLS comes as one of input and output within another.
        Some(error) if error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<io::Error>) => {
            format!("no encrypted connection could be made: {error}")
        }
        Some(error) => format!("it cannot be connected to ({})", error.kind()),
        None if error.is_timeout() => format!("it cannot be connected to ({})", io::ErrorKind::TimedOut),
        None => "its name cannot be in a certificate".to_owned(),
    })
}

/// Seconds or a date; never nothing, never for ever.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match value.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok()?,
        Err(_) => httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default(),
    };
    Some(wait.clamp(Duration::from_secs(1), RETRY_AFTER_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(value: &str) -> Option<u64> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_str(value).unwrap());
        let now = httpdate::parse_http_date("Sun, 01 Mar 2026 10:00:00 GMT").unwrap();
        retry_after(&headers, now).map(|wait| wait.as_secs())
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_has_bounds() {
        assert_eq!(after("7"), Some(7));
        assert_eq!(after("0"), Some(1));
        assert_eq!(after("99999999"), Some(3600));
        assert_eq!(after("Sun, 01 Mar 2026 10:02:00 GMT"), Some(120));
        assert_eq!(after("Sun, 01 Mar 2020 10:02:00 GMT"), Some(1));
        for nonsense in ["soon", "-3", "NaN", "1e400", "inf"] {
            assert_eq!(after(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_key_is_not_shown() {
        let key = Key::new("sk-hunter2").unwrap();
        assert!(!format!("{key:?} {:?}", key.0).contains("hunter2"));
        assert!(Key::new("with\nnewline").is_err());
    }
}
