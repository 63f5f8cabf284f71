//! An archive comes into a namespace that has something already: both are kept, and what is the same is there once.

use memory_core::graph::{GraphScope, Weights};
use memory_engine::archive::Tally;
use memory_engine::graph::KnowledgeGraph;
use memory_engine::progress::unreported;
use memory_tests::turn;

use crate::archive::{exported, exported_as, have_documents, have_graphs, import, plain, update};
use crate::graph_shorthand::{about, entity, whole};
use crate::shorthand::{ns, page, rows};

#[tokio::test]
async fn an_archive_that_comes_in_twice_changes_nothing_the_second_time() {
    let f = plain().await;
    have_documents(&f).await;
    have_graphs(&f).await;
    let archive = exported(&f).await;
    f.drain().await;
    for into in [&f, &plain().await] {
        import(into, &archive).await;
        into.drain().await;
        let versions = rows(into, "select name || version from graph_thread order by 1").await;
        let again = import(into, &archive).await;
        assert_eq!(again.revisions, Tally { created: 0, known: 11 });
        assert_eq!(again.observations, Tally { created: 0, known: 7 });
        assert_eq!((again.artifacts.created, again.entities.created, again.relations.created), (0, 0, 0));
        assert_eq!(exported(into).await, archive);
        assert_eq!(into.drain().await, 0, "jobs were queued for nothing");
        assert_eq!(rows(into, "select name || version from graph_thread order by 1").await, versions);
    }
}

#[tokio::test]
async fn two_histories_of_one_place_become_one() {
    let (a, b) = (plain().await, plain().await);
    a.remember_as(page("plan", "The plan of January.")).await;
    b.remember_as(page("plan", "The plan of February.")).await;
    b.remember_as(page("same", "Both have this.")).await;
    a.remember_as(page("same", "Both have this.")).await;
    b.remember_as(page("plan", "The plan of March.")).await;
    let (from_a, from_b) = (exported(&a).await, exported(&b).await);
    let chain = "select a.content || ' ' || r.is_latest || ' ' || coalesce(s.content, '') from artifact_revision r
                 join artifact a using (namespace, artifact_id)
                 left join artifact_revision q on q.namespace = r.namespace and q.revision_id = r.superseded_by
                 left join artifact s on s.namespace = q.namespace and s.artifact_id = q.artifact_id
                 where r.source_id = 'plan' order by r.created_at";
    let expected = [
        "The plan of January. false The plan of March.",
        "The plan of February. false The plan of March.",
        "The plan of March. true ",
    ];
    let imported = import(&a, &from_b).await;
    assert_eq!(imported.revisions, Tally { created: 2, known: 1 });
    assert_eq!(rows(&a, chain).await, expected);
    let imported = import(&b, &from_a).await;
    assert_eq!(imported.revisions, Tally { created: 1, known: 1 });
    assert_eq!(rows(&b, chain).await, expected);
    assert_eq!(b.count("select count(*) from passage where is_latest").await, 2);
    // What has become of them goes out and in as well.
    for merged in [&a, &b] {
        let archive = exported(merged).await;
        let copy = plain().await;
        import(&copy, &archive).await;
        assert_eq!(exported(&copy).await, archive);
        assert_eq!(rows(&copy, chain).await, expected);
    }
}

#[tokio::test]
async fn a_later_archive_brings_a_graph_up_to_date() {
    let (a, b) = (plain().await, plain().await);
    let scope = GraphScope::default();
    have_graphs(&a).await;
    import(&b, &exported(&a).await).await;
    update(&a.memory, &a.ns, &scope, "Ships in July", "Ships in August").await;
    let more = vec![about("Apollo", &["Is loved"])];
    a.memory.graph().add_observations(&a.ns, &scope, more, Weights::default()).await.expect("added");
    b.memory
        .graph()
        .create_entities(&b.ns, &scope, vec![entity("Own", "t", &[])])
        .await
        .expect("it is created");
    let own = vec![about("Apollo", &["Is loved"])];
    b.memory.graph().add_observations(&b.ns, &scope, own, Weights::default()).await.expect("added");
    let imported = import(&b, &exported(&a).await).await;
    assert_eq!(imported.observations, Tally { created: 1, known: 8 });
    let whole = whole(&b.memory, &b.ns, &scope).await;
    let apollo = &whole.entities[0];
    assert_eq!(
        apollo.observations,
        ["Ships in August", "Ships in May", "Needs Postgres", "Is late", "Is loved"]
    );
    assert_eq!(
        whole.entities.iter().map(|e| e.name.as_str()).collect::<Vec<_>>(),
        ["Apollo", "Zoë 漢字", "Own"]
    );
    // An older one takes nothing back.
    let before = exported(&b).await;
    import(&b, &exported(&a).await).await;
    assert_eq!(exported(&b).await, before);
}

#[tokio::test]
async fn an_archive_may_come_into_another_namespace_of_the_same_database() {
    let f = plain().await;
    have_documents(&f).await;
    have_graphs(&f).await;
    let archive = exported(&f).await;
    let copy = ns("copy");
    let imported = f
        .memory
        .archive()
        .import(&copy, &mut archive.as_bytes(), 0, &unreported)
        .await
        .expect("it is imported");
    assert_eq!(imported.observations, Tally { created: 7, known: 0 });
    assert_eq!(exported_as(&f.memory, &copy, false).await, archive);
    assert_eq!(exported(&f).await, archive);
}

#[tokio::test]
async fn turns_that_come_in_are_rendered_after_those_that_are_there() {
    let (a, b) = (plain().await, plain().await);
    a.remember_as(turn("chat", 0, "Ann", "Which port does the parrot use?")).await;
    b.remember_as(turn("chat", 1, "Bob", "It uses 5432.")).await;
    import(&b, &exported(&a).await).await;
    let lexemes = rows(&b, "select p.lex::text from passage p where p.text = 'It uses 5432.'").await;
    assert!(lexemes[0].contains("parrot"), "{lexemes:?}");
    b.drain().await;
    assert_eq!(b.count("select count(*) from artifact_revision where extracted_at is null").await, 0);
}

#[tokio::test]
async fn a_graph_of_a_file_is_archived_with_its_history_and_unites_with_the_file() {
    let (f, folder) = (plain().await, tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("memory.jsonl");
    let file = KnowledgeGraph::resolve_file(path.clone()).await.expect("a path");
    let scope = GraphScope::File(file);
    let apollo = vec![entity("Apollo", "Project", &["Ships in May"])];
    f.memory.graph().create_entities(&f.ns, &scope, apollo).await.expect("it is created");
    update(&f.memory, &f.ns, &scope, "Ships in May", "Ships in June").await;
    let archive = exported(&f).await;
    assert!(archive.contains(&format!("{{\"type\":\"thread\",\"file\":\"{}\"", path.display())), "{archive}");
    let g = plain().await;
    import(&g, &archive).await;
    assert_eq!(exported(&g).await, archive);
    let created = g
        .memory
        .graph()
        .create_entities(&g.ns, &scope, vec![entity("New", "t", &[])])
        .await
        .expect("created");
    assert_eq!(created.warning, None);
    let written = std::fs::read_to_string(&path).expect("it is read");
    assert_eq!(written.lines().count(), 2, "{written}");
    assert_eq!(g.count("select count(*) from graph_observation").await, 2);
}
