//! Short work beside long work, which never takes the last place of a worker.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use memory_core::artifact::Draft;
use memory_core::job::Priority;
use memory_core::ports::{Embedded, EmbeddingError, EmbeddingModel, ModelInfo};
use memory_engine::EngineSettings;
use memory_store::jobs::{self, LeasedJob};
use memory_tests::at_once;
use memory_tests::process::{DataDir, Server, eventually};
use serde_json::json;

use crate::shorthand::{execute, light, long_text, note, rows, store};
use crate::slices::{Working, becomes, endless, memory};
use crate::stand_ins::{WordModel, line_reader, read_lines, scripted};

const MINUTE: Duration = Duration::from_mins(1);

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
