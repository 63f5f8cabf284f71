//! What people look through: texts by pages, a line of revisions, what goes along, the timeline, one entity, and pictures of
//! the entities.

use std::collections::BTreeSet;

use memory_core::artifact::Draft;
use memory_core::event::Category;
use memory_core::id::{AnyId, ArtifactId, Namespace};
use memory_engine::audit::{AuditFilter, Entry};
use memory_engine::browsing::{Amendment, TextOrder, TextsWanted};
use memory_engine::entity_review::EntityFilter;
use memory_engine::forget::Forgotten;
use memory_engine::picture::{NODES_MAX, View};
use memory_engine::recall::{RecallDraft, RecallRequest};
use memory_engine::timeline::EventsWanted;
use memory_tests::Fixture;
use sqlx::Executor;

use crate::entities::{id_of, tell};
use crate::stand_ins::line_reader;

fn wanted(draft: RecallDraft, order: TextOrder, limit: i64) -> TextsWanted {
    let draft = RecallDraft { query: Some("-".into()), ..draft };
    TextsWanted {
        filters: RecallRequest::new(draft).expect("it is valid").filters,
        order,
        cursor: None,
        limit,
    }
}

/// The ids of all pages, one after the other.
async fn paged(f: &Fixture, mut wanted: TextsWanted) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        let page = f.memory.list_texts(&f.ns, &wanted).await.expect("a page");
        all.extend(page.texts.iter().map(|text| text.artifact_id.clone()));
        assert!(all.len() as i64 <= page.count, "no text comes twice");
        match page.next_cursor {
            Some(cursor) => wanted.cursor = Some(cursor),
            None => return all,
        }
    }
}

#[tokio::test]
async fn pages_of_texts_follow_each_other_without_a_gap_in_every_order() {
    let f = Fixture::without_model(line_reader()).await;
    for n in 0..23 {
        f.remember_as(Draft {
            content: format!("Text {n}"),
            // Several share a date, and an importance.
            date: Some(format!("2026-03-{:02}", 1 + n / 4)),
            importance: Some(f64::from(n % 5) / 10.0),
            tags: if n % 2 == 0 { vec!["even".into()] } else { Vec::new() },
            ..Draft::default()
        })
        .await;
    }
    for order in [TextOrder::Newest, TextOrder::Oldest, TextOrder::Important] {
        let whole = paged(&f, wanted(RecallDraft::default(), order, 200)).await;
        assert_eq!(whole.iter().collect::<BTreeSet<_>>().len(), 23, "{order:?}");
        for limit in [1, 4, 22] {
            assert_eq!(
                paged(&f, wanted(RecallDraft::default(), order, limit)).await,
                whole,
                "{order:?} {limit}"
            );
        }
    }
    let newest = paged(&f, wanted(RecallDraft::default(), TextOrder::Newest, 5)).await;
    let mut oldest = paged(&f, wanted(RecallDraft::default(), TextOrder::Oldest, 5)).await;
    oldest.reverse();
    assert_eq!(newest, oldest);
    let even = RecallDraft { tags: vec!["EVEN".into()], ..RecallDraft::default() };
    assert_eq!(paged(&f, wanted(even, TextOrder::Newest, 5)).await.len(), 12);
    // Another namespace has none of it.
    let other = Namespace::new("other").expect("a name");
    let page = f.memory.list_texts(&other, &wanted(RecallDraft::default(), TextOrder::Newest, 5)).await;
    assert_eq!(page.expect("a page").count, 0);
}

#[tokio::test]
async fn a_line_has_what_was_at_a_place_and_forgetting_takes_along_what_was_said() {
    let f = Fixture::without_model(line_reader()).await;
    let mut ids = Vec::new();
    for n in 0..4 {
        let content = format!("Execution by Ann Lee on Project {n}");
        let draft = Draft {
            content,
            source: Some("wiki".into()),
            source_id: Some("page".into()),
            ..Draft::default()
        };
        ids.push(f.remember_as(draft).await.id);
    }
    f.remember("Execution by Ann Lee on Project 3").await;
    f.remember("A text of another place").await;
    f.drain().await;
    for id in &ids {
        let line = f.memory.line_of(&f.ns, id).await.expect("a line");
        let seen: BTreeSet<&str> = line.iter().map(|revision| revision.artifact_id.as_str()).collect();
        assert_eq!(seen, ids.iter().map(|id| id.0.as_str()).collect(), "of {id}");
        assert!(line.windows(2).all(|pair| pair[0].revision_id > pair[1].revision_id), "newest first");
    }
    for (n, id) in ids.iter().enumerate() {
        let going = f.memory.going_along(&f.ns, id).await.expect("it is counted");
        let Ok(Forgotten::Deleted(gone)) = f.memory.forget(&f.ns, &AnyId::Artifact(id.clone()), true).await
        else {
            panic!("{id} is forgotten");
        };
        assert_eq!((going.events, going.entities), (gone.events, gone.entities), "text {n}");
    }
    let nothing = f.memory.going_along(&f.ns, &ArtifactId("art_0".into())).await.expect("it is counted");
    assert_eq!(nothing, memory_engine::browsing::GoingAlong::default());
}

