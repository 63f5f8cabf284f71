//! What a key opens: tools, resources, prompts, subscriptions and metrics, by role, set and namespace.

use std::collections::{BTreeMap, BTreeSet};

use memory_tests::documented::page;
use memory_tests::fresh_database;
use memory_tests::process::{DataDir, Ran, Server, call, initialize};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::process_subscriptions::{Stream, UPDATED, entity};

pub(crate) const ROLES: [&str; 3] = ["reader", "writer", "admin"];

/// A new key of the data folder, as `keys create` shows it.
pub(crate) async fn new_key(data_dir: &DataDir, name: &str, role: &str, more: &[&str]) -> String {
    new_key_by(&mut data_dir.command("remembrancer"), name, role, more).await
}

async fn new_key_by(command: &mut tokio::process::Command, name: &str, role: &str, more: &[&str]) -> String {
    command.args(["keys", "create", name, "--role", role, "--json"]).args(more);
    let made = Ran::of(command).await.json();
    made["key"].as_str().expect("it is shown").to_owned()
}

/// The answer to a message that brings a key, and its status.
pub(crate) async fn send(
    server: &Server,
    query: &str,
    key: Option<&str>,
    message: &Value,
) -> (StatusCode, String) {
    let mut request = server.request_at(&format!("{}{query}", server.url)).json(message);
    if let Some(key) = key {
        request = request.bearer_auth(key);
    }
    let answer = request.send().await.expect("it is answered");
    (answer.status(), answer.text().await.expect("text"))
}

/// The same of one that is let through.
pub(crate) async fn ask(server: &Server, query: &str, key: &str, message: &Value) -> Value {
    let (status, text) = send(server, query, Some(key), message).await;
    assert_eq!(status, StatusCode::OK, "{message}: {text}");
    serde_json::from_str(&text).expect("JSON")
}

#[expect(clippy::needless_pass_by_value, reason = "parameters are written where they are passed")]
pub(crate) fn method(name: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": name, "params": params})
}

fn names(answer: &Value) -> BTreeSet<String> {
    let tools = answer["result"]["tools"].as_array().expect("a list");
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

/// Role → tools, as the guide has it.
fn documented() -> BTreeMap<&'static str, BTreeSet<String>> {
    let guide = page("docs/guides/access.md");
    let (_, table) = guide.split_once("| what | reader | writer | admin |").expect("there is a table");
    let mut documented: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        // Rows of what is no tool begin with a word, or with an address.
        let is_of_tools = cells[0].starts_with('`') && !cells[0].starts_with("`/");
        for tool in cells[0].split('`').skip(1).step_by(2).filter(|_| is_of_tools) {
            for (role, cell) in ROLES.into_iter().zip(&cells[1..]) {
                if *cell == "yes" {
                    documented.entry(role).or_default().insert(tool.to_owned());
                }
            }
        }
    }
    documented
}

#[tokio::test]
async fn every_tool_is_open_to_the_roles_and_namespaces_that_the_guide_says_and_to_no_other() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let list = method("tools/list", json!({}));
    let all = names(&server.try_post(&list).await.expect("no key is needed yet"));
    assert!(all.len() >= 22, "{all:?}");
    server.ask("remember", json!({"content": "The spare key is in the blue box."})).await;
    let documented = documented();
    assert_eq!(documented["admin"], all, "the guide has every tool");
    for role in ROLES {
        let key = new_key(&data_dir, role, role, &["--namespaces", "work,home"]).await;
        let open = &documented[role];
        for query in ["", "?namespace=work", "?namespace=home"] {
            assert_eq!(names(&ask(&server, query, &key, &list).await), *open, "{role} {query}");
            for tool in &all {
                let answer = ask(&server, query, &key, &call(tool, json!({}))).await;
                let refusal = answer["error"]["message"].as_str().unwrap_or_default();
                let is_closed = refusal.contains("not open to this key");
                assert_eq!(is_closed, !open.contains(tool), "{role} {query} {tool}: {answer}");
                assert_eq!(answer["result"].is_object(), open.contains(tool), "{role} {tool}: {answer}");
            }
        }
        // One that is there, one that is not, and one that cannot be.
        let mut refusals = BTreeSet::new();
        for query in ["?namespace=default", "?namespace=nobody", "?namespace=a%20b", "?namespace="] {
            refusals.insert(send(&server, query, Some(&key), &list).await);
            for tool in &all {
                refusals.insert(send(&server, query, Some(&key), &call(tool, json!({}))).await);
            }
        }
        assert_eq!(refusals.len(), 1, "{refusals:?}");
        let (status, text) = refusals.pop_first().expect("one");
        assert!(status == StatusCode::FORBIDDEN && !text.contains("default"), "{status} {text}");
    }
}

