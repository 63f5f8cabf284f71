//! `health`: asks a server whether it is ready, for health checks of containers and service managers.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use futures::TryFutureExt;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use memory_language::text::cut;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::settings::{ListenSettings, token};

/// How long the server has for its answer; it asks its database meanwhile.
const PATIENCE: Duration = Duration::from_secs(5);
const ANSWER_MAX_BYTES: usize = 64 * 1024;
/// The most of an answer that is shown, in characters.
const SHOWN_MAX_CHARS: usize = 300;

#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// What to ask instead of this machine's server, e.g. `http://127.0.0.1:9464/readyz`
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

pub(crate) async fn run(listen: &ListenSettings, args: HealthArgs) -> anyhow::Result<ExitCode> {
    // The token is sent only to the server of these settings.
    let (url, token) = match args.url {
        Some(url) => (url, None),
        None => (format!("http://{}/readyz", reachable(&listen.bind)), token().ok().flatten()),
    };
    let asking = ask(&url, token.as_deref());
    match tokio::time::timeout(PATIENCE, asking).await {
        Ok(Ok(())) => Ok(ExitCode::SUCCESS),
        Ok(Err(error)) => bail!("{url} is not healthy: {error:#}"),
        Err(_) => bail!("{url} is not healthy: it did not answer within {} s", PATIENCE.as_secs()),
    }
}

/// The server answers that it is not ready: try again later, or read its log.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct NotReady(String);

/// Whether the server that listens on this address is ready; [`NotReady`] if it says that it is not.
pub(super) async fn is_ready(bind: &str) -> anyhow::Result<()> {
    let url = format!("http://{}/readyz", reachable(bind));
    let token = token().ok().flatten();
    match tokio::time::timeout(PATIENCE, ask(&url, token.as_deref())).await {
        Ok(answered) => answered,
        Err(_) => bail!("it did not answer within {} s", PATIENCE.as_secs()),
    }
}

/// An address to connect to for one to listen on.
fn reachable(bind: &str) -> String {
    match bind.rsplit_once(':') {
        Some(("0.0.0.0" | "", port)) => format!("127.0.0.1:{port}"),
        Some(("[::]", port)) => format!("[::1]:{port}"),
        _ => bind.to_owned(),
    }
}

async fn ask(url: &str, token: Option<&str>) -> anyhow::Result<()> {
    let uri: Uri = url.parse().context("it is no address; write one such as http://127.0.0.1:3100/readyz")?;
    if uri.scheme_str() != Some("http") {
        bail!("only http:// can be asked; ask the server itself, not the proxy before it");
    }
    let authority = uri.authority().context("it names no host")?;
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let port = authority.port_u16().unwrap_or(80);
    let stream = TcpStream::connect((host, port)).map_err(|error| match error.kind() {
        std::io::ErrorKind::ConnectionRefused => {
            anyhow::anyhow!("nothing listens there (connection refused)")
        }
        _ => anyhow::anyhow!("it cannot be reached: {error}"),
    });
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream.await?)).await?;
    tokio::spawn(connection);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request = Request::get(path).header("Host", authority.as_str()).header("Connection", "close");
    if let Some(token) = token {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let request = request.body(Empty::<Bytes>::new()).context("it cannot be asked for")?;
    let response = sender.send_request(request).await.context("it does not speak HTTP")?;
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    let body = Limited::new(response.into_body(), ANSWER_MAX_BYTES).collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let reason = reason(status.as_u16(), &body);
    if status == StatusCode::SERVICE_UNAVAILABLE {
        return Err(NotReady(reason).into());
    }
    bail!("{reason}")
}

fn reason(status: u16, body: &[u8]) -> String {
    let report: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = match (report["waiting_for"].as_str(), report["reason"].as_str()) {
        (Some(part), Some(reason)) => format!("{part}: {reason}"),
        _ => String::from_utf8_lossy(body).split_whitespace().collect::<Vec<_>>().join(" "),
    };
    format!("{} (HTTP {status})", cut(&text, SHOWN_MAX_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_to_listen_on_is_asked_where_it_can_be_reached() {
        for (bind, asked) in [
            ("127.0.0.1:3100", "127.0.0.1:3100"),
            ("0.0.0.0:3100", "127.0.0.1:3100"),
            ("[::]:80", "[::1]:80"),
            ("memory.example:3100", "memory.example:3100"),
        ] {
            assert_eq!(reachable(bind), asked);
        }
    }

    #[test]
    fn what_is_wrong_is_one_line() {
        let line = reason(503, br#"{"ready":false,"waiting_for":"database","reason":"it is away"}"#);
        assert_eq!(line, "database: it is away (HTTP 503)");
        assert_eq!(reason(404, b"a\nb\n"), "a b (HTTP 404)");
    }
}
