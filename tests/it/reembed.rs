//! Another embedding model takes over while everything goes on: vectors beside the old ones, a switch, an end.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use memory_core::artifact::Draft;
use memory_core::graph::GraphScope;
use memory_core::ports::{Embedded, EmbeddingError, EmbeddingModel, ModelInfo};
use memory_engine::progress::{Progress, unreported};
use memory_engine::reembed::Reembedded;
use memory_engine::{EngineError, ModelState};
use memory_tests::process::eventually;
use memory_tests::{Fixture, turn};
use tokio::sync::Semaphore;

use crate::graph_shorthand::entity;
use crate::shorthand::{ids, light, light_sibling, long_text, note, ns, page, query, rows};
use crate::stand_ins::{WordModel, line_reader};

const WITHOUT_NEW_VECTOR: &str = "select count(*) from passage p where not exists
    (select from passage_embedding e join embedding_model m using (model_id)
     where (e.namespace, e.passage_id) = (p.namespace, p.passage_id) and m.name = 'others'
       and vector_dims(e.embedding) = 16)";

/// A model that waits for leave before each batch.
struct Gated {
    words: Arc<WordModel>,
    asked: Semaphore,
    leave: Semaphore,
}

impl Gated {
    fn new(id: &str, dimension: usize) -> Arc<Self> {
        let words = WordModel::new(id, dimension);
        Arc::new(Self { words, asked: Semaphore::new(0), leave: Semaphore::new(0) })
    }

    /// Waits until a batch is at the gate.
    async fn was_asked(&self) {
        self.asked.acquire().await.expect("it is open").forget();
    }

    fn open(&self) {
        self.leave.add_permits(1_000);
    }
}

#[async_trait]
impl EmbeddingModel for Gated {
    fn info(&self) -> &ModelInfo {
        self.words.info()
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        self.asked.add_permits(1);
        self.leave.acquire().await.expect("it is open").forget();
        self.words.embed_passages(texts).await
    }

    async fn embed_query(&self, text: &str) -> Result<Embedded, EmbeddingError> {
        self.words.embed_query(text).await
    }
}

/// A model that some texts are beyond.
struct Squeamish(Arc<WordModel>);

#[async_trait]
impl EmbeddingModel for Squeamish {
    fn info(&self) -> &ModelInfo {
        self.0.info()
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        if texts.iter().any(|text| text.contains("poison")) {
            return Err(EmbeddingError::Failed("it is sick".to_owned()));
        }
        self.0.embed_passages(texts).await
    }

    async fn embed_query(&self, text: &str) -> Result<Embedded, EmbeddingError> {
        self.0.embed_query(text).await
    }
}

fn others() -> Arc<WordModel> {
    WordModel::new("others", 16)
}

async fn reembed(f: &Fixture, model: Arc<dyn EmbeddingModel>) -> Result<Reembedded, EngineError> {
    f.memory.reembedding().run(model, false, &unreported).await
}

/// The same in the background.
fn in_background(
    f: &Fixture,
    model: &Arc<Gated>,
    keep_old: bool,
) -> tokio::task::JoinHandle<Result<Reembedded, EngineError>> {
    let (memory, model) = (Arc::clone(&f.memory), Arc::clone(model));
    tokio::spawn(async move { memory.reembedding().run(model, keep_old, &unreported).await })
}

async fn remember_many(f: &Fixture, count: usize) {
    for n in 0..count {
        f.remember(&format!("Box {n} holds the keys of house {}.", n * 7)).await;
    }
}

/// The place of the best hit among the nearest vectors; none when vectors were not searched.
async fn vector_place(f: &Fixture, text: &str) -> bool {
    let answer = f.recall_as(query(text)).await;
    let of_vectors = answer.warnings.iter().all(|warning| warning.contains("wait for their vectors"));
    assert!(of_vectors, "{:?}", answer.warnings);
    answer.results[0].explanation.is_some_and(|why| why.vector.is_some())
}

fn searched(f: &Fixture) -> String {
    match f.memory.model_state() {
        ModelState::Ready { active, .. } => active.info.id,
        _ => "none".to_owned(),
    }
}

async fn have_all_kinds(f: &Fixture) {
    f.remember_as(Draft { title: Some("Plans".into()), ..page("a", "The well is behind the oak.") }).await;
    f.remember_as(Draft { title: Some("Plans".into()), ..page("a", "The well is behind the elm.") }).await;
    f.remember_as(turn("c", 1, "Ann", "Did it rain?")).await;
    f.remember_as(turn("c", 2, "Bob", "Only at noon.")).await;
    f.memory.remember(&ns("zoo"), note("The lion sleeps.")).await.expect("it is remembered");
    f.memory.remember(&ns("Alps"), note("The lion wakes.")).await.expect("it is remembered");
    f.remember(&long_text(400)).await;
    let apollo = vec![entity("Apollo", "Project", &["Is written in Rust", "Ships in May"])];
    f.memory.graph().create_entities(&f.ns, &GraphScope::default(), apollo).await.expect("they are created");
}

