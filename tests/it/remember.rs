//! remember: what is stored, once, with its place.

use std::time::Duration;

use memory_core::artifact::{CONTENT_MAX_CHARS, Draft};
use memory_core::id::ContentHash;
use memory_core::job::{JobKind, Priority};
use memory_engine::EngineError;
use memory_engine::recall::{Recall, RecallDraft};
use memory_store::{artifacts, jobs};
use memory_tests::{Fixture, turn};
use tokio::task::JoinSet;

use crate::shorthand::{by_id, execute, forget, found_by_words, ids, light, note, ns, page, query, store};
use crate::stand_ins::line_reader;

#[tokio::test]
async fn the_same_text_is_stored_once() {
    let f = Fixture::new().await;
    let first = f.remember("Alice prefers tea.").await;
    let second = f.remember("Alice prefers tea.").await;
    assert!(first.is_created && !second.is_created);
    assert_eq!(first.id, second.id);
    assert_eq!(f.count("select count(*) from artifact_revision").await, 1);
    assert_eq!(f.count("select count(*) from passage_embedding").await, 1);
}

#[tokio::test]
async fn the_same_text_in_two_namespaces_is_two_artifacts_that_do_not_know_of_each_other() {
    let mut f = light(line_reader()).await;
    let here = f.remember("Alice prefers tea.").await;
    f.ns = ns("other");
    assert!(f.recall_as(by_id(&here.id.0)).await.results.is_empty());
    let there = f.remember("Alice prefers tea.").await;
    assert!(there.is_created && there.supersedes.is_none() && there.job_id != here.job_id);
    assert_eq!(f.count("select count(*) from artifact").await, 2);
    forget(&f, &there.id).await;
    assert_eq!(f.count("select count(*) from artifact where namespace = 'default'").await, 1);
}

#[tokio::test]
async fn the_same_text_at_two_places_is_one_artifact_with_two_revisions() {
    let f = light(line_reader()).await;
    let first = f.remember_as(page("p1", "Alice prefers tea.")).await;
    let second = f.remember_as(page("p2", "Alice prefers tea.")).await;
    assert!(first.is_created && second.is_created && second.supersedes.is_none());
    assert_eq!(first.id, second.id);
    assert_eq!(f.count("select count(*) from artifact").await, 1);
    assert_eq!(f.count("select count(*) from artifact_revision where is_latest").await, 2);
}

#[tokio::test]
async fn one_text_by_two_authors_is_two_results_of_one_id_and_stored_once() {
    let f = light(line_reader()).await;
    let by = |author: &str| Draft { author: Some(author.into()), ..note("I'll water the plants.") };
    let first = f.remember_as(by("Anna")).await;
    let second = f.remember_as(by("Tom")).await;
    assert!(second.is_created && second.supersedes.is_none() && first.id == second.id);
    for again in [by("anna "), by("Tom"), note("I'll water the plants.")] {
        assert!(!f.remember_as(again).await.is_created);
    }
    assert_eq!(f.count("select count(*) from artifact").await, 1);
    assert_eq!(f.count("select count(*) from artifact_revision").await, 2);
    let authors = |answer: &Recall| {
        let mut authors: Vec<_> = answer.results.iter().map(|found| found.hit.author.clone()).collect();
        authors.sort();
        authors
    };
    let answer = f.recall_as(query("who waters the plants")).await;
    assert_eq!(ids(&answer), [first.id.clone(), first.id.clone()]);
    assert_eq!(authors(&answer), [Some("Tom".to_owned()), Some("anna".to_owned())]);
    let hers = RecallDraft { author: Some("Anna".into()), ..query("who waters the plants") };
    assert_eq!(authors(&f.recall_as(hers).await), [Some("anna".to_owned())]);
    let places = f.recall_as(by_id(&first.id.0)).await.places;
    assert_eq!(
        places.iter().filter_map(|place| place.author.as_deref()).collect::<Vec<_>>(),
        ["Tom", "anna"]
    );
    // Also in another memory.
    let archive = crate::archive::exported_as(&f.memory, &f.ns, false).await;
    let other = light(line_reader()).await;
    for count in [2, 0] {
        assert_eq!(crate::archive::import(&other, &archive).await.revisions.created, count);
    }
    assert_eq!(authors(&other.recall_as(query("who waters the plants")).await).len(), 2);
    forget(&f, &first.id).await;
    assert!(f.recall_as(query("who waters the plants")).await.results.is_empty());
}

