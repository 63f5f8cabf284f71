//! Answers in parts: pages and their cursors.

use memory_core::id::ArtifactId;
use memory_engine::EngineError;
use memory_engine::recall::{RecallDraft, RecallRequest};
use memory_tests::turn;

use crate::shorthand::{by_id, ids, light, query};
use crate::stand_ins::line_reader;

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

/// The cursor of the same listing from somewhere else on.
fn moved(cursor: &str, from: &str) -> String {
    let (kind, rest) = cursor.split_once(':').expect("it says of what it is");
    if kind == "from" {
        let (_, digests) = rest.split_once(':').expect("it has digests");
        return format!("from:{from}:{digests}");
    }
    let (_, digest) = rest.split_once('@').expect("it has a digest");
    let place = if kind == "part" { format!("{from}:{from}") } else { from.to_owned() };
    format!("{kind}:{place}@{digest}")
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
                let moved = Some(moved(cursor, from));
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
