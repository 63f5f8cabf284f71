//! The archive of a namespace: everything comes out, and comes back as it was.

use std::sync::Arc;

use memory_core::artifact::Draft;
use memory_core::graph::{GraphScope, ObservationHandle};
use memory_core::id::Namespace;
use memory_engine::archive::{ArchiveImported, Tally};
use memory_engine::graph::{HistoryRequest, ObservationUpdate};
use memory_engine::progress::unreported;
use memory_engine::{EngineError, Memory};
use memory_extraction::RulesExtractor;
use memory_tests::{Fixture, turn};

use crate::graph_shorthand::{about, entity, relation, thread};
use crate::shorthand::{forget, light, long_text, note, ns, page, rows};
use crate::stand_ins::line_reader;

pub(crate) async fn exported_as(memory: &Memory, ns: &Namespace, with_events: bool) -> String {
    let mut out = Vec::new();
    memory.archive().export(ns, with_events, &mut out, &unreported).await.expect("it is exported");
    String::from_utf8(out).expect("UTF-8")
}

pub(crate) async fn exported(f: &Fixture) -> String {
    exported_as(&f.memory, &f.ns, false).await
}

async fn try_import(f: &Fixture, archive: &str) -> Result<ArchiveImported, EngineError> {
    f.memory.archive().import(&f.ns, &mut archive.as_bytes(), archive.len() as u64, &unreported).await
}

pub(crate) async fn import(f: &Fixture, archive: &str) -> ArchiveImported {
    try_import(f, archive).await.expect("it is imported")
}

pub(crate) async fn plain() -> Fixture {
    Fixture::without_model(line_reader()).await
}

/// Something of everything.
pub(crate) async fn have_documents(f: &Fixture) {
    f.remember_as(page("readme", "Apollo needs Postgres 15.")).await;
    f.remember_as(page("readme", "Apollo needs Postgres 17 and pgvector.")).await;
    f.remember_as(page("readme", "Apollo needs Postgres 15.")).await;
    f.remember_as(page("copy", "Apollo needs Postgres 15.")).await;
    f.remember_as(page("long", &long_text(400))).await;
    f.remember_as(Draft {
        title: Some("Zoë's \"notes\" 漢字 🦀".into()),
        author: Some("Zoë".into()),
        participants: vec!["Ann".into(), "Bob".into()],
        tags: vec!["plan".into(), "q3".into()],
        date: Some("2026-03-01T10:00:00.25+01:00".into()),
        importance: Some(0.7),
        context: Some("meeting".into()),
        source: Some("wiki".into()),
        ..note("Ann will send the budget to Bob by Friday.\r\n\tTab, \u{7f}, \u{2028} and \\ stay.")
    })
    .await;
    let gone = f.remember_as(page("left", "The first text of this page.")).await;
    let second = f.remember_as(page("left", "The second text of this page.")).await;
    forget(f, &second.id).await;
    assert_ne!(gone.id, second.id);
    for (index, author, text) in [
        (0, "Ann", "Shall we move the launch of Apollo to May?"),
        (2, "Ann", "Good. I will tell the customers on Monday."),
        (1, "Bob", "Yes, the tests need two weeks."),
        (1, "Bob", "Yes, the tests need two more weeks, says Cleo."),
    ] {
        f.remember_as(Draft { date: Some("2026-03-02".into()), ..turn("standup", index, author, text) })
            .await;
    }
}

pub(crate) async fn have_graphs(f: &Fixture) {
    let (memory, ns) = (&f.memory, &f.ns);
    let default = GraphScope::default();
    let all = vec![
        entity("Apollo", "Project", &["Ships in May", "Ships in May", "Needs Postgres"]),
        entity("Zoë 漢字", "", &[]),
        entity("Gone", "t", &["x"]),
    ];
    memory.graph().create_entities(ns, &default, all).await.expect("they are created");
    let all = ["Apollo owned_by Zoë", "Gone knows Apollo", "Nobody knows Nowhere"].map(relation);
    memory.graph().create_relations(ns, &default, all.to_vec()).await.expect("they are created");
    let weights = memory_core::graph::Weights { confidence: 0.9, importance: 0.1 };
    let more = vec![about("Apollo", &["Is late"])];
    memory.graph().add_observations(ns, &default, more, weights).await.expect("they are added");
    memory.graph().delete_entities(ns, &default, &["Gone".to_owned()]).await.expect("it is deleted");
    for content in ["Ships in June", "Ships in July"] {
        update(memory, ns, &default, "Ships in", content).await;
    }
    memory
        .graph()
        .create_entities(ns, &thread("team a"), vec![entity("Apollo", "God", &["Sun"])])
        .await
        .expect("created");
    memory
        .graph()
        .create_entities(ns, &thread("emptied"), vec![entity("x", "t", &[])])
        .await
        .expect("created");
    memory.graph().delete_entities(ns, &thread("emptied"), &["x".to_owned()]).await.expect("deleted");
}

