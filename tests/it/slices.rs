//! Long work and short work: what takes long goes on in slices, and never takes the last place of a worker.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use memory_core::artifact::Draft;
use memory_core::job::{ErrorCode, Priority};
use memory_core::ports::{Embedded, EmbeddingError, EmbeddingModel, Extractor, ModelInfo};
use memory_engine::worker::Worker;
use memory_engine::{EngineSettings, Memory};
use memory_store::jobs::{self, Fault, LeasedJob};
use memory_tests::process::{DataDir, Server, eventually};
use memory_tests::{Fixture, at_once};
use serde_json::json;
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
async fn memory(
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
struct Working {
    stop: CancellationToken,
    ended: JoinHandle<()>,
}

impl Working {
    fn start(memory: Arc<Memory>) -> Self {
        let stop = CancellationToken::new();
        let token = stop.clone();
        Self { stop, ended: tokio::spawn(async move { Worker::new(&memory).run(token).await }) }
    }

    async fn stop(self) {
        self.stop.cancel();
        self.ended.await.expect("it ends");
    }
}

async fn becomes(f: &Fixture, what: &str, statement: &'static str, count: i64) {
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
fn endless() -> (mpsc::Sender<()>, Arc<dyn Extractor>) {
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
async fn two_long_texts_do_not_keep_a_note_waiting() {
    let f = light(line_reader()).await;
    let story = |n: usize| format!("Story {n} is endless.\n{}", long_text(300));
    f.remember(&story(1)).await;
    let bulk = Draft { content: story(2), ..Draft::default() };
    f.memory.remember_in_bulk(&f.ns, bulk).await.expect("it is remembered");
    execute(&f, "delete from event_jobs where kind <> 'extract'").await;
    assert_eq!(rows(&f, "select lane::text from event_jobs order by job_id").await, ["1", "3"]);
    let (release, extractor) = endless();
    let memory = memory(&f, extractor, WordModel::new("words", 32), at_once()).await;
    let working = Working::start(Arc::clone(&memory));
    becomes(&f, "a story is read", "select count(*) from event_jobs where status = 'PROCESSING'", 1).await;
    for n in 0..20 {
        memory.remember(&f.ns, note(&format!("Note {n}.\nDecision by Ann"))).await.expect("it is remembered");
    }
    becomes(&f, "the notes are read", "select count(*) from event_jobs where status = 'DONE'", 20).await;
    let states = rows(&f, "select status from event_jobs where lane in (1, 3) order by status").await;
    assert_eq!(states, ["PENDING", "PROCESSING"], "the second long text took the free place");
    drop(release);
    becomes(&f, "all is read", "select count(*) from event_jobs where status = 'DONE'", 22).await;
    working.stop().await;
}

/// A model to which a call takes this long, except in its queue of short texts, and an extractor to which a long text does.
struct Slow {
    words: Arc<WordModel>,
    takes: Duration,
    calls: AtomicUsize,
}

#[async_trait]
impl EmbeddingModel for Slow {
    fn info(&self) -> &ModelInfo {
        self.words.info()
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        self.words.embed_passages(texts).await
    }

    async fn embed_in_background(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(self.takes).await;
        self.words.embed_passages(texts).await
    }

    async fn embed_query(&self, text: &str) -> Result<Embedded, EmbeddingError> {
        self.words.embed_query(text).await
    }
}

#[tokio::test]
async fn ten_long_texts_do_not_keep_thirty_notes_waiting_where_there_is_one_place() {
    const TAKES: Duration = Duration::from_millis(800);
    let f = light(line_reader()).await;
    for n in 0..10 {
        f.remember(&format!("{}\nText {n}", long_text(900))).await;
    }
    for n in 0..30 {
        f.remember(&format!("Note {n}.\nDecision by Ann")).await;
    }
    let read = Arc::new(AtomicUsize::new(0));
    let extractor = scripted({
        let read = Arc::clone(&read);
        move |source| {
            if source.segments[0].text.starts_with("Section") {
                read.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(TAKES);
            }
            Ok(read_lines(source))
        }
    });
    let model =
        Arc::new(Slow { words: WordModel::new("words", 32), takes: TAKES, calls: AtomicUsize::new(0) });
    let settings = EngineSettings { concurrency: 1, slice: Duration::ZERO, ..at_once() };
    let memory = memory(&f, extractor, Arc::<Slow>::clone(&model), settings).await;
    let working = Working::start(memory);
    let notes = "select count(*) from event_jobs where status = 'DONE' and lane = 0";
    becomes(&f, "the notes are read", notes, 30).await;
    let parts = read.load(Ordering::SeqCst) + model.calls.load(Ordering::SeqCst);
    assert!(parts <= 6, "{parts} parts of long texts went before 30 notes");
    let long = "select count(*) from event_jobs where status = 'PENDING' and lane = 1";
    assert!(f.count(long).await > 10, "the long texts were done as well");
    // They go on, and short ones that keep coming do not stop them.
    for n in 30..60 {
        f.remember(&format!("Note {n}.\nDecision by Ann")).await;
    }
    eventually("long texts get on", Duration::from_secs(30), async || {
        read.load(Ordering::SeqCst) + model.calls.load(Ordering::SeqCst) >= parts + 3
    })
    .await;
    working.stop().await;
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
async fn a_claim_of_short_work_takes_none_that_is_long_or_lost_and_long() {
    let f = light(line_reader()).await;
    for n in 0..4 {
        f.remember(&format!("Note {n}.\nDecision by Ann")).await;
    }
    execute(&f, "update event_jobs set lane = job_id - 1").await;
    let lost = "update event_jobs set status = 'PROCESSING', attempts = 1, lease_token = gen_random_uuid(), leased_until = now()
        where lane in (0, 1)";
    execute(&f, lost).await;
    let store = store(&f).await;
    let mut conn = store.acquire_across().await.expect("a connection");
    let mut turns = jobs::FairScheduler::default();
    let short = jobs::claim_short(&mut conn, &mut turns, MINUTE, 8).await.expect("they are claimed");
    let priorities = |jobs: &[LeasedJob]| jobs.iter().map(|job| job.priority).collect::<Vec<_>>();
    assert_eq!(priorities(&short), [Priority::Small, Priority::Bulk]);
    let rest = jobs::claim_in_turn(&mut conn, &mut turns, MINUTE, 8, true).await.expect("they are claimed");
    assert_eq!(priorities(&rest), [Priority::Large, Priority::BulkLarge]);
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

/// How long a short note waits for its events while 11 MB are imported, embedded and read. For a quiet machine:
/// `cargo test -p memory-tests --test it -- --ignored --nocapture a_note_beside_an_import_of_long_texts`
#[tokio::test]
#[ignore = "takes many minutes"]
async fn a_note_beside_an_import_of_long_texts() {
    let data_dir = DataDir::warm();
    let folder = data_dir.path().join("texts");
    std::fs::create_dir(&folder).expect("a folder is made");
    for (name, megabytes) in [("large.txt", 10), ("small.txt", 1)] {
        let text = handbook(name, megabytes * 950_000);
        std::fs::write(folder.join(name), text).expect("a file is written");
    }
    let server = Server::start(&data_dir).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let import = {
        let mut command = data_dir.command("remembrancer");
        command.arg("import-folder").arg(&folder);
        let is_over = Arc::clone(&is_over);
        tokio::spawn(async move {
            let status = command.status().await.expect("it runs");
            is_over.store(true, Ordering::SeqCst);
            status
        })
    };
    let began = Instant::now();
    let mut waits: Vec<Duration> = Vec::new();
    let minutes = std::env::var("MINUTES").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    while began.elapsed() < Duration::from_mins(minutes) {
        let n = waits.len();
        let content = format!(
            "Weekly call {n}. Anna Weber will send the report on hall {n} to Ben Fischer by Friday. We decided to close hall {n}. \
             Clara is worried that the supplier is late. Ben thanked Anna for the slides."
        );
        let asked = Instant::now();
        let kept = server.ask("remember", json!({"content": content, "context": "meeting"})).await;
        let remembered = asked.elapsed();
        let id = kept["id"].clone();
        eventually("its events are there", Duration::from_mins(5), async || {
            server.ask("status", json!({"artifact_id": id})).await["job_status"]["status"] == "DONE"
        })
        .await;
        waits.push(asked.elapsed());
        println!("{:>4} s  remembered {remembered:?}, read {:?}", began.elapsed().as_secs(), asked.elapsed());
        tokio::time::sleep(Duration::from_secs(1).saturating_sub(asked.elapsed())).await;
    }
    let status = server.ask("status", json!({})).await;
    waits.sort_unstable();
    println!(
        "{} notes: half within {:?}, 99 of 100 within {:?}, all within {:?}; import over: {}; left: {}",
        waits.len(),
        waits[waits.len() / 2],
        waits[waits.len() * 99 / 100],
        waits[waits.len() - 1],
        is_over.load(Ordering::SeqCst),
        status["jobs"]
    );
    import.abort();
}

/// How many texts a minute are extracted while many long ones wait for their vectors. For a quiet machine:
/// `cargo test --release -p memory-tests --test it -- --ignored --nocapture extractions_beside_embedding`
#[tokio::test]
#[ignore = "a measurement of minutes"]
async fn extractions_beside_embedding() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let began = Instant::now();
    for n in 0..90 {
        let content = handbook(&format!("{n}"), 49 * 900);
        server.ask("remember", json!({"content": content, "context": "document"})).await;
        for m in 0..5 {
            let content = format!(
                "Call {n}-{m}. Anna Weber will send the report on hall {n} to Ben Fischer by Friday. We decided to close hall {m}."
            );
            server.ask("remember", json!({"content": content, "context": "meeting"})).await;
        }
    }
    println!("{:>4} s  540 texts are remembered", began.elapsed().as_secs());
    let mut last = i64::MAX;
    while last > 0 {
        let waiting = |kind: &str| {
            let mut command = data_dir.command("remembrancer");
            command.args(["jobs", "list", "--json", "--state", "pending", "--kind", kind, "-n", "1000"]);
            async move {
                let listed = command.output().await.expect("it runs").stdout;
                let listed: serde_json::Value = serde_json::from_slice(&listed).expect("it lists");
                listed["jobs"].as_array().map_or(0, Vec::len) as i64
            }
        };
        let (extract, embed) = (waiting("extract").await, waiting("embed").await);
        println!(
            "{:>4} s  {extract} extractions and {embed} long texts' vectors wait",
            began.elapsed().as_secs()
        );
        last = extract + embed;
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
}

/// A text of so many characters in which no two sentences are alike.
fn handbook(name: &str, chars: usize) -> String {
    let mut text = format!("Handbook {name}.\n\n");
    let mut n = 0;
    while text.len() < chars {
        let (team, litres) = (n % 97, n * 13 % 9973);
        let _ = write!(
            text,
            "Section {n} describes pump {n} of team {team}, which ran at {litres} litres. Team {team} decided to replace valve {n}. "
        );
        if n % 7 == 6 {
            text += "\n\n";
        }
        n += 1;
    }
    text
}
