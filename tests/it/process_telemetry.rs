//! What a program reports of itself to others: nothing.

use memory_tests::process::{DataDir, Server};
use serde_json::json;

/// ONNX Runtime, left alone, keeps what it means to send in the cache folder of the user.
#[tokio::test]
async fn models_leave_nothing_in_the_users_folders_to_be_sent() {
    let data_dir = DataDir::warm();
    let home = tempfile::tempdir().expect("a folder");
    let mut command = data_dir.command("remembrancer");
    command.env("HOME", home.path()).env("XDG_CACHE_HOME", home.path().join("cache"));
    let server = Server::start_with(command).await;
    server.ask("remember", json!({"content": "Dana will write the report by Friday."})).await;
    server.settled().await;
    let found = server.ask("recall", json!({"query": "Who writes it?"})).await;
    assert_eq!(found["results"][0]["events"][0]["category"], "Commitment", "{found}");
    let left: Vec<_> =
        std::fs::read_dir(home.path()).expect("it is there").flatten().map(|e| e.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}
