//! What operators do: look at jobs, try them again, cancel, have texts extracted again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use memory_core::event::Extraction;
use memory_core::id::JobId;
use memory_core::job::{ErrorCode, JobKind, JobState};
use memory_engine::operations::Requeued;
use memory_engine::progress::unreported;
use memory_engine::worker::Worker;
use memory_engine::{EngineSettings, Memory};
use memory_store::events::ExtractorId;
use memory_store::jobs::{self, Cancelled, JobFilter, Retried};
use memory_store::reextraction::Selection;
use memory_tests::{Fixture, at_once, turn};
use tokio_util::sync::CancellationToken;

use crate::shorthand::{drain_with_retries, execute, light, light_sibling, note, ns, only_job, rows, store};
use crate::stand_ins::{line_reader, read_lines, scripted, scripted_version};

/// Reads lines, as an extractor of this version; counts the texts that it is asked to read.
fn line_reader_of(version: i32) -> (Arc<dyn memory_core::ports::Extractor>, Arc<AtomicUsize>) {
    let read = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&read);
    let extractor = scripted_version(version, move |source| {
        counter.fetch_add(source.segments.iter().filter(|s| !s.context_only).count(), Ordering::SeqCst);
        Ok(read_lines(source))
    });
    (extractor, read)
}

async fn list(f: &Fixture, filter: JobFilter) -> Vec<JobId> {
    f.memory
        .operations()
        .list_jobs(&filter, 100)
        .await
        .expect("they are listed")
        .iter()
        .map(|job| job.job_id)
        .collect()
}

async fn requeue(memory: &Memory, f: &Fixture, selection: &Selection) -> Requeued {
    let (name, version) = memory.extractor_identity();
    let present = ExtractorId { name, version };
    memory
        .operations()
        .requeue_extraction(&f.ns, present, selection, &unreported)
        .await
        .expect("it is queued")
}

#[tokio::test]
async fn jobs_are_listed_newest_first_by_state_kind_code_and_namespace() {
    let f = light(line_reader()).await;
    for n in 0..3 {
        f.remember(&format!("Note {n}.\nDecision by Ann")).await;
    }
    f.memory.remember(&ns("other"), note("Elsewhere.")).await.expect("it is remembered");
    execute(&f, "update event_jobs set status = 'FAILED', last_error_code = 'LLM_REFUSED', finished_at = now() where job_id = 2").await;
    let all = list(&f, JobFilter::default()).await;
    assert_eq!(all, [4, 3, 2, 1].map(JobId));
    let of = |filter: JobFilter| list(&f, JobFilter { namespace: Some(f.ns.clone()), ..filter });
    assert_eq!(of(JobFilter::default()).await, [3, 2, 1].map(JobId));
    let failed = JobFilter { state: Some(JobState::Failed), ..JobFilter::default() };
    assert_eq!(of(failed).await, [JobId(2)]);
    let refused = JobFilter { code: Some(ErrorCode::LlmRefused), ..JobFilter::default() };
    assert_eq!(of(refused).await, [JobId(2)]);
    let embedding = JobFilter { kind: Some(JobKind::Embed), ..JobFilter::default() };
    assert_eq!(of(embedding).await, []);
    let filter = JobFilter { ids: Some(vec![JobId(1)]), ..JobFilter::default() };
    let shown = f.memory.operations().list_jobs(&filter, 1).await.expect("it is shown").remove(0);
    assert!(shown.artifact_id.is_some() && shown.char_count == Some(23), "{shown:?}");
}

