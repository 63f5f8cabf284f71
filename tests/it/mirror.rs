//! The mirror of the vectors: what waits, what is applied, what a search does when the server is broken.

use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_core::artifact::Draft;
use memory_core::id::AnyId;
use memory_engine::worker::Worker;
use memory_store::vector::qdrant::Qdrant;
use memory_store::vector::{MirrorSettings, SearchVia, Times};
use memory_tests::Fixture;
use memory_tests::qdrant::{Fault, Op, StandIn};
use tokio_util::sync::CancellationToken;

use crate::mirror_shorthand::{
    assert_sound, fell_back, memory_on, mirrored, mirrored_by, near, numbers, quick, reconcile, server,
    settings, settle, settle_at_last, soon,
};
use crate::shorthand::{dated, execute, forget, ids, note, page};

const WAITING: &str = "select count(*) from vector_outbox";
fn points(stand_in: &StandIn) -> usize {
    stand_in.collections().values().sum()
}

#[tokio::test]
async fn without_a_mirror_nothing_is_noted() {
    let f = crate::shorthand::light(crate::stand_ins::line_reader()).await;
    f.remember("Zebra.").await;
    let id = f.remember("Harbour.").await.id;
    forget(&f, &id).await;
    f.drain().await;
    assert_eq!(f.count(WAITING).await, 0);
    assert!(f.memory.status(&f.ns, None).await.mirror.is_none());
    let refused = f.memory.mirror().map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("QDRANT_URL"), "{refused}");
}

#[tokio::test]
async fn what_was_there_before_the_mirror_is_filled_in_and_what_comes_after_follows() {
    let url = memory_tests::fresh_database().await;
    let before = memory_on(&url, None).await;
    let stand_in = StandIn::start();
    let ns = memory_core::id::Namespace::default();
    for n in 0..20 {
        before.remember(&ns, note(&format!("zebra {n}"))).await.expect("it is kept");
    }
    let f = Fixture { memory: memory_on(&url, Some(server(&stand_in.url(), quick()))).await, url, ns };
    settle(&f).await;
    assert_eq!(assert_sound(&f).await, 20);
    f.remember("harbour").await;
    assert_eq!(f.count(WAITING).await, 1, "it is noted in the transaction that stores it");
    settle(&f).await;
    assert_eq!((assert_sound(&f).await, points(&stand_in)), (21, 21));
    let names: Vec<String> = stand_in.collections().into_keys().collect();
    assert!(names[0].starts_with("remembrancer_") && names[0].ends_with("_v1_words_32"), "{names:?}");
    assert_eq!(stand_in.aliases().into_values().collect::<Vec<_>>(), names);
}

#[tokio::test]
async fn every_way_to_change_a_text_reaches_the_mirror() {
    let (f, stand_in) = mirrored().await;
    let plain = f.remember("Decision by Ann\nThe zebra plan.").await.id;
    f.remember_as(page("plan", "glacier one")).await;
    f.remember_as(page("plan", "glacier two")).await;
    f.remember_as(Draft { title: Some("A title".into()), ..page("plan", "glacier two") }).await;
    f.remember_as(Draft { tags: vec!["new".into()], ..page("plan", "glacier two") }).await;
    f.remember_as(memory_tests::turn("talk", 0, "Ann", "Shall we sail?")).await;
    let middle = f.remember_as(memory_tests::turn("talk", 1, "Bob", "Yes, at noon.")).await.id;
    f.remember_as(memory_tests::turn("talk", 2, "Ann", "Then pack.")).await;
    f.remember(&crate::shorthand::long_text(400)).await;
    settle(&f).await;
    let all = assert_sound(&f).await;
    assert!(all > 7, "the long text has many passages: {all}");
    forget(&f, &middle).await;
    forget(&f, &plain).await;
    settle(&f).await;
    assert_eq!(assert_sound(&f).await, all - 2);
    let kinds: std::collections::BTreeMap<_, _> =
        f.memory.status(&f.ns, None).await.mirror.expect("there is one").kinds.into_iter().collect();
    assert_eq!(kinds["content"] + kinds["chunk"], all - 2, "{kinds:?}");
    assert!(kinds["chunk"] > 1 && kinds["observation"] == 0, "{kinds:?}");
    f.memory.forget_namespace(&f.ns).await.expect("it is forgotten");
    settle(&f).await;
    assert_eq!((assert_sound(&f).await, points(&stand_in)), (0, 0));
}

