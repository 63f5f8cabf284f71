//! Merging, splitting and rejecting: what a person decides of two entities, and what it changes.

use memory_engine::recall::RecallDraft;

use crate::entities::{ALL, actor_of, extract_again, id_of, names, pairs, tell, told, typed_reader};
use crate::shorthand::{forget, light, ns, query, rows};

#[tokio::test]
async fn a_merge_that_is_split_again_leaves_everything_as_it_was() {
    let f = told(&[
        "Zebra.\nDecision by Alice Chen on Apollo",
        "Walrus.\nAlice alias @al\nFeedback by Alice",
        "Ostrich.\nAli alias ali@x.org\nChange by Ali",
    ])
    .await;
    let before = rows(&f, ALL).await;
    let (full, short, third) =
        (id_of(&f, "Alice Chen").await, id_of(&f, "Alice").await, id_of(&f, "Ali").await);
    f.memory.entity_review().merge(&f.ns, short, third, false).await.unwrap();
    f.memory.entity_review().merge(&f.ns, full, short, false).await.unwrap();
    let answer = f.recall_as(RecallDraft { limit: Some(1), ..query("zebra") }).await;
    let alice = &answer.entities[0];
    assert_eq!((alice.name.as_str(), alice.mention_count), ("Alice Chen", 7));
    assert_eq!(alice.aliases, ["@al", "Ali", "Alice", "ali@x.org"]);
    assert!(alice.possibly_same.is_empty(), "{alice:?}");
    let mut related: Vec<_> =
        answer.related.iter().map(|r| (r.reason.as_str(), r.narrative.as_str())).collect();
    related.sort_unstable();
    assert_eq!(
        related,
        [("same_actor:Alice Chen", "Change by Ali"), ("same_actor:Alice Chen", "Feedback by Alice")]
    );
    let walrus = f.recall_as(RecallDraft { limit: Some(1), ..query("walrus") }).await;
    assert_eq!(walrus.results[0].hit.events[0].actors[0].name, "Alice Chen");
    assert_eq!(f.count("select count(*) from entity where canonical_id is null").await, 2);

    f.memory.entity_review().split(&f.ns, short).await.unwrap();
    assert_eq!(f.count("select count(*) from entity where canonical_id is null").await, 3);
    f.memory.entity_review().split(&f.ns, third).await.unwrap();
    assert_eq!(rows(&f, ALL).await, before);
}

#[tokio::test]
async fn what_is_merged_stays_merged_when_it_is_told_again() {
    let f = told(&["Decision by Alice Chen", "Feedback by Alice"]).await;
    let (full, short) = (id_of(&f, "Alice Chen").await, id_of(&f, "Alice").await);
    f.memory.entity_review().merge(&f.ns, full, short, false).await.unwrap();
    extract_again(&f, "Feedback by Alice").await;
    tell(&f, &["Zebra.\nChange by Alice"]).await;
    let answer = f.recall_as(RecallDraft { limit: Some(1), ..query("zebra") }).await;
    assert_eq!(answer.entities[0].name, "Alice Chen");
    assert_eq!(pairs(&f).await, ["Alice / Alice Chen merged f"]);
}

#[tokio::test]
async fn a_rejected_pair_is_not_doubtful_again_until_that_is_taken_back() {
    let f = light(typed_reader()).await;
    tell(&f, &["Decision by Alice Chen on Project Apollo", "Feedback by Alice"]).await;
    let (full, short) = (id_of(&f, "Alice Chen").await, id_of(&f, "Alice").await);
    let before = rows(&f, ALL).await;
    f.memory.entity_review().reject(&f.ns, full, short).await.unwrap();
    tell(&f, &["Zebra.\nChange by Alice on Project Apollo"]).await;
    assert_eq!(
        actor_of(&f, "Change by Alice on Project Apollo").await,
        "Alice",
        "somebody has said that she is not"
    );
    assert_eq!(pairs(&f).await, ["Alice / Alice Chen rejected f"]);
    assert!(f.recall_as(query("zebra")).await.entities.iter().all(|e| e.possibly_same.is_empty()));
    let zebra = f.recall_as(query("zebra")).await.results.remove(0).hit.artifact_id;
    forget(&f, &zebra).await;
    f.memory.entity_review().reopen(&f.ns, short, full).await.unwrap();
    assert_eq!(rows(&f, ALL).await, before);
    let nothing = f.memory.entity_review().reopen(&f.ns, short, full).await.unwrap_err();
    assert!(nothing.to_string().contains("were not rejected"), "{nothing}");
}

#[tokio::test]
async fn a_decision_that_cannot_be_is_refused_with_what_to_do_instead() {
    let f = told(&[
        "Alice Chen alias alice@a.example\nDecision by Alice Chen",
        "Alice Chen alias alice@b.example\nChange by Alice Chen",
        "Feedback by Bob",
    ])
    .await;
    let a: i64 =
        f.count("select entity_id from entity where name = 'Alice Chen' and distinguisher = ''").await;
    let b: i64 = f.count("select entity_id from entity where distinguisher = 'alice@b.example'").await;
    let bob = id_of(&f, "Bob").await;
    let addresses = f.memory.entity_review().merge(&f.ns, a, b, false).await.unwrap_err().to_string();
    assert!(
        addresses.contains("alice@a.example") && addresses.contains("--different-addresses"),
        "{addresses}"
    );
    f.memory.entity_review().merge(&f.ns, a, b, true).await.unwrap();
    let again = f.memory.entity_review().merge(&f.ns, bob, b, false).await.unwrap_err().to_string();
    assert!(again.contains(&format!("counts as entity {a} already")), "{again}");
    let root = f.memory.entity_review().split(&f.ns, a).await.unwrap_err().to_string();
    assert!(root.contains(&format!("Entity {b} was merged into it: split {b}")), "{root}");
    let merged = f.memory.entity_review().reject(&f.ns, a, b).await.unwrap_err().to_string();
    assert!(merged.contains(&format!("split {b} first")), "{merged}");
    let none = f.memory.entity_review().split(&f.ns, 999).await.unwrap_err().to_string();
    assert!(none.contains("no entity 999 in the namespace 'default'"), "{none}");
    let twice = f.memory.entity_review().merge(&f.ns, bob, bob, false).await.unwrap_err().to_string();
    assert!(twice.contains("given twice"), "{twice}");
    f.memory.entity_review().split(&ns("other"), b).await.expect_err("another namespace has none");
}

#[tokio::test]
async fn what_counts_as_a_forgotten_entity_stands_for_the_rest() {
    let f = told(&["Decision by Alice Chen", "Zebra.\nFeedback by Alice", "Walrus.\nChange by Ali"]).await;
    let (full, short, third) =
        (id_of(&f, "Alice Chen").await, id_of(&f, "Alice").await, id_of(&f, "Ali").await);
    f.memory.entity_review().merge(&f.ns, full, short, false).await.unwrap();
    f.memory.entity_review().merge(&f.ns, full, third, false).await.unwrap();
    let first = f.recall_as(query("decision")).await;
    let first = first.results.iter().find(|r| r.snippet.contains("Chen")).expect("it is there");
    forget(&f, &first.hit.artifact_id).await;
    assert_eq!(names(&f).await, ["Ali", "Alice"], "her name was only in the forgotten text");
    let answer = f.recall_as(RecallDraft { limit: Some(1), ..query("walrus") }).await;
    assert_eq!(answer.entities[0].name, "Alice");
    assert_eq!(answer.entities[0].mention_count, 2);
}
