//! How `serve` and `stdio` start: answers come before the database does, and what is missing is said.

use std::time::{Duration, Instant};

use memory_tests::process::{DataDir, Ran, Server, StdioHost, call, initialize, is_alive};
use serde_json::json;
use sqlx::{Connection, Executor, PgConnection};

#[tokio::test]
async fn stdio_answers_initialize_before_there_is_a_database_and_a_call_made_meanwhile_waits_for_it() {
    let data_dir = DataDir::new();
    let started = Instant::now();
    let mut host = StdioHost::start(data_dir.command("remembrancer"));
    host.send(&initialize()).await;
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    host.send(&call("remember", json!({"content": "The spare key is in the blue box."}))).await;
    let greeting = host.receive().await;
    let greeted = started.elapsed();
    assert_eq!(greeting["result"]["serverInfo"]["name"], "remembrancer");
    assert!(
        !data_dir.path().join("postgres/data/PG_VERSION").exists(),
        "the database was made in {greeted:?}"
    );
    let answer = host.receive().await;
    println!("cold start: initialize after {greeted:?}, the first tool after {:?}", started.elapsed());
    assert_eq!(answer["result"]["structuredContent"]["status"], "created", "{answer}");
    assert!(host.close().await.success());
}

#[tokio::test]
async fn http_answers_initialize_before_there_is_a_database_and_a_call_made_meanwhile_waits_for_it() {
    let data_dir = DataDir::new();
    let server = Server::start(&data_dir).await;
    let greeting = server.try_post(&initialize()).await.expect("it is answered");
    assert_eq!(greeting["result"]["serverInfo"]["name"], "remembrancer");
    assert!(!data_dir.path().join("postgres/data/PG_VERSION").exists());
    let status = server.ask("status", json!({})).await;
    assert_eq!(status["services"]["postgres"]["status"], "up", "{status}");
}

#[tokio::test]
async fn the_first_status_of_a_new_memory_is_healthy() {
    let data_dir = DataDir::warm();
    let ran = data_dir.run(&["status", "--json"]).await;
    assert_eq!(ran.json()["healthy"], true, "{ran:?}");
}

#[tokio::test]
async fn a_port_in_use_is_said_in_one_sentence() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = taken.local_addr().expect("it has an address").to_string();
    let data_dir = DataDir::warm();
    let ran = data_dir.run(&["serve", "--bind", &address]).await;
    assert!(ran.refusal().contains(&format!("{address} is in use")), "{ran:?}");
    assert!(ran.refusal().contains("--bind"), "{ran:?}");
    assert_eq!(data_dir.postmaster_pid(), None, "a database was started for nothing");
}

#[tokio::test]
async fn an_address_that_is_none_is_said_in_one_sentence() {
    let data_dir = DataDir::warm();
    for address in ["nonsense", "127.0.0.1", "127.0.0.1:99999", "192.0.2.1:3100"] {
        let ran = data_dir.run(&["serve", "--bind", address]).await;
        assert!(ran.refusal().contains(address), "{ran:?}");
    }
}

/// As root no permission bit keeps us out, but no folder can be made below a file.
#[tokio::test]
async fn a_data_folder_that_cannot_be_used_is_named_by_every_command() {
    let data_dir = DataDir::empty();
    let file = data_dir.path().join("file");
    std::fs::write(&file, "not a folder").expect("a file is written");
    for folder in [file.clone(), file.join("data")] {
        let folder = folder.to_string_lossy().into_owned();
        for arguments in
            [&["serve", "--bind", "127.0.0.1:0"][..], &["stdio"], &["status"], &["recall", "key"], &["setup"]]
        {
            let mut command = data_dir.command("remembrancer");
            command.env("REMEMBRANCER_DATA_DIR", &folder).args(arguments);
            let ran = Ran::of(&mut command).await;
            assert!(ran.refusal().contains(&folder), "{arguments:?}: {ran:?}");
            assert!(!ran.stderr.contains("is missing"), "{arguments:?}: {ran:?}");
        }
    }
}

