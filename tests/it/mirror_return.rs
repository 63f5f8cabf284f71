//! How soon a mirror that was away is searched again, with the times that a server has.

use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_engine::worker::Worker;
use memory_store::vector::Times;
use memory_tests::Fixture;
use memory_tests::qdrant::{Fault, Op, StandIn};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::mirror_shorthand::{fell_back, mirrored_by, near, server, settle, soon};

/// Within this it is to be searched again; 5 seconds, and some for a machine that has much to do.
const BACK_WITHIN: Duration = Duration::from_secs(8);

struct Running {
    f: Fixture,
    stop: CancellationToken,
    worker: JoinHandle<()>,
}

impl Running {
    async fn mirrored_by(stand_in: &StandIn) -> Self {
        let f = mirrored_by(server(&stand_in.url(), Times::default())).await;
        settle(&f).await;
        f.remember("zebra violin").await;
        settle(&f).await;
        assert!(!fell_back(&near(&f, "zebra").await));
        let stop = CancellationToken::new();
        let worker = tokio::spawn({
            let (memory, stop) = (Arc::clone(&f.memory), stop.clone());
            async move { Worker::new(&memory).run(stop).await }
        });
        Self { f, stop, worker }
    }

    /// Asks until the mirror has answered; gives how long that took.
    async fn is_back(&self, stand_in: &StandIn) -> Duration {
        let started = Instant::now();
        soon("it is searched again", async || {
            let asked = stand_in.calls(Op::Query);
            !fell_back(&near(&self.f, "zebra").await) && stand_in.calls(Op::Query) > asked
        })
        .await;
        started.elapsed()
    }

    async fn end(self) {
        self.stop.cancel();
        self.worker.await.expect("it ends");
    }
}

#[tokio::test]
async fn a_server_that_was_down_is_searched_again_within_seconds() {
    let mut stand_in = StandIn::start();
    let running = Running::mirrored_by(&stand_in).await;
    // Two outages soon after one another, each longer than a few trials.
    for seconds in [3, 9] {
        stand_in.stop();
        let answer = near(&running.f, "zebra").await;
        assert!(fell_back(&answer));
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let later = near(&running.f, "zebra").await;
        assert_eq!(later.warnings, answer.warnings, "it is not said since when");
        assert!(later.warnings[0].contains("(since 2"), "{:?}", later.warnings);
        stand_in.restart(0);
        let back = running.is_back(&stand_in).await;
        assert!(back < BACK_WITHIN, "{back:?}");
    }
    running.end().await;
}

#[tokio::test]
async fn a_server_that_comes_back_empty_is_filled_and_searched_within_seconds() {
    let mut stand_in = StandIn::start();
    let running = Running::mirrored_by(&stand_in).await;
    stand_in.stop();
    assert!(fell_back(&near(&running.f, "zebra").await));
    tokio::time::sleep(Duration::from_secs(9)).await;
    stand_in.wipe();
    stand_in.restart(0);
    let back = running.is_back(&stand_in).await;
    assert!(back < BACK_WITHIN, "{back:?}");
    // One that loses everything while it runs, too.
    stand_in.wipe();
    let back = running.is_back(&stand_in).await;
    assert!(back < BACK_WITHIN, "{back:?}");
    running.end().await;
}

#[tokio::test]
async fn a_server_that_stalls_is_tried_beside_the_searches_and_not_by_them() {
    let stand_in = StandIn::start();
    let running = Running::mirrored_by(&stand_in).await;
    stand_in.script(|op| (op == Op::Query).then_some(Fault::Hang));
    assert!(fell_back(&near(&running.f, "zebra").await));
    let (asked, started) = (stand_in.calls(Op::Query), Instant::now());
    for _ in 0..100 {
        assert!(fell_back(&near(&running.f, "zebra").await));
    }
    let trials = stand_in.calls(Op::Query) - asked;
    let most = started.elapsed().as_millis() / 500 + 2;
    assert!(trials as u128 <= most, "{trials} trials in {:?}", started.elapsed());
    // Trials stay frequent however long it takes.
    soon("it was tried five times", async || stand_in.calls(Op::Query) >= asked + 5).await;
    stand_in.heal();
    let back = running.is_back(&stand_in).await;
    assert!(back < BACK_WITHIN, "{back:?}");
    running.end().await;
}
