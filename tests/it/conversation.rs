//! Conversations: turns in order, each read with the one before it.

use memory_core::artifact::Draft;
use memory_engine::recall::RecallDraft;
use memory_store::{events, jobs};
use memory_tests::turn;

use crate::shorthand::{execute, found_by_words, light, ns, query, store};
use crate::stand_ins::{line_reader, read_lines, scripted};

fn history(id: &str, limit: i64, cursor: Option<String>) -> RecallDraft {
    RecallDraft { conversation_id: Some(id.to_owned()), limit: Some(limit), cursor, ..RecallDraft::default() }
}

#[tokio::test]
async fn a_conversation_is_read_in_order_page_by_page() {
    let mut f = light(line_reader()).await;
    for index in [4, 0, 7, 2, 1] {
        f.remember_as(turn("chat", index, "Ann", &format!("Turn {index}."))).await;
    }
    f.remember_as(turn("other", 3, "Ann", "Elsewhere.")).await;
    f.ns = ns("foreign");
    f.remember_as(turn("chat", 3, "Eve", "Of another namespace.")).await;
    f.ns = ns("default");
    let mut read = Vec::new();
    let mut cursor = None;
    loop {
        let page = f.recall_as(history("chat", 2, cursor)).await;
        let conversation = page.conversation.unwrap();
        assert_eq!((conversation.total_turns, conversation.conversation_id.as_str()), (5, "chat"));
        read.extend(conversation.turns.into_iter().map(|t| (t.turn_index, t.content)));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(read, [0, 1, 2, 4, 7].map(|index| (index, format!("Turn {index}."))));
}

#[tokio::test]
async fn history_shows_the_latest_revision_of_each_turn() {
    let f = light(line_reader()).await;
    f.remember_as(turn("chat", 0, "Ann", "I like tea.")).await;
    f.remember_as(turn("chat", 1, "Bob", "Noted.")).await;
    f.remember_as(turn("chat", 0, "Ann", "I like coffee.")).await;
    let page = f.recall_as(history("chat", 10, None)).await.conversation.unwrap();
    let said: Vec<_> = page
        .turns
        .iter()
        .map(|t| (t.author.as_deref().unwrap(), t.role.as_deref(), t.content.as_str()))
        .collect();
    assert_eq!(said, [("Ann", Some("user"), "I like coffee."), ("Bob", Some("user"), "Noted.")]);
}

#[tokio::test]
async fn an_unknown_conversation_has_no_turns() {
    let f = light(line_reader()).await;
    let answer = f.recall_as(history("nowhere", 10, None)).await;
    assert_eq!((answer.conversation.unwrap().total_turns, answer.next_cursor), (0, None));
}

#[tokio::test]
async fn a_turn_is_found_by_the_words_of_the_turn_before_it() {
    let f = light(line_reader()).await;
    let asked = f.remember_as(turn("chat", 0, "Ann", "Which giraffe is ill?")).await;
    let answered = f.remember_as(turn("chat", 1, "Bob", "The tall one.")).await;
    let after = f.remember_as(turn("chat", 2, "Ann", "Thanks.")).await;
    let found = found_by_words(&f, "giraffe").await;
    assert!(found.contains(&asked.id) && found.contains(&answered.id) && !found.contains(&after.id));
    let shown = f.recall_as(query("giraffe")).await;
    assert!(shown.results.iter().all(|r| r.hit.artifact_id != answered.id || r.snippet == "The tall one."));
}

#[tokio::test]
async fn a_turn_that_comes_late_is_read_into_the_turn_after_it() {
    let f = light(line_reader()).await;
    f.remember_as(turn("chat", 0, "Ann", "Which giraffe is ill?")).await;
    let last = f.remember_as(turn("chat", 2, "Ann", "Thanks.")).await;
    f.remember_as(turn("chat", 1, "Bob", "The elephant.")).await;
    assert!(found_by_words(&f, "elephant").await.contains(&last.id));
    assert!(!found_by_words(&f, "giraffe").await.contains(&last.id));
    f.drain().await;
    assert_eq!(f.count("select count(*) from passage_embedding").await, 3, "its vector was made again");
}

#[tokio::test]
async fn a_replaced_turn_is_gone_from_the_turn_after_it() {
    let f = light(line_reader()).await;
    f.remember_as(turn("chat", 0, "Ann", "Which giraffe is ill?")).await;
    let next = f.remember_as(turn("chat", 1, "Bob", "The tall one.")).await;
    let asked = f.remember_as(turn("chat", 0, "Ann", "Which elephant is ill?")).await;
    assert_eq!(found_by_words(&f, "giraffe").await, []);
    let found = found_by_words(&f, "elephant").await;
    assert!(found.contains(&asked.id) && found.contains(&next.id));
}

#[tokio::test]
async fn short_turns_share_one_job_and_each_evidence_names_its_own_turn() {
    let f = light(line_reader()).await;
    let mut expected = Vec::new();
    for (index, text) in ["Decision by Ann", "Is that so?", "Commitment by Bob on Apollo"].iter().enumerate()
    {
        let remembered = f.remember_as(turn("chat", index as i64, "Ann", text)).await;
        assert_eq!(remembered.job_id, None);
        expected.push((remembered.id.0, (*text).to_owned()));
    }
    assert_eq!(f.count("select count(*) from event_jobs").await, 1);
    assert_eq!(f.drain().await, 1);
    expected.remove(1);
    let evidence: Vec<(String, String)> = sqlx::query_as(
        "select v.artifact_id, v.quote from event_evidence v join semantic_event e using (event_id)
         join artifact_revision r on r.revision_id = e.revision_id and r.artifact_id = v.artifact_id order by r.turn_index",
    )
    .fetch_all(&mut f.sql().await)
    .await
    .unwrap();
    assert_eq!(evidence, expected);
    assert_eq!(f.count("select count(*) from artifact_revision where extracted_at is null").await, 0);
}

#[tokio::test]
async fn a_long_turn_has_a_job_of_its_own_and_is_read_once() {
    let f = light(line_reader()).await;
    let long = format!("Decision by Ann\n{}", "word ".repeat(120));
    assert!(f.remember_as(turn("chat", 0, "Ann", &long)).await.job_id.is_some());
    f.remember_as(turn("chat", 1, "Bob", "Feedback by Bob")).await;
    f.drain().await;
    assert_eq!(f.count("select count(*) from semantic_event").await, 2);
    assert_eq!(f.count("select sum(event_count)::bigint from artifact_revision").await, 2);
}

#[tokio::test]
async fn a_conversation_longer_than_a_window_is_read_to_its_end() {
    let f = light(line_reader()).await;
    for index in 0..95 {
        f.remember_as(turn("chat", index, "Ann", &format!("Decision by Ann on Topic{index}"))).await;
    }
    f.drain().await;
    assert_eq!(f.count("select count(*) from semantic_event").await, 95);
    assert_eq!(f.count("select count(*) from event_jobs where status = 'DONE'").await, 1);
}

#[tokio::test]
async fn later_turns_are_read_with_those_before_them_as_context_only() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = seen.clone();
    let f = light(scripted(move |source| {
        log.lock()
            .unwrap()
            .push(source.segments.iter().map(|s| (s.text.clone(), s.context_only)).collect::<Vec<_>>());
        Ok(read_lines(source))
    }))
    .await;
    f.remember_as(turn("chat", 0, "Ann", "Decision by Ann")).await;
    f.drain().await;
    f.remember_as(turn("chat", 1, "Bob", "Feedback by Bob")).await;
    f.drain().await;
    assert_eq!(
        seen.lock().unwrap()[1],
        [("Decision by Ann".to_owned(), true), ("Feedback by Bob".to_owned(), false)]
    );
    assert_eq!(f.count("select count(*) from semantic_event").await, 2, "context gives no events again");
}