#[tokio::test]
async fn a_text_that_is_amended_is_found_by_its_new_title_and_keeps_its_place() {
    let f = Fixture::new().await;
    let draft = Draft {
        content: "The kiln needs two days to cool.".into(),
        title: Some("Pottery".into()),
        source: Some("wiki".into()),
        source_id: Some("kiln".into()),
        tags: vec!["old".into()],
        ..Draft::default()
    };
    let id = f.remember_as(draft).await.id;
    let amendment = Amendment {
        title: Some("Xylophone maintenance".into()),
        tags: Some(Vec::new()),
        add_tags: vec!["new".into()],
        importance: Some(0.9),
    };
    let amended = f.memory.amend(&f.ns, &id, &amendment).await.expect("it is amended").expect("it is there");
    assert!(!amended.is_created && amended.id == id);
    let found = f.recall("xylophone").await;
    let hit = &found.results[0].hit;
    assert_eq!((hit.artifact_id.clone(), hit.title.as_deref()), (id.clone(), Some("Xylophone maintenance")));
    assert_eq!((hit.tags.clone(), hit.source_id.as_deref()), (vec!["new".to_owned()], Some("kiln")));
    assert_eq!(f.count("select count(*) from artifact_revision").await, 1);
    let gone =
        f.memory.amend(&f.ns, &ArtifactId("art_0".into()), &amendment).await.expect("it is looked for");
    assert!(gone.is_none());
    let bad = Amendment { importance: Some(f64::NAN), ..Amendment::default() };
    assert!(f.memory.amend(&f.ns, &id, &bad).await.is_err());
}

