//! status: what runs, what is stored, what waits; it never throws.

use std::time::Duration;

use memory_core::id::{ArtifactId, JobId};
use memory_core::job::ErrorCode;
use memory_core::ports::ExtractError;
use memory_engine::status::{Service, Status};
use memory_store::jobs::{self, Cancelled, Retried};
use memory_tests::{Fixture, model, turn};
use sqlx::Connection;

use crate::shorthand::{drain_with_retries, execute, light, long_text, ns, store};
use crate::stand_ins::{line_reader, scripted};

async fn status(f: &Fixture, id: Option<&ArtifactId>) -> Status {
    f.memory.status(&f.ns, id).await
}

fn service<'a>(status: &'a Status, name: &str) -> &'a Service {
    status.services.iter().find(|s| s.name == name).unwrap_or_else(|| panic!("no service {name}"))
}

#[tokio::test]
async fn counts_are_those_of_the_namespace() {
    let mut f = light(line_reader()).await;
    f.ns = ns("other");
    f.remember("Feedback by Zoe").await;
    f.ns = ns("default");
    f.remember("Decision by Ann on Apollo").await;
    let long = f.remember(&long_text(150)).await;
    let before = status(&f, None).await;
    assert_eq!((before.queue.as_ref().unwrap().pending, before.queue.unwrap().done), (2, 0));
    f.drain().await;
    let after = status(&f, None).await;
    let counts = after.counts.unwrap();
    assert_eq!(
        (counts.artifacts, counts.chunks, counts.events, counts.entities),
        (2, long.num_chunks as i64, 1, 2)
    );
    let queue = after.queue.unwrap();
    assert_eq!((queue.pending, queue.processing, queue.done, queue.failed), (0, 0, 2, 0));
    assert!(queue.failures.is_empty() && queue.oldest_pending_seconds.is_none());
}

#[tokio::test]
async fn all_services_answer_and_a_worker_never_seen_is_advised() {
    let f = Fixture::new().await;
    let asked = status(&f, None).await;
    let names: Vec<&str> = asked.services.iter().map(|s| s.name).collect();
    assert_eq!(names, ["postgres", "vector_index", "embedding_model", "extractor", "event_worker"]);
    let unhealthy: Vec<&str> = asked.services.iter().filter(|s| !s.is_healthy).map(|s| s.name).collect();
    assert_eq!(unhealthy, ["event_worker"]);
    assert_eq!(service(&asked, "event_worker").detail, "never seen; start `event-worker`");
    assert!(service(&asked, "postgres").latency_ms.is_some_and(|ms| ms > 0.0));
    assert!(service(&asked, "embedding_model").detail.contains("384 dimensions"));
}

#[tokio::test]
async fn a_worker_is_healthy_while_it_is_seen() {
    let f = light(line_reader()).await;
    let id = uuid::Uuid::new_v4();
    jobs::heartbeat(&mut store(&f).await.acquire_across().await.unwrap(), id).await.unwrap();
    assert!(service(&status(&f, None).await, "event_worker").is_healthy);
    execute(&f, "update event_worker set last_seen = now() - interval '61 s'").await;
    let silent = status(&f, None).await;
    assert!(!service(&silent, "event_worker").is_healthy);
    assert!(service(&silent, "event_worker").detail.contains("start `event-worker`"));
}

#[tokio::test]
async fn a_missing_model_and_the_texts_that_wait_for_it_are_told() {
    let f = Fixture::without_model(line_reader()).await;
    assert_eq!(service(&status(&f, None).await, "embedding_model").detail, "is being loaded");
    f.memory.lacks_model("no model in /nowhere; run `remembrancer setup`".to_owned());
    let id = f.remember("The orchestra played.").await.id;
    let waiting = status(&f, Some(&id)).await;
    assert!(!service(&waiting, "embedding_model").is_healthy);
    assert_eq!(service(&waiting, "embedding_model").detail, "no model in /nowhere; run `remembrancer setup`");
    assert_eq!(
        service(&waiting, "vector_index").detail,
        "pgvector; 1 of 1 passage without a vector yet, found by words alone"
    );
    assert_eq!(waiting.pending_embeddings(), 1);
    assert_eq!(waiting.job.unwrap().passages_without_vector, 1);
    f.memory.adopt_model(model()).await.unwrap();
    f.drain().await;
    let healed = status(&f, Some(&id)).await;
    assert_eq!(service(&healed, "vector_index").detail, "pgvector; every passage has its vector");
    assert_eq!(healed.job.unwrap().passages_without_vector, 0);
}

