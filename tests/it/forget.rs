//! forget: what is forgotten is in no table and no index, and what is not stays whole.

use std::time::Duration;

use memory_core::event::{Extraction, Rejected};
use memory_core::id::{AnyId, ArtifactId};
use memory_core::job::{JobKind, Priority};
use memory_engine::forget::Forgotten;
use memory_engine::recall::RecallDraft;
use memory_store::{StoreError, events, jobs};
use memory_tests::{Fixture, turn};

use crate::shorthand::{
    by_id, execute, forget, found_by_words, ids, light, light_sibling, long_text, ns, page, query, rows,
    store,
};
use crate::stand_ins::{line_reader, read_lines, scripted};

async fn try_forget(f: &Fixture, id: &str, confirm: bool) -> Forgotten {
    let id = AnyId::parse(id).expect("an id");
    f.memory.forget(&f.ns, &id, confirm).await.expect("it answers")
}

async fn names(f: &Fixture) -> Vec<String> {
    rows(f, "select name from entity order by name").await
}

/// Whether any passage's lexical index has a lexeme with this in it.
async fn is_indexed(f: &Fixture, word: &str) -> bool {
    sqlx::query_scalar(
        "select exists (select from passage, unnest(lex) l where l.lexeme like '%' || $1 || '%')",
    )
    .bind(word)
    .fetch_one(&mut f.sql().await)
    .await
    .expect("it answers")
}

#[tokio::test]
async fn nothing_is_deleted_without_confirmation() {
    let f = light(line_reader()).await;
    let id = f.remember("Decision by Ann").await.id;
    assert_eq!(try_forget(&f, &id.0, false).await, Forgotten::NotConfirmed);
    assert_eq!(ids(&f.recall("decision").await), [id]);
}

#[tokio::test]
async fn an_event_goes_only_with_its_source() {
    let f = light(line_reader()).await;
    let source = f.remember("Decision by Ann").await.id;
    f.drain().await;
    let event = f.recall("decision").await.results[0].hit.events[0].id.clone();
    for confirm in [false, true] {
        assert_eq!(try_forget(&f, &event, confirm).await, Forgotten::IsEvent { source: source.clone() });
    }
    assert_eq!(f.count("select count(*) from semantic_event").await, 1);
}

#[tokio::test]
async fn what_is_unknown_or_gone_or_of_another_namespace_is_not_found() {
    let mut f = light(line_reader()).await;
    for id in ["art_000000000000", "evt_0000000000000000"] {
        assert_eq!(try_forget(&f, id, false).await, Forgotten::NotFound);
        assert_eq!(try_forget(&f, id, true).await, Forgotten::NotFound);
    }
    let id = f.remember("Decision by Ann").await.id;
    f.ns = ns("other");
    assert_eq!(try_forget(&f, &id.0, true).await, Forgotten::NotFound);
    f.ns = ns("default");
    forget(&f, &id).await;
    assert_eq!(try_forget(&f, &id.0, true).await, Forgotten::NotFound);
}

#[tokio::test]
async fn no_table_keeps_a_row_of_a_forgotten_artifact() {
    let f = light(line_reader()).await;
    f.remember("Feedback by Zoe on Apollo").await;
    let text = format!("Decision by Ann on Apollo\nAnn alias ann@x.org\nChange by Bob\n{}", long_text(120));
    let remembered = f.remember_as(page("p1", &text)).await;
    f.remember_as(page("p2", &text)).await;
    f.drain().await;
    f.remember_as(page("p2", "Something else.")).await;
    let revisions: Vec<i64> =
        sqlx::query_scalar("select revision_id from artifact_revision where artifact_id = $1")
            .bind(&remembered.id.0)
            .fetch_all(&mut f.sql().await)
            .await
            .unwrap();
    assert_eq!(revisions.len(), 2);
    let cascade = forget(&f, &remembered.id).await;
    assert_eq!((cascade.chunks, cascade.events), (remembered.num_chunks as i64, 4));
    assert_eq!(cascade.entities, 2, "Ann and Bob, not Apollo, of whom another text tells");
    let columns: Vec<(String, String)> = sqlx::query_as(
        "select table_name::text, column_name::text from information_schema.columns
         where table_schema = 'public' and column_name in ('artifact_id', 'revision_id', 'superseded_by')",
    )
    .fetch_all(&mut f.sql().await)
    .await
    .unwrap();
    assert!(columns.len() > 12);
    for (table, column) in columns {
        let statement =
            format!("select count(*) from {table} where {column}::text = $1 or {column}::text = any($2)");
        let left: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
            .bind(&remembered.id.0)
            .bind(revisions.iter().map(i64::to_string).collect::<Vec<_>>())
            .fetch_one(&mut f.sql().await)
            .await
            .unwrap();
        assert_eq!(left, 0, "{table}.{column}");
    }
    assert_eq!(f.count("select count(*) from passage_embedding e where not exists (select from passage p where p.passage_id = e.passage_id)").await, 0);
    assert_eq!(names(&f).await, ["Apollo", "Zoe"]);
    assert!(!is_indexed(&f, "pump").await);
}

