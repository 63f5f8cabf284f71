//! The mirror with real processes: the holder of a data folder, servers and workers of a shared database, and the commands.

use std::process::Stdio;
use std::time::Duration;

use memory_tests::fresh_database;
use memory_tests::process::{DataDir, Ran, eventually};
use memory_tests::qdrant::{Op, StandIn};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);

/// A process whose settings name the stand-in.
async fn run(data_dir: &DataDir, settings: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let mut command = data_dir.command("remembrancer");
    Ran::of(command.envs(settings.iter().copied()).args(arguments)).await
}

async fn remember(data_dir: &DataDir, settings: &[(&str, &str)], text: &str) -> Value {
    let file = data_dir.path().join("note.txt");
    std::fs::write(&file, text).expect("a file is written");
    let kept = run(data_dir, settings, &["remember", "--json", file.to_str().expect("plain")]).await;
    assert!(kept.status.success(), "{kept:?}");
    kept.json()
}

fn differences(summary: &Value) -> Value {
    let one = &summary["found"][0];
    json!([one["points"], one["missing"], one["extra"], one["stale"]])
}

#[tokio::test]
async fn a_data_folder_with_a_mirror_remembers_compares_and_rebuilds() {
    let data_dir = DataDir::warm();
    let stand_in = StandIn::with_key(Some("the-key-of-the-test"));
    let url = stand_in.url();
    let settings = [
        ("QDRANT_URL", url.as_str()),
        ("QDRANT_API_KEY", "the-key-of-the-test"),
        ("REMEMBRANCER_QDRANT_SEARCH", "always"),
    ];
    let run = async |arguments: &[&str]| run(&data_dir, &settings, arguments).await;
    remember(&data_dir, &settings, "The spare key is in the blue box.").await;
    remember(&data_dir, &settings, "Zebras graze by the harbour.").await;
    eventually("both are mirrored", PATIENCE, async || stand_in.collections().values().sum::<usize>() == 2)
        .await;
    eventually("it is searched", PATIENCE, async || !stand_in.aliases().is_empty()).await;
    let found = run(&["recall", "--json", "thing to open the door"]).await;
    assert!(found.stdout.contains("blue box") && !found.stdout.contains("Qdrant"), "{found:?}");
    assert!(stand_in.calls(Op::Query) > 0);
    let status = run(&["status", "--json"]).await.json();
    assert_eq!(status["vector_mirror"]["state"], "searched", "{status}");
    assert_eq!(status["vector_mirror"]["points"], json!({ "chunk": 0, "content": 2, "observation": 0 }));
    assert_eq!(status["services"]["vector_mirror"]["status"], "up", "{status}");
    let sound = run(&["reconcile"]).await;
    assert!(
        sound.status.success() && sound.stdout.contains("2 points; 0 missing, 0 extra, 0 stale"),
        "{sound:?}"
    );
    {
        let mut engine = stand_in.engine();
        let collection = engine.collections.values_mut().next().expect("one");
        let first = *collection.points.keys().next().expect("a point");
        collection.put(first, None);
    }
    let broken = run(&["reconcile"]).await;
    assert!(!broken.status.success() && broken.stdout.contains("1 missing"), "{broken:?}");
    assert!(broken.stdout.contains("`remembrancer reconcile --repair` mends it"), "{broken:?}");
    let mended = run(&["reconcile", "--repair", "--json"]).await;
    assert!(mended.status.success(), "{mended:?}");
    assert_eq!(
        (differences(&mended.json()), &mended.json()["left"][0]["missing"]),
        (json!([2, 1, 0, 0]), &json!(0))
    );
    let rebuilt = run(&["reindex"]).await;
    assert!(rebuilt.status.success() && rebuilt.stdout.contains("in the place of"), "{rebuilt:?}");
    assert!(stand_in.aliases().values().all(|name| name.contains("_v2_")));
    let ended = run(&["reindex", "--end"]).await;
    assert!(ended.status.success() && ended.stdout.contains("collections were deleted"), "{ended:?}");
}

#[tokio::test]
async fn a_worker_of_a_shared_database_keeps_the_mirror_that_servers_search() {
    let data_dir = DataDir::new();
    let (stand_in, database) = (StandIn::start(), fresh_database().await);
    let url = stand_in.url();
    let settings = [
        ("QDRANT_URL", url.as_str()),
        ("DATABASE_URL", database.as_str()),
        ("REMEMBRANCER_QDRANT_SEARCH", "always"),
    ];
    let spare = "The spare key is in the blue box.";
    remember(&data_dir, &settings, spare).await;
    assert!(stand_in.collections().is_empty(), "servers do not write there");
    let mut worker = data_dir.command("event-worker");
    let mut worker = worker.envs(settings).stdout(Stdio::null()).spawn().expect("a worker starts");
    eventually("it is mirrored", PATIENCE, async || stand_in.collections().values().sum::<usize>() == 1)
        .await;
    eventually("it is searched", PATIENCE, async || !stand_in.aliases().is_empty()).await;
    let compared = run(&data_dir, &settings, &["reconcile", "--json"]).await;
    assert_eq!(differences(&compared.json()), json!([1, 0, 0, 0]), "{compared:?}");
    let found = run(&data_dir, &settings, &["recall", "--json", "thing to open the door"]).await;
    assert!(found.stdout.contains("blue box") && stand_in.calls(Op::Query) > 0, "{found:?}");
    worker.kill().await.expect("it ends");
}

#[tokio::test]
async fn settings_that_cannot_work_are_told_in_a_sentence() {
    let data_dir = DataDir::warm();
    for (settings, told) in [
        (&[("QDRANT_URL", "http://localhost:6333")][..], "usually 6334"),
        (
            &[("QDRANT_URL", "http://q:6334"), ("QDRANT_REPLICAS", "2"), ("QDRANT_WRITE_CONSISTENCY", "2")],
            "stop all writes",
        ),
        (&[("QDRANT_URL", "http://q:6334"), ("QDRANT_API_KEY_FILE", "/nowhere/key")], "QDRANT_API_KEY_FILE"),
    ] {
        let refused = run(&data_dir, settings, &["serve", "--bind", "127.0.0.1:0"]).await;
        assert!(!refused.status.success() && refused.stderr.contains(told), "{refused:?}");
    }
    let none = run(&data_dir, &[], &["reconcile"]).await;
    assert!(none.refusal().contains("Set QDRANT_URL"), "{none:?}");
}

#[tokio::test]
async fn a_server_that_is_away_at_the_start_holds_up_nothing() {
    let data_dir = DataDir::warm();
    let settings = [("QDRANT_URL", "http://127.0.0.1:9"), ("REMEMBRANCER_QDRANT_SEARCH", "always")];
    remember(&data_dir, &settings, "The spare key is in the blue box.").await;
    let found = run(&data_dir, &settings, &["recall", "--json", "thing to open the door"]).await;
    assert!(found.status.success() && found.stdout.contains("blue box"), "{found:?}");
    eventually("it is told", PATIENCE, async || {
        let status = run(&data_dir, &settings, &["status", "--json"]).await.json();
        status["services"]["vector_mirror"]["status"] == "down" && status["healthy"] == false
    })
    .await;
}
