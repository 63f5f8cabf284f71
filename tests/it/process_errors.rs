//! Messages for a setting that cannot work, or has no effect, and that they show no secret.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memory_tests::fresh_database;
use memory_tests::process::{DataDir, Ran, Server, StdioHost, eventually, free_port, kill};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::process::Command;

/// The command on a database at an address without a listener.
fn without_a_database(data_dir: &DataDir, port: u16) -> Command {
    let mut command = data_dir.command("remembrancer");
    command.env("DATABASE_URL", format!("postgres://ann:hunter2@127.0.0.1:{port}/memory"));
    command
}

#[tokio::test]
async fn every_command_tells_soon_where_no_database_answers_and_why() {
    let data_dir = DataDir::new();
    let port = free_port();
    for arguments in [
        &["recall", "spare key"][..],
        &["forget", "art_123456789abc"],
        &["entities", "list"],
        &["jobs", "list"],
        &["export", "-"],
    ] {
        let started = Instant::now();
        let ran = Ran::of(without_a_database(&data_dir, port).args(arguments)).await;
        println!("{arguments:?}: told after {:?}", started.elapsed());
        let said = &ran.stderr;
        assert_eq!(ran.status.code(), Some(1), "{ran:?}");
        assert!(
            said.contains(&format!("127.0.0.1:{port}")) && said.contains("connection refused"),
            "{ran:?}"
        );
        assert!(said.contains("DATABASE_URL") && !said.contains("hunter2"), "{ran:?}");
        // Three seconds on a quiet machine; a minute was waited before.
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    }
    let status = Ran::of(without_a_database(&data_dir, port).args(["status", "--json"])).await.json();
    let detail = status["services"]["postgres"]["detail"].to_string();
    assert!(detail.contains("connection refused") && !detail.contains("hunter2"), "{status}");
    let mut host = StdioHost::start(without_a_database(&data_dir, port));
    host.initialize().await;
    let answer = host.call("recall", json!({"query": "spare key"})).await;
    assert!(answer["structuredContent"]["error"].to_string().contains("connection refused"), "{answer}");
    let log = std::fs::read_dir(data_dir.path().join("run")).expect("it is read").flatten();
    for file in log {
        let text = std::fs::read(file.path()).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&text).contains("hunter2"), "{}", file.path().display());
    }
}

#[tokio::test]
async fn serve_waits_for_a_database_says_why_and_goes_on_when_it_is_there() {
    let data_dir = DataDir::new();
    let url = fresh_database().await;
    // The address leads to a socket that is not there yet.
    let folder = data_dir.path().join("later");
    let (start, real) = url.split_once("?host=").expect("a socket");
    let mut command = data_dir.command("remembrancer");
    command.env("DATABASE_URL", format!("{start}?host={}", folder.display()));
    let server = Server::start_with(command).await;
    let (answer, is_error) = server.call("recall", json!({"query": "spare key"})).await;
    assert!(is_error && answer["error"].to_string().contains("no such socket"), "{answer}");
    let log = std::fs::read_to_string(data_dir.path().join("test.log")).expect("a log");
    assert!(log.contains("no such socket") && log.contains("trying again"), "{log}");
    std::os::unix::fs::symlink(real, &folder).expect("it is there now");
    eventually("the memory is there", Duration::from_secs(60), async || {
        !server.call("recall", json!({"query": "spare key"})).await.1
    })
    .await;
    server.terminate().await;
}

#[tokio::test]
async fn what_is_wrong_with_a_database_is_said_before_anything_is_served() {
    let data_dir = DataDir::new();
    let url = fresh_database().await;
    let serve = async |name: &str, value: &str| {
        let mut command = data_dir.command("remembrancer");
        let ran = Ran::of(command.env(name, value).args(["serve", "--bind", "127.0.0.1:0"])).await;
        assert!(!ran.stderr.contains("hunter2"), "{ran:?}");
        ran
    };
    for (name, value, said) in [
        ("DATABASE_URL", "mysql://ann:hunter2@127.0.0.1/x", "mysql://"),
        ("DATABASE_URL", "somewhere", "no address"),
        ("QDRANT_URL", "http://ann:hunter2@127.0.0.1:6334", "QDRANT_API_KEY"),
        ("QDRANT_URL", "http://169.254.169.254:6334", "link-local"),
        ("REMEMBRANCER_RERANKER_DIR", "/nonexistent", "/nonexistent"),
    ] {
        let ran = serve(name, value).await;
        assert!(ran.refusal().contains(said), "{ran:?}");
        assert!(!ran.stderr.contains("serves MCP at"), "{ran:?}");
    }
    let nowhere = url.replacen("/test_", "/no_such_", 1);
    let ran = serve("DATABASE_URL", &nowhere).await;
    assert!(ran.refusal().contains("no_such_") && ran.refusal().contains("createdb"), "{ran:?}");
}

