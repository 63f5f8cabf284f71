//! What attacks cost the others: figures.

use std::time::{Duration, Instant};

use memory_tests::process::{DataDir, Server, call, http_client};
use reqwest::StatusCode;
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;

use crate::process_limits::{head, hostile, keep_waiting, peak_mb, ping, raw, with_files};

/// Times pings while something else goes on; milliseconds, sorted.
async fn pings_during<T>(server: &Server, attack: impl Future<Output = T>) -> (Vec<f64>, T) {
    let mut times = Vec::new();
    let client = http_client();
    tokio::pin!(attack);
    loop {
        let started = Instant::now();
        let ping = client
            .post(&server.url)
            .header("Accept", "*/*")
            .header("Content-Type", "application/json")
            .body(ping())
            .send();
        let mut ended = None;
        tokio::pin!(ping);
        let answered = tokio::select! {
            biased;
            answered = &mut ping => answered,
            over = &mut attack => { ended = Some(over); ping.await }
        };
        assert_eq!(answered.expect("it is answered").status(), StatusCode::OK);
        times.push(started.elapsed().as_secs_f64() * 1_000.0);
        if let Some(ended) = ended {
            times.sort_by(f64::total_cmp);
            return (times, ended);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The figures: `cargo test --release -p memory-tests --test it -- --ignored --nocapture what_attacks_cost_others`.
#[tokio::test]
#[ignore = "takes a minute and means something on a quiet machine only"]
async fn what_attacks_cost_others() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).expect("as many files as are allowed");
    let data_dir = DataDir::warm();
    let server = Server::start_with(with_files(&data_dir, 1024)).await;
    server.ask("remember", json!({"content": "The spare key is in the blue box."})).await;
    server.settled().await;
    println!("{:44} {:>6} {:>8} {:>8} {:>9}", "attack", "pings", "p50 ms", "max ms", "peak MB");
    let report = |name: &str, times: &[f64]| {
        let (p50, max) = (times[times.len() / 2], times[times.len() - 1]);
        println!("{name:44} {:6} {p50:8.1} {max:8.1} {:9}", times.len(), peak_mb(server.pid()));
    };
    let (times, ()) = pings_during(&server, tokio::time::sleep(Duration::from_secs(2))).await;
    report("none", &times);
    let (times, waiting) = pings_during(&server, async {
        let waiting = keep_waiting(&server, 1_000).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        waiting
    })
    .await;
    report("1,000 connections that say nothing", &times);
    drop(waiting);
    let long_head = head(&server, &format!("X-Long: {}\r\n", "x".repeat(100_000)));
    let heads = async {
        for _ in 0..300 {
            raw(&server, long_head.as_bytes()).await;
        }
    };
    let (times, ()) = pings_during(&server, heads).await;
    report("300 heads of 100 KB", &times);
    for (name, bodies) in [
        ("two bodies of 18 MB, one of 60 MB, of {}", vec![hostile(18), hostile(18), hostile(60)]),
        (
            "three texts of 10,000,001 escaped characters",
            vec![call("remember", json!({"content": "\u{1}".repeat(10_000_001)})).to_string(); 3],
        ),
        (
            "ten calls of 100,000 observations",
            vec![
                call(
                    "add_observations",
                    json!({"observations": [{"entityName": "none", "contents": vec!["x"; 100_000]}]})
                )
                .to_string();
                10
            ],
        ),
    ] {
        // Sent by another thread, so that making them does not hold up the pings.
        let (url, started) = (server.url.clone(), Instant::now());
        let sending = tokio::task::spawn_blocking(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let client = http_client();
                let sent = bodies.into_iter().map(|body| {
                    let request =
                        client.post(&url).header("Accept", "*/*").header("Content-Type", "application/json");
                    request.body(body).send()
                });
                futures::future::join_all(sent)
                    .await
                    .into_iter()
                    .map(|a| a.expect("an answer").status())
                    .collect::<Vec<_>>()
            })
        });
        let (times, statuses) = pings_during(&server, sending).await;
        report(name, &times);
        println!("  {:?} after {:.1} s", statuses.expect("answers"), started.elapsed().as_secs_f64());
    }
}
