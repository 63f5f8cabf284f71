//! The knowledge graph's nine verbs, as the reference memory server has them.

use memory_core::graph::{EntityObservations, GraphEntity, GraphScope, PageRequest, Weights};

use crate::graph_shorthand::{Graph, about, entity, page, pages, relation, shown, thread, whole};
use crate::shorthand::ns;

#[tokio::test]
async fn a_created_entity_is_given_back_and_stays() {
    let graph = Graph::new().await;
    let alice = entity("Alice", "person", &["Is a student"]);
    assert_eq!(graph.create(vec![alice.clone()]).await, vec![alice.clone()]);
    let whole = graph.whole().await;
    assert_eq!((whole.entities, whole.relations), (vec![alice], vec![]));
}

#[tokio::test]
async fn an_entity_whose_name_is_taken_is_not_created() {
    let graph = Graph::new().await;
    let alice = entity("Alice", "person", &["Is a student"]);
    graph.create(vec![alice.clone()]).await;
    assert_eq!(graph.create(vec![entity("Alice", "robot", &["Is made of tin"])]).await, []);
    let created = graph.create(vec![entity("Alice", "robot", &[]), entity("Bob", "person", &[])]).await;
    assert_eq!(created, [entity("Bob", "person", &[])]);
    assert_eq!(graph.whole().await.entities, [alice, entity("Bob", "person", &[])]);
}

#[tokio::test]
async fn names_that_differ_in_case_are_different_entities() {
    let graph = Graph::new().await;
    graph.have(&["alice"]).await;
    assert_eq!(graph.create(vec![entity("Alice", "thing", &[])]).await.len(), 1);
    assert_eq!(shown(&graph.read(PageRequest::default()).await).0, ["alice", "Alice"]);
    assert!(graph.open(&["ALICE"]).await.entities.is_empty());
    assert_eq!(shown(&graph.open(&["Alice"]).await).0, ["Alice"]);
}

#[tokio::test]
async fn two_entities_of_one_name_in_one_call_create_the_first() {
    let graph = Graph::new().await;
    let first = entity("Alice", "person", &["Is a student"]);
    let created = graph.create(vec![first.clone(), entity("Alice", "robot", &["Is made of tin"])]).await;
    assert_eq!(created, vec![first.clone()]);
    assert_eq!(graph.whole().await.entities, [first]);
}

#[tokio::test]
async fn observations_given_twice_at_the_creation_are_kept_twice() {
    let graph = Graph::new().await;
    let twice = entity("Alice", "person", &["Is a student", "Likes tea", "Is a student"]);
    graph.create(vec![twice.clone()]).await;
    assert_eq!(graph.whole().await.entities, [twice]);
    graph.unsay("Alice", &["Is a student"]).await;
    assert_eq!(graph.observations("Alice").await, ["Likes tea"]);
}

#[tokio::test]
async fn a_relation_is_created_once_by_its_ends_direction_and_type() {
    let graph = Graph::new().await;
    assert_eq!(graph.relate(&["Alice knows Bob"]).await, ["Alice knows Bob"]);
    assert_eq!(graph.relate(&["Alice knows Bob"]).await, [""; 0]);
    assert_eq!(graph.relate(&["Alice likes Bob"]).await, ["Alice likes Bob"]);
    assert_eq!(
        graph.relate(&["Bob knows Alice", "Alice likes Bob", "Bob knows Alice"]).await,
        ["Bob knows Alice"]
    );
    let all = ["Alice knows Bob", "Alice likes Bob", "Bob knows Alice"];
    assert_eq!(shown(&graph.read(PageRequest::default()).await).1, all);
}

