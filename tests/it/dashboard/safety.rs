//! That nothing of a text becomes part of a page, and that no other page or script comes in.

use memory_tests::process::{DataDir, Server};
use reqwest::header::{CONTENT_TYPE, HOST, ORIGIN, SET_COOKIE};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::{Browser, PAGES, remembered, with_form};

/// A text that a page must not take for its own.
const EVIL: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'";

#[tokio::test]
async fn every_answer_has_the_headers_that_keep_other_pages_and_scripts_out() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("status", json!({})).await;
    let mut browser = Browser::at(&server);
    let page = browser.get("overview").await;
    let asset =
        page.text.split('"').find(|part| part.ends_with("/dashboard.js")).expect("a script").to_owned();
    let script = browser.get_at(&asset).await;
    assert!(script.headers["cache-control"].to_str().unwrap().contains("immutable"));
    let session = page.headers[SET_COOKIE].to_str().unwrap();
    assert!(
        session.contains("HttpOnly") && session.contains("SameSite=Strict") && session.contains("Path=/ui"),
        "{session}"
    );
    let login = browser.get_at("/ui/login").await;
    let nothing = browser.get_at("/ui/assets/x/nothing.js").await;
    assert_eq!(nothing.status, StatusCode::NOT_FOUND);
    for shown in [page, script, login, nothing] {
        let policy = shown.headers["content-security-policy"].to_str().unwrap();
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        assert_eq!(shown.headers["x-content-type-options"], "nosniff");
        assert_eq!(shown.headers["x-frame-options"], "DENY");
    }
    // Requests for another host, or with a key in the address, do not reach a page.
    let foreign =
        browser.request(Method::GET, "/ui/login").header(HOST, "evil.example").send().await.unwrap();
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    assert_eq!(browser.get_at("/ui/login?token=x").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_form_without_its_token_or_of_another_page_changes_nothing() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let id = remembered(&server, json!({"content": "Keep me."})).await;
    let mut browser = Browser::at(&server);
    let csrf = browser.csrf().await;
    let path = format!("/ui/n/default/memory/{id}/forget");
    let own = browser.base.clone();
    for (origin, token) in [
        (Some(own.as_str()), None),
        (Some(own.as_str()), Some("0")),
        (Some("http://evil.example"), Some(csrf.as_str())),
        (Some("null"), Some(csrf.as_str())),
        (None, Some(csrf.as_str())),
    ] {
        let mut request = browser.request(Method::POST, &path);
        if let Some(origin) = origin {
            request = request.header(ORIGIN, origin);
        }
        let form: Vec<(&str, &str)> = token.map(|token| ("csrf", token)).into_iter().collect();
        let answer = with_form(request, &form).send().await.expect("it is answered");
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{origin:?} {token:?}");
    }
    // The token of one session is none of another.
    let mut other = Browser::at(&server);
    other.get("overview").await;
    assert_eq!(other.post_at(&path, &[("csrf", &csrf)]).await.status, StatusCode::FORBIDDEN);
    assert_eq!(browser.get(&format!("memory/{id}")).await.status, StatusCode::OK);
    let forgotten = browser.post(&format!("memory/{id}/forget"), &[]).await;
    assert_eq!(forgotten.status, StatusCode::SEE_OTHER, "{}", forgotten.text);
    assert!(browser.get("browse").await.text.contains("Forgotten, with 0 events"));
    assert_eq!(browser.get(&format!("memory/{id}")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn markup_in_every_field_is_shown_as_text() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let id = remembered(
        &server,
        json!({
            "content": format!("Dana Whitfield will send the {EVIL} report by 2031-05-02. We decided to use {EVIL}."),
            "title": format!("Title {EVIL}"), "author": format!("Author {EVIL}"), "source": format!("Source {EVIL}"),
            "source_id": format!("Id {EVIL}"), "tags": [format!("tag {EVIL}")], "participants": [format!("With {EVIL}")],
        }),
    )
    .await;
    server
        .ask("create_entities", json!({"entities": [
            {"name": format!("Node {EVIL}"), "entityType": EVIL, "observations": [format!("It said {EVIL} once.")]},
            {"name": "Plain", "entityType": "thing", "observations": []}]}))
        .await;
    server
        .ask(
            "create_relations",
            json!({"relations": [{"from": format!("Node {EVIL}"), "to": "Plain", "relationType": EVIL}]}),
        )
        .await;
    server.settled().await;
    let mut browser = Browser::at(&server);
    let query: String = EVIL.bytes().map(|b| format!("%{b:02X}")).collect();
    let mut pages: Vec<String> = PAGES.iter().map(|page| (*page).to_owned()).collect();
    for field in ["q", "author", "source", "tags", "context", "from", "importance", "cursor", "category"] {
        pages.push(format!("search?q={query}&{field}={query}"));
        pages.push(format!("browse?{field}={query}"));
    }
    pages.extend([format!("memory/{id}"), format!("memory/{id}/forget"), format!("entities?name={query}")]);
    pages.extend([
        format!("commitments?owner={query}"),
        format!("timeline?from={query}"),
        format!("audit?who={query}"),
    ]);
    let mut seen = 0;
    for page in &pages {
        let shown = browser.get(page).await;
        assert!(
            shown.status.is_success() || shown.status == StatusCode::BAD_REQUEST,
            "{page}: {}",
            shown.status
        );
        assert!(
            !shown.text.contains("<script>alert") && !shown.text.contains("<img src=x"),
            "{page}: {}",
            shown.text
        );
        seen += usize::from(shown.text.contains("&lt;script&gt;"));
    }
    assert!(seen > 15, "the texts are there, as texts: {seen} of {}", pages.len());
    // What scripts read is JSON and says so.
    let data = browser.get("graph/data").await;
    assert_eq!(data.headers[CONTENT_TYPE], "application/json");
    assert!(serde_json::from_str::<Value>(&data.text).expect("JSON")["nodes"].as_array().unwrap().len() >= 2);
}