const VECTORS: &str =
    "select p.namespace || p.text || e.embedding || e.is_latest || coalesce(r.is_latest, true)
    from passage p
    join passage_embedding e using (namespace, passage_id)
    left join artifact_revision r on (r.namespace, r.revision_id) = (p.namespace, p.revision_id)
    order by 1";

#[tokio::test]
async fn the_vectors_are_those_that_the_new_model_would_have_made_from_the_start_and_nothing_of_the_old_is_left()
 {
    let f = light(line_reader()).await;
    have_all_kinds(&f).await;
    f.drain().await;
    let passages = f.count("select count(*) from passage").await as u64;
    let done = reembed(&f, others()).await.expect("it is done");
    let (old, new) = (ModelInfo { id: "words".into(), dimension: 32 }, others().info().clone());
    assert_eq!(
        done,
        Reembedded {
            model: new,
            replaced: Some(old.clone()),
            embedded: passages,
            failed: 0,
            passages,
            removed: vec![old],
            kept: vec![]
        }
    );
    assert_eq!(f.count("select count(*) from passage_embedding").await as u64, passages);
    assert_eq!(rows(&f, "select name from embedding_model where is_active").await, ["others"]);
    assert_eq!(f.count("select count(*) from embedding_model").await, 1);
    let indexes = "select indexdef from pg_indexes where indexname like 'passage_embedding_hnsw%'";
    let indexes = rows(&f, indexes).await;
    assert!(indexes.len() == 1 && indexes[0].contains("halfvec(16)"), "{indexes:?}");

    let fresh = Fixture::without_model(line_reader()).await;
    fresh.memory.adopt_model(others()).await.unwrap();
    have_all_kinds(&fresh).await;
    fresh.drain().await;
    assert_eq!(rows(&f, VECTORS).await, rows(&fresh, VECTORS).await);
    assert!(vector_place(&f, "Where is the well?").await);
    let facts = f.recall_as(query("What is Apollo written in?")).await.facts;
    assert_eq!(facts[0].stored.observation, "Is written in Rust");
    // What comes now is the new model's at once.
    f.remember("The spare key is in the blue box.").await;
    assert_eq!(f.count(WITHOUT_NEW_VECTOR).await, 0);
}

#[tokio::test]
async fn recall_and_remember_go_on_while_the_vectors_are_made() {
    let f = light(line_reader()).await;
    remember_many(&f, 100).await;
    let model = Gated::new("others", 16);
    let working = in_background(&f, &model, false);
    model.was_asked().await;
    // It stands at the gate: nothing of what follows waits for it.
    assert_eq!(searched(&f), "words");
    assert!(vector_place(&f, "keys of house 7").await);
    f.remember("The spare key is in the blue tin.").await;
    f.memory.remember(&ns("Alps"), note("The marmot whistles.")).await.expect("it is remembered");
    let long = f.remember(&long_text(400)).await;
    assert!(long.is_embedding_pending, "it is a text whose vectors come later");
    assert!(vector_place(&f, "blue tin").await);
    model.open();
    let done = working.await.unwrap().expect("it is done");
    assert_eq!((searched(&f), f.count(WITHOUT_NEW_VECTOR).await), ("others".to_owned(), 0));
    assert_eq!((done.embedded, done.passages), (done.passages, done.embedded));
    assert!(vector_place(&f, "blue tin").await);
    f.drain().await;
    assert_eq!(f.count("select count(*) from passage_embedding").await as u64, done.passages);
    assert_eq!(f.count("select count(*) from event_jobs where status <> 'DONE'").await, 0);
}

#[tokio::test]
async fn a_text_whose_vector_was_being_made_when_the_models_changed_gets_one_of_the_new() {
    let f = Fixture::without_model(line_reader()).await;
    let old = Gated::new("words", 32);
    f.memory.adopt_model(old.clone()).await.unwrap();
    let remembering = tokio::spawn({
        let (memory, ns) = (Arc::clone(&f.memory), f.ns.clone());
        async move { memory.remember(&ns, note("The spare key is in the blue box.")).await }
    });
    old.was_asked().await;
    let new = Gated::new("others", 16);
    new.open();
    let working = in_background(&f, &new, true);
    eventually("the models have changed", Duration::from_secs(20), async || searched(&f) == "others").await;
    old.open();
    remembering.await.unwrap().expect("it is remembered");
    let done = working.await.unwrap().expect("it is done");
    assert_eq!(f.count(WITHOUT_NEW_VECTOR).await, 0);
    assert_eq!((done.embedded, done.kept.len()), (1, 1));
}