#[tokio::test]
async fn observations_are_added_behind_the_old_ones_and_none_twice() {
    let graph = Graph::new().await;
    graph.create(vec![entity("Alice", "person", &["Is a student"])]).await;
    assert_eq!(graph.add("Alice", &["Likes pizza"]).await, ["Likes pizza"]);
    assert_eq!(graph.add("Alice", &["Is a student", "Likes pizza", "likes pizza"]).await, ["likes pizza"]);
    assert_eq!(graph.add("Alice", &["Sings", "Sings"]).await, ["Sings"]);
    let twice = graph.try_add(vec![about("Alice", &["Runs", "Sings"]), about("Alice", &["Runs", "Swims"])]);
    assert_eq!(twice.await.expect("they are added"), [about("Alice", &["Runs"]), about("Alice", &["Swims"])]);
    assert_eq!(
        graph.observations("Alice").await,
        ["Is a student", "Likes pizza", "likes pizza", "Sings", "Runs", "Swims"]
    );
}

#[tokio::test]
async fn an_unknown_entity_refuses_all_observations_of_the_call() {
    let graph = Graph::new().await;
    graph.have(&["Alice"]).await;
    let refused = graph.try_add(vec![about("Alice", &["Sings"]), about("Nonexistent", &["anything"])]).await;
    assert_eq!(refused.expect_err("it is unknown").to_string(), "Entity with name Nonexistent not found");
    assert_eq!(graph.observations("Alice").await, [""; 0]);
}

#[tokio::test]
async fn observations_are_deleted_by_their_text() {
    let graph = Graph::new().await;
    graph.create(vec![entity("Alice", "person", &["Is a student", "Likes pizza"])]).await;
    graph.unsay("Alice", &["Likes pizza", "never said"]).await;
    assert_eq!(graph.observations("Alice").await, ["Is a student"]);
    graph.unsay("Nonexistent", &["anything"]).await;
    graph.unsay("alice", &["Is a student"]).await;
    assert_eq!(graph.observations("Alice").await, ["Is a student"]);
}

#[tokio::test]
async fn a_deleted_observation_takes_its_earlier_versions_along() {
    let graph = Graph::new().await;
    graph.create(vec![entity("Alice", "person", &["Is a student", "Likes tea"])]).await;
    crate::shorthand::execute(
        &graph.f,
        "update graph_observation set is_current = false where content = 'Is a student';
         insert into graph_observation (namespace, thread_id, entity_id, chain_id, version, handle, content_key,
                                        content, folded)
         select namespace, thread_id, entity_id, chain_id, 2, 7,
                encode(substr(sha256('Teaches'), 1, 16), 'hex')::uuid, 'Teaches', 'teaches'
         from graph_observation where content = 'Is a student'",
    )
    .await;
    assert_eq!(graph.observations("Alice").await, ["Teaches", "Likes tea"]);
    assert_eq!(graph.found("student").await, [""; 0]);
    assert_eq!(graph.add("Alice", &["Teaches"]).await, [""; 0]);
    graph.unsay("Alice", &["Is a student"]).await;
    assert_eq!(graph.observations("Alice").await, ["Teaches", "Likes tea"]);
    graph.unsay("Alice", &["Teaches"]).await;
    assert_eq!(graph.observations("Alice").await, ["Likes tea"]);
    assert_eq!(graph.f.count("select count(*) from graph_observation").await, 1);
}

#[tokio::test]
async fn a_deleted_entity_takes_the_relations_on_both_sides_along() {
    let graph = Graph::new().await;
    graph.have(&["A", "B", "C"]).await;
    graph.relate(&["A knows B", "B reports_to A", "B knows C", "A is A"]).await;
    graph.delete(&["A"]).await;
    let page = graph.read(PageRequest::default()).await;
    assert_eq!(shown(&page), (vec!["B", "C"], vec!["B knows C".to_owned()]));
    assert_eq!(graph.f.count("select count(*) from graph_observation").await, 0);
}

#[tokio::test]
async fn deleting_a_name_deletes_its_relations_though_no_entity_has_it() {
    let graph = Graph::new().await;
    graph.have(&["A"]).await;
    graph.relate(&["A knows Ghost", "Ghost knows A", "Ghost knows Shade", "A knows Shade"]).await;
    graph.delete(&["Ghost", "Nonexistent"]).await;
    assert_eq!(shown(&graph.read(PageRequest::default()).await).1, ["A knows Shade"]);
}

