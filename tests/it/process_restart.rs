//! Processes that end under their clients: what these are told, and that they go on.

use std::sync::atomic::{AtomicBool, Ordering};

use memory_tests::process::{DataDir, Server, call};
use serde_json::{Value, json};

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
            // Where nobody listens any more, nobody answers.
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
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        memory_tests::process::kill(server.pid(), rustix::process::Signal::TERM);
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        stopped.store(true, Ordering::SeqCst);
    };
    let asking = futures::future::join_all((0..16).map(|_| ask()));
    let (refused, ()) = tokio::join!(asking, stop);
    println!("refused while it stopped: {}", refused.into_iter().sum::<i32>());
}
