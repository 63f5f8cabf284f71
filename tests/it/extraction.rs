//! Extraction: what a text bears out is stored once, and a failure is never taken for an empty result.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use memory_core::event::{Extraction, Mention};
use memory_core::job::{JobKind, MAX_ATTEMPTS, Priority};
use memory_core::ports::ExtractError;
use memory_language::text::CharSpan;
use memory_store::{events, jobs};
use memory_tests::{Fixture, turn};

use crate::shorthand::{
    by_id, dated, drain_with_retries, execute, light, light_sibling, note, only_job, rows, store,
};
use crate::stand_ins::{line_reader, read_lines, scripted};

#[tokio::test]
async fn an_extractor_that_fails_ends_failed_with_a_code_whatever_its_message_says() {
    for message in ["cannot generate rate of 429 timeout", "plain"] {
        let f = light(scripted(move |_| Err(ExtractError::Failed(message.to_owned())))).await;
        f.remember("Decision by Ann").await;
        f.drain().await;
        assert_eq!(only_job(&f).await, ("PENDING".into(), 1, Some("INTERNAL".into())), "it is tried again");
        drain_with_retries(&f).await;
        assert_eq!(only_job(&f).await, ("FAILED".into(), MAX_ATTEMPTS, Some("INTERNAL".into())));
        assert_eq!(f.count("select count(*) from artifact_revision where extracted_at is null").await, 1);
    }
}

#[tokio::test]
async fn an_extractor_that_panics_ends_failed_and_takes_nothing_along() {
    let f = light(scripted(|source| {
        assert!(!source.segments[0].text.contains("Bomb"), "it went off");
        Ok(read_lines(source))
    }))
    .await;
    f.remember("Bomb.").await;
    f.remember("Decision by Ann").await;
    drain_with_retries(&f).await;
    let jobs =
        rows(&f, "select status || ' ' || coalesce(last_error_code, '-') from event_jobs order by job_id")
            .await;
    assert_eq!(jobs, ["FAILED INTERNAL", "DONE -"]);
}

#[tokio::test]
async fn a_failure_that_passes_leaves_a_done_job() {
    let calls = AtomicUsize::new(0);
    let f = light(scripted(move |source| match calls.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => Err(ExtractError::Failed("not yet".to_owned())),
        _ => Ok(read_lines(source)),
    }))
    .await;
    f.remember("Decision by Ann").await;
    drain_with_retries(&f).await;
    assert_eq!(only_job(&f).await, ("DONE".into(), 3, None));
    assert_eq!(f.count("select count(*) from semantic_event").await, 1);
}

#[tokio::test]
async fn what_the_source_does_not_say_is_rejected_and_counted() {
    let f = light(scripted(|source| {
        let mut found = read_lines(source);
        let mut invented = found.events[0].clone();
        invented.evidence[0].quote = "Decision by Eve".to_owned();
        let mut shifted = found.events[0].clone();
        shifted.evidence[0].span = CharSpan::new(1, 16);
        let mut beyond = found.events[0].clone();
        beyond.evidence[0].segment = 7;
        let mut bare = found.events[0].clone();
        bare.evidence.clear();
        found.events.extend([invented, shifted, beyond, bare]);
        found.entities[0].mentions.push(Mention {
            segment: 0,
            span: CharSpan::new(0, 3),
            surface: "Eve".to_owned(),
        });
        Ok(found)
    }))
    .await;
    f.remember("Decision by Ann").await;
    f.drain().await;
    assert_eq!(rows(&f, "select quote from event_evidence").await, ["Decision by Ann"]);
    assert_eq!(rows(&f, "select surface from entity_mention").await, ["Ann"]);
    assert_eq!(
        f.count("select event_count * 100 + rejected_count::bigint from artifact_revision").await,
        105
    );
}

#[tokio::test]
async fn rejections_in_a_talk_are_counted_once() {
    let f = light(scripted(|source| {
        let mut found = read_lines(source);
        found.events[0].evidence[0].quote = "Never said".to_owned();
        Ok(found)
    }))
    .await;
    for index in 0..3 {
        f.remember_as(turn("chat", index, "Ann", &format!("Decision by Ann on Topic{index}"))).await;
    }
    f.drain().await;
    assert_eq!(f.count("select sum(event_count)::bigint from artifact_revision").await, 2);
    assert_eq!(f.count("select sum(rejected_count)::bigint from artifact_revision").await, 1);
}

