//! What a request may cost before it is answered: connections, heads, bodies, lines, and access.

use std::process::Stdio;
use std::time::Duration;

use memory_tests::process::{DataDir, Server, StdioHost, call, initialize};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;

const TOKEN: &str = "a-token-of-thirty-two-characters";

/// `remembrancer` that may open so many files.
pub(crate) fn with_files(data_dir: &DataDir, files: usize) -> Command {
    let inner = data_dir.command("remembrancer");
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {files} && exec \"$0\" \"$@\"")]);
    command.arg(inner.as_std().get_program());
    for (key, value) in inner.as_std().get_envs() {
        match value {
            Some(value) => command.env(key, value),
            None => command.env_remove(key),
        };
    }
    command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    command
}

fn address(server: &Server) -> String {
    server.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned()
}

/// The head of a request as clients make it, with these lines besides.
pub(crate) fn head(server: &Server, lines: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: */*\r\nContent-Type: application/json\r\n{lines}\r\n",
        address(server)
    )
}

/// What a raw request is answered with, until the connection is closed or has nothing more to say.
pub(crate) async fn raw(server: &Server, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address(server)).await.expect("it connects");
    // The server may answer before it has read everything.
    let _ = stream.write_all(request).await;
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    while !answer.windows(4).any(|window| window == b"\r\n\r\n") {
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut part)).await;
        match read.expect("an answer in time") {
            Ok(0) | Err(_) => break,
            Ok(read) => answer.extend_from_slice(&part[..read]),
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}

fn status_of(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

pub(crate) fn ping() -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string()
}

/// The most memory that the process has had, in MB.
pub(crate) fn peak_mb(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("its status");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("its peak");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).expect("a number") / 1024
}

/// Connections that keep the server waiting: silent, in the middle of a head, in the middle of a body.
pub(crate) async fn keep_waiting(server: &Server, count: usize) -> Vec<TcpStream> {
    let half_body = head(server, "Content-Length: 1000\r\n") + "{\"jsonrpc\"";
    let half_head = "POST /mcp HTTP/1.1\r\nHost: lo".to_owned();
    let mut open = Vec::new();
    for n in 0..count {
        let Ok(mut stream) = TcpStream::connect(address(server)).await else { continue };
        let _ = stream.write_all([&String::new(), &half_head, &half_body][n % 3].as_bytes()).await;
        open.push(stream);
    }
    open
}

/// A refused request does not cost the connection when its body comes after its head, as many clients send it: they
/// ask again on the connection that was kept, and would be told that the server closed it.
#[tokio::test]
async fn a_refused_request_whose_body_follows_leaves_the_connection_open() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_TOKEN", TOKEN);
    let server = Server::start_with(command).await;
    let body = ping();
    let request = head(&server, &format!("Content-Length: {}\r\n", body.len()));
    let mut stream = TcpStream::connect(address(&server)).await.expect("it connects");
    stream.set_nodelay(true).expect("it is sent at once");
    for turn in 0..5 {
        stream.write_all(request.as_bytes()).await.expect("the head is sent");
        tokio::time::sleep(Duration::from_millis(20)).await;
        stream.write_all(body.as_bytes()).await.expect("the body is sent");
        let answer = one_answer(&mut stream).await;
        assert_eq!(status_of(&answer), "401", "{turn}: {answer}");
        assert!(!answer.to_lowercase().contains("connection: close"), "{turn}: {answer}");
    }
    // Where the body does not come, the answer says that the connection ends with it.
    stream.write_all(request.as_bytes()).await.expect("the head is sent");
    let answer = one_answer(&mut stream).await;
    assert_eq!(status_of(&answer), "401", "{answer}");
    assert!(answer.to_lowercase().contains("connection: close"), "{answer}");
}

/// The next answer on a connection: its head, and as much of its body as its length says.
async fn one_answer(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&answer).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_lowercase().split_once("content-length: ").map(|(_, rest)| rest.to_owned());
            let length = length.and_then(|rest| rest.lines().next()?.trim().parse().ok()).unwrap_or(0);
            if body.len() >= length {
                return text;
            }
        }
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut part)).await;
        match read.expect("an answer in time") {
            Ok(0) | Err(_) => return String::from_utf8_lossy(&answer).into_owned(),
            Ok(read) => answer.extend_from_slice(&part[..read]),
        }
    }
}

/// A call of `recall` whose tags are an endless list of nothing.
pub(crate) fn hostile(megabytes: usize) -> String {
    let tags = "{},".repeat(megabytes * 1_000_000 / 3);
    let arguments = format!(r#"{{"query":"x","tags":[{tags}{{}}]}}"#);
    format!(
        r#"{{"method":"tools/call","params":{{"name":"recall","arguments":{arguments}}},"jsonrpc":"2.0","id":9}}"#
    )
}

#[tokio::test]
async fn connections_that_say_nothing_keep_nobody_out() {
    let data_dir = DataDir::warm();
    let server = Server::start_with(with_files(&data_dir, 256)).await;
    let waiting = keep_waiting(&server, 300).await;
    assert!(waiting.len() > 200, "{}", waiting.len());
    // Also not when they keep coming.
    for _ in 0..3 {
        let answer = raw(&server, (head(&server, "Content-Length: 40\r\n") + &ping()).as_bytes()).await;
        assert_eq!(status_of(&answer), "200", "{answer}");
        drop(keep_waiting(&server, 70).await);
    }
    let shown = data_dir.run(&["status"]).await;
    assert!(shown.stdout.contains("healthy"), "{shown:?}");
}

#[tokio::test]
async fn who_may_not_come_in_is_told_so_before_the_body_is_read() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_TOKEN", TOKEN);
    let server = Server::start_with(command).await;
    let right = format!("Authorization: Bearer {TOKEN}\r\n");
    for (lines, status) in [
        ("Content-Length: 50000000\r\n".to_owned(), "401"),
        ("Authorization: Bearer wrong\r\nContent-Length: 50000000\r\n".to_owned(), "401"),
        (format!("{right}Authorization: Bearer wrong\r\nContent-Length: 10\r\n"), "400"),
        (format!("{right}Origin: http://evil.example\r\nContent-Length: 10\r\n"), "403"),
        (
            format!(
                "{right}Origin: http://localhost\r\nOrigin: http://evil.example\r\nContent-Length: 10\r\n"
            ),
            "400",
        ),
        (format!("{right}Host: evil.example\r\nContent-Length: 10\r\n"), "400"),
        (format!("{right}Content-Length: 70000000\r\n"), "413"),
        (format!("{right}X-Long: {}\r\n", "x".repeat(100_000)), "431"),
    ] {
        let answer = raw(&server, head(&server, &lines).as_bytes()).await;
        assert_eq!(status_of(&answer), status, "{lines:.200}: {answer}");
    }
    for (start, host, status) in [
        ("POST /mcp HTTP/1.1", "localhost:33x", "400"),
        ("POST /mcp HTTP/1.1", "evil.example", "403"),
        ("POST http://evil.example/mcp HTTP/1.1", "localhost", "403"),
        ("POST http://localhost/mcp HTTP/1.1", "evil.example", "403"),
        ("POST http://localhost/mcp HTTP/1.1", "localhost", "200"),
    ] {
        let body = ping();
        let request = format!(
            "{start}\r\nHost: {host}\r\nAccept: */*\r\nContent-Type: application/json\r\n{right}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = raw(&server, request.as_bytes()).await;
        assert_eq!(status_of(&answer), status, "{start} {host}: {answer}");
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_or_breaks_its_chunks_is_a_bad_request() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    for chunks in ["5\r\n{\"jso\r\nzz\r\n", "-1\r\n", "fffffffffffffffff\r\n{}"] {
        let request = head(&server, "Transfer-Encoding: chunked\r\n") + chunks;
        let answer = raw(&server, request.as_bytes()).await;
        assert_eq!(status_of(&answer), "400", "{chunks}: {answer}");
    }
    let body = ping();
    let whole = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let answer = raw(&server, (head(&server, "Transfer-Encoding: chunked\r\n") + &whole).as_bytes()).await;
    assert_eq!(status_of(&answer), "200", "{answer}");
}

