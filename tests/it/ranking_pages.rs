//! One question has one ranking, from which all pages are cut.

use memory_core::id::ArtifactId;
use memory_engine::recall::{Paging, RecallDraft, RecallRequest};
use memory_engine::{EngineError, Memory};
use memory_tests::Fixture;

use crate::ranking::{asked, have_notes, scores};
use crate::shorthand::{forget, ids, light, light_sibling, ns};
use crate::stand_ins::line_reader;

const QUESTIONS: [&str; 4] =
    ["zebra stripes hill3", "sea and wind", "who keeps the lighthouse in a storm?", "!!!"];

async fn refusal(f: &Fixture, memory: &Memory, draft: RecallDraft) -> String {
    let request = RecallRequest::new(draft).expect("the request is valid");
    match memory.recall(&f.ns, &request).await {
        Err(EngineError::Invalid(reason)) => reason.0,
        other => panic!("it is not refused: {other:?}"),
    }
}

#[tokio::test]
async fn the_first_results_are_the_same_whatever_the_limit() {
    let f = Fixture::with_extractor(line_reader()).await;
    have_notes(&f, 220).await;
    for text in QUESTIONS {
        let all = f.recall_as(asked(text, 50, None)).await;
        assert_eq!(all.results.len(), 50, "{text}");
        for limit in [1, 3, 10, 30] {
            let some = f.recall_as(asked(text, limit, None)).await;
            assert_eq!(ids(&some), ids(&all)[..limit as usize], "{text}");
            assert!(some.next_cursor.is_some(), "{text}");
        }
    }
}

#[tokio::test]
async fn all_pages_together_have_each_text_once_and_scores_never_rise() {
    let f = light(line_reader()).await;
    have_notes(&f, 260).await;
    for text in QUESTIONS {
        let (mut read, mut read_scores) = (Vec::new(), Vec::new());
        let mut cursor = None;
        loop {
            let answer = f.recall_as(asked(text, 7, cursor)).await;
            assert_eq!(answer.warnings, Vec::<String>::new());
            read.extend(ids(&answer));
            read_scores.extend(scores(&answer));
            cursor = answer.next_cursor;
            if cursor.is_none() {
                break;
            }
            assert_eq!(answer.results.len(), 7, "{text}: only the last page is short");
        }
        assert!(read_scores.is_sorted_by(|a, b| a >= b), "{text}: {read_scores:?}");
        let listed = read.len();
        read.sort();
        read.dedup();
        assert_eq!((listed, read.len()), (260, 260), "{text}");
    }
}

#[tokio::test]
async fn a_listing_ends_after_500_results_and_says_so() {
    let f = light(line_reader()).await;
    have_notes(&f, 512).await;
    let (mut read, mut cursor) = (Vec::new(), None);
    let last = loop {
        let answer = f.recall_as(asked("zebra", 50, cursor.clone())).await;
        read.extend(ids(&answer));
        if answer.next_cursor.is_none() {
            break answer;
        }
        assert!(answer.warnings.is_empty());
        cursor = answer.next_cursor;
    };
    assert!(last.warnings.len() == 1 && last.warnings[0].contains("500 results"), "{:?}", last.warnings);
    read.sort();
    read.dedup();
    assert_eq!(read.len(), 500);
}

#[tokio::test]
async fn what_is_remembered_or_forgotten_between_two_pages_moves_nothing() {
    let f = light(line_reader()).await;
    have_notes(&f, 60).await;
    let before = ids(&f.recall_as(asked("zebra hill3", 50, None)).await);
    let first = f.recall_as(asked("zebra hill3", 10, None)).await;
    assert_eq!(ids(&first), before[..10]);
    // One that goes first, and one of each page that is gone.
    let new = f.remember("zebra hill3").await.id;
    for place in [3, 12] {
        forget(&f, &before[place]).await;
    }
    let second = f.recall_as(asked("zebra hill3", 10, first.next_cursor.clone())).await;
    let left: Vec<ArtifactId> = before[10..20].iter().filter(|id| **id != before[12]).cloned().collect();
    assert_eq!(ids(&second), left);
    let third = f.recall_as(asked("zebra hill3", 10, second.next_cursor)).await;
    assert_eq!(ids(&third), before[20..30]);
    assert_eq!(ids(&f.recall_as(asked("zebra hill3", 10, None)).await)[0], new);
    // The former ranking is still there.
    assert_eq!(ids(&f.recall_as(asked("zebra hill3", 10, first.next_cursor)).await), left);
}

