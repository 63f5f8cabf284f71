//! Graphs in files as hosts configure them, and graphs exported and imported, by real processes.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use memory_tests::process::{DataDir, Ran, Server, StdioHost, call, eventually, kill};
use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::graph_lines::REFERENCE;

/// What the reference server was called with when it wrote that file.
const CALLS: &str = include_str!("../fixtures/reference-memory-calls.json");

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// `stdio` with this in MEMORY_FILE_PATH.
async fn host(data_dir: &DataDir, file: impl AsRef<Path>) -> StdioHost {
    host_in(data_dir, Path::new("/"), file).await
}

async fn host_in(data_dir: &DataDir, folder: &Path, file: impl AsRef<Path>) -> StdioHost {
    let mut command = data_dir.command("remembrancer");
    command.env("MEMORY_FILE_PATH", file.as_ref()).current_dir(folder);
    let mut host = StdioHost::start(command);
    host.initialize().await;
    host
}

fn create(name: &str) -> Value {
    json!({"entities": [{"name": name, "entityType": "t", "observations": ["x"]}]})
}

/// One of many calls at once.
fn numbered(n: usize, name: &str) -> Value {
    let mut message = call("create_entities", create(name));
    message["id"] = json!(format!("n{n}"));
    message
}

fn read(file: impl AsRef<Path>) -> String {
    std::fs::read_to_string(file).expect("the file is read")
}

/// The names of the entities of a file, every line of which must be whole.
fn names(file: impl AsRef<Path>) -> Vec<String> {
    let named = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        value["name"].as_str().expect("a name").to_owned()
    };
    read(file).lines().map(named).collect()
}

async fn graph_of(host: &mut StdioHost) -> Value {
    host.call("read_graph", json!({})).await["structuredContent"].clone()
}

#[tokio::test]
async fn the_calls_that_the_reference_server_got_give_the_file_that_it_wrote() {
    let (data_dir, folder) = (DataDir::warm(), folder());
    let file = folder.path().join("memory.jsonl");
    let mut host = host(&data_dir, &file).await;
    let calls: Vec<Value> = serde_json::from_str(CALLS).expect("JSON");
    for made in &calls {
        let answer = host.call(made["tool"].as_str().expect("a tool"), made["arguments"].clone()).await;
        assert_eq!(answer["isError"], false, "{answer}");
        assert_eq!(answer["content"].as_array().map(Vec::len), Some(1), "{answer}");
    }
    assert_eq!(read(&file), REFERENCE);
    // Users of the reference server keep what it has.
    let moved = folder.path().join("moved/graph.jsonl");
    std::fs::create_dir(folder.path().join("moved")).expect("a folder");
    std::fs::write(&moved, REFERENCE).expect("it is written");
    let mut other = self::host(&data_dir, &moved).await;
    assert_eq!(graph_of(&mut other).await, graph_of(&mut host).await);
    other.call("create_entities", create("one more")).await;
    let added = r#"{"type":"entity","name":"one more","entityType":"t","observations":["x"]}"#;
    let mut expected: Vec<&str> = REFERENCE.lines().collect();
    expected.insert(5, added);
    assert_eq!(read(&moved), expected.join("\n"));
}