#[tokio::test]
async fn one_text_in_two_turns_is_two_results() {
    let f = light(line_reader()).await;
    for (index, author) in [(3, "Anna"), (7, "Tom")] {
        f.remember_as(turn("home", index, author, "I'll water the plants.")).await;
    }
    let answer = f.recall_as(query("who waters the plants")).await;
    let mut turns: Vec<_> = answer.results.iter().map(|found| found.hit.turn_index).collect();
    turns.sort_unstable();
    assert_eq!(turns, [Some(3), Some(7)]);
}

#[tokio::test]
async fn a_text_that_returns_to_its_place_is_its_third_revision() {
    let f = light(line_reader()).await;
    let a = f.remember_as(page("p", "Alice prefers tea.")).await;
    let b = f.remember_as(page("p", "Alice prefers coffee.")).await;
    let again = f.remember_as(page("p", "Alice prefers tea.")).await;
    assert_eq!(
        (a.supersedes, b.supersedes, again.supersedes),
        (None, Some(a.id.clone()), Some(b.id.clone()))
    );
    assert_eq!(again.id, a.id);
    assert!(again.is_created);
    assert_eq!(f.count("select count(*) from artifact").await, 2);
    let chain: Vec<(String, bool, Option<String>)> = sqlx::query_as(
        "select r.artifact_id, r.is_latest, s.artifact_id from artifact_revision r
         left join artifact_revision s on s.revision_id = r.superseded_by order by r.revision_id",
    )
    .fetch_all(&mut f.sql().await)
    .await
    .unwrap();
    let (a, b) = (a.id.0, b.id.0);
    assert_eq!(chain, [(a.clone(), false, Some(b.clone())), (b, false, Some(a.clone())), (a, true, None)]);
    assert_eq!(f.count("select count(*) from passage p join artifact_revision r using (revision_id) where p.is_latest <> r.is_latest").await, 0);
    assert_eq!(f.count("select count(*) from passage_embedding p join artifact_revision r using (revision_id) where p.is_latest <> r.is_latest").await, 0);
}

#[tokio::test]
async fn a_new_title_is_findable_and_what_was_not_given_stays() {
    let f = light(line_reader()).await;
    let first = f
        .remember_as(Draft {
            author: Some("Alice".into()),
            tags: vec!["drinks".into()],
            importance: Some(0.9),
            context: Some("preference".into()),
            ..note("Tea is preferred.")
        })
        .await;
    assert_eq!(found_by_words(&f, "giraffe").await, []);
    let renamed =
        f.remember_as(Draft { title: Some("The giraffe file".into()), ..note("Tea is preferred.") }).await;
    assert!(!renamed.is_created && !renamed.is_embedding_pending);
    assert_eq!(renamed.summary, "The giraffe file");
    assert_eq!(found_by_words(&f, "giraffe").await, [first.id]);
    assert_eq!(found_by_words(&f, "alice").await.len(), 1);
    let hit = f.recall("tea").await.results.remove(0).hit;
    assert_eq!(
        (hit.author.as_deref(), hit.tags, hit.context.as_str()),
        (Some("Alice"), vec!["drinks".into()], "preference")
    );
    assert!((hit.importance - 0.9).abs() < 1e-6);
    assert_eq!(f.count("select count(*) from passage_embedding").await, 1);
}

#[tokio::test]
async fn a_source_id_given_later_is_kept_with_the_turn() {
    let f = light(line_reader()).await;
    f.remember_as(turn("chat", 0, "Ann", "Hello.")).await;
    f.remember_as(Draft { source_id: Some("m-1".into()), ..turn("chat", 0, "Ann", "Hello.") }).await;
    assert_eq!(f.count("select count(*) from artifact_revision where source_id = 'm-1'").await, 1);
}

#[tokio::test]
async fn two_equal_turns_stay_two_turns() {
    let f = light(line_reader()).await;
    let first = f.remember_as(turn("chat", 3, "Ann", "Yes.")).await;
    let second = f.remember_as(turn("chat", 5, "Ann", "Yes.")).await;
    assert!(second.is_created);
    assert_eq!(first.id, second.id);
    assert_eq!(
        f.count("select count(*) from artifact_revision where is_latest and turn_index in (3, 5)").await,
        2
    );
}

