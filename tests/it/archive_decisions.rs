//! Decisions about entities go with the archive, whether or not what was extracted does.

use memory_engine::archive::Tally;
use memory_tests::Fixture;

use crate::archive::{exported_as, import};
use crate::entities::{id_of, tell, typed_reader};
use crate::shorthand::{execute, forget, light, query, rows};
use crate::stand_ins::line_reader;

const TEXTS: [&str; 10] = [
    "Decision by Alice Chen",
    "Zebra.\nFeedback by Alice",
    "Walrus.\nChange by Ali",
    "Feedback by Bob Stone",
    "Change by Bob",
    "Execution by Carol Day",
    "Decision by Carol",
    "Dan Roe alias dan@a.example\nDecision by Dan Roe",
    "Dan Roe alias dan@b.example\nChange by Dan Roe",
    "Feedback by Eve Moss and Eve",
];

/// Each entity with what it counts as.
const COUNTS_AS: &str =
    "select concat_ws(' ', t.name, t.distinguisher, '->', p.name, p.distinguisher, '=>', r.name, r.distinguisher)
     from entity t left join entity p on p.entity_id = t.merged_into
     left join entity r on r.entity_id = t.canonical_id order by 1";
/// What was said of pairs, and what they were before.
const SAID: &str =
    "select concat_ws(' ', least(a.name, b.name), '/', greatest(a.name, b.name), state, former_state)
     from entity_candidate c join entity a on a.entity_id = c.low_id join entity b on b.entity_id = c.high_id
     where state <> 'open' order by 1";
const PAIRS: &str =
    "select concat_ws(' ', least(a.name, b.name), '/', greatest(a.name, b.name), state, former_state, score, reasons::text)
     from entity_candidate c join entity a on a.entity_id = c.low_id join entity b on b.entity_id = c.high_id order by 1";
const WAITING: &str = "select count(*) from entity_decision";

async fn merge(f: &Fixture, keep: &str, other: &str) {
    let (keep, other) = (id_of(f, keep).await, id_of(f, other).await);
    f.memory.entity_review().merge(&f.ns, keep, other, false).await.expect("they are merged");
}

async fn reject(f: &Fixture, a: &str, b: &str) {
    let (a, b) = (id_of(f, a).await, id_of(f, b).await);
    f.memory.entity_review().reject(&f.ns, a, b).await.expect("they are told apart");
}

/// A merge of a merge, a rejection, one that was taken back, a merge after a rejection, and one of two addresses.
async fn decided() -> Fixture {
    let f = light(line_reader()).await;
    tell(&f, &TEXTS).await;
    merge(&f, "Alice", "Ali").await;
    merge(&f, "Alice Chen", "Alice").await;
    reject(&f, "Bob Stone", "Bob").await;
    merge(&f, "Carol Day", "Carol").await;
    let carol = id_of(&f, "Carol").await;
    f.memory.entity_review().split(&f.ns, carol).await.expect("they are split");
    reject(&f, "Ali", "Bob").await;
    reject(&f, "Alice Chen", "Carol Day").await;
    merge(&f, "Alice Chen", "Carol Day").await;
    let dan = f.count("select entity_id from entity where distinguisher = ''  and name = 'Dan Roe'").await;
    let other = f.count("select entity_id from entity where distinguisher = 'dan@b.example'").await;
    f.memory.entity_review().merge(&f.ns, dan, other, true).await.expect("they are merged");
    f
}

#[tokio::test]
async fn decisions_come_out_of_an_archive_and_hold_when_the_texts_are_read_again() {
    let f = decided().await;
    let archive = exported_as(&f.memory, &f.ns, false).await;
    assert_eq!(archive.matches("\"type\":\"entity_merge\"").count(), 4);
    assert_eq!(archive.matches("\"type\":\"entity_rejection\"").count(), 2);
    let g = light(line_reader()).await;
    let imported = import(&g, &archive).await;
    assert_eq!(imported.decisions, Tally { created: 6, known: 0 });
    assert_eq!(g.count(WAITING).await, 6);
    assert_eq!(exported_as(&g.memory, &g.ns, false).await, archive, "while they wait");
    let again = import(&g, &archive).await;
    assert_eq!(again.decisions, Tally { created: 0, known: 6 });
    g.drain().await;
    assert_eq!(g.count(WAITING).await, 0);
    for said in [COUNTS_AS, SAID] {
        assert_eq!(rows(&g, said).await, rows(&f, said).await);
    }
    assert_eq!(exported_as(&g.memory, &g.ns, false).await, archive, "when they are carried out");
    let again = import(&g, &archive).await;
    assert_eq!(again.decisions, Tally { created: 0, known: 6 });
    // A merge of an archive is taken back as any other.
    let carol = id_of(&g, "Carol Day").await;
    g.memory.entity_review().split(&g.ns, carol).await.expect("it is split");
    assert!(rows(&g, SAID).await.contains(&"Alice Chen / Carol Day rejected".to_owned()));
}

#[tokio::test]
async fn decisions_hold_at_once_where_what_was_extracted_comes_along() {
    let f = decided().await;
    let archive = exported_as(&f.memory, &f.ns, true).await;
    let g = light(line_reader()).await;
    import(&g, &archive).await;
    assert_eq!(g.count(WAITING).await, 0);
    for said in [COUNTS_AS, PAIRS] {
        let before = rows(&f, said).await;
        assert!(!before.is_empty());
        assert_eq!(rows(&g, said).await, before);
    }
    assert_eq!(exported_as(&g.memory, &g.ns, true).await, archive);
}