#[tokio::test]
async fn extracting_again_keeps_ids_and_doubles_nothing() {
    let f = light(line_reader()).await;
    f.remember("Decision by Ann on Apollo\nDecision by Ann on Apollo\nAnn alias ann@x.org\nFeedback by Bob")
        .await;
    f.drain().await;
    let everything = "select event_id from semantic_event
        union all select event_id || ordinal || quote from event_evidence
        union all select event_id || entity_id || role from event_actor
        union all select event_id || entity_id from event_subject
        union all select entity_id || ':' || start_char || surface from entity_mention
        union all select entity_id || alias from entity_alias
        union all select entity_id || name from entity order by 1";
    let first = rows(&f, everything).await;
    assert!(first.len() > 15);
    let revision = memory_core::id::RevisionId(f.count("select revision_id from artifact_revision").await);
    let mut tx = store(&f).await.begin_across().await.unwrap();
    jobs::queue(&mut tx, &f.ns, JobKind::Extract, revision, Priority::Small).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(f.drain().await, 1);
    assert_eq!(rows(&f, everything).await, first);
}

#[tokio::test]
async fn equal_events_of_two_places_have_ids_of_their_own() {
    let f = light(line_reader()).await;
    f.remember_as(turn("a", 0, "Ann", "Decision by Ann")).await;
    f.remember_as(turn("b", 0, "Ann", "Decision by Ann")).await;
    f.drain().await;
    assert_eq!(f.count("select count(distinct event_id) from semantic_event").await, 2);
}

#[tokio::test]
async fn results_and_completion_commit_together() {
    let f = light(line_reader()).await;
    f.remember("Decision by Ann").await;
    execute(&f, "alter table event_evidence rename to away").await;
    f.drain().await;
    assert_eq!(only_job(&f).await, ("PENDING".into(), 1, Some("INTERNAL".into())));
    assert_eq!(
        f.count("select (select count(*) from semantic_event) + (select count(*) from entity)").await,
        0
    );
    execute(&f, "alter table away rename to event_evidence").await;
    drain_with_retries(&f).await;
    assert_eq!(only_job(&f).await, ("DONE".into(), 2, None));
    assert_eq!(f.count("select count(*) from event_evidence").await, 1);
}

#[tokio::test]
async fn a_worker_that_lost_its_lease_writes_nothing() {
    let f = light(line_reader()).await;
    f.remember("Decision by Ann").await;
    let store = store(&f).await;
    let mut conn = store.acquire_across().await.unwrap();
    let lost = jobs::claim(&mut conn, Duration::ZERO, 1).await.unwrap().remove(0);
    let jobs::JobTarget::Extract(revision) = lost.target else { panic!("an extraction") };
    let source = events::source(&mut conn, &f.ns, revision).await.unwrap().unwrap();
    assert_eq!(source.content, "Decision by Ann");
    f.drain().await;
    let before = rows(&f, "select xmin::text from semantic_event").await;
    assert_eq!(before.len(), 1, "the second worker wrote");
    let mut tx = store.begin_across().await.unwrap();
    assert!(jobs::finish(&mut tx, &lost).await.is_err());
    drop(tx);
    assert_eq!(rows(&f, "select xmin::text from semantic_event").await, before);
}