#[tokio::test]
async fn a_failed_job_is_tried_again_with_all_attempts_and_no_other_is() {
    let refusals = Arc::new(AtomicUsize::new(5));
    let left = Arc::clone(&refusals);
    let f = light(scripted(move |source| {
        if left.load(Ordering::SeqCst) == 0 {
            return Ok(read_lines(source));
        }
        left.fetch_sub(1, Ordering::SeqCst);
        Err(memory_core::ports::ExtractError::Failed("unwilling".to_owned()))
    }))
    .await;
    f.remember("Decision by Ann").await;
    drain_with_retries(&f).await;
    assert_eq!(only_job(&f).await, ("FAILED".to_owned(), 5, Some("INTERNAL".to_owned())));
    let job = JobId(1);
    assert_eq!(f.memory.operations().retry_job(Some(&ns("other")), job).await.unwrap(), Retried::NotFound);
    assert_eq!(f.memory.operations().retry_job(Some(&f.ns), job).await.unwrap(), Retried::Queued);
    assert_eq!(only_job(&f).await, ("PENDING".to_owned(), 0, None));
    assert_eq!(
        f.memory.operations().retry_job(None, job).await.unwrap(),
        Retried::NotFailed("PENDING".to_owned())
    );
    f.drain().await;
    assert_eq!(only_job(&f).await, ("DONE".to_owned(), 1, None));
    assert_eq!(f.count("select count(*) from semantic_event").await, 1);
}

#[tokio::test]
async fn of_all_failed_jobs_those_are_tried_again_that_nothing_has_come_for_since() {
    let f = light(line_reader()).await;
    for n in 0..4 {
        f.remember(&format!("Note {n}.\nDecision by Ann")).await;
    }
    // 1 failed and its text has waited again since; 2 and 3 failed for two reasons; 4 failed twice.
    execute(
        &f,
        "update event_jobs set status = 'FAILED', last_error_code = 'LLM_AUTH', finished_at = now();
         update event_jobs set last_error_code = 'LLM_TIMEOUT' where job_id = 3;
         insert into event_jobs (namespace, kind, revision_id, status, last_error_code, finished_at)
         select namespace, kind, revision_id, case job_id when 1 then 'PENDING' else status end,
             case job_id when 1 then null else last_error_code end, case job_id when 1 then null else finished_at end
         from event_jobs where job_id in (1, 4) order by job_id",
    )
    .await;
    let filter = JobFilter { code: Some(ErrorCode::LlmAuth), ..JobFilter::default() };
    assert_eq!(f.memory.operations().retry_failed_jobs(&filter).await.unwrap(), 2);
    let pending =
        rows(&f, "select job_id::text from event_jobs where status = 'PENDING' order by job_id").await;
    assert_eq!(pending, ["2", "5", "6"]);
    assert_eq!(f.memory.operations().retry_job(None, JobId(1)).await.unwrap(), Retried::Covered);
    assert_eq!(f.memory.operations().retry_failed_jobs(&JobFilter::default()).await.unwrap(), 1);
    assert_eq!(f.memory.operations().retry_failed_jobs(&JobFilter::default()).await.unwrap(), 0);
    f.drain().await;
    assert_eq!(f.count("select count(*) from semantic_event").await, 4);
}

#[tokio::test]
async fn a_cancelled_job_is_failed_and_whoever_did_it_writes_nothing() {
    let f = light(line_reader()).await;
    let store = store(&f).await;
    f.remember("Decision by Ann").await;
    let mut conn = store.acquire_across().await.unwrap();
    let held = jobs::claim(&mut conn, Duration::from_mins(1), 1).await.unwrap().remove(0);
    assert_eq!(f.memory.operations().cancel_job(Some(&f.ns), held.job_id).await.unwrap(), Cancelled::Running);
    assert_eq!(jobs::lost_leases(&mut conn, std::slice::from_ref(&held)).await.unwrap(), [held.job_id]);
    let mut tx = store.begin_across().await.unwrap();
    assert!(jobs::finish(&mut tx, &held).await.is_err());
    drop(tx);
    assert_eq!(only_job(&f).await, ("FAILED".to_owned(), 1, Some("CANCELLED".to_owned())));
    assert_eq!(
        f.memory.operations().cancel_job(None, held.job_id).await.unwrap(),
        Cancelled::Ended("FAILED".to_owned())
    );
    assert_eq!(f.memory.operations().retry_job(None, held.job_id).await.unwrap(), Retried::Queued);
    assert_eq!(f.memory.operations().cancel_job(None, held.job_id).await.unwrap(), Cancelled::Waiting);
    assert_eq!(f.memory.operations().cancel_job(None, JobId(99)).await.unwrap(), Cancelled::NotFound);
    assert_eq!(f.drain().await, 0);
}

