//! The authoring tools over the wire: what an assistant sends, and what it gets back.

use memory_tests::process::{DataDir, Server, StdioHost};
use serde_json::{Value, json};

fn service(name: &str, observations: &Value, relations: &Value) -> Value {
    json!({"name": name, "entityType": "Service", "observations": observations, "relations": relations})
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one story, read from its start to its end")]
async fn a_story_of_saves_is_told_as_a_client_needs_it() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let thread = "portfolio-update-2026";
    let entities = json!([
        {
            "name": "Andrii", "entityType": "Person", "importance": 1.0,
            "observations": ["Works at Google", "Author of MCP Memory Server", "Uses Windows"],
            "relations": [
                {"targetEntity": "Python Scripts", "relationType": "created"},
                {"targetEntity": "Portfolio", "relationType": "updates for"}
            ]
        },
        {
            "name": "Python Scripts", "entityType": "CodeArtifact", "importance": 0.6,
            "observations": ["update_portfolio.py is main script", "Uses python-docx 1.2.0", "Uses lxml 6.0.2"],
            "relations": [
                {"targetEntity": "Andrii", "relationType": "created by"},
                {"targetEntity": "Portfolio", "relationType": "modifies"}
            ]
        },
        {
            "name": "Portfolio", "entityType": "Document", "importance": 0.9,
            "observations": ["Final file: shevchenko-v4.docx", "Contains 2 main tables", "Total 21 records"],
            "relations": [
                {"targetEntity": "Python Scripts", "relationType": "modified by"},
                {"targetEntity": "Andrii", "relationType": "updated by"}
            ]
        }
    ]);
    let (validated, refused) =
        server.call("validate_memory", json!({"entities": entities, "threadId": thread})).await;
    assert!(!refused && validated["all_valid"] == json!(true), "{validated}");
    assert_eq!(validated["results"][1]["type"], "CodeArtifact");
    let saved = server.ask("save_memory", json!({"entities": entities, "threadId": thread})).await;
    assert_eq!(saved["success"], true);
    assert_eq!(saved["created"], json!({"entities": 3, "relations": 6}));
    assert_eq!(saved["warnings"], json!([]));
    assert_eq!(saved["quality_score"], 1.0);
    assert!(saved["entity_ids"]["Andrii"].as_str().is_some_and(|id| id.starts_with("ent_")), "{saved}");
    assert!(saved.get("validation_errors").is_none());
    // The nine tools see the same thread, and no other.
    let opened = server.ask("open_nodes", json!({"names": ["Portfolio"], "threadId": thread})).await;
    assert_eq!(opened["entities"][0]["observations"][1], "Contains 2 main tables");
    let elsewhere = server.ask("open_nodes", json!({"names": ["Portfolio"]})).await;
    assert_eq!(elsewhere["entities"], json!([]));

    let history = server
        .ask("get_observation_history", json!({"entityName": "Python Scripts", "threadId": thread}))
        .await;
    let old = history["observations"][1].clone();
    assert_eq!(old["content"], "Uses python-docx 1.2.0");
    let updated = server
        .ask(
            "update_observation",
            json!({"entityName": "Python Scripts", "observationId": old["id"],
            "content": "Uses python-docx 1.3.0", "threadId": thread}),
        )
        .await;
    assert_eq!(updated["observation"]["version"], 2);
    // A share has the digits that it was given.
    let weighed = json!({"entityName": "Python Scripts", "observationId": updated["observation"]["id"],
        "content": "Uses python-docx 1.4.0", "threadId": thread, "confidence": 0.9, "importance": 0.7});
    let weighed = server.ask("update_observation", weighed).await["observation"].clone();
    assert_eq!((&weighed["confidence"], &weighed["importance"]), (&json!(0.9), &json!(0.7)));
    assert_eq!(updated["observation"]["supersedes"], old["id"]);
    let chain = server
        .ask(
            "get_observation_history",
            json!({"entityName": "Python Scripts", "observationId": old["id"],
            "threadId": thread}),
        )
        .await;
    assert_eq!(chain["observations"][0]["superseded_by"], updated["observation"]["id"]);
    assert_eq!(chain["observations"][1]["threadId"], thread);

    let listed = server.ask("list_entities", json!({"threadId": thread, "namePattern": "port"})).await;
    assert_eq!(listed["entities"], json!([{"name": "Portfolio", "entityType": "Document"}]));
    let queried = server.ask("query_nodes", json!({"threadId": thread, "minImportance": 0.8})).await;
    let names: Vec<&Value> =
        queried["entities"].as_array().expect("a list").iter().map(|e| &e["name"]).collect();
    assert_eq!(names, ["Andrii", "Portfolio"]);
    let path = server
        .ask("find_relation_path", json!({"from": "Andrii", "to": "Portfolio", "threadId": thread}))
        .await;
    assert_eq!((&path["found"], &path["length"]), (&json!(true), &json!(1)));
    let analytics = server.ask("get_analytics", json!({"threadId": thread})).await;
    assert_eq!(analytics["top_important"][0]["entityName"], "Andrii");
    assert_eq!(analytics["most_connected"][0]["relationCount"], 4);
    assert_eq!(analytics["recent_changes"][0]["changeType"], "updated");
    assert_eq!(analytics["orphaned_entities"], json!([]));
    let merges = server.ask("suggest_merges", json!({"threadId": thread})).await;
    assert_eq!(merges["suggestions"], json!([]));
}

