//! What clients see of each tool, as a whole: its schemas, and an answer to a typical call. A change here is one of the
//! interface: look at it, then accept it with `INSTA_UPDATE=always`.

use jiff::Timestamp;
use memory_tests::process::{DataDir, Server};
use serde_json::{Value, json};

use crate::process_schemas::calls;
use crate::process_wire::tools;

#[tokio::test]
async fn the_schemas_of_the_tools_are_those_that_were_agreed() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    for tool in tools(&server).await {
        let name = tool["name"].as_str().expect("a name");
        insta::assert_json_snapshot!(format!("schema_{name}"), tool);
    }
}

#[tokio::test]
async fn typical_answers_are_those_that_were_agreed() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    for (tool, arguments) in calls() {
        // What runs and how long, numbers of a model, and days differ between machines and runs.
        if tool == "status" || tool == "briefing" {
            continue;
        }
        server.settled().await;
        let arguments = if tool == "recall" { json!({"query": "budget"}) } else { arguments };
        let (mut answer, is_error) = server.call(tool, arguments).await;
        assert!(!is_error, "{answer}");
        steady(&mut answer);
        insta::assert_json_snapshot!(format!("answer_{tool}"), answer);
    }
}

/// Replaces what differs from run to run: times of storing, scores, and ids that are drawn at random.
fn steady(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                if matches!(key.as_str(), "score" | "confidence") && value.is_number() {
                    *value = json!("[number]");
                } else if matches!(key.as_str(), "id" | "observationId")
                    && value.as_str().is_some_and(|id| id.starts_with("obs_"))
                {
                    *value = json!("[id]");
                } else {
                    steady(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(steady),
        Value::String(text) if text.parse::<Timestamp>().is_ok() => *value = json!("[time]"),
        // A cursor is sealed with a key of its own graph.
        Value::String(text) => {
            while let Some(at) = text.find("page_") {
                let length =
                    text[at + 5..].find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len() - at - 5);
                text.replace_range(at..at + 5 + length, "[cursor]");
            }
        }
        _ => {}
    }
}