#[tokio::test]
async fn an_entity_of_an_older_extraction_goes_with_the_text_too() {
    let f = light(line_reader()).await;
    let id = f.remember("Decision by Ann").await.id;
    f.drain().await;
    let later = light_sibling(&f, scripted(|_| Ok(Extraction::default()))).await;
    execute(&f, "insert into event_jobs (namespace, kind, revision_id) select namespace, 'extract', revision_id from artifact_revision").await;
    later.job_runner().drain().await.unwrap();
    assert_eq!(f.count("select count(*) from semantic_event").await, 0);
    forget(&f, &id).await;
    assert!(names(&f).await.is_empty());
}

#[tokio::test]
async fn forgotten_words_do_not_live_on_in_the_next_turn() {
    let f = light(line_reader()).await;
    f.remember_as(turn("chat", 0, "Ann", "About the elephant.")).await;
    let asked = f.remember_as(turn("chat", 1, "Zebulon", "Which giraffe is ill?")).await.id;
    let answered = f.remember_as(turn("chat", 2, "Ann", "The tall one.")).await.id;
    f.drain().await;
    assert!(found_by_words(&f, "giraffe").await.contains(&answered));
    forget(&f, &asked).await;
    assert!(!is_indexed(&f, "giraff").await && !is_indexed(&f, "zebulon").await);
    assert_eq!(found_by_words(&f, "giraffe").await, []);
    assert!(found_by_words(&f, "elephant").await.contains(&answered), "it follows the turn before now");
    let without_vector = "select count(*) from passage p where not exists (select from passage_embedding e where e.passage_id = p.passage_id)";
    assert_eq!(f.count(without_vector).await, 0, "vectors are made of a turn's own words");
}

#[tokio::test]
async fn forgetting_a_replaced_turn_leaves_its_successor_before_the_next_turn() {
    let f = light(line_reader()).await;
    f.remember_as(turn("chat", 0, "Ann", "Hello.")).await;
    let old = f.remember_as(turn("chat", 1, "Ann", "Which giraffe is ill?")).await.id;
    f.remember_as(turn("chat", 1, "Ann", "Which elephant is ill?")).await;
    let next = f.remember_as(turn("chat", 2, "Bob", "The tall one.")).await.id;
    assert!(found_by_words(&f, "elephant").await.contains(&next));
    forget(&f, &old).await;
    assert!(found_by_words(&f, "elephant").await.contains(&next));
}

#[tokio::test]
async fn several_texts_are_forgotten_together_with_what_only_they_name() {
    let f = light(line_reader()).await;
    let apollo = f.remember("Decision by Ann on Apollo").await.id;
    let gemini = f.remember("Decision by Ann on Gemini").await.id;
    f.remember("Change by Bob").await;
    let turns = [
        f.remember_as(turn("chat", 0, "Ann", "About the zanzibar.")).await.id,
        f.remember_as(turn("chat", 1, "Bob", "Which quokka is ill?")).await.id,
        f.remember_as(turn("chat", 2, "Ann", "The tall one.")).await.id,
    ];
    f.drain().await;
    assert_eq!(names(&f).await, ["Ann", "Apollo", "Bob", "Gemini"]);
    let unknown = ArtifactId("art_000000000000".to_owned());
    let several = [apollo, unknown, gemini.clone(), turns[0].clone(), turns[1].clone(), gemini];
    assert_eq!(f.memory.forget_texts(&f.ns, &several).await.expect("it answers"), 4);
    assert_eq!(names(&f).await, ["Bob"]);
    assert_eq!(f.count("select count(*) from artifact").await, 2);
    for word in ["zanzibar", "quokka"] {
        assert!(!is_indexed(&f, word).await, "{word} is not before the turn that is left");
    }
    assert_eq!(f.memory.forget_texts(&f.ns, &several).await.expect("it answers"), 0);
}

