//! Writing to the graph under its rules, looking over it, and the versions of observations, in the store.

use memory_core::authoring::{EntityDraft, RelationDraft};
use memory_core::graph::{
    EntityObservations, GraphEntity, GraphRelation, GraphScope, ObservationHandle, PageRequest, ThreadId,
    Weights,
};
use memory_engine::graph::{HistoryRequest, ObservationUpdate, RelationPath};
use memory_store::graph::Ranges;
use memory_tests::Fixture;

async fn fixture() -> Fixture {
    Fixture::without_model(std::sync::Arc::new(memory_extraction::RulesExtractor::new())).await
}

fn thread(name: &str) -> GraphScope {
    GraphScope::Thread(ThreadId::new(name).expect("a thread id"))
}

/// An entity of a type with observations and relations (`type target`).
fn entity(name: &str, observations: &[&str], relations: &[(&str, &str)]) -> EntityDraft {
    EntityDraft {
        name: name.to_owned(),
        entity_type: "Service".to_owned(),
        observations: observations.iter().map(ToString::to_string).collect(),
        relations: relations
            .iter()
            .map(|(relation_type, target)| RelationDraft {
                target: (*target).to_owned(),
                relation_type: (*relation_type).to_owned(),
                ..RelationDraft::default()
            })
            .collect(),
        ..EntityDraft::default()
    }
}

fn root(name: &str) -> EntityDraft {
    EntityDraft { is_root: true, ..entity(name, &["It stands alone"], &[]) }
}

async fn names(fixture: &Fixture, scope: &GraphScope) -> Vec<String> {
    let page = fixture
        .memory
        .graph()
        .read_graph(&fixture.ns, scope, PageRequest::default())
        .await
        .expect("it is read");
    page.entities.into_iter().map(|e| e.entity.name).collect()
}

#[tokio::test]
async fn one_bad_entity_keeps_all_out_and_every_problem_is_told() {
    let fixture = fixture().await;
    let scope = thread("project");
    let drafts = [
        entity("Valid", &["It is good"], &[("uses", "Bad")]),
        entity("Bad", &["", &"a".repeat(301), "One. Two. Three. Four."], &[("uses", "Nobody")]),
        entity("Lonely", &["It has no relation"], &[]),
    ];
    let saved = fixture.memory.graph().save_memory(&fixture.ns, &scope, &drafts).await.unwrap();
    assert_eq!(saved.version, None);
    let checked = saved.answer.checked;
    assert!(checked.entities[0].is_valid());
    let bad = checked.entities[1].errors.join("\n");
    for part in ["Observation 0: Cannot be empty", "301 characters", "4, at most 3", "'Nobody' not found"] {
        assert!(bad.contains(part), "{part} in {bad}");
    }
    assert!(checked.entities[2].errors[0].contains("at least 1 relation"), "{checked:?}");
    assert!(names(&fixture, &scope).await.is_empty());
    // The dry run says the same in the same words.
    let validated = fixture.memory.graph().validate_memory(&fixture.ns, &scope, &drafts).await.unwrap();
    assert_eq!(validated, checked);
}

#[tokio::test]
async fn a_relation_may_point_to_what_an_earlier_call_saved_but_never_into_another_thread() {
    let fixture = fixture().await;
    let (here, there) = (thread("here"), thread("there"));
    let first = fixture.memory.graph().save_memory(&fixture.ns, &here, &[root("ServiceA")]).await.unwrap();
    assert_eq!((first.answer.new_entities, first.answer.new_relations), (1, 0));
    let second = [entity("ServiceB", &["It calls the first"], &[("calls", "ServiceA")])];
    let elsewhere = fixture.memory.graph().save_memory(&fixture.ns, &there, &second).await.unwrap().answer;
    assert!(elsewhere.checked.entities[0].errors[0].contains("'ServiceA' not found"), "{elsewhere:?}");
    let saved = fixture.memory.graph().save_memory(&fixture.ns, &here, &second).await.unwrap().answer;
    assert_eq!((saved.new_entities, saved.new_relations), (1, 1));
    assert_eq!(names(&fixture, &here).await, ["ServiceA", "ServiceB"]);
    assert!(names(&fixture, &there).await.is_empty());
    let typo = [entity("ServiceC", &["It calls the second"], &[("calls", "serviceb")])];
    let refused = fixture.memory.graph().save_memory(&fixture.ns, &here, &typo).await.unwrap().answer;
    assert!(refused.checked.entities[0].errors[0].contains("Did you mean 'ServiceB'"), "{refused:?}");
}

