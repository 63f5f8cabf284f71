//! The queue under fire: real workers that are killed, a database that goes away, and the operators' commands.

use std::process::Stdio;
use std::time::{Duration, Instant};

use memory_store::Store;
use memory_store::embedded::EmbeddedPostgres;
use memory_tests::process::{DataDir, Ran, eventually};
use memory_tests::{Fixture, fresh_database, postgres_bin};
use serde_json::Value;
use sqlx::{Connection, Executor, PgConnection};
use tokio::process::Child;

/// How many notes the workers are killed over; more are wanted where time does not count.
fn backlog() -> i64 {
    std::env::var("REMEMBRANCER_TEST_BACKLOG").ok().and_then(|n| n.parse().ok()).unwrap_or(1000)
}

/// One of many notes in which the same is found, whatever its number.
const NOTE: &str =
    "Anna Weber will send report 1000000 to Ben Fischer by Friday. We decided to close hall 1000000.";

/// A database with jobs, and processes that do them.
struct Queue {
    data_dir: DataDir,
    url: String,
}

impl Queue {
    async fn new() -> Self {
        Self { data_dir: DataDir::new(), url: fresh_database().await }
    }

    async fn sql(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.expect("the database answers")
    }

    async fn count(&self, statement: &'static str) -> i64 {
        sqlx::query_scalar(statement).fetch_one(&mut self.sql().await).await.expect("it counts")
    }

    /// Queues so many notes in three namespaces and all priorities; every writing of an extraction is written down.
    async fn fill(&self, notes: i64) {
        let mut sql = self.sql().await;
        sqlx::query(
            "with art as (
                 insert into artifact (namespace, artifact_id, sha256, content, char_count, token_count)
                 select 'team-' || n % 3, 'art_' || n, sha256(n::text::bytea), text, length(text), 30
                 from (select n, replace($2, '1000000', (1000000 + n)::text) as text from generate_series(1, $1) n) t
             ), rev as (
                 insert into artifact_revision (namespace, artifact_id, artifact_uid, context, importance, summary)
                 select 'team-' || n % 3, 'art_' || n, 'content:' || n, 'meeting', 0.5, '' from generate_series(1, $1) n
                 returning namespace, revision_id
             )
             insert into event_jobs (namespace, kind, revision_id, lane)
             select namespace, 'extract', revision_id, revision_id % 3 from rev",
        )
        .bind(notes)
        .bind(NOTE)
        .execute(&mut sql)
        .await
        .expect("the notes are stored");
        sql.execute(
            "create table written (namespace text, revision_id bigint);
             create function write_down() returns trigger language plpgsql as
                 'begin insert into written values (new.namespace, new.revision_id); return null; end';
             create trigger write_down after update of extracted_at on artifact_revision
                 for each row execute function write_down();",
        )
        .await
        .expect("writings are written down");
    }

    /// A worker without an embedding model, which these jobs do not need.
    fn worker(&self) -> Child {
        let mut command = self.data_dir.command("event-worker");
        command.env("DATABASE_URL", &self.url).args(["--lease-seconds", "3", "--model-dir", "/nowhere"]);
        command.stdout(Stdio::null()).spawn().expect("a worker starts")
    }

    /// Each note has the events and mentions that it has on a quiet day, and they were written once.
    async fn assert_each_note_was_committed_once(&self) {
        let (events, mentions) = found_on_a_quiet_day().await;
        assert!(events >= 2 && mentions >= 2, "{events} events, {mentions} mentions");
        for (statement, what) in [
            ("select count(*) from event_jobs where status in ('PENDING', 'PROCESSING')", "open jobs"),
            (
                "select count(*) from event_jobs where status = 'FAILED'
                    and not (last_error_code = 'WORKER_LOST' and attempts >= 5)",
                "failed jobs",
            ),
            (
                "select count(*) from artifact_revision r join event_jobs j using (namespace, revision_id)
                    where (j.status = 'DONE') <> (r.extracted_at is not null)",
                "jobs that stand otherwise than their texts",
            ),
            (
                "select count(*) from (select 1 from written group by namespace, revision_id having count(*) > 1) w",
                "texts written twice",
            ),
            (
                "select abs((select count(*) from written)
                    - (select count(*) from artifact_revision where extracted_at is not null))",
                "texts not written",
            ),
        ] {
            assert_eq!(self.count(statement).await, 0, "{what}");
        }
        let found: Vec<(i64, i64, i64)> = sqlx::query_as(
            "select (select count(*) from semantic_event e
                     where (e.namespace, e.revision_id) = (r.namespace, r.revision_id)) as events,
                    (select count(*) from entity_mention m
                     where (m.namespace, m.revision_id) = (r.namespace, r.revision_id)) as mentions,
                    count(*)
             from artifact_revision r where extracted_at is not null
             group by 1, 2",
        )
        .fetch_all(&mut self.sql().await)
        .await
        .expect("they are counted");
        assert!(found.len() == 1 && (found[0].0, found[0].1) == (events, mentions), "{found:?}");
        let counted = "select count(*) from artifact_revision r where event_count <>
            (select count(*) from semantic_event e where (e.namespace, e.revision_id) = (r.namespace, r.revision_id))";
        assert_eq!(self.count(counted).await, 0);
    }
}

