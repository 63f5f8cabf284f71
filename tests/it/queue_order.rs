//! The order of the queue: small before bulk, namespaces in turn, none starved, and a job that kills its worker alone.

use std::collections::HashMap;
use std::time::Duration;

use memory_core::job::{ErrorCode, MAX_ATTEMPTS};
use memory_store::Store;
use memory_store::jobs::{self, FairScheduler, LeasedJob};
use memory_tests::Fixture;

use crate::shorthand::{execute, store};
use crate::stand_ins::line_reader;

const MINUTE: Duration = Duration::from_mins(1);

/// Notes with a due job each: how many, of which namespace, in which priority, and for how many seconds they have waited.
async fn with_jobs(all: &[(i64, &str, i16, i32)]) -> (Fixture, Store) {
    let f = Fixture::without_model(line_reader()).await;
    let mut sql = f.sql().await;
    for (count, namespace, priority, waited) in all {
        sqlx::query(
            "with art as (
                 insert into artifact (namespace, artifact_id, sha256, content, char_count, token_count)
                 select $2, 'art_' || $3 || '_' || n, sha256(($3 || '_' || n)::bytea), n::text, 1, 1 from generate_series(1, $1) n
             ), rev as (
                 insert into artifact_revision (namespace, artifact_id, artifact_uid, context, importance, summary)
                 select $2, 'art_' || $3 || '_' || n, $3 || ':' || n, 'note', 0.5, '' from generate_series(1, $1) n
                 returning revision_id
             )
             insert into event_jobs (namespace, kind, revision_id, lane, run_at)
             select $2, 'extract', revision_id, $3, now() - $4 * interval '1 s' from rev",
        )
        .bind(count)
        .bind(namespace)
        .bind(priority)
        .bind(waited)
        .execute(&mut sql)
        .await
        .expect("the jobs are queued");
    }
    let store = store(&f).await;
    (f, store)
}

/// A worker with one hand.
struct OneHand<'a> {
    store: &'a Store,
    turns: FairScheduler,
}

impl<'a> OneHand<'a> {
    fn new(store: &'a Store) -> Self {
        Self { store, turns: FairScheduler::default() }
    }

    /// Claims and finishes so many jobs, one after the other; gives namespace and priority of each.
    async fn work(&mut self, count: usize) -> Vec<(String, i16)> {
        let mut done = Vec::new();
        for _ in 0..count {
            let mut conn = self.store.acquire().await.expect("a connection");
            let claimed = jobs::claim_in_turn(&mut conn, &mut self.turns, MINUTE, 1, true).await;
            let Some(job) = claimed.expect("it is claimed").pop() else { return done };
            let priority: i16 = sqlx::query_scalar("select lane from event_jobs where job_id = $1")
                .bind(job.job_id.0)
                .fetch_one(&mut *conn)
                .await
                .expect("it has a lane");
            let mut tx = self.store.begin().await.expect("a transaction");
            jobs::finish(&mut tx, &job).await.expect("it is finished");
            tx.commit().await.expect("it is committed");
            done.push((job.namespace.to_string(), priority));
        }
        done
    }
}

fn tally<T: std::hash::Hash + Eq>(all: impl IntoIterator<Item = T>) -> HashMap<T, usize> {
    let mut tally = HashMap::new();
    all.into_iter().for_each(|one| *tally.entry(one).or_default() += 1);
    tally
}

async fn lanes_of_the_next(store: &Store, count: usize) -> [usize; 3] {
    let done = OneHand::new(store).work(count).await;
    let priorities = tally(done.into_iter().map(|(_, priority)| priority));
    [0, 1, 2].map(|priority| priorities.get(&priority).copied().unwrap_or(0))
}

#[tokio::test]
async fn small_goes_before_bulk_and_bulk_has_its_share_however_much_small_comes() {
    let (_f, store) =
        with_jobs(&[(60, "default", 2, 600), (60, "default", 0, 0), (60, "default", 1, 60)]).await;
    assert_eq!(lanes_of_the_next(&store, 40).await, [25, 10, 5]);
}

#[tokio::test]
async fn bulk_that_has_waited_for_an_hour_has_half_of_the_turns() {
    let (_f, store) = with_jobs(&[(60, "default", 2, 3700), (60, "default", 0, 0)]).await;
    let [small, _, bulk] = lanes_of_the_next(&store, 40).await;
    assert_eq!((small, bulk), (20, 20));
}

#[tokio::test]
async fn a_lane_with_nothing_due_gives_its_turns_to_the_others() {
    let (_f, store) = with_jobs(&[(30, "default", 2, 0)]).await;
    assert_eq!(lanes_of_the_next(&store, 40).await, [0, 0, 30]);
}

