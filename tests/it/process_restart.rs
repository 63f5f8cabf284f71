//! Processes that end under their clients: the answers to these, and that they go on.

use std::sync::atomic::{AtomicBool, Ordering};

use std::time::Duration;

use memory_store::embedded::EmbeddedPostgres;
use memory_tests::postgres_bin;
use memory_tests::process::{DataDir, Server, StdioHost, call, eventually, is_alive, kill};
use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

const URI: &str = "memory://knowledge-graph";

/// The answer to a call; what comes before it are notifications to the host.
async fn ask(host: &mut StdioHost, message: &Value) -> (Value, Vec<Value>) {
    host.send(message).await;
    let mut told = Vec::new();
    loop {
        let received = host.receive().await;
        if received["id"] == message["id"] {
            return (received, told);
        }
        told.push(received);
    }
}

/// The same, again where the process ended with the call on its way, so that it is not known to be done.
async fn insist(host: &mut StdioHost, message: &Value) -> (Value, Vec<Value>) {
    let (mut answer, mut told) = ask(host, message).await;
    // A process that is ending takes connections for a moment yet.
    for _ in 0..5 {
        if answer["error"]["code"] != -32000 {
            break;
        }
        assert!(
            answer["error"]["message"]
                .as_str()
                .is_some_and(|reason| reason.to_lowercase().contains("try again")),
            "{answer}"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
        let (next, more) = ask(host, message).await;
        answer = next;
        told.extend(more);
    }
    (answer, told)
}

async fn hosts(data_dir: &DataDir) -> (StdioHost, StdioHost) {
    let mut pair = (
        StdioHost::start(data_dir.command("remembrancer")),
        StdioHost::start(data_dir.command("remembrancer")),
    );
    for host in [&mut pair.0, &mut pair.1] {
        host.initialize().await;
    }
    let subscribe =
        json!({"jsonrpc": "2.0", "id": 3, "method": "resources/subscribe", "params": {"uri": URI}});
    assert_eq!(ask(&mut pair.0, &subscribe).await.0["result"], json!({}));
    pair
}

fn entity(name: &str) -> Value {
    json!({"entities": [{"name": name, "entityType": "person", "observations": ["Likes tea"]}]})
}

/// The first host has subscribed, the second writes: both go on, and the first is notified.
async fn assert_both_go_on((first, second): &mut (StdioHost, StdioHost), name: &str) {
    let (created, _) = insist(second, &call("create_entities", entity(name))).await;
    assert_eq!(created["result"]["structuredContent"]["entities"][0]["name"], name, "{created}");
    let (found, mut told) = insist(first, &call("recall", json!({"query": "spare key"}))).await;
    assert_eq!(found["result"]["structuredContent"]["results"][0]["context"], "note", "{found}");
    if told.is_empty() {
        told.push(first.receive().await);
    }
    for message in &told {
        assert_eq!(message["method"], "notifications/resources/updated", "{told:?}");
        assert_eq!(message["params"]["uri"], URI);
    }
    // Told of later changes too, each at most twice: when it looked again, and when it happened.
    let (changed, _) = insist(second, &call("create_entities", entity(&format!("{name} again")))).await;
    assert_eq!(changed["result"]["isError"], false, "{changed}");
    assert_eq!(first.receive().await["method"], "notifications/resources/updated");
}

#[tokio::test]
async fn hosts_go_on_when_the_process_in_the_background_is_killed_or_terminated() {
    let data_dir = DataDir::warm();
    let mut hosts = hosts(&data_dir).await;
    hosts.1.call("remember", json!({"content": "The spare key is in the blue box."})).await;
    for (signal, name) in [(Signal::KILL, "Ann"), (Signal::TERM, "Ben")] {
        let [instance] = data_dir.instances()[..] else { panic!("one process holds the folder") };
        kill(instance, signal);
        eventually("the process has gone", Duration::from_secs(20), async || !is_alive(instance)).await;
        assert_both_go_on(&mut hosts, name).await;
        let [another] = data_dir.instances()[..] else { panic!("one process holds the folder") };
        assert_ne!(another, instance);
    }
    assert!(hosts.0.close().await.success() && hosts.1.close().await.success());
}

#[tokio::test]
async fn hosts_go_on_when_serve_is_killed_or_terminated_and_serve_can_come_back() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("remember", json!({"content": "The spare key is in the blue box."})).await;
    let mut hosts = hosts(&data_dir).await;
    server.kill().await;
    assert_both_go_on(&mut hosts, "Ann").await;
    let server = Server::start(&data_dir).await;
    assert_eq!(server.ask("recall", json!({"query": "spare key"})).await["results"][0]["context"], "note");
    server.terminate().await;
    assert_both_go_on(&mut hosts, "Ben").await;
}

#[tokio::test]
async fn hosts_of_a_serve_that_is_terminated_start_a_process_and_go_on() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("remember", json!({"content": "The spare key is in the blue box."})).await;
    let mut hosts = hosts(&data_dir).await;
    assert_eq!(data_dir.instances(), Vec::<i32>::new());
    server.terminate().await;
    assert_both_go_on(&mut hosts, "Ann").await;
    assert_eq!(data_dir.instances().len(), 1);
}

