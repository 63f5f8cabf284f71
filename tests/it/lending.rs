//! Connections are lent to one namespace after the other: each sees its own, whoever had the connection before and however they left it.

use std::time::Duration;

use memory_core::id::Namespace;
use memory_store::{Conn, Store, StoreError};
use memory_tests::Fixture;

use crate::shorthand::{light, note, ns, store};
use crate::stand_ins::line_reader;

/// Two namespaces with one and two texts.
async fn two_namespaces() -> (Fixture, Store, Namespace, Namespace) {
    let f = light(line_reader()).await;
    let (one, two) = (ns("one"), ns("two"));
    f.memory.remember(&one, note("The only text.")).await.expect("it is stored");
    for text in ["The first text.", "The second text."] {
        f.memory.remember(&two, note(text)).await.expect("it is stored");
    }
    let store = store(&f).await;
    (f, store, one, two)
}

/// How many texts a connection sees, and which server process it has.
async fn seen(conn: &mut Conn) -> (i64, i32) {
    sqlx::query_as("select (select count(*) from artifact), pg_backend_pid()")
        .fetch_one(conn)
        .await
        .expect("it is asked")
}

#[tokio::test]
async fn a_connection_kept_ready_is_lent_as_it_is_and_told_another_namespace_first() {
    let (_f, store, one, two) = two_namespaces().await;
    let mut conn = store.acquire(&one).await.expect("a connection");
    let (texts, first) = seen(&mut conn).await;
    assert_eq!(texts, 1);
    conn.done();
    let mut conn = store.acquire(&one).await.expect("a connection");
    assert_eq!(seen(&mut conn).await, (1, first), "the same, as it was left");
    conn.done();
    for _ in 0..3 {
        for (ns, expected) in [(Some(&two), 2), (None, 3), (Some(&one), 1)] {
            let mut conn = store.acquire_of(ns).await.expect("a connection");
            assert_eq!(seen(&mut conn).await.0, expected);
            conn.done();
            let mut tx = store.begin_of(ns).await.expect("a transaction");
            assert_eq!(seen(&mut tx).await.0, expected);
            tx.commit().await.expect("it ends");
        }
    }
    assert!(store.pool_state().idle > 0, "those that are ready are idle");
}

#[tokio::test]
async fn a_transaction_of_another_namespace_leaves_a_connection_as_it_was() {
    let (_f, store, one, two) = two_namespaces().await;
    for is_committed in [true, false, true, false] {
        store.acquire(&one).await.expect("a connection").done();
        let mut tx = store.begin(&two).await.expect("a transaction");
        assert_eq!(seen(&mut tx).await.0, 2);
        if is_committed {
            tx.commit().await.expect("it ends");
        } else {
            drop(tx);
        }
        for (ns, expected) in [(&one, 1), (&two, 2)] {
            let mut conn = store.acquire(ns).await.expect("a connection");
            assert_eq!(seen(&mut conn).await.0, expected);
            conn.done();
        }
    }
}

#[tokio::test]
async fn a_transaction_that_is_dropped_has_changed_nothing_and_holds_nothing() {
    let (_f, store, one, _) = two_namespaces().await;
    for _ in 0..20 {
        let mut tx = store.begin(&one).await.expect("a transaction");
        sqlx::query("update artifact set token_count = 77").execute(&mut *tx).await.expect("it may");
        drop(tx);
        // It would wait for the row.
        let changing = async {
            let mut tx = store.begin(&one).await?;
            let changed: i64 = sqlx::query_scalar(
                "with held as (select token_count from artifact for update) select count(*) from held where token_count = 77",
            )
            .fetch_one(&mut *tx)
            .await?;
            tx.commit().await?;
            Ok::<i64, StoreError>(changed)
        };
        let changed = tokio::time::timeout(Duration::from_secs(20), changing).await.expect("nobody holds it");
        assert_eq!(changed.expect("it is asked"), 0);
    }
}

#[tokio::test]
async fn what_is_given_up_in_the_middle_of_a_statement_spoils_nothing_for_the_next() {
    let (_f, store, one, two) = two_namespaces().await;
    for n in 0..10_u64 {
        let mut conn = store.acquire(&one).await.expect("a connection");
        let sleeping = sqlx::query("select pg_sleep(0.05)").execute(&mut *conn);
        let given_up = tokio::time::timeout(Duration::from_millis(n), sleeping).await;
        assert!(given_up.is_err());
        drop(conn);
        for (ns, expected) in [(&two, 2), (&one, 1)] {
            let mut conn = store.acquire(ns).await.expect("a connection");
            assert_eq!(seen(&mut conn).await.0, expected);
            conn.done();
        }
    }
}

#[tokio::test]
async fn everybody_gets_a_connection_of_the_smallest_pool() {
    let f = light(line_reader()).await;
    let store = Store::attach(&f.url, 4).await.expect("it is there");
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..200 {
        let store = store.clone();
        tasks.spawn(async move {
            let ns = ns(&format!("n{}", n % 5));
            match n % 4 {
                0 => store.begin(&ns).await?.commit().await?,
                1 => drop(store.begin(&ns).await?),
                2 => store.acquire(&ns).await?.done(),
                _ => store.hint(memory_store::Topic::Jobs).await?,
            }
            Ok::<(), StoreError>(())
        });
    }
    for done in tasks.join_all().await {
        done.expect("it got one");
    }
    let state = store.pool_state();
    assert!(state.used + state.idle <= 4, "{state:?}");
    tokio::time::timeout(Duration::from_secs(10), store.close()).await.expect("none is left out");
}