#[tokio::test]
async fn an_entity_that_comes_after_its_relations_has_them() {
    let graph = Graph::new().await;
    graph.relate(&["A knows B", "A is A", "C knows A"]).await;
    graph.have(&["B"]).await;
    assert_eq!(shown(&graph.open(&["B"]).await).1, ["A knows B"]);
    graph.have(&["A"]).await;
    assert_eq!(shown(&graph.open(&["A"]).await).1, ["A knows B", "A is A", "C knows A"]);
    graph.delete(&["B"]).await;
    graph.have(&["B"]).await;
    assert_eq!(shown(&graph.open(&["B"]).await), (vec!["B"], vec![]));
    assert_eq!(shown(&graph.read(PageRequest::default()).await).1, ["A is A", "C knows A"]);
}

#[tokio::test]
async fn relations_are_deleted_by_all_three_of_their_parts() {
    let graph = Graph::new().await;
    graph.relate(&["A knows B", "A likes B", "B knows A"]).await;
    graph.part(&["A knows B", "B likes A"]).await;
    assert_eq!(shown(&graph.read(PageRequest::default()).await).1, ["A likes B", "B knows A"]);
}

#[tokio::test]
async fn open_gives_the_named_entities_in_the_graphs_order_and_what_touches_them() {
    let graph = Graph::new().await;
    graph.have(&["A", "B", "C"]).await;
    graph.relate(&["A x B", "B x C", "A x C", "D x E"]).await;
    assert_eq!(shown(&graph.open(&["A"]).await), (vec!["A"], vec!["A x B".into(), "A x C".into()]));
    let all = vec!["A x B".to_owned(), "B x C".into(), "A x C".into()];
    assert_eq!(shown(&graph.open(&["C", "A", "C", "Nobody"]).await), (vec!["A", "C"], all));
    // A name that is only the end of a relation opens nothing.
    assert_eq!(shown(&graph.open(&["D"]).await), (vec![], vec![]));
    assert_eq!(shown(&graph.open(&[]).await), (vec![], vec![]));
}

#[tokio::test]
async fn an_empty_graph_answers_every_verb() {
    let graph = Graph::new().await;
    assert_eq!(graph.read(PageRequest::default()).await.entities, []);
    assert_eq!(graph.search("").await.entities, []);
    assert_eq!(graph.open(&["A"]).await.entities, []);
    graph.delete(&["A"]).await;
    graph.part(&["A x B"]).await;
    assert_eq!(graph.create(vec![]).await, []);
    assert_eq!(graph.try_add(vec![]).await.expect("nothing to add"), []);
    assert_eq!(graph.f.count("select count(*) from graph_thread").await, 0, "a call that changed nothing");
}

#[tokio::test]
async fn a_change_raises_the_version_by_one_and_a_call_without_any_leaves_it() {
    let graph = Graph::new().await;
    let (memory, ns, scope) = (graph.memory(), graph.ns(), &graph.scope);
    let create = |entities: Vec<GraphEntity>| async {
        memory.graph().create_entities(ns, scope, entities).await.expect("it runs").version
    };
    assert_eq!(create(vec![entity("A", "t", &["x"])]).await, Some(1));
    assert_eq!(create(vec![entity("A", "t", &[])]).await, None);
    let relate = || async {
        memory.graph().create_relations(ns, scope, vec![relation("A x B")]).await.expect("it runs").version
    };
    assert_eq!((relate().await, relate().await), (Some(2), None));
    let add = || async {
        let additions = vec![about("A", &["y"])];
        memory
            .graph()
            .add_observations(ns, scope, additions, Weights::default())
            .await
            .expect("it runs")
            .version
    };
    assert_eq!((add().await, add().await), (Some(3), None));
    let unsay = || async {
        memory.graph().delete_observations(ns, scope, &[about("A", &["y"])]).await.expect("it runs").version
    };
    assert_eq!((unsay().await, unsay().await), (Some(4), None));
    let part = || async {
        memory.graph().delete_relations(ns, scope, &[relation("A x B")]).await.expect("it runs").version
    };
    assert_eq!((part().await, part().await), (Some(5), None));
    let delete = || async {
        memory.graph().delete_entities(ns, scope, &["A".to_owned()]).await.expect("it runs").version
    };
    assert_eq!((delete().await, delete().await), (Some(6), None));
    assert_eq!(graph.whole().await.version, 6);
}

