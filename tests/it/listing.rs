//! Lists without a question: events by category, owner and state, and a conversation from its end.

use std::fmt::Write as _;

use memory_core::artifact::Draft;
use memory_core::event::EndedBy;
use memory_engine::recall::{Recall, RecallDraft};
use memory_tests::{Fixture, turn};

use crate::commitments::promise_reader;
use crate::shorthand::{by_id, dated, light, note, ns, page, query};
use crate::stand_ins::line_reader;

fn told(answer: &Recall) -> Vec<&str> {
    answer.results.iter().map(|result| result.snippet.as_str()).collect()
}

fn commitments() -> RecallDraft {
    RecallDraft { categories: vec!["commitments".into()], limit: Some(50), ..RecallDraft::default() }
}

fn in_state(state: &str) -> RecallDraft {
    RecallDraft { state: Some(state.into()), limit: Some(50), ..RecallDraft::default() }
}

/// One promise of each state, and one without a due time.
async fn promised() -> Fixture {
    let f = light(promise_reader()).await;
    for (date, text) in [
        ("2026-03-01", "Ann Lee promises to send the API design due 2026-03-09"),
        ("2026-03-02", "Bob promises to paint the tower due 2001-01-02"),
        ("2026-03-03", "Bob promises to feed the zebra"),
        ("2026-03-04", "Ann Lee promises to book the room due 2100-01-01"),
        ("2026-03-05", "Ann Lee did: sent the API design"),
        ("2026-03-06", "Bob promises to visit the castle due 2099-01-01"),
    ] {
        f.remember_as(dated(date, text)).await;
        f.drain().await;
    }
    f
}

#[tokio::test]
async fn commitments_are_listed_by_due_time_with_what_is_overdue_first() {
    let f = promised().await;
    let all = f.recall_as(commitments()).await;
    assert_eq!(
        told(&all),
        [
            "Bob will paint the tower.",
            "Bob will visit the castle.",
            "Ann Lee will book the room.",
            "Bob will feed the zebra.",
            "Ann Lee will send the API design."
        ]
    );
    assert_eq!(all.total_events, Some(5));
    assert!(all.results.iter().all(|r| r.event_id.is_some() && r.hit.events.len() == 1));
    for (state, expected) in [
        ("overdue", vec!["Bob will paint the tower."]),
        (
            "Open",
            vec!["Bob will visit the castle.", "Ann Lee will book the room.", "Bob will feed the zebra."],
        ),
        ("done", vec!["Ann Lee will send the API design."]),
        ("cancelled", vec![]),
    ] {
        let answer = f.recall_as(in_state(state)).await;
        assert_eq!(
            (told(&answer), answer.total_events),
            (expected.clone(), Some(expected.len() as i64)),
            "{state}"
        );
        for event in answer.results.iter().flat_map(|r| &r.hit.events) {
            let is = EndedBy::state_of(event.ended.as_ref(), event.due_time, jiff::Timestamp::now());
            assert_eq!(is.as_str(), state.to_lowercase());
        }
    }
}

#[tokio::test]
async fn an_owner_is_known_by_other_names_and_through_merged_entities() {
    let f = promised().await;
    let of = |name: &str| RecallDraft { owner: Some(name.into()), ..in_state("open") };
    assert_eq!(told(&f.recall_as(of("ann lee")).await), ["Ann Lee will book the room."]);
    let ann = f.count("select entity_id from entity where name = 'Ann Lee'").await;
    f.remember_as(dated("2026-03-07", "Lee-Ann promises to call home")).await;
    f.drain().await;
    let other = f.count("select entity_id from entity where name = 'Lee-Ann'").await;
    f.memory.entity_review().merge(&f.ns, ann, other, false).await.unwrap();
    let both = ["Ann Lee will book the room.", "Lee-Ann will call home."];
    assert_eq!(told(&f.recall_as(of("Lee-Ann")).await), both);
    assert_eq!(told(&f.recall_as(of("Ann Lee")).await), both);
    // One word of a name is enough.
    assert_eq!(told(&f.recall_as(of("lee")).await), both);
    let not_hers = f.recall_as(RecallDraft { owner: Some("Ann".into()), ..in_state("cancelled") }).await;
    assert!(not_hers.results.is_empty() && not_hers.warnings == ["No event that was asked for is of 'Ann'."]);
    f.remember_as(dated("2026-03-08", "Ann Smith promises to sell the boat")).await;
    f.drain().await;
    let two = f.recall_as(of("Ann")).await;
    assert_eq!(
        told(&two),
        ["Ann Lee will book the room.", "Ann Smith will sell the boat.", "Lee-Ann will call home."]
    );
    assert!(
        two.warnings[0].starts_with("'Ann' may be any of these: Ann Lee, Ann Smith."),
        "{:?}",
        two.warnings
    );
    // One who is called nothing else hides them as little.
    f.remember_as(dated("2026-03-09", "Ann promises to bring the cake")).await;
    f.drain().await;
    let three = f.recall_as(of("Ann")).await;
    assert_eq!(three.results.len(), 4);
    assert!(
        three.warnings[0].starts_with("'Ann' may be any of these: Ann, Ann Lee, Ann Smith."),
        "{:?}",
        three.warnings
    );
    let one = f.recall_as(of("Ann Smith")).await;
    assert_eq!(told(&one), ["Ann Smith will sell the boat."]);
    assert!(
        one.warnings[0]
            .starts_with("Events of 'Ann' are not among them: that may be any of Ann Lee, Ann Smith.")
    );
    for (date, text) in [
        ("2026-03-10", "Marcus promises to wax the floor"),
        ("2026-03-11", "Marcus Webb promises to sweep the yard"),
    ] {
        f.remember_as(dated(date, text)).await;
        f.drain().await;
    }
    let both = ["Marcus Webb will sweep the yard.", "Marcus will wax the floor."];
    for name in ["Marcus", "Marcus Webb"] {
        let of_one = f.recall_as(of(name)).await;
        assert_eq!(
            (told(&of_one), of_one.warnings.len()),
            (both.to_vec(), 0),
            "{name}: {:?}",
            of_one.warnings
        );
    }
    let nobody = f.recall_as(of("Zoe")).await;
    assert!(
        nobody.results.is_empty()
            && nobody.warnings
                == ["Nobody is called 'Zoe' here. Ask for entities by a query to see who is known."]
    );
}

