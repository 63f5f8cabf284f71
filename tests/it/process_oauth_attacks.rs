//! What somebody tries who has a code, a token, a link or a document, and not the consent of the owner.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memory_tests::oauth::{Browser, CALLBACK, PASSWORD, PUBLIC, VERIFIER, asked, pair, start};
use memory_tests::process::{DataDir, Server, call};
use reqwest::StatusCode;
use reqwest::header::RETRY_AFTER;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use tokio::net::TcpListener;

use crate::process_access::{ask, send};

fn status() -> Value {
    call("status", json!({}))
}

async fn execute(data_dir: &DataDir, statement: &'static str) {
    let mut conn = PgConnection::connect(&data_dir.database_url()).await.expect("the database answers");
    sqlx::query(statement).execute(&mut conn).await.expect("it is done");
}

async fn is_open(server: &Server, token: &str) -> bool {
    match send(server, "", Some(token), &status()).await.0 {
        StatusCode::OK => true,
        StatusCode::UNAUTHORIZED => false,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_code_that_comes_twice_ends_the_tokens_that_it_gave() {
    let data_dir = DataDir::warm();
    let server = start(&data_dir).await;
    let mut browser = Browser::new(&server);
    let client = browser.register().await;
    let code = browser.code(&client, "writer", "default").await;
    let (access, refresh) = pair(&browser.exchange(&client, &code, VERIFIER).await);
    assert!(is_open(&server, &access).await);
    assert_eq!(browser.exchange(&client, &code, VERIFIER).await.json()["error"], "invalid_grant");
    assert!(!is_open(&server, &access).await);
    assert_eq!(browser.refresh(&client, &refresh).await.json()["error"], "invalid_grant");
}

#[tokio::test]
async fn a_code_without_its_verifier_client_and_address_gives_nothing_and_is_spent() {
    let data_dir = DataDir::warm();
    let server = start(&data_dir).await;
    let mut browser = Browser::new(&server);
    let (client, other) = (browser.register().await, browser.register().await);
    let wrong = VERIFIER.replace('d', "e");
    let code = browser.code(&client, "writer", "default").await;
    // Another client learns nothing of it, and does not spend it.
    assert_eq!(browser.exchange(&other, &code, VERIFIER).await.json()["error"], "invalid_grant");
    assert_eq!(browser.exchange(&client, &code, &wrong).await.json()["error"], "invalid_grant");
    assert_eq!(
        browser.exchange(&client, &code, VERIFIER).await.json()["error"],
        "invalid_grant",
        "it is spent"
    );
    for (name, value, error) in [
        ("redirect_uri", "https://claude.ai/api/mcp/auth_callback", "invalid_grant"),
        ("resource", "https://other.example/mcp", "invalid_target"),
        ("grant_type", "password", "unsupported_grant_type"),
        ("code_verifier", "", "invalid_request"),
        ("client_id", "", "invalid_request"),
    ] {
        let code = browser.code(&client, "writer", "default").await;
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("client_id", &*client),
            ("code", &*code),
            ("code_verifier", VERIFIER),
            ("redirect_uri", CALLBACK),
            ("resource", "https://memory.example/mcp"),
        ];
        form.iter_mut().filter(|(field, _)| *field == name).for_each(|field| field.1 = value);
        let refused = browser.post("/oauth/token", &form).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]),
            (StatusCode::BAD_REQUEST, &json!(error)),
            "{name}"
        );
    }
    let code = browser.code(&client, "writer", "default").await;
    execute(&data_dir, "update oauth_token set expires_at = now()").await;
    assert_eq!(
        browser.exchange(&client, &code, VERIFIER).await.json()["error"],
        "invalid_grant",
        "it is over"
    );
}

#[tokio::test]
async fn a_refresh_token_that_comes_twice_ends_the_whole_family() {
    let data_dir = DataDir::warm();
    let server = start(&data_dir).await;
    let mut browser = Browser::new(&server);
    let (client, other) = (browser.register().await, browser.register().await);
    let (_, stolen) = browser.tokens(&client, "writer", "default").await;
    assert_eq!(browser.refresh(&other, &stolen).await.json()["error"], "invalid_grant", "of another client");
    let (access, refresh) = pair(&browser.refresh(&client, &stolen).await);
    assert!(is_open(&server, &access).await);
    assert_eq!(
        browser.refresh(&client, &access).await.json()["error"],
        "invalid_grant",
        "an access token is none"
    );
    assert_eq!(browser.refresh(&client, &stolen).await.json()["error"], "invalid_grant");
    assert!(!is_open(&server, &access).await);
    assert_eq!(browser.refresh(&client, &refresh).await.json()["error"], "invalid_grant");
    let audit = data_dir.run(&["audit", "--json", "--all-namespaces"]).await.stdout;
    assert!(audit.contains("token used twice"), "{audit}");
}

