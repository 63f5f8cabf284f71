//! Resolution of names: they are taken for one entity where the texts confirm it, and nothing is merged in silence.

use memory_core::artifact::Draft;
use memory_core::entity::EntityType;
use memory_core::job::{JobKind, Priority};
use memory_core::ports::Extractor;
use memory_engine::entity_review::EntityFilter;
use memory_engine::recall::RecallDraft;
use memory_store::jobs;
use memory_tests::{Fixture, turn};
use std::sync::Arc;

use crate::shorthand::{execute, light, note, ns, query, rows, store};
use crate::stand_ins::{line_reader, read_lines, scripted};

/// Everything that a merge or a decision could touch.
pub(crate) const ALL: &str = "select 'entity ' || concat_ws('|', entity_id, name, normalised, entity_type, distinguisher, merged_into, canonical_id) from entity
    union all select 'alias ' || concat_ws('|', entity_id, alias, revision_id) from entity_alias
    union all select 'mention ' || concat_ws('|', entity_id, revision_id, start_char, end_char, surface) from entity_mention
    union all select 'actor ' || concat_ws('|', entity_id, event_id, role, occurred_at) from event_actor
    union all select 'subject ' || concat_ws('|', entity_id, event_id, occurred_at) from event_subject
    union all select 'key ' || concat_ws('|', entity_id, key) from entity_key
    union all select 'pair ' || concat_ws('|', low_id, high_id, score, reasons, state, former_state, created_at) from entity_candidate
    union all select 'owned ' || concat_ws('|', entity_id, event_id, is_promise, ending, matter) from owner_event
    union all select 'link ' || concat_ws('|', commitment_id, closing_id, kind, score, occurred_at) from event_link
    order by 1";

pub(crate) async fn names(f: &Fixture) -> Vec<String> {
    rows(f, "select name from entity order by name, distinguisher").await
}

pub(crate) async fn pairs(f: &Fixture) -> Vec<String> {
    rows(
        f,
        "select concat_ws(' ', least(a.name, b.name), '/', greatest(a.name, b.name), state, needs_review)
         from entity_candidate c join entity a on a.entity_id = c.low_id join entity b on b.entity_id = c.high_id
         order by 1",
    )
    .await
}

/// Who acts in the only event of this narrative.
pub(crate) async fn actor_of(f: &Fixture, narrative: &str) -> String {
    sqlx::query_scalar(
        "select t.name || coalesce(' ' || nullif(t.distinguisher, ''), '') from semantic_event e
         join event_actor using (namespace, event_id) join entity t using (namespace, entity_id)
         where e.narrative = $1",
    )
    .bind(narrative)
    .fetch_one(&mut f.sql().await)
    .await
    .expect("one actor")
}

pub(crate) async fn id_of(f: &Fixture, name: &str) -> i64 {
    sqlx::query_scalar("select entity_id from entity where name = $1 order by entity_id limit 1")
        .bind(name)
        .fetch_one(&mut f.sql().await)
        .await
        .expect("an entity of that name")
}

pub(crate) async fn told(texts: &[&str]) -> Fixture {
    let f = light(line_reader()).await;
    tell(&f, texts).await;
    f
}

/// One after the other.
pub(crate) async fn tell(f: &Fixture, texts: &[&str]) {
    for text in texts {
        f.remember(text).await;
        f.drain().await;
    }
}

pub(crate) async fn extract_again(f: &Fixture, narrative: &'static str) {
    let revision: i64 = sqlx::query_scalar("select revision_id from semantic_event where narrative = $1")
        .bind(narrative)
        .fetch_one(&mut f.sql().await)
        .await
        .expect("an event");
    let mut tx = store(f).await.begin_across().await.expect("a transaction");
    let revision = memory_core::id::RevisionId(revision);
    jobs::queue(&mut tx, &f.ns, JobKind::Extract, revision, Priority::Small).await.expect("it is queued");
    tx.commit().await.expect("it is committed");
    assert_eq!(f.drain().await, 1);
}

#[tokio::test]
async fn a_first_name_alone_is_an_entity_of_its_own_that_may_be_the_full_name() {
    let f = told(&["Decision by Alice Chen", "Zebra.\nFeedback by Alice"]).await;
    assert_eq!(names(&f).await, ["Alice", "Alice Chen"]);
    assert_eq!(pairs(&f).await, ["Alice / Alice Chen open t"]);
    let answer = f.recall_as(query("zebra")).await;
    let alice = answer.entities.iter().find(|entity| entity.name == "Alice").expect("she is there");
    assert_eq!(alice.possibly_same[0].name, "Alice Chen");
    assert!(alice.possibly_same[0].score > 0.4 && alice.possibly_same[0].score < 0.75);
}

