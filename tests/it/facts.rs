//! The two memories are one: recall answers with what the knowledge graph says, too.

use memory_core::graph::{GraphReach, GraphScope, ObservationHandle, Weights};
use memory_engine::graph::{HistoryRequest, ObservationUpdate};
use memory_engine::recall::{Fact, RecallDraft};
use memory_tests::Fixture;

use crate::graph_shorthand::{about, entity, relation, thread};
use crate::shorthand::{light, query};
use crate::stand_ins::line_reader;

async fn have_apollo(f: &Fixture, scope: &GraphScope, observations: &[&str]) {
    let entities =
        vec![entity("Apollo", "Project", observations), entity("Ann Lee", "Person", &["Likes green tea"])];
    f.memory.graph().create_entities(&f.ns, scope, entities).await.expect("they are created");
    let relations = vec![relation("Apollo owned_by Ann")];
    f.memory.graph().create_relations(&f.ns, scope, relations).await.expect("they are created");
}

fn said(facts: &[Fact]) -> Vec<&str> {
    facts.iter().map(|fact| fact.stored.observation.as_str()).collect()
}

async fn facts(f: &Fixture, text: &str) -> Vec<Fact> {
    f.recall_as(query(text)).await.facts
}

#[tokio::test]
async fn an_observation_is_found_by_its_meaning_with_its_relations() {
    let f = Fixture::new().await;
    have_apollo(&f, &GraphScope::default(), &["Is written in Rust", "Ships to customers in May"]).await;
    f.drain().await;
    let found = facts(&f, "Which programming language is Apollo made with?").await;
    let first = &found[0];
    assert_eq!(first.stored.observation, "Is written in Rust", "{found:?}");
    assert_eq!((first.stored.entity.as_str(), first.stored.entity_type.as_str()), ("Apollo", "Project"));
    assert_eq!(first.stored.relations, [relation("Apollo owned_by Ann")]);
    assert!(first.score.is_some_and(|score| score > 0.5) && first.stored.thread == "default");
    assert!(
        !said(&facts(&f, "Where do the penguins of Antarctica breed?").await).contains(&"Likes green tea")
    );
}

#[tokio::test]
async fn without_a_model_an_observation_is_found_by_its_words_and_its_entitys_name() {
    let f = Fixture::without_model(line_reader()).await;
    have_apollo(&f, &GraphScope::default(), &["Is written in Rust"]).await;
    f.drain().await;
    assert_eq!(said(&facts(&f, "rust").await), ["Is written in Rust"]);
    assert_eq!(said(&facts(&f, "apollo").await), ["Is written in Rust"]);
    assert!(facts(&f, "submarine").await.is_empty());
    let gone = vec![about("Apollo", &["Is written in Rust"])];
    f.memory.graph().delete_observations(&f.ns, &GraphScope::default(), &gone).await.expect("it is deleted");
    let new = vec![about("Apollo", &["Is written in Haskell"])];
    f.memory
        .graph()
        .add_observations(&f.ns, &GraphScope::default(), new, Weights::default())
        .await
        .expect("it is added");
    f.drain().await;
    assert_eq!(said(&facts(&f, "haskell").await), ["Is written in Haskell"], "it did not wait for the model");
    assert!(facts(&f, "rust").await.is_empty());
}

#[tokio::test]
async fn only_what_is_current_is_shown_even_before_it_is_indexed_again() {
    let f = light(line_reader()).await;
    let scope = GraphScope::default();
    have_apollo(&f, &scope, &["Ships in May"]).await;
    f.drain().await;
    assert_eq!(said(&facts(&f, "ships in may").await), ["Ships in May"]);
    let history = f
        .memory
        .graph()
        .observation_history(&f.ns, &scope, "Apollo", None, HistoryRequest::default())
        .await
        .expect("a history")
        .versions;
    let update = ObservationUpdate {
        entity_name: "Apollo".into(),
        handle: ObservationHandle(history[0].handle.0),
        content: "Ships in June".into(),
        confidence: None,
        importance: None,
    };
    f.memory.graph().update_observation(&f.ns, &scope, &update).await.expect("it is updated");
    assert!(!said(&facts(&f, "ships in may").await).contains(&"Ships in May"));
    f.drain().await;
    assert_eq!(said(&facts(&f, "ships in june").await), ["Ships in June"]);
    let passages = "select count(*) from passage where observation is not null";
    assert_eq!(f.count(passages).await, 2, "the former version has none");
    f.memory.graph().delete_entities(&f.ns, &scope, &["Apollo".to_owned()]).await.expect("it is deleted");
    assert_eq!(f.count(passages).await, 1);
    assert!(said(&facts(&f, "ships in june").await).is_empty());
    f.drain().await;
    assert_eq!(f.count("select count(*) from event_jobs where status <> 'DONE'").await, 0);
}

