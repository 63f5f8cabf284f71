//! A graph goes out and comes in as the reference server's lines.

use memory_core::graph::{EntityObservations, GraphEntity, GraphRelation, GraphScope, ThreadId, Weights};
use memory_engine::EngineError;
use memory_engine::graph::{GraphExported, GraphImported};
use memory_engine::progress::unreported;
use memory_tests::Fixture;

use crate::stand_ins::line_reader;

/// A file that the reference server wrote.
pub(crate) const REFERENCE: &str = include_str!("../fixtures/reference-memory.jsonl");

fn thread(name: &str) -> GraphScope {
    GraphScope::Thread(ThreadId::new(name).expect("a thread"))
}

async fn exported(f: &Fixture, scope: &GraphScope) -> String {
    let mut out = Vec::new();
    f.memory.graph().export(&f.ns, scope, &mut out, &unreported).await.expect("it is exported");
    String::from_utf8(out).expect("UTF-8")
}

async fn import(f: &Fixture, scope: &GraphScope, lines: &str) -> Result<GraphImported, EngineError> {
    f.memory.graph().import(&f.ns, scope, &mut lines.as_bytes(), lines.len() as u64, &unreported).await
}

fn entity(name: &str, observations: &[&str]) -> GraphEntity {
    GraphEntity {
        name: name.into(),
        entity_type: "thing".into(),
        observations: observations.iter().map(|&o| o.into()).collect(),
    }
}

#[tokio::test]
async fn what_the_reference_server_wrote_goes_in_and_comes_out_unchanged() {
    let f = Fixture::without_model(line_reader()).await;
    let scope = GraphScope::default();
    let imported = import(&f, &scope, REFERENCE).await.expect("it is imported");
    let expected = GraphImported {
        entities_created: 5,
        observations_added: 12,
        relations_created: 4,
        ..GraphImported::default()
    };
    assert_eq!(imported, expected);
    assert_eq!(exported(&f, &scope).await, REFERENCE);

    let version = f.count("select version from graph_thread").await;
    let again = import(&f, &scope, REFERENCE).await.expect("it is imported again");
    let known = GraphImported { entities_known: 5, relations_known: 4, ..GraphImported::default() };
    assert_eq!(again, known);
    assert_eq!(exported(&f, &scope).await, REFERENCE);
    assert_eq!(f.count("select version from graph_thread").await, version, "nothing was written");
}

#[tokio::test]
async fn an_import_adds_to_what_is_there_and_takes_nothing_away() {
    let f = Fixture::without_model(line_reader()).await;
    let scope = thread("shared");
    let here = vec![entity("a", &["1", "2"]), entity("b", &[])];
    f.memory.graph().create_entities(&f.ns, &scope, here).await.expect("they are created");
    let lines = concat!(
        r#"{"type":"relation","from":"a","to":"c","relationType":"r"}"#,
        "\r\n\n",
        r#"{"type":"entity","name":"c","entityType":"t"}{"type":"entity","name":"a","entityType":"other","observations":["2","3","3"]}"#,
        "\n",
        r#"{"type":"entity","name":"c","entityType":"u","observations":["4","4"]}"#,
        "\n",
    );
    let imported = import(&f, &scope, lines).await.expect("it is imported");
    assert_eq!((imported.entities_created, imported.entities_known), (1, 1));
    assert_eq!((imported.observations_added, imported.relations_created), (2, 1));
    assert_eq!(
        imported.warnings,
        [
            "Some entities came twice: 'c' on line 4. The first of each name counts; what the others observe was \
          added to it."
        ]
    );
    let expected = concat!(
        r#"{"type":"entity","name":"a","entityType":"thing","observations":["1","2","3"]}"#,
        "\n",
        r#"{"type":"entity","name":"b","entityType":"thing","observations":[]}"#,
        "\n",
        r#"{"type":"entity","name":"c","entityType":"t","observations":["4"]}"#,
        "\n",
        r#"{"type":"relation","from":"a","to":"c","relationType":"r"}"#,
    );
    assert_eq!(exported(&f, &scope).await, expected);
    assert_eq!(exported(&f, &GraphScope::default()).await, "", "another thread has it");
}

