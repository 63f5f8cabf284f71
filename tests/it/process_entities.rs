//! `remembrancer entities` with a real process: decisions are made, seen by every client, and taken back.

use std::time::Duration;

use memory_tests::process::{DataDir, eventually};
use serde_json::Value;

async fn remember(data_dir: &DataDir, name: &str, text: &str) {
    let file = data_dir.path().join(name);
    std::fs::write(&file, text).expect("a file is written");
    let kept = data_dir.run(&["remember", &file.to_string_lossy(), "--date", "2026-03-12"]).await;
    assert!(kept.status.success(), "{kept:?}");
}

fn id_of(listed: &Value, name: &str) -> String {
    let entities = listed["entities"].as_array().expect("a list");
    let found = entities.iter().find(|entity| entity["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {listed}"))["id"].to_string()
}

#[tokio::test]
async fn an_operator_sees_doubtful_pairs_decides_and_takes_it_back() {
    let data_dir = DataDir::warm();
    remember(&data_dir, "a.txt", "Anna Kovács will send the budget to Ben Ortiz by 20 March 2026.").await;
    remember(&data_dir, "b.txt", "Anna reviewed the contract with Carla Meyer yesterday.").await;
    eventually("nothing is pending", Duration::from_secs(30), async || {
        data_dir.run(&["status", "--json"]).await.json()["pending_jobs"] == 0
    })
    .await;
    let people = ["entities", "list", "--type", "person", "--json"];
    let before = data_dir.run(&people).await.json();
    let (full, short) = (id_of(&before, "Anna Kovács"), id_of(&before, "Anna"));
    let doubtful = data_dir.run(&["entities", "list", "--review"]).await;
    assert!(
        doubtful.stdout.contains("Anna Kovács") && doubtful.stdout.contains("a first name"),
        "{doubtful:?}"
    );

    let merged = data_dir.run(&["entities", "merge", &full, &short]).await;
    assert!(
        merged.stdout.contains(&format!("`remembrancer entities split {short}` takes it back")),
        "{merged:?}"
    );
    let shown = data_dir.run(&["recall", "--json", "who", "reviewed", "the", "contract?"]).await.json();
    let actors = shown["results"].as_array().expect("results").iter().flat_map(|result| {
        result["events"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|event| event["actors"].as_array().cloned())
    });
    assert!(actors.flatten().all(|actor| actor["name"] != "Anna"), "{shown}");
    let found = data_dir.run(&["entities", "list", "--like", "ANNA"]).await;
    assert!(found.stdout.contains(&format!("merged: {short} Anna")), "{found:?}");
    let again = data_dir.run(&["entities", "merge", &full, &short]).await;
    assert!(again.refusal().contains("already"), "{again:?}");

    assert!(!merged.stdout.contains("Answers say"), "the fuller name is kept: {merged:?}");
    assert!(data_dir.run(&["entities", "split", &short]).await.status.success());
    let turned = data_dir.run(&["entities", "merge", &short, &full]).await;
    let other_way = format!("`remembrancer entities merge {full} {short}`");
    assert!(
        turned.stdout.contains("Answers say \"Anna\"") && turned.stdout.contains(&other_way),
        "{turned:?}"
    );
    assert!(data_dir.run(&["entities", "split", &full]).await.status.success());
    assert_eq!(data_dir.run(&people).await.json(), before);
    let rejected = data_dir.run(&["entities", "reject", &full, &short]).await;
    assert!(rejected.stdout.contains("are not the same"), "{rejected:?}");
    let nothing = data_dir.run(&["entities", "list", "--review"]).await;
    assert_eq!(nothing.stdout, "Nothing is doubtful.\n", "{nothing:?}");
    assert!(data_dir.run(&["entities", "reject", &full, &short, "--undo"]).await.status.success());
    assert_eq!(data_dir.run(&people).await.json(), before);
    let other = data_dir.run(&["--namespace", "other", "entities", "list"]).await;
    assert_eq!(other.stdout, "No entities.\n", "{other:?}");
    let unknown = data_dir.run(&["entities", "split", "999"]).await;
    assert!(unknown.refusal().contains("no entity 999"), "{unknown:?}");
}
