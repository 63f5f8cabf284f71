//! The worker itself: how many jobs it has, how long one may take, how it hears of new ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use memory_core::job::{ErrorCode, backoff_ceiling};
use memory_core::ports::EmbeddingModel;
use memory_engine::worker::Worker;
use memory_engine::{EngineSettings, Memory};
use memory_store::{Store, Topic, jobs};
use memory_tests::{Fixture, at_once, load_model};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::shorthand::{light, rows, store};
use crate::stand_ins::{line_reader, quick, read_lines, scripted};

/// Runs a worker until it holds.
async fn work_until(memory: Memory, mut holds: impl AsyncFnMut() -> bool) {
    let stop = CancellationToken::new();
    let worker = Worker::new(&memory);
    let working = tokio::spawn({
        let stop = stop.clone();
        async move { worker.run(stop).await }
    });
    let held = tokio::time::timeout(Duration::from_secs(30), async {
        while !holds().await {
            tokio::task::yield_now().await;
        }
    });
    let held = held.await;
    stop.cancel();
    working.await.expect("the worker ends");
    held.expect("it came true in time");
}

fn memory(
    store: Store,
    extractor: Arc<dyn memory_core::ports::Extractor>,
    settings: EngineSettings,
) -> Memory {
    let memory = Memory::new(store, extractor, settings);
    memory.lacks_model("not needed".to_owned());
    memory
}

#[tokio::test]
async fn a_worker_takes_no_more_jobs_than_it_has_hands() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now_here, most_here) = (Arc::clone(&now), Arc::clone(&most));
    let extractor = scripted(move |source| {
        most_here.fetch_max(now_here.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(20));
        now_here.fetch_sub(1, Ordering::SeqCst);
        Ok(read_lines(source))
    });
    let f = light(line_reader()).await;
    for n in 0..40 {
        f.remember(&format!("Note {n}.\nDecision by Ann")).await;
    }
    let settings = EngineSettings { concurrency: 3, ..at_once() };
    let mut leased = 0;
    work_until(memory(store(&f).await, extractor, settings), async || {
        leased = leased.max(f.count("select count(*) from event_jobs where status = 'PROCESSING'").await);
        f.count("select count(*) from event_jobs where status = 'DONE'").await == 40
    })
    .await;
    // On a machine under load the three may never meet.
    let most = most.load(Ordering::SeqCst);
    assert!((2..=3).contains(&most), "{most} at the same time");
    assert!(leased <= 3, "{leased} jobs were taken by three hands");
}

/// How many texts of a namespace each transaction has written events of, the most first.
const TOGETHER: &str =
    "select count(*)::text from (select distinct revision_id, xmin::text as tx from semantic_event) e
                        group by tx order by count(*) desc";

#[tokio::test]
async fn short_texts_that_wait_are_read_together() {
    let f = light(line_reader()).await;
    for n in 0..40 {
        f.remember(&format!("Decision by Ann on Apollo {n}")).await;
    }
    work_until(memory(store(&f).await, quick(|source| Ok(read_lines(source))), at_once()), async || {
        f.count("select count(*) from event_jobs where status = 'DONE'").await == 40
    })
    .await;
    assert_eq!(f.count("select count(*) from semantic_event").await, 40);
    assert_eq!(f.count("select count(*) from entity where name = 'Ann'").await, 1);
    assert_eq!(f.count("select max(attempts)::bigint from event_jobs").await, 1);
    let together: Vec<String> = rows(&f, TOGETHER).await;
    assert!(together.len() < 20, "{} transactions for 40 texts", together.len());
}

#[tokio::test]
async fn a_text_that_fails_keeps_none_of_those_beside_it_from_being_read() {
    let f = light(line_reader()).await;
    for n in 0..12 {
        f.remember(&format!("Decision by Ann on Apollo {n}")).await;
    }
    let extractor = quick(|source| {
        let text = &source.segments[0].text;
        assert!(!text.ends_with(" 3"), "it panics here");
        if text.ends_with(" 7") {
            return Err(memory_core::ports::ExtractError::Refused("unwilling".to_owned()));
        }
        Ok(read_lines(source))
    });
    work_until(memory(store(&f).await, extractor, at_once()), async || {
        f.count("select count(*) from event_jobs where status = 'DONE'").await == 10
            && f.count("select count(*) from event_jobs where attempts > 1 or status = 'FAILED'").await == 2
    })
    .await;
    assert_eq!(f.count("select count(*) from semantic_event").await, 10, "each text once");
}

#[tokio::test]
async fn of_texts_read_together_only_those_are_written_whose_job_is_still_held() {
    let f = light(line_reader()).await;
    for n in 0..8 {
        f.remember(&format!("Decision by Ann on Apollo {n}")).await;
    }
    // While the texts are read two of the jobs are taken away, the one by another worker, the other by a forget.
    let runtime = tokio::runtime::Handle::current();
    let (url, taken) = (f.url.clone(), std::sync::Once::new());
    let extractor = quick(move |source| {
        if source.segments[0].text.ends_with(" 2") {
            taken.call_once(|| {
                let url = url.clone();
                let taking = async move {
                    let mut conn = <sqlx::PgConnection as sqlx::Connection>::connect(&url).await.expect("it answers");
                    sqlx::raw_sql(
                        "update event_jobs set lease_token = gen_random_uuid(), leased_until = now() + interval '1 hour'
                         where job_id = (select min(job_id) from event_jobs where status = 'PROCESSING');
                         delete from artifact a where artifact_id = (
                             select r.artifact_id from event_jobs j join artifact_revision r using (namespace, revision_id)
                             where j.job_id = (select max(job_id) from event_jobs where status = 'PROCESSING'))",
                    )
                    .execute(&mut conn)
                    .await
                    .expect("they are taken");
                };
                runtime.spawn(taking);
            });
            std::thread::sleep(Duration::from_millis(500));
        }
        Ok(read_lines(source))
    });
    work_until(memory(store(&f).await, extractor, at_once()), async || {
        f.count("select count(*) from event_jobs where status = 'DONE'").await == 6
    })
    .await;
    assert_eq!(
        f.count("select count(*) from event_jobs where status = 'PROCESSING'").await,
        1,
        "it is another's"
    );
    assert_eq!(f.count("select count(*) from semantic_event").await, 6);
}

