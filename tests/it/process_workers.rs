//! Worker processes on a database that several processes share.

use std::process::Stdio;
use std::time::{Duration, Instant};

use memory_store::embedded::EmbeddedPostgres;
use memory_tests::process::{DataDir, Ran, Server, eventually, kill};
use memory_tests::{fresh_database, postgres_bin};
use rustix::process::Signal;
use serde_json::json;
use sqlx::{Connection, Executor, PgConnection};
use tokio::process::Child;

/// A server without a worker of its own, and the database that it shares.
struct Shared {
    server: Server,
    data_dir: DataDir,
    url: String,
}

impl Shared {
    async fn start() -> Self {
        let (data_dir, url) = (DataDir::new(), fresh_database().await);
        let mut command = data_dir.command("remembrancer");
        command.env("DATABASE_URL", &url);
        Self { server: Server::start_with(command).await, data_dir, url }
    }

    fn worker(&self) -> Child {
        let mut command = self.data_dir.command("event-worker");
        command.env("DATABASE_URL", &self.url).stdout(Stdio::null()).spawn().expect("a worker starts")
    }

    async fn sql(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.expect("the database answers")
    }

    async fn count(&self, statement: &'static str) -> i64 {
        sqlx::query_scalar(statement).fetch_one(&mut self.sql().await).await.expect("it counts")
    }

    /// A text so long that its vectors are made by a job of some seconds.
    async fn remember_a_long_text(&self) {
        let content: String =
            (0..700).map(|n| format!("Crate {n} went to hall {} and was counted by Anna. ", n % 7)).collect();
        let kept = self.server.ask("remember", json!({"content": content})).await;
        assert_eq!(kept["embedding"], "pending", "{kept}");
    }

    /// Vectors are made in whole batches, of which each is kept; events come all at once.
    async fn assert_nothing_is_half_written(&self) {
        let half_written =
            "select count(*) from semantic_event v join artifact_revision r using (namespace, revision_id)
            where r.extracted_at is null";
        assert_eq!(self.count(half_written).await, 0);
    }

    async fn assert_all_is_done(&self) {
        self.server.settled().await;
        for left in [
            "select count(*) from event_jobs where status <> 'DONE'",
            "select count(*) from artifact_revision where extracted_at is null",
            "select count(*) from passage p where not exists
                (select from passage_embedding e where (e.namespace, e.passage_id) = (p.namespace, p.passage_id))",
        ] {
            assert_eq!(self.count(left).await, 0, "{left}");
        }
    }
}

#[tokio::test]
async fn two_workers_share_a_queue_and_do_each_job_once() {
    let shared = Shared::start().await;
    let _workers = [shared.worker(), shared.worker()];
    let ready = async || shared.count("select count(*) from event_worker").await == 2;
    eventually("both workers are there", Duration::from_secs(20), ready).await;
    for n in 0..60 {
        let content = format!("Anna will send report {n} to Ben by Friday. We decided to close hall {n}.");
        shared.server.ask("remember", json!({"content": content, "context": "meeting"})).await;
    }
    shared.assert_all_is_done().await;
    assert_eq!(shared.count("select count(*) from event_jobs where attempts <> 1").await, 0);
    assert_eq!(shared.count("select count(*) from event_jobs").await, 60);
    let twice = "select count(*) from (select 1 from semantic_event group by namespace, revision_id, category, narrative
        having count(*) > 1) as repeated";
    assert_eq!(shared.count(twice).await, 0);
    assert!(shared.count("select count(*) from semantic_event").await >= 60);
}

#[tokio::test]
async fn a_job_whose_worker_is_killed_is_done_by_another_and_nothing_is_half_written() {
    let shared = Shared::start().await;
    shared.remember_a_long_text().await;
    let mut first = shared.worker();
    let is_under_way = "select count(*) from event_jobs where kind = 'embed' and status = 'PROCESSING'";
    eventually("a job is under way", Duration::from_secs(20), async || shared.count(is_under_way).await == 1)
        .await;
    first.kill().await.expect("it is killed");
    assert_eq!(shared.count(is_under_way).await, 1, "the job was done before its worker was killed");
    shared.assert_nothing_is_half_written().await;
    // Its lease runs out; no test waits for that.
    let ended = "update event_jobs set leased_until = now() where status = 'PROCESSING'";
    shared.sql().await.execute(ended).await.expect("the lease has ended");
    let _second = shared.worker();
    shared.assert_all_is_done().await;
    assert_eq!(shared.count("select attempts::bigint from event_jobs where kind = 'embed'").await, 2);
}