#[tokio::test]
async fn no_text_goes_to_the_mirror() {
    let (f, stand_in) = mirrored().await;
    f.remember("The password of the lighthouse is swordfish.").await;
    settle(&f).await;
    let engine = stand_in.engine();
    let payloads: Vec<String> = engine
        .collections
        .values()
        .flat_map(|c| c.points.values())
        .map(|p| format!("{:?}", p.payload))
        .collect();
    assert!(payloads.len() == 1 && !payloads[0].contains("swordfish"), "{payloads:?}");
}

#[tokio::test]
async fn what_waits_is_found_and_what_is_left_over_is_not() {
    let (f, stand_in) = mirrored().await;
    let old = f.remember("zebra violin").await.id;
    settle(&f).await;
    let queries = stand_in.calls(Op::Query);
    let new = f.remember("harbour pepper").await.id;
    forget(&f, &old).await;
    let found = near(&f, "harbour").await;
    assert_eq!(ids(&found), [new], "the point of the old is still there, that of the new is not yet");
    assert!(found.warnings.is_empty() && points(&stand_in) == 1);
    assert!(stand_in.calls(Op::Query) > queries, "the mirror was asked");
    settle(&f).await;
    assert_eq!(assert_sound(&f).await, 1);
}

#[tokio::test]
async fn a_mirror_that_says_what_is_not_so_changes_no_answer() {
    let (f, stand_in) = mirrored().await;
    let kept = f.remember_as(dated("2026-01-01", "zebra violin")).await.id;
    let gone = f.remember("zebra harbour").await.id;
    settle(&f).await;
    let left_over = stand_in.engine().collections.values().next().expect("one").points.clone();
    forget(&f, &gone).await;
    settle(&f).await;
    {
        let mut engine = stand_in.engine();
        let collection = engine.collections.values_mut().next().expect("one");
        for (id, point) in left_over {
            // The forgotten one is back, and all vectors are another's.
            let vector = point.vector.iter().rev().copied().collect();
            collection.put(id, Some(memory_tests::qdrant::Stored { vector, ..point }));
        }
        let stranger = collection.points.values().next().expect("one").clone();
        collection.put(999_999, Some(stranger));
    }
    let found = near(&f, "zebra violin").await;
    assert_eq!(ids(&found), [kept]);
    let explained = found.results[0].explanation.expect("it is explained").vector.expect("by its vector");
    assert!(explained.score > 0.9, "compared by the vector that Postgres has: {explained:?}");
    assert_eq!(numbers(&reconcile(&f, false).await.found), (0, 2, 0));
    assert_eq!(numbers(&reconcile(&f, true).await.left), (0, 0, 0));
}

#[tokio::test]
async fn a_server_that_is_down_holds_up_nothing_and_heals_by_itself() {
    let (f, mut stand_in) = mirrored().await;
    let id = f.remember("zebra violin").await.id;
    settle(&f).await;
    stand_in.stop();
    let late = f.remember("harbour pepper").await.id;
    let found = near(&f, "harbour").await;
    assert!(fell_back(&found), "{:?}", found.warnings);
    assert_eq!(ids(&found), [late, id]);
    assert!(f.memory.mirror().expect("a mirror").drain().await.is_err());
    let status = f.memory.status(&f.ns, None).await;
    let service = status.services.iter().find(|s| s.name == "vector_mirror").expect("it is told");
    assert!(!service.is_healthy && service.detail.contains("Postgres searches instead"), "{service:?}");
    assert!(service.detail.contains("1 passage has waited"), "{service:?}");
    let stop = CancellationToken::new();
    let worker = tokio::spawn({
        let (memory, stop) = (Arc::clone(&f.memory), stop.clone());
        async move { Worker::new(&memory).run(stop).await }
    });
    stand_in.restart(0);
    soon("it has caught up", async || f.count(WAITING).await == 0).await;
    soon("it is asked again", async || !fell_back(&near(&f, "harbour").await)).await;
    stop.cancel();
    worker.await.expect("it ends");
    assert_eq!(assert_sound(&f).await, 2);
}