#[tokio::test]
async fn namespaces_follow_one_another_even_where_one_job_is_taken_at_a_time() {
    let (_f, store) = with_jobs(&[(300, "big", 0, 600), (3, "alone", 0, 0), (20, "zoo", 0, 60)]).await;
    let done = OneHand::new(&store).work(29).await;
    let namespaces: Vec<&str> = done.iter().map(|(namespace, _)| namespace.as_str()).collect();
    assert_eq!(&namespaces[..6], ["alone", "big", "zoo", "alone", "big", "zoo"]);
    assert_eq!(tally(namespaces), HashMap::from([("alone", 3), ("big", 13), ("zoo", 13)]));
}

#[tokio::test]
async fn a_large_claim_is_shared_out_among_the_namespaces() {
    let (_f, store) = with_jobs(&[(300, "big", 0, 600), (300, "huge", 0, 900), (5, "little", 0, 0)]).await;
    let mut conn = store.acquire().await.expect("a connection");
    let claimed = jobs::claim(&mut conn, MINUTE, 64).await.expect("jobs are claimed");
    let shares = tally(claimed.iter().map(|job| job.namespace.to_string()));
    assert_eq!(claimed.len(), 64);
    assert_eq!(shares["little"], 5, "{shares:?}");
    assert!(shares["big"].abs_diff(shares["huge"]) <= 1, "{shares:?}");
}

#[tokio::test]
async fn jobs_that_are_not_due_hold_up_nobody() {
    let (f, store) = with_jobs(&[(50, "first", 0, -600), (5, "second", 2, 0)]).await;
    assert_eq!(OneHand::new(&store).work(10).await.len(), 5);
    assert_eq!(f.count("select count(*) from event_jobs where status = 'PENDING'").await, 50);
}

/// Claims one time with these hands.
async fn claim(store: &Store, lease: Duration, limit: usize, is_free: bool) -> Vec<LeasedJob> {
    let mut conn = store.acquire().await.expect("a connection");
    jobs::claim_in_turn(&mut conn, &mut FairScheduler::default(), lease, limit, is_free)
        .await
        .expect("jobs are claimed")
}

#[tokio::test]
async fn a_job_that_lost_its_worker_twice_is_done_alone_and_others_wait_for_that() {
    let (f, store) = with_jobs(&[(20, "default", 0, 0)]).await;
    for _ in 0..2 {
        // Two are lost together, and come again together.
        assert_eq!(claim(&store, Duration::ZERO, 2, true).await.len(), 2);
    }
    assert!(claim(&store, MINUTE, 4, false).await.is_empty(), "something else was begun beside it");
    let alone = claim(&store, MINUTE, 4, true).await;
    assert!(alone.len() == 1 && alone[0].is_suspect && alone[0].attempts == 3, "{alone:?}");
    // The other one is next; where each has its worker, work goes on.
    assert_eq!(claim(&store, MINUTE, 4, true).await.len(), 1);
    let others = claim(&store, MINUTE, 4, true).await;
    assert!(others.len() == 4 && others.iter().all(|job| !job.is_suspect), "{others:?}");
    assert_eq!(f.count("select count(*) from event_jobs where status = 'FAILED'").await, 0);
}

#[tokio::test]
async fn a_job_that_was_retried_is_no_suspect() {
    let (f, store) = with_jobs(&[(1, "default", 0, 0)]).await;
    for attempt in 1..MAX_ATTEMPTS {
        let job = claim(&store, MINUTE, 4, false).await.pop().expect("it is claimed");
        assert!(!job.is_suspect && job.attempts == attempt, "{job:?}");
        let mut conn = store.acquire().await.expect("a connection");
        jobs::retry(&mut conn, &job, ErrorCode::Internal, Duration::ZERO).await.expect("it is put back");
    }
    assert_eq!(f.count("select count(*) from event_jobs where status = 'PENDING'").await, 1);
}

#[tokio::test]
async fn jobs_that_have_failed_do_not_take_the_place_of_others_in_a_claim() {
    let (f, store) = with_jobs(&[(10, "default", 0, 0)]).await;
    let exhaust =
        "update event_jobs set status = 'PROCESSING', attempts = 5, lease_token = gen_random_uuid(),
        leased_until = now() where job_id in (select job_id from event_jobs order by job_id limit 4)";
    execute(&f, exhaust).await;
    assert_eq!(claim(&store, MINUTE, 4, true).await.len(), 4);
    let failed =
        "select count(*) from event_jobs where status = 'FAILED' and last_error_code = 'WORKER_LOST'";
    assert_eq!(f.count(failed).await, 4);
}

#[tokio::test]
async fn the_queues_table_is_vacuumed_early_and_its_pages_have_room() {
    let (f, _store) = with_jobs(&[]).await;
    let options: Vec<String> =
        sqlx::query_scalar("select unnest(reloptions) from pg_class where relname = 'event_jobs' order by 1")
            .fetch_all(&mut f.sql().await)
            .await
            .expect("options");
    for wanted in
        ["fillfactor=70", "autovacuum_vacuum_scale_factor=0.02", "autovacuum_analyze_scale_factor=0.05"]
    {
        assert!(options.iter().any(|option| option == wanted), "{options:?}");
    }
}
