//! A client that calls tools over HTTP, on one connection that stays open.

use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

const PROTOCOL: &str = "2025-06-18";
/// The largest answer that is read, in bytes.
const ANSWER_MAX_BYTES: usize = 64 * 1024 * 1024;

pub(super) struct McpClient {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    path: String,
    token: Option<String>,
}

impl McpClient {
    /// Whether this may be the address of a server.
    pub(super) fn check(url: &str) -> anyhow::Result<Uri> {
        let uri: Uri = url.parse().with_context(|| format!("'{url}' is not an address"))?;
        ensure!(
            uri.scheme_str() == Some("http"),
            "'{url}' does not begin with http://, which is measured here"
        );
        Ok(uri)
    }

    /// Connects to an address such as <http://localhost:3100/mcp>, for the tools of a namespace.
    pub(super) async fn connect(url: &str, namespace: &str, token: Option<&str>) -> anyhow::Result<Self> {
        let uri: Uri = url.parse().with_context(|| format!("'{url}' is not an address"))?;
        ensure!(
            uri.scheme_str() == Some("http"),
            "'{url}' does not begin with http://, which is measured here"
        );
        let host = uri.host().with_context(|| format!("'{url}' names no host"))?.to_owned();
        let port = uri.port_u16().unwrap_or(80);
        let stream = TcpStream::connect((host.trim_matches(['[', ']']), port))
            .await
            .with_context(|| format!("nothing answers at {host}:{port}"))?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        // It ends with its sender.
        tokio::spawn(connection);
        let path = format!("{}?namespace={namespace}", uri.path());
        Ok(Self { sender, host: format!("{host}:{port}"), path, token: token.map(str::to_owned) })
    }

    /// Calls a tool: what it answered, and how long that took until its last byte was here.
    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> anyhow::Result<(Value, Duration)> {
        let message = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments },
        });
        let mut request = Request::post(&self.path)
            .header("host", &self.host)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", PROTOCOL);
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Full::new(Bytes::from(message.to_string())))?;
        let started = Instant::now();
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let status = response.status();
        let body = http_body_util::Limited::new(response.into_body(), ANSWER_MAX_BYTES).collect().await;
        let took = started.elapsed();
        let body = body.map_err(|error| anyhow::anyhow!("the answer was cut off: {error}"))?.to_bytes();
        ensure!(status.is_success(), "{tool}: HTTP {status}: {}", String::from_utf8_lossy(&body));
        let mut answer: Value =
            serde_json::from_slice(&body).with_context(|| format!("{tool} did not answer JSON"))?;
        let result = &mut answer["result"];
        if result["isError"] != false && !result["isError"].is_null() || result.is_null() {
            bail!("{tool} refused: {answer}");
        }
        Ok((result["structuredContent"].take(), took))
    }
}