#[tokio::test]
async fn a_relative_path_counts_from_the_hosts_folder_and_projects_never_mix() {
    let (data_dir, a, b) = (DataDir::warm(), folder(), folder());
    let mut in_a = host_in(&data_dir, a.path(), "data/graph.jsonl").await;
    let mut in_b = host_in(&data_dir, b.path(), "data/graph.jsonl").await;
    let mut plain = StdioHost::start(data_dir.command("remembrancer"));
    plain.initialize().await;
    in_a.call("create_entities", create("of a")).await;
    in_b.call("create_entities", create("of b")).await;
    plain.call("create_entities", create("of none")).await;
    assert_eq!(names(a.path().join("data/graph.jsonl")), ["of a"]);
    assert_eq!(names(b.path().join("data/graph.jsonl")), ["of b"]);
    assert_eq!(graph_of(&mut plain).await["entities"][0]["name"], "of none");
    // Another thread is one of the namespace, as for everyone.
    in_a.call("create_entities", json!({"entities": create("of thread")["entities"], "threadId": "other"}))
        .await;
    let thread = plain.call("read_graph", json!({"threadId": "other"})).await;
    assert_eq!(thread["structuredContent"]["entities"][0]["name"], "of thread");
    let own = in_a.call("read_graph", json!({"threadId": "default"})).await;
    assert_eq!(own["structuredContent"]["entities"][0]["name"], "of a");
    assert_eq!(names(a.path().join("data/graph.jsonl")), ["of a"]);
    assert_eq!(data_dir.instances().len(), 1);
}

#[tokio::test]
async fn an_old_json_file_has_its_new_name_before_the_first_call() {
    let (data_dir, folder) = (DataDir::warm(), folder());
    let old = folder.path().join("memory.json");
    std::fs::write(&old, REFERENCE).expect("it is written");
    let mut host = host(&data_dir, folder.path().join("memory.jsonl")).await;
    assert_eq!(read(folder.path().join("memory.jsonl")), REFERENCE);
    assert!(!old.exists());
    assert_eq!(graph_of(&mut host).await["entities"].as_array().map(Vec::len), Some(5));

    std::fs::write(&old, "older").expect("it is written");
    let mut again = self::host(&data_dir, folder.path().join("memory.jsonl")).await;
    assert_eq!(graph_of(&mut again).await["entities"].as_array().map(Vec::len), Some(5));
    assert_eq!((read(&old), read(folder.path().join("memory.jsonl"))), ("older".into(), REFERENCE.into()));
}

#[tokio::test]
async fn an_editors_change_is_there_at_the_next_call_and_two_hosts_keep_what_both_write() {
    let (data_dir, folder) = (DataDir::warm(), folder());
    let file = folder.path().join("memory.jsonl");
    let (mut a, mut b) = (host(&data_dir, &file).await, host(&data_dir, &file).await);
    a.call("create_entities", create("a")).await;
    b.call("create_entities", create("b")).await;
    assert_eq!(names(&file), ["a", "b"]);
    std::fs::write(&file, read(&file).replace("\"a\"", "\"edited\"")).expect("it is written");
    a.call("create_entities", create("c")).await;
    assert_eq!(names(&file), ["edited", "b", "c"]);
    for n in 0..20 {
        let host = if n % 2 == 0 { &mut a } else { &mut b };
        host.send(&numbered(n, &format!("e{n}"))).await;
    }
    for n in 0..20 {
        let host = if n % 2 == 0 { &mut a } else { &mut b };
        assert_eq!(host.receive().await["result"]["isError"], false);
    }
    let mut all = names(&file);
    assert_eq!(all.len(), 23);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 23);
}

#[tokio::test]
async fn a_process_killed_while_it_writes_leaves_a_whole_file_with_all_that_was_answered() {
    let (data_dir, folder) = (DataDir::warm(), folder());
    let file = folder.path().join("memory.jsonl");
    let mut answered: Vec<String> = Vec::new();
    for round in 0..3 {
        let mut host = host(&data_dir, &file).await;
        // Each write takes a while.
        let many = (0..300)
            .map(|n| json!({"name": format!("r{round} {n}"), "entityType": "t", "observations": ["long ".repeat(200)]}));
        host.call("create_entities", json!({"entities": many.collect::<Vec<_>>()})).await;
        answered.extend((0..300).map(|n| format!("r{round} {n}")));
        let [instance] = data_dir.instances()[..] else { panic!("one process holds the folder") };
        for n in 0..40 {
            host.send(&numbered(n, &format!("r{round} x{n}"))).await;
        }
        for _ in 0..=round {
            let answer = host.receive().await;
            assert_eq!(answer["result"]["isError"], false, "{answer}");
            let created = &answer["result"]["structuredContent"]["entities"][0]["name"];
            answered.push(created.as_str().expect("a name").to_owned());
        }
        // The host first: it would have another process go on.
        host.child.kill().await.expect("the host ends");
        kill(instance, Signal::KILL);
        let here = names(&file);
        let lost: Vec<&String> = answered.iter().filter(|name| !here.contains(name)).collect();
        assert!(lost.is_empty(), "answered, but not in the file: {lost:?}");
    }
    let mut host = host(&data_dir, &file).await;
    let many = host.call("search_nodes", json!({"query": "r0 ", "limit": 1000})).await;
    assert!(many["structuredContent"]["entities"].as_array().is_some_and(|found| found.len() > 300));
    host.call("create_entities", create("after")).await;
    assert!(names(&file).contains(&"after".to_owned()));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "drafts are left there");
}

