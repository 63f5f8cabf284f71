//! `keys`, and keys over the local socket and on addresses that other machines reach.

use std::time::Duration;

use memory_tests::process::{
    DataDir, Ran, Server, StdioHost, call, eventually, free_port, http_client, initialize,
};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use crate::process_access::{ask, new_key, send};

fn status() -> Value {
    call("status", json!({}))
}

async fn execute(data_dir: &DataDir, statement: &'static str) {
    let mut conn = PgConnection::connect(&data_dir.database_url()).await.expect("the database answers");
    sqlx::query(statement).execute(&mut conn).await.expect("it is done");
}

#[tokio::test]
async fn a_key_is_shown_once_and_its_secret_is_nowhere_else() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let made = data_dir.run(&["keys", "create", "laptop", "--role", "writer", "--expires-in", "30"]).await;
    let key = made.stdout.trim();
    assert!(key.starts_with("rem_") && key.len() == 81, "the key alone is on standard output: {made:?}");
    assert!(ask(&server, "", key, &status()).await["result"].is_object());
    let secret = key.rsplit('_').next().expect("a secret");
    let listed = data_dir.run(&["keys", "list", "--json"]).await;
    let row = &listed.json()["keys"][0];
    assert_eq!(
        (&row["name"], &row["role"], &row["state"]),
        (&json!("laptop"), &json!("writer"), &json!("live"))
    );
    assert!(row["expires_at"].is_string() && row["namespaces"] == json!(["default"]), "{row}");
    let used = row["last_used_at"].as_str().expect("it was used");
    assert!(used.ends_with(":00:00Z"), "it is rounded to the hour: {used}");
    let shown = data_dir.run(&["keys", "list"]).await;
    let mut conn = PgConnection::connect(&data_dir.database_url()).await.expect("the database answers");
    let rows: Vec<String> =
        sqlx::query_scalar("select k::text from access_key k").fetch_all(&mut conn).await.expect("rows");
    let log = std::fs::read_to_string(data_dir.path().join("test.log")).expect("a log");
    for text in [&listed.stdout, &shown.stdout, &rows.join(""), &log] {
        assert!(!text.contains(secret), "{text}");
    }
    let again = data_dir.run(&["keys", "create", "laptop", "--role", "reader"]).await;
    assert!(again.refusal().contains("already"), "{again:?}");
}

#[tokio::test]
async fn a_rotated_or_expired_key_opens_nothing_and_an_overlap_is_as_long_as_it_is_said() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let first = new_key(&data_dir, "ci", "reader", &[]).await;
    let rotated = data_dir.run(&["keys", "rotate", "ci", "--overlap", "5", "--json"]).await.json();
    let second = rotated["key"].as_str().expect("it is shown").to_owned();
    assert_eq!(first[..17], second[..17], "the id stays");
    for key in [&first, &second] {
        ask(&server, "", key, &status()).await;
    }
    execute(&data_dir, "update access_key set old_until = now()").await;
    assert_eq!(send(&server, "", Some(&first), &status()).await.0, 401);
    // Whole keys are pasted as well.
    let third = data_dir.run(&["keys", "rotate", &second]).await.stdout;
    assert_eq!(send(&server, "", Some(&second), &status()).await.0, 401);
    ask(&server, "", third.trim(), &status()).await;
    execute(&data_dir, "update access_key set expires_at = now()").await;
    assert_eq!(send(&server, "", Some(third.trim()), &status()).await.0, 401);
    let refused = data_dir.run(&["keys", "rotate", "ci"]).await;
    assert!(refused.refusal().contains("is expired"), "{refused:?}");
    let unknown = data_dir.run(&["keys", "revoke", "nobody"]).await;
    assert!(unknown.refusal().contains("keys list"), "{unknown:?}");
}

#[tokio::test]
async fn loopback_needs_no_key_until_there_is_one_and_again_when_the_last_is_deleted() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    assert_eq!(send(&server, "", None, &status()).await.0, 200);
    let key = new_key(&data_dir, "one", "reader", &[]).await;
    assert_eq!(send(&server, "", None, &status()).await.0, 401);
    let refused = data_dir.run(&["keys", "delete", "one"]).await;
    assert!(refused.refusal().contains("is live"), "{refused:?}");
    assert!(data_dir.run(&["keys", "revoke", "one"]).await.status.success());
    for given in [None, Some(key.as_str())] {
        assert_eq!(send(&server, "", given, &status()).await.0, 401, "revoking opens nothing");
    }
    // A name means the key of it that is not revoked, as long as there is one.
    let second = new_key(&data_dir, "one", "reader", &[]).await;
    assert!(data_dir.run(&["keys", "delete", "one"]).await.refusal().contains(&second[4..16]));
    assert!(data_dir.run(&["keys", "revoke", "one"]).await.status.success());
    assert!(data_dir.run(&["keys", "delete", "one"]).await.status.success());
    assert_eq!(send(&server, "", None, &status()).await.0, 401, "one is left");
    assert!(data_dir.run(&["keys", "delete", &key[4..16]]).await.status.success());
    assert_eq!(send(&server, "", None, &status()).await.0, 200);
    assert_eq!(send(&server, "", Some(&key), &status()).await.0, 401);
}