#[tokio::test]
async fn a_run_that_was_broken_off_goes_on_where_it_was() {
    let f = light(line_reader()).await;
    remember_many(&f, 200).await;
    let model = Gated::new("others", 16);
    model.leave.add_permits(2);
    let working = in_background(&f, &model, false);
    for _ in 0..3 {
        model.was_asked().await;
    }
    working.abort();
    assert!(working.await.unwrap_err().is_cancelled());
    // All is as before; another start finds the old model in its place.
    let again = light_sibling(&f, line_reader()).await;
    assert_eq!(searched(&f), "words");
    assert!(vector_place(&f, "keys of house 7").await);

    let model = others();
    let seen = Mutex::new(Vec::new());
    let report = |at: Progress| seen.lock().unwrap().push((at.done, at.total));
    let done = again.reembedding().run(model.clone(), false, &report).await.expect("it is done");
    assert_eq!((done.embedded, model.passages.load(Ordering::SeqCst)), (72, 72));
    let seen = seen.into_inner().unwrap();
    assert_eq!((seen[0], seen[seen.len() - 1]), ((128, 200), (200, 200)));
    assert!(seen.is_sorted(), "{seen:?}");
    assert_eq!(f.count("select count(*) from passage_embedding").await, 200);
}

#[tokio::test]
async fn a_run_that_was_broken_off_after_the_switch_is_finished_by_the_next() {
    let f = light(line_reader()).await;
    remember_many(&f, 5).await;
    f.memory.reembedding().run(others(), true, &unreported).await.expect("it is done");
    // As if it had been killed with half of the old vectors deleted.
    let half = "delete from passage_embedding where model_id = 1 and passage_id in
                    (select passage_id from passage order by passage_id limit 2)";
    crate::shorthand::execute(&f, half).await;
    let done = reembed(&f, others()).await.expect("it is done");
    assert_eq!((done.replaced, done.embedded, done.removed.len()), (None, 0, 1));
    assert_eq!(f.count("select count(*) from passage_embedding").await, 5);
    assert_eq!(f.count("select count(*) from embedding_model").await, 1);
}

#[tokio::test]
async fn old_vectors_may_stay_so_that_going_back_takes_no_time_and_running_it_again_does_nothing() {
    let f = light(line_reader()).await;
    remember_many(&f, 5).await;
    let done = f.memory.reembedding().run(others(), true, &unreported).await.expect("it is done");
    assert_eq!((done.embedded, done.removed.len(), done.kept[0].id.as_str()), (5, 0, "words"));
    f.remember("The spare key is in the blue box.").await;
    let back =
        f.memory.reembedding().run(WordModel::new("words", 32), true, &unreported).await.expect("it is done");
    assert_eq!((back.embedded, searched(&f).as_str()), (1, "words"));
    assert!(vector_place(&f, "blue box").await);
    let ended = reembed(&f, WordModel::new("words", 32)).await.expect("it is done");
    assert_eq!((ended.replaced, ended.embedded, ended.removed.len()), (None, 0, 1));
    let nothing = reembed(&f, WordModel::new("words", 32)).await.expect("it is done");
    assert_eq!((nothing.embedded, nothing.removed.len(), nothing.kept.len()), (0, 0, 0));
    assert_eq!(f.count("select count(*) from passage_embedding").await, 6);
}

#[tokio::test]
async fn a_second_one_at_the_same_time_is_refused_in_a_sentence() {
    let f = light(line_reader()).await;
    f.remember("Some text.").await;
    let model = Gated::new("others", 16);
    let working = in_background(&f, &model, false);
    model.was_asked().await;
    let second = light_sibling(&f, line_reader()).await;
    let refused =
        second.reembedding().run(WordModel::new("thirds", 8), false, &unreported).await.unwrap_err();
    assert!(matches!(refused, EngineError::Invalid(_)), "{refused:?}");
    assert!(refused.to_string().contains("being made anew already"), "{refused}");
    model.open();
    working.await.unwrap().expect("it is done");
    reembed(&f, WordModel::new("thirds", 8)).await.expect("now it is its turn");
}