#[tokio::test]
async fn a_missing_database_is_named_by_every_command_with_the_way_to_get_it() {
    let data_dir = DataDir::empty();
    for arguments in
        [&["serve", "--bind", "127.0.0.1:0"][..], &["recall", "key"], &["forget", "art_123456789abc"]]
    {
        let ran = data_dir.run(arguments).await;
        let refusal = ran.refusal();
        assert!(
            refusal.contains("Postgres") && refusal.contains("`remembrancer setup`"),
            "{arguments:?}: {ran:?}"
        );
    }
    let status = data_dir.run(&["status", "--json"]).await;
    let detail = status.json()["services"]["postgres"]["detail"].to_string();
    assert!(detail.contains("Postgres") && detail.contains("`remembrancer setup`"), "{status:?}");
    let mut host = StdioHost::start(data_dir.command("remembrancer"));
    host.initialize().await;
    let answer = host.call("remember", json!({"content": "The spare key is in the blue box."})).await;
    let error = answer["structuredContent"]["error"].as_str().expect("a reason");
    assert!(answer["isError"] == true && error.contains("`remembrancer setup`"), "{answer}");
}

#[tokio::test]
async fn a_database_that_another_version_wrote_is_refused_in_one_sentence_and_not_left_running() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("status", json!({})).await;
    let mut database = PgConnection::connect(&data_dir.database_url()).await.expect("the database answers");
    database.execute(r"update _sqlx_migrations set checksum = '\x00'").await.expect("it is altered");
    server.terminate().await;
    let ran = data_dir.run(&["serve", "--bind", "127.0.0.1:0"]).await;
    assert!(ran.refusal().contains("schema that this version cannot use"), "{ran:?}");
    assert!(!data_dir.postmaster_pid().is_some_and(is_alive), "the database was left running");
}

#[tokio::test]
async fn without_a_model_texts_are_kept_and_found_by_their_words() {
    let data_dir = DataDir::warm();
    let no_model = data_dir.path().join("no model");
    std::fs::create_dir(&no_model).expect("a folder is made");
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_MODEL_DIR", &no_model);
    let server = Server::start_with(command).await;
    let kept = server.ask("remember", json!({"content": "The spare key is in the blue box."})).await;
    assert_eq!(kept["embedding"], "pending", "{kept}");
    let found = server.ask("recall", json!({"query": "spare key"})).await;
    assert_eq!(found["results"][0]["id"], kept["id"]);
    assert!(found["warnings"][0].as_str().expect("a warning").contains("embedding model"), "{found}");
    let status = server.ask("status", json!({})).await;
    assert_eq!(status["services"]["embedding_model"]["status"], "down", "{status}");
    assert_eq!(status["jobs"]["pending_embeddings"], 1, "{status}");
    server.terminate().await;

    let log = std::fs::read_to_string(data_dir.path().join("test.log")).expect("a log");
    assert!(log.contains("`remembrancer setup`"), "{log}");
    // With the model back, the vectors are made; a job that waited for it looks again every half minute.
    let server = Server::start(&data_dir).await;
    server.ask("status", json!({})).await;
    let mut database = PgConnection::connect(&data_dir.database_url()).await.expect("the database answers");
    database.execute("update event_jobs set run_at = now()").await.expect("the half minute is over");
    server.settled().await;
    let found = server
        .ask("recall", json!({"query": "where do I find the thing to open the door", "explain": true}))
        .await;
    assert!(found["results"][0]["explain"]["vector"].is_object(), "{found}");
}

#[tokio::test]
async fn a_warm_start_answers_initialize_at_once() {
    let data_dir = DataDir::warm();
    let started = Instant::now();
    let server = Server::start(&data_dir).await;
    server.try_post(&initialize()).await.expect("it is answered");
    let greeted = started.elapsed();
    server.ask("recall", json!({"query": "key"})).await;
    println!("warm start: initialize after {greeted:?}, the first recall after {:?}", started.elapsed());
    // Far above what it takes, for machines that are busy.
    assert!(greeted < Duration::from_secs(2), "{greeted:?}");
}
