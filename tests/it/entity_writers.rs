//! Writers at once: no entity is made twice, and none gets the addresses of two people.

use std::sync::Arc;
use std::time::Duration;

use memory_tests::process::eventually;

use crate::entities::{names, told};
use crate::shorthand::{light, light_sibling, rows};
use crate::stand_ins::line_reader;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn twenty_workers_at_once_make_no_entity_twice() {
    let f = light(line_reader()).await;
    let kinds = [
        "Alice Chen alias alice@a.example\nDecision by Alice Chen",
        "A. Chen alias alice@a.example\nDecision by A. Chen",
        "Alice Chen alias alice@b.example\nDecision by Alice Chen",
        "Decision by Bob Stone and Carol",
        "Decision by Carol and Bob Stone",
    ];
    for n in 0..200 {
        f.remember(&format!("Note {n}.\n{}", kinds[n % kinds.len()])).await;
    }
    let memory = light_sibling(&f, line_reader()).await;
    let workers = (0..20).map(|_| {
        let memory = Arc::clone(&memory);
        tokio::spawn(async move { memory.job_runner().drain().await.expect("jobs are done") })
    });
    let done: usize = futures::future::join_all(workers).await.into_iter().map(|done| done.unwrap()).sum();
    assert_eq!(done, 200);
    assert_eq!(f.count("select max(attempts)::bigint from event_jobs").await, 1);
    let twice = "select count(*) from (select from entity group by entity_type, normalised, distinguisher having count(*) > 1) twice";
    assert_eq!(f.count(twice).await, 0);
    let held = "select string_agg(distinct entity_id::text, ',') from entity_alias where position('@' in normalised) > 1 group by normalised order by 1";
    let holders = rows(&f, held).await;
    assert_eq!(holders.len(), 2);
    assert!(holders[0] != holders[1] && holders.iter().all(|ids| !ids.contains(',')), "{holders:?}");
    assert_eq!(f.count("select count(*) from entity").await, 4, "{:?}", names(&f).await);
}

#[tokio::test]
async fn a_name_that_is_being_given_to_one_person_is_not_taken_for_another() {
    let f = told(&["A. Chen alias alice@a.example\nDecision by A. Chen"]).await;
    let mut holder = f.sql().await;
    let held = "begin; lock table entity_mention in share row exclusive mode";
    sqlx::raw_sql(held).execute(&mut holder).await.expect("the table is locked");
    let waits = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    let mut workers = Vec::new();
    for (waiting, text) in [
        (1, "Alice Chen alias alice@a.example\nDecision by Alice Chen"),
        (2, "Alice Chen alias alice@b.example\nDecision by Alice Chen"),
    ] {
        f.remember(text).await;
        let memory = light_sibling(&f, line_reader()).await;
        workers.push(tokio::spawn(async move { memory.job_runner().drain().await }));
        eventually("it waits", Duration::from_secs(20), async || f.count(waits).await == waiting).await;
    }
    sqlx::raw_sql("commit").execute(&mut holder).await.expect("the lock is released");
    for worker in workers {
        assert_eq!(worker.await.unwrap().expect("the job is done"), 1);
    }
    assert_eq!(f.count("select max(attempts)::bigint from event_jobs").await, 1);
    assert_eq!(names(&f).await, ["Alice Chen", "Alice Chen"]);
}