#[tokio::test]
async fn a_model_that_breaks_on_the_way_leaves_the_old_one_in_its_place() {
    let f = light(line_reader()).await;
    remember_many(&f, 150).await;
    let model = others();
    model.calls_left.store(1, Ordering::SeqCst);
    let broken = reembed(&f, model.clone()).await.unwrap_err().to_string();
    assert!(broken.contains("unplugged") && broken.contains("64 of 150"), "{broken}");
    assert!(broken.contains("the model before is still the one that is searched"), "{broken}");
    assert_eq!(searched(&f), "words");
    assert!(vector_place(&f, "keys of house 7").await);
    model.calls_left.store(usize::MAX, Ordering::SeqCst);
    assert_eq!(reembed(&f, model).await.expect("it is done").embedded, 86);
}

#[tokio::test]
async fn a_passage_that_the_model_fails_on_does_not_hold_up_the_others() {
    let f = light(line_reader()).await;
    remember_many(&f, 100).await;
    let poison = f.remember("A bottle of poison.").await.id;
    let done = reembed(&f, Arc::new(Squeamish(others()))).await.expect("it is done");
    assert_eq!((done.embedded, done.failed, searched(&f).as_str()), (100, 1, "others"));
    let found = f.recall_as(query("bottle of poison")).await;
    assert_eq!(ids(&found)[0], poison, "it is found by its words");
    // When the model has learnt it, the next run makes up for it.
    assert_eq!(reembed(&f, others()).await.expect("it is done").embedded, 1);
}

#[tokio::test]
async fn a_model_that_fails_on_too_much_is_not_switched_to() {
    let f = light(line_reader()).await;
    for n in 0..8 {
        f.remember(&format!("Bottle {n} of poison.")).await;
    }
    remember_many(&f, 10).await;
    let refused = reembed(&f, Arc::new(Squeamish(others()))).await.unwrap_err().to_string();
    assert!(refused.contains("10 of 18"), "{refused}");
    assert_eq!(searched(&f), "words");
    assert!(vector_place(&f, "keys of house 7").await);
}

#[tokio::test]
async fn a_model_with_the_id_of_another_dimension_is_refused_or_takes_the_place_of_what_is_of_no_use() {
    let f = light(line_reader()).await;
    f.remember("Some text.").await;
    let refused = reembed(&f, WordModel::new("words", 16)).await.unwrap_err();
    assert!(matches!(&refused, EngineError::Invalid(_)), "{refused:?}");
    assert!(refused.to_string().contains("an id of its own"), "{refused}");
    let huge = reembed(&f, WordModel::new("huge", 4_096)).await.unwrap_err();
    assert!(huge.to_string().contains("4096 dimensions; up to 2000"), "{huge}");
    // A run with an earlier edition of the model was broken off.
    let early = Gated::new("others", 8);
    early.leave.add_permits(1);
    f.memory.reembedding().run(early, true, &unreported).await.expect("it is done");
    f.memory.reembedding().run(WordModel::new("words", 32), true, &unreported).await.expect("it is done");
    let done = reembed(&f, others()).await.expect("it is done");
    assert_eq!((done.embedded, f.count(WITHOUT_NEW_VECTOR).await), (1, 0));
    assert_eq!(f.count("select count(*) from passage_embedding").await, 1);
}

#[tokio::test]
async fn a_process_whose_model_was_replaced_by_another_process_keeps_texts_and_leaves_their_vectors_to_it() {
    let f = light(line_reader()).await;
    f.remember("Some text.").await;
    let stale = light_sibling(&f, line_reader()).await;
    reembed(&f, others()).await.expect("it is done");
    let kept = stale.remember(&f.ns, note("The spare key is in the blue box.")).await;
    assert!(kept.expect("it is kept").is_embedding_pending);
    let ModelState::Failed(reason) = stale.model_state() else { panic!("it still uses its model") };
    assert!(reason.contains("words were replaced") && reason.contains("--model-dir"), "{reason}");
    f.drain().await;
    assert_eq!(f.count(WITHOUT_NEW_VECTOR).await, 0);
    assert!(vector_place(&f, "blue box").await);
}

#[tokio::test]
async fn an_index_that_was_left_unfinished_is_made_anew() {
    let f = light(line_reader()).await;
    f.remember("Some text.").await;
    f.memory.reembedding().run(others(), true, &unreported).await.expect("it is done");
    f.memory.reembedding().run(WordModel::new("words", 32), true, &unreported).await.expect("it is done");
    let unfinished = "update pg_index set indisvalid = false
                      where indexrelid = 'passage_embedding_hnsw_2'::regclass";
    crate::shorthand::execute(&f, unfinished).await;
    reembed(&f, others()).await.expect("it is done");
    let valid = "select count(*) from pg_index where indisvalid
                 and indexrelid = 'passage_embedding_hnsw_2'::regclass";
    assert_eq!(f.count(valid).await, 1);
}
