//! Commitments and directives that are ended by a text that says so in its tags.

use memory_core::artifact::Draft;
use memory_core::event::EndedBy;
use memory_engine::directives::Directive;
use memory_engine::progress::unreported;
use memory_engine::recall::RecallDraft;
use memory_store::events::ExtractorId;
use memory_store::reextraction::Selection;
use memory_tests::Fixture;

use crate::commitments::promise_reader;
use crate::shorthand::{by_id, dated, forget, light, query};

const PROMISE: &str = "Ann promises to send the API design to the board due 2026-03-05";

/// The id of the only commitment and what has become of it, with what ended it.
async fn fate(f: &Fixture) -> (String, String) {
    let found = f.recall_as(query("API design board")).await.results;
    let event = found.into_iter().flat_map(|it| it.hit.events).find(|it| it.category == "Commitment");
    let event = event.expect("there is one");
    let now = "2026-03-01T00:00:00Z".parse().expect("a moment");
    let state = EndedBy::state_of(event.ended.as_ref(), event.due_time, now);
    let by = event.ended.map_or(String::new(), |ended| format!(" by {}", ended.by));
    (event.id, format!("{state}{by}"))
}

fn tagged(date: &str, content: &str, tag: &str) -> Draft {
    Draft { tags: vec![tag.to_owned()], ..dated(date, content) }
}

async fn promised() -> (Fixture, String) {
    let f = light(promise_reader()).await;
    f.remember_as(dated("2026-02-20", PROMISE)).await;
    f.drain().await;
    let (id, state) = fate(&f).await;
    assert_eq!(state, "open");
    (f, id)
}

#[tokio::test]
async fn a_text_ends_the_commitment_that_its_tags_name_until_it_is_forgotten() {
    let (f, id) = promised().await;
    let done = f.remember_as(tagged("2026-03-04", "It went out at noon.", &format!("done:{id}"))).await.id;
    assert_eq!(fate(&f).await.1, format!("done by {done}"));
    for (state, count) in [("done", 1), ("open", 0), ("overdue", 0)] {
        let listed = RecallDraft { state: Some(state.into()), ..RecallDraft::default() };
        assert_eq!(f.recall_as(listed).await.results.len(), count, "{state}");
    }
    let briefing = f.memory.briefing(&f.ns, vec![]).await.expect("a briefing");
    assert_eq!((briefing.overdue.len(), briefing.open.len()), (0, 0));

    // However often the commitment is read again.
    let all = Selection { all: true, ..Selection::default() };
    let present = ExtractorId { name: "scripted", version: 1 };
    f.memory.operations().requeue_extraction(&f.ns, present, &all, &unreported).await.expect("it is queued");
    f.drain().await;
    assert_eq!(fate(&f).await, (id, format!("done by {done}")));

    forget(&f, &done).await;
    assert_eq!(fate(&f).await.1, "open");
}

#[tokio::test]
async fn tags_that_are_given_later_or_changed_count_as_well() {
    let (f, id) = promised().await;
    let text = "The board wants no design any more.";
    let dropped = f.remember_as(dated("2026-03-04", text)).await.id;
    assert_eq!(fate(&f).await.1, "open");
    f.remember_as(tagged("2026-03-04", text, &format!("Cancelled:{id}"))).await;
    assert_eq!(fate(&f).await.1, format!("cancelled by {dropped}"));
    f.remember_as(tagged("2026-03-04", text, "board")).await;
    assert_eq!(fate(&f).await.1, "open");
}

#[tokio::test]
async fn a_text_that_was_superseded_ends_nothing() {
    let (f, id) = promised().await;
    let at = |text: &str, tags: Vec<String>| Draft {
        source: Some("wiki".into()),
        source_id: Some("status".into()),
        tags,
        ..dated("2026-03-04", text)
    };
    f.remember_as(at("The design is out.", vec![format!("done:{id}")])).await;
    assert!(fate(&f).await.1.starts_with("done"));
    f.remember_as(at("The design is not out yet.", vec![])).await;
    assert_eq!(fate(&f).await.1, "open");
}