#[tokio::test]
async fn decisions_hold_whatever_is_read_first() {
    let f = decided().await;
    let archive = exported_as(&f.memory, &f.ns, false).await;
    let g = light(line_reader()).await;
    import(&g, &archive).await;
    execute(&g, "update event_jobs set run_at = now() - job_id * interval '1 minute'").await;
    g.drain().await;
    assert_eq!(g.count(WAITING).await, 0);
    let roots = "select count(*) from entity where merged_into is null";
    assert_eq!(g.count(roots).await, f.count(roots).await);
    assert_eq!(rows(&g, SAID).await.len(), rows(&f, SAID).await.len());
}

#[tokio::test]
async fn a_rejection_holds_before_both_entities_are_there() {
    let f = light(typed_reader()).await;
    tell(&f, &["Feedback by Alice", "Decision by Alice Chen on Project Apollo"]).await;
    reject(&f, "Alice Chen", "Alice").await;
    tell(&f, &["Zebra.\nChange by Alice on Project Apollo"]).await;
    let archive = exported_as(&f.memory, &f.ns, false).await;
    let g = light(typed_reader()).await;
    import(&g, &archive).await;
    // The text that names her first is read last.
    execute(
        &g,
        "update event_jobs set run_at = now() + interval '1 hour'
         where kind = 'extract' and revision_id = (select min(revision_id) from artifact_revision)",
    )
    .await;
    g.drain().await;
    assert_eq!(
        rows(&g, "select name from entity where entity_type = 'person' order by 1").await,
        ["Alice", "Alice Chen"]
    );
    execute(&g, "update event_jobs set run_at = now() where status = 'PENDING'").await;
    g.drain().await;
    assert_eq!(rows(&g, SAID).await, ["Alice / Alice Chen rejected"]);
}

#[tokio::test]
async fn what_was_decided_here_wins_over_an_archive() {
    let f = light(line_reader()).await;
    tell(&f, &TEXTS[..5]).await;
    let g = light(line_reader()).await;
    tell(&g, &TEXTS[..5]).await;
    merge(&f, "Alice Chen", "Alice").await;
    reject(&f, "Bob Stone", "Bob").await;
    reject(&g, "Alice Chen", "Alice").await;
    merge(&g, "Bob Stone", "Bob").await;
    let before = rows(&g, COUNTS_AS).await;
    let imported = import(&g, &exported_as(&f.memory, &f.ns, false).await).await;
    assert_eq!(imported.decisions, Tally { created: 0, known: 2 });
    assert_eq!(rows(&g, COUNTS_AS).await, before);
    assert_eq!(rows(&g, SAID).await, ["Alice / Alice Chen rejected", "Bob / Bob Stone merged open"]);
}

#[tokio::test]
async fn a_decision_that_waits_goes_with_the_last_text_that_names_its_entities() {
    let f = decided().await;
    let archive = exported_as(&f.memory, &f.ns, false).await;
    let g = light(line_reader()).await;
    import(&g, &archive).await;
    let bob = "select count(*) from entity_decision where 'bob' = any(signs)";
    assert_eq!(g.count(bob).await, 2);
    let text = g.recall_as(query("Change by Bob")).await;
    let text = text.results.iter().find(|r| r.snippet == "Change by Bob").expect("it is there");
    forget(&g, &text.hit.artifact_id).await;
    assert_eq!(g.count(bob).await, 0);
    assert_eq!(g.count(WAITING).await, 4);
    let ns = g.ns.clone();
    g.memory.forget_namespace(&ns).await.expect("it is forgotten");
    assert_eq!(g.count(WAITING).await, 0);
}

#[tokio::test]
async fn an_archive_of_the_version_before_is_imported() {
    let f = light(line_reader()).await;
    tell(&f, &TEXTS[..2]).await;
    let archive = exported_as(&f.memory, &f.ns, true).await;
    let lines = archive.lines().filter(|line| !line.contains("\"type\":\"entity_"));
    let before = lines.collect::<Vec<_>>().join("\n").replace("\"version\":2}", "\"version\":1}");
    let g = light(line_reader()).await;
    assert_eq!(import(&g, &before).await.extractions.created, 2);
}

#[tokio::test]
async fn what_is_to_be_read_again_is_still_to_be_read_again() {
    let f = light(line_reader()).await;
    tell(&f, &TEXTS[..1]).await;
    f.remember_as(memory_tests::turn("chat", 0, "Ann", "Decision by Ann")).await;
    f.drain().await;
    execute(&f, "update artifact_revision set is_extraction_stale = true where turn_index is not null").await;
    execute(
        &f,
        "insert into event_jobs (namespace, kind, revision_id)
         select namespace, 'extract', revision_id from artifact_revision where turn_index is null",
    )
    .await;
    let archive = exported_as(&f.memory, &f.ns, true).await;
    assert_eq!(archive.matches("\"stale\":true").count(), 2);
    let g = light(line_reader()).await;
    import(&g, &archive).await;
    assert_eq!(exported_as(&g.memory, &g.ns, true).await, archive);
    assert_eq!(g.count("select count(*) from event_jobs where kind = 'extract'").await, 1);
    g.drain().await;
    assert!(!exported_as(&g.memory, &g.ns, true).await.contains("stale"));
}
