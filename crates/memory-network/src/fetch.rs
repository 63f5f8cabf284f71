//! One GET or POST: to an address that was checked, by a name whose every address was.

use std::error::Error;
use std::iter;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use memory_core::Invalid;
use reqwest::dns::{Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use reqwest::{redirect, retry};
use rustls::{ClientConfig, RootCertStore};
use url::{Host, Url};

use crate::place::{Place, place_of};
use crate::resolve::{addresses_of, resolving};

/// How long it may take in all.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Whose choice an address is, and so where it may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// A stranger's: encrypted, and to public addresses only.
    ByStrangers,
    /// The operator's: private networks and this machine are allowed, unencrypted too.
    ByOperator,
}

/// Fetches documents.
#[derive(Debug, Clone)]
pub struct Fetcher {
    chosen: Chosen,
    max_bytes: usize,
    timeout: Duration,
    /// Those of this machine when there are none.
    roots: Option<RootCertStore>,
}

impl Fetcher {
    pub fn new(chosen: Chosen, max_bytes: usize) -> Self {
        Self { chosen, max_bytes, timeout: TIMEOUT, roots: None }
    }

    /// Of servers with certificates of these authorities.
    #[must_use]
    pub fn with_roots(self, roots: RootCertStore) -> Self {
        Self { roots: Some(roots), ..self }
    }

    /// The body of the answer, which must be 200. An error says why there is none, with nothing that the server wrote.
    pub async fn get(&self, url: &Url) -> Result<Vec<u8>, Invalid> {
        let (client, shown) = client(url, self.chosen, self.roots.clone(), self.timeout)?;
        let request = client.get(url.clone()).header(ACCEPT, "application/json").header(CONNECTION, "close");
        let mut response = request.send().await.map_err(|error| failure(&shown, &error))?;
        let status = response.status().as_u16();
        if status != 200 {
            let redirects = if (300..400).contains(&status) { "; redirects are not followed" } else { "" };
            return Err(Invalid(format!("{shown} answered with {status}{redirects}")));
        }
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| failure(&shown, &error))? {
            if body.len() + part.len() > self.max_bytes {
                return Err(Invalid(format!("{shown} answered with more than {} bytes", self.max_bytes)));
            }
            body.extend_from_slice(&part);
        }
        Ok(body)
    }
}

/// A client that connects to the address alone, and only where it may lead; and how the address is shown.
fn client(
    url: &Url,
    chosen: Chosen,
    roots: Option<RootCertStore>,
    timeout: Duration,
) -> Result<(reqwest::Client, String), Invalid> {
    let origin = Origin::of(url, chosen)?;
    let roots = match roots {
        Some(roots) => roots,
        None if origin.is_tls => system_roots(&origin.shown)?,
        None => RootCertStore::empty(),
    };
    let shown = origin.shown.clone();
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(encryption(roots)?)
        .dns_resolver(Arc::new(origin))
        .redirect(redirect::Policy::none())
        .no_proxy()
        .retry(retry::never())
        .connect_timeout(timeout)
        .timeout(timeout)
        .user_agent(concat!("remembrancer/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| Invalid(format!("{shown} cannot be asked over HTTP: {error}")))?;
    Ok((client, shown))
}

/// Sends messages to one address. Connections are kept: each leads where its address was admitted.
#[derive(Debug, Clone)]
pub struct Poster {
    client: reqwest::Client,
    url: Url,
    shown: String,
}

/// How a message was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posted {
    pub status: u16,
    /// How long the receiver asks to be left alone.
    pub retry_after: Option<Duration>,
}

impl Poster {
    pub fn new(url: &str, chosen: Chosen, timeout: Duration) -> Result<Self, Invalid> {
        let url = parsed(url)?;
        let (client, shown) = client(&url, chosen, None, timeout)?;
        Ok(Self { client, url, shown })
    }

    /// Sends a body of JSON. What the answer says beyond its status is not read.
    pub async fn post(&self, headers: &[(&'static str, String)], body: Vec<u8>) -> Result<Posted, Invalid> {
        let request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        let response = request.body(body).send().await.map_err(|error| failure(&self.shown, &error))?;
        let retry_after =
            response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        Ok(Posted { status: response.status().as_u16(), retry_after: retry_after.map(Duration::from_secs) })
    }
}

/// Whether an address may be sent to, as far as that shows now: its form, and every address of its name.
pub async fn check_address(url: &str, chosen: Chosen) -> Result<(), Invalid> {
    let url = parsed(url)?;
    let origin = Origin::of(&url, chosen)?;
    match url.host() {
        Some(Host::Domain(name)) => addresses_of(name, |address| origin.admit(address)).await.map(drop),
        _ => Ok(()),
    }
}

fn parsed(url: &str) -> Result<Url, Invalid> {
    Url::parse(url)
        .map_err(|error| Invalid(format!("{error}: write an address such as https://example.com/hook")))
}

fn failure(shown: &str, error: &reqwest::Error) -> Invalid {
    let mut causes = iter::successors(error.source(), |cause| (*cause).source());
    if let Some(Invalid(why)) = causes.find_map(<dyn Error>::downcast_ref) {
        return Invalid(why.clone());
    }
    let what = if error.is_timeout() {
        "did not answer in time"
    } else if error.is_connect() {
        "cannot be connected to"
    } else {
        "broke off its answer"
    };
    Invalid(format!("{shown} {what}"))
}

/// Where a request goes: scheme, host and port.
#[derive(Debug, Clone)]
struct Origin {
    /// As it may be shown: path and query may hold a secret.
    shown: String,
    is_tls: bool,
    chosen: Chosen,
}

impl Origin {
    fn of(url: &Url, chosen: Chosen) -> Result<Self, Invalid> {
        let is_tls = url.scheme() == "https";
        let Some(host) = url.host() else { return Err(Invalid::new("an address without a host")) };
        let shown = url.origin().ascii_serialization();
        if !is_tls && (chosen == Chosen::ByStrangers || url.scheme() != "http") {
            return Err(Invalid(format!("{shown} is not https")));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Invalid(format!("the address at {shown} holds a name or password")));
        }
        let origin = Self { shown, is_tls, chosen };
        // Addresses are never resolved: this is the one time that they are checked.
        match host {
            Host::Ipv4(address) => origin.admit(address.into())?,
            Host::Ipv6(address) => origin.admit(address.into())?,
            Host::Domain(_) => {}
        }
        Ok(origin)
    }

    fn admit(&self, address: IpAddr) -> Result<(), Invalid> {
        let shown = &self.shown;
        match (place_of(address), self.chosen) {
            (Place::Forbidden(what), _) => Err(Invalid(format!("{shown} is {what}, which is not asked"))),
            (Place::Private | Place::Loopback, Chosen::ByStrangers) => {
                Err(Invalid(format!("{shown} is in a private network, which is not asked")))
            }
            (Place::Public, _) if !self.is_tls => {
                Err(Invalid(format!("{shown} is a public address, which is asked over https only")))
            }
            _ => Ok(()),
        }
    }
}

impl Resolve for Origin {
    fn resolve(&self, name: Name) -> Resolving {
        let origin = self.clone();
        resolving(name, move |address| origin.admit(address))
    }
}

/// The certificate authorities of this machine; `what` is asked over https.
pub fn system_roots(what: &str) -> Result<RootCertStore, Invalid> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(Invalid(format!(
            "{what} is https, and this machine has no certificate authorities: install the package ca-certificates, or name a \
             file of them in SSL_CERT_FILE"
        )));
    }
    Ok(roots)
}