#[tokio::test]
async fn saving_again_appends_what_is_new_and_changes_nothing_else() {
    let fixture = fixture().await;
    let scope = thread("again");
    let both =
        [entity("A", &["First fact"], &[("uses", "B")]), entity("B", &["Other fact"], &[("used by", "A")])];
    let first = fixture.memory.graph().save_memory(&fixture.ns, &scope, &both).await.unwrap();
    let same = fixture.memory.graph().save_memory(&fixture.ns, &scope, &both).await.unwrap();
    assert_eq!(same.version, None, "nothing changed");
    assert_eq!(same.answer.ids, first.answer.ids);
    assert_eq!((same.answer.new_entities, same.answer.new_relations), (0, 0));
    let more = [EntityDraft {
        importance: Some(0.9),
        ..entity("A", &["Second fact", "First fact"], &[("owns", "B")])
    }];
    let saved = fixture.memory.graph().save_memory(&fixture.ns, &scope, &more).await.unwrap().answer;
    assert_eq!((saved.new_entities, saved.new_relations), (0, 1));
    let page = fixture
        .memory
        .graph()
        .open_nodes(&fixture.ns, &scope, &["A".to_owned()], PageRequest::default())
        .await
        .unwrap();
    assert_eq!(page.entities[0].entity.observations, ["First fact", "Second fact"]);
    assert_eq!(page.relations.len(), 3);
    let analytics = fixture.memory.graph().analytics(&fixture.ns, &scope).await.unwrap();
    assert_eq!(analytics.top_important[0].name, "A");
    assert!((analytics.top_important[0].importance - 0.9).abs() < 1e-6);
    assert_eq!(analytics.recent_changes[0].name, "A");
    assert!(!analytics.recent_changes[0].is_new && analytics.recent_changes[1].is_new);
}

async fn with_one_observation(fixture: &Fixture, scope: &GraphScope) -> ObservationHandle {
    let drafts = [EntityDraft { confidence: Some(0.8), ..root("Scripts") }];
    fixture.memory.graph().save_memory(&fixture.ns, scope, &drafts).await.expect("it is answered");
    let history = fixture
        .memory
        .graph()
        .observation_history(&fixture.ns, scope, "Scripts", None, HistoryRequest::default())
        .await
        .expect("it is answered")
        .versions;
    assert_eq!(history.len(), 1);
    history[0].handle
}

fn update(handle: ObservationHandle, content: &str) -> ObservationUpdate {
    ObservationUpdate {
        entity_name: "Scripts".to_owned(),
        handle,
        content: content.to_owned(),
        confidence: None,
        importance: None,
    }
}

