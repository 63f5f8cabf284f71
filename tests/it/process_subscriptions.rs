//! The knowledge graph as a resource, and notifications of its changes: in both ways that clients subscribe,
//! over stdio and HTTP, from one process and from another.

use std::time::Duration;

use memory_tests::fresh_database;
use memory_tests::process::{DataDir, Server, StdioHost, call};
use serde_json::{Value, json};

const URI: &str = "memory://knowledge-graph";
pub(crate) const UPDATED: &str = "notifications/resources/updated";
/// So long nothing may come that is not to come.
const QUIET: Duration = Duration::from_secs(2);

#[expect(clippy::needless_pass_by_value, reason = "parameters are written where they are passed")]
fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn read() -> Value {
    request(2, "resources/read", json!({"uri": URI}))
}

fn subscribe() -> Value {
    request(3, "resources/subscribe", json!({"uri": URI}))
}

/// What a request of protocol 2026-07-28 says of itself.
fn modern(mut request: Value) -> Value {
    request["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request
}

pub(crate) fn listen(id: i64) -> Value {
    let filter = json!({"resourceSubscriptions": [URI, "memory://other"], "toolsListChanged": true});
    modern(request(id, "subscriptions/listen", json!({"notifications": filter})))
}

pub(crate) fn entity(name: &str) -> Value {
    json!({"entities": [{"name": name, "entityType": "person", "observations": ["Likes tea"]}]})
}

/// The subscription that a message belongs to.
fn subscription(message: &Value) -> &Value {
    &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]
}

async fn ask(host: &mut StdioHost, message: &Value) -> Value {
    host.send(message).await;
    host.receive().await
}

async fn host(data_dir: &DataDir, namespace: &str) -> StdioHost {
    let mut command = data_dir.command("remembrancer");
    command.args(["--namespace", namespace]);
    let mut host = StdioHost::start(command);
    host.initialize().await;
    host
}

/// Nothing comes for a while: the next message is the answer to a question asked after it.
async fn assert_quiet(host: &mut StdioHost) {
    tokio::time::sleep(QUIET).await;
    let answer = ask(host, &modern(request(99, "tools/list", json!({})))).await;
    assert_eq!(answer["id"], 99, "{answer}");
}

/// The messages of an answer that goes on, as they come.
pub(crate) struct Stream {
    response: reqwest::Response,
    buffer: String,
}

impl Stream {
    async fn open(server: &Server, query: &str, message: &Value) -> Self {
        Self::open_as(server, query, message, None).await
    }

    /// The same with a key.
    pub(crate) async fn open_as(server: &Server, query: &str, message: &Value, key: Option<&str>) -> Self {
        let mut request = server.client().post(format!("{}{query}", server.url)).json(message);
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        let request = request
            .header("Accept", "application/json, text/event-stream")
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", message["method"].as_str().expect("a method"));
        let response = request.send().await.expect("it is answered");
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, buffer: String::new() }
    }

    /// Of a subscription that watches the graph: acknowledged, and told to look.
    pub(crate) async fn listening(server: &Server, key: Option<&str>) -> Self {
        let mut stream = Self::open_as(server, "", &listen(5), key).await;
        assert_eq!(stream.next_soon().await["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(stream.next_soon().await["method"], UPDATED);
        stream
    }

    /// The next message, or `None` when the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            while let Some(end) = self.buffer.find('\n') {
                let line: String = self.buffer.drain(..=end).collect();
                if let Some(data) = line.strip_prefix("data:") {
                    return Some(serde_json::from_str(data).expect("JSON"));
                }
            }
            let chunk = self.response.chunk().await.ok()??;
            self.buffer.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
        }
    }

    pub(crate) async fn next_soon(&mut self) -> Value {
        let next = tokio::time::timeout(Duration::from_secs(30), self.next()).await;
        next.expect("a message in time").expect("the stream goes on")
    }

    async fn is_quiet(&mut self) -> bool {
        tokio::time::timeout(QUIET, self.next()).await.is_err()
    }
}