#[tokio::test]
async fn it_does_not_matter_which_of_two_doubtful_names_came_first() {
    let f = told(&["Feedback by Alice", "Decision by Alice Chen"]).await;
    assert_eq!(pairs(&f).await, ["Alice / Alice Chen open t"]);
}

#[tokio::test]
async fn a_first_name_in_the_same_text_or_conversation_is_the_full_name() {
    let f = told(&["Decision by Alice Chen\nFeedback by Alice"]).await;
    assert_eq!(names(&f).await, ["Alice Chen"]);
    let f = light(line_reader()).await;
    for (index, text) in [(0, "Decision by Alice Chen"), (30, "Feedback by Alice")] {
        f.remember_as(turn("chat", index, "Bob", text)).await;
        f.drain().await;
    }
    f.remember_as(turn("another chat", 0, "Bob", "Change by Alice")).await;
    f.drain().await;
    assert_eq!(actor_of(&f, "Feedback by Alice").await, "Alice Chen");
    assert_eq!(actor_of(&f, "Change by Alice").await, "Alice", "nothing there speaks for her");
}

#[tokio::test]
async fn what_both_are_mentioned_with_decides_and_only_by_a_margin() {
    for apollo in ["Project Apollo", "Zoe", "Zoe Park"] {
        let f = light(typed_reader()).await;
        let on = |text: &str, what: &str| format!("{text} on {what}");
        tell(
            &f,
            &[
                &on("Decision by Alice Chen", apollo),
                "Decision by Alice Wong on Project Borealis",
                &on("Feedback by Alice", apollo),
            ],
        )
        .await;
        assert_eq!(actor_of(&f, &on("Feedback by Alice", apollo)).await, "Alice Chen");
        let f = light(typed_reader()).await;
        tell(
            &f,
            &[
                &on("Decision by Alice Chen", apollo),
                &on("Decision by Alice Wong", apollo),
                &on("Feedback by Alice", apollo),
            ],
        )
        .await;
        assert_eq!(actor_of(&f, &on("Feedback by Alice", apollo)).await, "Alice");
        assert_eq!(pairs(&f).await, ["Alice / Alice Chen open t", "Alice / Alice Wong open t"]);
    }
}

#[tokio::test]
async fn who_takes_part_is_meant_by_a_first_name() {
    let f =
        told(&["Decision by Alice Chen\nAlice Chen alias alice@a.example", "Decision by Alice Wong"]).await;
    for (participant, text) in
        [("Alice Wong", "Feedback by Alice"), ("A. <alice@a.example>", "Change by Alice")]
    {
        f.remember_as(Draft { participants: vec![participant.into()], ..note(text) }).await;
        f.drain().await;
    }
    assert_eq!(actor_of(&f, "Feedback by Alice").await, "Alice Wong");
    assert_eq!(actor_of(&f, "Change by Alice").await, "Alice Chen");
}

#[tokio::test]
async fn two_addresses_are_two_people_of_one_name_and_an_unclear_third_is_neither() {
    let f = told(&[
        "Alice Chen alias alice@a.example\nDecision by Alice Chen",
        "Alice Chen alias alice@b.example\nChange by Alice Chen",
        "Feedback by Alice Chen",
        "A. Chen alias alice@b.example\nExecution by A. Chen",
    ])
    .await;
    assert_eq!(actor_of(&f, "Decision by Alice Chen").await, "Alice Chen");
    assert_eq!(actor_of(&f, "Change by Alice Chen").await, "Alice Chen alice@b.example");
    assert_eq!(actor_of(&f, "Execution by A. Chen").await, "Alice Chen alice@b.example");
    assert_eq!(actor_of(&f, "Feedback by Alice Chen").await, "Alice Chen ?");
    assert_eq!(names(&f).await.len(), 3);
    assert_eq!(pairs(&f).await, ["Alice Chen / Alice Chen open t", "Alice Chen / Alice Chen open t"]);
}

#[tokio::test]
async fn a_name_without_an_address_gets_the_first_one_and_no_other() {
    let f = told(&[
        "Decision by Alice Chen",
        "Alice Chen alias alice@a.example\nChange by Alice Chen",
        "Alice Chen alias alice@b.example\nFeedback by Alice Chen",
    ])
    .await;
    assert_eq!(names(&f).await.len(), 2);
    assert_eq!(actor_of(&f, "Change by Alice Chen").await, "Alice Chen");
    assert_eq!(actor_of(&f, "Feedback by Alice Chen").await, "Alice Chen alice@b.example");
}