#[tokio::test]
async fn a_damaged_line_is_named_and_nothing_is_imported() {
    let f = Fixture::without_model(line_reader()).await;
    let scope = GraphScope::default();
    f.memory.graph().create_entities(&f.ns, &scope, vec![entity("a", &["1"])]).await.expect("it is created");
    let before = exported(&f, &scope).await;
    let entity = |n| format!("{{\"type\":\"entity\",\"name\":\"e{n}\",\"entityType\":\"t\"}}\n");
    let mut lines: String = (1..=2_000).map(entity).collect();
    lines.push_str("{\"type\":\"entity\",\"name\":\"torn");
    let error = import(&f, &scope, &lines).await.expect_err("the last line is torn").to_string();
    assert!(error.starts_with("Line 2001 cannot be read: ") && error.contains("torn"), "{error}");
    assert_eq!(exported(&f, &scope).await, before);
}

#[tokio::test]
async fn a_graph_of_many_pages_goes_out_in_order_and_comes_in_again() {
    let f = Fixture::without_model(line_reader()).await;
    let scope = thread("large");
    let entities: Vec<GraphEntity> = (0..1_700)
        .map(|n| entity(&format!("e{:04}", (n * 7) % 1_700), &["same", "same", &"long ".repeat(n % 900)]))
        .collect();
    let relations = (0..1_300).map(|n| GraphRelation {
        from: format!("e{:04}", (n * 11) % 1_700),
        to: format!("x{n}"),
        relation_type: "r".into(),
    });
    f.memory.graph().create_entities(&f.ns, &scope, entities).await.expect("they are created");
    f.memory.graph().create_relations(&f.ns, &scope, relations.collect()).await.expect("they are created");
    let mut out = Vec::new();
    let seen = std::sync::Mutex::new(Vec::new());
    let report = |at| seen.lock().expect("a lock").push(at);
    let done = f.memory.graph().export(&f.ns, &scope, &mut out, &report).await.expect("it is exported");
    assert_eq!(done, GraphExported { entities: 1_700, relations: 1_300 });
    let last = *seen.lock().expect("a lock").last().expect("progress");
    assert_eq!((last.done, last.total), (3_000, 3_000));

    let text = String::from_utf8(out).expect("UTF-8");
    assert_eq!(text.lines().count(), 3_000);
    assert!(text.starts_with(r#"{"type":"entity","name":"e0000","#) && !text.ends_with('\n'));
    let copy = thread("copy");
    import(&f, &copy, &text).await.expect("it is imported");
    assert_eq!(exported(&f, &copy).await, text);
}

#[tokio::test]
async fn an_entity_may_have_more_observations_than_a_call_may_bring() {
    let f = Fixture::without_model(line_reader()).await;
    let scope = GraphScope::default();
    f.memory.graph().create_entities(&f.ns, &scope, vec![entity("a", &[])]).await.expect("it is created");
    for part in 0..3 {
        let contents = (0..5_000).map(|n| format!("observation {part} {n}")).collect();
        let addition = vec![EntityObservations { entity_name: "a".into(), contents }];
        f.memory
            .graph()
            .add_observations(&f.ns, &scope, addition, Weights::default())
            .await
            .expect("they are added");
    }
    let text = exported(&f, &scope).await;
    let copy = thread("copy");
    assert_eq!(import(&f, &copy, &text).await.expect("it is imported").observations_added, 15_000);
    assert_eq!(exported(&f, &copy).await, text);
}

#[tokio::test]
async fn a_thread_that_does_not_exist_is_not_exported_as_an_empty_one() {
    let f = Fixture::without_model(line_reader()).await;
    let mut out = Vec::new();
    let refused = f.memory.graph().export(&f.ns, &thread("typo"), &mut out, &unreported).await;
    assert!(refused.expect_err("it is refused").to_string().contains("no graph in thread 'typo'"));
}
