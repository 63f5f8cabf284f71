//! What many tests ask and do, in few words.

use std::fmt::Write;
use std::sync::Arc;

use memory_core::artifact::Draft;
use memory_core::id::{AnyId, ArtifactId, Namespace};
use memory_core::ports::Extractor;
use memory_engine::Memory;
use memory_engine::forget::Forgotten;
use memory_engine::recall::{Recall, RecallDraft};
use memory_store::Store;
use memory_store::forgetting::Cascade;
use memory_tests::{Fixture, at_once};

use crate::stand_ins::WordModel;

pub(crate) fn ns(name: &str) -> Namespace {
    Namespace::new(name).expect("a plain name")
}

pub(crate) fn note(content: &str) -> Draft {
    Draft { content: content.to_owned(), ..Draft::default() }
}

/// A content at the place of a document.
pub(crate) fn page(source_id: &str, content: &str) -> Draft {
    Draft { source: Some("wiki".to_owned()), source_id: Some(source_id.to_owned()), ..note(content) }
}

pub(crate) fn dated(date: &str, content: &str) -> Draft {
    Draft { date: Some(date.to_owned()), ..note(content) }
}

pub(crate) fn query(text: &str) -> RecallDraft {
    RecallDraft {
        query: Some(text.to_owned()),
        limit: Some(50),
        explain: Some(true),
        min_score: Some(0.0),
        ..RecallDraft::default()
    }
}

pub(crate) fn by_id(id: &str) -> RecallDraft {
    RecallDraft { id: Some(id.to_owned()), ..RecallDraft::default() }
}

pub(crate) fn ids(answer: &Recall) -> Vec<ArtifactId> {
    answer.results.iter().map(|r| r.hit.artifact_id.clone()).collect()
}

/// The artifacts that have the query's words. (The vectors of a small namespace are all near enough.)
pub(crate) async fn found_by_words(f: &Fixture, text: &str) -> Vec<ArtifactId> {
    let answer = f.recall_as(query(text)).await;
    let has_words = |r: &&memory_engine::recall::Recalled| r.explanation.is_some_and(|e| e.lexical.is_some());
    answer.results.iter().filter(has_words).map(|r| r.hit.artifact_id.clone()).collect()
}

pub(crate) async fn forget(f: &Fixture, id: &ArtifactId) -> Cascade {
    match f.memory.forget(&f.ns, &AnyId::Artifact(id.clone()), true).await.expect("it is forgotten") {
        Forgotten::Deleted(cascade) => cascade,
        other => panic!("{id} was not deleted: {other:?}"),
    }
}

/// A fixture with a model that costs nothing.
pub(crate) async fn light(extractor: Arc<dyn Extractor>) -> Fixture {
    let f = Fixture::without_model(extractor).await;
    f.memory.adopt_model(WordModel::new("words", 32)).await.expect("the model is adopted");
    f
}

/// Another process on the database of a [`light`] fixture.
pub(crate) async fn light_sibling(f: &Fixture, extractor: Arc<dyn Extractor>) -> Arc<Memory> {
    let memory = Memory::new(store(f).await, extractor, at_once());
    memory.adopt_model(WordModel::new("words", 32)).await.expect("the model is adopted");
    Arc::new(memory)
}

pub(crate) async fn store(f: &Fixture) -> Store {
    Store::open(&f.url, 20).await.expect("the database opens")
}

pub(crate) async fn execute(f: &Fixture, statements: &'static str) {
    sqlx::raw_sql(statements).execute(&mut f.sql().await).await.expect("the statements run");
}

/// Does jobs until none is left that has attempts to spend.
pub(crate) async fn drain_with_retries(f: &Fixture) {
    loop {
        execute(f, "update event_jobs set run_at = now() where status = 'PENDING'").await;
        if f.drain().await == 0 {
            return;
        }
    }
}

/// The texts that a statement gives.
pub(crate) async fn rows(f: &Fixture, statement: &'static str) -> Vec<String> {
    sqlx::query_scalar(statement).fetch_all(&mut f.sql().await).await.expect("it lists")
}

/// Status, attempts and error code of the only job.
pub(crate) async fn only_job(f: &Fixture) -> (String, i32, Option<String>) {
    sqlx::query_as("select status, attempts, last_error_code from event_jobs")
        .fetch_one(&mut f.sql().await)
        .await
        .expect("there is a job")
}

/// A text in which no two sentences are alike.
pub(crate) fn long_text(sentences: usize) -> String {
    let mut text = String::new();
    for n in 0..sentences {
        let (pump, litres) = (n * 7, n * 13 % 997);
        let gap = if n % 9 == 8 { "\n\n" } else { " " };
        let _ = write!(text, "Section {n} reports that pump {pump} ran at {litres} litres.{gap}");
    }
    text
}