#[tokio::test]
async fn the_whole_graph_is_a_resource_of_its_namespace() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let mut host = host(&data_dir, "default").await;
    let empty = ask(&mut host, &read()).await;
    assert_eq!(empty["result"]["contents"][0]["text"], "{\n  \"entities\": [],\n  \"relations\": []\n}");
    server.ask("create_entities", entity("Ann")).await;
    let relation = json!({"from": "Ann", "to": "Nobody", "relationType": "knows"});
    server.ask("create_relations", json!({"relations": [relation]})).await;
    server
        .ask("create_entities", json!({"entities": entity("Other")["entities"], "threadId": "other"}))
        .await;

    let listed = server.try_post(&request(1, "resources/list", json!({}))).await.expect("it is answered");
    assert_eq!(listed["result"]["resources"][0]["uri"], URI, "{listed}");
    assert_eq!(listed["result"]["resources"][1]["uri"], "memory://briefing", "{listed}");
    assert_eq!(listed["result"]["resources"].as_array().map(Vec::len), Some(2));
    let by_tool = server.ask("read_graph", json!({})).await;
    for answer in [server.try_post(&read()).await.expect("it is answered"), ask(&mut host, &read()).await] {
        let contents = &answer["result"]["contents"][0];
        assert_eq!((&contents["uri"], &contents["mimeType"]), (&json!(URI), &json!("application/json")));
        let graph: Value = serde_json::from_str(contents["text"].as_str().expect("a text")).expect("JSON");
        assert_eq!(graph, json!({"entities": entity("Ann")["entities"], "relations": [relation]}));
        assert_eq!(graph["entities"], by_tool["entities"]);
    }
    let other = server.request_at(&format!("{}?namespace=other", server.url)).json(&read()).send().await;
    let other: Value = other.expect("it is answered").json().await.expect("JSON");
    assert_eq!(other["result"], empty["result"]);
    for (message, code) in [(read(), -32002), (subscribe(), -32002), (modern(read()), -32602)] {
        let mut message = message;
        message["params"]["uri"] = json!("memory://other");
        let refused = ask(&mut host, &message).await;
        assert_eq!(refused["error"]["code"], code, "{refused}");
        assert!(refused["error"]["message"].as_str().expect("a message").contains(URI), "{refused}");
    }
}

#[tokio::test]
async fn without_the_tool_that_shows_it_there_is_no_resource() {
    let data_dir = DataDir::warm();
    let mut host = StdioHost::start_as(data_dir.command("remembrancer"), &["--tools", "recall"]);
    let greeting = host.initialize().await;
    assert!(greeting["result"]["capabilities"]["resources"].is_null(), "{greeting}");
    let listed = ask(&mut host, &request(1, "resources/list", json!({}))).await;
    assert_eq!(listed["result"]["resources"], json!([]));
    for message in [read(), subscribe()] {
        let refused = ask(&mut host, &message).await;
        assert!(refused["error"]["message"].as_str().expect("an error").contains("--tools"), "{refused}");
    }
    let acknowledged = ask(&mut host, &listen(4)).await;
    assert_eq!(acknowledged["params"]["notifications"], json!({}), "{acknowledged}");
}

#[tokio::test]
async fn of_a_graph_that_is_too_large_for_one_piece_the_first_page_comes_with_the_way_to_the_rest() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let observations: Vec<String> = (0..90).map(|n| format!("{n} {}", "x".repeat(4_000))).collect();
    let large = |name: &str, n: usize| json!({"entities": [{"name": name, "entityType": "book", "observations": observations[..n]}]});
    server.ask("create_entities", large("Large", 90)).await;
    let fits = server.try_post(&read()).await.expect("it is answered");
    assert!(fits["result"]["contents"][0]["text"].as_str().is_some_and(|text| text.len() > 360_000));
    server.ask("create_entities", large("Too large", 11)).await;
    let answer = server.try_post(&read()).await.expect("it is answered");
    let text = answer["result"]["contents"][0]["text"].as_str().expect("a text");
    assert!(text.len() < 200_000, "{}", text.len());
    let page: Value = serde_json::from_str(text).expect("JSON");
    let rest = server.ask("read_graph", json!({"cursor": page["next_cursor"]})).await;
    assert_eq!(rest["entities"][0]["name"], "Too large");
}

#[tokio::test]
async fn hosts_that_subscribe_are_told_once_of_a_change_in_their_namespace() {
    let data_dir = DataDir::warm();
    let mut first = host(&data_dir, "default").await;
    let mut second = host(&data_dir, "default").await;
    let mut elsewhere = host(&data_dir, "elsewhere").await;
    let mut writer = host(&data_dir, "default").await;
    for host in [&mut first, &mut second, &mut elsewhere] {
        assert_eq!(ask(host, &subscribe()).await["result"], json!({}));
    }
    // Twice is once.
    ask(&mut first, &subscribe()).await;
    let updated = json!({"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": URI}});
    writer.call("create_entities", entity("Ann")).await;
    for host in [&mut first, &mut second] {
        assert_eq!(host.receive().await, updated);
    }
    for host in [&mut first, &mut elsewhere, &mut writer] {
        assert_quiet(host).await;
    }
    // What changes nothing, or another thread, is not notified.
    writer.call("create_entities", entity("Ann")).await;
    writer.call("create_entities", json!({"entities": entity("Ben")["entities"], "threadId": "other"})).await;
    let unsubscribe = request(5, "resources/unsubscribe", json!({"uri": URI}));
    assert_eq!(ask(&mut second, &unsubscribe).await["result"], json!({}));
    assert_quiet(&mut first).await;
    writer.call("delete_entities", json!({"entityNames": ["Ann"]})).await;
    assert_eq!(first.receive().await, updated);
    assert_quiet(&mut second).await;
}

