//! Long work: what takes long goes on in slices.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use memory_core::job::{ErrorCode, Priority};
use memory_core::ports::{Embedded, EmbeddingError, EmbeddingModel, Extractor, ModelInfo};
use memory_engine::worker::Worker;
use memory_engine::{EngineSettings, Memory};
use memory_store::jobs::{self, Fault};
use memory_tests::process::eventually;
use memory_tests::{Fixture, at_once};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::shorthand::{execute, light, long_text, note, only_job, rows, store};
use crate::stand_ins::{WordModel, line_reader, read_lines, scripted};

const MINUTE: Duration = Duration::from_mins(1);

/// A model that answers so many calls and then says nothing more.
struct Stalling {
    words: Arc<WordModel>,
    calls_left: AtomicUsize,
}

impl Stalling {
    fn after(calls: usize) -> Arc<Self> {
        Arc::new(Self { words: WordModel::new("words", 32), calls_left: AtomicUsize::new(calls) })
    }
}

#[async_trait]
impl EmbeddingModel for Stalling {
    fn info(&self) -> &ModelInfo {
        self.words.info()
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        if self.calls_left.load(Ordering::SeqCst) == 0 {
            return std::future::pending().await;
        }
        self.calls_left.fetch_sub(1, Ordering::SeqCst);
        self.words.embed_passages(texts).await
    }

    async fn embed_query(&self, text: &str) -> Result<Embedded, EmbeddingError> {
        self.words.embed_query(text).await
    }
}

/// Another memory on the fixture's database, with settings of its own.
pub(crate) async fn memory(
    f: &Fixture,
    extractor: Arc<dyn Extractor>,
    model: Arc<dyn EmbeddingModel>,
    settings: EngineSettings,
) -> Arc<Memory> {
    let memory = Memory::new(store(f).await, extractor, settings);
    memory.adopt_model(model).await.expect("the model is adopted");
    Arc::new(memory)
}

/// A worker that works until it is stopped.
pub(crate) struct Working {
    stop: CancellationToken,
    ended: JoinHandle<()>,
}

impl Working {
    pub(crate) fn start(memory: Arc<Memory>) -> Self {
        let stop = CancellationToken::new();
        let token = stop.clone();
        Self { stop, ended: tokio::spawn(async move { Worker::new(&memory).run(token).await }) }
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.ended.await.expect("it ends");
    }
}

pub(crate) async fn becomes(f: &Fixture, what: &str, statement: &'static str, count: i64) {
    eventually(what, Duration::from_secs(30), async || f.count(statement).await == count).await;
}

#[tokio::test]
async fn a_long_text_is_embedded_in_slices_none_of_which_spends_an_attempt() {
    let f = light(line_reader()).await;
    f.remember(&long_text(3000)).await;
    let model = WordModel::new("words", 32);
    let settings = EngineSettings { slice: Duration::ZERO, ..at_once() };
    let memory = memory(&f, line_reader(), Arc::<WordModel>::clone(&model), settings).await;
    execute(&f, "delete from event_jobs where kind <> 'embed'").await;
    let slices = memory.job_runner().drain().await.expect("it is done");
    let passages = f.count("select count(*) from passage").await;
    assert!(passages > 300, "{passages} passages");
    assert_eq!(slices as i64, passages / 64 + 1, "64 passages a slice");
    assert_eq!(only_job(&f).await, ("DONE".to_owned(), 1, None));
    assert_eq!(f.count("select count(*) from passage_embedding").await, passages);
    assert_eq!(model.passages.load(Ordering::SeqCst) as i64, passages, "none was embedded twice");
}

#[tokio::test]
async fn a_job_that_yields_goes_behind_the_others_of_its_kind() {
    let f = light(line_reader()).await;
    for n in 0..3 {
        f.remember(&format!("{}\nText {n}", long_text(600))).await;
    }
    execute(&f, "delete from event_jobs where kind <> 'embed'; update event_jobs set attempts = 3").await;
    let store = store(&f).await;
    let mut conn = store.acquire_across().await.expect("a connection");
    let mut order = Vec::new();
    for _ in 0..6 {
        let job = jobs::claim(&mut conn, MINUTE, 1).await.expect("it is claimed").remove(0);
        assert_eq!(job.priority, Priority::Large);
        order.push(job.job_id.0);
        jobs::yield_turn(&mut conn, &job).await.expect("it yields");
    }
    assert_eq!(order[..3], order[3..], "each had its turn before any had a second");
    let fresh = "select count(*) from event_jobs where status = 'PENDING' and attempts = 0 and last_error_code is null";
    assert_eq!(f.count(fresh).await, 3, "who has got on has all attempts before it");
}

