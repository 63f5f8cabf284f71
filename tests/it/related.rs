//! From hits to what hangs together with them: related events and entities.

use memory_core::artifact::Draft;
use memory_engine::recall::{Recall, RecallDraft};
use memory_tests::Fixture;

use crate::shorthand::{by_id, dated, execute, forget, light, ns, page, query};
use crate::stand_ins::line_reader;

fn told(answer: &Recall) -> Vec<(&str, &str)> {
    answer.related.iter().map(|r| (r.reason.as_str(), r.narrative.as_str())).collect()
}

fn top(limit: i64, text: &str) -> RecallDraft {
    RecallDraft { limit: Some(limit), ..query(text) }
}

async fn with_texts(texts: &[(&str, &str)]) -> Fixture {
    let f = light(line_reader()).await;
    for (date, text) in texts {
        f.remember_as(dated(date, text)).await;
    }
    f.drain().await;
    f
}

#[tokio::test]
async fn events_are_related_through_every_result_and_not_only_the_best() {
    let f = with_texts(&[
        ("2026-01-01", "Zebra zebra zebra.\nDecision by Ann"),
        ("2026-01-01", "Zebra and grass.\nDecision by Bob"),
        ("2026-01-01", "A walrus.\nExecution by Bob"),
    ])
    .await;
    let answer = f.recall_as(top(2, "zebra")).await;
    assert_eq!(answer.results.len(), 2);
    assert_eq!(told(&answer), [("same_actor:Bob", "Execution by Bob")]);
    let quoted = &answer.related[0].evidence[0];
    assert_eq!((quoted.quote.as_str(), quoted.start_char, quoted.end_char), ("Execution by Bob", 10, 26));
    assert_eq!(quoted.artifact_id, answer.related[0].artifact_id);
}

#[tokio::test]
async fn actors_come_before_subjects_and_newer_events_before_older() {
    let f = with_texts(&[
        ("2026-01-01", "Zebra.\nDecision by Ann"),
        ("2024-01-01", "Walrus one.\nExecution by Ann"),
        ("2026-06-01", "Walrus two.\nChange on Ann"),
        ("2025-01-01", "Walrus three.\nFeedback by Ann"),
    ])
    .await;
    let answer = f.recall_as(top(1, "zebra")).await;
    assert_eq!(
        told(&answer),
        [
            ("same_actor:Ann", "Feedback by Ann"),
            ("same_actor:Ann", "Execution by Ann"),
            ("same_subject:Ann", "Change on Ann")
        ]
    );
    let one = f.recall_as(RecallDraft { graph_budget: Some(1), ..top(1, "zebra") }).await;
    assert_eq!(told(&one), [("same_actor:Ann", "Feedback by Ann")]);
    for none in [
        RecallDraft { graph_budget: Some(0), ..top(1, "zebra") },
        RecallDraft { expand: Some(false), ..top(1, "zebra") },
    ] {
        assert!(f.recall_as(none).await.related.is_empty());
    }
}

#[tokio::test]
async fn a_rare_entity_counts_more_than_a_common_one() {
    let mut texts = vec![
        ("2026-01-01".to_owned(), "Zebra.\nDecision by Hub and Rare".to_owned()),
        ("2001-01-01".to_owned(), "Old.\nExecution by Rare".to_owned()),
    ];
    texts.extend((1..=30).map(|n| ("2026-02-02".to_owned(), format!("Walrus {n}.\nFeedback by Hub"))));
    let texts: Vec<(&str, &str)> = texts.iter().map(|(d, t)| (d.as_str(), t.as_str())).collect();
    let f = with_texts(&texts).await;
    let answer = f.recall_as(top(1, "zebra")).await;
    assert_eq!(answer.related.len(), 10);
    assert_eq!(told(&answer)[0], ("same_actor:Rare", "Execution by Rare"));
}

/// A hub with 5,000 events of one category, newer than all others.
async fn with_hub() -> Fixture {
    let f = with_texts(&[
        ("2020-01-01", "Zebra.\nCommitment by Hub and Rare"),
        ("2001-01-01", "Old.\nExecution by Rare"),
        ("2002-01-01", "Old too.\nCommitment by Hub"),
    ])
    .await;
    execute(
        &f,
        "with art as (
             insert into artifact (namespace, artifact_id, sha256, content, char_count, token_count)
             values ('default', 'art_bulk', sha256('bulk'), 'bulk', 4, 1)
         ), rev as (
             insert into artifact_revision (namespace, artifact_id, artifact_uid, context, importance, summary)
             values ('default', 'art_bulk', 'content:bulk', 'note', 0.5, 'bulk') returning revision_id
         ), ev as (
             insert into semantic_event (namespace, event_id, revision_id, artifact_id, ordinal, category, narrative, confidence, extractor, extractor_version)
             select 'default', 'evt_' || n, revision_id, 'art_bulk', n, 'Execution', 'Bulk ' || n, 0.5, 'bulk', 1 from rev, generate_series(1, 5000) n
         )
         insert into event_actor (namespace, entity_id, event_id, role, category, occurred_at)
         select 'default', t.entity_id, 'evt_' || n, 'owner', 'Execution', '2025-01-01'::timestamptz + n * interval '1 s'
         from entity t, generate_series(1, 5000) n where t.name = 'Hub';",
    )
    .await;
    f
}

