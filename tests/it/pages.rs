//! Answers in parts: pages, their cursors, and a bound on tokens.

use memory_core::id::ArtifactId;
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
async fn a_cursor_beyond_the_end_gives_an_empty_page_or_a_reason() {
    let f = light(line_reader()).await;
    let id = f.remember_as(turn("chat", 0, "Ann", "Zebra.")).await.id;
    let history = RecallDraft { conversation_id: Some("chat".into()), ..RecallDraft::default() };
    for from in [
        "from:7",
        "from:2147483647",
        "from:2147483648",
        "from:9223372036854775807",
        "from:18446744073709551615",
        "part:7:7",
        "part:2147483647:2147483647",
        "part:2147483648:0",
        "turn:2147483647",
    ] {
        for draft in [query("zebra"), by_id(&id.0), history.clone()] {
            let Ok(request) = RecallRequest::new(RecallDraft { cursor: Some(from.to_owned()), ..draft })
            else {
                continue;
            };
            let answer = f.memory.recall(&f.ns, &request).await;
            let answer = answer.unwrap_or_else(|error| panic!("{from} {:?}: {error}", request.target));
            assert!(answer.next_cursor.is_none());
            assert!(answer.results.iter().all(|r| r.content.as_deref().unwrap_or_default().is_empty()));
        }
    }
}