/// A worker has just been seen.
async fn beat(f: &Fixture) {
    let mut conn = store(f).await.acquire_across().await.expect("a connection");
    jobs::heartbeat(&mut conn, uuid::Uuid::new_v4()).await.expect("a beat");
}

fn told(status: &Status) -> Vec<&str> {
    status.problems.iter().map(|problem| problem.what.as_str()).collect()
}

#[tokio::test]
async fn missing_vectors_are_told_whatever_becomes_of_their_job() {
    let f = light(line_reader()).await;
    beat(&f).await;
    let id = f.remember(&long_text(600)).await.id;
    execute(&f, "delete from event_jobs where kind <> 'embed'").await;
    let passages = f.count("select count(*) from passage").await;
    let assert_told = async |state: &str, pending: i64| {
        let asked = status(&f, Some(&id)).await;
        assert_eq!(asked.vectors.unwrap().missing, passages, "{state}");
        assert_eq!(asked.pending_embeddings(), pending, "{state}");
        let detail = &service(&asked, "vector_index").detail;
        assert!(
            detail.starts_with(&format!("pgvector; {passages} of {passages} passages without")),
            "{detail}"
        );
        let job = asked.job.clone().unwrap();
        assert_eq!((job.passages, job.passages_without_vector), (passages, passages), "{state}");
        assert_eq!(
            job.embed.map(|embed| embed.status),
            Some(state.to_owned()).filter(|state| !state.is_empty())
        );
        asked
    };
    assert!(assert_told("PENDING", 1).await.is_healthy());
    let store = store(&f).await;
    let mut conn = store.acquire_across().await.unwrap();
    let held = jobs::claim(&mut conn, Duration::from_mins(1), 1).await.unwrap().remove(0);
    assert!(assert_told("PROCESSING", 1).await.is_healthy());
    jobs::fail(&mut conn, &held, ErrorCode::TimedOut).await.unwrap();
    let failed = assert_told("FAILED", 1).await;
    assert_eq!(
        told(&failed),
        ["1 embed job has failed with TIMED_OUT: it took longer than it may; vectors are missing"]
    );
    assert!(failed.problems[0].since.is_some() && failed.problems[0].advice.contains("jobs retry job_"));
    // Ended jobs are swept after a while.
    execute(&f, "delete from event_jobs").await;
    let orphaned = assert_told("", 0).await;
    assert_eq!(told(&orphaned), [format!("{passages} passages without a vector, and no job will make one")]);
    f.remember(&long_text(600)).await;
    f.drain().await;
    let healed = status(&f, Some(&id)).await;
    assert!(healed.is_healthy(), "{:?}", healed.problems);
    assert_eq!((healed.vectors.unwrap().missing, healed.pending_embeddings()), (0, 0));
}

#[tokio::test]
async fn a_failed_job_is_a_problem_until_it_is_done_or_left() {
    let f = light(scripted(|_| Err(ExtractError::Failed("no".into())))).await;
    beat(&f).await;
    for name in ["Ann", "Bob", "Cleo"] {
        f.remember(&format!("Decision by {name}")).await;
    }
    drain_with_retries(&f).await;
    let asked = status(&f, None).await;
    assert_eq!(
        told(&asked),
        ["3 extract jobs have failed with INTERNAL: extraction failed: no; events are missing"]
    );
    assert!(asked.problems[0].advice.contains("jobs retry --failed --code INTERNAL --kind extract"));
    // One is done since by another job, one is left, one is tried again.
    execute(
        &f,
        "insert into event_jobs (namespace, kind, revision_id, status, finished_at)
                 select namespace, kind, revision_id, 'DONE', now() from event_jobs where job_id = 1",
    )
    .await;
    assert_eq!(f.memory.operations().cancel_job(Some(&f.ns), JobId(2)).await.unwrap(), Cancelled::Failed);
    assert_eq!(f.memory.operations().retry_job(Some(&f.ns), JobId(3)).await.unwrap(), Retried::Queued);
    let asked = status(&f, None).await;
    assert!(asked.is_healthy(), "{:?}", asked.problems);
}