#[tokio::test]
async fn an_update_supersedes_the_latest_version_and_keeps_the_place_and_the_old_ones() {
    let fixture = fixture().await;
    let (memory, ns) = (&fixture.memory, &fixture.ns);
    let scope = thread("versions");
    let first = with_one_observation(&fixture, &scope).await;
    let added = EntityObservations { entity_name: "Scripts".into(), contents: vec!["A later one".into()] };
    memory.graph().add_observations(ns, &scope, vec![added], Weights::default()).await.unwrap();
    let second = memory.graph().update_observation(ns, &scope, &update(first, "Uses 1.1")).await.unwrap();
    // Any version names the observation; the latest is superseded.
    let third = memory.graph().update_observation(ns, &scope, &update(first, "Uses 1.2")).await.unwrap();
    let unchanged = memory.graph().update_observation(ns, &scope, &update(first, "Uses 1.2")).await.unwrap();
    assert_eq!((unchanged.version, unchanged.answer.handle), (None, third.answer.handle));
    let history = memory
        .graph()
        .observation_history(ns, &scope, "Scripts", Some(second.answer.handle), HistoryRequest::default())
        .await
        .unwrap()
        .versions;
    let told: Vec<_> = history.iter().map(|v| (v.version, v.content.as_str(), v.is_current)).collect();
    assert_eq!(told, [(1, "It stands alone", false), (2, "Uses 1.1", false), (3, "Uses 1.2", true)]);
    assert_eq!(history[1].supersedes, Some(first));
    assert_eq!(history[1].superseded_by, Some(third.answer.handle));
    assert!(history.iter().all(|v| (v.weights.confidence - 0.8).abs() < 1e-6), "{history:?}");
    let page =
        memory.graph().open_nodes(ns, &scope, &["Scripts".to_owned()], PageRequest::default()).await.unwrap();
    assert_eq!(page.entities[0].entity.observations, ["Uses 1.2", "A later one"]);
    let old = memory.graph().search_nodes(ns, &scope, "Uses 1.1", PageRequest::default()).await.unwrap();
    assert!(old.entities.is_empty(), "only current observations are found");
    // Deleting it by its text deletes the whole chain.
    let doomed = EntityObservations { entity_name: "Scripts".into(), contents: vec!["Uses 1.2".into()] };
    memory.graph().delete_observations(ns, &scope, &[doomed]).await.unwrap();
    assert_eq!(
        memory
            .graph()
            .observation_history(ns, &scope, "Scripts", None, HistoryRequest::default())
            .await
            .unwrap()
            .versions
            .len(),
        1
    );
}

#[tokio::test]
async fn an_update_of_what_is_not_there_is_refused_with_a_way_out() {
    let fixture = fixture().await;
    let (memory, ns) = (&fixture.memory, &fixture.ns);
    let scope = thread("refused");
    let handle = with_one_observation(&fixture, &scope).await;
    let foreign =
        memory.graph().update_observation(ns, &thread("other"), &update(handle, "New")).await.unwrap_err();
    assert!(foreign.to_string().starts_with("Entity with name Scripts not found"), "{foreign}");
    let unknown = memory
        .graph()
        .update_observation(ns, &scope, &update(ObservationHandle(7), "New"))
        .await
        .unwrap_err();
    assert!(unknown.to_string().contains("obs_0000000000000007"), "{unknown}");
    let added = EntityObservations { entity_name: "Scripts".into(), contents: vec!["Twin".into()] };
    memory.graph().add_observations(ns, &scope, vec![added], Weights::default()).await.unwrap();
    let twin = memory.graph().update_observation(ns, &scope, &update(handle, "Twin")).await.unwrap_err();
    assert!(twin.to_string().contains("has this observation already"), "{twin}");
}

#[tokio::test]
async fn twenty_updates_at_once_make_one_chain_of_all() {
    let fixture = fixture().await;
    let scope = thread("chain");
    let handle = with_one_observation(&fixture, &scope).await;
    let mut updates = tokio::task::JoinSet::new();
    for n in 0..20 {
        let (memory, ns, scope) = (fixture.memory.clone(), fixture.ns.clone(), scope.clone());
        updates.spawn(async move {
            memory
                .graph()
                .update_observation(&ns, &scope, &update(handle, &format!("Version {n}")))
                .await
                .unwrap();
        });
    }
    updates.join_all().await;
    let history = fixture
        .memory
        .graph()
        .observation_history(&fixture.ns, &scope, "Scripts", None, HistoryRequest::default())
        .await
        .unwrap()
        .versions;
    assert_eq!(history.iter().map(|v| v.version).collect::<Vec<_>>(), (1..=21).collect::<Vec<_>>());
    assert_eq!(history.iter().filter(|v| v.is_current).count(), 1);
    assert!(history.windows(2).all(|pair| pair[1].supersedes == Some(pair[0].handle)));
}

