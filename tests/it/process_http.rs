//! HTTP: access control, paths, and the answers to clients without access.

use memory_tests::process::{DataDir, Server, initialize};
use reqwest::StatusCode;
use reqwest::header::{HOST, ORIGIN, WWW_AUTHENTICATE};
use serde_json::{Value, json};

const TOKEN: &str = "a-token-of-thirty-two-characters";

async fn status_with(server: &Server, header: Option<(&str, &str)>) -> StatusCode {
    let mut request = server.request().json(&initialize());
    if let Some((name, value)) = header {
        request = request.header(name, value);
    }
    request.send().await.expect("it is answered").status()
}

#[tokio::test]
async fn another_address_than_loopback_needs_a_token() {
    let data_dir = DataDir::warm();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let ran = data_dir.run(&["serve", "--bind", address]).await;
        let refusal = ran.refusal();
        assert!(refusal.contains(address) && refusal.contains("REMEMBRANCER_TOKEN"), "{ran:?}");
    }
}

#[tokio::test]
async fn a_token_that_is_too_short_is_refused() {
    let data_dir = DataDir::warm();
    for (name, value) in [
        ("REMEMBRANCER_TOKEN", "short"),
        ("REMEMBRANCER_TOKEN", "    \n"),
        ("REMEMBRANCER_TOKEN_FILE", "/dev/null"),
    ] {
        let mut command = data_dir.command("remembrancer");
        command.env(name, value).args(["serve", "--bind", "127.0.0.1:0"]);
        let ran = memory_tests::process::Ran::of(&mut command).await;
        assert!(ran.refusal().contains("too short"), "{name}={value:?}: {ran:?}");
    }
}

#[tokio::test]
async fn a_token_file_that_cannot_be_read_is_named() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_TOKEN_FILE", "/nowhere/token").args(["serve", "--bind", "127.0.0.1:0"]);
    let ran = memory_tests::process::Ran::of(&mut command).await;
    assert!(ran.refusal().contains("/nowhere/token"), "{ran:?}");
}

#[tokio::test]
async fn with_a_token_only_its_bearer_gets_in() {
    let data_dir = DataDir::warm();
    let token_file = data_dir.path().join("token");
    std::fs::write(&token_file, format!("{TOKEN}\n")).expect("a file is written");
    for (name, value) in
        [("REMEMBRANCER_TOKEN", TOKEN), ("REMEMBRANCER_TOKEN_FILE", &*token_file.to_string_lossy())]
    {
        let mut command = data_dir.command("remembrancer");
        command.env(name, value);
        let server = Server::start_with(command).await;
        for stranger in [
            None,
            Some(("Authorization", "Bearer another-token-of-the-same-size")),
            Some(("Authorization", "Bearer ")),
            Some(("Authorization", TOKEN)),
            Some(("Authorization", &*format!("Basic {TOKEN}"))),
            Some(("Authorization", &*format!("Bearer {TOKEN}x"))),
        ] {
            assert_eq!(status_with(&server, stranger).await, StatusCode::UNAUTHORIZED, "{stranger:?}");
        }
        let refused = server.request().json(&initialize()).send().await.expect("it is answered");
        assert_eq!(refused.headers()[WWW_AUTHENTICATE], "Bearer");
        assert_eq!(
            status_with(&server, Some(("Authorization", &format!("Bearer {TOKEN}")))).await,
            StatusCode::OK
        );
        assert_eq!(
            status_with(&server, Some(("Authorization", &format!("bearer {TOKEN}")))).await,
            StatusCode::OK
        );
        // The other path is the same door, and what it lets pass says nothing.
        let url = server.url.replace("/mcp", "/mcp/");
        let other = server.request_at(&url).json(&initialize()).send().await.expect("it is answered");
        assert_eq!(other.status(), StatusCode::UNAUTHORIZED);
        let health =
            server.client().get(server.url.replace("/mcp", "/livez")).send().await.expect("it is answered");
        assert_eq!(health.status(), StatusCode::OK);
        server.terminate().await;
    }
}

#[tokio::test]
async fn only_requests_for_this_host_and_from_its_pages_are_served() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_ALLOWED_HOSTS", "memory.example,other.example");
    let server = Server::start_with(command).await;
    let port = server.url.trim_start_matches("http://127.0.0.1:").trim_end_matches("/mcp");
    let (named, local) = (format!("memory.example:{port}"), format!("localhost:{port}"));
    for host in
        ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "192.168.1.1", "localhost.evil.example"]
    {
        assert_eq!(status_with(&server, Some((HOST.as_str(), host))).await, StatusCode::FORBIDDEN, "{host}");
    }
    for host in [&*named, &local, "localhost", "[::1]", "memory.example", "other.example"] {
        assert_eq!(status_with(&server, Some((HOST.as_str(), host))).await, StatusCode::OK, "{host}");
    }
    for origin in
        ["http://evil.example", "https://localhost.evil.example", "null", "file://", "http://192.168.1.1"]
    {
        assert_eq!(
            status_with(&server, Some((ORIGIN.as_str(), origin))).await,
            StatusCode::FORBIDDEN,
            "{origin}"
        );
    }
    for origin in [
        "http://localhost:6274",
        "http://127.0.0.1",
        "https://localhost",
        "https://memory.example",
        "http://[::1]:1",
    ] {
        assert_eq!(status_with(&server, Some((ORIGIN.as_str(), origin))).await, StatusCode::OK, "{origin}");
    }
}

