//! However large a graph is, no answer that was not asked for a number is larger than a client can take.

use memory_tests::process::{DataDir, Server};
use serde_json::{Value, json};

/// About 50,000 tokens; the answer is there once as text and once as structure.
const TEXT_BYTES_MAX: usize = 200_000;

async fn have(server: &Server, name: &str, observations: &[String]) {
    let entity = |observations: &[String]| json!([{"name": name, "entityType": "Thing", "observations": observations}]);
    server.ask("create_entities", json!({"entities": entity(&observations[..1])})).await;
    for part in observations[1..].chunks(4_000) {
        server
            .ask("add_observations", json!({"observations": [{"entityName": name, "contents": part}]}))
            .await;
    }
}

async fn a_large_graph(server: &Server) {
    let notes: Vec<String> =
        (0..8_000).map(|n| format!("Note {n} of the user about the thing number {n}")).collect();
    have(server, "default_user", &notes).await;
    let long: Vec<String> = (0..30).map(|n| format!("{n} {}", "long text ".repeat(9_999))).collect();
    have(server, "library", &long).await;
    let names: Vec<Value> = (0..30)
        .map(|n| json!({"name": format!("{n}{}", "n".repeat(60_000)), "entityType": "Thing"}))
        .collect();
    server.ask("create_entities", json!({"entities": names})).await;
    a_hub(server).await;
}

async fn a_hub(server: &Server) {
    let spokes: Vec<Value> = (0..5_000)
        .map(|n| json!({"from": format!("spoke {n}"), "to": "hub", "relationType": "belongs to"}))
        .collect();
    server.ask("create_relations", json!({"relations": spokes})).await;
    have(server, "hub", &["Is the hub".to_owned()]).await;
}

#[tokio::test]
async fn no_default_answer_of_a_graph_tool_is_larger_than_its_ceiling() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    a_large_graph(&server).await;
    let wrong: Vec<Value> = (0..1_000)
        .map(|n| json!({"name": format!("E{n}"), "entityType": "Thing", "observations": vec![""; 60]}))
        .collect();
    let far = json!({"from": "library", "to": "hub"});
    for (tool, arguments) in [
        ("read_graph", json!({})),
        ("read_graph", json!({"detail": "summary"})),
        ("read_graph", json!({"detail": "names"})),
        ("search_nodes", json!({"query": "default_user"})),
        ("search_nodes", json!({"query": "hub"})),
        ("search_nodes", json!({"query": "library"})),
        ("search_nodes", json!({"query": ""})),
        ("open_nodes", json!({"names": ["default_user", "library", "hub"]})),
        ("open_nodes", json!({"names": ["hub"]})),
        ("list_entities", json!({})),
        ("query_nodes", json!({})),
        ("query_nodes", json!({"minImportance": 0.1})),
        ("get_analytics", json!({})),
        ("find_relation_path", far),
        ("suggest_merges", json!({})),
        ("briefing", json!({})),
        ("get_observation_history", json!({"entityName": "default_user"})),
        ("get_observation_history", json!({"entityName": "library"})),
        ("save_memory", json!({"entities": wrong, "threadId": "default"})),
        ("validate_memory", json!({"entities": wrong, "threadId": "default"})),
        ("save_memory", json!({"entities": vec![5; 1_000], "threadId": "default"})),
        ("recall", json!({"query": "long text of the library"})),
    ] {
        let result = server.try_call(tool, arguments.clone()).await.expect("it is answered");
        let bytes: usize = result["content"]
            .as_array()
            .expect("content")
            .iter()
            .filter_map(|c| c["text"].as_str())
            .map(str::len)
            .sum();
        println!("{tool}: {bytes} bytes of text");
        let arguments: String = arguments.to_string().chars().take(100).collect();
        assert!(bytes <= TEXT_BYTES_MAX, "{tool} {arguments}: {bytes} bytes");
        assert!(result["structuredContent"].to_string().len() <= TEXT_BYTES_MAX, "{tool} {arguments}");
    }
    for (name, all) in [("default_user", 8_000), ("library", 30)] {
        let opened = server.ask("open_nodes", json!({"names": [name]})).await;
        assert_eq!(opened["entities"][0]["observationCount"], all, "{name}");
        let note = opened["note"].as_str().expect("a note");
        assert!(note.contains(name) && note.contains("get_observation_history"), "{note}");
        let (mut seen, mut cursor) = (0, Value::Null);
        loop {
            let page =
                server.ask("get_observation_history", json!({"entityName": name, "cursor": cursor})).await;
            seen += page["observations"].as_array().expect("a list").len();
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(seen, all, "the note leads to all of them");
    }
    // What the query meets is shown before what is newer.
    let found = server.ask("search_nodes", json!({"query": "thing number 17"})).await;
    let shown = found["entities"][0]["observations"].as_array().expect("a list");
    assert!(shown.contains(&json!("Note 17 of the user about the thing number 17")));
    assert!(shown.len() >= 500, "{}", shown.len());
}

#[tokio::test]
async fn the_relations_of_a_hub_come_page_by_page_each_once() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    a_hub(&server).await;
    for (tool, arguments) in [
        ("search_nodes", json!({"query": "is the hub"})),
        ("open_nodes", json!({"names": ["hub"]})),
        ("read_graph", json!({"detail": "names"})),
    ] {
        let (mut seen, mut pages, mut cursor) = (std::collections::BTreeSet::new(), 0, Value::Null);
        loop {
            let mut asked = arguments.clone();
            asked["cursor"] = cursor;
            let page = server.ask(tool, asked).await;
            for relation in page["relations"].as_array().expect("a list") {
                assert!(seen.insert(relation["from"].to_string()), "{tool}: {relation} came twice");
            }
            cursor = page["next_cursor"].clone();
            pages += 1;
            if cursor.is_null() {
                break;
            }
            assert!(
                page["note"].as_str().is_some_and(|note| note.contains(cursor.as_str().expect("a text")))
            );
        }
        assert_eq!(seen.len(), 5_000, "{tool}");
        assert!(pages >= 5, "{tool}: {pages} pages");
    }
}
