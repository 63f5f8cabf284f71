//! A receiver of webhooks: a plain HTTP server that answers as it is told to and keeps what it was sent.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A message as it came.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn id(&self) -> &str {
        self.header("webhook-id")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    pub(crate) fn kind(&self) -> String {
        self.json()["type"].as_str().expect("a type").to_owned()
    }

    /// Verifies the signature as a receiver does, with the secret that was shown.
    pub(crate) fn is_signed_with(&self, secret: &str) -> bool {
        let secret = STANDARD.decode(secret.strip_prefix("whsec_").expect("a secret")).expect("base64");
        let mut mac = Hmac::<Sha256>::new_from_slice(&secret).expect("a key");
        mac.update(self.id().as_bytes());
        mac.update(format!(".{}.", self.header("webhook-timestamp")).as_bytes());
        mac.update(&self.body);
        let given = self.header("webhook-signature").strip_prefix("v1,").expect("version 1");
        mac.verify_slice(&STANDARD.decode(given).expect("base64")).is_ok()
    }
}

/// How it answers: with a status, or not at all.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    Status(u16),
    Silence,
}

pub(crate) struct Receiver {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
    answers: Arc<Mutex<VecDeque<Answer>>>,
}

impl Receiver {
    /// Answers with 200 once it has given these answers.
    pub(crate) async fn new(answers: &[Answer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let received = Arc::<Mutex<Vec<Received>>>::default();
        let answers = Arc::new(Mutex::new(answers.iter().copied().collect::<VecDeque<_>>()));
        let (kept, given) = (Arc::clone(&received), Arc::clone(&answers));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (kept, given) = (Arc::clone(&kept), Arc::clone(&given));
                tokio::spawn(async move { serve(stream, &kept, &given).await });
            }
        });
        Self { url, received, answers }
    }

    pub(crate) fn answer_next(&self, answer: Answer) {
        self.answers.lock().expect("a lock").push_back(answer);
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().expect("a lock").clone()
    }

    /// The types of what came, in the order of the alphabet: what is sent at the same time comes in any order.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<String> = self.received().iter().map(Received::kind).collect();
        kinds.sort();
        kinds
    }
}

async fn serve(mut stream: TcpStream, kept: &Mutex<Vec<Received>>, answers: &Mutex<VecDeque<Answer>>) {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let headers: HashMap<String, String> = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while bytes.len() < head + length {
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    }
    kept.lock().expect("a lock").push(Received { headers, body: bytes[head..].to_vec() });
    let answer = answers.lock().expect("a lock").pop_front().unwrap_or(Answer::Status(200));
    match answer {
        Answer::Status(status) => {
            let answer = format!("HTTP/1.1 {status} Any\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes()).await;
        }
        // Until the sender gives up or is gone.
        Answer::Silence => {
            let _ = tokio::time::timeout(Duration::from_mins(1), stream.read_buf(&mut bytes)).await;
        }
    }
}
