//! The schemas of the tools are true: answers and refusals keep to them, and what must be given is said.

use std::collections::BTreeSet;

use memory_tests::process::{DataDir, Server};
use serde_json::{Value, json};

use crate::process_wire::{breaks, tools};

/// One call of each tool that succeeds, in an order in which it does.
pub(crate) fn calls() -> Vec<(&'static str, Value)> {
    let ann = json!({"name": "Ann", "entityType": "Person", "observations": ["Likes tea"]});
    let ben = json!({"name": "Ben", "entityType": "Person", "observations": ["Likes coffee"],
        "relations": [{"targetEntity": "Ann", "relationType": "knows"}]});
    let knows = json!({"relations": [{"from": "Ann", "to": "Ben", "relationType": "knows"}]});
    vec![
        (
            "remember",
            json!({"content": "Anna Kovács will send the budget to Ben Ortiz by 20 March 2026.", "title": "Budget",
                "author": "Anna Kovács", "source": "minutes", "source_id": "1", "tags": ["a"]}),
        ),
        ("recall", json!({"query": "budget", "explain": true, "detail": "full", "neighbours": 1})),
        ("status", json!({})),
        ("briefing", json!({"project": "atlas"})),
        ("create_entities", json!({"entities": [ann]})),
        ("save_memory", json!({"entities": [ben], "threadId": "default"})),
        ("validate_memory", json!({"entities": [ben], "threadId": "default"})),
        ("create_relations", knows.clone()),
        ("add_observations", json!({"observations": [{"entityName": "Ann", "contents": ["Has a dog"]}]})),
        ("read_graph", json!({"limit": 1})),
        ("search_nodes", json!({"query": "likes", "detail": "summary"})),
        ("open_nodes", json!({"names": ["Ann"]})),
        ("get_observation_history", json!({"entityName": "Ann"})),
        ("list_entities", json!({})),
        ("query_nodes", json!({"minConfidence": 0.5})),
        ("find_relation_path", json!({"from": "Ann", "to": "Ben"})),
        ("get_analytics", json!({})),
        ("suggest_merges", json!({})),
        ("delete_observations", json!({"deletions": [{"entityName": "Ann", "observations": ["Has a dog"]}]})),
        ("delete_relations", knows),
        ("delete_entities", json!({"entityNames": ["Ben"]})),
    ]
}

#[tokio::test]
async fn what_a_schema_says_an_answer_always_has_is_in_every_answer_and_refusals_fit_too() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let tools = tools(&server).await;
    let mut called = BTreeSet::new();
    let check = async |tool: &str, arguments: Value, succeeds: bool| {
        let schema = &tools.iter().find(|t| t["name"] == tool).expect("a tool")["outputSchema"];
        let (answer, is_error) = server.call(tool, arguments.clone()).await;
        assert!(!(succeeds && is_error), "{tool} {arguments}: {answer}");
        assert_eq!(breaks(schema, &answer, tool), Vec::<String>::new(), "{arguments}: {answer}");
        if succeeds {
            // All that always comes, not only an error.
            let always = &schema["anyOf"][0];
            assert!(always["required"].as_array().is_some_and(|names| !names.is_empty()), "{tool}");
            assert_eq!(breaks(always, &answer, tool), Vec::<String>::new(), "{arguments}: {answer}");
        }
        answer
    };
    for (tool, arguments) in calls() {
        check(tool, arguments, true).await;
        called.insert(tool);
    }
    server.settled().await;
    let found = check("recall", json!({"query": "budget"}), true).await;
    check("status", json!({"artifact_id": found["results"][0]["id"]}), true).await;
    let history = check("get_observation_history", json!({"entityName": "Ann"}), true).await;
    let observation = &history["observations"][0]["id"];
    let update = json!({"entityName": "Ann", "observationId": observation, "content": "Likes milk"});
    check("update_observation", update, true).await;
    check("forget", json!({"id": found["results"][0]["id"], "confirm": true}), true).await;
    called.extend(["update_observation", "forget"]);
    let all: BTreeSet<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(called, all, "a tool was not called with success");
    let wrong =
        [json!({"nonsense": 1}), json!({}), json!({"threadId": "file:/x"}), json!({"limit": -1, "id": "x"})];
    for tool in all {
        for arguments in &wrong {
            check(tool, arguments.clone(), false).await;
        }
    }
}

#[tokio::test]
async fn what_must_be_given_is_said_of_the_items_of_lists_too() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let tools = tools(&server).await;
    let input = |tool: &str| &tools.iter().find(|t| t["name"] == tool).expect("a tool")["inputSchema"];
    for (tool, list, required) in [
        ("save_memory", "entities", json!(["name", "entityType", "observations"])),
        ("validate_memory", "entities", json!(["name", "entityType", "observations"])),
        ("create_entities", "entities", json!(["name", "entityType", "observations"])),
        ("create_relations", "relations", json!(["from", "to", "relationType"])),
        ("add_observations", "observations", json!(["entityName", "contents"])),
        ("delete_observations", "deletions", json!(["entityName", "observations"])),
        ("delete_relations", "relations", json!(["from", "to", "relationType"])),
    ] {
        assert_eq!(input(tool)["properties"][list]["items"]["required"], required, "{tool}");
        assert!(
            input(tool)["required"].as_array().is_some_and(|names| names.contains(&json!(list))),
            "{tool}"
        );
    }
    let relation =
        &input("save_memory")["properties"]["entities"]["items"]["properties"]["relations"]["items"];
    assert_eq!(relation["required"], json!(["targetEntity", "relationType"]));
    // What is said to be needed is mended all the same where there is no doubt.
    let bare = json!({"entities": [{"name": "Ann", "entityType": "person"}]});
    let made = server.ask("create_entities", bare).await;
    assert_eq!(made["entities"][0]["observations"], json!([]));
}