/// How many events and mentions one note has.
async fn found_on_a_quiet_day() -> (i64, i64) {
    let f = Fixture::without_model(std::sync::Arc::new(memory_extraction::RulesExtractor::new())).await;
    f.memory.lacks_model("not needed".to_owned());
    let note = memory_core::artifact::Draft {
        content: NOTE.to_owned(),
        context: Some("meeting".to_owned()),
        ..memory_core::artifact::Draft::default()
    };
    f.remember_as(note).await;
    f.drain().await;
    (
        f.count("select count(*) from semantic_event").await,
        f.count("select count(*) from entity_mention").await,
    )
}

fn random_below(limit: usize) -> usize {
    (uuid::Uuid::new_v4().as_u128() % limit as u128) as usize
}

#[tokio::test]
async fn workers_that_are_killed_at_random_commit_every_result_exactly_once() {
    let queue = Queue::new().await;
    let notes = backlog();
    queue.fill(notes).await;
    let began = Instant::now();
    let mut workers: Vec<Child> = (0..4).map(|_| queue.worker()).collect();
    let waiting = "select count(*) from event_jobs where status = 'PENDING'";
    let mut kills = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(1_000 + random_below(1_500) as u64)).await;
        if queue.count(waiting).await == 0 {
            break;
        }
        let victim = random_below(workers.len());
        workers[victim].kill().await.expect("it is killed");
        workers[victim] = queue.worker();
        kills += 1;
        assert!(began.elapsed() < Duration::from_mins(30), "the queue is not drained");
    }
    // What the last ones killed have left is taken up when their leases have ended.
    let open = "select count(*) from event_jobs where status in ('PENDING', 'PROCESSING')";
    eventually("no job is open", Duration::from_secs(60), async || queue.count(open).await == 0).await;
    let again = queue.count("select count(*) from event_jobs where attempts > 1").await;
    println!("{notes} notes, {kills} kills, {again} jobs done again, {:?}", began.elapsed());
    assert!(kills > 2, "it was over after {kills} kills");
    queue.assert_each_note_was_committed_once().await;
}

#[tokio::test]
async fn a_job_that_kills_its_worker_ends_as_failed_and_takes_no_other_along() {
    let queue = Queue::new().await;
    queue.fill(200).await;
    let mark = "update artifact set content = 'A deadly text.' where artifact_id in ('art_40', 'art_120')";
    queue.sql().await.execute(mark).await.expect("two texts are deadly");
    let open = "select count(*) from event_jobs where status in ('PENDING', 'PROCESSING')";
    let mut deaths = 0;
    let started = || {
        let mut command = queue.data_dir.command("faulty-worker");
        command.env("DATABASE_URL", &queue.url).stdout(Stdio::null()).spawn().expect("a worker starts")
    };
    let mut worker = started();
    eventually("no job is open", Duration::from_secs(60), async || {
        if worker.try_wait().expect("it is watched").is_some() {
            deaths += 1;
            worker = started();
        }
        queue.count(open).await == 0
    })
    .await;
    let failed: Vec<(String, String, i32)> = sqlx::query_as(
        "select r.artifact_id, j.last_error_code, j.attempts from event_jobs j
         join artifact_revision r using (namespace, revision_id)
         where j.status = 'FAILED' order by 1",
    )
    .fetch_all(&mut queue.sql().await)
    .await
    .expect("they are listed");
    let lost = |id: &str| (id.to_owned(), "WORKER_LOST".to_owned(), 5);
    assert_eq!(failed, [lost("art_120"), lost("art_40")]);
    assert!((5..=10).contains(&deaths), "{deaths} deaths");
    assert_eq!(queue.count("select count(*) from event_jobs where status = 'DONE'").await, 198);
    // Neighbours were taken along twice at most; then what is suspect is done alone. Another lease may end by itself
    // on a machine that is slow.
    assert_eq!(
        queue.count("select count(*) from event_jobs where status = 'DONE' and attempts > 4").await,
        0
    );
    queue.assert_each_note_was_committed_once().await;
}