#[tokio::test]
async fn a_call_that_was_in_flight_is_answered_with_an_error_and_not_made_again() {
    let data_dir = DataDir::warm();
    let mut host = StdioHost::start(data_dir.command("remembrancer"));
    host.initialize().await;
    host.call("remember", json!({"content": "The spare key is in the blue box."})).await;
    let [instance] = data_dir.instances()[..] else { panic!("one process holds the folder") };
    // It reads nothing any more, so the call cannot be done before it ends.
    kill(instance, Signal::STOP);
    host.send(&call("remember", json!({"content": "The door was painted green."}))).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    kill(instance, Signal::KILL);
    let refused = host.receive().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(7), &json!(-32000)), "{refused}");
    assert!(
        refused["error"]["message"].as_str().is_some_and(|reason| reason.contains("try again")),
        "{refused}"
    );
    let (status, _) = insist(&mut host, &call("status", json!({}))).await;
    assert_eq!(status["result"]["structuredContent"]["counts"]["artifacts"], 1, "{status}");
}

#[tokio::test]
async fn a_host_lives_while_no_process_can_be_started_and_goes_on_when_one_can() {
    let data_dir = DataDir::warm();
    let mut host = StdioHost::start(data_dir.command("remembrancer"));
    host.initialize().await;
    host.call("remember", json!({"content": "The spare key is in the blue box."})).await;
    let [instance] = data_dir.instances()[..] else { panic!("one process holds the folder") };
    kill(instance, Signal::KILL);
    eventually("the process has gone", Duration::from_secs(20), async || !is_alive(instance)).await;
    let lock = data_dir.path().join("run/embedded.lock");
    std::fs::remove_file(&lock).expect("the lock is removed");
    std::fs::create_dir(&lock).expect("a folder stands in its place");
    // The first ones may have been on their way when the process ended.
    eventually("it is known that the process has ended", Duration::from_secs(20), async || {
        let (refused, _) = ask(&mut host, &call("recall", json!({"query": "spare key"}))).await;
        refused["error"]["message"].as_str().is_some_and(|reason| reason.contains("cannot be reached"))
    })
    .await;
    for _ in 0..3 {
        let (refused, _) = ask(&mut host, &call("recall", json!({"query": "spare key"}))).await;
        let reason = refused["error"]["message"].as_str().expect("a reason");
        assert!(reason.contains("cannot be reached") && reason.contains("run"), "{reason}");
    }
    std::fs::remove_dir(&lock).expect("the folder is removed");
    eventually("it goes on", Duration::from_secs(60), async || {
        let (found, _) = ask(&mut host, &call("recall", json!({"query": "spare key"}))).await;
        found["result"]["structuredContent"]["results"][0]["context"] == "note"
    })
    .await;
    assert!(host.close().await.success());
}

#[tokio::test]
async fn a_server_that_stops_answers_with_503_and_when_to_come_again() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("remember", json!({"content": "The spare key is in the blue box."})).await;
    let stopped = AtomicBool::new(false);
    let ask = async || {
        let mut refused = 0;
        while !stopped.load(Ordering::SeqCst) {
            let sent = server.request().json(&call("recall", json!({"query": "spare key"}))).send().await;
            // Without a listener there is no answer.
            let Ok(response) = sent else { break };
            let (status, retry) = (response.status(), response.headers().get("Retry-After").cloned());
            let Ok(body) = response.text().await else { break };
            if status == 200 {
                continue;
            }
            assert_eq!(status, 503, "{body}");
            let body: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
            let reason = body["error"]["message"].as_str().expect("a reason");
            assert!(reason.contains("stop") && reason.contains("ry again"), "{reason}");
            assert!(retry.is_some_and(|seconds| seconds.to_str().is_ok_and(|s| s.parse::<u8>().is_ok())));
            refused += 1;
        }
        refused
    };
    let stop = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        kill(server.pid(), Signal::TERM);
        tokio::time::sleep(Duration::from_secs(3)).await;
        stopped.store(true, Ordering::SeqCst);
    };
    let asking = futures::future::join_all((0..16).map(|_| ask()));
    let (refused, ()) = tokio::join!(asking, stop);
    println!("refused while it stopped: {}", refused.into_iter().sum::<i32>());
}

#[tokio::test]
async fn a_database_that_was_killed_a_moment_ago_is_started_and_not_taken_for_one_that_runs() {
    let data_dir = DataDir::empty();
    let postgres = EmbeddedPostgres::new(postgres_bin(), data_dir.path().join("postgres"));
    postgres.start().await.expect("it starts");
    for _ in 0..3 {
        // Its other processes hold the socket for a moment longer.
        let pid = postgres.pid().expect("it runs") as i32;
        kill(pid, Signal::KILL);
        while is_alive(pid) {
            tokio::task::yield_now().await;
        }
        postgres.start().await.expect("it starts again");
        let mut sql = PgConnection::connect(&postgres.url()).await.expect("it answers");
        let one: i32 = sqlx::query_scalar("select 1").fetch_one(&mut sql).await.expect("and works");
        assert_eq!(one, 1);
    }
    postgres.stop().await.expect("it stops");
}