#[tokio::test]
async fn threads_and_namespaces_do_not_see_each_other() {
    let graph = Graph::new().await;
    let (memory, default) = (graph.memory(), graph.ns().clone());
    graph.create(vec![entity("Alice", "person", &["Is a student"])]).await;
    graph.relate(&["Alice knows Bob"]).await;
    for (space, scope) in [(default.clone(), thread("other")), (ns("second"), GraphScope::default())] {
        let page =
            memory.graph().read_graph(&space, &scope, PageRequest::default()).await.expect("it is read");
        assert_eq!(shown(&page), (vec![], vec![]));
        let found = memory.graph().search_nodes(&space, &scope, "student", PageRequest::default()).await;
        assert_eq!(found.expect("it is searched").entities, []);
        let refused = memory
            .graph()
            .add_observations(&space, &scope, vec![about("Alice", &["x"])], Weights::default())
            .await
            .expect_err("she is unknown there");
        assert_eq!(refused.to_string(), "Entity with name Alice not found");
        memory
            .graph()
            .delete_entities(&space, &scope, &["Alice".to_owned()])
            .await
            .expect("nothing to delete");
        let twin = vec![entity("Alice", "cat", &["Purrs"])];
        let created =
            memory.graph().create_entities(&space, &scope, twin.clone()).await.expect("she is created");
        assert_eq!((created.answer, created.version), (twin, Some(1)));
        let opened = memory
            .graph()
            .open_nodes(&space, &scope, &["Alice".to_owned()], PageRequest::default())
            .await
            .expect("she is opened");
        assert_eq!(shown(&opened), (vec!["Alice"], vec![]));
    }
    assert_eq!(graph.whole().await.entities, [entity("Alice", "person", &["Is a student"])]);
    assert_eq!(graph.found("purr").await, [""; 0]);
}

#[tokio::test]
async fn names_and_types_of_64_kilobytes_are_kept_apart_and_found() {
    let graph = Graph::new().await;
    let long = |last: &str| {
        let words: String = (0..14_000).map(|n| format!("w{:04}", n % 10_000)).collect();
        format!("{}{last}", &words[..65_536 - last.len()])
    };
    let (one, two) = (long("one"), long("two"));
    let made = vec![entity(&one, &two, &["x"]), entity(&two, &one, &[])];
    assert_eq!(graph.create(made.clone()).await, made);
    assert_eq!(graph.create(made).await, []);
    let (from, to, relation_type) = (one.clone(), two.clone(), one.clone());
    let huge = vec![memory_core::graph::GraphRelation { from, to, relation_type }];
    for expected in [huge.clone(), vec![]] {
        let created = graph.memory().graph().create_relations(graph.ns(), &graph.scope, huge.clone()).await;
        assert_eq!(created.expect("it is created").answer, expected);
    }
    assert_eq!(graph.add(&one, &["y"]).await, ["y"]);
    assert_eq!(graph.found(&long("ONE")).await, [one.clone(), two.clone()]);
    assert_eq!(graph.open(&[&two]).await.relations.len(), 1);
    let refused = graph
        .memory()
        .graph()
        .create_entities(graph.ns(), &graph.scope, vec![entity(&format!("{one}x"), "t", &[])])
        .await
        .expect_err("it is too long");
    assert!(refused.to_string().contains("65537 bytes"), "{refused}");
}

