//! The nine graph tools on the wire, where clients of the reference memory server find what they know.

use memory_tests::process::{DataDir, Server, StdioHost};
use serde_json::{Value, json};

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("a text")
}

/// A tool, its arguments, and the text and JSON of its answer.
type Step = (&'static str, Value, String, Value);

fn told(message: &str) -> (String, Value) {
    (message.to_owned(), json!({"success": true, "message": message}))
}

fn story() -> Vec<Step> {
    let alice =
        json!({"name": "Alice", "entityType": "person", "observations": ["Is a \"student\"", "Likes\ttea"]});
    let alice_text = "{\n    \"name\": \"Alice\",\n    \"entityType\": \"person\",\n    \"observations\": [\n      \
                      \"Is a \\\"student\\\"\",\n      \"Likes\\ttea\"\n    ]\n  }";
    let knows = json!({"from": "Alice", "to": "Bob", "relationType": "knows"});
    let knows_text =
        "{\n    \"from\": \"Alice\",\n    \"to\": \"Bob\",\n    \"relationType\": \"knows\"\n  }";
    let graph = |entities: &str, relations: &str| {
        let indented = |list: &str| list.replace('\n', "\n  ");
        format!("{{\n  \"entities\": {},\n  \"relations\": {}\n}}", indented(entities), indented(relations))
    };
    let alices = format!("[\n  {alice_text}\n]");
    let all_know = format!("[\n  {knows_text}\n]");
    let (entities, observations, relations) = (
        told("Entities deleted successfully"),
        told("Observations deleted successfully"),
        told("Relations deleted successfully"),
    );
    let found = json!({"entities": [alice], "relations": [knows]});
    let nothing = json!({"entities": [], "relations": []});
    vec![
        ("read_graph", json!({}), graph("[]", "[]"), nothing.clone()),
        ("create_entities", json!({"entities": [alice]}), alices.clone(), json!({"entities": [alice]})),
        ("create_entities", json!({"entities": [alice]}), "[]".to_owned(), json!({"entities": []})),
        (
            "create_entities",
            json!({"entities": [{"name": "Bob", "entityType": "person", "id": 7}]}),
            "[\n  {\n    \"name\": \"Bob\",\n    \"entityType\": \"person\",\n    \"observations\": []\n  }\n]".to_owned(),
            json!({"entities": [{"name": "Bob", "entityType": "person", "observations": []}]}),
        ),
        ("create_relations", json!({"relations": [knows]}), all_know.clone(), json!({"relations": [knows]})),
        ("create_relations", json!({"relations": [knows]}), "[]".to_owned(), json!({"relations": []})),
        (
            "add_observations",
            json!({"observations": [{"entityName": "Bob", "contents": ["Sings", "Sings"]}]}),
            "[\n  {\n    \"entityName\": \"Bob\",\n    \"addedObservations\": [\n      \"Sings\"\n    ]\n  }\n]".to_owned(),
            json!({"results": [{"entityName": "Bob", "addedObservations": ["Sings"]}]}),
        ),
        (
            "delete_observations",
            json!({"deletions": [{"entityName": "Bob", "observations": ["Sings"]}]}),
            observations.0,
            observations.1,
        ),
        ("search_nodes", json!({"query": "STUDENT"}), graph(&alices, &all_know), found.clone()),
        ("open_nodes", json!({"names": ["Alice", "Nobody"]}), graph(&alices, &all_know), found),
        ("delete_relations", json!({"relations": [knows]}), relations.0, relations.1),
        ("delete_entities", json!({"entityNames": ["Bob", "Nobody"]}), entities.0, entities.1),
        ("read_graph", json!({}), graph(&alices, "[]"), json!({"entities": [alice], "relations": []})),
        ("search_nodes", json!({"query": "xyz"}), graph("[]", "[]"), nothing),
    ]
}

#[tokio::test]
async fn texts_and_structured_answers_are_those_of_the_reference_server_over_http_and_stdio() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_NAMESPACE", "stdio");
    let mut host = StdioHost::start(command);
    host.initialize().await;
    for (tool, arguments, expected, structured) in story() {
        for result in [
            server.try_call(tool, arguments.clone()).await.expect("it is answered"),
            host.call(tool, arguments.clone()).await,
        ] {
            assert_eq!(result["isError"], false, "{tool}: {result}");
            assert_eq!(text(&result), expected, "{tool} {arguments}");
            assert_eq!(result["structuredContent"], structured, "{tool} {arguments}");
            assert_eq!(result["content"].as_array().map(Vec::len), Some(1));
        }
    }
}

