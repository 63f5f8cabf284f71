//! The command line: readable for people, JSON for programs, and exit codes that scripts can trust.

use std::process::Stdio;
use std::time::Duration;

use memory_tests::process::{DataDir, Ran, eventually, kill};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

const MEETING: &str = "Attendees: Anna Kovács, Ben Ortiz\n\nAction items:\n\
                       - Anna Kovács will send the budget to Ben Ortiz by 20 March 2026.\n";

/// Runs `remembrancer` with a text at its standard input.
async fn run_with_input(data_dir: &DataDir, arguments: &[&str], input: &[u8]) -> Ran {
    let mut command = data_dir.command("remembrancer");
    let command = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("it is open");
    // A command that refuses before it reads has closed its end.
    let _ = stdin.write_all(input).await;
    drop(stdin);
    let output = tokio::time::timeout(Duration::from_secs(60), child.wait_with_output()).await;
    let output = output.expect("it ends in time").expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

async fn settle(data_dir: &DataDir) {
    eventually("nothing is pending", Duration::from_secs(30), async || {
        data_dir.run(&["status", "--json"]).await.json()["pending_jobs"] == 0
    })
    .await;
}

#[tokio::test]
async fn a_text_is_remembered_from_a_file_and_from_standard_input_and_shown_readably_without_colour() {
    let data_dir = DataDir::warm();
    let file = data_dir.path().join("minutes.txt");
    std::fs::write(&file, MEETING).expect("a file is written");
    let file = file.to_string_lossy().into_owned();
    let about =
        ["--context", "meeting", "--title", "Minutes", "--tag", "a", "--tag", "b", "--date", "2026-03-12"];
    let kept = data_dir.run(&[&["remember", &file], &about[..]].concat()).await;
    assert!(kept.status.success() && kept.stderr.is_empty(), "{kept:?}");
    assert!(kept.stdout.starts_with("art_") && kept.stdout.contains("created"), "{kept:?}");
    let again = run_with_input(&data_dir, &["remember", "--json", "-"], MEETING.as_bytes()).await;
    assert_eq!(again.json()["status"], "unchanged", "{again:?}");
    settle(&data_dir).await;

    let shown = data_dir.run(&["recall", "who", "sends", "the", "budget?"]).await;
    assert!(shown.status.success(), "{shown:?}");
    for part in ["1. Minutes", "Commitment", "due 2026-03-20", "Who and what", "Anna Kovács (person"] {
        assert!(shown.stdout.contains(part), "{part}: {shown:?}");
    }
    let found = data_dir.run(&["recall", "--json", "budget", "--tag", "a", "--tag", "b"]).await.json();
    let id = found["results"][0]["id"].as_str().expect("a hit").to_owned();
    assert_eq!(found["results"][0]["title"], "Minutes");
    let whole = data_dir.run(&["recall", "--id", &id]).await;
    assert!(whole.stdout.contains("Attendees: Anna Kovács"), "{whole:?}");
    let by_id_alone = data_dir.run(&["recall", &id]).await;
    assert_eq!(by_id_alone.stdout, whole.stdout, "an id alone is no word to search for");
    let unknown = data_dir.run(&["recall", "art_000000000000"]).await;
    assert!(unknown.stdout.starts_with("note: No text of this namespace has the id"), "{unknown:?}");
    let nothing = run_with_input(&data_dir, &["--namespace", "other", "recall", "budget"], b"").await;
    assert!(nothing.status.success() && nothing.stdout.contains("holds no text yet"), "{nothing:?}");

    let status = data_dir.run(&["status"]).await;
    assert!(status.stdout.contains("healthy") && status.stdout.contains("1 artifact,"), "{status:?}");
    assert!(status.status.success(), "{status:?}");
    let missing = data_dir.run(&["status", "art_000000000000"]).await;
    assert!(missing.status.code() == Some(1) && missing.stdout.contains("NOT_FOUND"), "{missing:?}");
    let of_one = data_dir.run(&["status", &id]).await;
    assert!(of_one.stdout.contains(&format!("{id}: DONE")), "{of_one:?}");
    for ran in [&kept, &shown, &whole, &status, &of_one] {
        assert!(!ran.stdout.contains('\u{1b}'), "colour without a terminal: {ran:?}");
    }
}

#[tokio::test]
async fn forget_needs_its_confirmation_and_says_how_to_give_it() {
    let data_dir = DataDir::warm();
    let id = run_with_input(&data_dir, &["remember", "--json"], b"The spare key is in the blue box.")
        .await
        .json()["id"]
        .clone();
    let id = id.as_str().expect("an id").to_owned();
    let refused = data_dir.run(&["forget", &id]).await;
    assert!(refused.refusal().contains("--confirm"), "{refused:?}");
    assert!(data_dir.run(&["recall", "--id", &id]).await.stdout.contains("spare key"));
    let done = data_dir.run(&["forget", &id, "--confirm", "--json"]).await;
    assert_eq!((done.status.code(), done.json()["deleted"].clone()), (Some(0), json!(true)));
    assert!(data_dir.run(&["forget", &id, "--confirm"]).await.refusal().contains(&id));
    assert!(data_dir.run(&["recall", "spare key"]).await.stdout.contains("holds no text yet"));
}

#[tokio::test]
async fn what_cannot_be_done_ends_with_one_and_what_cannot_be_understood_with_two() {
    let data_dir = DataDir::warm();
    for arguments in [
        &["remember", "/no/such/file"][..],
        &["recall"],
        &["recall", "--id", "doc_1"],
        &["recall", "x", "-n", "0"],
        &["status", "evt_1"],
        &["import-folder", "/no/such/folder"],
        &["import-folder", "/etc/hostname"],
        &["remember", "/dev/null"],
    ] {
        let ran = data_dir.run(arguments).await;
        assert!(ran.refusal().len() > 30 && ran.stdout.is_empty(), "{arguments:?}: {ran:?}");
    }
    for (arguments, option) in [
        (&["recall"][..], "--conversation-id"),
        (&["recall", "x", "--min-score", "2"], "Invalid --min-score 2"),
        (&["remember", "/etc/hostname", "--turn-index", "1"], "--turn-index needs --conversation-id"),
        (&["remember", "The key is in the blue box."], "a text itself comes by standard input"),
    ] {
        let ran = data_dir.run(arguments).await;
        assert!(ran.refusal().contains(option), "{arguments:?}: {ran:?}");
    }
    let binary = run_with_input(&data_dir, &["remember"], &[0xff, 0xfe, 0x00]).await;
    assert!(binary.refusal().contains("text"), "{binary:?}");
    let json = run_with_input(&data_dir, &["remember", "--json", "--context", "nonsense"], b"x").await;
    assert_eq!(json.status.code(), Some(1));
    assert!(json.json()["error"].as_str().expect("a reason").contains("nonsense"), "{json:?}");
    for arguments in [
        &["no-such-command"][..],
        &["recall", "--no-such-flag"],
        &["forget"],
        &["--database-connections", "1", "status"],
    ] {
        let ran = data_dir.run(arguments).await;
        assert_eq!(ran.status.code(), Some(2), "{arguments:?}: {ran:?}");
    }
}

/// Twelve texts in nested folders, and what is none: binary, empty, too odd, hidden, a link in a circle.
fn tree(root: &std::path::Path) {
    for folder in ["a/b/c", "ä ö", ".hidden"] {
        std::fs::create_dir_all(root.join(folder)).expect("a folder is made");
    }
    let write =
        |name: &str, content: &[u8]| std::fs::write(root.join(name), content).expect("a file is written");
    for n in 0..10 {
        write(
            &format!("a/b/note {n}.md"),
            format!("# Note {n}\n\nBox {n} holds the keys of house {n}.\n").as_bytes(),
        );
    }
    write("a/b/c/deep.txt", "The well is behind the third oak.".as_bytes());
    write("ä ö/ünï.txt", "Über den Wolken.".as_bytes());
    write("a/picture.png", &[0x89, b'P', b'N', b'G', 0xff, 0xfe]);
    write("a/zeros.bin", b"abc\0def");
    write("a/empty.txt", b"");
    write("a/blank.txt", b"  \n\n");
    write(".hidden/secret.txt", b"not to be imported");
    write("a/.env", b"not to be imported");
    std::os::unix::fs::symlink(root, root.join("a/circle")).expect("a link is made");
}

#[tokio::test]
async fn a_folder_is_imported_once_however_often_it_is_run() {
    let data_dir = DataDir::warm();
    let folder = data_dir.path().join("notes");
    tree(&folder);
    let folder = folder.to_string_lossy().into_owned();
    let import = async || data_dir.run(&["import-folder", &folder, "--json", "--tag", "imported"]).await;
    let first = import().await;
    assert!(first.status.success(), "{first:?}");
    let tally = first.json();
    assert_eq!(
        (&tally["created"], &tally["unchanged"], &tally["failed"]),
        (&json!(12), &json!(0), &json!([])),
        "{tally}"
    );
    let skipped: Vec<&str> =
        tally["skipped"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(skipped.len(), 4, "{skipped:?}");
    for name in ["picture.png", "zeros.bin", "empty.txt", "blank.txt"] {
        assert!(skipped.iter().any(|line| line.contains(name)), "{name}: {skipped:?}");
    }
    let second = import().await.json();
    assert_eq!((&second["created"], &second["unchanged"]), (&json!(0), &json!(12)), "{second}");

    // A file that has changed takes the place of its old text.
    std::fs::write(format!("{folder}/a/b/c/deep.txt"), "The well is behind the fourth oak.")
        .expect("a file is written");
    let third = import().await.json();
    assert_eq!((&third["created"], &third["unchanged"]), (&json!(1), &json!(11)), "{third}");
    let found = data_dir
        .run(&["recall", "--json", "well behind the oak", "--tag", "imported", "-n", "1"])
        .await
        .json();
    assert_eq!(found["results"][0]["snippet"], "The well is behind the fourth oak.", "{found}");
    let readable = data_dir.run(&["import-folder", &folder]).await;
    assert!(readable.stdout.starts_with("0 new, 12 unchanged, 4 skipped, 0 failed"), "{readable:?}");
    let secret = data_dir.run(&["recall", "--json", "not to be imported"]).await;
    assert!(!secret.stdout.contains("not to be imported"), "{secret:?}");
}

#[tokio::test]
async fn an_import_that_was_stopped_or_killed_goes_on_where_it_was() {
    const FILES: u64 = 900;
    let data_dir = DataDir::warm();
    let folder = data_dir.path().join("notes");
    std::fs::create_dir(&folder).expect("a folder is made");
    for n in 0..FILES {
        let content = format!("Box {n} holds the keys of house {n}, and of no other house in this street.");
        std::fs::write(folder.join(format!("{n:03}.txt")), content).expect("a file is written");
    }
    let folder = folder.to_string_lossy().into_owned();
    let artifacts = async || {
        data_dir.run(&["status", "--json"]).await.json()["counts"]["artifacts"].as_u64().unwrap_or(0)
    };
    artifacts().await;
    for signal in [Signal::INT, Signal::KILL] {
        let before = artifacts().await;
        let mut command = data_dir.command("remembrancer");
        let import = command
            .args(["import-folder", &folder, "--json"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let pid = import.id().expect("it runs") as i32;
        eventually("twenty files more are kept", Duration::from_secs(30), async || {
            artifacts().await >= before + 20
        })
        .await;
        kill(pid, signal);
        let output = import.wait_with_output().await.expect("it ends");
        assert!(!output.status.success(), "it was done before it was stopped: {output:?}");
        if signal == Signal::INT {
            let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            assert_eq!((output.status.code(), &summary["stopped"]), (Some(1), &json!(true)));
        }
    }
    let before = artifacts().await;
    assert!(before < FILES, "nothing was left to do");
    let last = data_dir.run(&["import-folder", &folder, "--json"]).await;
    let tally = last.json();
    assert!(last.status.success(), "{last:?}");
    let of = |name: &str| tally[name].as_u64().expect("a number");
    assert_eq!(of("created") + of("unchanged"), FILES, "{tally}");
    assert!(of("unchanged") >= 40, "{tally}");
    assert_eq!(artifacts().await, FILES);
}
