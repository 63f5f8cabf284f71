//! `/api/v1`: the same tools for programs that speak no MCP.

use memory_tests::oauth;
use memory_tests::process::{DataDir, Server};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::process_access::new_key;

async fn post(server: &Server, path: &str, body: &str) -> (StatusCode, Value) {
    let url = server.url.replace("/mcp", path);
    let request = server.client().post(url).header("Content-Type", "application/json").body(body.to_owned());
    let response = request.send().await.expect("it is answered");
    (response.status(), response.json().await.unwrap_or_default())
}

#[tokio::test]
async fn a_tool_answers_the_same_over_http_alone_and_the_document_names_each() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.settled().await;
    let (status, stored) =
        post(&server, "/api/v1/remember", r#"{"content": "The spare key is in the blue box."}"#).await;
    assert_eq!((status, &stored["status"]), (StatusCode::OK, &json!("created")), "{stored}");
    let (status, found) = post(&server, "/api/v1/recall", r#"{"query": "spare key"}"#).await;
    assert_eq!((status, &found["results"][0]["id"]), (StatusCode::OK, &stored["id"]), "{found}");
    let (status, elsewhere) =
        post(&server, "/api/v1/recall?namespace=other", r#"{"query": "spare key"}"#).await;
    assert_eq!((status, &elsewhere["results"]), (StatusCode::OK, &json!([])), "{elsewhere}");

    let url = server.url.replace("/mcp", "/api/v1/openapi.json");
    let document: Value =
        server.client().get(url).send().await.expect("answered").json().await.expect("JSON");
    assert_eq!(document["openapi"], "3.1.0");
    let tools =
        server.try_post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await.expect("a list");
    for tool in tools["result"]["tools"].as_array().expect("tools") {
        let path = format!("/api/v1/{}", tool["name"].as_str().expect("a name"));
        let taken = &document["paths"][&path]["post"]["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(taken, &tool["inputSchema"], "{path}");
    }
}

#[tokio::test]
async fn what_cannot_be_done_has_its_status_and_says_why() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.settled().await;
    for (path, body, expected, said) in [
        ("/api/v1/recal", "{}", 404, "did you mean recall"),
        ("/api/v1/recall", "{}", 400, "Must provide query"),
        ("/api/v1/recall", r#"{"query": 5, "limit": "x"}"#, 400, "recall"),
        ("/api/v1/recall?namespace=a%20b", "{}", 400, "namespace"),
        ("/api/v1/recall?Namespace=a", r#"{"query": "spare key"}"#, 400, "'Namespace'"),
        ("/api/v1/status?namespace=a&namespace=b", "{}", 400, "twice"),
        ("/api/v1/recall", "[]", 400, "object"),
        ("/api/v1/recall", "{", 400, "EOF"),
        (
            "/api/v1/save_memory",
            r#"{"threadId": "t", "entities": [{"name": "", "entityType": "x"}]}"#,
            400,
            "Fix all validation errors",
        ),
        ("/api/v1/forget", r#"{"id": "art_000000000000", "confirm": true}"#, 400, "not found"),
    ] {
        let (status, answer) = post(&server, path, body).await;
        assert_eq!(status.as_u16(), expected, "{path} {body}: {answer}");
        assert!(answer["error"].to_string().contains(said), "{path} {body}: {answer}");
    }
    let read_only = Server::start_as(data_dir.command("remembrancer"), &["--read-only"]).await;
    let (status, refused) = post(&read_only, "/api/v1/remember", r#"{"content": "x"}"#).await;
    assert!(
        status == StatusCode::FORBIDDEN && refused["error"].to_string().contains("--read-only"),
        "{refused}"
    );
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_TOKEN", "a-token-that-is-long-enough");
    let closed = Server::start_with(command).await;
    assert_eq!(post(&closed, "/api/v1/status", "{}").await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn what_the_server_itself_refuses_is_json_as_the_document_says() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_TOKEN", "a-token-that-is-long-enough");
    let server = Server::start_as(command, &["--requests-per-minute", "5"]).await;
    let key = new_key(&data_dir, "one", "reader", &["--namespaces", "work"]).await;
    let url = |path: &str| server.url.replace("/mcp", path);
    let post = |path: &str| server.client().post(url(path)).header("Content-Type", "application/json");
    let admin = "a-token-that-is-long-enough";
    for (request, expected) in [
        (post("/api/v1/status").body("{}"), 401),
        (post("/api/v1/status").bearer_auth("nothing").body("{}"), 401),
        (post("/api/v1/status?namespace=home").bearer_auth(&key).body("{}"), 403),
        (post("/api/v1/remember").bearer_auth(&key).body("{}"), 403),
        (post("/api/v1/status").header("Host", "elsewhere.example").body("{}"), 403),
        (server.client().post(url("/api/v1/status")).bearer_auth(admin).body("{}"), 415),
        (server.client().get(url("/api/v1/status")).bearer_auth(admin), 405),
        (server.client().get(url("/api/v1/nowhere/at/all")).bearer_auth(admin), 404),
        (post("/api/v1/status").bearer_auth(admin).body("{"), 400),
    ] {
        let answer = request.send().await.expect("it is answered");
        assert_eq!(answer.status().as_u16(), expected);
        assert_eq!(answer.headers()["content-type"], "application/json", "{expected}");
        assert!(expected != 401 || answer.headers().contains_key("www-authenticate"));
        let said: Value = answer.json().await.expect("JSON");
        assert!(said["error"].as_str().is_some_and(|error| error.len() > 3), "{expected}: {said}");
    }
    // Of a body that is too large only the length is sent: nothing of it is read.
    let address = server.url.trim_start_matches("http://").trim_end_matches("/mcp");
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let head = format!(
        "POST /api/v1/status HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {admin}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        64 * 1024 * 1024 + 1
    );
    stream.write_all(head.as_bytes()).await.expect("it is sent");
    let mut said = String::new();
    stream.read_to_string(&mut said).await.expect("it is answered");
    let is_json = said.contains(r#"{"error":""#) && said.contains("larger than");
    assert!(said.starts_with("HTTP/1.1 413") && is_json, "{said}");
    let mut last = StatusCode::OK;
    for _ in 0..10 {
        let answer =
            post("/api/v1/status").bearer_auth(&key).body("{}").send().await.expect("it is answered");
        last = answer.status();
        if last == StatusCode::TOO_MANY_REQUESTS {
            assert!(answer.headers().contains_key("retry-after"));
            let said: Value = answer.json().await.expect("JSON");
            assert!(said["error"].as_str().is_some_and(|error| error.contains("a minute")), "{said}");
            break;
        }
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn a_token_of_oauth_opens_it_as_it_opens_mcp() {
    let data_dir = DataDir::warm();
    let server = oauth::start(&data_dir).await;
    let mut browser = oauth::Browser::new(&server);
    let client = browser.register().await;
    let (token, _) = browser.tokens(&client, "reader", "default").await;
    let call = async |tool: &str, token: &str| {
        let url = server.url.replace("/mcp", &format!("/api/v1/{tool}"));
        let request = server.client().post(url).bearer_auth(token).json(&json!({}));
        request.send().await.expect("it is answered").status()
    };
    assert_eq!(call("status", &token).await, StatusCode::OK);
    assert_eq!(call("remember", &token).await, StatusCode::FORBIDDEN);
    assert_eq!(call("status", "mat_000000000000_00").await, StatusCode::UNAUTHORIZED);
}