#[tokio::test]
async fn an_address_that_others_reach_takes_keys_and_nobody_without_one() {
    let data_dir = DataDir::warm();
    let ran = data_dir.run(&["serve", "--bind", "0.0.0.0:0"]).await;
    assert!(ran.refusal().contains("remembrancer keys create"), "{ran:?}");
    let key = new_key(&data_dir, "phone", "reader", &[]).await;
    let port = free_port();
    let mut serve = data_dir.command("remembrancer");
    serve.args(["serve", "--bind", &format!("0.0.0.0:{port}")]);
    let mut serve = serve.spawn().expect("it starts");
    let (client, url) = (http_client(), format!("http://127.0.0.1:{port}"));
    eventually("it listens", Duration::from_secs(30), async || {
        client.get(format!("{url}/livez")).send().await.is_ok()
    })
    .await;
    let post = |key: Option<&str>| {
        let mut request = client.post(format!("{url}/mcp")).json(&initialize());
        request = request.header("Accept", "application/json, text/event-stream");
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        async { request.send().await.expect("it is answered").status().as_u16() }
    };
    assert_eq!((post(None).await, post(Some(&key)).await), (401, 200));
    serve.kill().await.expect("it is ended");
}

#[tokio::test]
async fn stdio_and_commands_with_a_key_may_do_what_it_opens_and_operator_commands_refuse_it() {
    let data_dir = DataDir::warm();
    let holder = Server::start(&data_dir).await;
    let key = new_key(&data_dir, "host", "reader", &["--namespaces", "work"]).await;
    let with_key = |key: &str| {
        let mut command = data_dir.command("remembrancer");
        command.env("REMEMBRANCER_KEY", key);
        command
    };
    let mut host = StdioHost::start(with_key(&key));
    host.initialize().await;
    host.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    let tools = host.receive().await.to_string();
    assert!(tools.contains("\"recall\"") && !tools.contains("\"remember\""), "{tools}");
    host.send(&call("remember", json!({"content": "x"}))).await;
    let refused = host.receive().await;
    assert!(
        refused["error"]["message"].as_str().is_some_and(|e| e.contains("not open to this key")),
        "{refused}"
    );
    let wrong = Ran::of(with_key(&key).args(["--namespace", "default", "recall", "x"])).await;
    let refusal = wrong.refusal();
    assert!(refusal.starts_with("remembrancer: This key is not for that namespace. Name none"), "{wrong:?}");
    let closed = Ran::of(with_key(&key).args(["forget", "art_000000000000", "--confirm"])).await;
    assert!(closed.refusal().starts_with("remembrancer: forget is not open to this key: "), "{closed:?}");
    let recalled = Ran::of(with_key(&key).args(["recall", "anything"])).await;
    assert!(recalled.status.success(), "{recalled:?}");
    for words in [
        &["keys", "list"][..],
        &["keys", "create", "more", "--role", "admin"],
        &["jobs", "show", "1"],
        &["export"],
        &["entities", "list"],
    ] {
        let refused = Ran::of(with_key(&key).args(words)).await;
        assert!(refused.refusal().contains("for the owner of the data"), "{words:?}: {refused:?}");
    }
    for lost in ["", "rem_", "secret"] {
        let refused = Ran::of(with_key(lost).args(["recall", "x"])).await;
        assert!(refused.refusal().contains("REMEMBRANCER_KEY is no key"), "{refused:?}");
    }
    assert!(data_dir.run(&["keys", "revoke", "host"]).await.status.success());
    host.send(&status()).await;
    let closed = host.receive().await;
    assert!(closed["error"]["message"].as_str().is_some_and(|e| e.contains("opens nothing")), "{closed}");
    let closed = Ran::of(with_key(&key).args(["recall", "x"])).await;
    assert!(closed.refusal().contains("opens nothing"), "{closed:?}");
    holder.terminate().await;
}
