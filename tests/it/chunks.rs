//! Long texts, and texts that come while the model is away: nothing is lost, words first, vectors later.

use std::sync::atomic::Ordering;

use memory_language::text::CharSpan;
use memory_tests::{Fixture, model};

use crate::shorthand::{by_id, execute, found_by_words, light, long_text, note, query, store};
use crate::stand_ins::{WordModel, line_reader};

async fn chunk_rows(f: &Fixture) -> Vec<CharSpan> {
    let rows: Vec<(i32, i32)> = sqlx::query_as("select start_char, end_char from chunk order by chunk_index")
        .fetch_all(&mut f.sql().await)
        .await
        .expect("chunks are listed");
    rows.into_iter().map(|(start, end)| CharSpan::new(start as usize, end as usize)).collect()
}

#[tokio::test]
async fn the_chunks_of_a_long_text_give_it_back_exactly() {
    let f = light(line_reader()).await;
    let text = long_text(200).replace("reports", "überprüft 漢字 🦀");
    let remembered = f.remember(&text).await;
    let chunks = chunk_rows(&f).await;
    assert!(chunks.len() > 2);
    assert_eq!(remembered.num_chunks, chunks.len());
    assert_eq!(remembered.token_count as i64, f.count("select token_count::bigint from artifact").await);
    let mut joined = String::new();
    let mut end = 0;
    for chunk in &chunks {
        assert!(chunk.start <= end && chunk.end > end, "no gap, and none within its neighbour");
        joined.push_str(CharSpan::new(end, chunk.end).of(&text).unwrap());
        end = chunk.end;
    }
    assert_eq!(joined, text);
    assert_eq!(f.count("select count(*) from passage p join artifact a using (artifact_id) where p.text <> substr(a.content, p.start_char + 1, p.end_char - p.start_char)").await, 0);
    assert_eq!(f.count("select count(*) from passage where chunk_index is null").await, 0);
    assert_eq!(f.count("select count(*) from chunk where token_count > 900").await, 0);
}

#[tokio::test]
async fn a_short_text_has_no_chunks() {
    let f = light(line_reader()).await;
    assert_eq!(f.remember("A short text.").await.num_chunks, 0);
    assert!(chunk_rows(&f).await.is_empty());
}

#[tokio::test]
async fn no_word_of_a_long_text_is_left_out_of_the_index() {
    let f = light(line_reader()).await;
    let remembered = f.remember(&long_text(300)).await;
    for n in [0, 99, 150, 299] {
        assert_eq!(
            found_by_words(&f, &format!("pump {}", n * 7)).await,
            std::slice::from_ref(&remembered.id)
        );
        let best = f.recall_as(query(&format!("section {n} pump {}", n * 7))).await.results.remove(0);
        assert!(best.snippet.contains(&format!("Section {n} ")), "{}", best.snippet);
        let (_, chunk) = best.hit.chunk.expect("a chunk holds it");
        assert!(chunk.start <= best.hit.span.start && best.hit.span.end <= chunk.end);
    }
}

#[tokio::test]
async fn a_long_text_is_found_by_words_at_once_and_by_its_vectors_later() {
    let f = Fixture::new().await;
    let mut text = long_text(320);
    text.push_str("Finally the committee praised the orchestra.");
    let remembered = f.remember(&text).await;
    assert!(remembered.is_embedding_pending);
    assert!(f.count("select count(*) from passage").await > 32);
    assert_eq!(f.count("select count(*) from passage_embedding").await, 0);
    assert_eq!(found_by_words(&f, "orchestra").await, std::slice::from_ref(&remembered.id));
    assert!(f.recall_as(query("musicians")).await.results.is_empty());
    f.drain().await;
    assert_eq!(
        f.count(
            "select count(*) from passage where passage_id not in (select passage_id from passage_embedding)"
        )
        .await,
        0
    );
    let best = f.recall_as(query("musicians were lauded")).await.results.remove(0);
    assert!(best.hit.passage.contains("orchestra") && best.explanation.unwrap().lexical.is_none());
    assert!(!f.remember(&text).await.is_embedding_pending);
}