/// Supersedes the first observation of Apollo that begins so.
pub(crate) async fn update(memory: &Memory, ns: &Namespace, scope: &GraphScope, start: &str, content: &str) {
    let history = memory
        .graph()
        .observation_history(ns, scope, "Apollo", None, HistoryRequest::default())
        .await
        .expect("a history")
        .versions;
    let current = history.iter().find(|v| v.is_current && v.content.starts_with(start)).expect("it is there");
    let update = ObservationUpdate {
        entity_name: "Apollo".into(),
        handle: ObservationHandle(current.handle.0),
        content: content.into(),
        confidence: Some(0.5),
        importance: None,
    };
    memory.graph().update_observation(ns, scope, &update).await.expect("it is updated");
}

/// What is derived, as far as it does not depend on when it was made.
const PASSAGES: &str =
    "select concat_ws(' ', p.ordinal, p.start_char, p.end_char, p.is_latest, p.text, p.lex::text)
                        from passage p join artifact_revision r using (namespace, revision_id)
                        where r.is_latest and r.namespace = 'default' order by r.artifact_uid, p.ordinal";
const CHUNKS: &str =
    "select concat_ws(' ', artifact_id, chunk_index, start_char, end_char, token_count) from chunk
                      where namespace = 'default' order by artifact_id, chunk_index";
const REVISIONS: &str =
    "select concat_ws('|', artifact_id, artifact_uid, summary, is_latest, created_at, superseded_by is null)
                         from artifact_revision where namespace = 'default' order by revision_id";
const EVENTS: &str = "select concat_ws('|', e.category, e.narrative, e.event_time, e.due_time, v.quote)
                      from semantic_event e join event_evidence v using (namespace, event_id)
                      where namespace = 'default' order by 1";

const LINKS: &str =
    "select concat_ws('|', t.name, t.entity_type, a.role, a.category, a.occurred_at, e.narrative)
                     from event_actor a join entity t using (namespace, entity_id)
                     join semantic_event e using (namespace, event_id) order by 1";
const NAMES: &str =
    "select concat_ws('|', t.name, t.entity_type, a.alias, r.artifact_uid) from entity_alias a
                     join entity t using (namespace, entity_id)
                     join artifact_revision r using (namespace, revision_id) order by 1";

#[tokio::test]
async fn what_comes_out_and_in_again_is_the_same_to_the_byte_and_to_whoever_asks() {
    let f = Fixture::with_extractor(Arc::new(RulesExtractor::new())).await;
    have_documents(&f).await;
    have_graphs(&f).await;
    f.drain().await;
    let other = ns("other");
    f.memory.remember(&other, note("A secret of another namespace.")).await.expect("it is remembered");
    let archive = exported(&f).await;
    assert!(
        archive.starts_with("{\"type\":\"remembrancer-archive\",\"version\":2}\n")
            && archive.ends_with("}\n")
    );
    assert!(!archive.contains("secret"), "another namespace is in it");

    let g = Fixture::with_extractor(Arc::new(RulesExtractor::new())).await;
    let imported = import(&g, &archive).await;
    assert_eq!(imported.revisions, Tally { created: 11, known: 0 });
    assert_eq!(imported.artifacts, Tally { created: 9, known: 0 });
    assert_eq!(imported.observations, Tally { created: 7, known: 0 });
    assert_eq!(exported(&g).await, archive);
    for derived in [PASSAGES, CHUNKS, REVISIONS] {
        assert_eq!(rows(&g, derived).await, rows(&f, derived).await);
    }
    assert!(g.drain().await > 0);
    assert_eq!(rows(&g, EVENTS).await, rows(&f, EVENTS).await);
    assert_eq!(
        g.count("select count(*) from passage_embedding").await,
        f.count("select count(*) from passage_embedding where namespace = 'default'").await
    );
    for question in
        ["When does Apollo launch?", "budget for Bob", "Which Postgres is needed?", "two more weeks"]
    {
        let (before, after) = (f.recall(question).await, g.recall(question).await);
        let seen = |recall: &memory_engine::recall::Recall| {
            recall
                .results
                .iter()
                .map(|r| (r.hit.artifact_id.clone(), r.hit.passage.clone()))
                .collect::<Vec<_>>()
        };
        assert!(!before.results.is_empty());
        assert_eq!(seen(&after), seen(&before), "{question}");
    }
    let history = "select count(*) from graph_observation where not is_current";
    assert_eq!((f.count(history).await, g.count(history).await), (2, 2));
    assert_eq!(exported(&g).await, archive, "the jobs have changed what is archived");
}