#[tokio::test]
async fn a_worker_stops_waiting_for_a_cancelled_job_and_takes_the_next() {
    let (release, gate) = std::sync::mpsc::channel::<()>();
    let gate = std::sync::Mutex::new(gate);
    let extractor = scripted(move |source| {
        if source.segments[0].text.contains("endless") {
            let _ = gate.lock().expect("it is held by nobody else").recv();
        }
        Ok(read_lines(source))
    });
    let f = light(Arc::clone(&extractor)).await;
    let one_hand = EngineSettings { concurrency: 1, ..at_once() };
    let memory = Arc::new(Memory::new(store(&f).await, extractor, one_hand));
    let first = f.remember("An endless story.\nDecision by Ann").await.job_id.expect("a job");
    let stop = CancellationToken::new();
    let worker = Worker::new(&memory);
    let working = tokio::spawn({
        let stop = stop.clone();
        async move { worker.run(stop).await }
    });
    let is_under_way = "select count(*) from event_jobs where status = 'PROCESSING'";
    until(&f, is_under_way, 1).await;
    f.remember("Feedback by Bob").await;
    assert_eq!(memory.operations().cancel_job(Some(&f.ns), first).await.unwrap(), Cancelled::Running);
    until(&f, "select count(*) from event_jobs where status = 'DONE'", 1).await;
    drop(release);
    stop.cancel();
    working.await.expect("it ends");
    assert_eq!(rows(&f, "select category from semantic_event").await, ["Feedback"]);
}

async fn until(f: &Fixture, statement: &'static str, count: i64) {
    let becomes = async {
        while f.count(statement).await != count {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), becomes).await.unwrap_or_else(|_| panic!("{statement}"));
}

const EXTRACTED: &str = "select concat_ws(' ', event_id, category, narrative, extractor_version - 1) from semantic_event order by 1";

#[tokio::test]
async fn what_another_version_read_is_read_again_with_the_same_ids_and_nothing_else_is() {
    let f = light(line_reader()).await;
    for n in 0..3 {
        f.remember(&format!("Note {n}.\nDecision by Ann on Apollo")).await;
    }
    f.drain().await;
    let before = rows(&f, "select event_id from semantic_event order by 1").await;
    let (extractor, read) = line_reader_of(2);
    let newer = light_sibling(&f, extractor).await;
    newer.remember(&f.ns, note("Feedback by Bob")).await.expect("it is remembered");
    newer.job_runner().drain().await.expect("jobs are done");
    let requeued = requeue(&newer, &f, &Selection::default()).await;
    assert_eq!((requeued.texts, requeued.waiting, requeued.running), (3, 0, 0));
    // What was found stays until it is replaced.
    assert_eq!(f.count("select count(*) from semantic_event").await, 4);
    assert_eq!(f.count("select count(*) from event_jobs where lane = 2").await, 3);
    assert_eq!(requeue(&newer, &f, &Selection::default()).await.waiting, 3);
    newer.job_runner().drain().await.expect("jobs are done");
    assert_eq!(read.load(Ordering::SeqCst), 4);
    let after = rows(&f, "select event_id from semantic_event where category = 'Decision' order by 1").await;
    assert_eq!(after, before);
    assert_eq!(f.count("select count(*) from semantic_event where extractor_version = 2").await, 4);
    assert_eq!(f.count("select count(*) from entity").await, 3);
    assert_eq!(
        requeue(&newer, &f, &Selection::default()).await,
        Requeued { extractor: "scripted version 2".to_owned(), ..Requeued::default() }
    );
    assert_eq!(rows(&f, EXTRACTED).await.len(), 4);
}

