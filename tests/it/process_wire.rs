//! What goes over the wire: schemas that every host takes, arguments as hosts really send them, answers in
//! one shape, and input that was made to do harm.

use std::collections::BTreeSet;

use memory_tests::process::{DataDir, Server, StdioHost, call};
use serde_json::{Value, json};

const MEETING: &str = "Attendees: Anna Kovács, Ben Ortiz\n\nDecisions:\n- We decided to move the launch to September.\n\n\
                       Action items:\n- Anna Kovács will send the budget to Ben Ortiz by 20 March 2026.\n";

pub(crate) async fn tools(server: &Server) -> Vec<Value> {
    let answer = server.try_post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    answer.expect("it is answered")["result"]["tools"].as_array().expect("a list").clone()
}

/// All keys and values below.
fn walk(value: &Value, see: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                see(key, value);
                walk(value, see);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, see)),
        _ => {}
    }
}

/// Where a value breaks a schema made of types, properties, required names, items and choices.
pub(crate) fn breaks(schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let fits = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        _ => true,
    };
    if !fits {
        return vec![format!("{path} is {value}, not {}", schema["type"])];
    }
    let mut broken = Vec::new();
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.get(name).is_none() {
            broken.push(format!("{path} has no {name}"));
        }
    }
    if let Some(choices) = schema["anyOf"].as_array()
        && choices.iter().all(|choice| !breaks(choice, value, path).is_empty())
    {
        broken.push(format!("{path} is none of {}", schema["anyOf"]));
    }
    for (name, below) in value.as_object().into_iter().flatten() {
        let schema = schema["properties"]
            .get(name)
            .or_else(|| schema["additionalProperties"].as_object().map(|_| &schema["additionalProperties"]));
        if let Some(schema) = schema {
            broken.extend(breaks(schema, below, &format!("{path}.{name}")));
        }
    }
    for (n, item) in value.as_array().into_iter().flatten().enumerate() {
        broken.extend(breaks(&schema["items"], item, &format!("{path}[{n}]")));
    }
    broken
}

#[tokio::test]
async fn every_tool_has_portable_schemas_a_title_and_true_hints() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let tools = tools(&server).await;
    let names: BTreeSet<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.is_superset(&BTreeSet::from(["forget", "recall", "remember", "status"])), "{names:?}");
    for tool in &tools {
        let name = &tool["name"];
        assert!(tool["title"].as_str().is_some_and(|title| !title.is_empty()), "{name} has no title");
        assert!(tool["description"].as_str().is_some_and(|text| text.len() < 1_000), "{name}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{name} does not say {hint}");
        }
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name}.{schema}");
            let mut schema_of_tool = tool[schema].clone();
            if schema == "outputSchema" {
                // The answer's required fields, or a refusal's error: validators know it, and no model sees it.
                let choices = schema_of_tool.as_object_mut().expect("a schema").remove("anyOf");
                assert_eq!(choices.expect("a choice")[1], json!({"required": ["error"]}), "{name}");
            }
            walk(&schema_of_tool, &mut |key, value| {
                let is_portable =
                    !["$ref", "$defs", "$schema", "format", "default", "anyOf", "oneOf", "allOf"]
                        .contains(&key);
                assert!(is_portable || value.get("type").is_some(), "{name}.{schema} has {key}");
                assert!(key != "type" || !value.is_array(), "{name}.{schema} has a list of types: {value}");
            });
        }
    }
    let hint = |tool: &str, hint: &str| {
        tools.iter().find(|t| t["name"] == tool).expect("a tool")["annotations"][hint].clone()
    };
    assert_eq!((hint("recall", "readOnlyHint"), hint("status", "readOnlyHint")), (json!(true), json!(true)));
    assert_eq!(
        (hint("remember", "readOnlyHint"), hint("remember", "destructiveHint")),
        (json!(false), json!(false))
    );
    assert_eq!(
        (hint("forget", "readOnlyHint"), hint("forget", "destructiveHint")),
        (json!(false), json!(true))
    );
}

#[tokio::test]
async fn the_list_of_tools_is_the_same_to_the_byte_on_every_connection() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let mut lists = BTreeSet::new();
    for url in
        [server.url.clone(), format!("{}?namespace=other", server.url), server.url.replace("/mcp", "/mcp/")]
    {
        let answer = server.request_at(&url).json(&list).send().await.expect("it is answered");
        lists.insert(answer.text().await.expect("text"));
    }
    for _ in 0..2 {
        let mut host = StdioHost::start(data_dir.command("remembrancer"));
        host.initialize().await;
        host.send(&list).await;
        lists.insert(host.receive_line().await);
    }
    assert_eq!(lists.len(), 1, "{lists:?}");
}