#[tokio::test]
async fn workers_wait_for_a_database_that_goes_away_and_go_on_when_it_is_back() {
    let data_dir = DataDir::new();
    let postgres = EmbeddedPostgres::new(postgres_bin(), data_dir.path().join("postgres"));
    postgres.start().await.expect("it starts");
    Store::open(&postgres.url(), 4).await.expect("it is migrated").close().await;
    let queue = Queue { url: postgres.url(), data_dir };
    queue.fill(400).await;
    let mut workers = [queue.worker(), queue.worker()];
    let done = "select count(*) from event_jobs where status = 'DONE'";
    eventually("some jobs are done", Duration::from_secs(30), async || queue.count(done).await > 20).await;
    postgres.stop().await.expect("it stops");
    // Longer than one try of anything.
    tokio::time::sleep(Duration::from_secs(2)).await;
    for worker in &mut workers {
        assert!(worker.try_wait().expect("it is watched").is_none(), "a worker has ended with the database");
    }
    postgres.start().await.expect("it starts again");
    eventually("all jobs are done", Duration::from_secs(40), async || queue.count(done).await == 400).await;
    assert_eq!(queue.count("select count(*) from event_jobs where attempts > 3").await, 0);
    queue.assert_each_note_was_committed_once().await;
    for mut worker in workers {
        worker.kill().await.expect("it is killed");
    }
    let log = std::fs::read_to_string(queue.data_dir.path().join("test.log")).expect("a log");
    let told = log.matches("failed to claim jobs").count();
    assert!(told <= 4, "told {told} times:\n{log}");
    postgres.stop().await.expect("it stops");
}

async fn run(queue: &Queue, arguments: &[&str]) -> Ran {
    Ran::of(queue.data_dir.command("remembrancer").env("DATABASE_URL", &queue.url).args(arguments)).await
}

fn ids(listed: &Value) -> Vec<&str> {
    listed["jobs"].as_array().expect("jobs").iter().filter_map(|job| job["id"].as_str()).collect()
}