#[tokio::test]
async fn two_contents_that_share_twelve_digits_get_ids_of_their_own() {
    let f = light(line_reader()).await;
    let (mut one, mut two) = ([7_u8; 32], [7_u8; 32]);
    one[6] = 1;
    two[6] = 2;
    let store = store(&f).await;
    let mut ids = Vec::new();
    for (hash, content) in [(one, "first"), (two, "second"), (one, "first"), (two, "second")] {
        let mut tx = store.begin_across().await.unwrap();
        ids.push(artifacts::insert_artifact(&mut tx, &f.ns, &ContentHash(hash), content, 1).await.unwrap().0);
        tx.commit().await.unwrap();
    }
    assert_eq!(ids, ["art_070707070707", "art_0707070707070207", "art_070707070707", "art_0707070707070207"]);
    assert_eq!(f.count("select count(*) from artifact").await, 2);
}

#[tokio::test]
async fn what_cannot_be_stored_is_refused_with_its_reason() {
    let f = Fixture::without_model(line_reader()).await;
    let cases = [
        (note(""), "it is empty"),
        (note(" \n\t "), "it is empty"),
        (note("a\0b"), "NUL character at position 1"),
        (note(&"a".repeat(CONTENT_MAX_CHARS + 1)), "10000001 characters, the limit is 10000000"),
        (Draft { title: Some("t".repeat(501)), ..note("x") }, "Invalid title 'tttt"),
        (Draft { tags: vec!["t\0".into()], ..note("x") }, "Invalid tags: it has a NUL"),
        (Draft { participants: vec!["p".into(); 101], ..note("x") }, "Invalid participants: 101 items"),
        (
            Draft { context: Some("memo".into()), ..note("x") },
            "Invalid context 'memo'. Must be one of: meeting, email",
        ),
        (
            Draft { context: Some("conversation".into()), ..note("x") },
            "requires conversation_id and turn_index",
        ),
        (Draft { turn_index: Some(1), ..note("x") }, "turn_index needs conversation_id"),
        (turn("c", -1, "Ann", "x"), "Invalid turn_index -1"),
        (Draft { role: Some("robot".into()), ..note("x") }, "Invalid role 'robot'"),
        (Draft { importance: Some(f64::NAN), ..note("x") }, "Invalid importance NaN"),
        (Draft { date: Some("2026-03-01T10:00:00".into()), ..note("x") }, "no offset"),
    ];
    for (draft, reason) in cases {
        match f.memory.remember(&f.ns, draft).await {
            Err(EngineError::Invalid(error)) => assert!(error.0.contains(reason), "{error} lacks {reason}"),
            other => panic!("{reason}: {other:?}"),
        }
    }
    assert_eq!(f.count("select count(*) from artifact").await, 0);
}

#[tokio::test]
async fn any_character_but_nul_can_be_remembered_and_asked_for() {
    let f = Fixture::new().await;
    for text in [
        "it's C:\\temp\\o'neil & (a | b) :* <-> !x",
        "\u{feff}\u{200b}\u{202e}𝔘𝔫𝔦 🦀👩‍👩‍👧 \u{fffd}\u{10ffff}",
        "%_%s {} $1 \"; drop table artifact; --",
        "'''\\\\'''",
    ] {
        let remembered = f.remember(text).await;
        assert_eq!(f.recall_as(by_id(&remembered.id.0)).await.results[0].content.as_deref(), Some(text));
        assert!(ids(&f.recall_as(query(text)).await).contains(&remembered.id), "{text}");
    }
}

#[tokio::test]
async fn twenty_callers_with_one_text_store_it_once() {
    let f = light(line_reader()).await;
    let mut calls = JoinSet::new();
    for _ in 0..20 {
        let (memory, ns) = (f.memory.clone(), f.ns.clone());
        calls.spawn(async move { memory.remember(&ns, note("The gate opens at six.")).await });
    }
    let answers: Vec<_> =
        calls.join_all().await.into_iter().map(|answer| answer.expect("no call fails")).collect();
    assert_eq!(answers.iter().filter(|a| a.is_created).count(), 1);
    assert_eq!(f.count("select count(*) from artifact").await, 1);
    assert_eq!(f.count("select count(*) from artifact_revision").await, 1);
    assert_eq!(f.count("select count(*) from event_jobs").await, 1);
}