#[tokio::test]
async fn a_handle_or_a_full_name_that_one_person_goes_by_is_theirs() {
    let f = told(&[
        "Alice Chen alias @achen\nAlice Chen alias Alice B. Chen\nDecision by Alice Chen",
        "Bob alias @achen\nFeedback by Bob",
        "Change by Alice B. Chen",
    ])
    .await;
    assert_eq!(names(&f).await, ["Alice Chen"]);
}

/// Names that begin with "Project" or "Team" are of that type.
pub(crate) fn typed_reader() -> Arc<dyn Extractor> {
    scripted(|source| {
        let mut found = read_lines(source);
        for entity in &mut found.entities {
            match entity.name.split(' ').next() {
                Some("Project") => entity.entity_type = EntityType::Project,
                Some("Acme" | "Alice's") => entity.entity_type = EntityType::Org,
                _ => {}
            }
            if let Some(name) = entity.name.strip_prefix("Project ") {
                entity.name = name.to_owned();
            }
        }
        Ok(found)
    })
}

#[tokio::test]
async fn a_name_in_full_takes_the_place_of_one_with_initials() {
    let f = light(line_reader()).await;
    f.remember_as(turn("chat", 0, "Omar Haddad", "Decision by D. Whitfield and Omar Haddad")).await;
    f.drain().await;
    f.remember_as(turn("chat", 1, "Omar Haddad", "Change by Dana Whitfield and Omar Haddad")).await;
    f.drain().await;
    assert_eq!(names(&f).await, ["Dana Whitfield", "Omar Haddad"]);
    // The short form stays a name of it.
    f.remember_as(turn("chat", 2, "Omar Haddad", "Feedback by D. Whitfield")).await;
    f.drain().await;
    assert_eq!(names(&f).await, ["Dana Whitfield", "Omar Haddad"]);
    assert_eq!(actor_of(&f, "Feedback by D. Whitfield").await, "Dana Whitfield");
}

#[tokio::test]
async fn entities_of_different_types_are_never_one() {
    let f = light(typed_reader()).await;
    tell(&f, &["Decision by Apollo Smith", "Decision by Ann on Project Apollo", "Feedback by Apollo"]).await;
    assert_eq!(names(&f).await, ["Ann", "Apollo", "Apollo", "Apollo Smith"]);
    assert_eq!(pairs(&f).await, ["Apollo / Apollo Smith open t"], "only people are weighed for a person");
    let project: i64 = f.count("select entity_id from entity where entity_type = 'project'").await;
    let refused =
        f.memory.entity_review().merge(&f.ns, id_of(&f, "Ann").await, project, true).await.unwrap_err();
    assert!(refused.to_string().contains("of different types are never merged"), "{refused}");
}

#[tokio::test]
async fn a_company_with_its_legal_form_may_be_the_one_without() {
    let f = light(typed_reader()).await;
    tell(&f, &["Decision by Ann on Acme Inc.", "Feedback by Bob on Acme"]).await;
    assert_eq!(pairs(&f).await, ["Acme / Acme Inc. open t"]);
}

#[tokio::test]
async fn extracting_again_keeps_who_was_meant() {
    let f = light(typed_reader()).await;
    tell(&f, &["Decision by Alice Chen on Project Apollo", "Feedback by Alice on Project Apollo"]).await;
    assert_eq!(actor_of(&f, "Feedback by Alice on Project Apollo").await, "Alice Chen");
    tell(&f, &["Change by Alice Wong on Project Apollo"]).await;
    let before = rows(&f, ALL).await;
    extract_again(&f, "Feedback by Alice on Project Apollo").await;
    assert_eq!(rows(&f, ALL).await, before, "though it would be doubtful now");
}