#[tokio::test]
async fn a_listing_goes_on_behind_any_of_its_results_although_texts_are_gone() {
    let f = light(line_reader()).await;
    have_notes(&f, 30).await;
    let before = ids(&f.recall_as(asked("zebra", 30, None)).await);
    let first = f.recall_as(asked("zebra", 5, None)).await;
    forget(&f, &before[6]).await;
    let second = f.recall_as(asked("zebra", 20, first.next_cursor.clone())).await;
    let Paging::Behind(behind) = &second.paging else { panic!("a search goes on behind its results") };
    let third = f.recall_as(asked("zebra", 50, Some(behind[2].clone()))).await;
    let read = [ids(&first), ids(&second)[..3].to_vec(), ids(&third)].concat();
    let expected: Vec<ArtifactId> = before.iter().filter(|id| **id != before[6]).cloned().collect();
    assert_eq!(read, expected);
}

#[tokio::test]
async fn a_cursor_belongs_to_its_question_its_filters_and_its_namespace() {
    let mut f = light(line_reader()).await;
    have_notes(&f, 30).await;
    let cursor = f.recall_as(asked("zebra", 5, None)).await.next_cursor;
    assert!(cursor.is_some());
    let others = [
        asked("zebra hill3", 5, cursor.clone()),
        RecallDraft { author: Some("Ann".into()), ..asked("zebra", 5, cursor.clone()) },
        RecallDraft { include_superseded: Some(true), ..asked("zebra", 5, cursor.clone()) },
    ];
    for other in others {
        let reason = refusal(&f, &f.memory, other).await;
        assert!(reason.contains("another question or other filters"), "{reason}");
    }
    // What is shown of the results may change.
    let full = RecallDraft { detail: Some("full".into()), ..asked("  zebra ", 9, cursor.clone()) };
    assert_eq!(f.recall_as(full).await.results.len(), 9);
    f.ns = ns("other");
    have_notes(&f, 10).await;
    let reason = refusal(&f, &f.memory, asked("zebra", 5, cursor)).await;
    assert!(reason.contains("another question"), "{reason}");
}

#[tokio::test]
async fn another_process_goes_on_with_the_pages_or_says_that_the_cursor_has_grown_old() {
    let f = light(line_reader()).await;
    have_notes(&f, 40).await;
    let before = ids(&f.recall_as(asked("zebra hill3", 40, None)).await);
    let first = f.recall_as(asked("zebra hill3", 10, None)).await;
    let other = light_sibling(&f, line_reader()).await;
    let next = |cursor| RecallRequest::new(asked("zebra hill3", 10, cursor)).expect("a request");
    let second = other.recall(&f.ns, &next(first.next_cursor.clone())).await.expect("a page");
    assert_eq!(ids(&second), before[10..20], "nothing has changed");
    f.remember("zebra hill3").await;
    let third = other.recall(&f.ns, &next(second.next_cursor)).await.expect("a page");
    assert_eq!(ids(&third), before[20..30], "it has kept the ranking itself");
    let another = light_sibling(&f, line_reader()).await;
    let reason = refusal(&f, &another, asked("zebra hill3", 10, first.next_cursor.clone())).await;
    assert!(reason.contains("grown old") && reason.contains("again without cursor"), "{reason}");
    assert_eq!(ids(&f.recall_as(asked("zebra hill3", 10, first.next_cursor)).await), before[10..20]);
}
