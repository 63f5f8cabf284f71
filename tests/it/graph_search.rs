//! Search in the graph: what matches, in any case and script, however many there are.

use memory_core::graph::{GraphEntity, PageRequest, fold};
use memory_store::graph::Ranges;

use crate::graph_shorthand::{Graph, entity, page, shown};

#[tokio::test]
async fn a_search_finds_names_types_and_observations_in_any_case() {
    let graph = Graph::new().await;
    graph
        .create(vec![
            entity("John_Smith", "Person", &["Is 30 years old"]),
            entity("Acme", "company", &["Founded in 2010", "Competes with Google"]),
        ])
        .await;
    for (query, names) in [
        ("john", &["John_Smith"][..]),
        ("PERSON", &["John_Smith"]),
        ("google", &["Acme"]),
        ("compet", &["Acme"]),
        ("O", &["John_Smith", "Acme"]),
        ("smith ", &[]),
        ("xyznonexistent", &[]),
    ] {
        assert_eq!(graph.found(query).await, names, "{query}");
    }
    let nothing = graph.search("xyznonexistent").await;
    assert_eq!((nothing.entities.len(), nothing.relations.len(), nothing.more), (0, 0, None));
}

#[tokio::test]
async fn a_search_gives_the_relations_of_which_an_end_matches() {
    let graph = Graph::new().await;
    graph.have(&["Apple", "Birch", "Cedar"]).await;
    graph.relate(&["Apple x Birch", "Birch x Cedar", "Cedar x Apple", "Ghost x Birch"]).await;
    let page = graph.search("birch").await;
    let touching = ["Apple x Birch", "Birch x Cedar", "Ghost x Birch"].map(str::to_owned).to_vec();
    assert_eq!(shown(&page), (vec!["Birch"], touching));
    assert_eq!(shown(&graph.search("ghost").await), (vec![], vec![]));
}

#[tokio::test]
async fn an_empty_query_finds_everything() {
    let graph = Graph::new().await;
    graph.create(vec![entity("A", "", &[]), entity("", "t", &["x"])]).await;
    graph.relate(&["A x B"]).await;
    assert_eq!(shown(&graph.search("").await), (vec!["A", ""], vec!["A x B".to_owned()]));
}

#[tokio::test]
async fn case_is_folded_in_every_script() {
    let graph = Graph::new().await;
    for (stored, query) in [
        ("ΟΔΟΣ Ερμού", "οδος ερμού"),
        ("οδος", "ΟΔΟΣ"),
        ("Straße nach Ulm", "STRAßE"),
        ("İstanbul", "i̇STANBUL"),
        ("Москва", "мОСКВА"),
        ("ÉCOLE", "école"),
        ("東京タワー", "京タ"),
    ] {
        graph.create(vec![entity(stored, "t", &[])]).await;
        assert_eq!(graph.found(query).await, [stored], "{query}");
        graph.delete(&[stored]).await;
        graph.create(vec![entity("holder", "t", &[stored])]).await;
        assert_eq!(graph.found(query).await, ["holder"], "{query}");
        graph.delete(&["holder"]).await;
    }
    graph.have(&["Straße"]).await;
    assert_eq!(graph.found("STRASSE").await, [""; 0]);
}

#[tokio::test]
async fn every_character_of_a_query_stands_for_itself() {
    let graph = Graph::new().await;
    let names =
        ["snake_case", "snakeXcase", "100%", "100 per cent", "C:\\temp", "C:/temp", "a'b", "a\"b", "(x)*"];
    graph.have(&names).await;
    for name in names {
        assert_eq!(graph.found(name).await, [name]);
    }
    assert_eq!(graph.found("_").await, ["snake_case"]);
    assert_eq!(graph.found("%").await, ["100%"]);
    assert_eq!(graph.found("\\").await, ["C:\\temp"]);
    let refused =
        graph.memory().graph().search_nodes(graph.ns(), &graph.scope, "a\0", PageRequest::default()).await;
    assert!(refused.expect_err("it has a NUL").to_string().contains("NUL character at position 1"));
}

#[tokio::test]
async fn a_type_that_no_entity_can_have_is_refused_and_is_no_fault_of_the_server() {
    let graph = Graph::new().await;
    graph.have(&["Ann"]).await;
    let (memory, ns, scope, page) = (graph.memory(), graph.ns(), &graph.scope, PageRequest::default());
    let ranges = Ranges { entity_type: Some("a\0".into()), ..Ranges::default() };
    let queried = memory.graph().query_nodes(ns, scope, &ranges, page).await.err();
    let listed = memory.graph().list_entities(ns, scope, Some("a\0"), None, page).await.err();
    for refused in [queried, listed] {
        let told = refused.expect("it has a NUL").to_string();
        assert!(told.contains("Invalid entityType: it has a NUL character at position 1"), "{told}");
    }
}

/// Rare words are found by the trigram indexes, common and short ones by a walk: neither may differ from
/// looking at every entity.
#[tokio::test]
async fn rare_common_and_short_queries_find_what_is_there_and_nothing_else() {
    let graph = Graph::new().await;
    let entities: Vec<GraphEntity> = (0..3_000_u32)
        .map(|n| {
            let scrambled = n.wrapping_mul(2_654_435_761) % 100_003;
            // Late ones are of another kind, so that the first ones tell nothing about them.
            let kind = if n < 1_500 { "Service" } else { "Database" };
            entity(
                &format!("node-{n:04}"),
                kind,
                &[&format!("ticket KB{scrambled:06}"), if n % 7 == 0 { "Überprüft" } else { "new" }],
            )
        })
        .collect();
    graph.create(entities.clone()).await;
    // Another thread of the same words must not get in between.
    let other = crate::graph_shorthand::thread("other");
    graph
        .memory()
        .graph()
        .create_entities(graph.ns(), &other, entities[..500].to_vec())
        .await
        .expect("they are made");
    let matching = |query: &str| {
        let query = fold(query);
        let is_in = |text: &String| fold(text).contains(&query);
        let matches =
            |e: &&GraphEntity| is_in(&e.name) || is_in(&e.entity_type) || e.observations.iter().any(is_in);
        entities.iter().filter(matches).map(|e| e.name.clone()).collect::<Vec<_>>()
    };
    let rare = &entities[2_345].observations[0];
    for query in [
        "node-2345",
        rare,
        "KB0",
        "node-1",
        "service",
        "database",
        "überprüft",
        "r",
        "99",
        "e-2",
        "ODE-",
        "t KB09",
        "zzz",
        "",
    ] {
        let expected = matching(query);
        assert!(query == "zzz" || !expected.is_empty(), "{query} tests nothing");
        assert_eq!(graph.found(query).await, expected, "{query}");
        let few = graph.search_page(query, page(3)).await;
        let names: Vec<&String> = few.entities.iter().map(|e| &e.entity.name).collect();
        assert_eq!(names, expected.iter().take(3).collect::<Vec<_>>(), "{query}");
        assert_eq!(few.more.is_some(), expected.len() > 3, "{query}");
    }
}
