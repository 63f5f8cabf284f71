//! Answers in parts: pages, their cursors, and a bound on tokens.

use memory_core::id::ArtifactId;
use memory_engine::EngineError;
use memory_engine::recall::{RecallDraft, RecallRequest};
use memory_tests::turn;

use crate::shorthand::{by_id, ids, light, query};
use crate::stand_ins::line_reader;

#[tokio::test]
async fn max_tokens_bounds_the_answer_and_the_cursor_has_the_rest() {
    let f = light(line_reader()).await;
    for n in 0..12 {
        f.remember(&format!("Zebra {n}: {}", "it grazed and slept. ".repeat(12))).await;
    }
    let mut read = Vec::new();
    let mut cursor = None;
    loop {
        let answer = f
            .recall_as(RecallDraft { max_tokens: Some(500), cursor, limit: Some(10), ..query("zebra") })
            .await;
        assert!(!answer.results.is_empty() && answer.results.len() <= 3);
        assert!(answer.next_cursor.is_none() || answer.warnings.iter().any(|w| w.contains("max_tokens")));
        read.extend(ids(&answer));
        cursor = answer.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    read.sort();
    read.dedup();
    assert_eq!(read.len(), 12);
}

#[tokio::test]
async fn pages_repeat_nothing_and_leave_nothing_out() {
    let f = light(line_reader()).await;
    for n in 0..260 {
        let text = format!(
            "Note {n} {}{}on stripes.",
            "zebra ".repeat(n % 7 + 1),
            format!("hill{} ", n % 13).repeat(n % 11)
        );
        f.remember(&text).await;
    }
    let mut read: Vec<ArtifactId> = Vec::new();
    let mut cursor = None;
    loop {
        let answer = f.recall_as(RecallDraft { cursor, ..query("zebra stripes hill3") }).await;
        read.extend(ids(&answer));
        cursor = answer.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let listed = read.len();
    read.sort();
    read.dedup();
    assert_eq!((listed, read.len()), (260, 260));
}

#[tokio::test]
async fn a_cursor_beyond_the_end_or_of_something_else_gives_an_empty_page_or_a_reason() {
    let f = light(line_reader()).await;
    let first = f.remember_as(turn("chat", 0, "Ann", "Zebra.")).await.id;
    let second = f.remember_as(turn("chat", 1, "Bob", &"The zebra slept. ".repeat(2_000))).await.id;
    let history =
        RecallDraft { conversation_id: Some("chat".into()), limit: Some(1), ..RecallDraft::default() };
    let one = |draft| RecallDraft { limit: Some(1), ..draft };
    let drafts = [one(query("zebra")), by_id(&second.0), history];
    let mut cursors = Vec::new();
    for draft in &drafts {
        cursors.push(f.recall_as(draft.clone()).await.next_cursor.expect("there is more"));
    }
    for (n, cursor) in cursors.iter().enumerate() {
        for (m, draft) in drafts.iter().chain([&by_id(&first.0)]).enumerate() {
            for from in ["7", "30000", "2147483647", "2147483648", "18446744073709551615"] {
                let (_, rest) = cursor["from:".len()..].split_once(':').expect("it has a digest");
                let moved = Some(format!("from:{from}:{rest}"));
                let Ok(request) = RecallRequest::new(RecallDraft { cursor: moved, ..draft.clone() }) else {
                    continue;
                };
                match f.memory.recall(&f.ns, &request).await {
                    Ok(answer) => {
                        assert_eq!(n, m, "{cursor} is of something else");
                        assert!(answer.next_cursor.is_none() || from == "7");
                    }
                    Err(EngineError::Invalid(_)) => {}
                    Err(error) => panic!("{from} {:?}: {error}", request.target),
                }
            }
        }
    }
}