#[tokio::test]
async fn a_variable_for_a_database_that_is_set_to_nothing_is_not_set() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    let status = Ran::of(command.env("DATABASE_URL", " ").args(["status", "--json"])).await;
    assert_eq!(status.json()["healthy"], true, "{status:?}");
    let mut worker = data_dir.command("event-worker");
    worker.env("DATABASE_URL", "").stderr(std::process::Stdio::piped());
    let ran = Ran::of(&mut worker).await;
    assert!(ran.stderr.contains("DATABASE_URL is not set"), "{ran:?}");
}

#[tokio::test]
async fn a_setting_that_the_running_process_does_not_go_by_is_named() {
    let data_dir = DataDir::warm();
    let mut host = StdioHost::start(data_dir.command("remembrancer"));
    host.initialize().await;
    host.call("status", json!({})).await;
    let quiet = data_dir.run(&["recall", "hi"]).await;
    assert!(!quiet.stderr.contains("warning"), "{quiet:?}");
    for (flag, value) in [("--model-dir", "/nonexist"), ("--observation-max-chars", "50")] {
        let ran = data_dir.run(&[flag, value, "recall", "hi"]).await;
        assert!(ran.status.success(), "{ran:?}");
        let warnings: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
        assert_eq!(warnings.len(), 1, "{ran:?}");
        assert!(warnings[0].contains(flag) && warnings[0].contains("no effect"), "{warnings:?}");
        // Where it stands does not matter.
        let ran = data_dir.run(&["recall", "hi", flag, value]).await;
        assert!(ran.stderr.contains(flag), "{ran:?}");
    }
    let mut command = data_dir.command("remembrancer");
    let ran = Ran::of(command.env("REMEMBRANCER_MODEL_DIR", "/nonexist").args(["recall", "hi"])).await;
    assert!(ran.stderr.contains("REMEMBRANCER_MODEL_DIR"), "{ran:?}");
    // The same value as the process has is none to speak of.
    let ran = data_dir.run(&["--observation-max-chars", "300", "recall", "hi"]).await;
    assert!(!ran.stderr.contains("warning"), "{ran:?}");
}

#[tokio::test]
async fn settings_of_whoever_starts_the_process_in_the_background_hold_there() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.args(["--observation-max-chars", "40", "--graph-page-chars", "1000"]);
    let mut host = StdioHost::start(command);
    host.initialize().await;
    let long = "The spare key is in the blue box behind the door.";
    let entity = json!({"name": "Key", "entityType": "Object", "observations": [long], "isRoot": true});
    let answer = host.call("save_memory", json!({"threadId": "t", "entities": [entity]})).await;
    assert!(answer["structuredContent"].to_string().contains("40"), "{answer}");
    assert_eq!(answer["structuredContent"]["success"], false, "{answer}");
    let entities: Vec<Value> = (0..20)
        .map(|n| json!({"name": format!("Key {n}"), "entityType": "Object", "observations": ["x".repeat(200)]}))
        .collect();
    host.call("create_entities", json!({"entities": entities})).await;
    let page = host.call("read_graph", json!({})).await;
    let shown = page["structuredContent"]["entities"].as_array().map(Vec::len);
    assert!(shown.is_some_and(|shown| (1..20).contains(&shown)), "{page}");
}

#[tokio::test]
async fn a_secret_that_others_can_read_is_mentioned_and_a_long_log_is_put_aside() {
    let data_dir = DataDir::warm();
    let token = data_dir.path().join("token");
    std::fs::write(&token, "a-token-of-thirty-two-characters").expect("it is written");
    for (mode, is_open) in [(0o644, true), (0o600, false)] {
        std::fs::set_permissions(&token, std::fs::Permissions::from_mode(mode)).expect("a mode");
        let _ = std::fs::remove_file(data_dir.path().join("test.log"));
        let mut command = data_dir.command("remembrancer");
        command.env("REMEMBRANCER_TOKEN_FILE", &token);
        let server = Server::start_with(command).await;
        server.terminate().await;
        let log = std::fs::read_to_string(data_dir.path().join("test.log")).expect("a log");
        assert_eq!(log.contains("can be read by others (mode 644)"), is_open, "{log}");
    }
    let log = data_dir.path().join("run/embedded.log");
    std::fs::write(&log, "old line\n".repeat(600_000)).expect("a long log");
    data_dir.run(&["status"]).await;
    assert!(std::fs::metadata(&log).expect("it is there").len() < 1_000_000);
    let older = std::fs::read_to_string(log.with_extension("log.1")).expect("the older one");
    assert!(older.starts_with("old line"));
    // And one that grows while its process runs.
    let [instance] = data_dir.instances()[..] else { panic!("one process holds the folder") };
    std::fs::write(&log, "new line\n".repeat(2_000_000)).expect("a long log");
    let mut host = StdioHost::start(data_dir.command("remembrancer"));
    host.initialize().await;
    eventually("it is cut", Duration::from_secs(30), async || {
        std::fs::metadata(&log).expect("it is there").len() < 1_000_000
    })
    .await;
    kill(instance, Signal::TERM);
}