#[tokio::test]
async fn titles_and_hints_are_those_of_the_reference_server() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let answer = server.try_post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    let answer = answer.expect("it is answered");
    let tools = answer["result"]["tools"].as_array().expect("tools");
    for (name, title, arguments, hints) in [
        ("create_entities", "Create Entities", vec!["entities"], [false, false, false]),
        ("create_relations", "Create Relations", vec!["relations"], [false, false, false]),
        ("add_observations", "Add Observations", vec!["observations"], [false, false, false]),
        ("delete_entities", "Delete Entities", vec!["entityNames"], [false, true, true]),
        ("delete_observations", "Delete Observations", vec!["deletions"], [false, true, true]),
        ("delete_relations", "Delete Relations", vec!["relations"], [false, true, true]),
        ("read_graph", "Read Graph", vec![], [true, false, true]),
        ("search_nodes", "Search Nodes", vec!["query"], [true, false, true]),
        ("open_nodes", "Open Nodes", vec!["names"], [true, false, true]),
    ] {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(tool["title"], title);
        let hint = |hint: &str| tool["annotations"][hint].as_bool().expect("a hint");
        assert_eq!(["readOnlyHint", "destructiveHint", "idempotentHint"].map(hint), hints, "{name}");
        assert!(!hint("openWorldHint"));
        let required = tool["inputSchema"]["required"].as_array().cloned().unwrap_or_default();
        assert_eq!(required, arguments, "{name}");
        assert_eq!(tool["inputSchema"]["properties"]["threadId"]["type"], "string", "{name}");
    }
}

#[tokio::test]
async fn a_large_graph_says_what_is_left_out_and_how_to_get_it() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let entities: Vec<Value> = (0..1_203)
        .map(|n| json!({"name": format!("node{n}"), "entityType": "t", "observations": ["first", "second"]}))
        .collect();
    server.ask("create_entities", json!({"entities": entities})).await;
    let first = server.ask("read_graph", json!({})).await;
    assert_eq!(first["entities"].as_array().map(Vec::len), Some(200));
    let note = first["note"].as_str().expect("a note");
    assert!(note.starts_with("Showing entities 1–200 of 1,203."), "{note}");
    let cursor = first["next_cursor"].as_str().expect("a cursor");
    assert!(note.contains(cursor), "{note}");
    let last = server.ask("read_graph", json!({"cursor": cursor, "limit": 1000})).await;
    assert_eq!(last["entities"].as_array().map(Vec::len), Some(1_000));
    assert!(last["note"].as_str().is_some_and(|n| n.starts_with("Showing entities 201–1,200 of 1,203.")));
    let end = server.ask("read_graph", json!({"cursor": last["next_cursor"]})).await;
    assert_eq!(end["entities"][2]["name"], "node1202");
    assert_eq!(end.as_object().map(serde_json::Map::len), Some(2), "{end}");
    let search = server.ask("search_nodes", json!({"query": "NODE", "limit": 2, "detail": "names"})).await;
    assert_eq!(search["entities"][1], json!({"name": "node1", "entityType": "t"}));
    assert!(search["note"].as_str().is_some_and(|n| n.starts_with("Showing entities 1–2, there are more.")));
    let result = server
        .try_call("read_graph", json!({"limit": "1", "detail": "summary"}))
        .await
        .expect("it is answered");
    assert!(
        text(&result).starts_with(
            "{\n  \"entities\": [\n    {\n      \"name\": \"node0\",\n      \"entityType\": \"t\",\n      \
             \"observations\": [\n        \"first\"\n      ],\n      \"observationCount\": 2\n    }\n  ],\n  \
             \"relations\": [],\n  \"next_cursor\": \"page_"
        ),
        "{result}"
    );
}

