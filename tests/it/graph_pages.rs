//! Large graphs come in pages that together have everything once.

use std::collections::{HashMap, HashSet};

use memory_core::graph::{Detail, GraphEntity, GraphRelation, PageRequest};
use memory_engine::graph::GraphPage;

use crate::graph_shorthand::{Graph, entity, page, pages, said, shown, thread};

/// Numbers that look random and are the same on every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Entities and relations among them, to themselves, and to names that no entity has.
fn random_graph(seed: u64, entities: usize, relations: usize) -> (Vec<GraphEntity>, Vec<GraphRelation>) {
    let mut dice = Dice(seed);
    let made = (0..entities)
        .map(|n| {
            let observations: Vec<String> = (0..dice.below(4))
                .map(|o| format!("{} {n}.{o}", ["red", "green", "blue"][dice.below(3)]))
                .collect();
            let observations: Vec<&str> = observations.iter().map(String::as_str).collect();
            entity(&format!("e{n}"), ["odd", "even"][n % 2], &observations)
        })
        .collect();
    let mut name = || match dice.below(12) {
        0 => format!("ghost{}", dice.below(9)),
        1 => format!("e{}", dice.below(4)),
        _ => format!("e{}", dice.below(entities)),
    };
    let related = (0..relations)
        .map(|n| GraphRelation { from: name(), to: name(), relation_type: format!("r{}", n % 3) })
        .collect();
    (made, related)
}

async fn made(seed: u64, entities: usize, relations: usize) -> Graph {
    let graph = Graph::new().await;
    let (entities, relations) = random_graph(seed, entities, relations);
    let mut dice = Dice(seed);
    // In an order in which many relations come before their ends.
    for part in entities.chunks(40) {
        graph.create(part.to_vec()).await;
        let some: Vec<GraphRelation> =
            (0..relations.len() / 12).map(|_| relations[dice.below(relations.len())].clone()).collect();
        graph.memory().graph().create_relations(graph.ns(), &graph.scope, some).await.expect("they are made");
    }
    graph
        .memory()
        .graph()
        .create_relations(graph.ns(), &graph.scope, relations)
        .await
        .expect("they are made");
    graph
}

fn assert_each_once(pages: &[GraphPage], names: &[&str], relations: &[String], what: &str) {
    let entities: Vec<&str> = pages.iter().flat_map(|page| shown(page).0).collect();
    assert_eq!(entities, names, "{what}");
    let mut read: Vec<String> = pages.iter().flat_map(|page| shown(page).1).collect();
    let mut expected = relations.to_vec();
    read.sort();
    expected.sort();
    assert_eq!(read, expected, "{what}");
}

#[tokio::test]
async fn the_pages_of_a_graph_have_every_entity_and_relation_once() {
    let graph = made(1, 300, 700).await;
    let whole = graph.whole().await;
    let names: Vec<&str> = whole.entities.iter().map(|e| e.name.as_str()).collect();
    let relations: Vec<String> = whole.relations.iter().map(said).collect();
    let place: HashMap<&str, usize> = names.iter().enumerate().map(|(n, name)| (*name, n)).collect();
    for limit in [1, 7, 100, 299, 300, 1_000] {
        let pages = pages(page(limit), async |request| graph.read(request).await).await;
        assert_each_once(&pages, &names, &relations, &limit.to_string());
        let mut before = 0;
        for (n, page) in pages.iter().enumerate() {
            let is_last = n + 1 == pages.len();
            let on_page = before..before + page.entities.len();
            for relation in &page.relations {
                let ends = place.get(relation.from.as_str()).zip(place.get(relation.to.as_str()));
                match ends {
                    Some((from, to)) => {
                        assert!(on_page.contains(from.max(to)), "{limit}: {}", said(relation));
                    }
                    None => assert!(is_last, "{limit}: {} dangles", said(relation)),
                }
            }
            if let Some(more) = page.more {
                assert_eq!((more.first, more.last), (before as u64 + 1, on_page.end as u64));
                assert_eq!(more.total, Some(300));
            }
            before = on_page.end;
        }
    }
    let default = graph.read(PageRequest::default()).await;
    assert_eq!(default.entities.len(), 200);
}

#[tokio::test]
async fn the_pages_of_a_search_have_every_match_and_its_relations_once() {
    let graph = made(2, 260, 600).await;
    let whole = graph.whole().await;
    for query in ["", "red", "odd", "e1", "blue 2", "nothing"] {
        let matches = |e: &&GraphEntity| {
            e.name.contains(query)
                || e.entity_type.contains(query)
                || e.observations.iter().any(|o| o.contains(query))
        };
        let names: Vec<&str> = whole.entities.iter().filter(matches).map(|e| e.name.as_str()).collect();
        let found: HashSet<&str> = names.iter().copied().collect();
        let touches = |r: &&GraphRelation| found.contains(r.from.as_str()) || found.contains(r.to.as_str());
        let relations: Vec<String> = whole.relations.iter().filter(touches).map(said).collect();
        for limit in [1, 3, 50, 1_000] {
            let pages = pages(page(limit), async |request| graph.search_page(query, request).await).await;
            assert_each_once(&pages, &names, &relations, &format!("{query} by {limit}"));
        }
    }
}

