//! The order of the queue: lanes, namespaces and kinds by the time they have had, nobody starved, and what kills its worker
//! alone.

use std::collections::HashMap;
use std::time::Duration;

use memory_core::job::{ErrorCode, JobKind, MAX_ATTEMPTS, Priority};
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

/// A worker that does one job at a time. What a job takes is said, not measured.
struct OnePlace<'a> {
    store: &'a Store,
    turns: FairScheduler,
    took: fn(&LeasedJob) -> Duration,
}

impl<'a> OnePlace<'a> {
    /// All jobs take a second.
    fn new(store: &'a Store) -> Self {
        Self { store, turns: FairScheduler::default(), took: |_| Duration::from_secs(1) }
    }

    async fn claim(&mut self) -> Option<LeasedJob> {
        let mut conn = self.store.acquire_across().await.expect("a connection");
        let claimed = jobs::claim_in_turn(&mut conn, &mut self.turns, MINUTE, 1, true).await;
        claimed.expect("it is claimed").pop()
    }

    /// Claims and finishes so many jobs, one after the other.
    async fn work(&mut self, count: usize) -> Vec<LeasedJob> {
        let mut done = Vec::new();
        for _ in 0..count {
            let Some(job) = self.claim().await else { return done };
            let mut tx = self.store.begin_across().await.expect("a transaction");
            jobs::finish(&mut tx, &job).await.expect("it is finished");
            tx.commit().await.expect("it is committed");
            self.turns.ended(&job, (self.took)(&job));
            done.push(job);
        }
        done
    }
}

fn tally<T: std::hash::Hash + Eq>(all: impl IntoIterator<Item = T>) -> HashMap<T, usize> {
    let mut tally = HashMap::new();
    all.into_iter().for_each(|one| *tally.entry(one).or_default() += 1);
    tally
}

fn lanes(done: &[LeasedJob]) -> [usize; 3] {
    [Priority::Small, Priority::Large, Priority::Bulk]
        .map(|priority| done.iter().filter(|job| job.priority == priority).count())
}

async fn lanes_of_the_next(store: &Store, count: usize) -> [usize; 3] {
    lanes(&OnePlace::new(store).work(count).await)
}

#[tokio::test]
async fn small_goes_before_bulk_and_bulk_has_its_share_however_much_small_comes() {
    let (_f, store) =
        with_jobs(&[(60, "default", 2, 600), (60, "default", 0, 0), (60, "default", 1, 60)]).await;
    assert_eq!(lanes_of_the_next(&store, 48).await, [30, 12, 6]);
}

#[tokio::test]
async fn bulk_that_has_waited_for_an_hour_has_half_of_the_time() {
    let (_f, store) = with_jobs(&[(60, "default", 2, 3700), (60, "default", 0, 0)]).await;
    let [small, _, bulk] = lanes_of_the_next(&store, 40).await;
    assert_eq!((small, bulk), (20, 20));
}

#[tokio::test]
async fn a_lane_with_nothing_due_gives_its_time_to_the_others() {
    let (_f, store) = with_jobs(&[(30, "default", 2, 0)]).await;
    assert_eq!(lanes_of_the_next(&store, 40).await, [0, 0, 30]);
}

/// A slice of long work takes five seconds, short work a tenth of one.
fn by_lane(job: &LeasedJob) -> Duration {
    if job.priority.is_long() { Duration::from_secs(5) } else { Duration::from_millis(100) }
}

#[tokio::test]
async fn thirty_short_jobs_wait_for_at_most_two_slices_of_long_ones_which_have_their_share_all_the_same() {
    let (_f, store) = with_jobs(&[(20, "default", 1, 60), (400, "default", 0, 0)]).await;
    let mut worker = OnePlace { took: by_lane, ..OnePlace::new(&store) };
    let [small, large, _] = lanes(&worker.work(32).await);
    assert!(small >= 30, "{small} short jobs and {large} slices of long ones");
    // 40 s of short work have gone by in the end, and in the shares of 10 to 4 16 s of long work.
    let more = worker.work(370).await;
    let large = large + lanes(&more)[1];
    assert!((3..=5).contains(&large), "{large} slices of long work beside 400 short jobs");
}

