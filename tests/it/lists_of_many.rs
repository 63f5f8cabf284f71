//! Lists where there is more than is looked at one by one: what stands open behind what has ended, and who is mentioned most.

use memory_core::artifact::Draft;
use memory_engine::entity_review::{EntityFilter, NEWEST_MENTIONS};
use memory_engine::recall::RecallDraft;
use memory_tests::Fixture;

use crate::commitments::promise_reader;
use crate::entities::{id_of, tell};
use crate::shorthand::{execute, forget, light, ns, page};
use crate::stand_ins::line_reader;

/// 1,100 promises that the text `done.md` ends, then 60 that nothing ends, half of them due at one time; all are overdue. Then two that
/// are not due yet, and one without a due time.
async fn promised() -> Fixture {
    let f = light(promise_reader()).await;
    for draft in [
        page("plan.md", "Ann promises to paint the tower due 2001-01-02"),
        page("done.md", "Ann did: painted the tower"),
    ] {
        f.remember_as(draft).await;
        f.drain().await;
    }
    execute(
        &f,
        "insert into semantic_event (namespace, event_id, revision_id, artifact_id, ordinal, category, narrative, due_time, confidence,
             extractor, extractor_version)
         select e.namespace, 'evt_' || lpad(n::text, 6, '0'), e.revision_id, e.artifact_id, n, 'Commitment', 'Promise ' || n,
             case when n <= 1100 then timestamptz '2001-02-01' + make_interval(hours => n)
                  when n <= 1130 then timestamptz '2002-01-01'
                  when n <= 1160 then timestamptz '2002-01-01' + make_interval(hours => n)
                  when n <= 1162 then timestamptz '2100-01-01' + make_interval(hours => n) end, 0.9, 'rules', 1
         from semantic_event e cross join generate_series(1, 1163) n
         where e.category = 'Commitment';
         insert into event_link (namespace, commitment_id, closing_id, kind, score, occurred_at)
         select e.namespace, 'evt_' || lpad(n::text, 6, '0'), e.event_id, case when n % 10 = 0 then 'cancels' else 'fulfils' end, 0.8, now()
         from semantic_event e cross join generate_series(1, 1100) n
         where e.category = 'Execution';",
    )
    .await;
    f
}

/// The events of all pages in a state, one after the other, and the number that the first page tells.
async fn listed(f: &Fixture, state: Option<&str>) -> (Vec<String>, i64) {
    let (mut seen, mut total, mut cursor) = (Vec::new(), None, None);
    loop {
        let answer = f
            .recall_as(RecallDraft {
                categories: vec!["Commitment".into()],
                state: state.map(str::to_owned),
                limit: Some(50),
                cursor,
                ..RecallDraft::default()
            })
            .await;
        total = total.or(answer.total_events);
        seen.extend(answer.results.iter().filter_map(|result| result.event_id.clone()).map(|id| id.0));
        cursor = answer.next_cursor;
        if cursor.is_none() {
            return (seen, total.expect("a number"));
        }
    }
}

fn numbered(numbers: impl IntoIterator<Item = i32>) -> Vec<String> {
    numbers.into_iter().map(|n| format!("evt_{n:06}")).collect()
}

#[tokio::test]
async fn what_stands_open_is_listed_and_counted_however_much_has_ended_before_it() {
    let mut f = promised().await;
    assert_eq!(listed(&f, Some("overdue")).await, (numbered(1101..=1160), 60));
    assert_eq!(listed(&f, Some("open")).await, (numbered(1161..=1163), 3));
    let (done, count) = listed(&f, Some("done")).await;
    assert_eq!((done.len(), count), (991, 991), "990, and the tower");
    assert_eq!(listed(&f, Some("cancelled")).await.1, 110);
    let (all, count) = listed(&f, None).await;
    assert_eq!((&all[..63], count), (&numbered(1101..=1163)[..], 1164));
    let own = f.ns.clone();
    f.ns = ns("other");
    assert_eq!(listed(&f, Some("overdue")).await, (vec![], 0));
    f.ns = own;
}

