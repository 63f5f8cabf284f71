//! What a client is offered: tools by settings, the instructions for their use, and a plain word to what cannot
//! be read.

use std::collections::BTreeSet;

use memory_core::chunk::count_tokens;
use memory_tests::process::{DataDir, Ran, Server, StdioHost, call};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

const MEMORY: [&str; 5] = ["briefing", "forget", "recall", "remember", "status"];
const GRAPH: [&str; 9] = [
    "add_observations",
    "create_entities",
    "create_relations",
    "delete_entities",
    "delete_observations",
    "delete_relations",
    "open_nodes",
    "read_graph",
    "search_nodes",
];
const AUTHORING: [&str; 9] = [
    "find_relation_path",
    "get_analytics",
    "get_observation_history",
    "list_entities",
    "query_nodes",
    "save_memory",
    "suggest_merges",
    "update_observation",
    "validate_memory",
];

fn list(what: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": format!("{what}/list")})
}

fn names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("no list: {answer}"));
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

/// A host with these flags and variables, with its hands shaken.
async fn host(data_dir: &DataDir, flags: &[&str], variables: &[(&str, &str)]) -> StdioHost {
    let mut command = data_dir.command("remembrancer");
    command.envs(variables.iter().copied());
    let mut host = StdioHost::start_as(command, flags);
    host.initialize().await;
    host
}

async fn ask(host: &mut StdioHost, message: &Value) -> Value {
    host.send(message).await;
    host.receive().await
}

async fn tools_of(host: &mut StdioHost) -> Vec<String> {
    names(&ask(host, &list("tools")).await)
}

#[tokio::test]
async fn each_flag_and_its_variable_choose_the_tools_of_one_host_and_of_no_other() {
    let data_dir = DataDir::warm();
    let mut all = host(&data_dir, &[], &[]).await;
    let every = tools_of(&mut all).await;
    assert_eq!(every.len(), MEMORY.len() + GRAPH.len() + AUTHORING.len());
    let without = |left_out: &[&str]| -> Vec<String> {
        every.iter().filter(|name| !left_out.contains(&name.as_str())).cloned().collect()
    };
    let exactly = |offered: &[&str]| -> Vec<String> { offered.iter().map(|&n| n.to_owned()).collect() };
    for (flag, variable, value, expected) in [
        ("--toolsets", "REMEMBRANCER_TOOLSETS", "memory", exactly(&MEMORY)),
        ("--toolsets", "REMEMBRANCER_TOOLSETS", "graph", exactly(&GRAPH)),
        ("--toolsets", "REMEMBRANCER_TOOLSETS", "authoring", exactly(&AUTHORING)),
        ("--toolsets", "REMEMBRANCER_TOOLSETS", "memory, graph,authoring", every.clone()),
        ("--tools", "REMEMBRANCER_TOOLS", "recall,status", exactly(&["recall", "status"])),
        (
            "--exclude-tools",
            "REMEMBRANCER_EXCLUDE_TOOLS",
            "forget,remember",
            without(&["forget", "remember"]),
        ),
    ] {
        let mut by_flag = host(&data_dir, &[flag, value], &[]).await;
        assert_eq!(tools_of(&mut by_flag).await, expected, "{flag} {value}");
        let mut by_variable = host(&data_dir, &[], &[(variable, value)]).await;
        assert_eq!(tools_of(&mut by_variable).await, expected, "{variable}={value}");
    }
    // The flag comes before the variable, and an empty variable says nothing.
    let variables = [("REMEMBRANCER_TOOLSETS", "memory"), ("REMEMBRANCER_TOOLS", "")];
    let mut both = host(&data_dir, &["--tools", "status"], &variables).await;
    assert_eq!(tools_of(&mut both).await, ["status"]);
    assert_eq!(tools_of(&mut all).await, every, "the choice of one host reached another");
    assert_eq!(data_dir.instances().len(), 1);
}

#[tokio::test]
async fn each_listener_offers_its_own_choice_also_beside_another() {
    let data_dir = DataDir::warm();
    let first = Server::start_as(data_dir.command("remembrancer"), &["--toolsets", "memory"]).await;
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_EXCLUDE_TOOLS", "forget");
    let second = Server::start_as(command, &["--read-only"]).await;
    let of_first = names(&first.try_post(&list("tools")).await.expect("it is answered"));
    assert_eq!(of_first, MEMORY);
    let of_second = names(&second.try_post(&list("tools")).await.expect("it is answered"));
    assert!(of_second.contains(&"recall".to_owned()) && !of_second.contains(&"remember".to_owned()));
    first.ask("remember", json!({"content": "The spare key is in the blue box."})).await;
    assert_eq!(second.ask("recall", json!({"query": "spare key"})).await["results"][0]["context"], "note");
}

