//! Who may ask for consent: a client that an operator named or that registered itself, by its row; or one that describes itself in a
//! document whose address is its id.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use memory_core::Invalid;
use memory_network::{Chosen, Fetcher};
use url::Url;

use super::clients::{Client, Metadata, URI_MAX_BYTES, URIS_MAX, is_web, shown_name};
use super::request::redirect_host;
use super::{OAuth, Problem};

/// Of a document no more than this is read, and how long it is used.
const DOCUMENT_MAX_BYTES: usize = 16 * 1024;
const DOCUMENT_LIFETIME: Duration = Duration::from_secs(5 * 60);
const DOCUMENTS_MAX: usize = 200;
/// The client of this id.
pub(super) async fn find(oauth: &OAuth, id: &str) -> Result<Client, Problem> {
    if id.starts_with("https://") {
        return oauth.documents.client(id).await.map_err(|Invalid(why)| Problem::new("invalid_client", why));
    }
    let row = oauth.memory().await?.oauth().client(id).await?;
    let row = row.ok_or_else(|| {
        Problem::new(
            "invalid_client",
            "this client is not known here, or not any more; remove the connection there and add it again",
        )
    })?;
    Ok(Client {
        id: row.id,
        name: row.name,
        is_of_operator: row.is_of_operator,
        redirect_uris: row.redirect_uris,
    })
}

/// The documents that were fetched lately.
pub(super) struct Documents {
    fetcher: Fetcher,
    kept: Mutex<HashMap<String, (Instant, Client)>>,
}

impl Default for Documents {
    fn default() -> Self {
        Self { fetcher: Fetcher::new(Chosen::ByStrangers, DOCUMENT_MAX_BYTES), kept: Mutex::default() }
    }
}

impl Documents {
    async fn client(&self, id: &str) -> Result<Client, Invalid> {
        if let Some(client) = self.kept(id) {
            return Ok(client);
        }
        let url = document_address(id)?;
        let fetched = self.fetcher.get(&url).await;
        let document = fetched
            .map_err(|Invalid(why)| Invalid(format!("the document of this client cannot be read: {why}")))?;
        let client = described(id, &document)?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= DOCUMENTS_MAX {
            kept.clear();
        }
        kept.insert(id.to_owned(), (Instant::now(), client.clone()));
        Ok(client)
    }

    fn kept(&self, id: &str) -> Option<Client> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(id).filter(|(at, _)| at.elapsed() < DOCUMENT_LIFETIME).map(|(_, client)| client.clone())
    }
}

/// The address of a document: one that is written in one way only, with a path.
fn document_address(id: &str) -> Result<Url, Invalid> {
    let url =
        Url::parse(id).ok().filter(|url| url.as_str() == id && url.path() != "/" && url.fragment().is_none());
    url.filter(|_| id.len() <= URI_MAX_BYTES).ok_or_else(|| {
        Invalid::new("client_id is no address of a document: https, with a path, without a fragment")
    })
}