#[tokio::test]
async fn answers_and_refusals_are_the_same_json_twice_and_keep_to_the_output_schema() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let tools = tools(&server).await;
    let meeting = json!({"content": MEETING, "context": "meeting", "author": "Anna Kovács", "tags": ["budget"],
        "title": "Budget", "date": "2026-03-12", "source": "minutes", "source_id": "12"});
    let id = server.ask("remember", meeting).await["id"].clone();
    let turn = json!({"content": "Ben Ortiz will call Anna Kovács tomorrow.", "context": "conversation", "conversation_id": "c",
        "turn_index": 0, "role": "user"});
    server.ask("remember", turn).await;
    server.settled().await;
    let event = server.ask("recall", json!({"id": id})).await["results"][0]["events"][0]["id"].clone();
    assert!(event.is_string(), "no event was extracted");
    let answered = [
        ("remember", json!({"content": "The spare key is in the blue box."})),
        ("recall", json!({"query": "budget", "explain": true, "detail": "full"})),
        ("recall", json!({"query": "budget", "limit": 1})),
        ("recall", json!({"id": id})),
        ("recall", json!({"id": event})),
        ("recall", json!({"conversation_id": "c"})),
        ("recall", json!({"id": "art_000000000000"})),
        ("status", json!({})),
        ("status", json!({"artifact_id": id})),
        ("status", json!({"artifact_id": "art_000000000000"})),
        ("forget", json!({"id": id, "confirm": true})),
    ];
    let refused = [
        ("remember", json!({"content": ""})),
        ("remember", json!({"content": "x", "context": "nonsense"})),
        ("remember", json!({"content": "x", "date": "yesterday"})),
        ("remember", json!({"content": "x", "importance": 2})),
        ("remember", json!({})),
        ("recall", json!({})),
        ("recall", json!({"id": "doc_1"})),
        ("recall", json!({"query": "x", "limit": 0})),
        ("recall", json!({"query": "x", "cursor": "nonsense"})),
        ("status", json!({"artifact_id": "evt_1"})),
        ("forget", json!({"id": id})),
        ("forget", json!({"id": "art_000000000000", "confirm": true})),
        ("forget", json!({"id": event, "confirm": true})),
        ("forget", json!({"id": 7})),
    ];
    let calls = answered.into_iter().map(|c| (c, false)).chain(refused.into_iter().map(|c| (c, true)));
    for ((tool, arguments), is_refused) in calls {
        let result = server.try_call(tool, arguments.clone()).await.expect("it is answered");
        let structured = &result["structuredContent"];
        assert_eq!(result["isError"] == true, is_refused, "{tool} {arguments}: {structured}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert_eq!(&serde_json::from_str::<Value>(text).expect("JSON"), structured, "{tool} {arguments}");
        let schema = &tools.iter().find(|t| t["name"] == tool).expect("a tool")["outputSchema"];
        assert_eq!(breaks(schema, structured, tool), Vec::<String>::new(), "{arguments}");
        assert!(
            !is_refused || structured["error"].as_str().is_some_and(|e| e.len() > 10),
            "{tool} {arguments}: {structured}"
        );
    }
}

#[tokio::test]
async fn arguments_that_hosts_send_as_text_or_null_are_mended_and_unknown_ones_are_named() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let kept = server
        .ask("remember", json!({"content": "The spare key is in the blue box.", "tags": "[\"home\", \"keys\"]", "importance": "0.9",
            "participants": "Anna", "title": null, "turn_index": null}))
        .await;
    let found = server
        .ask(
            "recall",
            json!({"query": "spare key", "limit": "5", "expand": "false", "tags": "home",
        "min_importance": "0.8", "cursor": null, "graph_budget": 3.0}),
        )
        .await;
    assert_eq!(found["results"][0]["id"], kept["id"], "{found}");
    assert_eq!(found["results"][0]["tags"], json!(["home", "keys"]));
    for tool in ["remember", "recall", "forget", "status"] {
        let (refusal, is_error) =
            server.call(tool, json!({"content": "x", "id": "art_1", "bogus_name": 1})).await;
        let reason = refusal["error"].as_str().expect("a reason");
        assert!(is_error && reason.contains(tool), "{refusal}");
    }
    let (refusal, _) = server.call("recall", json!({"query": "x", "bogus_name": 1})).await;
    assert!(refusal["error"].as_str().expect("a reason").contains("bogus_name"), "{refusal}");
    let answer = server.try_post(&call("no_such_tool", json!({}))).await.expect("it is answered");
    assert!(answer["error"]["message"].as_str().expect("a message").contains("no_such_tool"), "{answer}");
}