#[tokio::test]
async fn a_server_that_hangs_costs_one_search_its_deadline_and_no_other_anything() {
    let stand_in = StandIn::start();
    let named = MirrorSettings { qdrant_timeout_ms: 300, ..settings(&stand_in.url()) };
    // Long enough apart that no trial gets in the way.
    let times = Times { pause: Duration::from_secs(2), pause_max: Duration::from_secs(4), ..quick() };
    let f = mirrored_by(Qdrant::of(&named, None, times).unwrap().unwrap()).await;
    f.remember("zebra violin").await;
    settle(&f).await;
    near(&f, "zebra").await;
    stand_in.script(|op| (op == Op::Query).then_some(Fault::Hang));
    let asked = stand_in.calls(Op::Query);
    let started = Instant::now();
    assert!(fell_back(&near(&f, "zebra").await));
    assert!(started.elapsed() >= Duration::from_millis(300), "{:?}", started.elapsed());
    for _ in 0..10 {
        assert!(fell_back(&near(&f, "zebra").await));
    }
    assert_eq!(stand_in.calls(Op::Query), asked + 1, "it was asked once");
    stand_in.heal();
    soon("it is asked again", async || !fell_back(&near(&f, "zebra").await)).await;
}

#[tokio::test]
async fn a_server_that_was_wiped_is_filled_anew() {
    let (f, stand_in) = mirrored().await;
    for n in 0..10 {
        f.remember(&format!("zebra {n}")).await;
    }
    settle(&f).await;
    let stop = CancellationToken::new();
    stand_in.wipe();
    assert!(fell_back(&near(&f, "zebra").await), "the collection is missed at once");
    let worker = tokio::spawn({
        let (memory, stop) = (memory_on(&f.url, Some(server(&stand_in.url(), quick()))).await, stop.clone());
        async move { Worker::new(&memory).run(stop).await }
    });
    soon("it is filled", async || points(&stand_in) == 10).await;
    soon("it is searched", async || !fell_back(&near(&f, "zebra").await)).await;
    stop.cancel();
    worker.await.expect("it ends");
    settle(&f).await;
    assert_eq!(assert_sound(&f).await, 10);
    assert_eq!(stand_in.collections().len(), 1);
    assert!(stand_in.collections().keys().next().expect("one").contains("_v2_"), "never the same name again");
}

#[tokio::test]
async fn writes_that_the_server_lost_are_noticed_and_made_again() {
    let (f, mut stand_in) = mirrored().await;
    for n in 0..5 {
        f.remember(&format!("zebra {n}")).await;
        settle(&f).await;
    }
    stand_in.restart(2);
    assert_eq!(points(&stand_in), 3);
    let stop = CancellationToken::new();
    let worker = tokio::spawn({
        let times = Times { audit: Duration::from_millis(50), ..quick() };
        let (memory, stop) = (memory_on(&f.url, Some(server(&stand_in.url(), times))).await, stop.clone());
        async move { Worker::new(&memory).run(stop).await }
    });
    soon("they are made again", async || points(&stand_in) == 5).await;
    stop.cancel();
    worker.await.expect("it ends");
    settle(&f).await;
    assert_eq!(assert_sound(&f).await, 5);
}