#[tokio::test]
async fn of_many_exchanges_of_one_code_or_token_at_the_same_time_one_is_answered_and_none_lasts() {
    let data_dir = DataDir::warm();
    let server = start(&data_dir).await;
    let mut browser = Browser::new(&server);
    let client = browser.register().await;
    let code = browser.code(&client, "writer", "default").await;
    let answers = futures::future::join_all((0..8).map(|_| browser.exchange(&client, &code, VERIFIER))).await;
    let answered: Vec<_> =
        answers.iter().filter(|answer| answer.status == StatusCode::OK).map(pair).collect();
    assert_eq!(answered.len(), 1, "{answers:?}");
    assert!(!is_open(&server, &answered[0].0).await);
    let (_, refresh) = browser.tokens(&client, "writer", "default").await;
    let answers = futures::future::join_all((0..8).map(|_| browser.refresh(&client, &refresh))).await;
    let answered: Vec<_> =
        answers.iter().filter(|answer| answer.status == StatusCode::OK).map(pair).collect();
    assert_eq!(answered.len(), 1, "{answers:?}");
    assert!(!is_open(&server, &answered[0].0).await);
}

#[tokio::test]
async fn a_token_of_another_audience_or_one_that_is_over_opens_nothing() {
    let data_dir = DataDir::warm();
    let server = start(&data_dir).await;
    let elsewhere =
        Server::start_as(data_dir.command("remembrancer"), &["--public-url", "https://other.example"]).await;
    let off = Server::start(&data_dir).await;
    let mut browser = Browser::new(&server);
    let client = browser.register().await;
    let (access, refresh) = browser.tokens(&client, "admin", "default").await;
    assert!(is_open(&server, &access).await);
    assert!(!is_open(&elsewhere, &access).await, "it is for {PUBLIC}");
    assert!(!is_open(&off, &access).await, "OAuth is off there, and nobody comes in as nobody");
    assert!(!is_open(&server, &refresh).await, "a refresh token opens nothing itself");
    for bad in
        [access.replace("rea_", "rem_"), format!("{access}0"), access.to_uppercase(), "a.b.c".to_owned()]
    {
        assert!(!is_open(&server, &bad).await, "{bad}");
    }
    execute(&data_dir, "update oauth_token set expires_at = now() where kind = 'access'").await;
    assert!(!is_open(&server, &access).await);
    for query in [format!("?access_token={access}"), format!("?{refresh}"), format!("?namespace={access}")] {
        let (refused, text) = send(&server, &query, Some(&access), &status()).await;
        assert!(refused == StatusCode::BAD_REQUEST && text.contains("do not belong in an address"), "{text}");
    }
}

#[tokio::test]
async fn an_answer_goes_to_no_address_that_is_not_the_clients() {
    let data_dir = DataDir::warm();
    let server = start(&data_dir).await;
    let mut browser = Browser::new(&server);
    let client = browser.register().await;
    for bad in [
        "https://evil.example/callback",
        "http://127.0.0.1:4711/callback/../evil",
        "http://127.0.0.1:4711/callback?x=y",
        "http://127.0.0.1:4711@evil.example/callback",
        "http://localhost:4711/callback",
        "javascript:alert(1)",
        "//evil.example",
        "",
    ] {
        let mut request = asked(&client);
        request[2].1 = bad;
        let shown = browser.ask(&request).await;
        assert_eq!((shown.status, &shown.location), (StatusCode::BAD_REQUEST, &None), "{bad}: {shown:?}");
        assert!(!shown.text.contains("evil") && !shown.text.contains("<form"), "{shown:?}");
    }
    let mut unknown = asked("client_of_nobody");
    assert_eq!(browser.ask(&unknown).await.status, StatusCode::BAD_REQUEST);
    unknown[1].1 = &client;
    unknown.push(("client_id", "client_of_nobody"));
    assert_eq!(
        browser.ask(&unknown).await.status,
        StatusCode::BAD_REQUEST,
        "a parameter that is there twice"
    );
    // What is wrong with the rest is said to the client, with who says it.
    for (at, value, error) in [
        (0, "token", "unsupported_response_type"),
        (3, "short", "invalid_request"),
        (4, "plain", "invalid_request"),
        (7, "https://other.example/mcp", "invalid_target"),
    ] {
        let mut request = asked(&client);
        request[at].1 = value;
        let sent = browser.ask(&request).await;
        assert_eq!(sent.parameter("error").as_deref(), Some(error), "{sent:?}");
        assert_eq!(sent.parameter("iss").as_deref(), Some(PUBLIC));
        assert!(sent.location.expect("it is sent").as_str().starts_with(CALLBACK));
    }
    for uris in
        [json!(["https://evil.example/callback"]), json!([CALLBACK, "https://evil.example/"]), json!([])]
    {
        let refused = browser.post_json("/oauth/register", &json!({"redirect_uris": uris})).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]),
            (StatusCode::BAD_REQUEST, &json!("invalid_redirect_uri"))
        );
    }
}