#[tokio::test]
async fn forgetting_the_latest_never_promotes_the_older() {
    let f = light(line_reader()).await;
    let old = f.remember_as(page("p", "The giraffe is ill.")).await.id;
    let new = f.remember_as(page("p", "The elephant is well.")).await.id;
    forget(&f, &new).await;
    assert!(f.recall_as(query("giraffe")).await.results.is_empty());
    let all = f.recall_as(RecallDraft { include_superseded: Some(true), ..query("giraffe") }).await;
    assert_eq!(ids(&all), [old]);
    assert!(!all.results[0].hit.is_latest);
    let third = f.remember_as(page("p", "The zebra is back.")).await;
    assert!(third.is_created && third.supersedes.is_none());
}

#[tokio::test]
async fn an_extraction_that_runs_meanwhile_writes_nothing() {
    let f = light(line_reader()).await;
    let id = f.remember("Decision by Ann").await.id;
    let store = store(&f).await;
    let mut conn = store.acquire_across().await.unwrap();
    let job = jobs::claim(&mut conn, Duration::from_mins(1), 1).await.unwrap().remove(0);
    forget(&f, &id).await;
    let mut tx = store.begin_across().await.unwrap();
    assert!(matches!(jobs::finish(&mut tx, &job).await, Err(StoreError::LeaseLost)));
    drop(tx);
    assert_eq!(f.count("select (select count(*) from entity) + (select count(*) from semantic_event) + (select count(*) from event_jobs)").await, 0);
}

#[tokio::test]
async fn a_reading_of_a_talk_writes_nothing_of_a_turn_forgotten_meanwhile() {
    let f = light(line_reader()).await;
    f.remember_as(turn("chat", 0, "Ann", "Decision by Ann")).await;
    let gone = f.remember_as(turn("chat", 1, "Bob", "Feedback by Bob")).await.id;
    let store = store(&f).await;
    let mut conn = store.acquire_across().await.unwrap();
    let job = jobs::claim(&mut conn, Duration::from_mins(1), 1).await.unwrap().remove(0);
    let sources = events::unread_window(&mut conn, &f.ns, "chat", 40, 6).await.unwrap();
    forget(&f, &gone).await;
    let text = memory_core::ports::SourceText {
        context: memory_core::artifact::Context::Conversation,
        title: None,
        author: None,
        participants: vec![],
        segments: sources
            .iter()
            .map(|s| memory_core::ports::Segment {
                text: s.content.clone(),
                speaker: None,
                date: None,
                context_only: false,
                is_date_of_storing: false,
            })
            .collect(),
    };
    let mut found = read_lines(&text);
    let mut rests_on_both = found.events[0].clone();
    rests_on_both.evidence.extend(found.events[1].evidence.clone());
    found.events.push(rests_on_both);
    let mut tx = store.begin_across().await.unwrap();
    jobs::finish(&mut tx, &job).await.unwrap();
    let extractor = events::ExtractorId { name: "scripted", version: 1 };
    events::replace_extraction(&mut tx, &f.ns, extractor, &sources, found, Rejected::default())
        .await
        .unwrap();
    tx.commit().await.unwrap();
    assert_eq!(f.count("select count(*) from semantic_event where narrative = 'Decision by Ann'").await, 1);
    assert_eq!(f.count("select count(*) from semantic_event").await, 1);
    assert_eq!(names(&f).await, ["Ann"]);
}