#[tokio::test]
async fn a_body_of_endless_values_costs_little_memory_and_is_refused_with_its_id() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("remember", json!({"content": "The spare key is in the blue box."})).await;
    server.settled().await;
    let before = peak_mb(server.pid());
    let bodies = [hostile(18), hostile(18), hostile(60)];
    let sent = bodies.map(|body| server.request().body(body).send());
    for answer in futures::future::join_all(sent).await {
        let answer = answer.expect("it is answered");
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
        let error: Value = answer.json().await.expect("JSON");
        assert_eq!((&error["id"], &error["error"]["code"]), (&json!(9), &json!(-32600)), "{error}");
        assert!(error["error"]["message"].as_str().expect("a message").contains("300000 values"), "{error}");
    }
    let grown = peak_mb(server.pid()) - before;
    assert!(grown < 400, "{grown} MB more");
    // As many values as any call needs are no matter.
    let tags = json!({"query": "x", "tags": vec!["t"; 100_000]});
    let (refusal, is_error) = server.call("recall", tags).await;
    assert!(is_error, "{refusal}");
}

#[tokio::test]
async fn a_key_that_stands_twice_is_refused_and_named() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let body = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"forget","arguments":
        {"id":"art_000000000001","id":"art_000000000002","confirm":true}}}"#;
    let answer = server.request().body(body).send().await.expect("it is answered");
    assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    let error: Value = answer.json().await.expect("JSON");
    assert!(error["error"]["message"].as_str().expect("a message").contains("\"id\" is twice"), "{error}");
}

