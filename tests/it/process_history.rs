//! `import --from`: history of other programs, with its times and speakers, stored once.

use std::path::{Path, PathBuf};

use memory_tests::process::{DataDir, Ran, Server};
use serde_json::json;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/history").join(name)
}

#[tokio::test]
async fn a_conversation_comes_along_once_with_its_times_and_speakers() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let file = sample("chatgpt.json").to_string_lossy().into_owned();
    let dry = data_dir.run(&["import", "--from", "chatgpt", &file, "--dry-run", "--json"]).await.json();
    assert_eq!(
        (&dry["turns"], &dry["conversations"], &dry["created"]),
        (&json!(4), &json!(2), &json!(0)),
        "{dry}"
    );
    assert_eq!(dry["unreadable"].as_array().map(Vec::len), Some(1), "{dry}");
    assert!(dry["unreadable"][0].as_str().expect("a line").contains("chatgpt.json:37"), "{dry}");
    let of = async |id: &str| server.ask("recall", json!({"conversation_id": id})).await["turns"].clone();
    assert_eq!(of("chatgpt:c-1").await, json!([]), "a dry run stored something");

    let done = data_dir.run(&["import", "--from", "chatgpt", &file, "--tag", "old", "--json"]).await.json();
    assert_eq!((&done["created"], &done["failed"]), (&json!(4), &json!([])), "{done}");
    let turns = of("chatgpt:c-1").await;
    assert_eq!(turns.as_array().map(Vec::len), Some(3), "{turns}");
    assert_eq!(
        (&turns[1]["role"], &turns[1]["ts"]),
        (&json!("assistant"), &json!("2025-03-01T09:00:20Z")),
        "{turns}"
    );
    let again = data_dir.run(&["import", "--from", "chatgpt", &file, "--tag", "old", "--json"]).await.json();
    assert_eq!((&again["created"], &again["unchanged"]), (&json!(0), &json!(4)), "{again}");
    let found = server.ask("recall", json!({"query": "Where is the offsite?", "tags": ["old"]})).await;
    assert_eq!(found["results"][0]["conversation_id"], "chatgpt:c-1", "{found}");
}

#[tokio::test]
async fn every_format_is_imported_and_notes_keep_their_links() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    for (format, name, texts) in [
        ("claude", "claude.json", 2),
        ("opencode", "opencode.json", 2),
        ("mem0", "mem0.json", 1),
        ("zep", "zep.json", 3),
        ("mcp-memory-service", "mcp-memory-service.json", 1),
        ("basic-memory", "note.md", 1),
    ] {
        let file = sample(name).to_string_lossy().into_owned();
        let done = data_dir.run(&["import", "--from", format, &file, "--json"]).await.json();
        assert_eq!((&done["created"], &done["failed"]), (&json!(texts), &json!([])), "{format}: {done}");
    }
    let graph = server.ask("open_nodes", json!({"names": ["Coffee brewing"]})).await;
    assert!(graph["relations"].to_string().contains("contrasts_with"), "{graph}");

    let lines = data_dir.path().join("memory.jsonl");
    std::fs::write(
        &lines,
        "{\"type\":\"entity\",\"name\":\"Zoe\",\"entityType\":\"person\",\"observations\":[\"Sails\"]}\n",
    )
    .expect("a file");
    let lines = lines.to_string_lossy().into_owned();
    assert!(data_dir.run(&["import", "--from", "server-memory", &lines]).await.status.success());
    assert!(server.ask("open_nodes", json!({"names": ["Zoe"]})).await.to_string().contains("Sails"));
    for arguments in [&["import", "--from", "chatgpt"][..], &["import", "--from", "chatgpt", "/no/such/file"]]
    {
        assert!(!data_dir.run(arguments).await.refusal().is_empty());
    }
}

#[tokio::test]
async fn an_import_into_a_memory_that_is_away_ends_and_says_why_once_for_all() {
    let data_dir = DataDir::warm();
    let memories: Vec<_> = (0..300)
        .map(|n| json!({"id": format!("m{n}"), "memory": format!("Ship {n} lies at the quay.")}))
        .collect();
    let file = data_dir.path().join("memories.json");
    std::fs::write(&file, json!({ "results": memories }).to_string()).expect("it is written");
    let mut command = data_dir.command("remembrancer");
    command.args([
        "import",
        "--from",
        "mem0",
        "--json",
        "--database-url",
        "postgres://nobody@127.0.0.1:1/none",
    ]);
    let ran = Ran::of(command.arg(&file)).await;
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    let said = ran.json();
    let failed = said["failed"].as_array().expect("reasons").len();
    assert!((20..100).contains(&failed) && said["stopped"] == true, "{said}");
    assert!(said["failed"][0].as_str().expect("a reason").contains("not available"), "{said}");
}