#[tokio::test]
async fn what_a_key_may_not_do_is_not_listed_in_instructions_guide_and_resources() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let reader = new_key(&data_dir, "reads", "reader", &[]).await;
    let memory = new_key(&data_dir, "memory", "writer", &["--sets", "memory"]).await;
    let read = method("resources/read", json!({"uri": "memory://knowledge-graph"}));
    for (key, is_writer, has_graph) in [(&reader, false, true), (&memory, true, false)] {
        let greeting = ask(&server, "", key, &initialize()).await["result"].clone();
        let guide = ask(&server, "", key, &method("prompts/get", json!({"name": "memory-guide"}))).await;
        let texts = [greeting["instructions"].to_string(), guide["result"]["messages"].to_string()];
        for text in &texts {
            assert_eq!(text.contains("`remember`"), is_writer, "{text}");
            assert_eq!(text.contains("_nodes`") || text.contains("`read_graph`"), has_graph, "{text}");
        }
        let can_watch = &greeting["capabilities"]["resources"]["listChanged"];
        assert!(greeting["capabilities"]["resources"].is_object() && can_watch.is_null(), "{greeting}");
        let listed = ask(&server, "", key, &method("resources/list", json!({}))).await;
        assert_eq!(listed["result"]["resources"].as_array().map(Vec::len), Some(1 + usize::from(has_graph)));
        let answer = ask(&server, "", key, &read).await;
        assert_eq!(answer["result"].is_object(), has_graph, "{answer}");
    }
}

#[tokio::test]
async fn metrics_and_the_reason_of_not_being_ready_are_for_admins() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let url = server.url.replace("/mcp", "/metrics");
    let open = server.client().get(&url).send().await.expect("it is answered");
    assert_eq!(open.status(), StatusCode::OK, "the owner needs no key while there is none");
    let mut statuses = Vec::new();
    for role in ROLES {
        let key = new_key(&data_dir, role, role, &[]).await;
        let answer = server.client().get(&url).bearer_auth(&key).send().await.expect("it is answered");
        statuses.push(answer.status().as_u16());
        if role == "admin" {
            let text = answer.text().await.expect("text");
            assert!(text.contains("remembrancer_http_requests_total"), "{text}");
        }
    }
    assert_eq!(statuses, [403, 403, 200]);
    let stranger = server.client().get(&url).send().await.expect("it is answered");
    assert_eq!(stranger.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_revoked_key_opens_nothing_in_any_process_and_its_subscription_tells_nothing_more() {
    let url = fresh_database().await;
    let folders = [DataDir::new(), DataDir::new()];
    let mut servers = Vec::new();
    let command = |folder: &DataDir| {
        let mut command = folder.command("remembrancer");
        command.env("DATABASE_URL", &url);
        command
    };
    for folder in &folders {
        servers.push(Server::start_with(command(folder)).await);
    }
    let key = new_key_by(&mut command(&folders[0]), "laptop", "reader", &[]).await;
    let writer = new_key_by(&mut command(&folders[0]), "writer", "writer", &[]).await;
    let status = call("status", json!({}));
    for server in &servers {
        ask(server, "", &key, &status).await;
    }
    let mut stream = Stream::listening(&servers[1], Some(&key)).await;
    ask(&servers[0], "", &writer, &call("create_entities", entity("Ada"))).await;
    let told = stream.next_soon().await;
    assert_eq!(told["method"], UPDATED, "{told}");

    let mut revoke = command(&folders[0]);
    let revoked = Ran::of(revoke.args(["keys", "revoke", "laptop", "--json"])).await;
    assert_eq!(revoked.json()["done"], "revoked");
    for server in &servers {
        let (status, text) = send(server, "", Some(&key), &status).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{text}");
    }
    ask(&servers[0], "", &writer, &call("create_entities", entity("Bob"))).await;
    let after = tokio::time::timeout(std::time::Duration::from_secs(60), async {
        let mut all = Vec::new();
        while let Some(message) = stream.next().await {
            all.push(message);
        }
        all
    });
    let after = after.await.expect("it is ended");
    assert!(after.iter().all(|message| message["method"] != UPDATED), "{after:?}");
}