#[tokio::test]
async fn twenty_callers_at_one_place_leave_one_latest_revision() {
    let f = light(line_reader()).await;
    let mut calls = JoinSet::new();
    for n in 0..20 {
        let (memory, ns) = (f.memory.clone(), f.ns.clone());
        calls.spawn(
            async move { memory.remember(&ns, turn("chat", 1, "Ann", &format!("Version {n}."))).await },
        );
    }
    assert!(calls.join_all().await.iter().all(|answer| answer.as_ref().is_ok_and(|a| a.is_created)));
    assert_eq!(f.count("select count(*) from artifact_revision").await, 20);
    assert_eq!(f.count("select count(*) from artifact_revision where is_latest").await, 1);
    assert_eq!(
        f.count("select count(distinct superseded_by) from artifact_revision where not is_latest").await,
        19
    );
}

#[tokio::test]
async fn remembering_beside_forgetting_leaves_nothing_half() {
    let f = light(line_reader()).await;
    let mut calls = JoinSet::new();
    for n in 0..24 {
        let (memory, ns) = (f.memory.clone(), f.ns.clone());
        let draft = turn("chat", n % 3, "Ann", "The gate opens at six.");
        let id =
            memory_core::id::AnyId::Artifact(ContentHash::of(&draft.content).candidate_ids().next().unwrap());
        calls.spawn(async move {
            match n % 4 {
                0 => memory.forget(&ns, &id, true).await.map(drop),
                _ => memory.remember(&ns, draft).await.map(drop),
            }
        });
    }
    assert!(calls.join_all().await.iter().all(Result::is_ok));
    assert_eq!(f.count("select count(*) from artifact a where not exists (select from artifact_revision r where r.artifact_id = a.artifact_id)").await, 0);
}

#[tokio::test]
async fn a_call_that_fails_late_leaves_nothing_behind() {
    let f = light(line_reader()).await;
    execute(&f, "alter table event_jobs rename to away").await;
    let error = f.memory.remember(&f.ns, turn("chat", 0, "Ann", "Hello.")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "An internal error occurred. Nothing was changed; the server's log has the details."
    );
    f.memory.remember(&f.ns, note("Hello.")).await.unwrap_err();
    for table in ["artifact", "artifact_revision", "passage", "passage_embedding", "away"] {
        let count: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(format!("select count(*) from {table}")))
            .fetch_one(&mut f.sql().await)
            .await
            .unwrap();
        assert_eq!(count, 0, "{table}");
    }
}

#[tokio::test]
async fn a_call_outlives_the_loss_of_its_connections() {
    let f = light(line_reader()).await;
    execute(&f, "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()").await;
    assert!(f.remember("The gate opens at six.").await.is_created);
}

#[tokio::test]
async fn an_unchanged_text_queues_an_extraction_only_if_none_ever_ran_and_none_is_open() {
    let f = light(line_reader()).await;
    let jobs = "select count(*) from event_jobs where kind = 'extract'";
    let first = f.remember("Decision by Ann").await;
    assert_eq!(f.remember("Decision by Ann").await.job_id, first.job_id);
    assert_eq!(f.count(jobs).await, 1, "one is open");
    execute(&f, "delete from event_jobs").await;
    assert!(f.remember("Decision by Ann").await.job_id.is_some());
    assert_eq!(f.count(jobs).await, 1, "none was open, so the loss is repaired");
    f.drain().await;
    execute(&f, "delete from event_jobs").await;
    assert_eq!(f.remember("Decision by Ann").await.job_id, None);
    assert_eq!(f.count(jobs).await, 0, "it was extracted");
}

#[tokio::test]
async fn a_revision_has_at_most_one_open_job_of_a_kind() {
    let f = light(line_reader()).await;
    f.remember("Decision by Ann").await;
    let store = store(&f).await;
    let mut conn = store.acquire_across().await.unwrap();
    let held = jobs::claim(&mut conn, Duration::from_mins(1), 10).await.unwrap();
    let jobs::JobTarget::Extract(revision) = held[0].target else { panic!("an extraction") };
    let mut tx = store.begin_across().await.unwrap();
    assert_eq!(jobs::queue(&mut tx, &f.ns, JobKind::Extract, revision, Priority::Small).await.unwrap(), None);
    assert!(jobs::queue(&mut tx, &f.ns, JobKind::Embed, revision, Priority::Small).await.unwrap().is_some());
}
