//! The store: which model its vectors belong to, and how they are searched at size.

use std::time::Duration;

use memory_core::artifact::Draft;
use memory_engine::recall::RecallDraft;
use memory_store::{Store, StoreError};
use memory_tests::Fixture;
use memory_tests::process::eventually;

use crate::shorthand::{execute, ids, light, note, ns, query, rows};
use crate::stand_ins::{WordModel, line_reader};

async fn indexes(f: &Fixture) -> Vec<String> {
    rows(
        f,
        "select indexdef from pg_indexes where indexname like 'passage_embedding_hnsw%' order by indexname",
    )
    .await
}

#[tokio::test]
async fn another_model_than_that_of_the_stored_vectors_is_refused_with_a_sentence() {
    let f = light(line_reader()).await;
    f.remember("Some text.").await;
    for other in [WordModel::new("others", 32), WordModel::new("words", 16)] {
        let Err(StoreError::ModelMismatch(reason)) = f.memory.adopt_model(other).await else {
            panic!("it was taken")
        };
        assert!(
            reason.starts_with(
                "the stored vectors were made by words (32 dimensions), but the model at hand is"
            ),
            "{reason}"
        );
        assert!(reason.contains("start with the model that the store was made with"), "{reason}");
    }
    assert!(f.recall("text").await.warnings.is_empty(), "the first is still in use");
    f.memory.adopt_model(WordModel::new("words", 32)).await.expect("it is the same");
}

#[tokio::test]
async fn each_model_has_an_index_of_its_own_and_takes_over_while_there_are_no_vectors() {
    let f = Fixture::without_model(line_reader()).await;
    f.remember("Some text.").await;
    for (model, dimension) in [("words", 32), ("others", 16)] {
        f.memory.adopt_model(WordModel::new(model, dimension)).await.unwrap();
    }
    f.drain().await;
    assert_eq!(f.recall("text").await.results.len(), 1);
    let made = indexes(&f).await;
    assert_eq!(made.len(), 2);
    assert!(
        made[0].contains("halfvec(32)") && made[0].contains("hnsw") && made[0].contains("halfvec_cosine_ops"),
        "{}",
        made[0]
    );
    assert!(made[1].contains("halfvec(16)") && made[1].contains("WHERE (model_id = 2)"), "{}", made[1]);
    assert_eq!(f.count("select count(*) from embedding_model where is_active").await, 1);
    assert_eq!(
        f.count("select count(*) from passage_embedding where model_id = 2 and vector_dims(embedding) = 16")
            .await,
        1
    );
}

#[tokio::test]
async fn a_model_whose_dimension_changed_before_any_vector_can_be_used() {
    let f = Fixture::without_model(line_reader()).await;
    f.memory.adopt_model(WordModel::new("words", 32)).await.unwrap();
    f.memory.adopt_model(WordModel::new("words", 16)).await.unwrap();
    f.remember("Some text.").await;
    assert_eq!(f.count("select dimension::bigint from embedding_model where is_active").await, 16);
}

#[tokio::test]
async fn opening_again_changes_nothing() {
    let f = light(line_reader()).await;
    let id = f.remember("Some text.").await.id;
    let again = Store::open(&f.url, 4).await.unwrap();
    assert!(
        memory_store::models::active(&mut again.acquire_across().await.unwrap()).await.unwrap().is_some()
    );
    assert_eq!(ids(&f.recall("text").await), [id]);
}

#[tokio::test]
async fn a_schema_of_a_newer_version_is_refused() {
    let f = Fixture::without_model(line_reader()).await;
    execute(&f, "insert into _sqlx_migrations (version, description, success, checksum, execution_time) values (9999, 'later', true, '', 0)").await;
    let Err(StoreError::Unsuitable(reason)) = Store::open(&f.url, 4).await else { panic!("it was opened") };
    assert!(reason.contains("run the version that wrote it"), "{reason}");
}

#[tokio::test]
async fn connections_that_end_while_idle_fail_no_call() {
    let f = light(line_reader()).await;
    let id = f.remember("Some text.").await.id;
    f.drain().await;
    for _ in 0..3 {
        assert_eq!(ids(&f.recall("text").await), std::slice::from_ref(&id));
        let ended = f
            .count(
                "select count(pg_terminate_backend(pid)) from pg_stat_activity
                 where datname = current_database() and application_name = 'remembrancer'",
            )
            .await;
        assert!(ended > 0);
    }
    assert_eq!(ids(&f.recall("text").await), [id]);
}