#[tokio::test]
async fn an_answer_without_an_error_that_is_not_completed_counts_as_nothing() {
    let (f, stand_in) = mirrored().await;
    for (fault, times) in [(Fault::WaitTimeout, 1), (Fault::ApplyAndFail, 1), (Fault::ApplyAndHang, 1)] {
        f.remember(&format!("zebra {fault:?}")).await;
        stand_in.fail(Op::Write, fault, times);
        let failed = f.memory.mirror().expect("a mirror").drain().await;
        // The client itself sends again what ended in an error.
        assert!(failed.is_err() || fault == Fault::ApplyAndFail, "{fault:?}");
        stand_in.heal();
        settle(&f).await;
        assert_eq!(f.count(WAITING).await, 0);
    }
    assert_eq!(assert_sound(&f).await, 3);
}

#[tokio::test]
async fn a_write_that_lands_after_the_text_was_forgotten_is_taken_away_again() {
    let stand_in = StandIn::start();
    let times = Times { confirm: Duration::from_millis(300), ..quick() };
    let f = mirrored_by(server(&stand_in.url(), times)).await;
    settle(&f).await;
    let id = f.remember("zebra violin").await.id;
    // Both times: the client sends again what ended in an error.
    stand_in.fail(Op::Write, Fault::ApplyLater, 2);
    assert!(f.memory.mirror().expect("a mirror").drain().await.is_err());
    stand_in.heal();
    forget(&f, &id).await;
    settle(&f).await;
    stand_in.land();
    assert_eq!(points(&stand_in), 1, "it is back");
    assert!(near(&f, "zebra violin").await.results.is_empty(), "and found by nobody");
    soon("it is taken away", async || {
        settle(&f).await;
        points(&stand_in) == 0
    })
    .await;
    assert_eq!((assert_sound(&f).await, f.count(WAITING).await), (0, 0));
}

#[tokio::test]
async fn an_older_write_never_overwrites_a_younger_one() {
    let stand_in = StandIn::start();
    let f = mirrored_by(server(&stand_in.url(), quick())).await;
    settle(&f).await;
    f.remember_as(Draft { tags: vec!["one".into()], ..page("plan", "zebra") }).await;
    stand_in.fail(Op::Write, Fault::ApplyLater, 2);
    assert!(f.memory.mirror().expect("a mirror").drain().await.is_err());
    stand_in.heal();
    f.remember_as(Draft { tags: vec!["two".into()], ..page("plan", "zebra") }).await;
    settle(&f).await;
    stand_in.land();
    assert_eq!(assert_sound(&f).await, 1);
}

#[tokio::test]
async fn what_a_dead_worker_had_claimed_is_applied_by_another() {
    let (f, stand_in) = mirrored().await;
    f.remember("zebra violin").await;
    stand_in.script(|op| (op == Op::Write).then_some(Fault::Hang));
    let dying = tokio::spawn({
        let memory = Arc::clone(&f.memory);
        async move { memory.mirror().expect("a mirror").drain().await }
    });
    soon("it is claimed", async || {
        f.count("select count(*) from vector_outbox where lease_token is not null").await == 1
    })
    .await;
    dying.abort();
    let _ = dying.await;
    stand_in.heal();
    assert_eq!(f.memory.mirror().expect("a mirror").drain().await.expect("it answers"), 0, "it is leased");
    execute(&f, "update vector_outbox set due_at = now()").await;
    settle(&f).await;
    assert_eq!((assert_sound(&f).await, f.count(WAITING).await), (1, 0));
}

#[tokio::test]
async fn an_exhausted_server_is_given_the_time_it_asks_for() {
    let (f, stand_in) = mirrored().await;
    f.remember("zebra violin").await;
    stand_in.fail(Op::Write, Fault::Exhausted { retry_after_seconds: 7 }, 1);
    let before = stand_in.calls(Op::Write);
    let told = f.memory.mirror().expect("a mirror").drain().await.unwrap_err().to_string();
    assert!(told.contains("asks to wait 7 s"), "{told}");
    assert_eq!(stand_in.calls(Op::Write), before + 1, "it is not asked again at once");
    settle(&f).await;
    assert_eq!(assert_sound(&f).await, 1);
}