#[tokio::test]
async fn a_write_that_fails_is_said_after_the_bare_result_and_in_status() {
    let data_dir = DataDir::warm();
    // No file can be made there.
    let mut host = host(&data_dir, "/proc/memory.jsonl").await;
    let answer = host.call("create_entities", create("a")).await;
    assert_eq!(answer["isError"], false);
    let texts: Vec<&str> =
        answer["content"].as_array().expect("content").iter().filter_map(|c| c["text"].as_str()).collect();
    let warning = answer["structuredContent"]["warning"].as_str().expect("a warning");
    let first = texts[0].strip_suffix(warning).expect("who reads the first text alone sees it");
    let bare: Value = serde_json::from_str(first).expect("what stands before is JSON");
    assert_eq!((bare.clone(), texts.len()), (create("a")["entities"].clone(), 1));
    assert!(warning.contains("/proc/memory.jsonl was not written"), "{warning}");
    assert_eq!(answer["structuredContent"]["entities"], bare);
    let status = host.call("status", json!({})).await["structuredContent"].clone();
    let service = &status["services"]["graph_file"];
    assert!(status["healthy"] == false && service["status"] == "down", "{status}");
    let read = graph_of(&mut host).await;
    assert_eq!((&read["entities"][0]["name"], &read["warning"]), (&json!("a"), &Value::Null));
}

#[tokio::test]
async fn a_path_that_is_no_file_refuses_the_graph_tools_alone() {
    let (data_dir, folder) = (DataDir::warm(), folder());
    let mut host = host(&data_dir, folder.path()).await;
    let refused = host.call("read_graph", json!({})).await;
    let error = refused["structuredContent"]["error"].as_str().expect("a reason");
    assert!(refused["isError"] == true && error.contains("not a regular file"), "{error}");
    let kept = host.call("remember", json!({"content": "The spare key is in the blue box."})).await;
    assert_eq!(kept["structuredContent"]["status"], "created");
    let mut unset = self::host(&data_dir, "").await;
    assert_eq!(unset.call("read_graph", json!({})).await["isError"], false);
}

#[tokio::test]
async fn serve_keeps_its_clients_graph_in_the_file_too() {
    let (data_dir, folder) = (DataDir::warm(), folder());
    let mut command = data_dir.command("remembrancer");
    command.env("MEMORY_FILE_PATH", "graph.jsonl").current_dir(folder.path());
    let server = Server::start_with(command).await;
    server.ask("create_entities", create("over HTTP")).await;
    assert_eq!(names(folder.path().join("graph.jsonl")), ["over HTTP"]);
    // A second `serve` on the data folder has its own file, or none.
    let second = Server::start(&data_dir).await;
    assert_eq!(second.ask("read_graph", json!({})).await["entities"], json!([]));
}

