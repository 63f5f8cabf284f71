//! Processes that are killed: what was acknowledged stays, nothing is half-written, and all goes on.

use std::cell::RefCell;
use std::time::Duration;

use memory_tests::process::{DataDir, Server, StdioHost, call, eventually, is_alive, kill};
use rustix::process::Signal;
use serde_json::json;
use sqlx::{Connection, PgConnection};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// Texts that the server said it keeps, and refusals that it gave instead.
#[derive(Default)]
struct Told {
    kept: RefCell<Vec<(String, String)>>,
    refused: RefCell<Vec<String>>,
}

impl Told {
    fn count(&self) -> usize {
        self.kept.borrow().len()
    }
}

/// Remembers one text after another until `enough` or until the server is gone.
async fn write(server: &Server, told: &Told, writer: usize, enough: impl Fn() -> bool) {
    for n in 0.. {
        let content = format!("Anna will send report {n} of series {writer} to Ben by Friday. It may slip.");
        let Some(result) = server.try_call("remember", json!({"content": content})).await else { return };
        let answer = &result["structuredContent"];
        if result["isError"] == true {
            told.refused.borrow_mut().push(answer["error"].as_str().expect("a reason").to_owned());
        } else {
            told.kept.borrow_mut().push((answer["id"].as_str().expect("an id").to_owned(), content));
        }
        if enough() {
            return;
        }
    }
}

/// Several writers at once.
async fn write_at_once(server: &Server, told: &Told, enough: impl Fn() -> bool) {
    tokio::join!(
        write(server, told, 1, &enough),
        write(server, told, 2, &enough),
        write(server, told, 3, &enough),
        write(server, told, 4, &enough)
    );
}

async fn assert_all_is_there_and_whole(server: &Server, data_dir: &DataDir, told: &Told) {
    let kept = told.kept.borrow().clone();
    for (id, content) in &kept {
        let found = server.ask("recall", json!({"id": id})).await;
        assert_eq!(found["results"][0]["content"], *content, "{id}");
    }
    server.settled().await;
    let mut database = PgConnection::connect(&data_dir.database_url()).await.expect("the database answers");
    for half_written in [
        "select count(*) from artifact a where not exists
            (select from artifact_revision r where (r.namespace, r.artifact_id) = (a.namespace, a.artifact_id))",
        "select count(*) from artifact_revision r where not exists
            (select from passage p where (p.namespace, p.revision_id) = (r.namespace, r.revision_id))",
        "select count(*) from passage p where not exists
            (select from passage_embedding e where (e.namespace, e.passage_id) = (p.namespace, p.passage_id))",
        "select count(*) from artifact_revision where extracted_at is null",
        "select count(*) from semantic_event v where not exists
            (select from event_evidence e where (e.namespace, e.event_id) = (v.namespace, v.event_id))",
        "select count(*) from event_jobs where status <> 'DONE'",
    ] {
        let rows: i64 = sqlx::query_scalar(half_written).fetch_one(&mut database).await.expect("it counts");
        assert_eq!(rows, 0, "{half_written}");
    }
    let artifacts: i64 =
        sqlx::query_scalar("select count(*) from artifact").fetch_one(&mut database).await.expect("count");
    assert!(artifacts as usize >= told.count(), "{artifacts} of {}", told.count());
}

#[tokio::test]
async fn a_killed_server_has_lost_nothing_that_it_acknowledged() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let told = Told::default();
    let killing = async {
        eventually("sixty texts are kept", Duration::from_secs(30), async || told.count() >= 60).await;
        kill(server.pid(), Signal::KILL);
    };
    tokio::join!(write_at_once(&server, &told, || false), killing);
    drop(server);
    let server = Server::start(&data_dir).await;
    assert_all_is_there_and_whole(&server, &data_dir, &told).await;
}

#[tokio::test]
async fn a_killed_database_is_started_again_and_calls_go_on() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let told = Told::default();
    let at_the_kill = RefCell::new(usize::MAX);
    let killing = async {
        eventually("forty texts are kept", Duration::from_secs(30), async || told.count() >= 40).await;
        let old = data_dir.postmaster_pid().expect("a database runs");
        kill(old, Signal::KILL);
        *at_the_kill.borrow_mut() = told.count();
        eventually("another database runs", Duration::from_secs(30), async || {
            data_dir.postmaster_pid().is_some_and(|new| new != old && is_alive(new))
        })
        .await;
    };
    let enough = || told.count() >= at_the_kill.borrow().saturating_add(40);
    tokio::join!(write_at_once(&server, &told, enough), killing);
    for refusal in told.refused.borrow().iter() {
        assert!(refusal.contains("try again"), "{refusal}");
    }
    assert_all_is_there_and_whole(&server, &data_dir, &told).await;
}

#[tokio::test]
async fn when_everything_is_killed_a_restart_finds_everything() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let told = Told::default();
    let killing = async {
        eventually("forty texts are kept", Duration::from_secs(30), async || told.count() >= 40).await;
        kill(data_dir.postmaster_pid().expect("a database runs"), Signal::KILL);
        kill(server.pid(), Signal::KILL);
    };
    tokio::join!(write_at_once(&server, &told, || false), killing);
    drop(server);
    let server = Server::start(&data_dir).await;
    assert_all_is_there_and_whole(&server, &data_dir, &told).await;
}

#[tokio::test]
async fn a_terminated_server_ends_in_time_with_connections_open_and_takes_its_database_along() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let id =
        server.ask("remember", json!({"content": "The spare key is in the blue box."})).await["id"].clone();
    let address = server.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    // One that says nothing, one that stops in the middle of a request, one that idles after an answer.
    let _silent = TcpStream::connect(&address).await.expect("it connects");
    let mut halting = TcpStream::connect(&address).await.expect("it connects");
    let half = format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Length: 1000\r\n\r\n{{\"jsonrpc\"");
    halting.write_all(half.as_bytes()).await.expect("it is sent");
    let mut host = StdioHost::start(data_dir.command("remembrancer"));
    host.initialize().await;
    // And a long text that is being worked on.
    let long = "The crates in hall 7 were counted twice. ".repeat(20_000);
    let working = server.request().json(&call("remember", json!({"content": long})));
    let working = tokio::spawn(working.send());
    tokio::time::sleep(Duration::from_millis(100)).await;
    let postmaster = data_dir.postmaster_pid().expect("a database runs");

    let elapsed = server.terminate().await;
    println!("shutdown with connections open: {elapsed:?}");
    assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
    assert!(!is_alive(postmaster), "the database still runs");
    assert_eq!(data_dir.postmaster_pid(), None);
    working.abort();

    let server = Server::start(&data_dir).await;
    let found = server.ask("recall", json!({"id": id})).await;
    assert_eq!(found["results"][0]["content"], "The spare key is in the blue box.");
}

#[tokio::test]
async fn a_server_terminated_while_it_starts_leaves_no_database_behind() {
    let data_dir = DataDir::warm();
    for delay in [0, 30, 60, 90, 120, 200] {
        let server = Server::start(&data_dir).await;
        tokio::time::sleep(Duration::from_millis(delay)).await;
        let elapsed = server.terminate().await;
        assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
        // A database that is still being started has its file in a moment.
        tokio::time::sleep(Duration::from_millis(300)).await;
        eventually("no database is left", Duration::from_secs(10), async || {
            !data_dir.postmaster_pid().is_some_and(is_alive)
        })
        .await;
    }
}