/// TLS with servers whose certificates are of these authorities.
pub fn encryption(roots: RootCertStore) -> Result<ClientConfig, Invalid> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Invalid(format!("TLS cannot be used: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// A server that answers every request so; and how often it was connected to.
    async fn server(answer: Vec<u8>) -> (Url, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/document.json", listener.local_addr().expect("an address"));
        let connected = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connected);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let mut head = [0; 4096];
                let _ = stream.read(&mut head).await;
                let _ = stream.write_all(&answer).await;
            }
        });
        (Url::parse(&url).expect("an address"), connected)
    }

    fn answer(head: &str, body: &str) -> Vec<u8> {
        format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
            .into_bytes()
    }

    async fn refusal(chosen: Chosen, url: &str) -> String {
        let url = Url::parse(url).expect("an address");
        Fetcher::new(chosen, 100).get(&url).await.expect_err(url.as_str()).0
    }

    #[tokio::test]
    async fn what_a_stranger_names_is_asked_at_public_addresses_only_and_never_connected_to_elsewhere() {
        let (url, connected) = server(answer("200 OK", "{}")).await;
        let port = url.port().expect("a port");
        for host in [
            "127.0.0.1",
            "localhost",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "2130706433",
            "0x7f000001",
            "10.0.0.1",
            "[fd00::1]",
        ] {
            let why = refusal(Chosen::ByStrangers, &format!("https://{host}:{port}/document.json")).await;
            assert!(why.contains("private network"), "{host}: {why}");
        }
        for host in ["169.254.169.254", "[fe80::1]", "0.0.0.0", "[::ffff:169.254.169.254]"] {
            for chosen in [Chosen::ByStrangers, Chosen::ByOperator] {
                let why = refusal(chosen, &format!("https://{host}/latest")).await;
                assert!(why.contains("which is not asked"), "{host}: {why}");
            }
        }
        assert!(refusal(Chosen::ByStrangers, url.as_str()).await.contains("is not https"));
        assert!(refusal(Chosen::ByStrangers, "ftp://example.com/").await.contains("is not https"));
        assert!(
            refusal(Chosen::ByStrangers, "https://me:secret@example.com/").await.contains("name or password")
        );
        assert!(refusal(Chosen::ByOperator, "http://8.8.8.8/").await.contains("over https only"));
        assert_eq!(connected.load(Ordering::SeqCst), 0);
        assert_eq!(Fetcher::new(Chosen::ByOperator, 100).get(&url).await.expect("it answers"), b"{}");
        assert_eq!(connected.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn redirects_errors_floods_and_silence_are_no_documents() {
        let (target, reached) = server(answer("200 OK", "{}")).await;
        let (url, _) = server(answer(&format!("302 Found\r\nLocation: {target}"), "")).await;
        assert!(refusal(Chosen::ByOperator, url.as_str()).await.contains("redirects are not followed"));
        assert_eq!(reached.load(Ordering::SeqCst), 0);
        let (url, _) = server(answer("404 Not Found", "secret")).await;
        let why = refusal(Chosen::ByOperator, url.as_str()).await;
        assert!(why.contains("404") && !why.contains("secret"), "{why}");
        let (url, _) = server(answer("200 OK", &"x".repeat(101))).await;
        assert!(refusal(Chosen::ByOperator, url.as_str()).await.contains("more than 100 bytes"));
        let (url, _) = server(Vec::new()).await;
        assert!(refusal(Chosen::ByOperator, url.as_str()).await.contains("broke off"), "it says nothing");
        let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = Url::parse(&format!("http://{}/", silent.local_addr().expect("an address"))).expect("one");
        let fetcher =
            Fetcher { timeout: Duration::from_millis(200), ..Fetcher::new(Chosen::ByOperator, 100) };
        assert!(fetcher.get(&url).await.expect_err("it is silent").0.contains("in time"));
    }
}
