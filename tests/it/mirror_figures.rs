//! How fast the mirror is, printed; run with
//! `cargo test --release --workspace --test it -- --ignored --nocapture figures_of_the_mirror`.
//! `REMEMBRANCER_FIGURES_ROWS` says how many passages there are, `QDRANT_TEST_URL` or `QDRANT_URL` names a server instead of the stand-in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_engine::mirror::Look;
use memory_engine::progress::unreported;
use memory_engine::recall::{RecallDraft, RecallRequest};
use memory_engine::worker::Worker;
use memory_store::Store;
use memory_store::vector::qdrant::Qdrant;
use memory_store::vector::{MirrorSettings, SearchVia, Times};
use memory_tests::qdrant::StandIn;
use memory_tests::{at_once, fresh_database};
use sqlx::{Connection, Executor, PgConnection};
use tokio_util::sync::CancellationToken;

use crate::shorthand::note;
use crate::stand_ins::{WordModel, line_reader};

const DIMENSION: usize = 384;

async fn memory(url: &str, server: Option<Qdrant>) -> Arc<Memory> {
    let store = Store::open(url, 12).await.expect("the database opens");
    let memory = Memory::new(store, line_reader(), at_once()).with_mirror(server);
    memory.adopt_model(WordModel::new("words", DIMENSION)).await.expect("the model is adopted");
    Arc::new(memory)
}

/// So many short texts with vectors by chance, without an index over these.
async fn fill(sql: &mut PgConnection, rows: i64) {
    sql.execute("drop index passage_embedding_hnsw_1; drop index passage_lex; set synchronous_commit = off")
        .await
        .expect("the indexes go");
    for from in (0..rows).step_by(50_000) {
        let statement = format!(
            "with n as materialized (
                 select g, 'art_' || lpad(to_hex(g), 12, '0') as id, 'note number ' || g as content
                 from generate_series({from}, {}) g
             ), a as (
                 insert into artifact (namespace, artifact_id, sha256, content, char_count, token_count)
                 select 'default', id, sha256(id::bytea), content, length(content), 3 from n
             ), r as (
                 insert into artifact_revision (namespace, artifact_id, artifact_uid, context, author, tags, importance, summary)
                 select 'default', id, id, 'note', 'Ann', array['t' || g % 50], 0.5, content from n
                 returning revision_id, artifact_id
             ), p as (
                 insert into passage (namespace, revision_id, artifact_id, ordinal, start_char, end_char, text, lex, lex_length, is_latest)
                 select 'default', revision_id, artifact_id, 0, 0, 10, 'note', '', 3, true from r
                 returning passage_id, revision_id
             )
             insert into passage_embedding (namespace, passage_id, model_id, revision_id, is_latest, embedding)
             select 'default', passage_id, 1, revision_id, true,
                    l2_normalize((select array_agg(random() - 0.5 + 0 * passage_id + 0 * s) from generate_series(1, {DIMENSION}) s)::vector)
             from p",
            (from + 50_000).min(rows) - 1
        );
        sql.execute(sqlx::AssertSqlSafe(statement)).await.expect("it is filled");
    }
    sql.execute("analyze").await.expect("it is analysed");
}

fn server(url: &str, search: SearchVia) -> Qdrant {
    let settings = MirrorSettings {
        qdrant_url: Some(url.to_owned()),
        qdrant_collection: "remembrancer-figures".into(),
        qdrant_search: search,
        ..MirrorSettings::default()
    };
    let key = memory_store::vector::api_key().expect("the key can be read");
    Qdrant::of(&settings, key, Times { confirm: Duration::ZERO, ..Times::default() })
        .expect("settings that can be used")
        .expect("a mirror")
}

fn percentile(times: &mut [Duration], share: f64) -> Duration {
    times.sort_unstable();
    times[((times.len() - 1) as f64 * share) as usize]
}

/// Peak and present memory of this process in megabytes.
fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("there is a status");
    let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("a line");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).expect("a number") / 1024
}