#[tokio::test]
async fn clients_that_shake_hands_over_http_are_told_how_to_subscribe_instead() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let greeting = server.try_post(&memory_tests::process::initialize()).await.expect("it is answered");
    assert_eq!(greeting["result"]["capabilities"]["resources"], json!({}), "{greeting}");
    let refused = server.try_post(&subscribe()).await.expect("it is answered");
    assert!(
        refused["error"]["message"].as_str().expect("an error").contains("subscriptions/listen"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_host_that_listens_is_told_under_its_subscription_until_it_cancels() {
    let data_dir = DataDir::warm();
    let mut writer = host(&data_dir, "default").await;
    writer.call("create_entities", entity("Ann")).await;
    let mut listener = StdioHost::start(data_dir.command("remembrancer"));
    let discovered = ask(&mut listener, &modern(request(1, "server/discover", json!({})))).await;
    assert_eq!(discovered["result"]["capabilities"]["resources"]["subscribe"], true, "{discovered}");
    for id in [7, 8] {
        let acknowledged = ask(&mut listener, &listen(id)).await;
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(acknowledged["params"]["notifications"], json!({"resourceSubscriptions": [URI]}));
        assert_eq!(subscription(&acknowledged), &json!(id));
        let first = listener.receive().await;
        assert_eq!((&first["method"], subscription(&first)), (&json!(UPDATED), &json!(id)), "{first}");
    }
    assert_quiet(&mut listener).await;
    writer.call("create_entities", entity("Ben")).await;
    let mut told = Vec::new();
    for _ in 0..2 {
        let update = listener.receive().await;
        assert_eq!((&update["method"], &update["params"]["uri"]), (&json!(UPDATED), &json!(URI)), "{update}");
        told.push(subscription(&update).as_i64().expect("a number"));
    }
    told.sort_unstable();
    assert_eq!(told, [7, 8]);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    listener.send(&cancel).await;
    assert_quiet(&mut listener).await;
    writer.call("create_entities", entity("Cid")).await;
    assert_eq!(subscription(&listener.receive().await), &json!(8));
    assert_quiet(&mut listener).await;
}

#[tokio::test]
async fn a_client_that_listens_over_http_is_told_on_its_stream_until_the_server_ends() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("status", json!({})).await;
    let mut stream = Stream::open(&server, "", &listen(7)).await;
    let mut elsewhere = Stream::open(&server, "?namespace=elsewhere", &listen(8)).await;
    for stream in [&mut stream, &mut elsewhere] {
        let acknowledged = stream.next_soon().await;
        assert_eq!(acknowledged["params"]["notifications"], json!({"resourceSubscriptions": [URI]}));
        assert_eq!(stream.next_soon().await["method"], UPDATED);
    }
    server.ask("create_entities", entity("Ann")).await;
    let update = stream.next_soon().await;
    assert_eq!((&update["method"], &update["params"]["uri"]), (&json!(UPDATED), &json!(URI)), "{update}");
    assert_eq!(subscription(&update), &json!(7));
    assert!(stream.is_quiet().await && elsewhere.is_quiet().await);
    // Streams of clients that are gone do not hold places, and open ones do not hold the server.
    drop(elsewhere);
    let ended = server.terminate().await;
    assert!(ended < Duration::from_secs(5), "{ended:?}");
    while let Some(last) = stream.next().await {
        assert!(last["id"] == 7, "{last}");
    }
}

#[tokio::test]
async fn a_client_that_listens_before_the_memory_is_up_is_told_to_look_once() {
    let data_dir = DataDir::new();
    let server = Server::start(&data_dir).await;
    let mut stream = Stream::open(&server, "", &listen(7)).await;
    assert_eq!(stream.next_soon().await["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(stream.next_soon().await["method"], UPDATED);
    assert!(stream.is_quiet().await);
    server.ask("create_entities", entity("Ann")).await;
    assert_eq!(stream.next_soon().await["method"], UPDATED);
}

/// The acknowledgement is sent before the graph is watched.
#[tokio::test]
async fn a_change_right_after_the_acknowledgement_is_told() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    for n in 0..40 {
        let mut stream = Stream::open(&server, "", &listen(n)).await;
        stream.next_soon().await;
        server.ask("create_entities", entity(&format!("Ann {n}"))).await;
        assert_eq!(stream.next_soon().await["method"], UPDATED);
    }
}

#[tokio::test]
async fn a_change_made_by_another_process_is_told() {
    let url = fresh_database().await;
    let (here, there) = (DataDir::new(), DataDir::new());
    let start = async |data_dir: &DataDir| {
        let mut command = data_dir.command("remembrancer");
        command.env("DATABASE_URL", &url);
        Server::start_with(command).await
    };
    let (here, there) = (start(&here).await, start(&there).await);
    for server in [&here, &there] {
        server.ask("status", json!({})).await;
    }
    let mut stream = Stream::listening(&here, None).await;
    for name in ["Ann", "Ben"] {
        there.ask("create_entities", entity(name)).await;
        let update = stream.next_soon().await;
        assert_eq!(update["method"], UPDATED, "{update}");
    }
    let answer =
        here.try_post(&call("open_nodes", json!({"names": ["Ann", "Ben"]}))).await.expect("an answer");
    assert_eq!(answer["result"]["structuredContent"]["entities"].as_array().map(Vec::len), Some(2));
}