#[tokio::test]
async fn a_wrong_key_is_told_as_such_and_not_as_an_answer() {
    let stand_in = StandIn::with_key(Some("right-key"));
    let with =
        |key: &str| Qdrant::of(&settings(&stand_in.url()), Some(key.to_owned()), quick()).unwrap().unwrap();
    let f = mirrored_by(with("wrong-key")).await;
    f.remember("zebra violin").await;
    let told = f.memory.mirror().expect("a mirror").drain().await.unwrap_err().to_string();
    assert!(told.contains("the key was refused") && !told.contains("wrong-key"), "{told}");
    let right = Fixture {
        memory: memory_on(&f.url, Some(with("right-key"))).await,
        url: f.url.clone(),
        ns: f.ns.clone(),
    };
    settle(&right).await;
    assert_eq!(assert_sound(&right).await, 1);
}

#[tokio::test]
async fn small_scopes_are_not_asked_for_unless_that_is_wanted() {
    let stand_in = StandIn::start();
    for (via, asked) in [(SearchVia::Large, false), (SearchVia::Never, false), (SearchVia::Always, true)] {
        let named = MirrorSettings { qdrant_search: via, ..settings(&stand_in.url()) };
        let f = mirrored_by(Qdrant::of(&named, None, quick()).unwrap().unwrap()).await;
        let id = f.remember("zebra violin").await.id;
        settle(&f).await;
        let before = stand_in.calls(Op::Query);
        assert_eq!(ids(&near(&f, "zebra").await), [id]);
        assert_eq!(stand_in.calls(Op::Query) > before, asked, "{via:?}");
    }
}

#[tokio::test]
async fn without_its_server_a_memory_of_its_own_stops_noting_and_a_later_mirror_is_filled() {
    let (f, stand_in) = mirrored().await;
    f.remember("zebra").await;
    settle(&f).await;
    let alone = memory_on(&f.url, None).await;
    alone.leave_mirror().await.expect("it is left");
    let id = alone.remember(&f.ns, note("harbour")).await.expect("it is kept").id;
    alone.forget(&f.ns, &AnyId::Artifact(id), true).await.expect("it is forgotten");
    alone.remember(&f.ns, note("pepper")).await.expect("it is kept");
    assert_eq!(f.count(WAITING).await, 0);
    let again = memory_on(&f.url, Some(server(&stand_in.url(), quick()))).await;
    let f = Fixture { memory: again, url: f.url.clone(), ns: f.ns.clone() };
    settle(&f).await;
    assert_eq!((assert_sound(&f).await, stand_in.collections().len()), (2, 1));
}

#[tokio::test]
async fn two_databases_share_a_server_without_seeing_each_other() {
    let stand_in = StandIn::start();
    let (a, b) = (
        mirrored_by(server(&stand_in.url(), quick())).await,
        mirrored_by(server(&stand_in.url(), quick())).await,
    );
    a.remember("zebra").await;
    b.remember("harbour").await;
    b.remember("pepper").await;
    settle(&a).await;
    settle(&b).await;
    assert_eq!((assert_sound(&a).await, assert_sound(&b).await), (1, 2));
    assert_eq!(ids(&near(&a, "zebra").await).len(), 1);
    assert_eq!(a.memory.mirror().expect("a mirror").end().await.expect("it ends"), 1);
    assert_eq!((assert_sound(&b).await, stand_in.collections().len()), (2, 1));
}

#[tokio::test]
async fn several_workers_share_what_waits() {
    let (f, stand_in) = mirrored().await;
    let siblings = [
        memory_on(&f.url, Some(server(&stand_in.url(), quick()))).await,
        memory_on(&f.url, Some(server(&stand_in.url(), quick()))).await,
    ];
    for n in 0..60 {
        f.remember_as(page(&format!("{}", n % 20), &format!("zebra {n}"))).await;
        if n % 10 == 0 {
            let (a, b) = tokio::join!(
                siblings[0].mirror().expect("a mirror").drain(),
                siblings[1].mirror().expect("a mirror").drain()
            );
            a.and(b).expect("both apply");
        }
    }
    settle_at_last(&f).await;
    assert_eq!(assert_sound(&f).await, 60);
}