#[tokio::test]
async fn a_form_that_is_not_of_the_owners_own_page_does_nothing() {
    let data_dir = DataDir::warm();
    let server = start(&data_dir).await;
    let mut browser = Browser::new(&server);
    let client = browser.register().await;
    let request = asked(&client);
    let page = browser.log_in(&request).await;
    let (csrf, ticket) = (page.field("csrf"), page.field("ticket"));
    let form = |csrf, ticket| {
        [
            ("csrf", csrf),
            ("ticket", ticket),
            ("role", "admin"),
            ("namespaces", "default"),
            ("decision", "allow"),
        ]
    };
    let refused = browser.submit_from("https://evil.example", &form(&csrf, &ticket)).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "another origin");
    let other = "0".repeat(64);
    let refused = browser.submit(&form(&other, &ticket)).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "another field");
    let cookie = std::mem::take(&mut browser.cookie);
    assert_eq!(browser.submit(&form(&csrf, &ticket)).await.status, StatusCode::FORBIDDEN, "no cookie");
    browser.cookie = cookie;
    let guessed = browser.submit(&form(&csrf, "rec_000000000000_00")).await;
    assert_eq!((guessed.status, &guessed.location), (StatusCode::BAD_REQUEST, &None), "another ticket");
    assert!(browser.submit(&form(&csrf, &ticket)).await.parameter("code").is_some());
    assert_eq!(
        browser.submit(&form(&csrf, &ticket)).await.status,
        StatusCode::BAD_REQUEST,
        "a ticket serves once"
    );
    let page = browser.log_in(&request).await;
    let (csrf, late) = (page.field("csrf"), page.field("ticket"));
    execute(&data_dir, "update oauth_ticket set expires_at = now()").await;
    assert_eq!(browser.submit(&form(&csrf, &late)).await.status, StatusCode::BAD_REQUEST, "it is over");
    let (status, _) = send(&server, "", None, &status()).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn wrong_passwords_are_limited_and_none_is_right_while_none_is_set() {
    let data_dir = DataDir::warm();
    let server = Server::start_as(data_dir.command("remembrancer"), &["--public-url", PUBLIC]).await;
    let mut browser = Browser::new(&server);
    let client = browser.register().await;
    let login = browser.ask(&asked(&client)).await;
    let (csrf, request) = (login.field("csrf"), login.field("request"));
    let form = |password: &'static str| {
        [("csrf", csrf.clone()), ("request", request.clone()), ("password", password.to_owned())]
    };
    let try_one = async |browser: &Browser, password: &'static str| {
        let form = form(password);
        let pairs: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        browser.submit(&pairs).await
    };
    let unset = try_one(&browser, "").await;
    assert!(
        unset.status == StatusCode::FORBIDDEN && unset.text.contains("remembrancer password set"),
        "{unset:?}"
    );
    assert!(crate::process_password::set_password(&data_dir, PASSWORD).await.status.success());
    let mut limited = None;
    for n in 0..40 {
        let tried = try_one(&browser, "not the password at all").await;
        if tried.status == StatusCode::TOO_MANY_REQUESTS {
            limited = Some((n, tried));
            break;
        }
        assert!(
            tried.status == StatusCode::FORBIDDEN && tried.text.contains("That is not the password"),
            "{tried:?}"
        );
    }
    let (tries, tried) = limited.expect("it ends");
    assert!((9..30).contains(&tries) && tried.headers.contains_key(RETRY_AFTER), "{tries}: {tried:?}");
    let mut registered = 0;
    while browser.post_json("/oauth/register", &json!({"redirect_uris": [CALLBACK]})).await.status
        == StatusCode::CREATED
    {
        registered += 1;
        assert!(registered < 60, "registering is not limited");
    }
    let large = json!({"client_name": "x".repeat(20_000), "redirect_uris": [CALLBACK]});
    assert_ne!(browser.post_json("/oauth/register", &large).await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn a_document_of_a_client_is_not_fetched_from_private_addresses() {
    let data_dir = DataDir::warm();
    let server = start(&data_dir).await;
    let mut browser = Browser::new(&server);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let connected = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connected);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    for host in [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "10.0.0.1",
        "169.254.169.254",
        "192.168.0.1",
    ] {
        let id = format!("https://{host}:{port}/client.json");
        let shown = browser.ask(&asked(&id)).await;
        assert_eq!((shown.status, &shown.location), (StatusCode::BAD_REQUEST, &None), "{shown:?}");
        assert!(
            shown.text.contains("which is not asked") || shown.text.contains("no address of a document"),
            "{shown:?}"
        );
    }
    for id in [
        format!("http://127.0.0.1:{port}/client.json"),
        "https://app.example".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        assert_eq!(browser.ask(&asked(&id)).await.status, StatusCode::BAD_REQUEST, "{id}");
    }
    assert_eq!(connected.load(Ordering::SeqCst), 0);
    let client = browser.register().await;
    let (access, _) = browser.tokens(&client, "reader", "default").await;
    ask(&server, "", &access, &status()).await;
}