#[tokio::test]
async fn what_was_extracted_is_taken_over_where_it_comes_along() {
    let f = light(Arc::new(RulesExtractor::new())).await;
    have_documents(&f).await;
    f.remember("Anna Berg <anna@berg.org> decided to cancel the trip. Anna will call Ben by Friday.").await;
    f.drain().await;
    let archive = exported_as(&f.memory, &f.ns, true).await;
    let g = light(Arc::new(RulesExtractor::new())).await;
    let imported = import(&g, &archive).await;
    let read = f.count("select count(*) from artifact_revision where extracted_at is not null").await as u64;
    assert!(read > 10);
    assert_eq!(imported.extractions, Tally { created: read, known: 0 });
    assert_eq!(exported_as(&g.memory, &g.ns, true).await, archive);
    assert_eq!(
        rows(&g, "select distinct kind from event_jobs order by 1").await,
        ["embed", "extract_conversation"]
    );
    for derived in [EVENTS, LINKS, NAMES] {
        let before = rows(&f, derived).await;
        assert!(!before.is_empty());
        assert_eq!(rows(&g, derived).await, before);
    }
    g.drain().await;
    assert_eq!(exported_as(&g.memory, &g.ns, true).await, archive, "it was extracted again");
    let (before, after) = (f.recall("Who calls Ben?").await, g.recall("Who calls Ben?").await);
    let names = |recall: &memory_engine::recall::Recall| {
        recall.entities.iter().map(|e| (e.name.clone(), e.mention_count)).collect::<Vec<_>>()
    };
    assert_eq!(names(&after), names(&before));
    let again = import(&g, &archive).await;
    assert_eq!(again.extractions, Tally { created: 0, known: read });

    let lines: Vec<&str> = archive.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("{\"type\":\"extraction\"")).expect("a line");
    for (from, to, needle) in [
        ("\"revision\":1,", "\"revision\":99,", "no revision 99 has come before"),
        ("\"start\":0", "\"start\":99999", "are not in the content"),
    ] {
        let Some(n) = (at..lines.len()).find(|n| lines[*n].contains(from)) else { panic!("{from}") };
        let changed = lines[n].replace(from, to);
        let mut changed_lines = lines.clone();
        changed_lines[n] = &changed;
        let error = try_import(&light(line_reader()).await, &changed_lines.join("\n")).await;
        let error = error.expect_err("it is refused").to_string();
        assert!(error.starts_with(&format!("Line {} ", n + 1)) && error.contains(needle), "{error}");
    }
}

#[tokio::test]
async fn a_line_that_cannot_be_taken_is_named_and_nothing_is_imported() {
    let f = plain().await;
    have_documents(&f).await;
    have_graphs(&f).await;
    let archive = exported(&f).await;
    let lines: Vec<&str> = archive.lines().collect();
    let at = |kind: &str| {
        lines.iter().position(|line| line.starts_with(&format!("{{\"type\":\"{kind}\""))).expect("a line")
    };
    let g = plain().await;
    g.remember("Something of its own.").await;
    let before = exported(&g).await;
    let jobs = g.count("select count(*) from event_jobs").await;
    let with = |n: usize, line: &str| {
        let mut changed: Vec<&str> = lines.clone();
        changed[n] = line;
        changed.join("\n")
    };
    let without = |n: usize| {
        let mut changed = lines.clone();
        changed.remove(n);
        changed.join("\n")
    };
    let (artifact, revision) = (at("artifact"), at("revision"));
    let (thread, entity, observation) = (at("thread"), at("graph_entity"), at("observation"));
    let relation = at("graph_relation");
    let cases = [
        (with(artifact, &lines[artifact].replace("15", "16")), artifact, "not what was written"),
        (with(relation, r#"{"type":"episode","name":"x"}"#), relation, "unknown variant `episode`"),
        (with(relation, &lines[relation][..40]), relation, "EOF"),
        (with(relation, lines[0]), relation, "one header"),
        (without(0), 0, "one header"),
        (without(artifact), artifact, "has not come before"),
        (without(revision), revision, "has no revision"),
        (without(thread), thread, "no thread comes before it"),
        (without(entity), entity, "no entity comes before it"),
        (
            with(observation, &lines[observation].replace("\"chain\":1", "\"chain\":2")),
            observation,
            "do not follow",
        ),
        (with(observation + 1, lines[observation]), observation + 1, "do not follow"),
        (with(relation + 1, lines[entity]), relation + 1, "come before its relations"),
        (
            with(revision, &lines[revision].replace("\"context\":\"", "\"context\":\"x")),
            revision,
            "Invalid context",
        ),
    ];
    for (changed, n, needle) in cases {
        let error = try_import(&g, &changed).await.expect_err("it is refused").to_string();
        assert!(
            error.starts_with(&format!("Line {} ", n + 1)) && error.contains(needle),
            "{needle}: {error}"
        );
        assert_eq!(exported(&g).await, before);
    }
    let cut = lines[..=artifact].join("\n");
    for (nothing, needle) in [
        ("", "nothing to import"),
        (crate::graph_lines::REFERENCE, "import it with --graph"),
        (cut.as_str(), "it has no revision"),
    ] {
        let error = try_import(&g, nothing).await.expect_err("it is refused").to_string();
        assert!(error.contains(needle), "{error}");
    }
    assert_eq!(g.count("select count(*) from event_jobs").await, jobs);
}

#[tokio::test]
async fn an_empty_namespace_has_an_archive_of_one_line() {
    let f = plain().await;
    let archive = exported(&f).await;
    assert_eq!(archive, "{\"type\":\"remembrancer-archive\",\"version\":2}\n");
    assert_eq!(import(&f, &archive).await, ArchiveImported::default());
}
