//! Many writers of one graph: nothing is lost, nothing comes twice, no call waits for ever.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use memory_core::graph::Weights;
use memory_tests::fresh_database;
use memory_tests::process::{DataDir, Server};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::graph_shorthand::{Graph, about, entity, said, thread};
use crate::shorthand::light_sibling;
use crate::stand_ins::line_reader;

#[tokio::test]
async fn twenty_writers_at_once_lose_nothing_and_make_nothing_twice() {
    let graph = Graph::new().await;
    graph.have(&["shared"]).await;
    // Two pools, as two processes have them.
    let memories = [Arc::clone(&graph.f.memory), light_sibling(&graph.f, line_reader()).await];
    let mut writers = JoinSet::new();
    for n in 0..20 {
        let memory = Arc::clone(&memories[n % 2]);
        let (ns, scope) = (graph.ns().clone(), graph.scope.clone());
        writers.spawn(async move {
            let mut created = 0;
            for round in 0..5 {
                let entities = vec![
                    entity(&format!("own-{n}-{round}"), "t", &["x"]),
                    entity(&format!("common-{round}"), "t", &["x"]),
                    entity(&format!("doomed-{n}"), "t", &["x"]),
                ];
                created +=
                    memory.graph().create_entities(&ns, &scope, entities).await.expect("made").answer.len();
                let relations = vec![
                    crate::graph_shorthand::relation(&format!("own-{n}-{round} x shared")),
                    crate::graph_shorthand::relation(&format!("common-{round} x shared")),
                ];
                memory.graph().create_relations(&ns, &scope, relations).await.expect("related");
                let additions =
                    vec![about("shared", &[&format!("seen by {n} in {round}"), &format!("round {round}")])];
                memory
                    .graph()
                    .add_observations(&ns, &scope, additions, Weights::default())
                    .await
                    .expect("added");
                let doomed = [format!("doomed-{n}"), format!("doomed-{}", (n + 1) % 20)];
                memory.graph().delete_entities(&ns, &scope, &doomed).await.expect("deleted");
                memory
                    .graph()
                    .search_nodes(&ns, &scope, "shared", memory_core::graph::PageRequest::default())
                    .await
                    .expect("read");
            }
            created
        });
    }
    let created: usize = writers.join_all().await.into_iter().sum();
    let whole = graph.whole().await;
    let names: BTreeSet<&str> = whole.entities.iter().map(|e| e.name.as_str()).collect();
    let expected: BTreeSet<String> = (0..20)
        .flat_map(|n| (0..5).map(move |round| format!("own-{n}-{round}")))
        .chain((0..5).map(|round| format!("common-{round}")))
        .chain(["shared".to_owned()])
        .collect();
    assert_eq!(names, expected.iter().map(String::as_str).collect());
    assert_eq!(whole.entities.len(), names.len());
    assert!(created >= 105, "each new name was given back to one writer, and {created} were");
    let relations: BTreeSet<String> = whole.relations.iter().map(said).collect();
    assert_eq!((relations.len(), whole.relations.len()), (105, 105));
    let observations = graph.observations("shared").await;
    assert_eq!(observations.len(), 105);
    assert_eq!(observations.iter().collect::<BTreeSet<_>>().len(), 105);
    assert_eq!(graph.f.count("select entities from graph_thread").await, 106);
}

#[tokio::test]
async fn of_twenty_creators_of_one_name_one_is_told_that_it_did() {
    let graph = Graph::new().await;
    let mut writers = JoinSet::new();
    for n in 0..20 {
        let (memory, ns, scope) = (Arc::clone(&graph.f.memory), graph.ns().clone(), graph.scope.clone());
        writers.spawn(async move {
            let one = vec![entity("Alice", &format!("type {n}"), &[])];
            memory.graph().create_entities(&ns, &scope, one).await.expect("it runs").answer
        });
    }
    let created: Vec<_> = writers.join_all().await.into_iter().flatten().collect();
    assert_eq!(created.len(), 1);
    assert_eq!(graph.whole().await.entities, created);
}

#[tokio::test]
async fn a_writer_of_one_thread_does_not_wait_for_that_of_another() {
    let graph = Graph::new().await;
    graph.have(&["A"]).await;
    let store = crate::shorthand::store(&graph.f).await;
    let mut tx = store.begin_across().await.expect("it begins");
    memory_store::graph::lock_thread(&mut tx, graph.ns(), &graph.scope).await.expect("it is locked");
    let other = vec![entity("B", "t", &[])];
    graph.memory().graph().create_entities(graph.ns(), &thread("other"), other).await.expect("it goes on");
    // Reading is not blocked.
    assert_eq!(graph.whole().await.entities.len(), 1);
}

/// A server of its own, with its own connections, on the shared database.
async fn process(url: &str) -> (DataDir, Server) {
    let data_dir = DataDir::empty();
    let mut command = data_dir.command("remembrancer");
    command.env("DATABASE_URL", url).env("REMEMBRANCER_DATABASE_CONNECTIONS", "4");
    let server = Server::start_with(command).await;
    (data_dir, server)
}

async fn write_ten_rounds(n: i32, server: &Server) {
    for round in 0..10 {
        let name = format!("own-{n}-{round}");
        let made = json!([{"name": name, "entityType": "t", "observations": ["x"]},
            {"name": format!("common-{round}"), "entityType": "t", "observations": []}]);
        let created = server.ask("create_entities", json!({"entities": made})).await;
        assert_eq!(created["entities"][0]["name"], json!(name));
        let added = json!([{"entityName": format!("common-{round}"), "contents": [format!("seen by {n}")]}]);
        server.ask("add_observations", json!({"observations": added})).await;
        let related = json!([{"from": name, "to": format!("common-{round}"), "relationType": "saw"}]);
        server.ask("create_relations", json!({"relations": related})).await;
        server.ask("delete_entities", json!({"entityNames": [format!("own-{n}-{}", round - 1)]})).await;
    }
}

#[tokio::test]
async fn ten_processes_at_once_lose_nothing_of_each_other() {
    let url = fresh_database().await;
    let mut processes = Vec::new();
    for _ in 0..10 {
        processes.push(process(&url).await);
    }
    let mut work = JoinSet::new();
    for (n, (data_dir, server)) in (0..).zip(processes.drain(..)) {
        work.spawn(async move {
            write_ten_rounds(n, &server).await;
            (data_dir, server)
        });
    }
    processes.extend(work.join_all().await);
    let graph = processes[0].1.ask("read_graph", json!({})).await;
    let mut names: Vec<&str> = graph["entities"]
        .as_array()
        .expect("entities")
        .iter()
        .map(|e| e["name"].as_str().expect("a name"))
        .collect();
    names.sort_unstable();
    let mut expected: Vec<String> =
        (0..10).flat_map(|n| [format!("own-{n}-9"), format!("common-{n}")]).collect();
    expected.sort();
    assert_eq!(names, expected);
    assert_eq!(graph["relations"].as_array().map(Vec::len), Some(10));
    for e in graph["entities"].as_array().expect("entities") {
        let seen: HashSet<&Value> = e["observations"].as_array().expect("observations").iter().collect();
        let expected = if e["name"].as_str().expect("a name").starts_with("common") { 10 } else { 1 };
        assert_eq!(
            (seen.len(), e["observations"].as_array().map(Vec::len)),
            (expected, Some(expected)),
            "{e}"
        );
    }
}