async fn graph_of(fixture: &Fixture, scope: &GraphScope, edges: &[(&str, &str)]) {
    let mut names: Vec<&str> = edges.iter().flat_map(|(from, to)| [*from, *to]).collect();
    names.sort_unstable();
    names.dedup();
    let entities = names
        .iter()
        .map(|name| GraphEntity { name: (*name).into(), entity_type: "Node".into(), observations: vec![] })
        .collect();
    fixture.memory.graph().create_entities(&fixture.ns, scope, entities).await.expect("it is stored");
    let relations = edges
        .iter()
        .map(|(from, to)| GraphRelation {
            from: (*from).into(),
            to: (*to).into(),
            relation_type: "to".into(),
        })
        .collect();
    fixture.memory.graph().create_relations(&fixture.ns, scope, relations).await.expect("it is stored");
}

#[tokio::test]
async fn the_shortest_path_is_found_within_its_depth_and_its_thread() {
    let fixture = fixture().await;
    let (memory, ns) = (&fixture.memory, &fixture.ns);
    let scope = thread("paths");
    let edges = [
        ("a", "b"),
        ("b", "c"),
        ("c", "d"),
        ("e", "d"),
        ("a", "x"),
        ("x", "y"),
        ("y", "z"),
        ("z", "e"),
        ("q", "r"),
    ];
    graph_of(&fixture, &scope, &edges).await;
    let path = async |from: &str, to: &str, depth| {
        memory.graph().find_relation_path(ns, &scope, from, to, depth).await
    };
    let RelationPath::Found(steps) = path("a", "e", 5).await.unwrap() else { panic!("a path") };
    let told: Vec<_> =
        steps.iter().map(|s| (s.relation.from.as_str(), s.relation.to.as_str(), s.is_forward)).collect();
    assert_eq!(steps.len(), 4);
    assert!(
        told == [("a", "b", true), ("b", "c", true), ("c", "d", true), ("e", "d", false)]
            || told == [("a", "x", true), ("x", "y", true), ("y", "z", true), ("z", "e", true)],
        "{told:?}"
    );
    let RelationPath::Found(back) = path("d", "a", 5).await.unwrap() else { panic!("a path") };
    assert!(back.len() == 3 && back.iter().all(|step| !step.is_forward), "{back:?}");
    assert_eq!(path("a", "e", 3).await.unwrap(), RelationPath::NotFound(Vec::new()));
    assert_eq!(path("a", "q", 20).await.unwrap(), RelationPath::NotFound(Vec::new()));
    assert_eq!(path("a", "a", 5).await.unwrap(), RelationPath::Found(vec![]));
    assert!(path("a", "A", 5).await.unwrap_err().to_string().starts_with("Entity with name A not found"));
    let elsewhere = memory.graph().find_relation_path(ns, &thread("none"), "a", "b", 5).await;
    assert!(elsewhere.unwrap_err().to_string().starts_with("Entity with name a not found"));
}

