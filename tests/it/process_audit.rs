//! The audit: what is recorded of calls that bring a key, for how long, and what never is.

use std::time::Duration;

use memory_tests::process::{DataDir, Server, call, eventually};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use crate::process_access::{ask, method, new_key};

const CONTENT: &str = "The spare key is in the blue box.";

async fn audit(data_dir: &DataDir, arguments: &[&str]) -> Vec<Value> {
    let listed = data_dir.run(&[&["audit", "--json"], arguments].concat()).await;
    listed.json()["entries"].as_array().expect("a list").clone()
}

fn brief(entry: &Value) -> String {
    let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    format!("{} {} {}", text("who"), text("action"), text("outcome"))
}

#[tokio::test]
async fn changes_are_recorded_with_key_tool_ids_and_outcome_and_without_content() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("remember", json!({"content": "Written by the owner."})).await;
    let key = new_key(&data_dir, "laptop", "writer", &[]).await;
    let kept = ask(&server, "", &key, &call("remember", json!({"content": CONTENT, "title": "blue"}))).await;
    let id = kept["result"]["structuredContent"]["id"].as_str().expect("an id").to_owned();
    ask(&server, "", &key, &call("recall", json!({"query": "spare key"}))).await;
    ask(&server, "", &key, &call("forget", json!({"id": "art_000000000000", "confirm": true}))).await;
    ask(&server, "", &key, &call("remember", json!({"content": ""}))).await;
    let entries = audit(&data_dir, &[]).await;
    assert_eq!(
        entries.iter().map(brief).collect::<Vec<_>>(),
        ["laptop remember refused", "laptop forget refused", "laptop remember ok", "operator keys create ok"],
        "{entries:?}"
    );
    assert_eq!(entries[2]["ids"], json!([id]));
    assert_eq!(entries[1]["ids"], json!(["art_000000000000"]), "what was named, though it is nowhere");
    assert_eq!((&entries[2]["namespace"], &entries[2]["key_id"]), (&json!("default"), &json!(key[4..16])));
    assert_eq!(entries[3]["ids"], json!([key[4..16]]));
    assert_eq!(audit(&data_dir, &["--by", "laptop", "--id", &id]).await.len(), 1);
    let number = entries[2]["number"].to_string();
    assert_eq!(audit(&data_dir, &["--before", &number]).await.len(), 1);
    let mut conn = PgConnection::connect(&data_dir.database_url()).await.expect("the database answers");
    let rows: Vec<String> =
        sqlx::query_scalar("select e::text from audit_entry e").fetch_all(&mut conn).await.expect("rows");
    assert!(rows.iter().all(|row| !row.contains("spare") && !row.contains("blue")), "{rows:?}");
    let shown = data_dir.run(&["audit"]).await.stdout;
    assert!(shown.contains("remember in default: ok") && shown.contains(&id), "{shown}");
}

#[tokio::test]
async fn where_reads_are_recorded_it_is_known_which_key_was_shown_a_text() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_AUDIT", "all").env("REMEMBRANCER_TOKEN", "a-token-of-thirty-two-characters");
    let server = Server::start_with(command).await;
    let token = "a-token-of-thirty-two-characters";
    let kept = ask(&server, "", token, &call("remember", json!({"content": CONTENT}))).await;
    let id = kept["result"]["structuredContent"]["id"].as_str().expect("an id").to_owned();
    for name in ["one", "two"] {
        let key = new_key(&data_dir, name, "reader", &[]).await;
        let query = if name == "one" { json!({"query": "spare key"}) } else { json!({"id": id}) };
        ask(&server, "", &key, &call("recall", query)).await;
        ask(&server, "", &key, &method("resources/read", json!({"uri": "memory://knowledge-graph"}))).await;
    }
    let readers = audit(&data_dir, &["--action", "recall", "--id", &id]).await;
    assert_eq!(readers.iter().map(brief).collect::<Vec<_>>(), ["two recall ok", "one recall ok"]);
    assert_eq!(audit(&data_dir, &["--action", "resources/read"]).await.len(), 2);
    assert_eq!(audit(&data_dir, &["--by", "REMEMBRANCER_TOKEN"]).await.len(), 1);
}

#[tokio::test]
async fn records_go_when_their_days_are_over_and_where_it_is_off_none_are_made() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    new_key(&data_dir, "one", "reader", &[]).await;
    let mut conn = PgConnection::connect(&data_dir.database_url()).await.expect("the database answers");
    let aged = "update audit_entry set at = now() - interval '91 days'";
    assert_eq!(sqlx::query(aged).execute(&mut conn).await.expect("it is done").rows_affected(), 1);
    drop(conn);
    server.terminate().await;
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_AUDIT", "off");
    let server = Server::start_with(command).await;
    eventually("old records are gone", Duration::from_secs(60), async || {
        audit(&data_dir, &[]).await.is_empty()
    })
    .await;
    let key = new_key(&data_dir, "two", "writer", &[]).await;
    ask(&server, "", &key, &call("remember", json!({"content": CONTENT}))).await;
    let entries = audit(&data_dir, &[]).await;
    assert!(entries.iter().all(|entry| entry["who"] == "operator"), "{entries:?}");
}