#[tokio::test]
async fn input_that_was_made_to_do_harm_gets_a_clean_error_and_the_server_lives() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let remember = |content: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"remember","arguments":{{"content":{content}}}}}}}"#
        )
    };
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    for bad in [
        remember(r#""a\ud800b""#),
        remember(&deep),
        deep.clone(),
        "not json".to_owned(),
        String::new(),
        "[]".to_owned(),
        "{\"jsonrpc\":\"2.0\"}".to_owned(),
        format!("[{}1]", "1,".repeat(500_000)),
    ] {
        let answer = server.request().body(bad.clone()).send().await.expect("it is answered");
        assert!(answer.status().is_client_error(), "{}: {}", &bad[..bad.len().min(80)], answer.status());
        assert!(answer.text().await.expect("text").len() < 500);
    }
    let refused = [
        ("remember", json!({"content": "a\u{0}b"})),
        ("remember", json!({"content": "x", "title": "a\u{0}b"})),
        ("remember", json!({"content": "x", "tags": ["a\u{0}b"]})),
        ("recall", json!({"query": "a\u{0}b"})),
        ("recall", json!({"conversation_id": "a\u{0}b"})),
        ("recall", json!({"query": "x", "author": "a\u{0}b"})),
        ("recall", json!({"query": "x".repeat(2_001)})),
        ("recall", json!({"query": "x", "limit": 1e300})),
        ("recall", json!({"query": "x", "limit": i64::MIN})),
        ("remember", json!({"content": "x", "tags": vec!["t"; 100_000]})),
        ("remember", json!({"content": "x".repeat(10_000_001)})),
        ("remember", json!({"content": vec!["x"; 100_000]})),
        (
            "remember",
            json!({"content": "x", "conversation_id": "c", "context": "conversation", "turn_index": i64::MAX}),
        ),
        ("forget", json!({"id": "art_'; drop table artifact; --", "confirm": true})),
    ];
    for (tool, arguments) in refused {
        let shown: String = arguments.to_string().chars().take(80).collect();
        let (refusal, is_error) = server.call(tool, arguments).await;
        let reason = refusal["error"].as_str().unwrap_or_default();
        assert!(is_error && !reason.is_empty() && reason.len() < 1_000, "{tool} {shown}: {refusal}");
        assert!(
            !reason.contains("internal error") && !reason.contains("relation"),
            "{tool} {shown}: {refusal}"
        );
    }
    for odd in
        ["%' or 1=1 --", "\\", "\"", "🦀\u{200d}", "\u{202e}abc", "a & b | !c <-> :*", "art_", "\u{feff}"]
    {
        let kept = server
            .ask("remember", json!({"content": format!("odd {odd}"), "title": odd, "author": odd}))
            .await;
        let found = server.ask("recall", json!({"query": format!("odd {odd}"), "author": odd})).await;
        assert_eq!(found["results"][0]["id"], kept["id"], "{odd}: {found}");
    }
    assert_eq!(server.ask("status", json!({})).await["healthy"], true);
}

/// The protocol library drops a line that is no JSON; a host's call must not hang for a lone surrogate in it.
#[tokio::test]
async fn a_call_that_is_no_good_json_is_answered_over_stdio_too() {
    let data_dir = DataDir::warm();
    let mut host = StdioHost::start(data_dir.command("remembrancer"));
    host.initialize().await;
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    for (id, query) in [(11, r#""a\ud800b""#), (12, &*deep)] {
        let arguments = format!(r#"{{"name":"recall","arguments":{{"query":{query}}}}}"#);
        host.send_line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{arguments}}}"#
        ))
        .await;
        host.send(&json!({"jsonrpc": "2.0", "id": 99, "method": "ping"})).await;
        let ids = [host.receive().await["id"].clone(), host.receive().await["id"].clone()];
        assert!(ids.contains(&json!(id)), "{ids:?}");
    }
}

#[tokio::test]
async fn the_largest_text_passes_over_stdio_and_a_larger_one_is_refused() {
    let data_dir = DataDir::warm();
    let mut host = StdioHost::start(data_dir.command("remembrancer"));
    host.initialize().await;
    // As large on the wire as ten million characters of four bytes.
    let answer = host.call("remember", json!({"content": "x".repeat(40_000_000)})).await;
    let reason = answer["structuredContent"]["error"].as_str().expect("a reason");
    assert!(answer["isError"] == true && reason.contains("10000000"), "{answer}");
}