#[tokio::test]
async fn analytics_tell_connections_and_orphans_of_one_thread() {
    let fixture = fixture().await;
    let (memory, ns) = (&fixture.memory, &fixture.ns);
    let scope = thread("figures");
    graph_of(&fixture, &scope, &[("hub", "a"), ("hub", "b"), ("c", "hub"), ("a", "a")]).await;
    graph_of(&fixture, &thread("other"), &[("hub", "elsewhere")]).await;
    memory.graph().save_memory(ns, &scope, &[root("Root")]).await.unwrap();
    let alone = GraphEntity { name: "alone".into(), entity_type: "Node".into(), observations: vec![] };
    memory.graph().create_entities(ns, &scope, vec![alone]).await.unwrap();
    let broken = GraphRelation { from: "b".into(), to: "nowhere".into(), relation_type: "to".into() };
    memory.graph().create_relations(ns, &scope, vec![broken]).await.unwrap();
    let analytics = memory.graph().analytics(ns, &scope).await.unwrap();
    let hub = &analytics.most_connected[0];
    assert_eq!((hub.name.as_str(), hub.relation_count), ("hub", 3));
    assert_eq!(hub.connected_to, ["a", "b", "c"]);
    let orphans: Vec<_> =
        analytics.orphaned_entities.iter().map(|o| (o.name.as_str(), o.reason.as_str())).collect();
    assert_eq!(orphans, [("b", "broken_relation"), ("alone", "no_relations")]);
    assert_eq!(analytics.recent_changes.len(), 6);
    let empty = memory.graph().analytics(ns, &thread("empty")).await.unwrap();
    assert!(empty.recent_changes.is_empty() && empty.orphaned_entities.is_empty());
}

#[tokio::test]
async fn lists_and_ranges_go_by_page_and_find_exactly_what_fits() {
    let fixture = fixture().await;
    let (memory, ns) = (&fixture.memory, &fixture.ns);
    let scope = thread("ranges");
    let weighed = |name: &str, confidence, importance| EntityDraft {
        confidence: Some(confidence),
        importance: Some(importance),
        ..root(name)
    };
    let drafts: Vec<EntityDraft> =
        (0..10).map(|n| weighed(&format!("Node_{n}%"), f64::from(n) / 10.0, 0.5)).collect();
    memory.graph().save_memory(ns, &scope, &drafts).await.unwrap();
    let ranges = Ranges { min_confidence: Some(0.25), max_confidence: Some(0.7), ..Ranges::default() };
    let mut found = Vec::new();
    let mut request = PageRequest::new(Some(2), None, None).unwrap();
    loop {
        let page = memory.graph().query_nodes(ns, &scope, &ranges, request).await.unwrap();
        found.extend(page.entities.iter().map(|e| e.name.clone()));
        assert!(page.entities.iter().all(|e| e.observations.len() == 1));
        match page.next {
            Some(next) => request.cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(found, ["Node_3%", "Node_4%", "Node_5%", "Node_6%", "Node_7%"]);
    let late = Ranges { created_from: Some("2100-01-01T00:00:00Z".parse().unwrap()), ..Ranges::default() };
    assert!(
        memory
            .graph()
            .query_nodes(ns, &scope, &late, PageRequest::default())
            .await
            .unwrap()
            .entities
            .is_empty()
    );
    let listed = async |entity_type, part| {
        let page = memory
            .graph()
            .list_entities(ns, &scope, entity_type, part, PageRequest::default())
            .await
            .unwrap();
        page.entities.len()
    };
    assert_eq!(listed(None, Some("node_")).await, 10);
    assert_eq!(listed(None, Some("e_1%")).await, 1);
    assert_eq!(listed(None, Some("x%1")).await, 0);
    assert_eq!(listed(Some("SERVICE"), None).await, 10);
    assert_eq!(listed(Some("Serv"), None).await, 0);
}

#[tokio::test]
async fn likely_duplicates_are_suggested_and_nothing_is_changed() {
    let fixture = fixture().await;
    let (memory, ns) = (&fixture.memory, &fixture.ns);
    let scope = thread("merges");
    let drafts = [root("user-service"), root("UserService"), root("Server 1"), root("Server 2")];
    memory.graph().save_memory(ns, &scope, &drafts).await.unwrap();
    let merges = memory.graph().suggest_merges(ns, &scope, 10).await.unwrap();
    let pairs: Vec<_> = merges.candidates.iter().map(|c| (c.a.as_str(), c.b.as_str())).collect();
    assert_eq!(pairs, [("UserService", "user-service")]);
    assert!(!merges.is_cut);
    assert_eq!(names(&fixture, &scope).await.len(), 4);
}