#[tokio::test]
async fn a_text_that_is_being_read_is_left_alone_and_told_of() {
    let f = light(line_reader()).await;
    f.remember("Decision by Ann").await;
    f.remember("Feedback by Bob").await;
    let store = store(&f).await;
    let mut conn = store.acquire_across().await.unwrap();
    let held = jobs::claim(&mut conn, Duration::from_mins(1), 1).await.unwrap().remove(0);
    let requeued = requeue(&f.memory, &f, &Selection { all: true, ..Selection::default() }).await;
    assert_eq!((requeued.texts, requeued.waiting, requeued.running), (0, 1, 1));
    assert_eq!(f.count("select count(*) from event_jobs").await, 2);
    assert!(jobs::lost_leases(&mut conn, &[held]).await.unwrap().is_empty());
}

#[tokio::test]
async fn short_turns_are_read_again_with_their_conversation() {
    let f = light(line_reader()).await;
    for n in 0..60 {
        f.remember_as(turn("chat", n, "Ann", &format!("Turn {n}\nDecision by Ann"))).await;
    }
    f.drain().await;
    assert_eq!(f.count("select count(*) from semantic_event").await, 60);
    let before = rows(&f, "select event_id from semantic_event order by 1").await;
    let (extractor, read) = line_reader_of(2);
    let newer = light_sibling(&f, extractor).await;
    let requeued = requeue(&newer, &f, &Selection::default()).await;
    assert_eq!((requeued.texts, requeued.turns, requeued.conversations), (0, 60, 1));
    assert_eq!(requeued.jobs.len(), 1);
    assert_eq!(f.count("select count(*) from semantic_event").await, 60);
    newer.job_runner().drain().await.expect("jobs are done");
    assert_eq!(read.load(Ordering::SeqCst), 60);
    assert_eq!(
        rows(&f, "select event_id from semantic_event where extractor_version = 2 order by 1").await,
        before
    );
    assert_eq!(f.count("select count(*) from artifact_revision where is_extraction_stale").await, 0);
    assert_eq!(requeue(&newer, &f, &Selection::default()).await.turns, 0);
}

#[tokio::test]
async fn what_is_read_again_can_be_narrowed() {
    let f = light(line_reader()).await;
    f.remember("Decision by Ann").await;
    let mail = memory_core::artifact::Draft { context: Some("email".to_owned()), ..note("Feedback by Bob") };
    f.remember_as(mail).await;
    f.drain().await;
    execute(
        &f,
        "update artifact_revision set extractor = 'other', extractor_version = 7 where context = 'email'",
    )
    .await;
    let texts = async |selection: Selection| {
        let texts = requeue(&f.memory, &f, &selection).await.texts;
        execute(&f, "delete from event_jobs").await;
        texts
    };
    let all = || Selection { all: true, ..Selection::default() };
    assert_eq!(texts(Selection::default()).await, 1);
    assert_eq!(texts(all()).await, 2);
    assert_eq!(texts(Selection { older_than_version: Some(7), ..all() }).await, 1);
    assert_eq!(texts(Selection { extractor: Some("other".to_owned()), ..all() }).await, 1);
    assert_eq!(texts(Selection { extractor: Some("none".to_owned()), ..all() }).await, 0);
    assert_eq!(texts(Selection { context: Some(memory_core::artifact::Context::Email), ..all() }).await, 1);
}

#[tokio::test]
async fn a_version_that_finds_nothing_any_more_leaves_nothing_behind() {
    let f = light(line_reader()).await;
    f.remember("Decision by Ann").await;
    f.drain().await;
    let newer = light_sibling(&f, scripted_version(2, |_| Ok(Extraction::default()))).await;
    requeue(&newer, &f, &Selection::default()).await;
    newer.job_runner().drain().await.expect("jobs are done");
    assert_eq!(
        f.count("select (select count(*) from semantic_event) + (select count(*) from entity)").await,
        0
    );
    assert_eq!(f.count("select count(*) from artifact_revision where extractor_version = 2").await, 1);
}