#[tokio::test]
async fn an_owner_is_known_without_accents() {
    let f = light(promise_reader()).await;
    let of = |name: &str| RecallDraft { owner: Some(name.into()), ..RecallDraft::default() };
    for text in ["Zoë Müller promises to water the plants", "Siobhán promises to feed the cat"] {
        f.remember_as(dated("2026-03-12", text)).await;
        f.drain().await;
    }
    for (name, whole) in [("Zoe", "Zoë Müller"), ("zoe mueller", "Zoë Müller"), ("Siobhan", "Siobhán")] {
        let hers = f.recall_as(of(name)).await;
        assert_eq!(
            (hers.results.len(), &hers.warnings[..]),
            (1, &[format!("Nobody is called '{name}' here: taken for {whole}.")][..])
        );
    }
    let titled = f.recall_as(of("Dr. Müller")).await;
    assert_eq!((titled.results.len(), titled.warnings.len()), (1, 0), "{:?}", titled.warnings);
    let mine = f.recall_as(of("me")).await;
    assert!(
        mine.warnings[0].starts_with("Nobody is called 'me' here. Give your name,"),
        "{:?}",
        mine.warnings
    );
}

#[tokio::test]
async fn a_list_is_paged_without_repetition_while_events_arrive_and_filters_hold() {
    let mut f = light(line_reader()).await;
    for n in 1..=25 {
        let draft = dated(&format!("2026-01-{n:02}"), &format!("Text {n}.\nDecision by Ann on Plan {n}"));
        f.remember_as(Draft { source: Some(if n % 5 == 0 { "wiki" } else { "mail" }.into()), ..draft }).await;
    }
    f.remember_as(dated("2026-01-30", "Execution by Ann")).await;
    f.drain().await;
    let decisions = |cursor: Option<String>| RecallDraft {
        categories: vec!["Decision".into()],
        source: Some("MAIL".into()),
        limit: Some(7),
        cursor,
        ..RecallDraft::default()
    };
    let (mut seen, mut cursor): (Vec<String>, _) = (Vec::new(), None);
    loop {
        let answer = f.recall_as(decisions(cursor)).await;
        assert_eq!(answer.total_events, Some(20 + i64::from(!seen.is_empty())));
        if seen.is_empty() {
            let newer = dated("2026-02-01", "Decision by Ann on Plan 99");
            f.remember_as(Draft { source: Some("mail".into()), ..newer }).await;
            f.drain().await;
        }
        seen.extend(told(&answer).into_iter().map(str::to_owned));
        cursor = answer.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let expected: Vec<String> =
        (1..=25).rev().filter(|n| n % 5 != 0).map(|n| format!("Decision by Ann on Plan {n}")).collect();
    assert_eq!(seen, expected);
    f.ns = ns("other");
    assert!(f.recall_as(decisions(None)).await.results.is_empty());
}

#[tokio::test]
async fn an_empty_list_names_the_filter_that_emptied_it() {
    let f = promised().await;
    let answer = f.recall_as(RecallDraft { author: Some("Zoe".into()), ..commitments() }).await;
    assert_eq!(answer.warnings, ["No text of this namespace has author 'Zoe'."]);
}

#[tokio::test]
async fn a_conversation_is_read_from_its_end_when_that_is_asked_for() {
    let f = light(line_reader()).await;
    for n in 0..25 {
        f.remember_as(turn("talk", n, "Ann", &format!("Turn {n}."))).await;
    }
    let newest = |cursor: Option<String>| RecallDraft {
        conversation_id: Some("talk".into()),
        order: Some("newest".into()),
        cursor,
        ..RecallDraft::default()
    };
    let indexes = |answer: &Recall| -> Vec<i32> {
        answer.conversation.as_ref().unwrap().turns.iter().map(|turn| turn.turn_index).collect()
    };
    let first = f.recall_as(newest(None)).await;
    assert_eq!(indexes(&first), (15..25).rev().collect::<Vec<_>>());
    f.remember_as(turn("talk", 25, "Ann", "Turn 25.")).await;
    let second = f.recall_as(newest(first.next_cursor)).await;
    assert_eq!(indexes(&second), (5..15).rev().collect::<Vec<_>>(), "a new turn moves nothing");
    let last = f.recall_as(newest(second.next_cursor)).await;
    assert_eq!((indexes(&last), last.next_cursor), ((0..5).rev().collect(), None));
    let oldest = RecallDraft { conversation_id: Some("talk".into()), ..RecallDraft::default() };
    assert_eq!(indexes(&f.recall_as(oldest).await), (0..10).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_text_asked_for_by_its_id_shows_all_its_places_and_its_source_id() {
    let f = light(line_reader()).await;
    let id = f.remember_as(page("a/README.md", "The same text.")).await.id;
    f.remember_as(page("b/README.md", "The same text.")).await;
    f.remember_as(page("c/README.md", "The same text.")).await;
    f.remember_as(page("c/README.md", "Another text.")).await;
    let with_people = Draft { participants: vec!["Ann".into(), "Bob".into()], ..note("The same text.") };
    f.remember_as(with_people).await;
    let answer = f.recall_as(by_id(&id.0)).await;
    assert_eq!((answer.places.len(), answer.place_count), (4, 4));
    let places: Vec<(Option<&str>, bool)> =
        answer.places.iter().map(|place| (place.source_id.as_deref(), place.is_superseded)).collect();
    assert_eq!(
        places,
        [
            (None, false),
            (Some("b/README.md"), false),
            (Some("a/README.md"), false),
            (Some("c/README.md"), true)
        ]
    );
    let hit = &answer.results[0].hit;
    assert_eq!((hit.source_id.as_deref(), hit.participants.len()), (None, 2));
    let found = f.recall_as(RecallDraft { source: Some("wiki".into()), ..query("another") }).await;
    assert_eq!(found.results[0].hit.source_id.as_deref(), Some("c/README.md"));
}

#[tokio::test]
async fn results_that_score_too_little_are_left_out_and_counted_unless_asked_for() {
    let f = Fixture::without_model(line_reader()).await;
    f.remember("The giraffe is ill and the vet comes on Monday.").await;
    f.remember("A giraffe.").await;
    let ask = |min_score| RecallDraft {
        query: Some("giraffe ill vet monday".into()),
        min_score,
        ..RecallDraft::default()
    };
    let all = f.recall_as(ask(Some(0.0))).await;
    assert!(
        all.results.len() == 2 && all.warnings.len() == 1,
        "only the missing model is warned of: {:?}",
        all.warnings
    );
    let (best, worst) = (all.results[0].score, all.results[1].score);
    assert!(worst < best);
    let some = f.recall_as(ask(Some(f64::from(f32::midpoint(best, worst))))).await;
    assert_eq!(some.results.len(), 1);
    assert!(some.warnings.iter().any(|w| w.starts_with("1 result that scores under")), "{:?}", some.warnings);
    let none = f.recall_as(ask(Some(1.0))).await;
    assert!(none.results.is_empty() && none.warnings.iter().any(|w| w.contains("min_score: 0 shows")));
    assert!(f.recall_as(ask(None)).await.results.iter().all(|result| result.score >= 0.15));
}

#[tokio::test]
async fn all_events_of_a_hit_are_counted_and_those_of_an_id_are_reached_in_pages() {
    let f = light(line_reader()).await;
    let mut text = String::from("Zebra.");
    for n in 0..260 {
        let _ = write!(text, "\nDecision by Ann on Plan {n}");
    }
    let id = f.remember(&text).await.id;
    f.drain().await;
    let found = f.recall_as(query("zebra")).await;
    assert_eq!(found.results[0].hit.event_count, 260);
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let answer = f.recall_as(RecallDraft { cursor, ..by_id(&id.0) }).await;
        seen.extend(answer.results[0].hit.events.iter().map(|event| event.narrative.clone()));
        cursor = answer.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let expected: Vec<String> = (0..260).map(|n| format!("Decision by Ann on Plan {n}")).collect();
    assert_eq!(seen, expected);
}