#[tokio::test]
async fn an_event_goes_when_any_turn_it_rests_on_is_forgotten() {
    let f = light(scripted(|source| {
        let mut found = read_lines(source);
        let second = found.events.pop().expect("two turns tell");
        found.events[0].evidence.extend(second.evidence);
        Ok(found)
    }))
    .await;
    f.remember_as(turn("chat", 0, "Ann", "Decision by Ann")).await;
    let support = f.remember_as(turn("chat", 1, "Bob", "Feedback by Bob")).await.id;
    f.drain().await;
    assert_eq!(f.count("select count(*) from event_evidence").await, 2);
    assert_eq!(forget(&f, &support).await.events, 1);
    assert_eq!(
        f.count("select (select count(*) from semantic_event) + (select count(*) from event_evidence)").await,
        0
    );
}

#[tokio::test]
async fn an_alias_known_only_from_the_forgotten_text_is_gone() {
    let f = light(line_reader()).await;
    let keeps = f.remember("Decision by Ann").await.id;
    let tells = f.remember("Ann alias ann@x.org\nFeedback by Ann").await.id;
    f.drain().await;
    assert_eq!(f.recall_as(by_id(&keeps.0)).await.entities[0].aliases, ["ann@x.org"]);
    forget(&f, &tells).await;
    assert!(f.recall_as(by_id(&keeps.0)).await.entities[0].aliases.is_empty());
    assert_eq!(names(&f).await, ["Ann"]);
}

#[tokio::test]
async fn an_alias_goes_with_the_turn_that_told_it_and_with_no_other() {
    let f = light(line_reader()).await;
    let say = [(0, "Decision by Ann"), (1, "Ann alias ann@x.org"), (2, "Feedback by Ann")];
    let mut turns: Vec<ArtifactId> = Vec::new();
    for (index, text) in say {
        turns.push(f.remember_as(turn("chat", index, "Bob", text)).await.id);
    }
    f.drain().await;
    let aliases = "select count(*) from entity_alias where alias = 'ann@x.org'";
    assert_eq!(f.count(aliases).await, 1);
    forget(&f, &turns[0]).await;
    assert_eq!(f.count(aliases).await, 1, "turn 1 still tells it");
    forget(&f, &turns[1]).await;
    assert_eq!(f.count(aliases).await, 0);
}

#[tokio::test]
async fn a_forgotten_text_can_be_remembered_again_as_new() {
    let f = light(line_reader()).await;
    let first = f.remember("Decision by Ann").await;
    f.drain().await;
    forget(&f, &first.id).await;
    let again = f.remember("Decision by Ann").await;
    assert!(again.is_created && again.id == first.id && again.job_id != first.job_id);
    f.drain().await;
    assert_eq!(f.count("select count(*) from semantic_event").await, 1);
}

#[tokio::test]
async fn a_forget_that_fails_says_so_and_deletes_nothing() {
    let f = light(line_reader()).await;
    let id = f.remember_as(turn("chat", 0, "Ann", "Decision by Ann")).await.id;
    f.remember_as(turn("chat", 1, "Ann", "Feedback by Ann")).await;
    f.drain().await;
    execute(&f, "alter table entity_alias rename to away").await;
    execute(&f, "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
                 create trigger refuse before delete on entity_mention for each row execute function refuse()").await;
    f.memory.forget(&f.ns, &AnyId::Artifact(id.clone()), true).await.unwrap_err();
    assert_eq!(f.count("select count(*) from artifact").await, 2);
    assert_eq!(f.count("select count(*) from semantic_event").await, 2);
    execute(&f, "drop trigger refuse on entity_mention; alter table away rename to entity_alias").await;
    forget(&f, &id).await;
}

#[tokio::test]
async fn a_job_of_a_forgotten_text_is_not_done() {
    let f = light(line_reader()).await;
    let id = f.remember("Decision by Ann").await.id;
    let revision = memory_core::id::RevisionId(f.count("select revision_id from artifact_revision").await);
    let mut tx = store(&f).await.begin_across().await.unwrap();
    jobs::queue(&mut tx, &f.ns, JobKind::Embed, revision, Priority::Small).await.unwrap();
    tx.commit().await.unwrap();
    forget(&f, &id).await;
    assert_eq!(f.drain().await, 0);
}