#[tokio::test]
async fn what_an_outdated_or_a_forgotten_text_tells_ends_nothing() {
    let f = promised().await;
    let open: Vec<String> = listed(&f, Some("overdue")).await.0;
    // The text at its place says nothing of it any more.
    f.remember_as(page("done.md", "Nothing is known of the tower.")).await;
    f.drain().await;
    let (overdue, count) = listed(&f, Some("overdue")).await;
    assert_eq!((overdue.len(), count), (1161, 1161));
    assert!(overdue.ends_with(&open) && listed(&f, Some("done")).await == (vec![], 0));
    // Told again, and then forgotten.
    let draft: Draft = page("done.md", "Ann did: painted the tower");
    let told = f.remember_as(draft).await;
    f.drain().await;
    assert_eq!(listed(&f, Some("done")).await.1, 1, "the tower");
    forget(&f, &told.id).await;
    assert_eq!(listed(&f, Some("overdue")).await.1, 1161);
}

async fn most_mentioned(f: &Fixture, limit: i64) -> (Vec<(String, i64)>, i64) {
    let filter = EntityFilter { limit, ..EntityFilter::default() };
    let (entities, total) = f.memory.entity_review().list(&f.ns, &filter).await.expect("a list");
    (entities.into_iter().map(|entity| (entity.name, entity.mention_count)).collect(), total)
}

fn counts(expected: &[(&str, i64)]) -> Vec<(String, i64)> {
    expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

#[tokio::test]
async fn who_is_mentioned_most_is_chosen_among_the_newest_mentions_and_counted_in_all() {
    let mut f = light(line_reader()).await;
    tell(&f, &["Feedback by Ann", "Feedback by Bob", "Feedback by Cid"]).await;
    execute(
        &f,
        "insert into entity_mention (namespace, entity_id, revision_id, start_char, end_char, artifact_id, surface)
         select m.namespace, m.entity_id, m.revision_id, 1000 + n, 1010 + n, m.artifact_id, m.surface
         from entity_mention m join entity e using (namespace, entity_id)
         cross join generate_series(1, case e.name when 'Ann' then 40 when 'Bob' then 30000 else 0 end) n",
    )
    .await;
    const { assert!(NEWEST_MENTIONS < 30_000, "Ann is not among them") };
    assert_eq!(most_mentioned(&f, 2).await, (counts(&[("Bob", 30_001), ("Cid", 1)]), 3));
    assert_eq!(
        most_mentioned(&f, 3).await,
        (counts(&[("Bob", 30_001), ("Ann", 41), ("Cid", 1)]), 3),
        "too few are"
    );
    let (ann, cid) = (id_of(&f, "Ann").await, id_of(&f, "Cid").await);
    f.memory.entity_review().merge(&f.ns, ann, cid, false).await.expect("they are merged");
    let merged = most_mentioned(&f, 2).await;
    assert_eq!((merged.0[1].1, merged.1), (42, 2));
    let bob = memory_core::id::ArtifactId(
        crate::shorthand::rows(&f, "select distinct artifact_id from entity_mention join entity using (namespace, entity_id) where name = 'Bob'")
            .await
            .remove(0),
    );
    forget(&f, &bob).await;
    let left = most_mentioned(&f, 1).await;
    assert_eq!((left.0[0].1, left.1), (42, 1));
    f.ns = ns("other");
    assert_eq!(most_mentioned(&f, 1).await, (vec![], 0));
}

#[tokio::test]
async fn an_entity_is_found_by_its_name_whatever_its_case_and_what_was_merged_is_what_it_counts_as() {
    let mut f = light(line_reader()).await;
    tell(&f, &["Feedback by Ann", "Feedback by Annabel", "Feedback by Cid"]).await;
    let (ann, cid) = (id_of(&f, "Ann").await, id_of(&f, "Cid").await);
    let named = async |f: &Fixture, name: &str| {
        f.memory.entity_review().named(&f.ns, name).await.expect("it is looked up")
    };
    assert_eq!((named(&f, "ANN").await, named(&f, " cid ").await), (Some(ann), Some(cid)));
    assert_eq!(named(&f, "Anna").await, None, "not by a part of a name");
    f.memory.entity_review().merge(&f.ns, ann, cid, false).await.expect("they are merged");
    assert_eq!(named(&f, "Ann").await, named(&f, "Cid").await);
    f.ns = ns("other");
    assert_eq!(named(&f, "Ann").await, None);
}