#[tokio::test]
async fn a_hub_of_thousands_of_events_neither_floods_nor_leads() {
    let f = with_hub().await;
    let answer = f.recall_as(RecallDraft { graph_budget: Some(100), ..top(1, "zebra") }).await;
    assert_eq!(answer.related.len(), 100);
    assert_eq!(told(&answer)[0], ("same_actor:Rare", "Execution by Rare"));
    assert_eq!(told(&answer)[1], ("same_actor:Hub", "Bulk 5000"), "then the hub's newest");
}

#[tokio::test]
async fn a_category_is_found_behind_a_hubs_newer_events() {
    let f = with_hub().await;
    let answer =
        f.recall_as(RecallDraft { categories: vec!["Commitment".into()], ..top(1, "zebra rare") }).await;
    assert_eq!(told(&answer), [("same_actor:Hub", "Commitment by Hub")]);
}

#[tokio::test]
async fn superseded_events_are_related_only_when_asked_for() {
    let f = light(line_reader()).await;
    f.remember("Zebra.\nDecision by Ann").await;
    f.remember_as(page("p", "Feedback by Ann")).await;
    f.drain().await;
    f.remember_as(page("p", "Nothing any more.")).await;
    f.drain().await;
    assert!(f.recall_as(top(1, "zebra")).await.related.is_empty());
    let all = f.recall_as(RecallDraft { include_superseded: Some(true), ..top(1, "zebra") }).await;
    assert_eq!(told(&all), [("same_actor:Ann", "Feedback by Ann")]);
}

#[tokio::test]
async fn an_artifact_or_event_asked_for_by_id_brings_its_relations() {
    let f = with_texts(&[("2026-01-01", "Zebra.\nDecision by Ann"), ("2026-01-01", "Feedback by Ann")]).await;
    let found = f.recall_as(top(1, "zebra")).await.results.remove(0).hit;
    for id in [&found.artifact_id.0, &found.events[0].id] {
        let answer = f.recall_as(by_id(id)).await;
        assert_eq!(told(&answer), [("same_actor:Ann", "Feedback by Ann")]);
        assert_eq!(answer.entities[0].name, "Ann");
    }
}

#[tokio::test]
async fn mentions_are_counted_once_however_many_events_an_entity_has() {
    let f = with_texts(&[
        (
            "2026-01-01",
            "Zebra.\nDecision by Ann on Apollo\nChange by Ann on Apollo\nExecution by Ann\nAnn is happy.",
        ),
        ("2026-01-01", "Walrus.\nFeedback by Bob on Ann"),
    ])
    .await;
    let answer = f.recall_as(top(1, "zebra")).await;
    let counted: Vec<_> = answer.entities.iter().map(|e| (e.name.as_str(), e.mention_count)).collect();
    assert_eq!(counted, [("Ann", 5), ("Apollo", 2)]);
    let none = f
        .recall_as(RecallDraft {
            include_entities: Some(false),
            include_events: Some(false),
            ..top(1, "zebra")
        })
        .await;
    assert!(none.entities.is_empty() && none.results[0].hit.events.is_empty());
}

#[tokio::test]
async fn a_category_filter_also_holds_for_the_events_that_are_shown() {
    let f = with_texts(&[
        ("2026-01-01", "Zebra.\nDecision by Ann\nFeedback by Ann"),
        ("2026-01-01", "Decision by Ann\nChange by Ann"),
    ])
    .await;
    let answer = f.recall_as(RecallDraft { categories: vec!["Decision".into()], ..top(1, "zebra") }).await;
    let shown: Vec<&str> = answer.results[0].hit.events.iter().map(|e| e.category.as_str()).collect();
    assert_eq!(shown, ["Decision"]);
    assert!(answer.related.iter().all(|r| r.category == "Decision"));
}

