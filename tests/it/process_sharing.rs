//! One process a data folder holds the database, the model and the worker; the others reach it.

use std::time::Duration;

use memory_tests::process::{DataDir, Server, StdioHost, eventually, is_alive};
use serde_json::json;

#[tokio::test]
async fn a_second_serve_works_beside_the_first_at_an_address_of_its_own() {
    let data_dir = DataDir::warm();
    let first = Server::start(&data_dir).await;
    first.ask("remember", json!({"content": "The spare key is in the blue box."})).await;
    let postmaster = data_dir.postmaster_pid();
    let mut command = data_dir.command("remembrancer");
    command
        .env("REMEMBRANCER_TOKEN", "a-token-of-thirty-two-characters")
        .env("REMEMBRANCER_NAMESPACE", "second");
    let second = Server::start_with(command).await;
    assert_eq!(data_dir.postmaster_pid(), postmaster, "there is one database");

    // Token and namespace are those of the listener that was asked.
    let recall = memory_tests::process::call("recall", json!({"query": "spare key"}));
    assert_eq!(second.request().json(&recall).send().await.expect("it is answered").status(), 401);
    let asked = second.request().bearer_auth("a-token-of-thirty-two-characters").json(&recall).send().await;
    let answer: serde_json::Value = asked.expect("it is answered").json().await.expect("JSON");
    assert_eq!(answer["result"]["structuredContent"]["results"], json!([]), "{answer}");

    let url = second.url.replace("/mcp", "/livez");
    second.terminate().await;
    assert!(first.client().get(&url).send().await.is_err(), "the second address still answers");
    assert_eq!(first.ask("recall", json!({"query": "spare key"})).await["results"][0]["context"], "note");
}

#[tokio::test]
async fn a_second_serve_at_the_same_address_is_refused_in_one_sentence() {
    let data_dir = DataDir::warm();
    let first = Server::start(&data_dir).await;
    let address = first.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let ran = data_dir.run(&["serve", "--bind", &address]).await;
    assert!(ran.refusal().contains(&format!("already listens on {address}")), "{ran:?}");
    first.ask("recall", json!({"query": "spare key"})).await;
}

#[tokio::test]
async fn a_second_serve_ends_with_a_sentence_when_the_first_does() {
    let data_dir = DataDir::warm();
    let first = Server::start(&data_dir).await;
    let mut second = Server::start(&data_dir).await;
    first.kill().await;
    let ended = tokio::time::timeout(Duration::from_secs(5), second.child.wait()).await.expect("it ends");
    assert_eq!(ended.expect("a status").code(), Some(1));
    let log = std::fs::read_to_string(data_dir.path().join("test.log")).expect("a log");
    assert!(log.contains("start `serve` again"), "{log}");
}

#[tokio::test]
async fn serve_works_while_a_process_in_the_background_holds_the_folder() {
    let data_dir = DataDir::warm();
    let mut host = StdioHost::start(data_dir.command("remembrancer"));
    host.initialize().await;
    host.call("remember", json!({"content": "The spare key is in the blue box."})).await;
    let [instance] = data_dir.instances()[..] else { panic!("one process holds the folder") };
    let server = Server::start(&data_dir).await;
    assert_eq!(server.ask("recall", json!({"query": "spare key"})).await["results"][0]["context"], "note");
    server.terminate().await;
    assert!(is_alive(instance), "the hosts' process went with the listener");
    assert_eq!(host.call("recall", json!({"query": "spare key"})).await["isError"], false);
}

#[tokio::test]
async fn ten_hosts_at_once_cost_one_process_and_one_database() {
    let data_dir = DataDir::warm();
    let mut hosts: Vec<StdioHost> =
        (0..10).map(|_| StdioHost::start(data_dir.command("remembrancer"))).collect();
    for (n, host) in hosts.iter_mut().enumerate() {
        host.initialize().await;
        let answer = host.call("remember", json!({"content": format!("Host {n} was here.")})).await;
        assert_eq!(answer["structuredContent"]["status"], "created", "{answer}");
    }
    assert_eq!(data_dir.instances().len(), 1);
    let status = hosts[0].call("status", json!({})).await;
    assert_eq!(status["structuredContent"]["counts"]["artifacts"], 10, "{status}");
    for host in hosts {
        assert!(host.close().await.success());
    }
}

#[tokio::test]
async fn a_process_that_nobody_needs_ends_with_its_database() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env_remove("REMEMBRANCER_IDLE_SECONDS").args(["--idle-seconds", "1"]);
    let mut host = StdioHost::start(command);
    host.initialize().await;
    host.call("remember", json!({"content": "Anna will send the report to Ben by Friday."})).await;
    let [instance] = data_dir.instances()[..] else { panic!("one process holds the folder") };
    let postmaster = data_dir.postmaster_pid().expect("a database runs");
    // As long as a host is there, it stays.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert!(is_alive(instance));
    host.close().await;
    eventually("the process has ended", Duration::from_secs(10), async || !is_alive(instance)).await;
    assert!(!is_alive(postmaster), "the database was left behind");
    let status = data_dir.run(&["status", "--json"]).await.json();
    assert_eq!((&status["counts"]["artifacts"], &status["pending_jobs"]), (&json!(1), &json!(0)), "{status}");
}

#[tokio::test]
async fn a_host_sees_its_namespace_and_no_other() {
    let data_dir = DataDir::warm();
    let in_namespace = |namespace: &str| {
        let mut command = data_dir.command("remembrancer");
        command.args(["--namespace", namespace]);
        StdioHost::start(command)
    };
    let (mut a, mut b) = (in_namespace("a"), in_namespace("b"));
    for host in [&mut a, &mut b] {
        host.initialize().await;
    }
    a.call("remember", json!({"content": "The spare key is in the blue box."})).await;
    let seen = |answer: &serde_json::Value| answer["structuredContent"]["results"].as_array().map(Vec::len);
    assert_eq!(seen(&a.call("recall", json!({"query": "spare key"})).await), Some(1));
    assert_eq!(seen(&b.call("recall", json!({"query": "spare key"})).await), Some(0));
    assert_eq!(b.call("status", json!({})).await["structuredContent"]["counts"]["artifacts"], 0);
    for bad in ["bad name", "../a", ""] {
        let ran = data_dir.run(&["--namespace", bad, "stdio"]).await;
        assert!(ran.refusal().contains("namespace"), "{bad}: {ran:?}");
    }
}