#[tokio::test]
async fn a_file_belongs_to_the_namespace_that_the_process_was_started_with() {
    let (data_dir, folder) = (DataDir::warm(), folder());
    let mut command = data_dir.command("remembrancer");
    command.env("MEMORY_FILE_PATH", "graph.jsonl").current_dir(folder.path());
    let server = Server::start_with(command).await;
    let told = |namespace: &str, tool: &str, arguments: Value| {
        let request =
            server.request_at(&format!("{}?namespace={namespace}", server.url)).json(&call(tool, arguments));
        async {
            let answer = request.send().await.expect("it is answered").json::<Value>().await.expect("JSON");
            answer["result"]["structuredContent"].clone()
        }
    };
    told("default", "create_entities", create("of the file")).await;
    told("other", "create_entities", create("of another namespace")).await;
    assert_eq!(names(folder.path().join("graph.jsonl")), ["of the file"]);
    let other = told("other", "read_graph", json!({})).await;
    assert_eq!(other["entities"], create("of another namespace")["entities"]);
    assert_eq!(server.ask("read_graph", json!({})).await["entities"], create("of the file")["entities"]);
}

#[tokio::test]
async fn a_host_that_only_reads_leaves_the_file_as_it_is() {
    let (data_dir, folder) = (DataDir::warm(), folder());
    let old = folder.path().join("memory.json");
    std::fs::write(&old, REFERENCE).expect("it is written");
    let mut command = data_dir.command("remembrancer");
    command.env("MEMORY_FILE_PATH", folder.path().join("memory.jsonl"));
    let mut host = StdioHost::start_as(command, &["--read-only"]);
    host.initialize().await;
    assert_eq!(graph_of(&mut host).await["entities"].as_array().map(Vec::len), Some(5));
    assert_eq!(read(&old), REFERENCE);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

/// Runs a command with this as its standard input.
async fn fed(mut command: Command, input: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("an input");
    let input = input.to_owned();
    tokio::spawn(async move {
        let _ = stdin.write_all(input.as_bytes()).await;
    });
    let output = child.wait_with_output().await.expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn command(data_dir: &DataDir, arguments: &[&str]) -> Command {
    let mut command = data_dir.command("remembrancer");
    command.args(arguments);
    command
}

#[tokio::test]
async fn a_graph_is_exported_and_imported_through_files_and_pipes() {
    let (data_dir, folder) = (DataDir::warm(), folder());
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    std::fs::write(path("in.jsonl"), REFERENCE).expect("it is written");
    let ran = data_dir.run(&["import", "--graph", &path("in.jsonl")]).await;
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(ran.stdout, "entities: 5 new\nobservations: 12 new\nrelations: 4 new\n");
    let ran = data_dir.run(&["export", "--graph"]).await;
    assert_eq!((ran.stdout.as_str(), ran.status.success()), (REFERENCE, true), "{}", ran.stderr);
    let ran = data_dir.run(&["export", "--graph", &path("out.jsonl")]).await;
    assert!(ran.status.success() && ran.stdout.is_empty(), "{ran:?}");
    assert_eq!(read(path("out.jsonl")), REFERENCE);

    let again = fed(command(&data_dir, &["import", "--graph", "--json", "-"]), REFERENCE).await.json();
    assert_eq!((&again["entities"]["created"], &again["entities"]["known"]), (&json!(0), &json!(5)));
    let other = fed(command(&data_dir, &["import", "--graph", "--thread", "team", "-"]), REFERENCE).await;
    assert!(other.status.success(), "{other:?}");
    assert_eq!(data_dir.run(&["export", "--graph", "--thread", "team", "-"]).await.stdout, REFERENCE);
    let missing = data_dir.run(&["export", "--graph", "--thread", "typo", &path("typo.jsonl")]).await;
    assert!(missing.refusal().contains("no graph in thread 'typo'"));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2, "no part of a file is left");
}

#[tokio::test]
async fn an_import_that_cannot_be_completed_changes_nothing() {
    let data_dir = DataDir::warm();
    let torn = format!("{REFERENCE}\n{{\"type\":\"entity\",\"na");
    let ran = fed(command(&data_dir, &["import", "--graph"]), &torn).await;
    assert!(ran.refusal().contains("Line 10 cannot be read: EOF"), "{ran:?}");
    assert_eq!(data_dir.run(&["export", "--graph"]).await.stdout, "");
    let ran = data_dir.run(&["import", "--graph", "/nowhere/graph.jsonl"]).await;
    assert!(ran.refusal().contains("/nowhere/graph.jsonl cannot be read"));

    // A writer that is killed in the middle has sent whole lines, but not all of them.
    let mut importing = command(&data_dir, &["import", "--graph"]);
    let mut importing = importing.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    let mut stdin = importing.stdin.take().expect("an input");
    for _ in 0..200 {
        stdin.write_all(format!("{REFERENCE}\n").as_bytes()).await.expect("it is sent");
    }
    importing.kill().await.expect("it is killed");
    eventually("the client is gone", Duration::from_secs(10), async || {
        data_dir.run(&["status", "--json"]).await.json()["counts"]["graph_entities"] == 0
    })
    .await;
    assert_eq!(data_dir.run(&["export", "--graph"]).await.stdout, "");
    assert_eq!(data_dir.run(&["import", "--thread", "x"]).await.status.code(), Some(2), "it needs --graph");
}

/// The path of a file that is not there is made by the first that needs it.
#[tokio::test]
async fn a_folder_that_is_not_there_is_made() {
    let (data_dir, folder) = (DataDir::warm(), folder());
    let file: PathBuf = folder.path().join("a/b/c.jsonl");
    let mut host = host(&data_dir, &file).await;
    host.call("create_entities", create("a")).await;
    assert_eq!(names(&file), ["a"]);
}

#[tokio::test]
async fn a_namespace_is_archived_to_a_file_and_brought_into_another() {
    let (data_dir, folder) = (DataDir::warm(), folder());
    let file = folder.path().join("backup.jsonl").to_str().expect("UTF-8").to_owned();
    let text = "The spare key is in the blue box.";
    let ran = fed(command(&data_dir, &["remember", "--title", "Keys", "-"]), text).await;
    assert!(ran.status.success(), "{ran:?}");
    fed(command(&data_dir, &["import", "--graph"]), REFERENCE).await;
    let ran = data_dir.run(&["export", &file]).await;
    assert!(ran.status.success() && ran.stdout.is_empty(), "{ran:?}");
    assert!(
        ran.stderr.contains("1 artifact, 0 merge decisions, 5 entities, 0 extractions, 12 observations"),
        "{ran:?}"
    );

    let ran = data_dir.run(&["--namespace", "other", "import", &file]).await;
    assert!(ran.stdout.starts_with("artifacts: 1 new\nentities: 5 new\n"), "{ran:?}");
    let ran = data_dir.run(&["--namespace", "other", "import", "--json", &file]).await.json();
    assert_eq!(ran["revisions"], json!({"created": 0, "known": 1}));
    let other = data_dir.run(&["--namespace", "other", "export"]).await;
    assert_eq!(other.stdout, read(&file));
    let found = data_dir.run(&["--namespace", "other", "recall", "spare key", "--json"]).await.json();
    assert_eq!(found["results"][0]["title"], "Keys", "{found}");

    let damaged = read(&file).replace("blue box", "red box");
    let ran = fed(command(&data_dir, &["--namespace", "third", "import", "-"]), &damaged).await;
    assert!(ran.refusal().contains("Line 2 cannot be read: its content is not what was written"), "{ran:?}");
    let ran = fed(command(&data_dir, &["import"]), REFERENCE).await;
    assert!(ran.refusal().contains("import it with --graph"), "{ran:?}");
    let ran = fed(command(&data_dir, &["import", "--graph"]), &read(&file)).await;
    assert!(ran.refusal().contains("import it without --graph"), "{ran:?}");
}