#[tokio::test]
async fn running_out_of_time_has_a_code_of_its_own_and_spends_an_attempt_only_without_progress() {
    let f = light(line_reader()).await;
    f.remember(&long_text(1500)).await;
    execute(&f, "delete from event_jobs where kind <> 'embed'").await;
    execute(
        &f,
        "create table step (n bigint generated always as identity, line text);
         create function write_down() returns trigger language plpgsql as
             'begin insert into step (line) values (concat_ws('' '', new.attempts, new.last_error_code, new.last_error_message));
              return null; end';
         create trigger write_down after update on event_jobs for each row when (new.status = 'PENDING')
             execute function write_down()",
    )
    .await;
    // Half of the lease is kept for writing. The first slice gets on and then stalls, the second gets nowhere.
    let short = EngineSettings { lease: Duration::from_secs(6), ..at_once() };
    let working = Working::start(memory(&f, line_reader(), Stalling::after(1), short).await);
    becomes(&f, "two slices are over", "select count(*) from (select from step limit 2) s", 2).await;
    working.stop().await;
    assert_eq!(f.count("select count(*) from passage_embedding").await, 64);
    let steps = rows(&f, "select line from step order by n limit 2").await;
    assert_eq!(steps, ["0", "1 TIMED_OUT it was not done after 3 s and had not got on"]);
    let listed = f
        .memory
        .operations()
        .list_jobs(&jobs::JobFilter::default(), 1)
        .await
        .expect("it is listed")
        .remove(0);
    assert!(listed.last_error_message.is_some() && listed.last_error_at.is_some(), "{listed:?}");
}

#[tokio::test]
async fn reasons_that_are_kept_are_short() {
    let f = light(line_reader()).await;
    f.remember("Decision by Ann").await;
    let store = store(&f).await;
    let mut conn = store.acquire_across().await.expect("a connection");
    let job = jobs::claim(&mut conn, MINUTE, 1).await.expect("it is claimed").remove(0);
    let message = "trouble\n".repeat(1000);
    let fault = Fault { code: ErrorCode::Internal, message: &message };
    jobs::retry(&mut conn, &job, fault, MINUTE).await.expect("it is put back");
    assert_eq!(f.count("select char_length(last_error_message)::bigint from event_jobs").await, 300);
}