#[tokio::test]
async fn an_archive_takes_along_what_was_ended() {
    let (f, id) = promised().await;
    let done = f.remember_as(tagged("2026-03-04", "It went out at noon.", &format!("done:{id}"))).await.id;
    let archive = crate::archive::exported_as(&f.memory, &f.ns, true).await;
    let g = light(promise_reader()).await;
    g.remember_as(dated("2026-01-01", "Events have other ids where something is there already.")).await;
    crate::archive::import(&g, &archive).await;
    g.drain().await;
    let (other, state) = fate(&g).await;
    assert_ne!(other, id);
    assert_eq!(state, format!("done by {done}"));
}

#[tokio::test]
async fn what_is_no_commitment_cannot_be_ended() {
    let (f, _) = promised().await;
    f.remember_as(dated("2026-03-02", "Ann did: fed the zebra")).await;
    f.drain().await;
    let zebra = f.recall_as(query("zebra")).await.results.remove(0).hit.events.remove(0).id;
    for (tag, part) in [
        ("done:evt_0123456789abcdef".to_owned(), "there is no commitment evt_0123456789abcdef"),
        ("cancelled: evt_12".to_owned(), "there is no commitment evt_12"),
        ("done:art_0123456789ab".to_owned(), "there is no commitment art_0123456789ab"),
        (format!("done:{zebra}"), "is of category Execution, and only a commitment can be done or cancelled"),
    ] {
        let refused = f.memory.remember(&f.ns, tagged("2026-03-04", "It is over.", &tag)).await;
        let error = refused.expect_err("it is refused").to_string();
        assert!(error.contains(part) && error.contains("state=open"), "{error}");
    }
    assert!(f.recall_as(query("It is over")).await.results.iter().all(|it| it.snippet != "It is over."));
    assert!(f.recall_as(by_id("evt_0123456789abcdef")).await.results.is_empty());
    // Other tags are not looked at.
    f.remember_as(tagged("2026-03-04", "It is over.", "done:soon")).await;
}

/// What holds, in the order of the texts.
async fn wishes(f: &Fixture) -> Vec<Directive> {
    let mut standing = f.memory.standing_directives(&f.ns).await.expect("an answer");
    standing.sort_by_key(|directive| (directive.since, directive.span.start));
    standing
}

#[tokio::test]
async fn a_text_withdraws_the_directive_that_its_tags_name_until_it_is_forgotten() {
    let f = light(promise_reader()).await;
    let one = f.remember_as(dated("2026-02-20", "Please always answer me in French.")).await.id;
    let two = "Always sign my mails with Ana. Never use exclamation marks in my mails.";
    f.remember_as(dated("2026-02-21", two)).await;
    let all = wishes(&f).await;
    assert_eq!(all.len(), 3, "{all:?}");

    let over = tagged("2026-03-01", "My French course is over.", &format!("withdrawn:{one}"));
    let over = f.remember_as(over).await.id;
    assert_eq!(wishes(&f).await, all[1..]);

    // Of several it must be said which.
    let signed = &all[1];
    let told = |tag: String| tagged("2026-03-02", "Sign as you like.", &tag);
    let whole = format!("withdrawn:{}", signed.artifact_id);
    let exact = format!("{whole}#{}-{}", signed.span.start, signed.span.end);
    for (tag, why) in [
        (whole.clone(), exact.clone()),
        (format!("{whole}#200-210"), exact.clone()),
        ("withdrawn:art_0123456789ab".to_owned(), "no text art_0123456789ab states a directive".to_owned()),
        ("withdrawn:art_0123456789ab#x".to_owned(), "no text art_0123456789ab states a directive".to_owned()),
        ("withdrawn:evt_0123456789ab".to_owned(), "no text evt_0123456789ab states a directive".to_owned()),
    ] {
        let refused = f.memory.remember(&f.ns, told(tag)).await.expect_err("it is refused").to_string();
        assert!(refused.contains(&why), "{refused}");
    }
    f.remember_as(told(exact)).await;
    assert_eq!(wishes(&f).await, all[2..]);

    forget(&f, &over).await;
    assert_eq!(wishes(&f).await, [all[0].clone(), all[2].clone()], "what was withdrawn holds again");
}
