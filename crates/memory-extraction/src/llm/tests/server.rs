//! A chat server that does what a test says, down to the bytes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// What the server does with a request.
#[derive(Debug, Clone)]
pub enum Act {
    /// A chat completion of this content.
    Say(String),
    /// The same with another end than `stop`.
    SayUntil(String, &'static str),
    /// This status, these header lines and this body.
    Answer(u16, &'static str, String),
    /// These bytes, then the connection is closed.
    Bytes(Vec<u8>),
    /// A good head, then a byte of the body every so often.
    Drip(Duration),
    /// Nothing at all, for ever.
    Hang,
}

impl Act {
    pub fn say(content: &Value) -> Self {
        Self::Say(content.to_string())
    }

    pub fn status(status: u16) -> Self {
        Self::Answer(status, "", json!({"error": {"message": "as the script says"}}).to_string())
    }
}

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Request line and headers, in lower case.
    pub head: String,
    pub body: Value,
}

impl Asked {
    /// What the model was shown.
    pub fn question(&self) -> &str {
        self.body["messages"][1]["content"].as_str().unwrap_or_default()
    }

    /// `json_schema`, `json_object` or nothing.
    pub fn format(&self) -> &str {
        self.body["response_format"]["type"].as_str().unwrap_or_default()
    }
}

pub struct ChatServer {
    /// As a user would configure it.
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    _running: JoinSet<()>,
}

impl ChatServer {
    /// Does for the n-th request, counted from 0, what the script says.
    pub async fn start(script: impl Fn(usize, &Asked) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (script, log) = (Arc::new(script), Arc::clone(&asked));
        let mut running = JoinSet::new();
        running.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (script, log) = (Arc::clone(&script), Arc::clone(&log));
                connections.spawn(async move { serve(stream, &*script, &log).await });
            }
        });
        Self { url: format!("http://127.0.0.1:{port}/v1"), asked, _running: running }
    }

    /// Does these one after the other, and the last for ever.
    pub async fn acts(acts: Vec<Act>) -> Self {
        Self::start(move |n, _| acts[n.min(acts.len() - 1)].clone()).await
    }

    /// Everything it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no test panicked in it").clone()
    }
}

/// Reads one request and does what the script says.
pub async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    script: &(impl Fn(usize, &Asked) -> Act + ?Sized),
    log: &Mutex<Vec<Asked>>,
) {
    let Some(asked) = receive(&mut stream).await else { return };
    let number = {
        let mut log = log.lock().expect("no test panicked in it");
        log.push(asked.clone());
        log.len() - 1
    };
    // A client that has left early is no fault of the server.
    let _ = perform(&mut stream, script(number, &asked)).await;
    let _ = stream.shutdown().await;
}

async fn receive(stream: &mut (impl AsyncRead + Unpin)) -> Option<Asked> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = stream.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok())?;
        if bytes.len() >= end + 4 + length {
            return Some(Asked { head, body: serde_json::from_slice(&bytes[end + 4..]).ok()? });
        }
    }
}

async fn perform(stream: &mut (impl AsyncWrite + Unpin), act: Act) -> std::io::Result<()> {
    let completion = |content: &str, finish: &str| {
        json!({"id": "x", "object": "chat.completion", "choices":
            [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}]})
    };
    match act {
        Act::Say(content) => answer(stream, 200, "", &completion(&content, "stop").to_string()).await,
        Act::SayUntil(content, finish) => {
            answer(stream, 200, "", &completion(&content, finish).to_string()).await
        }
        Act::Answer(status, headers, body) => answer(stream, status, headers, &body).await,
        Act::Bytes(bytes) => stream.write_all(&bytes).await,
        Act::Drip(pause) => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n").await?;
            loop {
                stream.write_all(b" ").await?;
                stream.flush().await?;
                tokio::time::sleep(pause).await;
            }
        }
        Act::Hang => std::future::pending().await,
    }
}

async fn answer(
    stream: &mut (impl AsyncWrite + Unpin),
    status: u16,
    headers: &str,
    body: &str,
) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status} Scripted\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await
}