#[tokio::test]
async fn a_graph_under_the_page_size_comes_whole_and_in_order() {
    let graph = made(3, 150, 200).await;
    let (whole, page) = (graph.whole().await, graph.read(PageRequest::default()).await);
    assert_eq!(page.more, None);
    assert_eq!(page.relations, whole.relations);
    assert_eq!(page.entities.into_iter().map(|e| e.entity).collect::<Vec<_>>(), whole.entities);
}

#[tokio::test]
async fn a_page_without_a_limit_ends_at_its_characters() {
    let graph = Graph::new().await;
    let text = "x".repeat(9_990);
    let entities = (0..12).map(|n| entity(&format!("big{n}"), "t", &[&format!("{n} {text}")])).collect();
    graph.create(entities).await;
    let huge = "y".repeat(100_000);
    graph
        .create(vec![entity("huge", "t", &[&huge, &format!("{huge}!")[1..]]), entity("small", "t", &[])])
        .await;
    let read = pages(PageRequest::default(), async |request| graph.read(request).await).await;
    let sizes: Vec<usize> = read.iter().map(|page| page.entities.len()).collect();
    // An entity that is begun is shown, so the fifth and the one over all bounds come too.
    assert_eq!(sizes, [5, 5, 3, 1]);
    let huge = &read[2].entities[2];
    assert!(huge.is_cut && huge.observation_count == 2, "what is larger than a page is shown in part");
    let shown: usize = huge.entity.observations.iter().map(|text| text.chars().count()).sum();
    assert_eq!(shown, 48_001, "the beginning of the newest, and a sign that it goes on");
    // Who asks for a number gets it.
    assert_eq!(graph.read(page(13)).await.entities.len(), 13);
    let searched = pages(PageRequest::default(), async |request| graph.search_page("", request).await).await;
    assert_eq!(searched.iter().map(|page| page.entities.len()).collect::<Vec<_>>(), sizes);
    // In less detail more of them fit.
    for detail in [Detail::Names, Detail::Summary] {
        let request = PageRequest { detail, ..PageRequest::default() };
        let page = graph.read(request).await;
        assert_eq!(page.entities.len(), 14);
    }
}

#[tokio::test]
async fn relations_count_towards_the_characters_of_a_page() {
    let graph = Graph::new().await;
    let names: Vec<String> = (0..40).map(|n| format!("node{n}")).collect();
    graph.have(&names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let relations: Vec<String> = (1..40)
        .flat_map(|n| (0..n).map(move |m| format!("node{n} {}{m} node{m}", "r".repeat(80))))
        .chain(["node3 knows ghost".to_owned()])
        .collect();
    graph.relate(&relations.iter().map(String::as_str).collect::<Vec<_>>()).await;
    for what in ["read", "search"] {
        let read = pages(PageRequest::default(), async |request| match what {
            "read" => graph.read(request).await,
            _ => graph.search_page("node", request).await,
        })
        .await;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_each_once(&read, &names, &relations, what);
        assert_eq!(read.len(), 2, "{what}");
    }
}

#[tokio::test]
async fn detail_says_how_much_of_an_entity_is_shown() {
    let graph = Graph::new().await;
    graph.create(vec![entity("A", "t", &["one", "two", "three"]), entity("B", "t", &[])]).await;
    graph.relate(&["A x B"]).await;
    for (detail, observations, counts) in [
        (Detail::Names, &[][..], [0, 0]),
        (Detail::Summary, &["one"], [3, 0]),
        (Detail::Full, &["one", "two", "three"], [3, 0]),
    ] {
        let request = PageRequest { detail, ..PageRequest::default() };
        for page in [graph.read(request).await, graph.search_page("", request).await] {
            assert_eq!(shown(&page), (vec!["A", "B"], vec!["A x B".to_owned()]));
            assert_eq!(page.entities[0].entity.observations, observations, "{detail}");
            assert_eq!(page.entities[1].entity.observations, [""; 0], "{detail}");
            assert_eq!([0, 1].map(|n| page.entities[n].observation_count), counts, "{detail}");
        }
    }
}

#[tokio::test]
async fn a_cursor_goes_on_where_it_was_though_the_graph_changes() {
    let graph = Graph::new().await;
    graph.have(&["A", "B", "C", "D"]).await;
    let first = graph.read(page(2)).await;
    let cursor = first.more.map(|more| more.cursor);
    graph.delete(&["B", "C"]).await;
    graph.have(&["E"]).await;
    let next = graph.read(PageRequest { cursor, ..page(2) }).await;
    assert_eq!((shown(&next).0, next.more), (vec!["D", "E"], None));
    // The cursor of one graph is none of another's.
    let other = thread("other");
    let made = vec![entity("A", "t", &[])];
    graph.memory().graph().create_entities(graph.ns(), &other, made).await.expect("it is created");
    let elsewhere =
        graph.memory().graph().read_graph(graph.ns(), &other, PageRequest { cursor, ..page(2) }).await;
    let refused = elsewhere.expect_err("it is refused").to_string();
    assert!(refused.contains("of the same graph"), "{refused}");
}