/// A copy of the folder of the model or of the runtime, to do harm to.
fn copied(data_dir: &DataDir, folder: &str, name: &str) -> PathBuf {
    let components =
        std::fs::read_dir(memory_tests::components_dir().join(folder)).expect("components").flatten();
    let component = components.map(|entry| entry.path()).find(|path| path.to_string_lossy().contains(name));
    let to = data_dir
        .path()
        .join("copied")
        .join(component.as_ref().and_then(|path| path.file_name()).expect("a component"));
    std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder is made");
    let done =
        std::process::Command::new("cp").arg("-rL").arg(component.expect("a component")).arg(&to).status();
    assert!(done.expect("cp runs").success());
    to
}

async fn model_of(data_dir: &DataDir, model_dir: &Path) -> String {
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_MODEL_DIR", model_dir).env("REMEMBRANCER_IDLE_SECONDS", "1");
    let status = Ran::of(command.args(["status", "--json"])).await.json();
    eventually("its process has ended", Duration::from_secs(60), async || data_dir.instances().is_empty())
        .await;
    status["services"]["embedding_model"].to_string()
}

#[tokio::test]
async fn a_model_that_was_damaged_or_is_no_file_is_named_and_texts_are_found_by_their_words() {
    let data_dir = DataDir::warm();
    let model = copied(&data_dir, "models", "MiniLM");
    memory_inference::integrity::write_sums(&model).expect("sums are noted");
    let whole = model_of(&data_dir, &model).await;
    assert!(whole.contains("\"up\""), "{whole}");
    let weights = model.join("model_int8.onnx");
    let mut content = std::fs::read(&weights).expect("weights");
    let middle = content.len() / 2;
    content[middle] ^= 0xff;
    std::fs::write(&weights, content).expect("they are altered");
    let damaged = model_of(&data_dir, &model).await;
    assert!(
        damaged.contains("down") && damaged.contains("model_int8.onnx") && damaged.contains("damaged"),
        "{damaged}"
    );
    let tokenizer = model.join("tokenizer.json");
    std::fs::remove_file(&tokenizer).expect("it is removed");
    assert!(std::process::Command::new("mkfifo").arg(&tokenizer).status().expect("mkfifo runs").success());
    let pipe = model_of(&data_dir, &model).await;
    assert!(pipe.contains("down") && pipe.contains("not a regular file"), "{pipe}");
}

#[tokio::test]
async fn a_runtime_that_was_cut_short_is_named_and_does_not_end_the_process() {
    let data_dir = DataDir::warm();
    let runtime = copied(&data_dir, "runtime", "onnxruntime");
    let library =
        std::fs::File::options().write(true).open(runtime.join("libonnxruntime.so")).expect("the library");
    library.set_len(library.metadata().expect("its length").len() / 2).expect("it is cut");
    let components = data_dir.path().join("runtime");
    let linked = std::fs::read_dir(&components).expect("components").flatten().map(|entry| entry.path());
    let linked: Vec<PathBuf> = linked.map(|path| path.canonicalize().expect("it is there")).collect();
    std::fs::remove_file(&components).expect("the link is removed");
    std::fs::create_dir(&components).expect("a folder is made");
    for component in
        linked.into_iter().filter(|component| !component.to_string_lossy().contains("onnxruntime"))
    {
        std::os::unix::fs::symlink(&component, components.join(component.file_name().expect("a name")))
            .expect("a link");
    }
    std::fs::rename(&runtime, components.join(runtime.file_name().expect("a name"))).expect("it is moved");
    let server = Server::start(&data_dir).await;
    let status = server.ask("status", json!({})).await;
    let model = status["services"]["embedding_model"].to_string();
    assert!(model.contains("down") && model.contains("cut short"), "{model}");
    server.terminate().await;
}