#[tokio::test]
async fn a_lease_that_runs_out_during_the_work_leaves_the_job_to_another() {
    let f = light(line_reader()).await;
    let url = f.url.clone();
    // While the extractor reads, the lease passes to another worker.
    let thief = scripted(move |source| {
        let url = url.clone();
        let steal = async move {
            let store = memory_store::Store::open(&url, 4).await.unwrap();
            let mut conn = store.acquire_across().await.unwrap();
            sqlx::raw_sql("update event_jobs set leased_until = now()").execute(&mut *conn).await.unwrap();
            assert_eq!(jobs::claim(&mut conn, Duration::from_mins(1), 1).await.unwrap().len(), 1);
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        std::thread::scope(|scope| scope.spawn(|| runtime.block_on(steal)).join().unwrap());
        Ok(read_lines(source))
    });
    let memory = light_sibling(&f, thief).await;
    f.remember("Decision by Ann").await;
    memory.job_runner().drain().await.unwrap();
    assert_eq!(only_job(&f).await, ("PROCESSING".into(), 2, None));
    assert_eq!(
        f.count("select (select count(*) from semantic_event) + (select count(*) from entity)").await,
        0
    );
}

#[tokio::test]
async fn a_text_without_events_is_done_and_says_zero() {
    let f = light(line_reader()).await;
    f.remember("Nothing happened.").await;
    f.drain().await;
    assert_eq!(only_job(&f).await, ("DONE".into(), 1, None));
    assert_eq!(f.count("select event_count::bigint from artifact_revision where extracted_at is not null and extractor = 'scripted' and extractor_version = 1").await, 0);
}

#[tokio::test]
async fn two_extractions_with_the_same_people_do_not_get_in_each_others_way() {
    let f = light(line_reader()).await;
    for n in 0..24 {
        let (one, two) = if n % 2 == 0 { ("Ann", "Bob") } else { ("Bob", "Ann") };
        f.remember(&format!("Note {n}.\nDecision by {one} and {two}")).await;
    }
    let others = [light_sibling(&f, line_reader()).await, light_sibling(&f, line_reader()).await];
    let runners = others.map(|other| other.job_runner());
    let (a, b, c) = tokio::join!(f.drain(), runners[0].drain(), runners[1].drain());
    assert_eq!(a + b.unwrap() + c.unwrap(), 24);
    assert_eq!(f.count("select max(attempts)::bigint from event_jobs where status = 'DONE'").await, 1);
    assert_eq!(f.count("select count(*) from entity").await, 2);
    assert_eq!(f.count("select count(*) from event_actor").await, 48);
}

const VARIED: &[&str] = &[
    "Alice will send the API design to Bob by Friday. We decided to use Postgres instead of MySQL.",
    "📅 Naïve café meeting — Zoë Müller agreed to review the “Größenänderung” by 2026-03-21. 🦀 Risk: the migration may fail.",
    "InstancePaths notes\n\nAttendees: José Ñúñez, Anna-Lena Öberg\n\nDecisions:\n- We decided to move the launch to May 15 🚀\n\nAction items:\n- José Ñúñez: prepare the übersicht by Friday\n- Anna-Lena: call the vendor\n\nRisks:\n- Die Prüfung könnte sich verzögern",
    "From: Ann Chen <ann@example.org>\nTo: Bob Stone <bob@example.org>\nSubject: 価格 and timeline\n\nHi Bob,\n\nI’ll deliver the 漢字 report tomorrow. The team approved the budget… Please review the draft by Monday.\n\nAnn",
    "e\u{301}\u{301} 👩‍👩‍👧‍👦 Carol committed to fixing ERR-4021 in /etc/app.conf by next week.\r\n\r\nDave completed the rollout on 2026-02-01.\r\n",
    "会議の決定：田中さんは金曜日までに報告書を送ります。We agreed to postpone the release. Bob is blocked by the 认证 service.",
];

#[tokio::test]
async fn every_quote_and_mention_stands_where_it_says() {
    let f = Fixture::new().await;
    for (n, text) in VARIED.iter().enumerate() {
        f.remember_as(dated("2026-03-15", text)).await;
        f.remember_as(turn("chat", n as i64, "Zoë", text)).await;
    }
    f.drain().await;
    assert!(f.count("select count(*) from event_evidence").await > 15);
    assert!(f.count("select count(*) from entity_mention").await > 15);
    let misplaced = "select count(*) from (
            select artifact_id, start_char, end_char, quote from event_evidence
            union all select artifact_id, start_char, end_char, surface from entity_mention) v
        join artifact a using (artifact_id)
        where v.quote is distinct from substr(a.content, v.start_char + 1, v.end_char - v.start_char)";
    assert_eq!(f.count(misplaced).await, 0);
    assert_eq!(f.count("select count(*) from semantic_event e where not exists (select from event_evidence v where v.event_id = e.event_id)").await, 0);
}

#[tokio::test]
async fn a_promises_deadline_is_not_when_it_was_made() {
    let f = Fixture::new().await;
    f.remember_as(dated("2026-03-15T09:00:00Z", "Alice Chen will send the API design to Bob by 2026-03-21."))
        .await;
    f.drain().await;
    assert_eq!(
        rows(&f, "select category || ' ' || (due_time at time zone 'UTC')::date from semantic_event").await,
        ["Commitment 2026-03-21"]
    );
    assert_eq!(
        f.count("select count(*) from semantic_event where event_time::date >= '2026-03-21'").await,
        0
    );
}

#[tokio::test]
async fn a_remembered_text_soon_has_events_and_people() {
    let f = Fixture::new().await;
    let id = f.remember_as(note("Alice Chen will send the API design to Bob Stone by Friday.")).await.id;
    f.drain().await;
    let answer = f.recall_as(by_id(&id.0)).await;
    let event = &answer.results[0].hit.events[0];
    assert_eq!(event.category, "Commitment");
    assert!(event.actors.iter().any(|actor| actor.name == "Alice Chen" && actor.role == "owner"));
    let people: Vec<&str> =
        answer.entities.iter().filter(|e| e.entity_type == "person").map(|e| e.name.as_str()).collect();
    assert!(people.contains(&"Alice Chen") && people.contains(&"Bob Stone"), "{people:?}");
}

#[tokio::test]
async fn an_extraction_of_nothing_removes_what_an_older_one_found() {
    let f = light(line_reader()).await;
    f.remember("Decision by Ann").await;
    f.drain().await;
    execute(&f, "insert into event_jobs (namespace, kind, revision_id) select namespace, 'extract', revision_id from artifact_revision").await;
    let later = light_sibling(&f, scripted(|_| Ok(Extraction::default()))).await;
    later.job_runner().drain().await.unwrap();
    assert_eq!(
        f.count("select (select count(*) from semantic_event) + (select count(*) from entity_mention)").await,
        0
    );
    assert_eq!(f.count("select count(*) from entity").await, 0, "nobody refers to Ann any more");
}
