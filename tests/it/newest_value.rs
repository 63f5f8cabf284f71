//! Where it is asked how things are, what was written last of them is among the first results, and what never changed stays there.

use std::collections::HashMap;
use std::fs;

use memory_tests::process::{DataDir, Server};
use serde_json::{Value, json};

fn lines(name: &str) -> Vec<Value> {
    let path = format!("{}/gold/ending/values/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).expect("it can be read");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// How many questions of each kind have an answer among the first three, and how many there are.
async fn answered(stream: &str) -> HashMap<String, (usize, usize)> {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let mut by_id = HashMap::new();
    for note in lines(stream) {
        let context = match note["context"].as_str().expect("a context") {
            "conversation" => "chat",
            other => other,
        };
        let given = json!({"content": note["text"], "date": note["date"], "author": note["author"], "context": context});
        let id = server.ask("remember", given).await["id"].as_str().expect("an id").to_owned();
        by_id.insert(id, note["id"].clone());
    }
    server.settled().await;
    let mut answered = HashMap::new();
    for question in lines(&format!("{stream}-questions")) {
        let found = server.ask("recall", json!({"query": question["q"], "limit": 3})).await;
        let results = found["results"].as_array().expect("results");
        let wanted = question["want"].as_array().expect("a list");
        let is_answered = results.iter().any(|it| wanted.contains(&by_id[it["id"].as_str().expect("an id")]));
        let kind = question["kind"].as_str().expect("a kind").to_owned();
        let (right, all) = answered.entry(kind).or_insert((0, 0));
        *right += usize::from(is_answered);
        *all += 1;
    }
    answered
}

#[tokio::test]
async fn the_newest_value_is_mostly_among_the_first_three() {
    let mut all: HashMap<String, (usize, usize)> = HashMap::new();
    for stream in ["bakery", "journalist", "mobileapp"] {
        let answered = answered(stream).await;
        println!("{stream}: {answered:?}");
        for (kind, (right, of)) in answered {
            let sum = all.entry(kind).or_default();
            *sum = (sum.0 + right, sum.1 + of);
        }
    }
    for (kind, least) in [("changed", 28), ("kept", 17), ("event", 19)] {
        assert!(all[kind].0 >= least, "{kind}: {all:?}");
    }
}