#[tokio::test]
async fn an_unknown_name_ends_the_start_with_the_known_ones() {
    let data_dir = DataDir::warm();
    for command in ["stdio", "serve"] {
        for (flag, known) in [
            ("--toolsets", "memory, graph, authoring"),
            ("--tools", "recall, remember"),
            ("--exclude-tools", "recall, remember"),
        ] {
            let ran = data_dir.run(&[command, flag, "recal"]).await;
            let refusal = ran.refusal();
            assert!(refusal.contains("\"recal\"") && refusal.contains(known), "{ran:?}");
        }
        let ran = data_dir.run(&[command, "--tools", "forget", "--read-only"]).await;
        assert!(ran.refusal().contains("no tool is left"), "{ran:?}");
    }
    let mut command = data_dir.command("remembrancer");
    let ran = Ran::of(command.arg("stdio").env("REMEMBRANCER_TOOLSETS", "memory,grpah")).await;
    assert!(ran.refusal().contains("\"grpah\""), "{ran:?}");
}

#[tokio::test]
async fn a_tool_that_is_not_offered_cannot_be_called_and_says_why() {
    let data_dir = DataDir::warm();
    let mut host = host(&data_dir, &["--tools", "recall"], &[]).await;
    let answer = ask(&mut host, &call("remember", json!({"content": "x"}))).await;
    assert!(answer["error"]["message"].as_str().expect("an error").contains("--tools"), "{answer}");
    let server =
        Server::start_as(data_dir.command("remembrancer"), &["--exclude-tools", "forget,status"]).await;
    for (tool, why) in [("forget", "--exclude-tools"), ("no_such_tool", "unknown tool")] {
        let answer =
            server.try_post(&call(tool, json!({"id": "art_1", "confirm": true}))).await.expect("an answer");
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(answer["error"]["message"].as_str().expect("an error").contains(why), "{answer}");
    }
}

/// What each writing tool would be called with to change something.
fn changes(id: &Value, observation: &Value) -> Vec<(&'static str, Value)> {
    let ben = json!({"name": "Ben", "entityType": "Person", "observations": ["Likes milk"], "isRoot": true});
    vec![
        ("save_memory", json!({"entities": [ben], "threadId": "default"})),
        (
            "update_observation",
            json!({"entityName": "Ann", "observationId": observation, "content": "Likes milk"}),
        ),
        ("remember", json!({"content": "Written in spite of it."})),
        ("forget", json!({"id": id, "confirm": true})),
        (
            "create_entities",
            json!({"entities": [{"name": "Ben", "entityType": "person", "observations": []}]}),
        ),
        ("create_relations", json!({"relations": [{"from": "Ann", "to": "Ben", "relationType": "knows"}]})),
        ("add_observations", json!({"observations": [{"entityName": "Ann", "contents": ["Likes milk"]}]})),
        ("delete_entities", json!({"entityNames": ["Ann"]})),
        ("delete_observations", json!({"deletions": [{"entityName": "Ann", "observations": ["Likes tea"]}]})),
        ("delete_relations", json!({"relations": [{"from": "Ann", "to": "Tea", "relationType": "likes"}]})),
    ]
}