async fn recalls(memory: &Memory, ns: &Namespace, name: &str) {
    let mut times = Vec::new();
    for n in 0..110 {
        let draft = RecallDraft { query: Some(format!("lantern {n} harbour")), ..RecallDraft::default() };
        let request = RecallRequest::new(draft).expect("it is valid");
        let started = Instant::now();
        let found = memory.recall(ns, &request).await.expect("it is recalled");
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        if n >= 10 {
            times.push(started.elapsed());
        }
    }
    let (p50, p95) = (percentile(&mut times, 0.5), percentile(&mut times, 0.95));
    println!("recall {name}: p50 {:.1} ms, p95 {:.1} ms", p50.as_secs_f64() * 1e3, p95.as_secs_f64() * 1e3);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes and gigabytes"]
#[expect(clippy::too_many_lines, reason = "one story, read from its start to its end")]
async fn figures_of_the_mirror() {
    let rows: i64 = std::env::var("REMEMBRANCER_FIGURES_ROWS")
        .ok()
        .and_then(|rows| rows.parse().ok())
        .unwrap_or(1_000_000);
    let real = crate::vector_index::real_url();
    let stand_in = real.is_none().then(StandIn::start);
    let url = real.unwrap_or_else(|| stand_in.as_ref().expect("one of both").url());
    let (database, ns) = (fresh_database().await, Namespace::default());
    drop(memory(&database, None).await);
    let mut sql = PgConnection::connect(&database).await.expect("the database answers");
    let started = Instant::now();
    fill(&mut sql, rows).await;
    println!("{rows} passages of {DIMENSION} numbers, filled in {:.0} s", started.elapsed().as_secs_f64());

    let mirrored = memory(&database, Some(server(&url, SearchVia::Always))).await;
    let started = Instant::now();
    let indexed = mirrored.mirror().expect("a mirror").reindex(&unreported).await.expect("it is built");
    let took = started.elapsed().as_secs_f64();
    println!("mirrored {} points in {took:.1} s with the comparison", indexed.points);

    let before = resident_mb();
    let started = Instant::now();
    let compared = mirrored
        .mirror()
        .expect("a mirror")
        .reconcile(false, Look::Digests, &unreported)
        .await
        .expect("it is compared");
    println!(
        "reconcile: {:.1} s, {:?}; memory before {before} MB, after {} MB",
        started.elapsed().as_secs_f64(),
        compared.found.iter().map(|c| (c.points, c.missing, c.extra, c.stale)).collect::<Vec<_>>(),
        resident_mb()
    );

    // Writers that never pause, and a worker beside them.
    let stop = CancellationToken::new();
    let worker = tokio::spawn({
        let (memory, stop) = (Arc::clone(&mirrored), stop.clone());
        async move { Worker::new(&memory).run(stop).await }
    });
    let (began, mut written, mut worst, mut oldest) = (Instant::now(), 0, 0_i64, 0.0_f64);
    while began.elapsed() < Duration::from_secs(20) {
        let writing = (0..8).map(|n| {
            let draft = note(&format!("harbour lantern {written} {n}"));
            mirrored.remember(&ns, draft)
        });
        futures::future::try_join_all(writing).await.expect("they are kept");
        written += 8;
        let (waiting, age): (i64, Option<f64>) = sqlx::query_as(
            "select count(*), extract(epoch from now() - min(queued_at))::float8 from vector_outbox",
        )
        .fetch_one(&mut sql)
        .await
        .expect("it is read");
        (worst, oldest) = (worst.max(waiting), oldest.max(age.unwrap_or(0.0)));
    }
    println!(
        "under load: {:.0} texts a second, at most {worst} waiting, the oldest for {oldest:.2} s",
        f64::from(written) / began.elapsed().as_secs_f64()
    );
    stop.cancel();
    worker.await.expect("it ends");
    mirrored.mirror().expect("a mirror").drain().await.expect("it is applied");

    // The stand-in compares every vector, which takes too long where there are many.
    if stand_in.is_none() || rows <= 20_000 {
        recalls(&mirrored, &ns, "with the mirror").await;
    }
    if rows <= 200_000 {
        let started = Instant::now();
        sql.execute(sqlx::AssertSqlSafe(format!(
            "set maintenance_work_mem = '2GB';
             create index passage_embedding_hnsw_1 on passage_embedding
             using hnsw ((embedding::halfvec({DIMENSION})) halfvec_cosine_ops) where model_id = 1"
        )))
        .await
        .expect("the index is built");
        println!("pgvector's index built in {:.0} s", started.elapsed().as_secs_f64());
        recalls(&*memory(&database, None).await, &ns, "with pgvector").await;
    }
    mirrored.mirror().expect("a mirror").end().await.expect("it ends");
}
