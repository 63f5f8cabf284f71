//! Webhooks and the stream of events of the real server, as operators and programs use them.

use std::time::Duration;

use memory_tests::process::{DataDir, Server, eventually};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::process_access::new_key;
use crate::receiver::{Answer, Receiver};

const PATIENCE: Duration = Duration::from_secs(60);

async fn webhooks(data_dir: &DataDir, arguments: &[&str]) -> Value {
    data_dir.run(&[&["webhooks"], arguments, &["--json"]].concat()).await.json()
}

/// A stream that is being read.
struct Stream {
    response: Response,
    text: String,
}

/// One of its events.
#[derive(Debug)]
struct Event {
    id: String,
    data: Value,
}

impl Stream {
    async fn open(server: &Server, query: &str, key: Option<&str>, after: Option<&str>) -> Response {
        let url = server.url.replace("/mcp", &format!("/api/v1/events/stream{query}"));
        let mut request = server.client().get(url).timeout(PATIENCE * 2);
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        if let Some(after) = after {
            request = request.header("Last-Event-ID", after);
        }
        request.send().await.expect("it is answered")
    }

    async fn begin(server: &Server, query: &str, key: Option<&str>, after: Option<&str>) -> Self {
        let response = Self::open(server, query, key, after).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut stream = Self { response, text: String::new() };
        let first = stream.block().await;
        assert!(first.contains("id: ") && !first.contains("data:"), "where it begins: {first}");
        stream
    }

    /// The lines up to the next empty one; comments that keep it alive are left out.
    async fn block(&mut self) -> String {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                if block.lines().all(|line| line.starts_with(':')) {
                    continue;
                }
                return block;
            }
            let part = tokio::time::timeout(PATIENCE, self.response.chunk()).await.expect("it comes in time");
            let part = part.expect("the stream holds").expect("the stream goes on");
            self.text.push_str(std::str::from_utf8(&part).expect("text"));
        }
    }

    async fn next(&mut self) -> Event {
        let block = self.block().await;
        let field = |name: &str| {
            let line = block.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_else(|| panic!("{name} in {block}")).trim().to_owned()
        };
        let data: Value = serde_json::from_str(&field("data:")).expect("JSON");
        assert_eq!(data["type"], field("event:"), "{block}");
        Event { id: field("id:"), data }
    }

    /// The next event of the type.
    async fn next_of(&mut self, kind: &str) -> Event {
        loop {
            let event = self.next().await;
            if event.data["type"] == kind {
                return event;
            }
        }
    }

    /// Whether it was ended from the other side.
    async fn ends(&mut self) -> bool {
        loop {
            match tokio::time::timeout(PATIENCE, self.response.chunk()).await.expect("it ends in time") {
                Ok(None) | Err(_) => return true,
                Ok(Some(_)) => {}
            }
        }
    }
}

#[tokio::test]
async fn a_stream_goes_on_after_what_its_client_has_seen_and_shows_its_own_namespace_alone() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.settled().await;
    let mut stream = Stream::begin(&server, "", None, None).await;
    let mut elsewhere = Stream::begin(&server, "?namespace=other", None, None).await;
    let first = server.ask("remember", json!({"content": "The spare key is in the blue box."})).await;
    let told = stream.next_of("text.remembered").await;
    assert_eq!(told.data["data"]["artifact_id"], first["id"], "{told:?}");
    assert!(!told.data.to_string().contains("blue box"), "{told:?}");
    drop(stream);
    // While nobody listens.
    let second = server.ask("remember", json!({"content": "The ladder is in the shed."})).await;
    let mut again = Stream::begin(&server, "", None, Some(&told.id)).await;
    let missed = again.next_of("text.remembered").await;
    assert_eq!(missed.data["data"]["artifact_id"], second["id"], "{missed:?}");
    assert!(missed.id.parse::<i64>().expect("a number") > told.id.parse::<i64>().expect("a number"));
    // The other namespace has its own, and its own only.
    let url = server.url.replace("/mcp", "/mcp?namespace=other");
    let call = memory_tests::process::call("remember", json!({"content": "Elsewhere."}));
    let stored: Value =
        server.request_at(&url).json(&call).send().await.expect("answered").json().await.expect("JSON");
    let theirs = elsewhere.next().await;
    assert_eq!(theirs.data["data"]["artifact_id"], stored["result"]["structuredContent"]["id"]);
    assert_eq!(theirs.id, "1", "numbers tell nothing of other namespaces");
    let refused = Stream::open(&server, "", None, Some("yesterday")).await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    let refused: Value = refused.json().await.expect("JSON");
    assert!(refused["error"].as_str().is_some_and(|error| error.contains("Last-Event-ID")), "{refused}");
    let took = server.terminate().await;
    assert!(took < Duration::from_secs(20), "open streams held the process up for {took:?}");
}

#[tokio::test]
async fn a_key_reads_the_stream_of_its_namespaces_until_it_is_revoked() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.settled().await;
    let key = new_key(&data_dir, "listens", "reader", &["--namespaces", "work"]).await;
    for (query, key, expected) in [
        ("", None, StatusCode::UNAUTHORIZED),
        ("?namespace=default", Some(key.as_str()), StatusCode::FORBIDDEN),
        ("", Some("rem_nothing"), StatusCode::UNAUTHORIZED),
    ] {
        let refused = Stream::open(&server, query, key, None).await;
        assert_eq!(refused.status(), expected, "{query}");
        let answer: Value = refused.json().await.expect("a refusal is JSON");
        assert!(answer["error"].is_string(), "{answer}");
    }
    let mut stream = Stream::begin(&server, "", Some(&key), None).await;
    for namespace in ["default", "work"] {
        let writer = new_key(&data_dir, namespace, "writer", &["--namespaces", namespace]).await;
        let url = server.url.replace("/mcp", "/api/v1/remember");
        let body = json!({"content": format!("A note of {namespace}.")});
        let answer =
            server.client().post(url).bearer_auth(writer).json(&body).send().await.expect("answered");
        assert_eq!(answer.status(), StatusCode::OK);
    }
    let told = stream.next().await;
    assert_eq!(told.data["data"]["namespace"], "work", "{told:?}");
    data_dir.run(&["keys", "revoke", "listens"]).await;
    assert!(stream.ends().await);
}

