//! The briefing by each way to it: tool, prompt, resource and command.

use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};
use memory_tests::process::{DataDir, Server, StdioHost};
use serde_json::{Value, json};
use sha2::Digest;

fn request(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

async fn filled(data_dir: &DataDir) -> Server {
    let server = Server::start(data_dir).await;
    for (text, project) in [
        ("Always answer me in French.", "other"),
        ("We decided on 3 November 2026 to deploy Atlas with blue-green releases.", "atlas"),
    ] {
        server.ask("remember", json!({"content": text, "tags": [format!("project:{project}")]})).await;
    }
    promised(&server, "budget", 8, json!([])).await;
    server.settled().await;
    server
}

/// A promise that was due so many days ago.
async fn promised(server: &Server, what: &str, days: i64, tags: Value) -> String {
    let due = Zoned::now().with_time_zone(TimeZone::UTC).saturating_sub(days.days()).date().to_string();
    let content = format!("Anna Kovács will send the {what} to Ben Ortiz by {due}.");
    server.ask("remember", json!({"content": content, "tags": tags, "date": "2026-01-05"})).await;
    due
}

#[tokio::test]
async fn a_briefing_has_wishes_and_promises_of_the_project_and_of_none_and_what_was_last() {
    let data_dir = DataDir::warm();
    let server = filled(&data_dir).await;
    let briefing = server.ask("briefing", json!({"project": "Atlas"})).await;
    assert!(briefing["directives"][0]["text"].as_str().expect("a wish").contains("French"), "{briefing}");
    assert!(briefing["overdue"][0]["summary"].as_str().expect("a promise").contains("budget"), "{briefing}");
    assert!(
        briefing["decisions"][0]["summary"].as_str().expect("a decision").contains("blue-green"),
        "{briefing}"
    );
    assert_eq!(briefing["latest"].as_array().map(Vec::len), Some(1), "{briefing}");
    assert!(briefing["latest"][0]["id"].as_str().expect("an id").starts_with("art_"), "{briefing}");
    assert_eq!(briefing["overdue_total"], Value::Null, "{briefing}");
    for what in ["contract", "invoice", "timetable", "leaflet", "minutes", "photographs"] {
        promised(&server, what, 6, json!(["project:late"])).await;
    }
    let last = promised(&server, "drawing", 3, json!(["project:late"])).await;
    promised(&server, "key", 40, json!(["project:late"])).await;
    server.settled().await;
    let late = server.ask("briefing", json!({"project": "late", "max_tokens": 5000})).await;
    let shown = late["overdue"].as_array().map(Vec::len);
    assert_eq!((shown, &late["overdue_total"]), (Some(6), &json!(8)), "with that of no project: {late}");
    assert_eq!(late["overdue"][0]["due"], last, "the latest first: {late}");
    assert_eq!(late["long_overdue_total"], 1, "{late}");
    for (date, content) in [
        ("2026-02-05", format!("I'll lend the crane scaffold to the theatre by {last}.")),
        (last.as_str(), "The crane scaffold went off to the theatre this morning.".to_owned()),
    ] {
        let told = json!({"content": content, "date": date, "tags": ["project:late"]});
        server.ask("remember", told).await;
    }
    server.settled().await;
    let late = server.ask("briefing", json!({"project": "late", "max_tokens": 5000})).await;
    let shown = late["overdue"].as_array().expect("a list");
    assert_eq!((shown.len(), &late["overdue_total"]), (6, &json!(9)), "{late}");
    let scaffold = |event: &Value| event["summary"].as_str().expect("a promise").contains("scaffold");
    assert!(!shown.iter().any(scaffold), "what has likely ended stands apart: {late}");
    let likely_ended = late["likely_ended"].as_array().expect("a list");
    assert!(likely_ended.iter().any(scaffold), "{late}");
    assert!(likely_ended.iter().all(|event| event["said_later"]["id"].is_string()), "{late}");
    let atlas = server.ask("briefing", json!({"project": "atlas", "max_tokens": 5000})).await;
    assert_eq!(atlas["overdue"].as_array().map(Vec::len), Some(1), "none of another project: {atlas}");
    let everywhere = server.ask("briefing", json!({"tags": [], "max_tokens": 5000})).await;
    assert_eq!(everywhere["latest"].as_array().map(Vec::len), Some(5), "{everywhere}");
    let nowhere = server.ask("briefing", json!({"project": "nowhere"})).await;
    assert_eq!(nowhere["latest"], json!([]));
    assert!(nowhere["warning"].as_str().expect("a warning").contains("project:nowhere"), "{nowhere}");
    assert_eq!(atlas["warning"], Value::Null, "{atlas}");
    for (arguments, said) in [
        (json!({"max_tokens": 10}), "max_tokens is 10"),
        (json!({"project": " "}), "project is empty"),
        (json!({"tags": vec!["t"; 5_000]}), "tags"),
    ] {
        let (refused, is_error) = server.call("briefing", arguments).await;
        assert!(is_error && refused["error"].as_str().expect("an error").contains(said), "{refused}");
    }
}

#[tokio::test]
async fn prompt_resource_and_command_say_what_the_tool_says() {
    let data_dir = DataDir::warm();
    let server = filled(&data_dir).await;
    let command = data_dir.run(&["briefing", "--project", "atlas"]).await.stdout;
    assert!(command.contains("blue-green") && command.contains("Overdue:"), "{command}");
    let resource = request("resources/read", &json!({"uri": "memory://briefing?project=%61tlas"}));
    let read = server.try_post(&resource).await.expect("it is answered");
    assert_eq!(read["result"]["contents"][0]["text"], command, "{read}");
    let prompt = request("prompts/get", &json!({"name": "briefing", "arguments": {"project": "atlas"}}));
    let asked = server.try_post(&prompt).await.expect("it is answered");
    let text = asked["result"]["messages"][0]["content"]["text"].as_str().expect("a text");
    assert!(text.ends_with(&command), "{text}");
    let mut host = StdioHost::start_as(data_dir.command("remembrancer"), &[]);
    host.initialize().await;
    host.send(&request("prompts/list", &json!({}))).await;
    let listed = host.receive().await["result"]["prompts"].clone();
    let names: Vec<&str> =
        listed.as_array().expect("a list").iter().filter_map(|p| p["name"].as_str()).collect();
    assert_eq!(names, ["memory-guide", "briefing", "what-do-you-know-about", "weekly-review", "clean-up"]);
    let missing = request("prompts/get", &json!({"name": "what-do-you-know-about"}));
    let refused = server.try_post(&missing).await.expect("it is answered");
    assert!(refused["error"]["message"].as_str().expect("an error").contains("topic"), "{refused}");
    let about = json!({"name": "what-do-you-know-about", "arguments": {"topic": "Atlas"}});
    let asked = server.try_post(&request("prompts/get", &about)).await.expect("it is answered");
    assert!(asked["result"]["messages"].to_string().contains("Topic: Atlas"), "{asked}");
}

#[tokio::test]
async fn skills_are_listed_with_their_digests_and_read_as_files_where_their_tools_are_offered() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.settled().await;
    let ask = async |server: &Server, method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        server.try_post(&message).await.expect("it is answered")
    };
    let greeting = server.try_post(&memory_tests::process::initialize()).await.expect("it is answered");
    let extensions = &greeting["result"]["capabilities"]["extensions"];
    assert!(extensions["io.modelcontextprotocol/skills"].is_object(), "{greeting}");
    let listed = ask(&server, "skills/list", json!({})).await;
    let skills = listed["result"]["skills"].as_array().expect("a list").clone();
    let names: Vec<&str> = skills.iter().filter_map(|skill| skill["frontmatter"]["name"].as_str()).collect();
    assert_eq!(names, ["remember-well", "review-commitments", "clean-up-memory"]);
    for skill in &skills {
        let got = ask(&server, "skills/get", json!({ "uri": skill["uri"] })).await;
        assert_eq!(&got["result"]["skill"], skill);
        let read = ask(&server, "resources/read", json!({ "uri": skill["uri"] })).await;
        let file = &read["result"]["contents"][0];
        let text = file["text"].as_str().expect("a text");
        assert_eq!(file["mimeType"], "text/markdown");
        assert_eq!(skill["resources"][0]["size"], text.len());
        let digest = sha2::Sha256::digest(text.as_bytes());
        let digest = digest.iter().fold("sha256:".to_owned(), |all, byte| format!("{all}{byte:02x}"));
        assert_eq!(skill["resources"][0]["digest"], digest);
    }
    let unknown = ask(&server, "skills/get", json!({"uri": "skill://nothing/SKILL.md"})).await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let read_only = Server::start_as(data_dir.command("remembrancer"), &["--read-only"]).await;
    let listed = ask(&read_only, "skills/list", json!({})).await;
    assert_eq!(listed["result"]["skills"].as_array().map(Vec::len), Some(2), "none to write: {listed}");
}
