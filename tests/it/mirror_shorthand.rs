//! A memory whose vectors are mirrored, in few words.

use std::sync::Arc;
use std::time::Duration;

use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_engine::mirror::{Compared, Look, Reconciled};
use memory_engine::progress::unreported;
use memory_engine::recall::Recall;
use memory_store::Store;
use memory_store::vector::qdrant::Qdrant;
use memory_store::vector::{MirrorSettings, SearchVia, Times};
use memory_tests::qdrant::StandIn;
use memory_tests::{Fixture, at_once, fresh_database};

use crate::shorthand::query;
use crate::stand_ins::{WordModel, line_reader};

/// Times under which nothing waits, but for a server that hangs: a busy machine may take a second to answer.
pub(crate) fn quick() -> Times {
    Times {
        call: Duration::from_secs(4),
        lease: Duration::from_secs(10),
        confirm: Duration::ZERO,
        pause: Duration::from_millis(20),
        pause_max: Duration::from_millis(100),
        retired: Duration::ZERO,
        ..Times::default()
    }
}

pub(crate) fn settings(url: &str) -> MirrorSettings {
    MirrorSettings {
        qdrant_url: Some(url.to_owned()),
        qdrant_search: SearchVia::Always,
        ..MirrorSettings::default()
    }
}

pub(crate) fn server(url: &str, times: Times) -> Qdrant {
    Qdrant::of(&settings(url), None, times).expect("the settings are sound").expect("there is a url")
}

/// A memory on a database of its own with a model that costs nothing, mirrored by a server.
pub(crate) async fn mirrored_by(server: Qdrant) -> Fixture {
    let url = fresh_database().await;
    Fixture { memory: memory_on(&url, Some(server)).await, url, ns: Namespace::default() }
}

/// Another memory on the same database.
pub(crate) async fn memory_on(url: &str, server: Option<Qdrant>) -> Arc<Memory> {
    let store = Store::open(url, 8).await.expect("the database opens");
    let memory = Memory::new(store, line_reader(), at_once()).with_mirror(server);
    memory.adopt_model(WordModel::new("words", 32)).await.expect("the model is adopted");
    Arc::new(memory)
}

/// A mirrored memory and the stand-in that it is mirrored by.
pub(crate) async fn mirrored() -> (Fixture, StandIn) {
    let stand_in = StandIn::start();
    let f = mirrored_by(server(&stand_in.url(), quick())).await;
    settle(&f).await;
    (f, stand_in)
}

/// Waits until it is so.
pub(crate) async fn soon(what: &str, holds: impl AsyncFnMut() -> bool) {
    memory_tests::process::eventually(what, Duration::from_secs(30), holds).await;
}

/// Does all jobs, and applies all that waits.
pub(crate) async fn settle(f: &Fixture) {
    f.drain().await;
    f.memory.mirror().expect("a mirror").drain().await.expect("it is applied");
}

/// Applies what waits, however often the server breaks meanwhile.
pub(crate) async fn settle_at_last(f: &Fixture) {
    f.drain().await;
    for _ in 0..200 {
        if f.memory.mirror().expect("a mirror").drain().await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it never settles");
}

pub(crate) async fn reconcile(f: &Fixture, repair: bool) -> Reconciled {
    f.memory
        .mirror()
        .expect("a mirror")
        .reconcile(repair, Look::Digests, &unreported)
        .await
        .expect("it is compared")
}

/// Missing, extra and stale points.
pub(crate) fn numbers(compared: &[Compared]) -> (u64, u64, u64) {
    let [compared] = compared else { panic!("one collection: {compared:?}") };
    (compared.missing, compared.extra, compared.stale)
}

/// The mirror is what Postgres says; gives how many points that is.
pub(crate) async fn assert_sound(f: &Fixture) -> u64 {
    let found = reconcile(f, false).await;
    assert_eq!(numbers(&found.found), (0, 0, 0), "{found:?}");
    assert!(found.orphans.is_empty(), "{found:?}");
    found.found[0].points
}

const FELL_BACK: &str = "The vector store Qdrant is not available";

pub(crate) fn fell_back(answer: &Recall) -> bool {
    answer.warnings.iter().any(|warning| warning.starts_with(FELL_BACK))
}

/// What the vector arm finds: the words of the question stand nowhere.
pub(crate) async fn near(f: &Fixture, text: &str) -> Recall {
    f.recall_as(query(text)).await
}
