//! What stands in the logs: lines for machines, ids and durations, and nothing that is remembered.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use memory_tests::process::{DataDir, Ran, Server, StdioHost, eventually};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);
/// Stands in everything that is remembered and asked.
const MARKER: &str = "quokkaberry";

/// Every log below a folder, line by line.
fn lines_below(folder: &Path) -> Vec<String> {
    let mut files = vec![folder.join("test.log"), folder.join("postgres/log")];
    let run = std::fs::read_dir(folder.join("run")).expect("the folder is listed");
    files.extend(
        run.filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.to_string_lossy().contains(".log")),
    );
    let texts = files.iter().map(|file| std::fs::read(file).unwrap_or_default());
    texts
        .flat_map(|text| String::from_utf8_lossy(&text).lines().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// Calls of every kind, good and bad, all with the marker.
fn calls() -> Vec<(&'static str, Value)> {
    let text =
        format!("Anna {MARKER} will send the {MARKER} report by Friday. We decided to close {MARKER} hall.");
    let entity = json!({"name": MARKER, "entityType": MARKER, "observations": [text]});
    vec![
        (
            "remember",
            json!({"content": text, "title": MARKER, "author": MARKER, "tags": [MARKER], "source": MARKER, "source_id": MARKER}),
        ),
        ("remember", json!({"content": format!("{text} Again."), "source": MARKER, "source_id": MARKER})),
        ("remember", json!({"content": text, "conversation_id": MARKER, "turn_index": 0, "role": "user"})),
        ("remember", json!({"content": text, "context": MARKER})),
        ("remember", json!({"content": 7, "title": [MARKER]})),
        ("recall", json!({"query": format!("what does {MARKER} do?"), "explain": true})),
        ("recall", json!({"query": MARKER, "cursor": MARKER})),
        ("recall", json!({"id": format!("art_{MARKER}")})),
        ("recall", json!({"conversation_id": MARKER})),
        ("forget", json!({"id": MARKER, "confirm": true})),
        ("create_entities", json!({"entities": [entity]})),
        ("create_entities", json!({"entities": [entity, {"name": MARKER}]})),
        (
            "create_relations",
            json!({"relations": [{"from": MARKER, "to": "nobody", "relationType": MARKER}]}),
        ),
        ("add_observations", json!({"observations": [{"entityName": "nobody", "contents": [MARKER]}]})),
        ("search_nodes", json!({"query": MARKER})),
        (
            "save_memory",
            json!({"entities": [{"name": MARKER, "entityType": "Person", "observations": [MARKER]}]}),
        ),
        ("no_such_tool", json!({"query": MARKER})),
    ]
}

#[tokio::test]
async fn no_line_of_any_log_tells_what_is_remembered_however_much_is_logged() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("RUST_LOG", "trace").env("REMEMBRANCER_LOG_FORMAT", "json");
    let server = Server::start_with(command).await;
    for (tool, arguments) in calls() {
        let message = memory_tests::process::call(tool, arguments);
        assert!(server.try_post(&message).await.is_some(), "{tool} was not answered");
    }
    let broken = server.request().body(format!("{{\"jsonrpc\": \"2.0\", \"{MARKER}\": ")).send().await;
    assert!(broken.is_ok());
    server.settled().await;
    // The same over the local socket, by a host that logs as much.
    let mut command = data_dir.command("remembrancer");
    command.env("RUST_LOG", "trace").env("REMEMBRANCER_LOG_FORMAT", "json");
    let mut host = StdioHost::start(command);
    host.initialize().await;
    host.call("recall", json!({"query": MARKER})).await;
    assert!(host.close().await.success());
    server.terminate().await;
    let lines = lines_below(data_dir.path());
    assert!(lines.len() > 100, "only {} lines", lines.len());
    let telling: Vec<&String> =
        lines.iter().filter(|line| line.to_lowercase().contains(MARKER)).take(5).collect();
    assert!(telling.is_empty(), "{telling:#?}");
}

#[tokio::test]
async fn lines_for_machines_have_ids_and_durations() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command
        .env("REMEMBRANCER_LOG_FORMAT", "json")
        .env("RUST_LOG", "info,remembrancer=debug,memory_engine=debug");
    let server = Server::start_with(command).await;
    let kept = server.ask("remember", json!({"content": "Anna will send the report by Friday."})).await;
    server.settled().await;
    let log = || std::fs::read_to_string(data_dir.path().join("test.log")).expect("a log");
    eventually("the job is told", PATIENCE, async || log().contains("the job is done")).await;
    server.terminate().await;
    let parsed = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    let lines: Vec<Value> = log().lines().map(parsed).collect();
    let of = |message: &str| {
        let found = lines.iter().find(|line| line["message"] == message);
        found.unwrap_or_else(|| panic!("{message} is not in {lines:#?}")).clone()
    };
    let done = of("the job is done");
    assert!(done["duration_ms"].is_u64() && done["level"] == "INFO", "{done}");
    assert!(done["spans"][0]["job.id"].as_str().is_some_and(|id| id.starts_with("job_")), "{done}");
    assert_eq!(done["spans"][0]["job.kind"], "extract", "{done}");
    assert_eq!(of("read")["artifact.id"], kept["id"]);
    let answered = lines.iter().find(|line| line["tool"] == "remember").expect("the call is told");
    assert!(
        answered["artifact.id"] == kept["id"]
            && answered["outcome"] == "ok"
            && answered["duration_ms"].is_u64()
    );
    of("Ready.");
}

#[tokio::test]
async fn a_format_that_is_none_is_said_in_one_line() {
    let data_dir = DataDir::empty();
    let mut command = data_dir.command("remembrancer");
    let ran =
        Ran::of(command.env("REMEMBRANCER_LOG_FORMAT", "xml").arg("status").stderr(Stdio::piped())).await;
    assert!(
        ran.refusal().contains("REMEMBRANCER_LOG_FORMAT is \"xml\"") && ran.refusal().contains("json"),
        "{ran:?}"
    );
}