#[tokio::test]
async fn read_only_holds_over_http_and_stdio_by_flag_and_variable() {
    let data_dir = DataDir::warm();
    let writer = Server::start(&data_dir).await;
    let id =
        writer.ask("remember", json!({"content": "The spare key is in the blue box."})).await["id"].clone();
    let ann = json!({"name": "Ann", "entityType": "person", "observations": ["Likes tea"]});
    writer.ask("create_entities", json!({"entities": [ann]})).await;
    let relation = json!({"from": "Ann", "to": "Tea", "relationType": "likes"});
    writer.ask("create_relations", json!({"relations": [relation]})).await;
    writer.settled().await;
    let state = async || {
        let counts = writer.ask("status", json!({})).await["counts"].clone();
        (counts, writer.ask("read_graph", json!({})).await)
    };
    let before = state().await;
    let history = writer.ask("get_observation_history", json!({"entityName": "Ann"})).await;
    let observation = &history["observations"][0]["id"];
    assert!(observation.is_string(), "{history}");
    let all = writer.try_post(&list("tools")).await.expect("it is answered");
    let writing: BTreeSet<&str> = all["result"]["tools"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|tool| tool["annotations"]["readOnlyHint"] != true)
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let tried: BTreeSet<&str> = changes(&id, observation).iter().map(|(tool, _)| *tool).collect();
    assert_eq!(tried, writing, "a tool that writes is not tried");

    for (flags, variables) in [
        (&["--read-only"][..], &[][..]),
        (&[], &[("REMEMBRANCER_READ_ONLY", "1")]),
        (&[], &[("REMEMBRANCER_READ_ONLY", "treu")]),
        (&["--read-only", "--tools", "remember,forget,recall"], &[("REMEMBRANCER_READ_ONLY", "false")]),
    ] {
        let mut command = data_dir.command("remembrancer");
        command.envs(variables.iter().copied());
        let server = Server::start_as(command, flags).await;
        let mut host = host(&data_dir, flags, variables).await;
        for answer in [
            server.try_post(&list("tools")).await.expect("it is answered"),
            ask(&mut host, &list("tools")).await,
        ] {
            let offered = names(&answer);
            assert!(!offered.is_empty() && offered.iter().all(|name| !writing.contains(name.as_str())));
        }
        for tool in &writing {
            let known = changes(&id, observation).into_iter().find(|(name, _)| name == tool);
            let message = call(tool, known.map_or(json!({}), |(_, arguments)| arguments));
            for answer in
                [server.try_post(&message).await.expect("it is answered"), ask(&mut host, &message).await]
            {
                let reason = answer["error"]["message"].as_str().unwrap_or_default();
                assert!(answer["result"].is_null() && reason.contains("switched off"), "{tool}: {answer}");
            }
        }
        assert_eq!(state().await, before, "{flags:?} {variables:?}");
        assert_eq!(server.ask("recall", json!({"query": "spare key"})).await["results"][0]["id"], id);
        server.terminate().await;
    }
}

#[tokio::test]
async fn commands_have_every_tool_whatever_is_offered_to_hosts() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    let settings = [("REMEMBRANCER_READ_ONLY", "1"), ("REMEMBRANCER_TOOLS", "recall")];
    let text = data_dir.path().join("note.txt");
    std::fs::write(&text, "The spare key is in the blue box.").expect("a file is written");
    let ran = Ran::of(command.envs(settings).args(["remember", "--json"]).arg(&text)).await;
    assert_eq!(ran.json()["status"], "created", "{ran:?}");
}

#[tokio::test]
async fn a_client_that_says_nothing_of_tools_is_offered_all() {
    let data_dir = DataDir::warm();
    let mut first = host(&data_dir, &["--tools", "recall"], &[]).await;
    assert_eq!(tools_of(&mut first).await, ["recall"]);
    let socket = UnixStream::connect(data_dir.path().join("run/embedded.sock")).await.expect("the socket");
    let (read, mut write) = socket.into_split();
    let lines = [
        json!({"want": "mcp", "namespace": "default"}),
        memory_tests::process::initialize(),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        list("tools"),
    ];
    for line in lines {
        write.write_all(format!("{line}\n").as_bytes()).await.expect("it is sent");
    }
    let mut lines = BufReader::new(read).lines();
    let _greeting = lines.next_line().await.expect("an answer");
    let answer = lines.next_line().await.expect("an answer").expect("a line");
    let offered = names(&serde_json::from_str(&answer).expect("JSON"));
    assert!(MEMORY.iter().all(|name| offered.contains(&(*name).to_owned())), "{offered:?}");
}