#[tokio::test]
async fn entities_of_the_results_bring_their_facts_and_are_linked_to_the_graphs() {
    let f = light(line_reader()).await;
    let scope = GraphScope::default();
    have_apollo(&f, &scope, &["Is written in Rust"]).await;
    f.remember("Decision by Ann Lee on the budget").await;
    f.drain().await;
    let answer = f.recall_as(query("budget")).await;
    let facts = said(&answer.facts);
    assert!(facts.contains(&"Likes green tea") && !facts.contains(&"Is written in Rust"), "{facts:?}");
    let ann = answer.entities.iter().position(|entity| entity.name == "Ann Lee").expect("she is there");
    let link = &answer.links[ann][0];
    assert_eq!((link.name.as_str(), link.thread.as_str()), ("Ann Lee", "default"));
    assert!(link.score > 0.9 && link.score < 1.0);
    assert_eq!(f.count("select count(*) from entity").await, 2, "nothing was merged or copied");
}

#[tokio::test]
async fn a_thread_narrows_the_facts_and_a_filter_on_texts_leaves_them_out() {
    let f = light(line_reader()).await;
    have_apollo(&f, &GraphScope::default(), &["Is written in Rust"]).await;
    have_apollo(&f, &thread("team a"), &["Is written in Haskell"]).await;
    f.drain().await;
    let both = facts(&f, "apollo is written in").await;
    assert!(said(&both).contains(&"Is written in Rust") && said(&both).contains(&"Is written in Haskell"));
    let narrowed = RecallDraft { graph: GraphReach::One(thread("team a")), ..query("apollo is written in") };
    let answer = f.recall_as(narrowed).await;
    assert!(said(&answer.facts).contains(&"Is written in Haskell"));
    assert!(answer.facts.iter().all(|fact| fact.stored.thread == "team a"), "{:?}", answer.facts);
    let nobody = RecallDraft { graph: GraphReach::One(thread("nobody")), ..query("apollo is written in") };
    assert!(f.recall_as(nobody).await.facts.is_empty());
    let filtered = RecallDraft { author: Some("Ann".into()), ..query("apollo is written in") };
    assert!(f.recall_as(filtered).await.facts.is_empty());
    let other = crate::shorthand::ns("other");
    let request = memory_engine::recall::RecallRequest::new(query("apollo")).expect("a request");
    assert!(f.memory.recall(&other, &request).await.expect("an answer").facts.is_empty());
}

#[tokio::test]
async fn many_observations_never_crowd_out_the_texts() {
    let f = light(line_reader()).await;
    let scope = GraphScope::default();
    let note = f.remember("The pump in the cellar is broken.").await.id;
    let observations: Vec<String> =
        (0..400).map(|n| format!("The pump in the cellar is number {n}")).collect();
    f.memory.graph().create_entities(&f.ns, &scope, vec![entity("Pumps", "t", &[])]).await.expect("created");
    let contents: Vec<&str> = observations.iter().map(String::as_str).collect();
    let all = vec![about("Pumps", &contents)];
    f.memory.graph().add_observations(&f.ns, &scope, all, Weights::default()).await.expect("added");
    f.drain().await;
    let answer = f.recall_as(query("pump in the cellar")).await;
    assert_eq!(answer.results.iter().map(|r| &r.hit.artifact_id).collect::<Vec<_>>(), [&note]);
    assert!(!answer.facts.is_empty() && answer.facts.len() <= 10);
}
