//! The queue: a job belongs to one worker at a time, and is never lost.

use std::collections::HashSet;
use std::time::Duration;

use memory_core::job::{ErrorCode, MAX_ATTEMPTS};
use memory_store::jobs::{self, LeasedJob};
use memory_store::{Store, StoreError};
use memory_tests::{Fixture, turn};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::shorthand::{execute, light, light_sibling, ns, only_job, store};
use crate::stand_ins::line_reader;

const MINUTE: Duration = Duration::from_mins(1);

/// A fixture with this many due jobs, and a store on it.
async fn with_jobs(count: i64) -> (Fixture, Store) {
    let f = Fixture::without_model(line_reader()).await;
    sqlx::query(
        "with art as (
             insert into artifact (namespace, artifact_id, sha256, content, char_count, token_count)
             select 'default', 'art_' || n, sha256(n::text::bytea), n::text, 1, 1 from generate_series(1, $1) n
         ), rev as (
             insert into artifact_revision (namespace, artifact_id, artifact_uid, context, importance, summary)
             select 'default', 'art_' || n, 'content:' || n, 'note', 0.5, '' from generate_series(1, $1) n returning revision_id
         )
         insert into event_jobs (namespace, kind, revision_id) select 'default', 'extract', revision_id from rev",
    )
    .bind(count)
    .execute(&mut f.sql().await)
    .await
    .expect("the jobs are queued");
    let store = store(&f).await;
    (f, store)
}

async fn claim(store: &Store, lease: Duration, limit: i64) -> Vec<LeasedJob> {
    let mut conn = store.acquire_across().await.expect("a connection");
    jobs::claim(&mut conn, lease, limit).await.expect("jobs are claimed")
}

async fn finish(store: &Store, job: &LeasedJob) -> Result<(), StoreError> {
    let mut tx = store.begin_across().await?;
    jobs::finish(&mut tx, job).await?;
    tx.commit().await
}

fn stands(status: &str, attempts: i32, code: Option<&str>) -> (String, i32, Option<String>) {
    (status.to_owned(), attempts, code.map(str::to_owned))
}

#[tokio::test]
async fn sixteen_claimers_never_share_a_job() {
    let (_f, store) = with_jobs(200).await;
    let mut claimers = JoinSet::new();
    for _ in 0..16 {
        let store = store.clone();
        claimers.spawn(async move {
            let mut own = Vec::new();
            loop {
                let claimed = claim(&store, MINUTE, 3).await;
                if claimed.is_empty() {
                    return own;
                }
                own.extend(claimed.iter().map(|job| job.job_id));
            }
        });
    }
    let claimed: Vec<_> = claimers.join_all().await.into_iter().flatten().collect();
    assert_eq!(claimed.len(), 200);
    assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), 200);
}

#[tokio::test]
async fn a_claim_takes_no_more_than_asked_for_and_the_oldest_first() {
    let (f, store) = with_jobs(5).await;
    execute(&f, "update event_jobs set run_at = now() - job_id * interval '1 s'").await;
    let claimed: Vec<i64> = claim(&store, MINUTE, 2).await.iter().map(|job| job.job_id.0).collect();
    assert_eq!(claimed, [5, 4]);
    assert_eq!(f.count("select count(*) from event_jobs where status = 'PROCESSING'").await, 2);
}

#[tokio::test]
async fn a_finished_job_is_done_and_cannot_be_finished_twice() {
    let (f, store) = with_jobs(1).await;
    let held = claim(&store, MINUTE, 1).await.remove(0);
    finish(&store, &held).await.unwrap();
    assert_eq!(only_job(&f).await, stands("DONE", 1, None));
    assert!(matches!(finish(&store, &held).await, Err(StoreError::LeaseLost)));
    assert!(claim(&store, MINUTE, 1).await.is_empty());
}

#[tokio::test]
async fn a_job_whose_lease_ran_out_is_claimed_again_and_its_first_worker_writes_nothing() {
    let (f, store) = with_jobs(1).await;
    let lost = claim(&store, Duration::ZERO, 1).await.remove(0);
    let held = claim(&store, MINUTE, 1).await.remove(0);
    assert_eq!((held.job_id, held.attempts), (lost.job_id, 2));
    let mut conn = store.acquire_across().await.unwrap();
    let refused = [
        finish(&store, &lost).await,
        jobs::retry(&mut conn, &lost, ErrorCode::Internal, MINUTE).await,
        jobs::fail(&mut conn, &lost, ErrorCode::Internal).await,
        jobs::snooze(&mut conn, &lost, ErrorCode::Internal, MINUTE).await,
        jobs::release(&mut conn, &lost).await,
    ];
    assert!(refused.iter().all(|answer| matches!(answer, Err(StoreError::LeaseLost))));
    let mut tx = store.begin_across().await.unwrap();
    assert!(matches!(jobs::renew(&mut tx, &lost, MINUTE).await, Err(StoreError::LeaseLost)));
    drop(tx);
    assert_eq!(only_job(&f).await, stands("PROCESSING", 2, None));
    finish(&store, &held).await.unwrap();
}

#[tokio::test]
async fn a_held_job_is_not_claimed_and_a_renewed_lease_lasts() {
    let (_f, store) = with_jobs(1).await;
    let held = claim(&store, Duration::ZERO, 1).await.remove(0);
    let mut tx = store.begin_across().await.unwrap();
    jobs::renew(&mut tx, &held, MINUTE).await.unwrap();
    tx.commit().await.unwrap();
    assert!(claim(&store, MINUTE, 1).await.is_empty());
}