#[tokio::test]
async fn a_refused_save_is_an_error_that_tells_every_problem_and_stores_nothing() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let entities = json!([
        service("Valid1", &json!(["Good fact"]), &json!([{"targetEntity": "Invalid", "relationType": "uses"}])),
        service("Invalid", &json!([""]), &json!([{"targetEntity": "Valid1", "relationType": "uses"}])),
        service("Long", &json!(["a".repeat(301)]), &json!([])),
        {"observations": ["No name"], "relations": null}
    ]);
    let arguments = json!({"entities": entities, "threadId": "t"});
    let (refusal, refused) = server.call("save_memory", arguments.clone()).await;
    assert!(refused);
    assert_eq!(refusal["success"], false);
    assert_eq!(refusal["created"], json!({"entities": 0, "relations": 0}));
    assert!(refusal["hint"].as_str().is_some_and(|hint| hint.contains("retry")), "{refusal}");
    let errors = refusal["validation_errors"].as_array().expect("a list");
    let indexes: Vec<&Value> = errors.iter().map(|error| &error["entity_index"]).collect();
    assert_eq!(indexes, [1, 2, 3]);
    assert_eq!(errors[0]["entity_name"], "Invalid");
    assert!(errors[0]["errors"][0].as_str().is_some_and(|e| e.starts_with("Observation 0: Cannot be empty")));
    let issue = &errors[1]["observation_issues"][0];
    assert_eq!(issue["observation"].as_str().map(|o| o.chars().count()), Some(51));
    assert!(issue["issue"].as_str().is_some_and(|i| i.contains("301")), "{issue}");
    assert_eq!(errors[2]["entity_name"], "unknown");
    // The dry run is no error, and its words are the same.
    let (validated, refused) = server.call("validate_memory", arguments).await;
    assert!(!refused && validated["all_valid"] == json!(false), "{validated}");
    assert_eq!(validated["results"][1]["errors"], errors[0]["errors"]);
    let listed = server.ask("list_entities", json!({"threadId": "t"})).await;
    assert_eq!(listed["entities"], json!([]));
}

#[tokio::test]
async fn stricter_limits_are_a_setting() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command
        .env("REMEMBRANCER_OBSERVATION_MAX_CHARS", "150")
        .env("REMEMBRANCER_OBSERVATION_MAX_SENTENCES", "2");
    let server = Server::start_with(command).await;
    let mut long = service("A", &json!(["b".repeat(151), "One. Two. Three."]), &json!([]));
    long["isRoot"] = json!(true);
    let (refusal, refused) = server.call("save_memory", json!({"entities": [long], "threadId": "t"})).await;
    assert!(refused);
    let errors = refusal["validation_errors"][0]["errors"].to_string();
    assert!(errors.contains("151 characters, at most 150") && errors.contains("3, at most 2"), "{errors}");
}

#[tokio::test]
async fn ten_hosts_saving_to_one_thread_at_once_lose_nothing() {
    let data_dir = DataDir::warm();
    let mut hosts = Vec::new();
    for _ in 0..10 {
        let mut host = StdioHost::start(data_dir.command("remembrancer"));
        host.initialize().await;
        hosts.push(host);
    }
    let root = json!({"name": "Hub", "entityType": "Hub", "observations": ["All meet here"], "relations": [], "isRoot": true});
    hosts[0].call("save_memory", json!({"entities": [root], "threadId": "shared"})).await;
    let mut saving = tokio::task::JoinSet::new();
    for (n, mut host) in hosts.into_iter().enumerate() {
        saving.spawn(async move {
            for m in 0..10 {
                let mut own = service(
                    &format!("S{n}-{m}"),
                    &json!([format!("Made by {n}")]),
                    &json!([{"targetEntity": "Hub", "relationType": "meets at"}]),
                );
                own["importance"] = json!(0.4);
                let hub = service("Hub", &json!([format!("Seen by {n} in round {m}")]), &json!([]));
                let answer =
                    host.call("save_memory", json!({"entities": [own, hub], "threadId": "shared"})).await;
                assert_eq!(answer["structuredContent"]["success"], true, "{answer}");
            }
            host
        });
    }
    let mut hosts = saving.join_all().await;
    let answer = hosts[0].call("open_nodes", json!({"names": ["Hub"], "threadId": "shared"})).await;
    let opened = &answer["structuredContent"];
    assert_eq!(opened["entities"][0]["observations"].as_array().map(Vec::len), Some(101));
    assert_eq!(opened["relations"].as_array().map(Vec::len), Some(100));
}