#[tokio::test]
async fn a_terminated_worker_ends_in_time_and_gives_back_what_it_could_not_finish() {
    let shared = Shared::start().await;
    shared.remember_a_long_text().await;
    let mut worker = shared.worker();
    let is_under_way = "select count(*) from event_jobs where status = 'PROCESSING'";
    eventually("a job is under way", Duration::from_secs(20), async || shared.count(is_under_way).await > 0)
        .await;
    let started = Instant::now();
    kill(worker.id().expect("it runs") as i32, Signal::TERM);
    let status = worker.wait().await.expect("it ends");
    assert!(
        status.success() && started.elapsed() < Duration::from_secs(9),
        "{status} after {:?}",
        started.elapsed()
    );
    println!("a worker with a job under way ended in {:?}", started.elapsed());
    assert_eq!(shared.count(is_under_way).await, 0, "a job still belongs to the worker that has ended");
    shared.assert_nothing_is_half_written().await;
    let _other = shared.worker();
    shared.assert_all_is_done().await;
}

#[tokio::test]
async fn a_worker_without_a_database_says_so_in_one_sentence() {
    let data_dir = DataDir::new();
    let ran = Ran::of(&mut data_dir.command("event-worker")).await;
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert!(ran.stderr.contains("DATABASE_URL is not set") && ran.stderr.lines().count() == 1, "{ran:?}");
}

#[tokio::test]
async fn a_worker_waits_for_a_database_that_is_away_and_ends_when_it_is_told_to() {
    let data_dir = DataDir::new();
    let postgres = EmbeddedPostgres::new(postgres_bin(), data_dir.path().join("postgres"));
    postgres.start().await.expect("it starts");
    postgres.stop().await.expect("it stops");
    let start = || {
        let mut command = data_dir.command("event-worker");
        command.env("DATABASE_URL", postgres.url()).args(["--model-dir", "/nowhere"]);
        command.stdout(Stdio::null()).spawn().expect("a worker starts")
    };
    let log = || std::fs::read_to_string(data_dir.path().join("test.log")).unwrap_or_default();
    let mut told = start();
    eventually("it says that it waits", Duration::from_secs(30), async || {
        log().contains("waiting for the database")
    })
    .await;
    kill(told.id().expect("it runs") as i32, Signal::TERM);
    assert!(told.wait().await.expect("it ends").success(), "told to stop while it waits");
    let mut waiting = start();
    eventually("two wait", Duration::from_secs(30), async || {
        log().matches("waiting for the database").count() >= 2
    })
    .await;
    assert!(waiting.try_wait().expect("it is watched").is_none(), "it has ended:\n{}", log());
    postgres.start().await.expect("it starts again");
    let seen = async || {
        let Ok(mut sql) = PgConnection::connect(&postgres.url()).await else { return false };
        sqlx::query_scalar("select count(*) = 1 from event_worker").fetch_one(&mut sql).await.unwrap_or(false)
    };
    eventually("it works", Duration::from_secs(30), seen).await;
    kill(waiting.id().expect("it runs") as i32, Signal::TERM);
    assert!(waiting.wait().await.expect("it ends").success());
    postgres.stop().await.expect("it stops");
}

#[tokio::test]
async fn a_server_on_a_shared_database_waits_for_it_and_says_that_no_worker_runs() {
    let shared = Shared::start().await;
    let status = shared.server.ask("status", json!({})).await;
    assert_eq!(status["healthy"], false, "{status}");
    let detail = status["services"]["event_worker"]["detail"].as_str().expect("a detail");
    assert!(detail.contains("start `event-worker`"), "{status}");
    let mut command = shared.data_dir.command("remembrancer");
    let ran = Ran::of(command.env("DATABASE_URL", &shared.url).arg("status")).await;
    assert_eq!(ran.status.code(), Some(1), "a script takes it for healthy: {ran:?}");
    assert!(ran.stdout.contains("NOT HEALTHY\n  ! event_worker is down: never seen"), "{ran:?}");
    assert_eq!(
        shared.data_dir.postmaster_pid(),
        None,
        "an embedded database was started beside the shared one"
    );
}