fn described(id: &str, document: &[u8]) -> Result<Client, Invalid> {
    let refused = |why: &str| Err(Invalid(format!("the document of this client {why}")));
    let Ok(metadata) = serde_json::from_slice::<Metadata>(document) else {
        return refused("is not what it should be");
    };
    if metadata.client_id.as_deref() != Some(id) {
        return refused("names another client_id than its address");
    }
    if metadata.token_endpoint_auth_method.is_some_and(|method| method != "none") {
        return refused("asks for another token_endpoint_auth_method than none, which is the only one here");
    }
    let uris = metadata.redirect_uris;
    if uris.is_empty() || uris.len() > URIS_MAX || !uris.iter().all(|uri| is_web(uri)) {
        return refused("has no redirect_uris, or too many, or some that are neither https nor on loopback");
    }
    let host = redirect_host(id);
    Ok(Client {
        id: id.to_owned(),
        is_of_operator: false,
        name: shown_name(metadata.client_name.as_deref(), &host),
        redirect_uris: uris,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::json;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;
    use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto};

    use super::*;

    #[test]
    fn a_document_describes_the_client_whose_id_is_its_address() {
        let id = "https://app.example/client.json";
        let document = |changed: serde_json::Value| {
            let mut all = json!({"client_id": id, "client_name": "App", "redirect_uris": ["https://app.example/callback"]});
            for (name, value) in changed.as_object().into_iter().flatten() {
                all[name] = value.clone();
            }
            described(id, all.to_string().as_bytes())
        };
        assert_eq!(document(json!({})).expect("it is sound").name, "App");
        assert!(document(json!({"token_endpoint_auth_method": "none"})).is_ok());
        for bad in [
            json!({"client_id": "https://other.example/client.json"}),
            json!({"token_endpoint_auth_method": "private_key_jwt"}),
            json!({"redirect_uris": []}),
            json!({"redirect_uris": ["javascript:alert(1)"]}),
            json!({"redirect_uris": ["http://app.example/callback"]}),
        ] {
            assert!(document(bad.clone()).is_err(), "{bad}");
        }
        assert!(described(id, b"<html>").is_err());
        for bad in [
            "https://app.example",
            "https://app.example/",
            "https://app.example/a/../b",
            "https://app.example/a#b",
        ] {
            assert!(document_address(bad).is_err(), "{bad}");
        }
    }

    /// A web server on this machine with a certificate, and how often it was asked; its document is made of its own address.
    async fn web(document: fn(&str) -> String) -> (String, RootCertStore, Arc<AtomicUsize>) {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).expect("it is sound");
        let key = made.signing_key.serialize_der().try_into().expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("it is sound");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let id =
            format!("https://localhost:{}/client.json", listener.local_addr().expect("an address").port());
        let (asked, body) = (Arc::new(AtomicUsize::new(0)), document(&id));
        let counted = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.read(&mut [0; 4096]).await;
                let head =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
                let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        });
        (id, roots, asked)
    }

    fn sound(id: &str) -> String {
        json!({"client_id": id, "client_name": "App", "redirect_uris": ["https://app.example/callback"]})
            .to_string()
    }

    fn documents(chosen: Chosen, roots: RootCertStore) -> Documents {
        let fetcher = Fetcher::new(chosen, DOCUMENT_MAX_BYTES).with_roots(roots);
        Documents { fetcher, kept: Mutex::default() }
    }

    #[tokio::test]
    async fn a_document_is_fetched_once_in_a_while_and_only_if_it_is_its_own() {
        let (id, roots, asked) = web(sound).await;
        let fetching = documents(Chosen::ByOperator, roots.clone());
        for _ in 0..3 {
            let client = fetching.client(&id).await.expect("it is fetched");
            assert_eq!((client.id.as_str(), client.name.as_str()), (id.as_str(), "App"));
            assert!(client.redirect_uri(Some("https://app.example/callback")).is_ok());
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        let other = id.replace("client.json", "other.json");
        let why = fetching.client(&other).await.expect_err("it names another").0;
        assert!(why.contains("another client_id"), "{why}");
        // The same as strangers name it: its address is private.
        let why = documents(Chosen::ByStrangers, roots).client(&id).await.expect_err("it is private").0;
        assert!(why.contains("private network"), "{why}");
        let why = documents(Chosen::ByOperator, RootCertStore::empty())
            .client(&id)
            .await
            .expect_err("no authority")
            .0;
        assert!(why.contains("cannot be connected to"), "{why}");
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_document_that_is_too_long_or_none_is_refused() {
        for document in [|_: &str| "x".repeat(DOCUMENT_MAX_BYTES + 1), |_: &str| "<html>".to_owned()] {
            let (id, roots, _) = web(document).await;
            assert!(documents(Chosen::ByOperator, roots).client(&id).await.is_err());
        }
    }
}