#[tokio::test]
async fn the_timeline_is_newest_first_and_leaves_out_what_was_replaced() {
    let f = Fixture::without_model(line_reader()).await;
    for day in 1..=9 {
        let content = format!("Decision by Ann Lee on Day {day}");
        let draft = Draft {
            content,
            date: Some(format!("2026-03-0{day}")),
            source_id: Some(format!("{}", day.min(8))),
            ..Draft::default()
        };
        f.remember_as(draft).await;
        f.drain().await;
    }
    let all = EventsWanted::default();
    let (mut cursor, mut told) = (None, Vec::new());
    loop {
        let page = f.memory.timeline(&f.ns, &all, cursor.as_deref(), 3).await.expect("a page");
        told.extend(page.events.into_iter().map(|(_, event)| event.narrative));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(told.len(), 8, "{told:?}");
    assert!(told[0].ends_with("Day 9") && told.iter().all(|told| !told.ends_with("Day 8")), "{told:?}");
    assert_eq!(told.iter().collect::<BTreeSet<_>>().len(), 8, "none comes twice");
}

#[tokio::test]
async fn an_entity_is_shown_with_its_events_and_companions_and_found_on_the_way_to_another() {
    let f = Fixture::without_model(line_reader()).await;
    for text in [
        "Decision by Ann Lee and Bob Ray on Harbour Gate",
        "Execution by Bob Ray and Cleo Fox on Tide Gauge",
        "Execution by Cleo Fox and Dan Orr on Slip Way",
        "Decision by Eve Sol and Fay Kim on Far Isle",
    ] {
        f.remember(text).await;
    }
    f.drain().await;
    let review = f.memory.entity_review();
    let (listed, _) =
        review.list(&f.ns, &EntityFilter { limit: 50, ..EntityFilter::default() }).await.expect("a list");
    let id = |name: &str| listed.iter().find(|entity| entity.name == name).expect("it is there").id;
    let page = review.page(&f.ns, id("Bob Ray")).await.expect("a page").expect("it is there");
    assert_eq!((page.events.len(), page.portrait.texts), (2, 2));
    let companions: BTreeSet<&str> = page.companions.iter().map(|other| other.name.as_str()).collect();
    assert_eq!(companions, BTreeSet::from(["Ann Lee", "Cleo Fox", "Harbour Gate", "Tide Gauge"]));
    assert!(review.page(&f.ns, 999).await.expect("it is looked for").is_none());

    let names = async |view: View| {
        let picture = f.memory.picture(&f.ns, view).await.expect("a picture");
        let names: BTreeSet<String> = picture.extracted.iter().map(|node| node.name.clone()).collect();
        (names, picture.is_apart)
    };
    let (way, _) = names(View::Path(id("Ann Lee"), id("Dan Orr"))).await;
    assert_eq!(way, ["Ann Lee", "Bob Ray", "Cleo Fox", "Dan Orr"].map(str::to_owned).into());
    assert!(names(View::Path(id("Ann Lee"), id("Eve Sol"))).await.1, "there is no way");
    let (near, _) = names(View::Focus(id("Ann Lee"))).await;
    assert!(near.contains("Cleo Fox") && !near.contains("Dan Orr"), "two steps and no more: {near:?}");
}

#[tokio::test]
async fn a_map_draws_at_most_300_and_says_how_many_were_left_out() {
    let f = Fixture::without_model(line_reader()).await;
    let lines: Vec<String> = (0..400).map(|n| format!("Execution by Person{n} on Person{}", n + 1)).collect();
    f.remember(&lines.join("\n")).await;
    f.drain().await;
    let picture = f.memory.picture(&f.ns, View::Map).await.expect("a picture");
    assert_eq!((picture.extracted.len(), picture.left_out), (NODES_MAX, 401 - NODES_MAX as i64));
    assert!(!picture.shared.is_empty());
}

#[tokio::test]
async fn two_that_may_be_one_are_told_apart_side_by_side_and_what_was_decided_is_listed() {
    let f = Fixture::without_model(line_reader()).await;
    tell(&f, &["Decision by Alice Chen on Harbour Gate", "Zebra.\nFeedback by Alice"]).await;
    let (full, first) = (id_of(&f, "Alice Chen").await, id_of(&f, "Alice").await);
    let review = f.memory.entity_review();
    let sides = review.sides(&f.ns, &[first, 999, full]).await.expect("sides");
    assert_eq!(sides.iter().map(|side| side.id).collect::<Vec<_>>(), [first, full], "in the order asked for");
    assert_eq!(sides[1].companions, ["Harbour Gate"]);
    assert_eq!(sides[1].events.len(), 1);
    assert!(sides[0].mentions[0].text.contains("Feedback by Alice"), "{:?}", sides[0].mentions);
    assert!(sides[0].last_seen.is_some() && sides[0].companions.is_empty());

    let decided = async || {
        let pairs = review.list_decided_pairs(&f.ns, 10).await.expect("pairs");
        let shown = pairs.into_iter().map(|pair| (pair.is_merge, pair.first_name, pair.second_name));
        shown.collect::<Vec<_>>()
    };
    assert!(decided().await.is_empty());
    review.merge(&f.ns, full, first, false).await.expect("it is merged");
    assert_eq!(decided().await, [(true, "Alice".to_owned(), "Alice Chen".to_owned())]);
    review.split(&f.ns, first).await.expect("it is split");
    review.reject(&f.ns, full, first).await.expect("it is rejected");
    let rejected = decided().await;
    assert!(rejected.len() == 1 && !rejected[0].0, "{rejected:?}");
    // Neither is of another namespace.
    let other = Namespace::new("other").expect("a name");
    assert!(review.sides(&other, &[full]).await.expect("sides").is_empty());
    assert!(review.list_decided_pairs(&other, 10).await.expect("pairs").is_empty());
}

#[tokio::test]
async fn the_audit_is_narrowed_by_who_what_where_and_which_id_a_page_after_the_other() {
    let f = Fixture::without_model(line_reader()).await;
    let audit = f.memory.audit();
    let other = Namespace::new("other").expect("a name");
    for n in 0..12 {
        let namespace = [Some(f.ns.clone()), Some(other.clone()), None][n % 3].clone();
        let entry = Entry {
            key: None,
            who: ["phone", "laptop"][n % 2].to_owned(),
            namespace,
            action: ["recall", "forget"][n / 6].to_owned(),
            ids: vec![format!("art_{n}"), "art_of_all".to_owned()],
            outcome: "ok".to_owned(),
        };
        audit.record(&entry).await;
    }
    let ids = async |filter: AuditFilter, limit| {
        let entries = audit.list(&filter, limit).await.expect("entries");
        entries.into_iter().map(|entry| entry.ids[0].replace("art_", "")).collect::<Vec<_>>().join(" ")
    };
    let text = |value: &str| Some(value.to_owned());
    let all = AuditFilter::default();
    assert_eq!(ids(all.clone(), 3).await, "11 10 9", "the newest first");
    assert_eq!(ids(AuditFilter { who: text("phone"), ..all.clone() }, 99).await, "10 8 6 4 2 0");
    assert_eq!(ids(AuditFilter { id: text("art_7"), ..all.clone() }, 99).await, "7");
    assert_eq!(
        ids(AuditFilter { id: text("art_of_all"), action: text("forget"), ..all.clone() }, 2).await,
        "11 10"
    );
    let here = AuditFilter { namespace: Some(f.ns.clone()), ..all.clone() };
    assert_eq!(ids(here.clone(), 99).await, "11 9 8 6 5 3 2 0", "those of no namespace as well");
    let narrow = AuditFilter { who: text("laptop"), action: text("recall"), id: text("art_of_all"), ..here };
    assert_eq!(ids(narrow, 99).await, "5 3");
    let last = audit.list(&all, 4).await.expect("entries").last().map(|entry| entry.number);
    assert_eq!(ids(AuditFilter { before: last, ..all }, 2).await, "7 6");
}

#[tokio::test]
async fn the_timeline_of_several_kinds_is_in_one_order() {
    let f = Fixture::without_model(line_reader()).await;
    let kinds = ["Decision", "Feedback", "Change"];
    for n in 0..9 {
        f.remember(&format!("{} by Ann Lee on Thing{n}", kinds[n % 3])).await;
        f.drain().await;
    }
    let wanted =
        EventsWanted { categories: vec![Category::Decision, Category::Change], ..EventsWanted::default() };
    let whole = f.memory.timeline(&f.ns, &wanted, None, 50).await.expect("a page");
    let times: Vec<_> = whole.events.iter().map(|(at, _)| *at).collect();
    assert_eq!(times.len(), 6);
    assert!(times.is_sorted_by(|a, b| a >= b) && whole.next_cursor.is_none());
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let page = f.memory.timeline(&f.ns, &wanted, cursor.as_deref(), 2).await.expect("a page");
        seen.extend(page.events.into_iter().map(|(_, event)| event.id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, whole.events.iter().map(|(_, event)| event.id.clone()).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_namespaces_hold_and_what_workers_do_is_told() {
    let f = Fixture::without_model(line_reader()).await;
    f.remember("Decision by Ann Lee on Harbour Gate").await;
    let operations = f.memory.operations();
    let other = Namespace::new("other").expect("a name");
    let held = operations.held(&[other, f.ns.clone()]).await.expect("what they hold");
    assert_eq!((held[0].texts, held[1].texts, held[1].events), (0, 1, 0));
    f.drain().await;
    let held = operations.held(std::slice::from_ref(&f.ns)).await.expect("what it holds");
    assert_eq!((held[0].events, held[0].entities, held[0].failed_jobs), (1, 2, 0));

    assert!(operations.workers(&f.ns).await.expect("workers").is_empty());
    f.remember("Decision by Bob Ray on Tide Gauge").await;
    let mut sql = f.sql().await;
    let statements = "insert into event_worker (worker_id, last_seen) values (gen_random_uuid(), now()),
                          (gen_random_uuid(), now() - interval '10 min'), (gen_random_uuid(), now() - interval '2 h');
                      update event_jobs set status = 'PROCESSING', lease_token = gen_random_uuid(),
                          leased_until = now() + interval '1 min',
                          worker_id = (select worker_id from event_worker order by last_seen desc limit 1)
                      where status = 'PENDING' and kind = 'extract'";
    sql.execute(statements).await.expect("they are at work");
    let workers = operations.workers(&f.ns).await.expect("workers");
    let shown: Vec<_> = workers.iter().map(|now| (now.is_silent, now.jobs.len())).collect();
    assert_eq!(shown.len(), 2, "who was not seen for an hour is gone");
    assert!(shown.contains(&(false, 1)) && shown.contains(&(true, 0)), "{shown:?}");
}
