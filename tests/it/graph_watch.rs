//! Watching graphs: watchers are notified of a change, whichever process made it, and of nothing else.

use std::sync::Arc;
use std::time::Duration;

use memory_core::graph::{GraphEntity, GraphRelation, GraphScope, ThreadId};
use memory_core::id::Namespace;
use memory_engine::graph::GraphWatch;
use memory_engine::{EngineSettings, Memory};
use memory_tests::{Fixture, at_once};
use tokio::task::{AbortHandle, JoinSet};

use crate::graph_files::Filed;
use crate::graph_shorthand::whole;
use crate::shorthand::{light_sibling, store};
use crate::stand_ins::line_reader;

/// So long nothing may come that is not to come.
const QUIET: Duration = Duration::from_millis(400);

fn entity(name: &str) -> GraphEntity {
    GraphEntity { name: name.to_owned(), entity_type: "person".to_owned(), observations: Vec::new() }
}

async fn create(memory: &Memory, ns: &Namespace, scope: &GraphScope, name: &str) {
    memory.graph().create_entities(ns, scope, vec![entity(name)]).await.expect("it is created");
}

async fn watch(memory: &Memory, ns: &Namespace, scope: &GraphScope) -> GraphWatch {
    memory.graph().watch(ns, scope).await.expect("it is watched")
}

async fn changes(watch: &mut GraphWatch) {
    tokio::time::timeout(Duration::from_secs(10), watch.changed()).await.expect("the change is told");
}

async fn is_quiet(watch: &mut GraphWatch) -> bool {
    tokio::time::timeout(QUIET, watch.changed()).await.is_err()
}

/// Looks after watched graphs until the set is dropped.
fn followed(memory: &Arc<Memory>) -> (JoinSet<()>, AbortHandle) {
    let mut tasks = JoinSet::new();
    let memory = Arc::clone(memory);
    let handle = tasks.spawn(async move { memory.graph().follow_changes().await });
    (tasks, handle)
}

#[tokio::test]
async fn every_watcher_of_a_graph_is_told_of_a_change_once_and_watchers_of_others_are_not() {
    let f = Fixture::without_model(line_reader()).await;
    let (_following, _) = followed(&f.memory);
    let scope = GraphScope::default();
    let (other_ns, other_thread) =
        (Namespace::new("other").expect("valid"), GraphScope::Thread(ThreadId::new("other").expect("valid")));
    let mut watches = [watch(&f.memory, &f.ns, &scope).await, watch(&f.memory, &f.ns, &scope).await];
    let mut others =
        [watch(&f.memory, &other_ns, &scope).await, watch(&f.memory, &f.ns, &other_thread).await];
    create(&f.memory, &f.ns, &scope, "Ann").await;
    for watch in &mut watches {
        changes(watch).await;
        assert!(is_quiet(watch).await, "one change was told twice");
    }
    for other in &mut others {
        assert!(is_quiet(other).await, "a change of another graph was told");
    }
    // What changes nothing is no change.
    create(&f.memory, &f.ns, &scope, "Ann").await;
    f.memory.graph().delete_relations(&f.ns, &scope, &[]).await.expect("nothing to do");
    assert!(is_quiet(&mut watches[0]).await);
    create(&f.memory, &other_ns, &scope, "Ann").await;
    create(&f.memory, &f.ns, &other_thread, "Ann").await;
    for other in &mut others {
        changes(other).await;
    }
    assert!(is_quiet(&mut watches[1]).await);
}

#[tokio::test]
async fn many_changes_in_a_row_are_told_as_few_and_the_last_is_never_lost() {
    let f = Fixture::without_model(line_reader()).await;
    let (_following, _) = followed(&f.memory);
    let scope = GraphScope::default();
    let mut told = watch(&f.memory, &f.ns, &scope).await;
    for n in 0..50 {
        create(&f.memory, &f.ns, &scope, &format!("Ann {n}")).await;
    }
    let last = whole(&f.memory, &f.ns, &scope).await.version;
    let mut times = 0;
    while !is_quiet(&mut told).await {
        times += 1;
    }
    assert!((1..25).contains(&times), "told {times} times of 50 changes");
    assert_eq!(last, 50);
    create(&f.memory, &f.ns, &scope, "Zoe").await;
    changes(&mut told).await;
}