#[tokio::test]
async fn relations_and_entities_never_cross_namespaces() {
    let mut f = light(line_reader()).await;
    for name in ["default", "other"] {
        f.ns = ns(name);
        f.remember("Zebra.\nDecision by Ann").await;
        f.remember(&format!("Feedback by Ann on {name}")).await;
    }
    f.drain().await;
    let answer = f.recall_as(top(1, "zebra")).await;
    assert_eq!(told(&answer), [("same_actor:Ann", "Feedback by Ann on other")]);
    assert_eq!(
        answer.entities.iter().map(|e| (e.name.as_str(), e.mention_count)).collect::<Vec<_>>(),
        [("Ann", 2)]
    );
}

#[tokio::test]
async fn one_address_is_one_person_by_whatever_name() {
    let f = light(line_reader()).await;
    let first = f.remember("Zebra.\nAnn Chen alias ann@x.org\nDecision by Ann Chen").await.id;
    f.drain().await;
    f.remember("Walrus.\nA. Chen alias ann@x.org\nFeedback by A. Chen").await;
    f.drain().await;
    let answer = f.recall_as(by_id(&first.0)).await;
    assert_eq!(told(&answer), [("same_actor:Ann Chen", "Feedback by A. Chen")]);
    assert_eq!(answer.entities.len(), 1);
    assert_eq!(answer.entities[0].aliases, ["A. Chen", "ann@x.org"]);
    assert_eq!(f.count("select count(*) from entity").await, 1, "and no second one that nothing refers to");
    forget(&f, &first).await;
    f.drain().await;
    assert_eq!(
        f.count("select count(*) from entity where name = 'Ann Chen'").await,
        0,
        "the name was only in the forgotten text"
    );
    assert_eq!(
        f.count("select count(*) from entity where name = 'A. Chen'").await,
        1,
        "the person is still known by the other"
    );
}

#[tokio::test]
async fn what_holds_for_the_results_holds_for_what_they_bring_in() {
    let f = light(line_reader()).await;
    let work = |text: &str| Draft {
        source: Some("work".into()),
        author: Some("Cleo".into()),
        tags: vec!["t1".into()],
        importance: Some(0.9),
        ..dated("2026-01-01", text)
    };
    let private = |text: &str| Draft {
        source: Some("private".into()),
        author: Some("Dan".into()),
        context: Some("fact".into()),
        tags: vec!["t2".into()],
        importance: Some(0.1),
        ..dated("2026-02-01", text)
    };
    f.remember_as(work("Zebra.\nDecision by Ann")).await;
    f.remember_as(work("Walrus.\nExecution by Ann")).await;
    f.remember_as(private("Ann alias Annie\nA walrus.\nFeedback by Ann")).await;
    f.drain().await;
    assert_eq!(f.recall_as(top(1, "zebra")).await.related.len(), 2, "without a filter");
    let some = |text: &str| Some(text.to_owned());
    for filter in [
        RecallDraft { source: some("WORK"), ..top(1, "zebra") },
        RecallDraft { author: some("cleo"), ..top(1, "zebra") },
        RecallDraft { context: some("note"), ..top(1, "zebra") },
        RecallDraft { tags: vec!["t1".into()], ..top(1, "zebra") },
        RecallDraft { date_to: some("2026-01-31"), ..top(1, "zebra") },
        RecallDraft { min_importance: Some(0.5), ..top(1, "zebra") },
    ] {
        let answer = f.recall_as(filter.clone()).await;
        assert_eq!(told(&answer), [("same_actor:Ann", "Execution by Ann")], "{filter:?}");
        let ann = answer.entities.iter().find(|entity| entity.name == "Ann").expect("who acts");
        assert_eq!((ann.mention_count, ann.aliases.len()), (2, 0), "{filter:?}");
    }
    let all = f.recall_as(top(1, "zebra")).await;
    let ann = all.entities.iter().find(|entity| entity.name == "Ann").expect("who acts");
    assert!(ann.mention_count > 2 && ann.aliases == ["Annie"], "{ann:?}");
}

#[tokio::test]
async fn related_events_under_a_filter_stay_in_the_conversation() {
    let f = light(line_reader()).await;
    f.remember("Decision by Ann on Apollo").await;
    f.remember_as(memory_tests::turn("talk", 0, "Ann", "Zebra.\nFeedback by Ann")).await;
    f.remember_as(memory_tests::turn("talk", 1, "Ann", "Change by Ann")).await;
    f.drain().await;
    let inside = RecallDraft { conversation_id: Some("talk".into()), ..top(1, "zebra") };
    assert_eq!(told(&f.recall_as(inside).await), [("same_actor:Ann", "Change by Ann")]);
}