#[tokio::test]
async fn instructions_and_guide_speak_of_the_tools_that_are_offered() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let mut reader = StdioHost::start_as(data_dir.command("remembrancer"), &["--read-only"]);
    let greetings = [
        server.try_post(&memory_tests::process::initialize()).await.expect("it is answered"),
        reader.initialize().await,
    ];
    let told = greetings.map(|greeting| {
        assert!(greeting["result"]["capabilities"]["prompts"].is_object(), "{greeting}");
        greeting["result"]["instructions"].as_str().expect("instructions").to_owned()
    });
    assert!(told.iter().all(|text| text.chars().count() <= 2_000 && text.contains("`recall`")), "{told:?}");
    assert!(told[0].contains("`remember`") && !told[1].contains("`remember`"), "{told:?}");

    let get = json!({"jsonrpc": "2.0", "id": 2, "method": "prompts/get", "params": {"name": "memory-guide"}});
    let prompts = server.try_post(&list("prompts")).await.expect("it is answered");
    assert_eq!(prompts["result"]["prompts"][0]["name"], "memory-guide", "{prompts}");
    assert_eq!(ask(&mut reader, &list("prompts")).await["result"]["prompts"], prompts["result"]["prompts"]);
    let guides = [server.try_post(&get).await.expect("it is answered"), ask(&mut reader, &get).await];
    let guides = guides.map(|guide| {
        let message = guide["result"]["messages"][0].clone();
        assert_eq!(
            (&message["role"], &message["content"]["type"]),
            (&json!("user"), &json!("text")),
            "{guide}"
        );
        message["content"]["text"].as_str().expect("a text").to_owned()
    });
    assert!(guides[0].contains("`forget`") && guides[0].contains("## Keep it true"), "{}", guides[0]);
    assert!(!guides[1].contains("`forget`") && guides[1].contains("## Look first"), "{}", guides[1]);
    let unknown = json!({"jsonrpc": "2.0", "id": 3, "method": "prompts/get", "params": {"name": "guide"}});
    let refused = ask(&mut reader, &unknown).await;
    assert!(refused["error"]["message"].as_str().expect("an error").contains("memory-guide"), "{refused}");
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_answered_with_a_json_rpc_error() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let recall = |query: &str| {
        let arguments = format!(r#"{{"name":"recall","arguments":{{"query":{query}}}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{arguments}}}"#)
    };
    for (body, code) in [
        (recall(r#""a\ud800b""#), -32700),
        (recall(r#""\udc00""#), -32700),
        (recall(&deep), -32700),
        (recall("1e999"), -32700),
        (recall("\"unfinished"), -32700),
        (deep, -32700),
        ("not json".to_owned(), -32700),
        (String::new(), -32700),
        ("[]".to_owned(), -32600),
        ("7".to_owned(), -32600),
        (r#"{"jsonrpc":"2.0"}"#.to_owned(), -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#.to_owned(), -32600),
        (format!("[{}]", vec![list("tools").to_string(); 3].join(",")), -32600),
    ] {
        let shown: String = body.chars().take(80).collect();
        let answer = server.request().body(body).send().await.expect("it is answered");
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{shown}");
        let error: Value = answer.json().await.expect("JSON");
        assert_eq!(error["jsonrpc"], "2.0", "{shown}: {error}");
        // The message's own, where it can be found.
        assert!(error["id"].is_null() || error["id"] == 1, "{shown}: {error}");
        assert_eq!(error["error"]["code"], code, "{shown}: {error}");
        let message = error["error"]["message"].as_str().expect("a message");
        assert!((15..300).contains(&message.len()), "{shown}: {error}");
    }
    // Another 415 stays what it was, and an ordinary call is untouched.
    let url = &server.url;
    let other = server.client().post(url).header("Accept", "application/json, text/event-stream").body("x");
    assert_eq!(other.send().await.expect("it is answered").status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let ping = server.try_post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).await;
    assert_eq!(ping, Some(json!({"jsonrpc": "2.0", "id": 1, "result": {}})));
}

/// Prints the figures; see them with `cargo test -p memory-tests --test it -- few_tokens --nocapture`.
#[tokio::test]
async fn the_tools_cost_a_client_few_tokens() {
    let data_dir = DataDir::warm();
    println!(
        "{:10} {:>5} {:>6} {:>11} {:>28}",
        "set", "tools", "bytes", "tools/list", "names, descriptions, inputs"
    );
    for (set, most_tokens, most_bytes) in [
        ("memory", 2_100, 8_650),
        ("graph", 2_000, 8_000),
        ("authoring", 2_600, 10_500),
        ("memory,graph,authoring", 6_000, 25_500),
    ] {
        let mut host = host(&data_dir, &["--toolsets", set], &[]).await;
        host.send(&list("tools")).await;
        let line = host.receive_line().await;
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        let tools = answer["result"]["tools"].as_array().expect("a list");
        // What hosts put before their models of it.
        let shown: usize = tools
            .iter()
            .map(|t| {
                let shown =
                    json!({"name": t["name"], "description": t["description"], "input_schema": t["inputSchema"]});
                count_tokens(&shown.to_string())
            })
            .sum();
        let whole = count_tokens(&answer["result"].to_string());
        let name = if set.contains(',') { "all" } else { set };
        println!("{name:10} {:5} {:6} {whole:11} {shown:28}", tools.len(), line.len());
        assert!(
            whole <= most_tokens && line.len() <= most_bytes,
            "{set}: {whole} tokens, {} bytes",
            line.len()
        );
        assert!(shown <= 3_400, "{set}: {shown} tokens before a model");
    }
}