#[tokio::test]
async fn pages_of_allowed_hosts_may_send_requests_and_read_answers_and_others_may_not() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command
        .env("REMEMBRANCER_ALLOWED_HOSTS", "memory.example,apps.example:8443")
        .env("REMEMBRANCER_TOKEN", TOKEN);
    let server = Server::start_with(command).await;
    let preflight = async |origin: &str| {
        let request = server.client().request(reqwest::Method::OPTIONS, &server.url).header("Origin", origin);
        let request = request.header("Access-Control-Request-Method", "POST");
        let request =
            request.header("Access-Control-Request-Headers", "authorization, content-type, mcp-name");
        request.send().await.expect("it is answered")
    };
    for origin in ["https://memory.example", "http://localhost:6274", "https://apps.example:8443"] {
        let asked = preflight(origin).await;
        assert_eq!(asked.status(), StatusCode::NO_CONTENT, "{origin}");
        let headers = asked.headers();
        assert_eq!(headers["access-control-allow-origin"], origin);
        assert_eq!(headers["access-control-allow-headers"], "authorization, content-type, mcp-name");
        assert!(headers["access-control-allow-methods"].to_str().expect("text").contains("POST"));
        for (token, status) in [(TOKEN, StatusCode::OK), ("wrong", StatusCode::UNAUTHORIZED)] {
            let request = server.request().header("Origin", origin).bearer_auth(token).json(&initialize());
            let answer = request.send().await.expect("it is answered");
            assert_eq!(answer.status(), status, "{origin}");
            assert_eq!(answer.headers()["access-control-allow-origin"], origin);
            assert_eq!(answer.headers()["vary"], "Origin");
        }
    }
    for origin in ["https://evil.example", "https://apps.example", "null"] {
        let refused = preflight(origin).await;
        assert_eq!(refused.status(), StatusCode::FORBIDDEN, "{origin}");
        assert!(!refused.headers().contains_key("access-control-allow-origin"), "{origin}");
    }
}

#[tokio::test]
async fn who_accepts_everything_or_does_not_say_is_answered() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    for accept in ["Accept: */*\r\n", "Accept: text/html, */*; q=0.1\r\n", ""] {
        let body = ping();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{accept}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        assert_eq!(status_of(&raw(&server, request.as_bytes()).await), "200", "{accept}");
    }
}

#[tokio::test]
async fn a_line_that_is_broken_or_too_long_is_answered_over_stdio() {
    let data_dir = DataDir::warm();
    let mut host = StdioHost::start(data_dir.command("remembrancer"));
    host.initialize().await;
    for (line, id, code) in [
        ("{nope".to_owned(), Value::Null, -32700),
        (r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#.to_owned(), json!(4), -32600),
        (hostile(1), json!(9), -32600),
        (call("remember", json!({"content": "x".repeat(68_000_000)})).to_string(), json!(7), -32600),
    ] {
        host.send_line(&line).await;
        let answer = host.receive().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{line:.80}: {answer}");
    }
    host.send_line(&ping()).await;
    assert_eq!(host.receive().await, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
}

#[tokio::test]
async fn faults_of_the_protocol_are_told_by_what_is_wrong_and_at_no_length() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let mut host = StdioHost::start(data_dir.command("remembrancer"));
    host.initialize().await;
    let long = "x".repeat(3_000_000);
    for (method, params, code, what) in [
        ("tools/call", json!({"name": "recall", "arguments": "x"}), -32602, "arguments"),
        ("tools/call", json!({"name": "recall", "arguments": []}), -32602, "arguments"),
        ("tools/call", json!({}), -32602, "`name`"),
        ("prompts/get", json!({"name": 7}), -32602, "name"),
        ("resources/subscribe", json!({"uri": 7}), -32602, "uri"),
        ("tools/list", json!({"cursor": "bogus"}), -32602, "cursor"),
        ("no/such", json!({}), -32601, "no/such"),
        (&*long, json!({}), -32601, "xxx"),
        ("tools/call", json!({"name": long}), -32602, "there are"),
        ("tools/call", json!({"name": "recal"}), -32602, "did you mean recall"),
        ("prompts/get", json!({"name": long}), -32602, "memory-guide"),
    ] {
        let message = json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params});
        host.send(&message).await;
        for answer in [host.receive().await, server.try_post(&message).await.expect("it is answered")] {
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(5), &json!(code)), "{answer:.200}");
            let told = answer["error"]["message"].as_str().expect("a message");
            assert!(told.contains(what) && told.len() < 1_000, "{method:.40}: {told:.300}");
        }
    }
    let complete = json!({"jsonrpc": "2.0", "id": 6, "method": "completion/complete",
        "params": {"ref": {"type": "ref/prompt", "name": "memory-guide"}, "argument": {"name": "a", "value": ""}}});
    let greeting = server.try_post(&initialize()).await.expect("it is answered");
    assert!(greeting["result"]["capabilities"]["completions"].is_object(), "{greeting}");
    let answer = server.try_post(&complete).await.expect("it is answered");
    assert_eq!(answer["result"]["completion"]["values"], json!([]), "{answer}");
    let logged = std::fs::metadata(data_dir.path().join("test.log")).expect("the log").len();
    assert!(logged < 1_000_000, "{logged} bytes were logged");
}
