//! What answers cost: a bound holds for every kind of answer as it is sent, and what it leaves out is counted.

use std::collections::BTreeSet;
use std::fmt::Write;

use memory_core::chunk::count_tokens;
use memory_tests::process::{DataDir, Server};
use serde_json::{Value, json};

/// Bounds below this one may be exceeded a little: the first result always comes.
const HARD_FROM: i64 = 200;
const EXCESS: usize = 60;

/// The answer, and what its text costs.
async fn sent(server: &Server, arguments: Value) -> (Value, usize) {
    let result = server.try_call("recall", arguments).await.expect("it is answered");
    assert!(result["isError"] != true, "{result}");
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), result["structuredContent"]);
    (result["structuredContent"].clone(), count_tokens(text))
}

/// More characters than one page holds, and more events than one answer shows.
fn minutes() -> String {
    let mut text = String::new();
    for n in 0..320 {
        let _ = write!(
            text,
            "Alice Chen will send report number {n} to Bob Martinez by Friday. The weather was fine on that day, and nobody minded. "
        );
    }
    text
}

async fn filled(data_dir: &DataDir) -> (Server, String) {
    let server = Server::start(data_dir).await;
    let long =
        server.ask("remember", json!({"content": minutes(), "title": "Minutes", "tags": ["board"]})).await;
    for n in 0..14 {
        let content = format!(
            "Carol Diaz decided that the lighthouse team will use plan {n}. Bob Martinez will paint tower {n} by Monday. \
             Dora Engel shipped lamp {n} yesterday. {}",
            "The keeper told a long story about the lighthouse and its many storms. ".repeat(4)
        );
        server
            .ask(
                "remember",
                json!({"content": content, "source": "logbook", "source_id": format!("day/{n}.md")}),
            )
            .await;
    }
    for n in 0..30 {
        let content = format!("Turn {n}: {}", "we talked about the storm for a while. ".repeat(1 + n * 3));
        let turn = json!({"content": content, "context": "conversation", "conversation_id": "talk", "turn_index": n, "role": "user"});
        server.ask("remember", turn).await;
    }
    server.settled().await;
    (server, long["id"].as_str().expect("an id").to_owned())
}

#[tokio::test]
async fn no_answer_costs_more_tokens_than_it_may_and_all_of_a_text_is_reached_in_parts() {
    let data_dir = DataDir::new();
    let (server, long) = filled(&data_dir).await;
    let (whole, _) = sent(&server, json!({"id": long})).await;
    let events = whole["results"][0]["event_count"].as_i64().expect("more events than are shown");
    assert!(events > 200, "{events}");
    let event = whole["results"][0]["events"][0]["id"].clone();
    for max_tokens in [100, 200, 300, 500, 1_000, 2_000, 4_000, 10_000] {
        for asked in [
            json!({"query": "storms at the lighthouse"}),
            json!({"query": "storms at the lighthouse", "detail": "full", "limit": 50}),
            json!({"query": "report for Bob Martinez", "limit": 3, "explain": true, "neighbours": 2}),
            json!({"query": "plan", "categories": ["Decision"], "graph_budget": 60}),
            json!({"id": long}),
            json!({"id": event}),
            json!({"conversation_id": "talk", "limit": 30}),
            json!({"categories": ["Commitment"], "limit": 50}),
        ] {
            let mut arguments = asked.clone();
            arguments["max_tokens"] = json!(max_tokens);
            let (answer, tokens) = sent(&server, arguments).await;
            let bound = max_tokens as usize + if max_tokens < HARD_FROM { EXCESS } else { 0 };
            assert!(tokens <= bound, "{tokens} of {max_tokens} for {asked}: {answer}");
            let shown = answer["results"].as_array().map_or(0, Vec::len)
                + answer["turns"].as_array().map_or(0, Vec::len);
            let is_told = answer["warnings"].as_array().is_some_and(|told| !told.is_empty());
            assert!(shown > 0 || is_told, "{max_tokens} for {asked}: {answer}");
        }
    }
    read_in_parts(&server, &long, events).await;
    what_is_left_out_is_counted(&server).await;
    a_default_answer_is_short(&server).await;
    with_little_room_results_are_shortened_before_they_are_left_out(&server).await;
}