/// An extractor that does not come to an end with texts that say so, until it is released.
pub(crate) fn endless() -> (mpsc::Sender<()>, Arc<dyn Extractor>) {
    let (release, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let extractor = scripted(move |source| {
        if source.segments[0].text.contains("endless") {
            let _ = gate.lock().expect("nobody panics here").recv();
        }
        Ok(read_lines(source))
    });
    (release, extractor)
}

#[tokio::test]
async fn an_extractor_in_this_process_has_longer_than_a_lease_and_an_end() {
    let (release, extractor) = endless();
    let f = light(Arc::clone(&extractor)).await;
    f.remember("An endless story.").await;
    let short = EngineSettings { lease: Duration::from_secs(1), ..at_once() };
    let memory = memory(&f, extractor, WordModel::new("words", 32), short).await;
    let began = Instant::now();
    let working = Working::start(memory);
    becomes(&f, "it is given up", "select count(*) from event_jobs where status = 'FAILED'", 1).await;
    assert!(began.elapsed() > Duration::from_secs(3), "it was given up after {:?}", began.elapsed());
    drop(release);
    working.stop().await;
    assert_eq!(only_job(&f).await, ("FAILED".to_owned(), 1, Some("TIMED_OUT".to_owned())));
}

#[tokio::test]
async fn a_job_whose_claim_was_not_answered_is_given_back_when_the_database_answers_again() {
    let f = light(line_reader()).await;
    let memory = memory(&f, line_reader(), WordModel::new("words", 32), at_once()).await;
    let working = Working::start(Arc::clone(&memory));
    becomes(&f, "a worker is there", "select count(*) from event_worker", 1).await;
    // As after a crash between the commit of a claim and its answer.
    execute(
        &f,
        "create table before_crash as select 1;
         create function claimed() returns trigger language plpgsql as
             'begin new.status := ''PROCESSING''; new.attempts := 1; new.lease_token := gen_random_uuid();
              new.leased_until := now() + interval ''1 hour'';
              new.worker_id := (select worker_id from event_worker); return new; end';
         create trigger claimed before insert on event_jobs for each row execute function claimed();",
    )
    .await;
    memory.remember(&f.ns, note("Decision by Ann")).await.expect("it is remembered");
    assert_eq!(only_job(&f).await.0, "PROCESSING");
    execute(
        &f,
        "select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()",
    )
    .await;
    becomes(&f, "it is done", "select count(*) from event_jobs where status = 'DONE'", 1).await;
    assert_eq!(only_job(&f).await, ("DONE".to_owned(), 1, None));
    working.stop().await;
}

#[tokio::test]
async fn jobs_of_a_clock_that_was_ahead_are_done_at_once() {
    let f = light(line_reader()).await;
    f.remember("Decision by Ann").await;
    f.remember("Feedback by Bob").await;
    execute(
        &f,
        "update event_jobs set created_at = now() + interval '30 days 1 hour', run_at = now() + interval '30 days';
         update event_jobs set status = 'PROCESSING', attempts = 1, lease_token = gen_random_uuid(),
             leased_until = now() + interval '30 days' where job_id = 1;
         insert into event_worker values (gen_random_uuid(), now() + interval '30 days', now() + interval '30 days')",
    )
    .await;
    let asked = f.memory.status(&f.ns, None).await;
    let told: Vec<&str> = asked.problems.iter().map(|problem| problem.what.as_str()).collect();
    assert!(told.iter().any(|what| what.contains("clock was set back") && what.contains("30 d")), "{told:?}");
    assert!(told.iter().any(|what| what.contains("never seen")), "a worker of the future is none: {told:?}");
    assert_eq!(asked.queue.expect("a queue").oldest_pending_seconds, Some(0.0));
    let memory = memory(&f, line_reader(), WordModel::new("words", 32), at_once()).await;
    let working = Working::start(memory);
    becomes(&f, "both are done", "select count(*) from event_jobs where status = 'DONE'", 2).await;
    working.stop().await;
}

#[tokio::test]
async fn a_full_disk_spends_no_attempt_and_jobs_go_on_when_there_is_room() {
    let f = light(line_reader()).await;
    f.remember("Decision by Ann").await;
    execute(
        &f,
        "create function full_disk() returns trigger language plpgsql as
             'begin raise exception ''no space'' using errcode = ''disk_full''; end';
         create trigger full_disk before insert on semantic_event for each row execute function full_disk();",
    )
    .await;
    for _ in 0..7 {
        f.drain().await;
        execute(&f, "update event_jobs set run_at = now()").await;
    }
    assert_eq!(only_job(&f).await, ("PENDING".to_owned(), 0, Some("DISK_FULL".to_owned())));
    let asked = f.memory.status(&f.ns, None).await;
    assert!(!asked.is_healthy());
    let told: Vec<&str> = asked.problems.iter().map(|problem| problem.what.as_str()).collect();
    assert!(told.iter().any(|what| what.starts_with("The database said that its disk is full")), "{told:?}");
    assert!(told.iter().any(|what| what.starts_with("1 extract job waits with DISK_FULL")), "{told:?}");
    execute(&f, "drop trigger full_disk on semantic_event").await;
    f.drain().await;
    assert_eq!(only_job(&f).await, ("DONE".to_owned(), 1, None));
}

#[tokio::test]
async fn recall_says_of_how_many_results_the_events_are_still_to_come() {
    let f = light(line_reader()).await;
    f.remember("Decision by Ann").await;
    f.remember_as(memory_tests::turn("chat", 0, "Ann", "Decision by Ann in a chat")).await;
    assert_eq!(f.recall("decision by Ann").await.unread, 2);
    f.drain().await;
    assert_eq!(f.recall("decision by Ann").await.unread, 0);
}