#[tokio::test]
async fn the_endpoint_takes_posts_at_both_paths_and_livez_says_ok_and_nothing_else() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let other_path = server.url.replace("/mcp", "/mcp/");
    let mut greetings = Vec::new();
    for url in [&server.url, &other_path] {
        let greeted = server.request_at(url).json(&initialize()).send().await.expect("it is answered");
        greetings.push(greeted.text().await.expect("text"));
    }
    assert_eq!(greetings[0], greetings[1]);
    for url in [&server.url, &other_path] {
        let got = server
            .client()
            .get(url)
            .header("Accept", "text/event-stream")
            .send()
            .await
            .expect("it is answered");
        assert_eq!(got.status(), StatusCode::METHOD_NOT_ALLOWED);
    }
    let half_accept =
        server.client().post(&server.url).header("Accept", "application/json").json(&initialize());
    assert_eq!(half_accept.send().await.expect("it is answered").status(), StatusCode::NOT_ACCEPTABLE);
    let health =
        server.client().get(server.url.replace("/mcp", "/livez")).send().await.expect("it is answered");
    assert_eq!((health.status(), &*health.text().await.expect("text")), (StatusCode::OK, "ok\n"));
    let nothing =
        server.client().get(server.url.replace("/mcp", "/health")).send().await.expect("it is answered");
    assert_eq!(nothing.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_front_says_what_this_is_and_where_the_rest_is_and_not_which_version() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_TOKEN", TOKEN);
    let server = Server::start_with(command).await;
    let front = server.url.replace("/mcp", "/");
    let got = server.client().get(&front).send().await.expect("it is answered");
    assert_eq!(got.status(), StatusCode::OK);
    let text = got.text().await.expect("text");
    assert!(text.starts_with("Remembrancer"), "{text}");
    for path in ["/mcp", "/ui", "/livez", "/readyz"] {
        assert!(text.contains(path), "{path}: {text}");
    }
    assert!(!text.contains(env!("CARGO_PKG_VERSION")), "{text}");
    let foreign = server.client().get(&front).header(HOST, "evil.example").send().await;
    assert_eq!(foreign.expect("it is answered").status(), StatusCode::FORBIDDEN);
    let posted = server.client().post(&front).send().await.expect("it is answered");
    assert_eq!(posted.status(), StatusCode::METHOD_NOT_ALLOWED);
    server.terminate().await;

    let server = Server::start_as(data_dir.command("remembrancer"), &["--dashboard", "off"]).await;
    let front = server.url.replace("/mcp", "/");
    let text = server.client().get(&front).send().await.expect("it is answered").text().await.expect("text");
    assert!(text.contains("/mcp") && !text.contains("/ui"), "{text}");
}

#[tokio::test]
async fn who_holds_an_address_is_told_apart() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let taken = server.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    // Of the same data folder, and of another.
    let other = DataDir::warm();
    for folder in [&data_dir, &other] {
        let ran = folder.run(&["serve", "--bind", &taken]).await;
        let refusal = ran.refusal();
        assert!(
            refusal.contains("a remembrancer already listens") && refusal.contains(&server.url),
            "{ran:?}"
        );
        assert!(refusal.contains("--bind"), "{ran:?}");
    }
    // One that never answers costs no more than a moment.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = silent.local_addr().expect("an address").to_string();
    let ran = other.run(&["serve", "--bind", &taken]).await;
    assert!(ran.refusal().contains("another program"), "{ran:?}");
}

#[tokio::test]
async fn a_namespace_in_the_address_sees_only_its_own() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let told = |namespace: &str, tool: &str, arguments: Value| {
        let message = memory_tests::process::call(tool, arguments);
        let request = server.request_at(&format!("{}?namespace={namespace}", server.url)).json(&message);
        async { request.send().await.expect("it is answered").json::<Value>().await.expect("JSON") }
    };
    let text = json!({"content": "The spare key is in the blue box."});
    let a = told("a", "remember", text.clone()).await;
    let b = told("b", "remember", text.clone()).await;
    for kept in [&a, &b] {
        assert_eq!(kept["result"]["structuredContent"]["status"], "created", "{kept}");
    }
    let id = a["result"]["structuredContent"]["id"].clone();
    assert_eq!(
        told("a", "forget", json!({"id": id, "confirm": true})).await["result"]["structuredContent"]["deleted"],
        true
    );
    let left =
        |answer: Value| answer["result"]["structuredContent"]["results"].as_array().map_or(0, Vec::len);
    assert_eq!(left(told("a", "recall", json!({"query": "spare key"})).await), 0);
    assert_eq!(left(told("b", "recall", json!({"query": "spare key"})).await), 1);
    assert_eq!(
        left(
            server
                .try_post(&memory_tests::process::call("recall", json!({"query": "spare key"})))
                .await
                .expect("answer")
        ),
        0
    );
    for bad in ["bad%20name", "..%2Fa", "", "%F0%9F%92%A9", &"x".repeat(65)] {
        let answer = told(bad, "recall", json!({"query": "spare key"})).await;
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("namespace"), "{bad}: {answer}");
    }
}