#[tokio::test]
async fn waits_between_attempts_are_drawn_anew_from_zero_to_a_doubling_ceiling() {
    let f = light(scripted(|_| Err(memory_core::ports::ExtractError::Failed("unwilling".to_owned())))).await;
    for n in 0..40 {
        f.remember(&format!("Note {n}")).await;
    }
    f.drain().await;
    let waits = "select extract(epoch from run_at - now())::float8::text from event_jobs where attempts = 1 order by 1";
    let waits: Vec<f64> = rows(&f, waits).await.iter().map(|wait| wait.parse().expect("seconds")).collect();
    let ceiling = backoff_ceiling(1).as_secs_f64();
    assert!(waits.iter().all(|wait| *wait <= ceiling), "{waits:?}");
    let (early, late) = (waits.iter().filter(|w| **w < 0.5 * ceiling).count(), waits.len());
    assert!((1..late).contains(&early), "{waits:?}");
}

#[tokio::test]
async fn hints_come_after_the_commit_and_several_as_one() {
    let f = light(line_reader()).await;
    let mut hints = store(&f).await.listen_for(Topic::Jobs).await.expect("it listens");
    let mut forwarding = JoinSet::new();
    let memory = Arc::clone(&f.memory);
    forwarding.spawn(async move { memory.forward_hints().await });
    for n in 0..50 {
        f.remember(&format!("Note {n}.\nDecision by Ann")).await;
    }
    let mut heard = 0;
    let hinted = async |hints: &mut memory_store::Hints| {
        tokio::time::timeout(Duration::from_millis(700), hints.next()).await.is_ok()
    };
    while hinted(&mut hints).await {
        heard += 1;
    }
    assert!((1..30).contains(&heard), "{heard} hints of 50 texts");
    assert_eq!(f.count("select count(*) from event_jobs").await, 50);
}

#[tokio::test]
async fn a_worker_hears_of_a_job_of_another_process_before_it_polls() {
    let f = light(line_reader()).await;
    let mut forwarding = JoinSet::new();
    let server = Arc::clone(&f.memory);
    forwarding.spawn(async move { server.forward_hints().await });
    let seldom = EngineSettings { poll_interval: Duration::from_mins(5), ..at_once() };
    let other: Memory = memory(store(&f).await, line_reader(), seldom);
    let mut is_remembered = false;
    work_until(other, async || {
        if !is_remembered && f.count("select count(*) from event_worker").await == 1 {
            is_remembered = true;
            f.remember("Decision by Ann").await;
        }
        is_remembered && f.count("select count(*) from event_jobs where status = 'DONE'").await == 1
    })
    .await;
}

#[tokio::test]
async fn the_databases_clock_alone_says_when_a_lease_has_ended() {
    let f: Fixture = light(line_reader()).await;
    f.remember("Decision by Ann").await;
    let store = store(&f).await;
    let mut conn = store.acquire_across().await.expect("a connection");
    // A lease is as long as it was wanted from the database's now, whatever this process takes for the time.
    let held = jobs::claim(&mut conn, Duration::from_secs(100), 1).await.expect("it is claimed").remove(0);
    let left = "select round(extract(epoch from leased_until - now()))::bigint from event_jobs";
    assert!((98..=100).contains(&f.count(left).await));
    jobs::snooze(&mut conn, &held, ErrorCode::LlmRateLimited, Duration::from_secs(50))
        .await
        .expect("it waits");
    let wait = "select round(extract(epoch from run_at - now()))::bigint from event_jobs";
    assert!((48..=50).contains(&f.count(wait).await));
}

#[tokio::test]
async fn many_texts_at_once_come_back_in_their_order_whoever_embeds_them() {
    let model = load_model();
    let places = ["harbour", "glacier", "orchard", "library", "furnace", "market", "desert", "chapel"];
    let texts: Vec<String> = (0..96).map(|n| format!("Room {n} of the {}.", places[n % 8])).collect();
    let halves = texts.split_at(40);
    let (first, second) =
        tokio::try_join!(model.embed_passages(halves.0.to_vec()), model.embed_passages(halves.1.to_vec()))
            .expect("all are embedded");
    let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let made: Vec<_> = first.into_iter().chain(second).collect();
    assert_eq!(made.len(), texts.len());
    for n in [0, 17, 39, 40, 66, 95] {
        let alone = model.embed_query(&texts[n]).await.expect("it is embedded").vector;
        let best = (0..made.len())
            .max_by(|a, b| cosine(&made[*a].vector, &alone).total_cmp(&cosine(&made[*b].vector, &alone)));
        let best = best.expect("there are some");
        assert_eq!(best % 8, n % 8, "{} is taken for {}", texts[n], texts[best]);
        assert!(cosine(&made[n].vector, &alone) > 0.9, "{}", texts[n]);
    }
}
