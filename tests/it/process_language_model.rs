//! The executables with a language model, spoken to as a user sets it up.

use std::process::Stdio;
use std::time::Duration;

use memory_tests::chat_server::{Act, Asked, ChatServer};
use memory_tests::fresh_database;
use memory_tests::process::{DataDir, Ran, Server, eventually};
use serde_json::{Value, json};

const TEXT: &str = "Anna will send the secret-report-77 to Ben by Friday.";
const TOLD: &str = "Anna promised Ben a report.";

fn tells(_: usize, _: &Asked) -> Act {
    Act::say(&json!({"events": [{"category": "Commitment", "narrative": TOLD, "sentences": [1],
        "quote": "Anna will send the secret-report-77 to Ben", "actors": [{"name": "Anna", "role": "owner"}]}],
        "entities": []}))
}

async fn narratives(server: &Server, id: &Value) -> Vec<String> {
    let found = server.ask("recall", json!({"id": id})).await;
    let events = found["results"][0]["events"].as_array().cloned().unwrap_or_default();
    events
        .iter()
        .filter_map(|event| event["narrative"].as_str().or(event["summary"].as_str()).map(str::to_owned))
        .collect()
}

#[tokio::test]
async fn serve_reads_with_the_model_and_shows_neither_key_nor_text() {
    let model = ChatServer::start(tells).await;
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_LLM_URL", &model.url).env("REMEMBRANCER_LLM_MODEL", "scripted-1");
    command.env("REMEMBRANCER_LLM_KEY", "sk-hunter2").env("RUST_LOG", "trace,rmcp=warn,sqlx=warn,ort=warn");
    // A proxy of the environment has no part in it.
    command.env("HTTP_PROXY", "http://127.0.0.1:9").env("http_proxy", "http://127.0.0.1:9");
    let server = Server::start_with(command).await;
    let kept = server.ask("remember", json!({"content": TEXT, "context": "meeting"})).await;
    server.settled().await;
    assert_eq!(narratives(&server, &kept["id"]).await, [TOLD]);
    let asked = model.asked();
    assert_eq!(asked[0].body["model"], "scripted-1");
    assert!(asked[0].head.contains("authorization: bearer sk-hunter2"));
    let status = server.ask("status", json!({})).await;
    let extractor = &status["services"]["extractor"];
    assert_eq!(extractor["status"], "up");
    assert!(extractor["detail"].as_str().unwrap().contains("scripted-1"), "{extractor}");
    let log = std::fs::read_to_string(data_dir.path().join("test.log")).unwrap();
    for secret in ["hunter2", "secret-report-77"] {
        assert!(!log.contains(secret) && !status.to_string().contains(secret), "{secret} is shown");
    }
}

#[tokio::test]
async fn event_worker_reads_with_the_model_of_its_flags() {
    let model = ChatServer::start(tells).await;
    let (data_dir, url) = (DataDir::new(), fresh_database().await);
    let mut command = data_dir.command("remembrancer");
    command.env("DATABASE_URL", &url);
    let server = Server::start_with(command).await;
    let kept = server.ask("remember", json!({"content": TEXT, "context": "meeting"})).await;
    let mut worker = data_dir.command("event-worker");
    worker.args(["--llm-url", &model.url, "--llm-model", "scripted-1"]);
    let _worker = worker.env("DATABASE_URL", &url).stdout(Stdio::null()).spawn().expect("a worker starts");
    server.settled().await;
    assert_eq!(narratives(&server, &kept["id"]).await, [TOLD]);
}

#[tokio::test]
async fn a_process_in_the_background_has_the_model_of_the_command_that_started_it() {
    let model = ChatServer::start(tells).await;
    let data_dir = DataDir::warm();
    let file = data_dir.path().join("note.txt");
    std::fs::write(&file, TEXT).unwrap();
    std::fs::write(data_dir.path().join("key"), "sk-hunter2\n").unwrap();
    let mut command = data_dir.command("remembrancer");
    command.args(["remember", "--llm-url", &model.url, "--llm-model", "scripted-1"]).arg(&file);
    command.env("REMEMBRANCER_LLM_KEY_FILE", "key").current_dir(data_dir.path());
    let ran = Ran::of(&mut command).await;
    assert!(ran.status.success(), "{ran:?}");
    eventually("the model is asked", Duration::from_secs(30), async || !model.asked().is_empty()).await;
    assert!(
        model.asked()[0].head.contains("bearer sk-hunter2"),
        "the key's file is found from another folder"
    );
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_with_what_to_do() {
    let data_dir = DataDir::empty();
    for (variables, said) in [
        (vec![("REMEMBRANCER_LLM_URL", "http://localhost:11434/v1")], "REMEMBRANCER_LLM_MODEL"),
        (
            vec![("REMEMBRANCER_LLM_URL", "localhost:1"), ("REMEMBRANCER_LLM_MODEL", "m")],
            "http://localhost:11434/v1",
        ),
        (
            vec![("REMEMBRANCER_LLM_URL", "http://169.254.169.254/v1"), ("REMEMBRANCER_LLM_MODEL", "m")],
            "metadata",
        ),
        (
            vec![("REMEMBRANCER_LLM_URL", "http://10.1.2.3/v1"), ("REMEMBRANCER_LLM_MODEL", "m")],
            "REMEMBRANCER_LLM_ALLOW_PRIVATE=true",
        ),
        (
            vec![
                ("REMEMBRANCER_LLM_URL", "http://localhost/v1"),
                ("REMEMBRANCER_LLM_MODEL", "m"),
                ("REMEMBRANCER_LLM_KEY_FILE", "/no/such"),
            ],
            "REMEMBRANCER_LLM_KEY_FILE /no/such",
        ),
    ] {
        for (program, arguments) in
            [("remembrancer", &["serve", "--bind", "127.0.0.1:0"][..]), ("event-worker", &[])]
        {
            let mut command = data_dir.command(program);
            command
                .args(arguments)
                .envs(variables.iter().copied())
                .env("DATABASE_URL", "postgres://nowhere.invalid/x");
            let ran = Ran::of(command.stderr(Stdio::piped())).await;
            assert_eq!(ran.status.code(), Some(1), "{ran:?}");
            assert!(ran.stderr.contains(said), "{program}: {said} in {}", ran.stderr);
        }
    }
}