#[tokio::test]
async fn strange_names_are_kept_as_they_are() {
    let graph = Graph::new().await;
    let strange =
        ["", " ", " A", "A ", "\n", "ä", "a\u{308}", "🦀\u{200d}", "\u{feff}", "'; drop table x; --", "%"];
    let entities: Vec<GraphEntity> = strange.iter().map(|name| entity(name, name, &[name])).collect();
    assert_eq!(graph.create(entities.clone()).await, entities);
    assert_eq!(graph.whole().await.entities, entities);
    for name in strange {
        assert_eq!(graph.observations(name).await, [name]);
    }
    let refused =
        graph.memory().graph().create_entities(graph.ns(), &graph.scope, vec![entity("a\0", "t", &[])]).await;
    assert!(refused.expect_err("it has a NUL").to_string().contains("NUL character at position 1"));
    // Names that cannot be stored are simply not there.
    graph.delete(&["a\0"]).await;
    assert_eq!(graph.open(&["a\0"]).await.entities, []);
}

#[tokio::test]
async fn a_graph_is_the_same_for_another_process() {
    let graph = Graph::new().await;
    let entities =
        vec![entity("Alice", "person", &["Is a student", "Likes tea"]), entity("Bob", "person", &[])];
    graph.create(entities.clone()).await;
    graph.relate(&["Alice knows Bob", "Bob knows Ghost"]).await;
    let sibling = crate::shorthand::light_sibling(&graph.f, crate::stand_ins::line_reader()).await;
    let whole = whole(&sibling, graph.ns(), &graph.scope).await;
    assert_eq!(whole, graph.whole().await);
    assert_eq!(whole.entities, entities);
    assert_eq!(whole.relations, [relation("Alice knows Bob"), relation("Bob knows Ghost")]);
}

#[tokio::test]
async fn too_many_items_are_refused_with_their_number() {
    let graph = Graph::new().await;
    let many = |n: usize| vec!["x".to_owned(); n];
    let too_many_contents = EntityObservations { entity_name: "A".to_owned(), contents: many(10_001) };
    let (memory, scope) = (graph.memory(), &graph.scope);
    let refused = [
        memory.graph().delete_entities(graph.ns(), scope, &many(10_001)).await.map(|_| ()),
        memory.graph().open_nodes(graph.ns(), scope, &many(10_001), PageRequest::default()).await.map(|_| ()),
        memory
            .graph()
            .create_entities(graph.ns(), scope, vec![entity("A", "t", &[]); 10_001])
            .await
            .map(|_| ()),
        memory.graph().create_relations(graph.ns(), scope, vec![relation("A x B"); 10_001]).await.map(|_| ()),
        memory
            .graph()
            .add_observations(graph.ns(), scope, vec![too_many_contents.clone()], Weights::default())
            .await
            .map(|_| ()),
        memory.graph().delete_observations(graph.ns(), scope, &[too_many_contents]).await.map(|_| ()),
    ];
    for refusal in refused {
        let text = refusal.expect_err("it is too much").to_string();
        assert!(text.contains("10001 items, the limit is 10000"), "{text}");
    }
}

#[tokio::test]
async fn entities_that_hold_too_much_text_are_opened_in_part_and_page_by_page() {
    let graph = Graph::new().await;
    let texts: Vec<String> = (0..21).map(|n| format!("{n:02}{}", "x".repeat(99_998))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    graph.create(vec![entity("A", "t", &texts), entity("B", "t", &texts), entity("C", "t", &texts)]).await;
    let first = graph.open(&["A", "B", "C"]).await;
    assert_eq!(first.entities.len(), 1);
    assert!(first.entities[0].is_cut && first.entities[0].observation_count == 21);
    let names = ["A", "B", "C"].map(str::to_owned);
    let opened = pages(page(1_000), async |request| {
        graph
            .memory()
            .graph()
            .open_nodes(graph.ns(), &graph.scope, &names, request)
            .await
            .expect("they are opened")
    })
    .await;
    let all: Vec<(&str, usize)> = opened
        .iter()
        .flat_map(|page| &page.entities)
        .map(|e| (e.entity.name.as_str(), e.entity.observations.len()))
        .collect();
    assert_eq!(all, [("A", 21), ("B", 21), ("C", 21)], "who asks for a number gets them whole");
}