#[tokio::test]
async fn an_operator_adds_tests_looks_at_and_removes_a_webhook_by_commands() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.settled().await;
    let receiver = Receiver::new(&[Answer::Status(200), Answer::Status(404)]).await;
    let refused = data_dir.run(&["webhooks", "add", &receiver.url]).await;
    assert!(refused.refusal().contains("--allow-private"), "{}", refused.stderr);
    let refused = data_dir.run(&["webhooks", "add", &receiver.url, "--types", "text.forgotten"]).await;
    assert!(!refused.status.success() && refused.stderr.contains("text.remembered"), "{}", refused.stderr);

    let types = "text.remembered,commitment.overdue";
    let made = webhooks(&data_dir, &["add", &receiver.url, "--types", types, "--allow-private"]).await;
    let (id, secret) = (made["id"].as_str().expect("an id"), made["secret"].as_str().expect("a secret"));
    let listed = webhooks(&data_dir, &["list"]).await;
    assert_eq!(listed["webhooks"][0]["types"], json!(["text.remembered", "commitment.overdue"]));
    assert!(!listed.to_string().contains(secret), "it is shown once");
    let elsewhere = data_dir.run(&["--namespace", "other", "webhooks", "remove", id]).await;
    assert!(elsewhere.refusal().contains("no webhook"), "{}", elsewhere.stderr);

    let tested = webhooks(&data_dir, &["test", id]).await;
    assert_eq!((&tested["status"], &tested["error"]), (&json!(200), &Value::Null));
    let message = receiver.received().remove(0);
    assert!(message.kind() == "webhook.test" && message.is_signed_with(secret), "{message:?}");
    let tested = data_dir.run(&["webhooks", "test", id]).await;
    assert!(!tested.status.success() && tested.stdout.contains("404"), "{}", tested.stdout);

    server.ask("remember", json!({"content": "The spare key is in the blue box."})).await;
    eventually("the message has come", PATIENCE, async || receiver.received().len() == 3).await;
    assert!(receiver.received()[2].is_signed_with(secret));
    eventually("it is settled", PATIENCE, async || {
        webhooks(&data_dir, &["deliveries", id, "--state", "delivered"]).await["deliveries"][0]["attempts"]
            == 1
    })
    .await;
    assert_eq!(webhooks(&data_dir, &["resend", id]).await["deliveries"], 0);
    assert_eq!(webhooks(&data_dir, &["remove", id]).await["done"], "removed");
    assert_eq!(webhooks(&data_dir, &["list"]).await["webhooks"], json!([]));
    let entries = webhooks(&data_dir, &["deliveries"]).await;
    assert_eq!(entries["deliveries"], json!([]));
}

#[tokio::test]
async fn messages_that_were_given_up_are_in_status_and_doctor_until_they_are_sent() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.settled().await;
    let receiver = Receiver::new(&[Answer::Status(410)]).await;
    let types = ["--types", "text.remembered", "--allow-private"];
    let made = webhooks(&data_dir, &[&["add", &receiver.url][..], &types].concat()).await;
    let id = made["id"].as_str().expect("an id");
    let told = async || {
        let (status, _) = server.call("status", json!({})).await;
        status.to_string().contains(&format!("could not be sent to the webhook {id}"))
    };
    let examined = async || data_dir.run(&["doctor", "--json"]).await.stdout;
    assert!(!told().await && !examined().await.contains(id));
    server.ask("remember", json!({"content": "The spare key is in the blue box."})).await;
    eventually("it is a problem", PATIENCE, async || told().await).await;
    let report = examined().await;
    let advice = format!("--namespace default webhooks resend {id}");
    assert!(report.contains("\"webhooks\"") && report.contains(&advice), "{report}");
    let elsewhere = data_dir.run(&["--namespace", "other", "status", "--json"]).await.stdout;
    assert!(!elsewhere.contains(id), "another namespace is told of it: {elsewhere}");
    assert_eq!(webhooks(&data_dir, &["resend", id]).await["deliveries"], 1);
    eventually("it is no problem any more", PATIENCE, async || !told().await).await;
    assert!(!examined().await.contains(id));
}

#[tokio::test]
async fn a_message_whose_sender_is_killed_is_sent_by_the_next_process_with_the_same_id() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.settled().await;
    let receiver = Receiver::new(&[Answer::Silence]).await;
    webhooks(&data_dir, &["add", &receiver.url, "--types", "text.remembered", "--allow-private"]).await;
    server.ask("remember", json!({"content": "The spare key is in the blue box."})).await;
    eventually("it is being sent", PATIENCE, async || !receiver.received().is_empty()).await;
    server.kill().await;
    let server = Server::start(&data_dir).await;
    eventually("it is sent again", PATIENCE, async || receiver.received().len() == 2).await;
    let received = receiver.received();
    assert_eq!(received[0].id(), received[1].id());
    assert_eq!(received[0].json(), received[1].json());
    drop(server);
}