#[tokio::test]
async fn operators_see_retry_and_cancel_jobs_of_a_shared_database() {
    let queue = Queue::new().await;
    queue.fill(6).await;
    queue
        .sql()
        .await
        .execute(
            "update event_jobs set status = 'FAILED', last_error_code = 'LLM_AUTH', finished_at = now(), attempts = 5
             where job_id in (1, 2)",
        )
        .await
        .expect("two have failed");
    let all = run(&queue, &["jobs", "list", "--all-namespaces", "--json", "--limit", "4"]).await.json();
    assert_eq!(ids(&all), ["job_6", "job_5", "job_4", "job_3"]);
    assert_eq!(all["has_more"], true);
    let failed = ["jobs", "list", "--state", "failed", "--namespace", "team-1"];
    let table = run(&queue, &failed).await.stdout;
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..5], ["JOB", "STATE", "KIND", "LANE", "TRIES"], "{table}");
    assert_eq!(lines[1][..5], ["job_1", "FAILED", "extract", "large", "5"], "{table}");
    assert!(
        lines.len() == 3 && lines[2][0] == "LLM_AUTH" && table.contains("REMEMBRANCER_LLM_KEY"),
        "{table}"
    );
    let shown = run(&queue, &["jobs", "show", "job_2", "--namespace", "team-2"]).await.stdout;
    assert!(shown.contains("LLM_AUTH") && shown.contains("art_2") && shown.contains("ended"), "{shown}");
    assert!(shown.contains("what to do"), "{shown}");

    let refused = run(&queue, &["jobs", "retry", "2", "3", "77", "--all-namespaces"]).await;
    assert_eq!(refused.status.code(), Some(1));
    assert!(refused.stdout.starts_with("1 job waits again.\n"), "{refused:?}");
    assert!(
        refused.stdout.contains("job_3: it is PENDING; only a FAILED job can be tried again"),
        "{refused:?}"
    );
    assert!(refused.stdout.contains("job_77: there is no such job"), "{refused:?}");
    let elsewhere = run(&queue, &["jobs", "show", "job_2"]).await;
    assert!(elsewhere.refusal().contains("job_2: there is no such job in this namespace"), "{elsewhere:?}");
    let wrong = run(&queue, &["jobs", "show", "art_2"]).await;
    assert!(wrong.refusal().contains("Invalid job id 'art_2'"), "{wrong:?}");
    let retried =
        run(&queue, &["jobs", "retry", "--failed", "--code", "llm_auth", "--all-namespaces", "--json"]).await;
    assert_eq!(retried.json()["retried_count"], 1);
    let cancelled = run(&queue, &["jobs", "cancel", "job_5", "--all-namespaces", "--json"]).await.json();
    assert_eq!(cancelled["cancelled"][0]["was"], "PENDING", "{cancelled}");
    let states = "select count(*) from event_jobs where status = 'PENDING' and attempts = 0";
    assert_eq!(queue.count(states).await, 5);
    let by_code = run(&queue, &["jobs", "list", "--code", "llm_unavailable", "--all-namespaces"]).await;
    assert_eq!((by_code.status.code(), &*by_code.stdout), (Some(0), "No such jobs.\n"), "{by_code:?}");
    let no_code = run(&queue, &["jobs", "list", "--code", "OUT_OF_LUCK"]).await;
    assert!(no_code.status.code() == Some(2) && no_code.stderr.contains("LLM_UNAVAILABLE"), "{no_code:?}");
    let again = run(&queue, &["jobs", "cancel", "job_5", "--all-namespaces"]).await;
    assert!(again.stdout.contains("job_5: it is FAILED already"), "{again:?}");
}

#[tokio::test]
async fn texts_are_read_again_while_a_memory_is_in_use() {
    let data_dir = DataDir::warm();
    let folder = data_dir.path().join("notes");
    std::fs::create_dir(&folder).expect("a folder is made");
    for n in 0..20 {
        let note = NOTE.replace("1000000", &format!("{n}"));
        std::fs::write(folder.join(format!("{n}.txt")), note).expect("a file is written");
    }
    let imported = data_dir.run(&["import-folder", folder.to_str().expect("UTF-8"), "--json"]).await;
    assert_eq!(imported.json()["created"], 20);
    let url = data_dir.database_url();
    let count = async |statement: &'static str| -> i64 {
        let mut sql = PgConnection::connect(&url).await.expect("the database answers");
        sqlx::query_scalar(statement).fetch_one(&mut sql).await.expect("it counts")
    };
    let extracted = "select count(*) from artifact_revision where extracted_at is not null";
    eventually("all is extracted", Duration::from_secs(30), async || count(extracted).await == 20).await;
    assert_eq!(count("select count(*) from event_jobs where lane <> 2").await, 0, "an import is no bulk");
    let nothing = data_dir.run(&["reextract"]).await;
    assert!(nothing.stdout.starts_with("Nothing was queued for rules version"), "{nothing:?}");
    let events = "select count(*) from semantic_event";
    let before = count(events).await;
    let again = data_dir.run(&["reextract", "--all", "--wait", "--json"]).await.json();
    assert_eq!((&again["texts"], &again["failed_count"]), (&Value::from(20), &Value::from(0)), "{again}");
    assert_eq!(count(events).await, before);
    assert_eq!(count("select count(*) from event_jobs where status = 'DONE'").await, 40);
    let wrong = data_dir.run(&["reextract", "--context", "novel"]).await;
    assert!(wrong.refusal().contains("Invalid context 'novel'"), "{wrong:?}");
    let listed = data_dir.run(&["jobs", "list", "--kind", "extract", "-n", "3", "--json"]).await.json();
    assert_eq!(ids(&listed).len(), 3);
}