#[tokio::test]
async fn a_job_is_followed_from_pending_to_done() {
    let f = light(line_reader()).await;
    let remembered = f.remember("Decision by Ann").await;
    let pending = status(&f, Some(&remembered.id)).await.job.unwrap();
    assert_eq!(
        (pending.job_id, pending.status.as_deref()),
        (remembered.job_id.map(|id| id.0), Some("PENDING"))
    );
    assert_eq!((pending.attempts, pending.extracted_at, pending.event_count), (Some(0), None, None));
    let held =
        jobs::claim(&mut store(&f).await.acquire_across().await.unwrap(), Duration::ZERO, 1).await.unwrap();
    assert_eq!(held.len(), 1);
    assert_eq!(status(&f, Some(&remembered.id)).await.job.unwrap().status.as_deref(), Some("PROCESSING"));
    f.drain().await;
    let done = status(&f, Some(&remembered.id)).await.job.unwrap();
    assert_eq!((done.status.as_deref(), done.event_count, done.attempts), (Some("DONE"), Some(1), Some(2)));
    assert!(done.extracted_at.is_some());
    assert!(status(&f, Some(&ArtifactId("art_000000000000".into()))).await.job.is_none());
}

#[tokio::test]
async fn a_short_turns_job_is_that_of_its_talk() {
    let f = light(line_reader()).await;
    let id = f.remember_as(turn("chat", 0, "Ann", "Decision by Ann")).await.id;
    assert_eq!(status(&f, Some(&id)).await.job.unwrap().status.as_deref(), Some("PENDING"));
    f.drain().await;
    let done = status(&f, Some(&id)).await.job.unwrap();
    assert_eq!((done.status.as_deref(), done.event_count), (Some("DONE"), Some(1)));
}

#[tokio::test]
async fn failures_are_told_by_code_and_the_oldest_wait_by_age() {
    let f = light(scripted(|_| Err(ExtractError::Failed("no".into())))).await;
    let id = f.remember("Decision by Ann").await.id;
    f.remember("Decision by Bob").await;
    drain_with_retries(&f).await;
    f.remember("Decision by Cleo").await;
    execute(&f, "update event_jobs set created_at = now() - interval '1 hour' where status = 'PENDING'")
        .await;
    let asked = status(&f, Some(&id)).await;
    let queue = asked.queue.unwrap();
    assert_eq!((queue.failed, queue.pending), (2, 1));
    assert_eq!(queue.failures, [("INTERNAL".to_owned(), 2)]);
    assert!(queue.oldest_pending_seconds.is_some_and(|s| (3600.0..3700.0).contains(&s)));
    assert_eq!(asked.job.unwrap().last_error_code.as_deref(), Some("INTERNAL"));
}

#[tokio::test]
async fn a_dead_database_is_reported_and_not_thrown() {
    let f = light(line_reader()).await;
    f.remember("Decision by Ann").await;
    let name = f.url.split('?').next().and_then(|address| address.rsplit('/').next()).unwrap();
    let mut admin = sqlx::PgConnection::connect(&f.url.replacen(name, "postgres", 1)).await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("drop database \"{name}\" with (force)")))
        .execute(&mut admin)
        .await
        .unwrap();
    // The first call meets the broken connections, the second the missing database.
    for _ in 0..2 {
        let asked =
            tokio::time::timeout(Duration::from_secs(15), status(&f, None)).await.expect("it answers soon");
        assert!(asked.counts.is_none() && asked.queue.is_none() && asked.job.is_none());
        assert!(!service(&asked, "postgres").is_healthy && !service(&asked, "vector_index").is_healthy);
        let detail = &service(&asked, "postgres").detail;
        assert!(!detail.contains("test_") && !detail.contains('/'), "{detail}");
    }
}
