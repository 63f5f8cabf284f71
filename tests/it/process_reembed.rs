//! `remembrancer reembed` with real processes and the real model under another name.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use memory_tests::process::{DataDir, Server, eventually, kill};
use memory_tests::{components_dir, fresh_database};
use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

const DEFAULT: &str = "all-MiniLM-L6-v2-int8";

/// A data folder whose models may be added to.
fn data_dir() -> DataDir {
    let data_dir = DataDir::warm();
    let models = data_dir.path().join("models");
    std::fs::remove_file(&models).expect("it was a link");
    std::fs::create_dir(&models).expect("a folder is made");
    std::os::unix::fs::symlink(components_dir().join("models").join(DEFAULT), models.join(DEFAULT))
        .expect("the model is linked");
    data_dir
}

/// The installed model under another id, elsewhere.
fn model_named(id: &str, at: &Path) -> PathBuf {
    let folder = at.join(format!("elsewhere {id}"));
    std::fs::create_dir(&folder).expect("a folder is made");
    let installed = components_dir().join("models").join(DEFAULT);
    for entry in std::fs::read_dir(installed).expect("it is installed") {
        let entry = entry.expect("an entry");
        std::fs::copy(entry.path(), folder.join(entry.file_name())).expect("it is copied");
    }
    let file = folder.join("model.json");
    let text = std::fs::read_to_string(&file).expect("a description");
    std::fs::write(&file, text.replace(DEFAULT, id)).expect("it is written");
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

async fn count(url: &str, statement: &'static str) -> i64 {
    let Ok(mut database) = PgConnection::connect(url).await else { return 0 };
    sqlx::query_scalar(statement).fetch_one(&mut database).await.unwrap_or(0)
}

async fn model_of(data_dir: &DataDir) -> String {
    let status = data_dir.run(&["status", "--json"]).await.json();
    status["services"]["embedding_model"]["detail"].as_str().unwrap_or_default().to_owned()
}

/// So many files of one passage each, remembered.
async fn import(data_dir: &DataDir, files: usize) {
    let folder = data_dir.path().join("notes");
    std::fs::create_dir(&folder).expect("a folder is made");
    for n in 0..files {
        let content = format!("Box {n} holds the keys of house {n}, and of no other house in this street. ");
        std::fs::write(folder.join(format!("{n}.txt")), content.repeat(6)).expect("a file is written");
    }
    let ran = data_dir.run(&["import-folder", text(&folder), "--json"]).await;
    assert_eq!(ran.json()["created"], files, "{ran:?}");
}

async fn found_by_vector(server: &Server) -> bool {
    let asked = json!({"query": "where do I find the thing to open the door", "explain": true, "limit": 1});
    let found = server.ask("recall", asked).await;
    // Keys are not said to open doors.
    let of_vectors = |warning: &Value| !warning.as_str().is_some_and(|it| it.contains("seems to answer"));
    assert!(found["warnings"].as_array().is_none_or(|all| !all.iter().any(of_vectors)), "{found}");
    found["results"][0]["explain"]["vector"].is_object()
}

#[tokio::test]
async fn a_server_answers_while_its_model_is_changed_and_a_later_start_finds_the_new_one() {
    let data_dir = data_dir();
    let server = Server::start(&data_dir).await;
    import(&data_dir, 150).await;
    let model = model_named("another", data_dir.path());
    let mut command = data_dir.command("remembrancer");
    command.args(["--model-dir", text(&model), "reembed", "--json"]).stdout(Stdio::piped());
    let mut running = command.spawn().expect("it starts");
    let mut answers = 0;
    while running.try_wait().expect("it is watched").is_none() {
        assert!(found_by_vector(&server).await, "after {answers} answers");
        answers += 1;
        server.ask("remember", json!({"content": format!("Note {answers} came meanwhile.")})).await;
    }
    let output = running.wait_with_output().await.expect("it ends");
    assert!(output.status.success(), "{output:?}");
    let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&summary["model"], &summary["replaced"], &summary["removed"], &summary["failed"]),
        (&json!("another"), &json!(DEFAULT), &json!([DEFAULT]), &json!(0)),
        "{summary}"
    );
    assert!(summary["embedded"].as_u64() >= Some(150) && answers > 0, "{summary}, {answers} answers");
    assert!(found_by_vector(&server).await);
    let url = data_dir.database_url();
    let lacking = "select count(*) from passage p where not exists
        (select from passage_embedding e where (e.namespace, e.passage_id) = (p.namespace, p.passage_id))";
    assert_eq!(count(&url, lacking).await, 0);
    assert_eq!(count(&url, "select count(distinct model_id) from passage_embedding").await, 1);
    server.terminate().await;

    // No setting says which model, and its first folder is gone.
    std::fs::remove_dir_all(&model).expect("it is deleted");
    let server = Server::start(&data_dir).await;
    assert!(found_by_vector(&server).await);
    assert!(model_of(&data_dir).await.starts_with("another ("));
    let again = text(&data_dir.path().join("models/another")).to_owned();
    let nothing = data_dir.run(&["reembed", "--model-dir", &again]).await;
    assert!(nothing.stdout.starts_with("Nothing to do: another is the model"), "{nothing:?}");
    // The model that setup made is refused now, and the refusal says what to do.
    server.terminate().await;
    let default = text(&data_dir.path().join("models").join(DEFAULT)).to_owned();
    let refused = data_dir.run(&["serve", "--bind", "127.0.0.1:0", "--model-dir", &default]).await;
    assert!(refused.refusal().contains("made by another (384 dimensions)"), "{refused:?}");
    assert!(refused.refusal().contains("`remembrancer reembed --model-dir DIR`"), "{refused:?}");
}