#[tokio::test]
async fn a_job_that_loses_its_worker_each_time_fails_in_the_end() {
    let (f, store) = with_jobs(1).await;
    for attempt in 1..=MAX_ATTEMPTS {
        assert_eq!(claim(&store, Duration::ZERO, 1).await[0].attempts, attempt);
    }
    assert!(claim(&store, Duration::ZERO, 1).await.is_empty());
    assert_eq!(only_job(&f).await, stands("FAILED", MAX_ATTEMPTS, Some("WORKER_LOST")));
}

#[tokio::test]
async fn a_retry_waits_and_spends_an_attempt() {
    let (f, store) = with_jobs(1).await;
    let held = claim(&store, MINUTE, 1).await.remove(0);
    jobs::retry(&mut store.acquire_across().await.unwrap(), &held, ErrorCode::LlmTimeout, MINUTE)
        .await
        .unwrap();
    assert_eq!(only_job(&f).await, stands("PENDING", 1, Some("LLM_TIMEOUT")));
    assert!(claim(&store, MINUTE, 1).await.is_empty());
    execute(&f, "update event_jobs set run_at = now()").await;
    assert_eq!(claim(&store, MINUTE, 1).await[0].attempts, 2);
}

#[tokio::test]
async fn a_snooze_waits_and_spends_nothing() {
    let (f, store) = with_jobs(1).await;
    let held = claim(&store, MINUTE, 1).await.remove(0);
    jobs::snooze(&mut store.acquire_across().await.unwrap(), &held, ErrorCode::LlmRateLimited, MINUTE)
        .await
        .unwrap();
    assert_eq!(only_job(&f).await, stands("PENDING", 0, Some("LLM_RATE_LIMITED")));
    assert!(claim(&store, MINUTE, 1).await.is_empty());
}

#[tokio::test]
async fn a_released_job_is_due_at_once_and_spends_nothing() {
    let (f, store) = with_jobs(1).await;
    let held = claim(&store, MINUTE, 1).await.remove(0);
    jobs::release(&mut store.acquire_across().await.unwrap(), &held).await.unwrap();
    assert_eq!(only_job(&f).await, stands("PENDING", 0, None));
    assert_eq!(claim(&store, MINUTE, 1).await.len(), 1);
}

#[tokio::test]
async fn a_failed_job_names_its_reason_and_is_not_claimed() {
    let (f, store) = with_jobs(1).await;
    let held = claim(&store, MINUTE, 1).await.remove(0);
    jobs::fail(&mut store.acquire_across().await.unwrap(), &held, ErrorCode::LlmRefused).await.unwrap();
    assert_eq!(only_job(&f).await, stands("FAILED", 1, Some("LLM_REFUSED")));
    assert!(claim(&store, MINUTE, 1).await.is_empty());
}

#[tokio::test]
async fn a_talks_job_put_back_beside_a_waiting_one_leaves_one() {
    let f = light(line_reader()).await;
    let store = store(&f).await;
    f.remember_as(turn("chat", 0, "Ann", "Decision by Ann")).await;
    let held = claim(&store, MINUTE, 1).await.remove(0);
    f.remember_as(turn("chat", 1, "Ann", "Feedback by Ann")).await;
    jobs::release(&mut store.acquire_across().await.unwrap(), &held).await.unwrap();
    assert_eq!(f.count("select count(*) from event_jobs where status = 'PENDING'").await, 1);
    f.drain().await;
    assert_eq!(f.count("select count(*) from semantic_event").await, 2);
}

#[tokio::test]
async fn only_jobs_that_ended_long_ago_are_swept() {
    let (f, store) = with_jobs(3).await;
    execute(&f, "update event_jobs set status = 'DONE', finished_at = now() - interval '15 days' where job_id = 1;
                 update event_jobs set status = 'DONE', finished_at = now() - interval '13 days' where job_id = 2").await;
    assert_eq!(jobs::sweep(&mut store.acquire_across().await.unwrap(), 14).await.unwrap(), 1);
    assert_eq!(f.count("select count(*) from event_jobs where job_id in (2, 3)").await, 2);
}

#[tokio::test]
async fn a_bulk_of_one_namespace_does_not_keep_another_waiting() {
    let (f, store) = with_jobs(500).await;
    execute(&f, "update event_jobs set run_at = now() - interval '1 minute'").await;
    let other = ns("other");
    f.memory
        .remember(
            &other,
            memory_core::artifact::Draft { content: "Decision by Ann".into(), ..Default::default() },
        )
        .await
        .unwrap();
    let claimed = claim(&store, MINUTE, 8).await;
    assert!(claimed.iter().any(|job| job.namespace == other));
}

#[tokio::test]
async fn two_running_workers_do_every_job_once_and_sign_off() {
    let f = light(line_reader()).await;
    for n in 0..30 {
        f.remember(&format!("Note {n}.\nDecision by Ann")).await;
    }
    let stop = CancellationToken::new();
    let mut workers = JoinSet::new();
    for _ in 0..2 {
        let memory = light_sibling(&f, line_reader()).await;
        let worker = memory_engine::worker::Worker::new(&memory);
        let stop = stop.clone();
        workers.spawn(async move { worker.run(stop).await });
    }
    let all_done = async {
        while f.count("select count(*) from event_jobs where status = 'DONE'").await < 30 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(MINUTE, all_done).await.expect("the workers work");
    assert!(f.count("select count(*) from event_worker").await > 0);
    stop.cancel();
    workers.join_all().await;
    assert_eq!(f.count("select count(*) from event_worker").await, 0);
    assert_eq!(f.count("select max(attempts)::bigint from event_jobs").await, 1);
    assert_eq!(f.count("select count(*) from semantic_event").await, 30);
}