async fn with_little_room_results_are_shortened_before_they_are_left_out(server: &Server) {
    let (answer, _) = sent(server, json!({"query": "report for Bob Martinez", "max_tokens": 500})).await;
    let results = answer["results"].as_array().expect("results");
    assert!(results.len() >= 3, "{answer}");
}

async fn read_in_parts(server: &Server, id: &str, events: i64) {
    let (mut content, mut seen, mut listed, mut cursor) = (String::new(), BTreeSet::new(), 0, Value::Null);
    for _ in 0..100 {
        let (answer, tokens) = sent(server, json!({"id": id, "max_tokens": 4_000, "cursor": cursor})).await;
        assert!(tokens <= 4_000);
        let result = &answer["results"][0];
        content += result["content"].as_str().unwrap_or_default();
        for event in result["events"].as_array().into_iter().flatten() {
            seen.insert(event["id"].to_string());
            listed += 1;
        }
        cursor = answer["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert!(content == minutes(), "{} characters", content.chars().count());
    assert_eq!((listed, seen.len() as i64), (events, events), "each event once");
}

#[tokio::test]
async fn an_answer_that_is_cut_still_says_which_of_the_clients_texts_it_shows() {
    let data_dir = DataDir::new();
    let server = Server::start(&data_dir).await;
    for n in 0..10 {
        let tags: Vec<String> = (0..5).map(|tag| format!("{n}-{tag}-{}", "qxzj7".repeat(11))).collect();
        let content =
            format!("The ferry number {n} leaves the harbour. {}", "It sails to the islands. ".repeat(20));
        let draft = json!({"content": content, "source": "timetable", "source_id": format!("ferry/{n}"), "tags": tags});
        server.ask("remember", draft).await;
    }
    server.settled().await;
    let (answer, tokens) = sent(&server, json!({"query": "Which ferry leaves the harbour?"})).await;
    let results = answer["results"].as_array().expect("results");
    assert!(tokens <= 2_000 && results.len() == 10, "{tokens} {}", results.len());
    assert!(results.iter().any(|result| result["tags"].is_null()), "it is cut: {answer}");
    let is_named = |result: &Value| result["source_id"].as_str().is_some_and(|id| id.starts_with("ferry/"));
    assert!(results.iter().all(is_named), "{answer}");
}

async fn what_is_left_out_is_counted(server: &Server) {
    let (cut, _) = sent(server, json!({"query": "Bob Martinez paints the tower", "max_tokens": 1_000})).await;
    let said = cut["warnings"].to_string();
    let shown = cut["results"].as_array().expect("results").len();
    assert!(
        said.contains("Left out to stay within 1000 tokens") && said.contains("related events"),
        "{said}"
    );
    assert!(shown < 10 && said.contains(&format!("{} of 10 results", 10 - shown)), "{shown}: {said}");
    let next =
        json!({"query": "Bob Martinez paints the tower", "max_tokens": 1_000, "cursor": cut["next_cursor"]});
    let (next, _) = sent(server, next).await;
    let id = |answer: &Value, n: usize| answer["results"][n]["id"].clone();
    assert!((0..shown).all(|n| id(&cut, n) != id(&next, 0)), "the next page goes on: {next}");
    for part in ["related", "entities"] {
        assert!(!cut[part].as_array().expect("a list").is_empty(), "each has its part: {cut}");
    }
}

async fn a_default_answer_is_short(server: &Server) {
    let (answer, tokens) = sent(server, json!({"query": "What did the lighthouse keeper tell?"})).await;
    let results = answer["results"].as_array().expect("results");
    assert!(results.len() == 10 && tokens <= 2_000, "{tokens} tokens for {} results", results.len());
    assert!(!results[0]["events"].as_array().expect("events").is_empty(), "{answer}");
    for result in results {
        let shown = result["events"].as_array().map_or(0, Vec::len) as i64;
        assert!(result["event_count"].as_i64().is_none_or(|all| all > shown), "{result}");
        assert!(shown > 0 || result["event_count"].as_i64().is_some_and(|all| all > 0), "{result}");
    }
    let logged = results.iter().find(|result| result["source"] == "logbook").expect("a page of the logbook");
    assert!(logged["source_id"].as_str().is_some_and(|id| id.starts_with("day/")), "{logged}");
}