#[tokio::test]
async fn a_namespace_whose_jobs_take_long_waits_until_the_others_have_had_as_much_time() {
    let (_f, store) = with_jobs(&[(10, "books", 1, 600), (200, "notes", 1, 0)]).await;
    let took = |job: &LeasedJob| match job.namespace.as_str() {
        "books" => Duration::from_secs(5),
        _ => Duration::from_millis(100),
    };
    let done = OnePlace { took, ..OnePlace::new(&store) }.work(104).await;
    let shares = tally(done.iter().map(|job| job.namespace.to_string()));
    assert!((2..=3).contains(&shares["books"]), "{shares:?}");
}

#[tokio::test]
async fn the_extraction_of_long_texts_does_not_wait_for_the_vectors_of_others() {
    let (f, store) = with_jobs(&[(100, "default", 1, 60)]).await;
    // A job for the vectors of each text, queued with the one that extracts.
    execute(
        &f,
        "insert into event_jobs (namespace, kind, revision_id, lane, run_at)
         select namespace, 'embed', revision_id, lane, run_at from event_jobs",
    )
    .await;
    let took = |job: &LeasedJob| match job.target.kind() {
        JobKind::Embed => Duration::from_secs(2),
        _ => Duration::from_millis(50),
    };
    let done = OnePlace { took, ..OnePlace::new(&store) }.work(104).await;
    let kinds = tally(done.iter().map(|job| job.target.kind()));
    assert_eq!(kinds.get(&JobKind::Extract), Some(&100), "{kinds:?}");
    assert_eq!(kinds.get(&JobKind::Embed), Some(&4), "{kinds:?}");
}

#[tokio::test]
async fn namespaces_follow_one_another_even_where_one_job_is_taken_at_a_time() {
    let (_f, store) = with_jobs(&[(300, "big", 0, 600), (3, "alone", 0, 0), (20, "zoo", 0, 60)]).await;
    let done = OnePlace::new(&store).work(29).await;
    let namespaces: Vec<&str> = done.iter().map(|job| job.namespace.as_str()).collect();
    assert_eq!(&namespaces[..6], ["alone", "big", "zoo", "alone", "big", "zoo"]);
    assert_eq!(tally(namespaces), HashMap::from([("alone", 3), ("big", 13), ("zoo", 13)]));
}

#[tokio::test]
async fn a_large_claim_is_shared_out_among_the_namespaces() {
    let (_f, store) = with_jobs(&[(300, "big", 0, 600), (300, "huge", 0, 900), (5, "little", 0, 0)]).await;
    let mut conn = store.acquire_across().await.expect("a connection");
    let claimed = jobs::claim(&mut conn, MINUTE, 64).await.expect("jobs are claimed");
    let shares = tally(claimed.iter().map(|job| job.namespace.to_string()));
    assert_eq!(claimed.len(), 64);
    assert_eq!(shares["little"], 5, "{shares:?}");
    assert!(shares["big"].abs_diff(shares["huge"]) <= 1, "{shares:?}");
}

#[tokio::test]
async fn jobs_that_are_not_due_hold_up_nobody() {
    let (f, store) = with_jobs(&[(50, "first", 0, -600), (5, "second", 2, 0)]).await;
    assert_eq!(OnePlace::new(&store).work(10).await.len(), 5);
    assert_eq!(f.count("select count(*) from event_jobs where status = 'PENDING'").await, 50);
}

/// Claims one time, as a worker that is free or not.
async fn claim(store: &Store, lease: Duration, limit: usize, is_free: bool) -> Vec<LeasedJob> {
    let mut conn = store.acquire_across().await.expect("a connection");
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
        let mut conn = store.acquire_across().await.expect("a connection");
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