#[tokio::test]
async fn a_change_of_the_model_that_was_killed_goes_on_where_it_was() {
    let data_dir = data_dir();
    import(&data_dir, 400).await;
    let model = model_named("another", data_dir.path());
    let made = "select count(*) from passage_embedding e join embedding_model m using (model_id)
                where m.name = 'another'";
    let url = data_dir.database_url();
    for whose in ["client", "holder"] {
        let before = count(&url, made).await;
        let mut command = data_dir.command("remembrancer");
        command.args(["reembed", "--model-dir", text(&model)]).stderr(Stdio::piped()).stdout(Stdio::piped());
        let running = command.spawn().expect("it starts");
        eventually("some vectors are made", Duration::from_secs(60), async || {
            count(&url, made).await > before
        })
        .await;
        let [holder] = data_dir.instances()[..] else { panic!("one process holds the folder") };
        kill(if whose == "client" { running.id().expect("it runs") as i32 } else { holder }, Signal::KILL);
        let ended = running.wait_with_output().await.expect("it ends");
        assert!(!ended.status.success(), "it was done before it was killed: {ended:?}");
        if whose == "holder" {
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert!(said.contains("run it again to go on"), "{said}");
        }
        let found = data_dir.run(&["recall", "--json", "keys of house 7"]).await.json();
        assert_eq!(found["results"][0]["title"], "7.txt", "{found}");
        assert!(model_of(&data_dir).await.starts_with(DEFAULT));
    }
    let before = count(&url, made).await;
    assert!(before < 400, "nothing was left to do");
    let last = data_dir.run(&["reembed", "--model-dir", text(&model), "--json"]).await;
    assert!(last.status.success(), "{last:?}");
    let embedded = last.json()["embedded"].as_i64().expect("a number");
    assert!(embedded <= 400 - before && embedded > 0, "{embedded} after {before}");
    assert_eq!(count(&url, "select count(*) from passage_embedding").await, 400);
    assert!(model_of(&data_dir).await.starts_with("another ("));
}

#[tokio::test]
async fn a_memory_whose_model_is_lost_is_given_another_one() {
    let data_dir = data_dir();
    let ran = data_dir.run(&["remember", "/etc/hostname"]).await;
    assert!(ran.status.success(), "{ran:?}");
    let model = model_named("another", data_dir.path());
    assert!(data_dir.run(&["reembed", "--model-dir", text(&model)]).await.status.success());
    let [holder] = data_dir.instances()[..] else { panic!("one process holds the folder") };
    kill(holder, Signal::TERM);
    eventually("it has ended", Duration::from_secs(20), async || data_dir.instances().is_empty()).await;
    std::fs::remove_dir_all(data_dir.path().join("models/another")).expect("it is deleted");
    let refused = data_dir.run(&["recall", "hostname"]).await;
    assert!(refused.refusal().contains("`remembrancer reembed --model-dir DIR`"), "{refused:?}");
    // The process that could not start for want of the model is still there, and takes the other.
    let default = text(&data_dir.path().join("models").join(DEFAULT)).to_owned();
    let done = data_dir.run(&["reembed", "--model-dir", &default]).await;
    assert!(done.status.success() && done.stdout.contains("in the place of another"), "{done:?}");
    assert!(model_of(&data_dir).await.starts_with(DEFAULT));
    assert!(data_dir.run(&["recall", "hostname"]).await.status.success());
}

#[tokio::test]
async fn with_a_shared_database_the_old_vectors_stay_until_a_second_run() {
    let data_dir = data_dir();
    let url = fresh_database().await;
    let model = model_named("another", data_dir.path());
    let run = async |arguments: &[&str]| {
        let mut command = data_dir.command("remembrancer");
        memory_tests::process::Ran::of(command.env("DATABASE_URL", &url).args(arguments)).await
    };
    let file = data_dir.path().join("note.txt");
    std::fs::write(&file, "The spare key is in the blue box.").expect("a file is written");
    let kept = run(&["remember", text(&file)]).await;
    assert!(kept.status.success(), "{kept:?}");
    let which = run(&["reembed"]).await;
    assert!(which.refusal().contains("--model-dir DIR"), "{which:?}");
    let first = run(&["reembed", "--model-dir", text(&model)]).await;
    for part in [
        "1 of 1 passage was",
        "in the place of",
        "are still there",
        "`event-worker`",
        "run this command again",
    ] {
        assert!(first.stdout.contains(part), "{part}: {first:?}");
    }
    let vectors = "select count(*) from passage_embedding";
    assert_eq!(count(&url, vectors).await, 2);
    // The process that has the old model still searches with it.
    let found = run(&["recall", "--json", "thing to open the door", "--explain"]).await;
    assert!(!found.stdout.contains("words alone"), "{found:?}");
    let second = run(&["reembed", "--model-dir", text(&model), "--json"]).await;
    assert_eq!(second.json()["removed"], json!([DEFAULT]), "{second:?}");
    assert_eq!(count(&url, vectors).await, 1);
}
