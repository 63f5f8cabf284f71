//! OAuth: what is said of it, and the way from a request for consent to a token and its end.

use memory_tests::oauth::{Browser, CALLBACK, PASSWORD, PUBLIC, asked, encoded, pair, start};
use memory_tests::process::{DataDir, Server, call};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, SET_COOKIE, WWW_AUTHENTICATE};
use serde_json::{Value, json};

use crate::process_access::{ask, method, new_key, send};
use crate::process_subscriptions::{Stream, UPDATED, entity, listen};

const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource";

fn status() -> Value {
    call("status", json!({}))
}

/// The challenge of a request with this key, if it is refused.
async fn challenge(server: &Server, path: &str, key: Option<&str>, message: &Value) -> (StatusCode, String) {
    let mut request = server.request_at(&server.url.replace("/mcp", path)).json(message);
    if let Some(key) = key {
        request = request.bearer_auth(key);
    }
    let answer = request.send().await.expect("it is answered");
    let challenge = answer.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
    (answer.status(), challenge.unwrap_or_default().to_owned())
}

#[tokio::test]
async fn nothing_is_said_of_oauth_while_it_is_off() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let browser = Browser::new(&server);
    for path in [RESOURCE_METADATA, "/.well-known/oauth-authorization-server", "/.well-known/anything/else"] {
        let answered = browser.get(path).await;
        assert_eq!(answered.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(answered.headers[CONTENT_TYPE], "application/json");
        assert_eq!(answered.json()["error"], "not_found");
    }
    for path in ["/oauth/authorize", "/oauth/token", "/oauth/register"] {
        assert_eq!(browser.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let key = new_key(&data_dir, "one", "reader", &[]).await;
    assert_eq!(
        challenge(&server, "/mcp", None, &status()).await,
        (StatusCode::UNAUTHORIZED, "Bearer".to_owned())
    );
    ask(&server, "", &key, &status()).await;
}

#[tokio::test]
async fn metadata_says_where_tokens_are_had_and_keys_open_beside_them_also_on_a_path_of_their_own() {
    let data_dir = DataDir::warm();
    let server = start(&data_dir).await;
    let browser = Browser::new(&server);
    for path in [RESOURCE_METADATA.to_owned(), format!("{RESOURCE_METADATA}/mcp")] {
        let metadata = browser.get(&path).await.json();
        assert_eq!(metadata["resource"], format!("{PUBLIC}/mcp"));
        assert_eq!(metadata["authorization_servers"], json!([PUBLIC]));
        assert!(!metadata["scopes_supported"].to_string().contains("offline_access"));
    }
    let metadata = browser.get("/.well-known/oauth-authorization-server").await.json();
    assert_eq!(metadata["issuer"], PUBLIC);
    assert_eq!(metadata["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(metadata["token_endpoint_auth_methods_supported"], json!(["none"]));
    assert_eq!(metadata["authorization_response_iss_parameter_supported"], true);
    for path in ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server/mcp"] {
        let answered = browser.get(path).await;
        assert_eq!(
            (answered.status, answered.json()["error"].clone()),
            (StatusCode::NOT_FOUND, json!("not_found"))
        );
    }
    // Whoever stands behind a proxy comes from loopback.
    let (refused, said) = challenge(&server, "/mcp", None, &status()).await;
    assert_eq!(refused, StatusCode::UNAUTHORIZED);
    assert_eq!(
        said,
        format!("Bearer resource_metadata=\"{PUBLIC}{RESOURCE_METADATA}/mcp\", scope=\"memory:write\"")
    );
    let key = new_key(&data_dir, "one", "reader", &[]).await;
    for path in ["/mcp", "/key/mcp"] {
        assert_eq!(challenge(&server, path, Some(&key), &status()).await.0, StatusCode::OK, "{path}");
    }
    assert_eq!(
        challenge(&server, "/key/mcp", None, &status()).await,
        (StatusCode::UNAUTHORIZED, "Bearer".to_owned())
    );
    let (refused, said) = challenge(&server, "/mcp", Some("junk"), &status()).await;
    assert!(
        refused == StatusCode::UNAUTHORIZED
            && said.starts_with("Bearer error=\"invalid_token\", resource_metadata="),
        "{said}"
    );
}

#[tokio::test]
async fn a_token_opens_what_was_consented_to_as_a_key_would_until_it_is_revoked() {
    let data_dir = DataDir::warm();
    let server = start(&data_dir).await;
    let mut browser = Browser::new(&server);
    let client = browser.register().await;
    let sent = browser.allow(&asked(&client), "reader", "work, home").await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{sent:?}");
    assert!(
        sent.location.as_ref().is_some_and(|at| at.as_str().starts_with(&format!("{CALLBACK}?"))),
        "{sent:?}"
    );
    assert_eq!(sent.parameter("state").as_deref(), Some("a state"));
    assert_eq!(sent.parameter("iss").as_deref(), Some(PUBLIC));
    let code = sent.parameter("code").expect("a code");
    let answered = browser.exchange(&client, &code, memory_tests::oauth::VERIFIER).await;
    let (access, refresh) = pair(&answered);
    let tokens = answered.json();
    assert_eq!((&tokens["token_type"], &tokens["scope"]), (&json!("Bearer"), &json!("memory:read")));
    assert_eq!(answered.headers["cache-control"], "no-store");

    // Namespaces and tools are those of a reader of work and home.
    ask(&server, "", &access, &status()).await;
    ask(&server, "?namespace=home", &access, &status()).await;
    for foreign in ["default", "nobody"] {
        let (refused, text) = send(&server, &format!("?namespace={foreign}"), Some(&access), &status()).await;
        assert_eq!(refused, StatusCode::FORBIDDEN, "{text}");
    }
    let listed = ask(&server, "", &access, &method("tools/list", json!({}))).await.to_string();
    assert!(listed.contains("\"recall\"") && !listed.contains("\"forget\""), "{listed}");
    let remember = call("remember", json!({"content": "The spare key is in the blue box."}));
    let (refused, said) = challenge(&server, "/mcp", Some(&access), &remember).await;
    assert_eq!(refused, StatusCode::FORBIDDEN);
    assert!(
        said.starts_with("Bearer error=\"insufficient_scope\", ") && said.ends_with("scope=\"memory:write\""),
        "{said}"
    );
    let metrics = server.client().get(server.url.replace("/mcp", "/metrics")).bearer_auth(&access);
    let metrics = metrics.send().await.expect("it is answered");
    assert_eq!(metrics.status(), StatusCode::FORBIDDEN);
    assert!(
        metrics.headers()[WWW_AUTHENTICATE]
            .to_str()
            .is_ok_and(|said| said.ends_with("scope=\"memory:admin\""))
    );
    let unknown = ask(&server, "", &access, &call("no_such_tool", json!({}))).await;
    assert!(unknown["error"].is_object(), "{unknown}");
    assert_eq!(challenge(&server, "/key/mcp", Some(&access), &status()).await.0, StatusCode::UNAUTHORIZED);

    let listed = data_dir.run(&["tokens", "list", "--json"]).await;
    let consent = &listed.json()["consents"][0];
    assert_eq!(consent["name"], "Test client (127.0.0.1:4711)");
    assert_eq!((&consent["role"], &consent["state"]), (&json!("reader"), &json!("live")));
    for secret in [&access, &refresh, &code] {
        let secret = secret.rsplit('_').next().expect("a secret");
        assert!(!listed.stdout.contains(secret));
        assert!(!std::fs::read_to_string(data_dir.path().join("test.log")).expect("a log").contains(secret));
    }
    let id = consent["id"].as_str().expect("an id");
    assert!(data_dir.run(&["tokens", "revoke", id]).await.stdout.contains("revoked"));
    assert_eq!(send(&server, "", Some(&access), &status()).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(browser.refresh(&client, &refresh).await.json()["error"], "invalid_grant");
    let again = data_dir.run(&["tokens", "revoke", "nobody"]).await;
    assert!(again.refusal().contains("tokens list"), "{again:?}");
}

#[tokio::test]
async fn a_refresh_token_is_exchanged_for_another_pair_and_giving_it_back_ends_all() {
    let data_dir = DataDir::warm();
    let server = start(&data_dir).await;
    let mut browser = Browser::new(&server);
    let client = browser.register().await;
    let (first, refresh) = browser.tokens(&client, "writer", "default").await;
    let (second, refresh) = pair(&browser.refresh(&client, &refresh).await);
    assert_ne!(first, second);
    let remember = call("remember", json!({"content": "The spare key is in the blue box."}));
    let stored = ask(&server, "", &second, &remember).await;
    assert!(stored["result"]["structuredContent"]["id"].is_string(), "{stored}");
    let audit = data_dir.run(&["audit", "--json", "--by", "Test client (127.0.0.1:4711)"]).await.stdout;
    assert!(audit.contains("\"remember\"") && audit.contains("\"consent\""), "{audit}");

    // An access token alone first, then all of it.
    let back = browser.post("/oauth/revoke", &[("token", &second), ("client_id", &client)]).await;
    assert_eq!(back.status, StatusCode::OK);
    assert_eq!(send(&server, "", Some(&second), &status()).await.0, StatusCode::UNAUTHORIZED);
    let (third, refresh) = pair(&browser.refresh(&client, &refresh).await);
    ask(&server, "", &third, &status()).await;
    for token in [refresh.as_str(), "unknown"] {
        assert_eq!(browser.post("/oauth/revoke", &[("token", token)]).await.status, StatusCode::OK);
    }
    assert_eq!(send(&server, "", Some(&third), &status()).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(browser.refresh(&client, &refresh).await.json()["error"], "invalid_grant");
}

#[tokio::test]
async fn a_subscription_ends_with_its_consent_and_tells_nothing_of_other_namespaces() {
    let data_dir = DataDir::warm();
    let server = start(&data_dir).await;
    let mut browser = Browser::new(&server);
    let client = browser.register().await;
    let (mine, _) = browser.tokens(&client, "writer", "mine").await;
    let (theirs, _) = browser.tokens(&client, "writer", "theirs").await;
    let (refused, _) = send(&server, "?namespace=theirs", Some(&mine), &listen(5)).await;
    assert_eq!(refused, StatusCode::FORBIDDEN);
    let mut stream = Stream::listening(&server, Some(&mine)).await;
    ask(&server, "", &theirs, &call("create_entities", entity("Eve"))).await;
    ask(&server, "", &mine, &call("create_entities", entity("Ada"))).await;
    assert_eq!(stream.next_soon().await["method"], UPDATED);
    assert!(data_dir.run(&["tokens", "revoke", &client]).await.status.success());
    assert_eq!(send(&server, "", Some(&mine), &status()).await.0, StatusCode::UNAUTHORIZED);
    let key = new_key(&data_dir, "writer", "writer", &["--namespaces", "mine"]).await;
    ask(&server, "", &key, &call("create_entities", entity("Bob"))).await;
    let rest = tokio::time::timeout(std::time::Duration::from_secs(60), async {
        let mut all = Vec::new();
        while let Some(message) = stream.next().await {
            all.push(message);
        }
        all
    });
    let rest = rest.await.expect("it is ended");
    assert!(rest.iter().all(|message| message["method"] != UPDATED), "{rest:?}");
}

#[tokio::test]
async fn the_pages_name_who_asks_without_a_script_and_cannot_be_framed() {
    let data_dir = DataDir::warm();
    let server = start(&data_dir).await;
    let mut browser = Browser::new(&server);
    let bad = "<script>alert(1)</script>\" onload=\"x";
    let body = json!({"client_name": bad, "redirect_uris": [CALLBACK]});
    let client = browser.post_json("/oauth/register", &body).await.json();
    let client = client["client_id"].as_str().expect("an id").to_owned();
    let mut request = asked(&client);
    request[5].1 = "\"><script>x</script>";
    let login = browser.ask(&request).await;
    let cookie = login.headers[SET_COOKIE].to_str().expect("text").to_owned();
    for part in ["HttpOnly", "SameSite=Strict", "Secure", "Path=/oauth"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let consent = browser.log_in(&request).await;
    for page in [&login, &consent] {
        assert!(!page.text.contains("<script") && page.text.contains("127.0.0.1:4711"), "{}", page.text);
        let policy = page.headers[CONTENT_SECURITY_POLICY].to_str().expect("text");
        assert!(policy.starts_with("default-src 'none'; style-src 'self'; form-action 'self'"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(page.headers["x-frame-options"], "DENY");
        assert_eq!(page.headers["cache-control"], "no-store");
    }
    assert!(
        !login.text.contains("default") && consent.text.contains("value=\"default\""),
        "strangers see no namespace"
    );
    let (csrf, ticket) = (consent.field("csrf"), consent.field("ticket"));
    let denied = browser.submit(&[("csrf", &csrf), ("ticket", &ticket), ("decision", "deny")]).await;
    assert_eq!(denied.parameter("error").as_deref(), Some("access_denied"));
    assert_eq!(denied.parameter("state").as_deref(), Some("\"><script>x</script>"));
    assert_eq!(denied.parameter("iss").as_deref(), Some(PUBLIC));
    let wrong = browser.log_in(&request).await;
    let (csrf, ticket) = (wrong.field("csrf"), wrong.field("ticket"));
    let form = [
        ("csrf", &*csrf),
        ("ticket", &ticket),
        ("role", "writer"),
        ("namespaces", "a/b"),
        ("decision", "allow"),
    ];
    let again = browser.submit(&form).await;
    assert!(again.status == StatusCode::OK && again.text.contains("role=\"alert\""), "{again:?}");
    assert_ne!(again.field("ticket"), ticket);
}

#[tokio::test]
async fn an_operator_names_clients_also_with_a_scheme_of_their_own() {
    let data_dir = DataDir::warm();
    let server = start(&data_dir).await;
    let mut browser = Browser::new(&server);
    let callback = "cursor://anysphere.cursor-mcp/oauth/callback";
    let added =
        data_dir.run(&["clients", "add", "Cursor", "--redirect-uri", callback, "--json"]).await.json();
    let client = added["clients"][0]["id"].as_str().expect("an id").to_owned();
    let mut request = asked(&client);
    request[2].1 = callback;
    let sent = browser.allow(&request, "writer", "default").await;
    assert!(sent.location.as_ref().is_some_and(|at| at.as_str().starts_with(callback)), "{sent:?}");
    for bad in ["javascript:alert(1)", "http://evil.example/", "https://a.example/#x"] {
        let refused = data_dir.run(&["clients", "add", "Bad", "--redirect-uri", bad]).await;
        assert!(refused.refusal().contains("no address"), "{refused:?}");
    }
    assert!(data_dir.run(&["clients", "list"]).await.stdout.contains("operator"));
    assert!(data_dir.run(&["clients", "remove", &client]).await.status.success());
    assert_eq!(browser.ask(&request).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_public_address_that_is_not_https_or_an_issuer_without_grants_ends_serve_with_a_sentence() {
    let data_dir = DataDir::warm();
    for (flags, said) in [
        (vec!["--public-url", "http://memory.example"], "not https"),
        (vec!["--public-url", "https://memory.example/mcp"], "has a path"),
        (vec!["--oidc-issuer", "https://login.example"], "REMEMBRANCER_PUBLIC_URL"),
        (vec!["--public-url", PUBLIC, "--oidc-issuer", "https://login.example"], "REMEMBRANCER_OIDC_GRANTS"),
    ] {
        let ran = data_dir.run(&[&["serve", "--bind", "127.0.0.1:0"][..], &flags].concat()).await;
        assert!(ran.refusal().contains(said), "{ran:?}");
    }
    assert!(encoded(&[("password", PASSWORD)]).contains("correct+horse"));
}