#[tokio::test]
async fn a_question_may_call_an_entity_by_any_of_its_names() {
    let f = told(&[
        "Alice Chen alias AC\nAlice Chen alias alice@a.example\nThe roster.\nDecision by Bob",
        "Commitment by Alice Chen on Apollo",
    ])
    .await;
    for n in 0..12 {
        tell(&f, &[&format!("What was promised in week {n} is written here.\nFeedback by Dora{n}")]).await;
    }
    for name in ["AC", "alice@a.example", "Alice Chen"] {
        let asked =
            RecallDraft { limit: Some(1), ..query(&format!("what was promised in week 3 by {name}?")) };
        let answer = f.recall_as(asked).await;
        assert_eq!(answer.entities[0].name, "Alice Chen", "{name}");
        let first = &answer.related[0];
        assert_eq!(first.narrative, "Commitment by Alice Chen on Apollo", "{name}");
        assert_eq!(first.reason, "same_actor:Alice Chen");
    }
    let filtered = RecallDraft { author: Some("Ann".into()), ..query("what was promised by AC?") };
    let answer = f.recall_as(filtered).await;
    assert!(answer.related.is_empty() && answer.entities.is_empty(), "filters hold");
    let other = memory_engine::recall::RecallRequest::new(query("AC")).expect("a request");
    assert!(f.memory.recall(&ns("other"), &other).await.expect("an answer").entities.is_empty());
}

#[tokio::test]
async fn entities_are_listed_with_what_they_are_called_and_may_be() {
    let f =
        told(&["Alice Chen alias AC\nDecision by Alice Chen", "Feedback by Alice", "Change by Bob"]).await;
    let filter =
        |like: Option<&str>| EntityFilter { entity_type: None, like: like.map(str::to_owned), limit: 2 };
    let (listed, total) = f.memory.entity_review().list(&f.ns, &filter(None)).await.unwrap();
    assert_eq!((listed.len(), total), (2, 3));
    let (called, _) = f.memory.entity_review().list(&f.ns, &filter(Some("AC"))).await.unwrap();
    assert_eq!((called[0].name.as_str(), &called[0].aliases[..]), ("Alice Chen", &["AC".to_owned()][..]));
    assert_eq!(called[0].possibly_same[0].name, "Alice");
    let (pairs, total) = f.memory.entity_review().list_doubtful_pairs(&f.ns, &filter(None)).await.unwrap();
    assert_eq!(total, 1);
    assert_eq!(pairs[0].reasons[0], "a first name");
    let of_type = EntityFilter { entity_type: Some(EntityType::Org), like: None, limit: 9 };
    assert_eq!(f.memory.entity_review().list(&f.ns, &of_type).await.unwrap(), (vec![], 0));
    assert_eq!(
        f.memory.entity_review().list_doubtful_pairs(&ns("other"), &filter(None)).await.unwrap(),
        (vec![], 0)
    );
}

#[tokio::test]
async fn entities_of_an_older_database_get_the_keys_that_are_looked_for() {
    let f = light(typed_reader()).await;
    let texts = [
        "Decision by Alice B. Chen and Carol on Acme Inc",
        "Feedback by Zoë O'Brien on Project Sky Net Nine",
    ];
    tell(&f, &texts).await;
    let keys = "select entity_type || ' ' || key from entity_key order by 1";
    let made = rows(&f, keys).await;
    assert_eq!(made.len(), 19);
    execute(&f, "delete from entity_key").await;
    let migration = include_str!("../../migrations/0008_entity_resolution.sql");
    let begin = migration.find("insert into entity_key").expect("it fills them");
    let statement = migration[begin..].split(';').next().expect("a statement");
    let statement = sqlx::AssertSqlSafe(statement.to_owned());
    sqlx::raw_sql(statement).execute(&mut f.sql().await).await.expect("it runs");
    let migrated = rows(&f, keys).await;
    // A legal form is a word like any other to the migration.
    let lacking = |a: &[String], b: &[String]| -> Vec<String> {
        a.iter().filter(|key| !b.contains(key)).cloned().collect()
    };
    assert_eq!(lacking(&made, &migrated), ["org s:acme"]);
    assert_eq!(lacking(&migrated, &made), ["org s:acmeinc"]);
}

#[tokio::test]
async fn people_of_one_name_come_out_of_an_archive_as_they_went_in() {
    let f = told(&[
        "Alice Chen alias alice@a.example\nDecision by Alice Chen",
        "Alice Chen alias alice@b.example\nChange by Alice Chen",
    ])
    .await;
    let archive = crate::archive::exported_as(&f.memory, &f.ns, true).await;
    let g = light(line_reader()).await;
    crate::archive::import(&g, &archive).await;
    let people = "select t.name || ' ' || distinguisher || ' ' || e.narrative from semantic_event e
                  join event_actor using (namespace, event_id) join entity t using (namespace, entity_id) order by 1";
    assert_eq!(rows(&g, people).await, rows(&f, people).await);
}