#[tokio::test]
async fn a_turn_that_comes_while_the_conversation_is_read_is_read_later() {
    let f = light(line_reader()).await;
    f.remember_as(turn("chat", 0, "Ann", "Decision by Ann")).await;
    let store = store(&f).await;
    let mut conn = store.acquire_across().await.unwrap();
    let job = jobs::claim(&mut conn, std::time::Duration::from_mins(1), 1).await.unwrap().remove(0);
    let sources = events::unread_window(&mut conn, &f.ns, "chat", 40, 6).await.unwrap();
    f.remember_as(turn("chat", 1, "Bob", "Feedback by Bob")).await;
    let mut tx = store.begin_across().await.unwrap();
    jobs::finish(&mut tx, &job).await.unwrap();
    let extractor = events::ExtractorId { name: "scripted", version: 1 };
    let nothing = memory_core::event::Extraction::default();
    events::replace_extraction(
        &mut tx,
        &f.ns,
        extractor,
        &sources,
        nothing,
        memory_core::event::Rejected::default(),
    )
    .await
    .unwrap();
    tx.commit().await.unwrap();
    assert_eq!(f.drain().await, 1);
    assert_eq!(f.count("select count(*) from semantic_event where category = 'Feedback'").await, 1);
    assert_eq!(f.count("select count(*) from artifact_revision where extracted_at is null").await, 0);
}

#[tokio::test]
async fn an_edited_turn_is_extracted_again() {
    let f = light(line_reader()).await;
    f.remember_as(turn("chat", 0, "Ann", "Decision by Ann")).await;
    f.drain().await;
    f.remember_as(turn("chat", 0, "Ann", "Decision by Bob")).await;
    f.drain().await;
    assert_eq!(f.count("select count(*) from semantic_event e join artifact_revision r using (revision_id) where r.is_latest and e.narrative = 'Decision by Bob'").await, 1);
}

#[tokio::test]
async fn a_talk_waits_for_a_pause_but_not_for_ever() {
    let f = memory_tests::Fixture::new().await;
    let patient = memory_engine::EngineSettings::default();
    let memory = f.sibling(line_reader(), patient).await;
    let say = |index| turn("chat", index, "Ann", "Decision by Ann");
    memory.remember(&f.ns, say(0)).await.unwrap();
    assert_eq!(memory.job_runner().drain().await.unwrap(), 0, "the talk may go on");
    execute(&f, "update event_jobs set created_at = now() - interval '29.9 s'").await;
    memory.remember(&f.ns, say(1)).await.unwrap();
    assert_eq!(f.count("select count(*) from event_jobs where run_at <= now() + interval '0.2 s'").await, 1);
    let speakerless = Draft { author: None, ..say(2) };
    memory.remember(&f.ns, speakerless).await.unwrap();
    assert_eq!(f.count("select count(*) from event_jobs").await, 1);
}
