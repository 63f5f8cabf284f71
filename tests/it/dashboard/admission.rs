//! Who comes in, what they see and may do, and when their session ends.

use memory_tests::process::{DataDir, Server, eventually};
use reqwest::StatusCode;
use reqwest::header::LOCATION;
use serde_json::json;

use super::{Browser, PATIENCE, remembered};
use crate::process_access::new_key;
use crate::process_password::set_password;

#[tokio::test]
async fn with_the_first_key_everybody_signs_in_and_what_opens_nothing_lets_nobody_in() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("status", json!({})).await;
    let mut before = Browser::at(&server);
    let form = [("action", "create"), ("name", "reads"), ("role", "reader"), ("namespaces", "default")];
    let made = before.post("keys", &form).await;
    let reader = made.text.split("rem_").nth(1).and_then(|rest| rest.split('<').next());
    let reader = format!("rem_{}", reader.expect("it is shown, though it ends the session that made it"));
    let narrow = new_key(&data_dir, "narrow", "writer", &["--sets", "memory"]).await;
    // With the first key nobody stays in without one.
    let shown = before.get("overview").await;
    assert_eq!(shown.status, StatusCode::SEE_OTHER);
    assert_eq!(shown.headers[LOCATION], "/ui/login?to=%2Fui%2Fn%2Fdefault%2Foverview");
    let mut stranger = Browser::at(&server);
    let wrong = format!("rem_0123456789ab_{}", "ab".repeat(32));
    for (secret, status) in [
        (wrong.as_str(), StatusCode::UNAUTHORIZED),
        ("", StatusCode::BAD_REQUEST),
        (narrow.as_str(), StatusCode::FORBIDDEN),
    ] {
        assert_eq!(stranger.post_at("/ui/login", &[("secret", secret)]).await.status, status, "{secret}");
    }
    for elsewhere in ["//evil.example", "https://evil.example/ui"] {
        let shown = stranger.post_at("/ui/login", &[("secret", &reader), ("to", elsewhere)]).await;
        assert_eq!(shown.headers[LOCATION], "/ui", "{elsewhere}");
    }
    // A body that is no key is not read.
    let long = "x".repeat(20_000);
    let shown = stranger.post_at("/ui/login", &[("secret", &long)]).await;
    assert_eq!(shown.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_key_opens_what_its_role_and_namespaces_open_and_nothing_else() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let id = remembered(&server, json!({"content": "Priya Raman will send the budget by 2031-02-01."})).await;
    server.settled().await;
    let reader = new_key(&data_dir, "reads", "reader", &["--namespaces", "default"]).await;
    let writer = new_key(&data_dir, "writes", "writer", &["--namespaces", "default,other"]).await;
    let admin = new_key(&data_dir, "runs", "admin", &["--namespaces", "default"]).await;
    let forget = format!("memory/{id}/forget");
    let text = format!("memory/{id}");
    let writes: [(&str, &[(&str, &str)]); 8] = [
        (&forget, &[]),
        ("browse", &[("action", "forget"), ("sure", "1"), ("id", &id)]),
        ("browse", &[("action", "tag"), ("add", "x"), ("id", &id)]),
        ("import", &[("content", "no")]),
        ("jobs", &[("action", "retry-all")]),
        ("entities/decide", &[("action", "merge"), ("a", "1"), ("b", "2")]),
        ("namespaces/forget", &[("name", "default")]),
        ("keys", &[("action", "create"), ("name", "mine"), ("role", "admin"), ("namespaces", "default")]),
    ];
    let mut browser = Browser::signed_in(&server, &reader).await;
    for (page, form) in writes {
        assert_eq!(browser.post(page, form).await.status, StatusCode::FORBIDDEN, "{page}");
    }
    for page in ["audit", "keys", "settings", "import"] {
        assert_eq!(browser.get(page).await.status, StatusCode::FORBIDDEN, "{page}");
    }
    for page in ["overview", "browse", "jobs", "entities", "entities/merges", "namespaces", text.as_str()] {
        let shown = browser.get(page).await;
        assert_eq!(shown.status, StatusCode::OK, "{page}");
        for button in [
            "Forget",
            "Retry",
            ">Cancel",
            ">Tag<",
            "value=\"merge\"",
            "Save",
            "/keys",
            "/audit",
            "/settings",
            "Add texts",
        ] {
            assert!(!shown.text.contains(button), "{page} shows a reader {button}");
        }
    }
    assert_eq!(browser.get_at("/ui/n/other/overview").await.status, StatusCode::FORBIDDEN);
    assert_eq!(browser.get_at("/ui/n/nobody/overview").await.status, StatusCode::FORBIDDEN);

    let mut browser = Browser::signed_in(&server, &writer).await;
    assert_eq!(browser.get_at("/ui/n/other/browse").await.status, StatusCode::OK);
    for page in ["audit", "keys", "settings"] {
        assert_eq!(browser.get(page).await.status, StatusCode::FORBIDDEN, "{page}");
    }
    assert_eq!(browser.post("namespaces/forget", &[("name", "default")]).await.status, StatusCode::FORBIDDEN);
    let tagged = browser.post("browse", &[("action", "tag"), ("add", "x, y"), ("id", &id)]).await;
    assert_eq!(tagged.status, StatusCode::SEE_OTHER);
    assert!(browser.get("browse").await.text.contains("1 text tagged."));

    let mut browser = Browser::signed_in(&server, &admin).await;
    assert_eq!(browser.get("keys").await.status, StatusCode::FORBIDDEN, "keys are not managed by keys");
    let audit = browser.get("audit").await;
    assert!(
        audit.text.contains("writes") && audit.text.contains(&id) && !audit.text.contains("keys create"),
        "{}",
        audit.text
    );

    // A session is over with its key.
    data_dir.run(&["keys", "revoke", "runs"]).await;
    assert_eq!(browser.get("overview").await.status, StatusCode::SEE_OTHER);
    let mut browser = Browser::signed_in(&server, &reader).await;
    let csrf = browser.csrf().await;
    assert_eq!(browser.post_at("/ui/logout", &[("csrf", &csrf)]).await.status, StatusCode::SEE_OTHER);
    assert_eq!(browser.get("overview").await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_token_opens_all_and_its_settings_are_shown_without_it() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command
        .env("REMEMBRANCER_TOKEN", "a-token-that-is-long-enough")
        .env("REMEMBRANCER_LLM_KEY", "sk-very-secret");
    let server = Server::start_with(command).await;
    let mut stranger = Browser::at(&server);
    eventually("strangers are asked for a key", PATIENCE, async || {
        stranger.get_at("/ui").await.headers.get(LOCATION).is_some_and(|to| to == "/ui/login?to=%2Fui")
    })
    .await;
    let mut browser = Browser::signed_in(&server, "a-token-that-is-long-enough").await;
    eventually("the memory is there", PATIENCE, async || {
        browser.get("settings").await.status == StatusCode::OK
    })
    .await;
    let settings = browser.get("settings").await.text;
    assert!(
        settings.contains("REMEMBRANCER_LLM_KEY")
            && !settings.contains("secret")
            && !settings.contains("long-enough"),
        "{settings}"
    );
    let form = [("action", "create"), ("name", "phone"), ("role", "reader"), ("namespaces", "default")];
    let keys = browser.post("keys", &form).await.text;
    let key = keys.split("rem_").nth(1).and_then(|rest| rest.split('<').next()).expect("it is shown once");
    assert!(!browser.get("keys").await.text.contains(key), "and never again");
    Browser::signed_in(&server, &format!("rem_{key}")).await;
}

#[tokio::test]
async fn without_the_dashboard_there_is_nothing_at_its_address() {
    let data_dir = DataDir::warm();
    let server = Server::start_as(data_dir.command("remembrancer"), &["--dashboard", "off"]).await;
    let mut browser = Browser::at(&server);
    for path in ["/ui", "/ui/login", "/ui/n/default/overview"] {
        assert_eq!(browser.get_at(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn a_listener_that_only_reads_has_pages_that_only_read() {
    let data_dir = DataDir::warm();
    let server = Server::start_as(data_dir.command("remembrancer"), &["--read-only"]).await;
    server.ask("status", json!({})).await;
    let mut browser = Browser::at(&server);
    let refused = browser.post("import", &[("content", "no")]).await;
    assert!(
        refused.status == StatusCode::FORBIDDEN && refused.text.contains("--read-only"),
        "{}",
        refused.text
    );
    assert!(!browser.get("browse").await.text.contains("Add texts"));
}

#[tokio::test]
async fn a_session_by_the_password_ends_when_the_password_is_changed() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_TOKEN", "a-token-that-is-long-enough");
    let server = Server::start_with(command).await;
    let mut owner = Browser::signed_in(&server, "a-token-that-is-long-enough").await;
    eventually("the memory is there", PATIENCE, async || {
        owner.get("settings").await.status == StatusCode::OK
    })
    .await;
    let first = "the first password of this house";
    assert!(set_password(&data_dir, first).await.status.success());
    let mut browser = Browser::signed_in(&server, first).await;
    assert_eq!(browser.get("settings").await.status, StatusCode::OK);
    // The same once more is another: who changes it because somebody has seen it is rid of them.
    assert!(set_password(&data_dir, first).await.status.success());
    let shown = browser.get("settings").await;
    assert!(shown.headers.get(LOCATION).is_some_and(|to| to.to_str().unwrap().starts_with("/ui/login")));
    let mut again = Browser::signed_in(&server, first).await;
    assert_eq!(again.get("settings").await.status, StatusCode::OK);
}
