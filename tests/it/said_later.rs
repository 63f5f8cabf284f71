//! What was said later about an open commitment is shown beside it.

use std::collections::HashMap;
use std::fs;

use memory_tests::process::{DataDir, Server};
use serde_json::{Value, json};

async fn remembered(server: &Server, texts: &[(&str, &str, Option<&str>)]) -> Vec<String> {
    let mut ids = Vec::new();
    for (date, content, role) in texts {
        let given = json!({"content": content, "date": date, "author": "Nora", "role": role});
        ids.push(server.ask("remember", given).await["id"].as_str().expect("an id").to_owned());
    }
    server.settled().await;
    ids
}

/// The only commitment that stands open.
async fn standing(server: &Server) -> Value {
    let listed = server.ask("recall", json!({"state": "overdue"})).await;
    assert_eq!(listed["results"].as_array().map(Vec::len), Some(1), "{listed}");
    listed["results"][0].clone()
}

#[tokio::test]
async fn an_open_commitment_comes_with_what_was_said_later_of_it() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let first = [
        ("2026-03-02T09:00:00Z", "I'll hand in the marks for BIO203 by 9 March 2026.", None),
        ("2026-03-02T09:00:01Z", "Good luck with the BIO203 marks and the office!", Some("assistant")),
        ("2026-03-03T09:00:00Z", "The choir sings Rheinberger and Pärt this spring.", None),
    ];
    remembered(&server, &first).await;
    let alone = standing(&server).await;
    assert_eq!(alone["said_later"], Value::Null, "{alone}");

    let later =
        [("2026-03-09T16:00:00Z", "BIO203 marks went to the office at four, mean 61, one 94 (!).", None)];
    let ids = remembered(&server, &later).await;
    let shown = standing(&server).await;
    assert_eq!(shown["events"][0]["state"], "overdue", "{shown}");
    assert_eq!(shown["said_later"]["id"], json!(ids[0]), "{shown}");
    assert_eq!(shown["said_later"]["date"], "2026-03-09T16:00:00Z", "{shown}");
    assert!(
        shown["said_later"]["snippet"].as_str().expect("a text").contains("went to the office"),
        "{shown}"
    );
    let by_id = server.ask("recall", json!({"id": shown["id"]})).await;
    assert_eq!(by_id["results"][0]["said_later"], shown["said_later"], "{by_id}");

    // With little room other things go first.
    let tight = server.ask("recall", json!({"state": "overdue", "max_tokens": 275})).await;
    let tight = &tight["results"][0];
    assert_eq!(tight["said_later"]["id"], shown["said_later"]["id"], "{tight}");
    assert_eq!(tight["events"], Value::Null, "{tight}");

    server.ask("forget", json!({"id": ids[0], "confirm": true})).await;
    let again = standing(&server).await;
    assert_eq!(again["said_later"], Value::Null, "{again}");
}

/// How often a text is shown, and how often it says what became of a task of the commitment's text.
#[derive(Debug, Default)]
struct Shown {
    all: usize,
    right: usize,
    /// The same of those whose task has likely ended, and how often it is over, by this text or another.
    likely_ends: usize,
    over: usize,
}

/// Of texts that no weight was learned from.
async fn shown_of(stream: &str) -> Shown {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let path = format!("{}/gold/ending/streams/{stream}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).expect("it can be read");
    let notes: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let mut by_id = HashMap::new();
    for note in &notes {
        let context = match note["context"].as_str().expect("a context") {
            "commit" => "document",
            "comment" => "chat",
            other => other,
        };
        let given = json!({
            "content": note["text"], "title": note["title"], "date": note["date"], "author": note["author"],
            "context": context,
        });
        let id = server.ask("remember", given).await["id"].as_str().expect("an id").to_owned();
        by_id.insert(id, note);
    }
    server.settled().await;
    let ends = notes.iter().flat_map(|note| note["ends"].as_array().expect("a list"));
    let over: Vec<&Value> = ends.filter(|end| end["how"] != "moved").map(|end| &end["task"]).collect();
    let is_over = |task: &Value| over.contains(&task);
    let mut shown = Shown::default();
    for state in ["open", "overdue"] {
        let mut cursor = Value::Null;
        loop {
            let mut asked = json!({"state": state, "limit": 20, "max_tokens": 20_000});
            if !cursor.is_null() {
                asked["cursor"] = cursor;
            }
            let listed = server.ask("recall", asked).await;
            for result in listed["results"].as_array().expect("results") {
                let Some(later) = result["said_later"]["id"].as_str() else { continue };
                let made_in = result["events"][0]["evidence"][0]["artifact_id"].as_str().expect("an id");
                let made = by_id[made_in]["makes"].as_array().expect("a list");
                let ends = by_id[later]["ends"].as_array().expect("a list").iter();
                let of_it: Vec<&Value> =
                    ends.filter(|end| made.iter().any(|task| task["task"] == end["task"])).collect();
                shown.all += 1;
                shown.right += usize::from(!of_it.is_empty());
                if result["said_later"]["is_likely_end"] == true {
                    shown.likely_ends += 1;
                    shown.over += usize::from(made.iter().any(|task| is_over(&task["task"])));
                }
            }
            cursor = listed["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
    }
    shown
}

async fn shown_of_all(streams: &[&str]) -> Shown {
    let mut shown = Shown::default();
    for stream in streams {
        let more = shown_of(stream).await;
        println!("{stream}: {more:?}");
        shown = Shown {
            all: shown.all + more.all,
            right: shown.right + more.right,
            likely_ends: shown.likely_ends + more.likely_ends,
            over: shown.over + more.over,
        };
    }
    shown
}

#[tokio::test]
async fn it_is_shown_for_many_tasks_of_people_and_is_mostly_right() {
    let shown = shown_of_all(&["bookshop", "hospital", "leave"]).await;
    assert!(shown.right >= 26 && shown.right * 10 >= shown.all * 6, "{shown:?}");
    assert!(shown.over >= 30 && shown.over * 100 >= shown.likely_ends * 85, "{shown:?}");
}

#[tokio::test]
async fn it_is_found_in_minutes_and_mails_too() {
    let shown = shown_of_all(&["theatre", "carehome"]).await;
    assert!(shown.right >= 38 && shown.right * 10 >= shown.all * 7, "{shown:?}");
    assert!(shown.over >= 40 && shown.over * 100 >= shown.likely_ends * 90, "{shown:?}");
}
