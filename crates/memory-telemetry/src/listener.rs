//! A listener for operators alone: `/metrics`, `/livez` and `/readyz`. It shows nothing of what is remembered.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use memory_engine::readiness::{NotReady, Watch};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::health::{self, Detail};
use crate::metrics;

/// The most connections; others wait until one is closed.
const CONNECTIONS_MAX: usize = 32;
/// How long a connection may stay open without a whole request head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
const HEAD_MAX_BYTES: usize = 16 * 1024;

const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

/// Opens the listener, which serves until `stop` is cancelled.
pub async fn listen(
    bind: &str,
    readiness: Watch,
    stop: CancellationToken,
) -> anyhow::Result<(SocketAddr, tokio::task::JoinHandle<()>)> {
    let addresses: Vec<SocketAddr> = tokio::net::lookup_host(bind)
        .await
        .with_context(|| format!("{bind} is not an address to listen on; use one such as 127.0.0.1:9464"))?
        .collect();
    let listener = TcpListener::bind(&addresses[..]).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => anyhow::anyhow!(
            "{bind} is in use by another program; choose another address with --metrics-bind, such as 127.0.0.1:9465"
        ),
        _ => anyhow::anyhow!("cannot listen on {bind}: {error}"),
    })?;
    let address = listener.local_addr()?;
    Ok((address, tokio::spawn(serve(listener, readiness, stop))))
}

async fn serve(listener: TcpListener, readiness: Watch, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let admitted = async {
            let place = Arc::clone(&places).acquire_owned().await.ok()?;
            Some((listener.accept().await, place))
        };
        let (stream, place) = match stop.run_until_cancelled(admitted).await.flatten() {
            None => return,
            Some((Ok((stream, _)), place)) => (stream, place),
            Some((Err(error), _)) => {
                tracing::warn!(%error, "failed to accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let (readiness, stop) = (readiness.clone(), stop.clone());
        tokio::spawn(async move {
            attend(stream, readiness, stop).await;
            drop(place);
        });
    }
}

async fn attend(stream: TcpStream, readiness: Watch, stop: CancellationToken) {
    let stopping = stop.clone();
    let service = service_fn(move |request| {
        let (readiness, stop) = (readiness.clone(), stopping.clone());
        async move { Ok::<_, Infallible>(answer(&request, &readiness, &stop).await) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_header_size(HEAD_MAX_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let _ = stop.run_until_cancelled(serving).await;
}

async fn answer(
    request: &Request<Incoming>,
    readiness: &Watch,
    stop: &CancellationToken,
) -> Response<Full<Bytes>> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let mut response = said(StatusCode::METHOD_NOT_ALLOWED, TEXT, "Only GET.\n".to_owned());
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    match request.uri().path() {
        "/livez" => said(StatusCode::OK, TEXT, "ok\n".to_owned()),
        "/readyz" => {
            let found = if stop.is_cancelled() {
                Err(NotReady { part: "memory", reason: "it is stopping".to_owned() })
            } else {
                readiness.health().await
            };
            let (status, body) = health::answer(&found, Detail::Full);
            said(StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE), JSON, body)
        }
        "/metrics" => said(StatusCode::OK, metrics::CONTENT_TYPE, metrics::scrape(readiness).await),
        _ => said(
            StatusCode::NOT_FOUND,
            TEXT,
            "There are /metrics, /livez and /readyz here; MCP is at the other address.\n".to_owned(),
        ),
    }
}

fn said(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