#[tokio::test]
async fn without_a_model_words_answer_with_a_warning_and_the_model_heals_it() {
    let f = Fixture::without_model(line_reader()).await;
    f.memory.lacks_model("it is not there".to_owned());
    let remembered = f.remember("The orchestra played until midnight.").await;
    assert!(remembered.is_created && remembered.is_embedding_pending);
    let answer = f.recall("orchestra").await;
    assert_eq!(answer.results[0].hit.artifact_id, remembered.id);
    assert_eq!(answer.warnings, ["The embedding model is not available: results were found by words alone."]);
    assert!(f.recall("musicians").await.results.is_empty());
    f.memory.adopt_model(model()).await.unwrap();
    f.drain().await;
    let answer = f.recall("musicians").await;
    assert_eq!((answer.results.len(), answer.warnings.len()), (1, 0));
    assert!(!f.remember("The orchestra played until midnight.").await.is_embedding_pending);
}

#[tokio::test]
async fn a_text_that_came_without_a_model_waits_for_it_and_spends_no_attempt() {
    let f = Fixture::without_model(line_reader()).await;
    f.remember("The orchestra played until midnight.").await;
    f.drain().await;
    let job = "select count(*) from event_jobs where kind = 'embed' and status = 'PENDING' and attempts = 0 and run_at > now() and last_error_code = 'EMBEDDING_UNAVAILABLE'";
    assert_eq!(f.count(job).await, 1);
}

#[tokio::test]
async fn an_embed_job_goes_on_where_it_was_interrupted() {
    let f = Fixture::without_model(line_reader()).await;
    let model = WordModel::new("words", 8);
    f.memory.adopt_model(model.clone()).await.unwrap();
    f.remember_as(note(&long_text(800))).await;
    model.calls_left.store(1, Ordering::SeqCst);
    f.drain().await;
    assert_eq!(f.count("select count(*) from passage_embedding").await, 64, "one batch was committed");
    assert_eq!(
        f.count("select count(*) from event_jobs where kind = 'embed' and status = 'PENDING'").await,
        1
    );
    model.calls_left.store(usize::MAX, Ordering::SeqCst);
    execute(&f, "update event_jobs set run_at = now() where status = 'PENDING'").await;
    f.drain().await;
    let passages = f.count("select count(*) from passage").await;
    assert!(passages > 64);
    assert_eq!(f.count("select count(*) from passage_embedding").await, passages);
    assert_eq!(model.passages.load(Ordering::SeqCst) as i64, passages, "none was embedded twice");
}

#[tokio::test]
async fn a_vector_of_an_older_rendering_is_not_stored() {
    use memory_core::id::{PassageId, RevisionId};
    let f = light(line_reader()).await;
    f.remember("Tea is preferred.").await;
    let (passage, revision): (i64, i64) = sqlx::query_as("select passage_id, revision_id from passage")
        .fetch_one(&mut f.sql().await)
        .await
        .unwrap();
    let mut tx = store(&f).await.begin_across().await.unwrap();
    let made = memory_store::passages::PassageVector { vector: vec![1.0; 32], states: Vec::new() };
    let vectors = vec![(PassageId(passage), made)];
    let stale =
        memory_store::passages::insert_vectors(&mut tx, &f.ns, RevisionId(revision), 1, -1, vectors).await;
    assert!(matches!(stale, Err(memory_store::StoreError::Conflict)));
}

#[tokio::test]
async fn a_long_text_is_read_page_by_page_without_loss() {
    let f = light(line_reader()).await;
    let text = long_text(900).replace("reports", "überprüft 漢字");
    let id = f.remember(&text).await.id;
    let mut read = String::new();
    let mut cursor = None;
    loop {
        let page = f.recall_as(memory_engine::recall::RecallDraft { cursor, ..by_id(&id.0) }).await;
        let result = &page.results[0];
        assert_eq!(result.is_cut, page.next_cursor.is_some());
        read.push_str(result.content.as_deref().unwrap());
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert!(text.chars().count() > 40_000);
    assert_eq!(read, text);
}