#[tokio::test]
async fn a_thread_is_a_graph_of_its_own_and_the_default_one_has_a_name() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let create = |thread: Value| json!({"entities": [{"name": "Alice", "entityType": "person", "observations": []}], "threadId": thread});
    for (thread, created) in [(json!("default"), 1), (json!(""), 0), (Value::Null, 0), (json!("other"), 1)] {
        let answer = server.ask("create_entities", create(thread.clone())).await;
        assert_eq!(answer["entities"].as_array().map(Vec::len), Some(created), "{thread}");
    }
    server.ask("delete_entities", json!({"entityNames": ["Alice"], "threadId": "other"})).await;
    let other = server.ask("read_graph", json!({"threadId": "other"})).await;
    assert_eq!(other["entities"], json!([]));
    assert_eq!(server.ask("open_nodes", json!({"names": ["Alice"]})).await["entities"][0]["name"], "Alice");
    let counts = server.ask("status", json!({})).await["counts"].clone();
    assert_eq!(
        [&counts["graph_entities"], &counts["graph_relations"], &counts["graph_observations"]],
        [1, 0, 0]
    );
}

#[tokio::test]
async fn an_unknown_entity_is_refused_in_the_words_of_the_reference_server_with_what_to_do_beside_them() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let add = async |name: &str| {
        let additions = json!({"observations": [{"entityName": name, "contents": ["sings"]}]});
        let (answer, is_error) = server.call("add_observations", additions).await;
        assert!(is_error, "{answer}");
        assert_eq!(answer["error"], format!("Entity with name {name} not found"));
        answer["hint"].as_str().expect("a hint").to_owned()
    };
    let hint = add("Alice Chen").await;
    assert!(hint.contains("create_entities") && !hint.contains("Did you mean"), "{hint}");
    let entities = json!({"entities": [{"name": "Alice Chen", "entityType": "person", "observations": []}]});
    server.ask("create_entities", entities).await;
    let hint = add("alice chen").await;
    assert!(hint.contains("Did you mean 'Alice Chen'?") && hint.contains("create_entities"), "{hint}");
}

#[tokio::test]
async fn graph_arguments_are_mended_and_what_cannot_be_is_refused_with_a_reason() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let mended = server
        .ask(
            "create_entities",
            json!({"entities": "[{\"name\": \"A\", \"entityType\": \"t\", \"observations\": \"[\\\"x\\\", \\\"y\\\"]\"}]"}),
        )
        .await;
    assert_eq!(mended["entities"], json!([{"name": "A", "entityType": "t", "observations": ["x", "y"]}]));
    let opened = server.ask("open_nodes", json!({"names": "A", "threadId": null})).await;
    assert_eq!(opened["entities"].as_array().map(Vec::len), Some(1));
    for (tool, arguments, needle) in [
        (
            "add_observations",
            json!({"observations": [{"entityName": "A", "contents": ["z"]}, {"entityName": "B", "contents": ["z"]}]}),
            "Entity with name B not found",
        ),
        ("create_entities", json!({}), "entities"),
        ("create_entities", json!({"entities": [{"name": "B"}]}), "entityType"),
        ("create_entities", json!({"entities": [], "thread_id": "x"}), "thread_id"),
        ("create_entities", json!({"entities": [], "threadId": "file:/etc/passwd"}), "file:"),
        ("create_entities", json!({"entities": [{"name": "a\u{0}", "entityType": "t"}]}), "NUL"),
        ("add_observations", json!({"observations": [], "confidence": 1.5}), "1.5"),
        ("read_graph", json!({"limit": 0}), "limit 0"),
        ("read_graph", json!({"limit": 1001}), "1001"),
        ("read_graph", json!({"cursor": "from:3"}), "from:3"),
        ("search_nodes", json!({"query": "x", "detail": "everything"}), "names, summary, full"),
        ("search_nodes", json!({}), "query"),
        ("search_nodes", json!({"query": "\u{0}"}), "NUL"),
        ("open_nodes", json!({"names": [["A"]]}), "open_nodes"),
    ] {
        let result = server.try_call(tool, arguments.clone()).await.expect("it is answered");
        let reason = result["structuredContent"]["error"].as_str().expect("a reason");
        assert!(result["isError"] == true && reason.contains(needle), "{tool} {arguments}: {result}");
        assert_eq!(serde_json::from_str::<Value>(text(&result)).expect("JSON"), result["structuredContent"]);
    }
    let kept = server.ask("read_graph", json!({})).await;
    assert_eq!(kept["entities"], mended["entities"], "a refused call wrote something");
}
