//! The wire: servers that hang, drip, break off, flood, redirect, or are another program.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use memory_core::ports::{ExtractError, Extractor};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto};

use super::super::LlmExtractor;
use super::super::endpoint::Endpoint;
use super::super::http::Client;
use super::server::{Act, ChatServer, serve};
use super::{TEXT, document, extractor_at, good, read};

#[tokio::test]
async fn silence_and_a_drip_end_with_the_time_that_is_given() {
    for act in [Act::Hang, Act::Drip(Duration::from_millis(20))] {
        let server = ChatServer::acts(vec![act]).await;
        let extractor = extractor_at(&server.url, Duration::from_millis(300));
        let error = tokio::time::timeout(Duration::from_secs(10), extractor.extract(&document(TEXT))).await;
        assert_eq!(error.expect("it ends").unwrap_err(), ExtractError::Timeout(Duration::from_millis(300)));
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_no_answer() {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{\"choices\": [";
    for bytes in [head.as_bytes(), b"", b"HTTP/1.1 200", b"SSH-2.0-OpenSSH_9.6\r\n"] {
        let server = ChatServer::acts(vec![Act::Bytes(bytes.to_vec())]).await;
        let error = read(&server, TEXT).await.unwrap_err();
        assert!(matches!(error, ExtractError::ServerFailed(_)), "{error:?}");
    }
}

#[tokio::test]
async fn an_answer_of_megabytes_is_not_read_to_its_end() {
    let huge = format!("{{\"events\": [{}]}}", vec!["{}"; 1_000_000].join(","));
    assert!(huge.len() > 2_900_000);
    let server = ChatServer::acts(vec![Act::Say(huge)]).await;
    let error = read(&server, TEXT).await.unwrap_err();
    assert!(matches!(&error, ExtractError::BadOutput(why) if why.contains("larger")), "{error:?}");
}

#[tokio::test]
async fn what_is_no_completion_is_bad_output_and_a_wrong_content_type_alone_is_not() {
    let page = "<html>Sign in to continue</html>".to_owned();
    let utf8: Vec<u8> = [b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n".as_slice(), &[0xFF; 40]].concat();
    for act in [Act::Answer(200, "X-Type: text/html\r\n", page), Act::Bytes(utf8)] {
        let server = ChatServer::acts(vec![act]).await;
        let error = read(&server, TEXT).await.unwrap_err();
        assert!(matches!(error, ExtractError::BadOutput(_)), "{error:?}");
    }
    let completion =
        serde_json::json!({"choices": [{"message": {"content": good().to_string()}}]}).to_string();
    let plain = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{completion}",
        completion.len()
    );
    let server = ChatServer::acts(vec![Act::Bytes(plain.into_bytes())]).await;
    assert!(read(&server, TEXT).await.unwrap().events.len() >= 2);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = ChatServer::acts(vec![Act::say(&good())]).await;
    for target in
        ["http://169.254.169.254/latest/meta-data/".to_owned(), format!("{}/chat/completions", other.url)]
    {
        let header: &'static str = Box::leak(format!("Location: {target}\r\n").into_boxed_str());
        for status in [301, 302, 307, 308] {
            let server = ChatServer::acts(vec![Act::Answer(status, header, String::new())]).await;
            let error = read(&server, TEXT).await.unwrap_err();
            assert!(
                matches!(&error, ExtractError::Unavailable { reason, .. } if reason.contains("redirect")),
                "{error:?}"
            );
        }
    }
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn a_server_that_is_not_there_or_may_not_be_asked_makes_jobs_wait() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    for (url, why) in [
        (format!("http://localhost:{free}/v1"), "cannot be connected to (connection refused)"),
        (format!("https://localhost:{free}/v1"), "cannot be connected to (connection refused)"),
        ("https://no-such-host.invalid/v1".to_owned(), "the name no-such-host.invalid is not known"),
    ] {
        let error = extractor_at(&url, Duration::from_secs(20)).extract(&document(TEXT)).await.unwrap_err();
        assert!(
            matches!(&error, ExtractError::Unavailable { retry_after, reason }
                if *retry_after >= Duration::from_secs(10) && reason.contains(why)),
            "{error:?}"
        );
    }
}

/// A server with a certificate for `localhost` of its own making.
async fn tls_server() -> (String, RootCertStore, tokio::task::JoinHandle<()>) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], made.signing_key.serialize_der().try_into().unwrap())
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(async move {
        let log = Mutex::new(Vec::new());
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(stream) = acceptor.accept(stream).await {
                serve(stream, &|_, _| Act::say(&good()), &log).await;
            }
        }
    });
    (format!("https://localhost:{port}/v1"), roots, serving)
}

#[tokio::test]
async fn https_works_with_a_certificate_that_is_trusted_and_with_no_other() {
    let (url, roots, _serving) = tls_server().await;
    let endpoint = Endpoint::parse(&url, false).unwrap();
    let client = Client::with_roots(endpoint, None, Duration::from_secs(20), roots).unwrap();
    let trusting = LlmExtractor::with_client(client, "scripted-1".to_owned(), crate::RulesExtractor::new());
    assert!(trusting.extract(&document(TEXT)).await.unwrap().events.len() >= 2);
    let error = extractor_at(&url, Duration::from_secs(20)).extract(&document(TEXT)).await.unwrap_err();
    assert!(
        matches!(&error, ExtractError::Unavailable { reason, .. } if reason.contains("encrypted")),
        "{error:?}"
    );
}