/// 12,000 artifacts of namespace «big» with vectors in all directions.
const BULK: &str = "
    drop index passage_embedding_hnsw_1;
    select setseed(0.5);
    insert into artifact (namespace, artifact_id, sha256, content, char_count, token_count)
    select 'big', 'art_' || n, sha256(n::text::bytea), 'bulk', 4, 1 from generate_series(1, 12000) n;
    insert into artifact_revision (namespace, artifact_id, artifact_uid, context, author, importance, summary)
    select 'big', 'art_' || n, 'content:' || n, 'note', case when n <= 40 then 'Few' end, 0.5, 'bulk' from generate_series(1, 12000) n;
    insert into passage (namespace, revision_id, artifact_id, ordinal, start_char, end_char, text, lex, lex_length, is_latest)
    select namespace, revision_id, artifact_id, 0, 0, 4, 'bulk', '', 1, true from artifact_revision where namespace = 'big';
    insert into passage_embedding (namespace, passage_id, model_id, revision_id, is_latest, embedding)
    select namespace, passage_id, 1, revision_id, true,
           l2_normalize(array[random() - 0.5, random() - 0.5, random() - 0.5, random() - 0.5, random() - 0.5, random() - 0.5, random() - 0.5, random() - 0.5]::real[]::vector)
    from passage where namespace = 'big';
    create index passage_embedding_hnsw_1 on passage_embedding using hnsw ((embedding::halfvec(8)) halfvec_cosine_ops) where model_id = 1;
    analyze;";

async fn index_scans(f: &Fixture) -> i64 {
    f.count("select idx_scan from pg_stat_user_indexes where indexrelname = 'passage_embedding_hnsw_1'").await
}

#[tokio::test]
async fn a_large_namespace_goes_through_the_index_and_a_small_one_is_searched_whole() {
    let mut f = Fixture::without_model(line_reader()).await;
    f.memory.adopt_model(WordModel::new("words", 8)).await.unwrap();
    execute(&f, BULK).await;
    f.ns = ns("small");
    let mut own = Vec::new();
    for n in 0..50 {
        own.push(f.remember(&format!("Zebra number {n}.")).await.id);
    }
    let mut found = ids(&f.recall_as(query("unrelated")).await);
    found.sort();
    own.sort();
    assert_eq!(found, own, "all fifty, none of the others");

    f.ns = ns("big");
    let needle = f.remember_as(Draft { context: Some("fact".into()), ..note("needle") }).await.id;
    let far = query("needle");
    let answer = f.recall_as(far.clone()).await;
    assert_eq!(answer.results.len(), 50);
    assert_eq!(
        (&answer.results[0].hit.artifact_id, answer.results[0].explanation.unwrap().vector.unwrap().rank),
        (&needle, 1)
    );

    let notes = f.recall_as(RecallDraft { context: Some("note".into()), ..far.clone() }).await;
    assert_eq!(notes.results.len(), 50);
    assert!(!ids(&notes).contains(&needle), "a wide filter holds in the index too");

    let few = f.recall_as(RecallDraft { author: Some("Few".into()), ..far.clone() }).await;
    assert_eq!(few.results.len(), 40, "a narrow filter finds all that it should");

    // What the index gives is nearly what a look at every vector gives.
    let nearest: Vec<f64> = sqlx::query_scalar(
        "select 1 - (e.embedding <=> q.embedding) from passage_embedding e join passage p using (passage_id), (select embedding from passage_embedding e join passage p using (passage_id) where p.text = 'needle') q
         where e.namespace = 'big' order by (e.embedding <=> q.embedding) + 0, e.passage_id limit 50",
    )
    .fetch_all(&mut f.sql().await)
    .await
    .unwrap();
    let farthest = nearest.last().copied().expect("fifty") - 1e-3;
    let cosines = answer.results.iter().map(|r| f64::from(r.explanation.unwrap().vector.unwrap().score));
    let near = cosines.clone().filter(|cosine| *cosine >= farthest).count();
    assert!(near >= 45, "{near} of fifty: {:?} {nearest:?}", cosines.collect::<Vec<_>>());

    f.memory.close().await;
    // A connection's process tells what it did when it ends, a moment after we have left it.
    // Fifty results are more than the first tier of a ranking has: each is searched for twice.
    let two = "the two wide questions went through the index and no others";
    eventually(two, Duration::from_secs(10), async || index_scans(&f).await == 4).await;
}
