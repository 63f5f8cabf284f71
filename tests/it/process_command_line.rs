//! The command line as a whole: ending what runs in the background, what is shown of a text, shells and manuals.

use std::time::Duration;

use memory_tests::process::{DataDir, Ran, Server, StdioHost, eventually, is_alive};
use serde_json::{Value, json};

async fn remember(data_dir: &DataDir, text: &str, flags: &[&str]) -> Value {
    let file = data_dir.path().join("text.txt");
    std::fs::write(&file, text).expect("a file is written");
    let file = file.to_string_lossy().into_owned();
    let ran = data_dir.run(&[&["remember", &file, "--wait", "--json"], flags].concat()).await;
    assert!(ran.status.success(), "{ran:?}");
    ran.json()
}

#[tokio::test]
async fn stop_ends_the_process_in_the_background_waits_until_it_is_gone_and_works_twice() {
    let data_dir = DataDir::warm();
    let nothing = data_dir.run(&["stop"]).await;
    assert!(nothing.status.success() && nothing.stdout.starts_with("Nothing runs"), "{nothing:?}");
    assert!(!data_dir.path().join("run").exists(), "asking made a folder");

    remember(&data_dir, "The spare key is in the blue box.", &[]).await;
    let instances = data_dir.instances();
    assert_eq!(instances.len(), 1);
    let postmaster = data_dir.postmaster_pid().expect("the database runs");
    let stopped = data_dir.run(&["stop"]).await;
    assert!(stopped.status.success() && stopped.stdout.contains(&instances[0].to_string()), "{stopped:?}");
    assert!(!is_alive(instances[0]) && !is_alive(postmaster), "something still runs");
    let again = data_dir.run(&["stop", "--json"]).await;
    assert_eq!((again.status.code(), again.json()), (Some(0), json!({"stopped": false, "pid": null})));

    // What was accepted is there when the next command starts another.
    let found = data_dir.run(&["recall", "spare key"]).await;
    assert!(found.stdout.contains("blue box"), "{found:?}");
}

#[tokio::test]
async fn stop_leaves_a_serve_that_was_started_by_hand_and_says_how_to_end_it() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let refused = data_dir.run(&["stop"]).await;
    assert!(refused.refusal().contains(&format!("kill {}", server.pid())), "{refused:?}");
    server.ask("recall", json!({"query": "is it there?"})).await;
}

#[tokio::test]
async fn stop_does_not_wait_for_hosts_that_are_connected() {
    let data_dir = DataDir::warm();
    let mut host = StdioHost::start(data_dir.command("remembrancer"));
    host.initialize().await;
    let instance = data_dir.instances()[0];
    assert!(data_dir.run(&["stop"]).await.status.success());
    eventually("the process has ended", Duration::from_secs(10), async || !is_alive(instance)).await;
}

#[tokio::test]
async fn superseded_texts_are_marked_wherever_they_are_shown() {
    let data_dir = DataDir::warm();
    let place = ["--source", "wiki", "--source-id", "wifi"];
    let old = remember(&data_dir, "The wifi password is swordfish.", &place).await;
    let new = remember(&data_dir, "The wifi password is marmalade.", &place).await;
    let (old, new) = (old["id"].as_str().expect("an id"), new["id"].as_str().expect("an id"));
    let mark = format!("superseded by {new}");
    let current = data_dir.run(&["recall", "wifi password"]).await;
    assert!(!current.stdout.contains("superseded") && !current.stdout.contains("swordfish"), "{current:?}");
    let all = data_dir.run(&["recall", "wifi password", "--include-superseded"]).await;
    assert_eq!(all.stdout.matches(&mark).count(), 1, "{all:?}");
    let (before, _) = all.stdout.split_once("swordfish").expect("the old text is shown");
    assert!(before.contains(&mark), "the mark comes before the old text: {all:?}");
    let one = data_dir.run(&["recall", "--id", old]).await;
    assert!(one.stdout.contains(&mark) && one.stdout.contains("swordfish"), "{one:?}");
    let one = data_dir.run(&["recall", "--id", new]).await;
    assert!(!one.stdout.contains("superseded"), "{one:?}");
}

#[tokio::test]
async fn an_event_is_shown_with_the_words_it_was_read_from_and_a_score_with_what_it_is_made_of() {
    const TEXT: &str = "Attendees: Anna Kovács, Ben Ortiz\n\nAction items:\n\
                        - Anna Kovács will send the budget to Ben Ortiz by 20 March 2026.\n";
    let data_dir = DataDir::warm();
    let kept = remember(&data_dir, TEXT, &["--context", "meeting", "--date", "2026-03-12"]).await;
    assert!(kept["event_count"].as_u64() >= Some(1), "{kept}");
    let found = data_dir.run(&["recall", "--json", "budget"]).await.json();
    let event = &found["results"][0]["events"][0];
    let shown = data_dir.run(&["recall", "--id", event["id"].as_str().expect("an event")]).await;
    let evidence = &event["evidence"][0];
    let quote = format!(
        "“{}”  {} {}–{}",
        evidence["quote"].as_str().expect("a quote"),
        kept["id"].as_str().expect("an id"),
        evidence["start_char"],
        evidence["end_char"]
    );
    assert!(shown.stdout.contains(&quote), "{quote}: {shown:?}");

    let explained = data_dir.run(&["recall", "budget", "--explain"]).await;
    assert!(
        explained.stdout.contains("explained: ") && explained.stdout.contains("vector #1"),
        "{explained:?}"
    );
    let bare =
        data_dir.run(&["recall", "budget", "--no-events", "--no-entities", "--graph-budget", "0"]).await;
    for absent in ["Commitment", "Who and what", "Related"] {
        assert!(!bare.stdout.contains(absent), "{absent}: {bare:?}");
    }
}

#[tokio::test]
async fn shells_and_manuals_know_every_command() {
    let data_dir = DataDir::empty();
    for shell in ["bash", "zsh", "fish"] {
        let script = data_dir.run(&["completions", shell]).await;
        assert!(script.status.success() && script.stdout.len() > 5_000, "{script:?}");
        for word in ["import-folder", "include-superseded", "reextract"] {
            assert!(script.stdout.contains(word), "{shell} does not know {word}");
        }
    }
    let unknown = data_dir.run(&["completions", "tcsh"]).await;
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
    let folder = data_dir.path().join("share/man1");
    let written = data_dir.run(&["man", &folder.to_string_lossy()]).await;
    assert!(written.status.success(), "{written:?}");
    let recall = std::fs::read_to_string(folder.join("remembrancer-recall.1")).expect("a page is there");
    assert!(recall.contains("include") && recall.contains(".TH"), "{recall}");
    assert!(folder.join("remembrancer.1").is_file() && folder.join("remembrancer-jobs-list.1").is_file());
}

#[tokio::test]
async fn a_setting_from_the_environment_does_not_look_required_when_a_line_is_not_understood() {
    let data_dir = DataDir::empty();
    let mut command = data_dir.command("remembrancer");
    let ran = Ran::of(command.args(["recall", "--limti", "3"]).stderr(std::process::Stdio::piped())).await;
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    assert!(ran.stderr.starts_with("remembrancer: ") && ran.stderr.contains("'--limit'"), "{ran:?}");
    assert!(!ran.stderr.contains("--data-dir"), "{ran:?}");
    let help = data_dir.run(&["--help"]).await;
    assert!(help.stdout.contains("Exit status: 0"), "{help:?}");
}
