//! What agents send in another shape than they should, and the answers.

use memory_tests::process::{DataDir, Server};
use serde_json::{Value, json};

fn sound(name: &str, relations: &Value) -> Value {
    json!({"name": name, "entityType": "Service", "observations": ["Some fact about it"], "relations": relations,
           "isRoot": true})
}

#[tokio::test]
async fn every_fault_of_shape_is_told_by_its_place_and_none_as_an_error_of_validation() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let wrong = json!([{"target": "B", "type": "uses"}]);
    for (arguments, needles) in [
        (json!({"entities": [sound("A", &json!([]))]}), vec!["threadId: it is missing"]),
        (json!({"entities": [sound("A", &json!([]))], "threadId": ""}), vec!["threadId: it is empty"]),
        (json!({"entities": [sound("A", &json!([]))], "threadId": "file:/x"}), vec!["'file:' is kept"]),
        (json!({"entities": [5], "threadId": "t"}), vec!["entities[0]: 5 is a number"]),
        (
            json!({"entities": [sound("A", &wrong), {"name": "B", "confidence": "high", "isRoot": "yes",
            "observations": [null]}], "threadId": "t"}),
            vec![
                "Did you mean targetEntity?",
                "Did you mean relationType?",
                "entities[1].confidence: 'high' is a text",
                "entities[1].isRoot",
                "entities[1].observations[0]: it is null",
            ],
        ),
        (
            json!({"threadId": "t", "thread": 1}),
            vec!["entities: it is missing", "thread: there is no such key"],
        ),
    ] {
        let (saved, is_error) = server.call("save_memory", arguments.clone()).await;
        assert!(is_error && saved["success"] == false && saved["validation_errors"].is_array(), "{saved}");
        let (validated, is_error) = server.call("validate_memory", arguments).await;
        assert!(!is_error && validated["all_valid"] == false, "{validated}");
        for needle in needles {
            assert!(saved.to_string().contains(needle), "{needle}: {saved}");
            assert!(validated.to_string().contains(needle), "{needle}: {validated}");
        }
        assert!(!saved.to_string().contains("struct"), "{saved}");
    }
    assert_eq!(server.ask("list_entities", json!({"threadId": "t"})).await["entities"], json!([]));
}

#[tokio::test]
async fn a_name_is_found_as_it_was_sent_and_a_relation_by_its_latest_importance() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let related = |importance: f64| {
        let relation = json!([{"targetEntity": "B", "relationType": "uses", "importance": importance}]);
        json!({"entities": [sound(" A ", &relation), sound("B", &json!([]))], "threadId": "t"})
    };
    let saved = server.ask("save_memory", related(0.2)).await;
    assert_eq!(saved["entity_ids"][" A "], saved["entity_ids"]["A"]);
    assert!(saved["warnings"].to_string().contains("spaces at the ends"), "{saved}");
    let importance = async || {
        let path = server.ask("find_relation_path", json!({"from": "A", "to": "B", "threadId": "t"})).await;
        path["path"][0]["importance"].clone()
    };
    assert_eq!(importance().await, 0.2);
    let again = server.ask("save_memory", related(0.9)).await;
    assert_eq!((&again["created"]["relations"], importance().await), (&json!(0), json!(0.9)));
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused_by_the_tools_that_look_over_a_graph() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server
        .ask(
            "save_memory",
            json!({"entities": [sound("A", &json!([])), sound("G", &json!([]))], "threadId": "t"}),
        )
        .await;
    for ranges in [
        json!({"minConfidence": 0.9, "maxConfidence": 0.1}),
        json!({"minImportance": 0.9, "maxImportance": 0.1}),
        json!({"createdFrom": "2026-03-01", "createdTo": "2026-02-01"}),
    ] {
        let (refused, is_error) = server.call("query_nodes", ranges).await;
        assert!(is_error && refused["error"].as_str().is_some_and(|e| e.contains("Swap them")), "{refused}");
    }
    let history = server.ask("get_observation_history", json!({"entityName": "A", "threadId": "t"})).await;
    let update = |content: String| json!({"entityName": "A", "observationId": history["observations"][0]["id"], "content": content, "threadId": "t"});
    for content in [String::new(), "x".repeat(100_001)] {
        let (refused, is_error) = server.call("update_observation", update(content)).await;
        assert!(
            is_error && refused["error"].as_str().is_some_and(|e| e.starts_with("Invalid content")),
            "{refused}"
        );
    }
    // A path stops at a name without an entity, and says so.
    let through = json!({"relations": [{"from": "A", "to": "X", "relationType": "to"},
        {"from": "X", "to": "G", "relationType": "to"}], "threadId": "t"});
    server.ask("create_relations", through).await;
    let path = server.ask("find_relation_path", json!({"from": "A", "to": "G", "threadId": "t"})).await;
    assert!(path["note"].as_str().is_some_and(|note| note.contains("no entity has, such as 'X'")), "{path}");
    // What is only related to itself stands alone.
    let alone = json!({"entities": [{"name": "S", "entityType": "Thing"}], "threadId": "t"});
    server.ask("create_entities", alone).await;
    let before = server.ask("get_analytics", json!({"threadId": "t"})).await;
    assert_eq!(before["recent_changes"][0]["entityName"], "S");
    let itself = json!({"relations": [{"from": "S", "to": "S", "relationType": "is"}], "threadId": "t"});
    server.ask("create_relations", itself).await;
    let known = json!({"relations": [{"from": "A", "to": "G", "relationType": "knows"}], "threadId": "t"});
    server.ask("create_relations", known).await;
    let figures = server.ask("get_analytics", json!({"threadId": "t"})).await;
    let orphans: Vec<&Value> = figures["orphaned_entities"].as_array().expect("a list").iter().collect();
    assert!(orphans.iter().any(|o| o["entityName"] == "S" && o["reason"] == "no_relations"), "{figures}");
    let newest: Vec<&str> = figures["recent_changes"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|c| c["entityName"].as_str())
        .collect();
    assert_eq!(newest[..2], ["A", "S"], "{figures}");
    assert_eq!(figures["recent_changes"][0]["changeType"], "updated");
}

#[tokio::test]
async fn a_cursor_tells_nothing_of_other_namespaces_and_those_of_before_are_refused() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let many: Vec<Value> = (0..5).map(|n| json!({"name": format!("e{n}"), "entityType": "t"})).collect();
    server.ask("create_entities", json!({"entities": many})).await;
    let first = server.ask("read_graph", json!({"limit": 2})).await;
    let cursor = first["next_cursor"].as_str().expect("a cursor").to_owned();
    assert!(cursor.starts_with("page_") && !cursor.contains(':'), "{cursor}");
    for (tool, cursor) in
        [("read_graph", "after:2:2"), ("list_entities", "after:2:2"), ("query_nodes", "page_00")]
    {
        let (refused, is_error) = server.call(tool, json!({"cursor": cursor})).await;
        assert!(
            is_error && refused["error"].as_str().is_some_and(|e| e.contains("next_cursor")),
            "{refused}"
        );
    }
    let listed = server.ask("list_entities", json!({"cursor": cursor})).await;
    assert_eq!(listed["entities"][0]["name"], "e2");
}
