//! One POST over HTTP/1.1: to an address that was looked at, without redirects or proxies, within a time and a size.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderValue, RETRY_AFTER, USER_AGENT,
};
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::endpoint::Endpoint;

/// Of an answer no more than this is read.
pub(super) const ANSWER_MAX_BYTES: usize = 2_000_000;
/// How long one of the addresses of a name may take to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A server that names a later time is asked again after this.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(3600);

/// A whole answer of the server.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Bytes,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallError {
    Timeout,
    /// Nobody was there, or nobody who may be spoken to.
    Unreachable(String),
    /// It began to answer and did not end.
    Broken(String),
    TooLarge,
}

/// A secret that is shown nowhere.
#[derive(Clone)]
pub struct Key(HeaderValue);

impl Key {
    pub fn new(key: &str) -> Result<Self, String> {
        let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
            .map_err(|_| "the language model's key has characters that no key has".to_owned())?;
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
    tls: Option<TlsConnector>,
    key: Option<Key>,
    pub(super) timeout: Duration,
}

impl Client {
    pub(super) fn new(endpoint: Endpoint, key: Option<Key>, timeout: Duration) -> Result<Self, String> {
        let tls = if endpoint.is_tls { Some(connector(system_roots()?)?) } else { None };
        Ok(Self { endpoint, tls, key, timeout })
    }

    /// The same with certificate authorities of a test's own.
    #[cfg(test)]
    pub(super) fn with_roots(mut self, roots: RootCertStore) -> Self {
        self.tls = Some(connector(roots).expect("TLS is there"));
        self
    }

    pub(super) async fn post(&self, body: Vec<u8>) -> Result<Reply, CallError> {
        tokio::time::timeout(self.timeout, self.exchange(body)).await.unwrap_or(Err(CallError::Timeout))
    }

    async fn exchange(&self, body: Vec<u8>) -> Result<Reply, CallError> {
        let stream = self.connect().await?;
        match &self.tls {
            None => self.send(stream, body).await,
            Some(tls) => {
                let name = ServerName::try_from(self.endpoint.host_name()).map_err(|_| {
                    CallError::Unreachable("its name cannot stand in a certificate".to_owned())
                })?;
                let stream = tls.connect(name, stream).await.map_err(|error| {
                    CallError::Unreachable(format!("no encrypted connection could be made: {error}"))
                })?;
                self.send(stream, body).await
            }
        }
    }

    /// Connects to the very addresses that were admitted: the name is not resolved a second time.
    async fn connect(&self) -> Result<TcpStream, CallError> {
        let addresses = self.endpoint.addresses().await.map_err(CallError::Unreachable)?;
        let mut failure = None;
        for address in addresses {
            match tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => failure = Some(error),
                Err(_) => failure = Some(io::ErrorKind::TimedOut.into()),
            }
        }
        let why = failure.map_or(io::ErrorKind::NotFound, |error| error.kind());
        Err(CallError::Unreachable(format!("it cannot be connected to ({why})")))
    }

    async fn send<S>(&self, stream: S, body: Vec<u8>) -> Result<Reply, CallError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let broken = |error: hyper::Error| CallError::Broken(said(&error));
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
        // Dropped with this call, and the connection with it.
        let mut driving = JoinSet::new();
        driving.spawn(connection);
        let request = self.request(body)?;
        let response = sender.send_request(request).await.map_err(broken)?;
        read(response).await
    }

    fn request(&self, body: Vec<u8>) -> Result<Request<Full<Bytes>>, CallError> {
        let mut request = Request::post(&self.endpoint.target)
            .header(HOST, self.endpoint.authority())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .header(USER_AGENT, concat!("remembrancer/", env!("CARGO_PKG_VERSION")))
            .header(CONNECTION, "close");
        if let Some(Key(value)) = &self.key {
            request = request.header(AUTHORIZATION, value.clone());
        }
        let unusable = |_| CallError::Unreachable("its address cannot stand in a request".to_owned());
        request.body(Full::from(body)).map_err(unusable)
    }
}

async fn read(response: Response<Incoming>) -> Result<Reply, CallError> {
    let status = response.status().as_u16();
    let retry_after = retry_after(response.headers(), SystemTime::now());
    let body = match Limited::new(response.into_body(), ANSWER_MAX_BYTES).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return Err(CallError::TooLarge),
        Err(_) => return Err(CallError::Broken("the connection ended before the answer did".to_owned())),
    };
    Ok(Reply { status, retry_after, body })
}

/// What a failure of the connection is, without anything the server wrote.
fn said(error: &hyper::Error) -> String {
    let what = match error {
        error if error.is_parse() => "what it answers is not HTTP",
        error if error.is_incomplete_message() || error.is_closed() => {
            "it closed the connection without an answer"
        }
        _ => "the connection failed",
    };
    what.to_owned()
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

fn system_roots() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(
            "the language model's address is https, and this machine has no certificate authorities: \
             install the package ca-certificates, or name a file of them in SSL_CERT_FILE"
                .to_owned(),
        );
    }
    Ok(roots)
}

fn connector(roots: RootCertStore) -> Result<TlsConnector, String> {
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be used: {error}"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
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