#[tokio::test]
async fn a_change_of_another_process_is_told_by_its_hint_and_by_looking() {
    let f = Fixture::without_model(line_reader()).await;
    let scope = GraphScope::default();
    // Without hints it would not look again within a test.
    let by_hints_only = EngineSettings { poll_interval: Duration::from_hours(1), ..at_once() };
    let hearing = Arc::new(Memory::new(store(&f).await, line_reader(), by_hints_only));
    let looking = light_sibling(&f, line_reader()).await;
    let (_following, _) = followed(&hearing);
    let (_looking_on, _) = followed(&looking);
    let mut heard = watch(&hearing, &f.ns, &scope).await;
    let mut seen = watch(&looking, &f.ns, &scope).await;
    // Both follow when a first change has reached them.
    create(&hearing, &f.ns, &scope, "Ann").await;
    changes(&mut heard).await;
    changes(&mut seen).await;
    assert!(is_quiet(&mut heard).await);

    create(&f.memory, &f.ns, &scope, "Ben").await;
    changes(&mut seen).await;
    assert!(is_quiet(&mut heard).await, "it was told without a hint");
    let mut forwarding = JoinSet::new();
    let memory = Arc::clone(&f.memory);
    forwarding.spawn(async move { memory.forward_hints().await });
    changes(&mut heard).await;
    create(&f.memory, &f.ns, &scope, "Cid").await;
    changes(&mut heard).await;
}

#[tokio::test]
async fn nobody_is_told_of_what_was_there_before() {
    let f = Fixture::without_model(line_reader()).await;
    let scope = GraphScope::default();
    create(&f.memory, &f.ns, &scope, "Ann").await;
    let (_following, follower) = followed(&f.memory);
    let mut early = watch(&f.memory, &f.ns, &scope).await;
    assert!(is_quiet(&mut early).await);
    // Without watchers the map falls behind, and a later watcher starts from the database.
    follower.abort();
    create(&f.memory, &f.ns, &scope, "Ben").await;
    let mut late = watch(&f.memory, &f.ns, &scope).await;
    let (_following, _) = followed(&f.memory);
    changes(&mut early).await;
    assert!(is_quiet(&mut late).await);
}

#[tokio::test]
async fn places_of_watchers_are_limited_and_given_back() {
    let f = Fixture::without_model(line_reader()).await;
    let scope = GraphScope::default();
    let mut watches = Vec::new();
    for _ in 0..1_000 {
        watches.push(watch(&f.memory, &f.ns, &scope).await);
    }
    let refused = f.memory.graph().watch(&f.ns, &scope).await.err().expect("it is refused");
    assert!(refused.to_string().contains("1000 subscribers"), "{refused}");
    watches.truncate(999);
    watch(&f.memory, &f.ns, &scope).await;
}

#[tokio::test]
async fn a_graph_is_given_whole_up_to_a_size_and_never_refused_below_it() {
    let f = Fixture::without_model(line_reader()).await;
    let scope = GraphScope::default();
    let within =
        async |bytes| f.memory.graph().read_whole_within(&f.ns, &scope, bytes).await.expect("it is read");
    assert_eq!(within(0).await, Some(whole(&f.memory, &f.ns, &scope).await));
    let people = (0..30).map(|n| GraphEntity {
        observations: vec![format!("Counts to {n} «ä» \"quoted\"\n"); n % 4],
        ..entity(&format!("Ann {n}"))
    });
    let relations = (0..20).map(|n| GraphRelation {
        from: format!("Ann {n}"),
        to: format!("Ann {}", n + 1),
        relation_type: "knows".to_owned(),
    });
    f.memory.graph().create_entities(&f.ns, &scope, people.collect()).await.expect("they are created");
    f.memory.graph().create_relations(&f.ns, &scope, relations.collect()).await.expect("they are created");
    let whole = whole(&f.memory, &f.ns, &scope).await;
    let entities: Vec<_> = whole
        .entities
        .iter()
        .map(|e| serde_json::json!({"name": e.name, "entityType": e.entity_type, "observations": e.observations}))
        .collect();
    let relations: Vec<_> = whole
        .relations
        .iter()
        .map(|r| serde_json::json!({"from": r.from, "to": r.to, "relationType": r.relation_type}))
        .collect();
    let json_bytes =
        serde_json::json!({"entities": entities, "relations": relations}).to_string().len() as u64;
    assert_eq!(within(json_bytes).await, Some(whole));
    for bytes in [0, 1, 1_000, json_bytes / 2] {
        assert_eq!(within(bytes).await, None, "{bytes} of {json_bytes}");
    }
}

#[tokio::test]
async fn a_watcher_of_a_file_is_told_of_what_an_editor_writes_there() {
    let g = Filed::new().await;
    let (_following, _) = followed(&g.f.memory);
    g.create(vec![entity("Ann")]).await;
    let mut told = watch(&g.f.memory, &g.f.ns, &g.scope).await;
    g.write(&[r#"{"type":"entity","name":"Zoe","entityType":"t","observations":[]}"#]);
    changes(&mut told).await;
    assert_eq!(g.whole().await.entities[0].name, "Zoe");
}
