//! PDF and HTML in `import-folder`, and the limits of the process that reads them: files that were made to run for ever, to
//! take all memory or to crash what reads them hold nothing up.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use memory_tests::process::DataDir;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

const LETTER: &str = "letter.pdf";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/documents").join(name)
}

/// The process by itself, with a document on its standard input.
async fn read(kind: &str, bytes: &[u8], flags: &[&str]) -> Output {
    let data_dir = DataDir::empty();
    let mut command = data_dir.command("remembrancer");
    command.args(["read-document", kind]).args(flags).env_clear();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("stdin");
    let bytes = bytes.to_vec();
    // One that has ended takes no more.
    tokio::spawn(async move { stdin.write_all(&bytes).await });
    let ended = tokio::time::timeout(Duration::from_secs(60), child.wait_with_output()).await;
    ended.expect("it ends in time").expect("it ends")
}

fn answer(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

async fn of_fixture(name: &str, flags: &[&str]) -> Output {
    let bytes = std::fs::read(fixture(name)).expect("the fixture");
    read("pdf", &bytes, flags).await
}

#[tokio::test]
async fn a_document_is_read_to_its_text_and_its_title() {
    let read_as = answer(&of_fixture(LETTER, &[]).await);
    let text = "The well\n\nThe pump of the old well is broken.\n\nAsk Joël, the plumber of the village.";
    assert_eq!(read_as, json!({"Ok": {"title": "Repair of the well", "text": text, "unknown": 0}}));
    assert_eq!(answer(&of_fixture("scan.pdf", &[]).await), json!({"Err": "NoText"}));
    assert_eq!(answer(&read("pdf", b"%PDF-1.7 and nothing more", &[]).await), json!({"Err": "Damaged"}));
}

#[tokio::test]
async fn what_would_run_for_ever_ends_with_its_processor_time() {
    let started = Instant::now();
    let output = of_fixture("forms.pdf", &["--seconds", "2"]).await;
    let signal = output.status.signal().and_then(Signal::from_named_raw);
    assert!(matches!(signal, Some(Signal::XCPU | Signal::KILL)), "{output:?}");
    assert!(started.elapsed() > Duration::from_millis(1_500), "it ended before its time: {output:?}");
}

#[tokio::test]
async fn what_would_take_all_memory_or_crash_ends_alone() {
    let bomb = of_fixture("bomb.pdf", &["--seconds", "40", "--megabytes", "300"]).await;
    let said = String::from_utf8_lossy(&bomb.stderr).into_owned();
    assert!(bomb.status.signal().is_some() && said.contains("memory allocation of"), "{bomb:?}");
    let deep = of_fixture("deep.pdf", &["--seconds", "5"]).await;
    // Not read, or read to nothing.
    assert!(!String::from_utf8_lossy(&deep.stdout).contains("\"Ok\""), "{deep:?}");
    let nested = "<div>".repeat(200_000) + "deep";
    let output = read("html", nested.as_bytes(), &["--seconds", "2"]).await;
    assert!(output.status.code() != Some(2), "{output:?}");
    let cells = "<table><tr><td>".repeat(400);
    let output = read("html", cells.as_bytes(), &["--seconds", "2"]).await;
    assert!(output.status.code() != Some(2), "{output:?}");
}

#[tokio::test]
async fn a_folder_of_documents_is_remembered_and_what_cannot_be_read_is_named() {
    let data_dir = DataDir::warm();
    let folder = data_dir.path().join("documents");
    std::fs::create_dir(&folder).expect("a folder");
    for name in [LETTER, "scan.pdf", "deep.pdf"] {
        std::fs::copy(fixture(name), folder.join(name)).expect("copied");
    }
    let page = "<title>Gate &amp; fence</title><meta charset=latin1><style>p{}</style><p>The gate opens at d\u{fc}sk.".to_owned();
    let latin: Vec<u8> = page.chars().map(|c| c as u8).collect();
    std::fs::write(folder.join("gate.html"), latin).expect("written");
    std::fs::write(folder.join("noise.PDF"), [0_u8, 159, 146, 150].repeat(100)).expect("written");
    let root = folder.to_string_lossy().into_owned();
    let ran = data_dir.run(&["import-folder", &root, "--json"]).await;
    assert!(ran.status.success(), "{ran:?}");
    let summary = ran.json();
    assert_eq!((&summary["created"], &summary["failed"]), (&json!(2), &json!([])), "{summary}");
    let skipped = |name: &str| -> String {
        let lines = summary["skipped"].as_array().expect("a list");
        let line = lines.iter().filter_map(Value::as_str).find(|line| line.contains(name));
        line.unwrap_or_else(|| panic!("{name} is not named: {summary}")).to_owned()
    };
    assert!(skipped("scan.pdf").contains("ocrmypdf"), "{summary}");
    assert!(skipped("noise.PDF").contains("no PDF, or a damaged one"), "{summary}");
    assert!(!skipped("deep.pdf").is_empty());
    for (question, title, answer) in [
        ("pump of the well", "Repair of the well", "pump of the old well is broken"),
        ("when does the gate open", "Gate & fence", "opens at düsk"),
    ] {
        let found = data_dir.run(&["recall", "--json", question, "-n", "1"]).await.json();
        let result = &found["results"][0];
        assert_eq!(result["title"], title, "{found}");
        assert!(result["snippet"].as_str().is_some_and(|text| text.contains(answer)), "{found}");
    }
    let again = data_dir.run(&["import-folder", &root, "--json"]).await.json();
    assert_eq!((&again["created"], &again["unchanged"]), (&json!(0), &json!(2)), "{again}");
}

#[tokio::test]
async fn notes_have_their_front_matter_beside_them_and_their_links_in_the_graph() {
    let data_dir = DataDir::warm();
    let folder = data_dir.path().join("vault");
    std::fs::create_dir_all(folder.join("log")).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("written");
    write(
        "well.md",
        "---\ntitle: The old well\ndate: 2025-01-05\ntags: [water]\naliases: Brunnen\nstatus: dry\n---\n\
         The pump is broken, see [[Gate]] and [the log](log/day%20one.md). #garden\n\n- contrasts with [[River]]\n",
    );
    write("Gate.md", "The gate opens at dusk, beside the [[brunnen]].\n");
    write("log/day one.md", "---\ntitle: Day one\n---\nNothing happened at the mill.\n");
    let root = folder.to_string_lossy().into_owned();
    let plain = data_dir.run(&["import-folder", &root, "--json"]).await.json();
    assert_eq!((&plain["created"], &plain["links"]), (&json!(3), &json!(0)), "{plain}");
    let graph = async || {
        let file = data_dir.path().join("graph.jsonl");
        let _ = std::fs::remove_file(&file);
        let ran = data_dir.run(&["export", "--graph", file.to_str().expect("UTF-8")]).await;
        assert!(ran.status.success(), "{ran:?}");
        std::fs::read_to_string(&file).expect("it is written")
    };
    assert_eq!(graph().await, "", "nothing is written to the graph unless that is asked for");
    let found = data_dir.run(&["recall", "--json", "broken pump", "-n", "1"]).await.json();
    let result = &found["results"][0];
    assert_eq!((&result["title"], &result["tags"]), (&json!("The old well"), &json!(["water"])), "{found}");
    assert!(result["date"].as_str().is_some_and(|date| date.starts_with("2025-01-05")), "{found}");
    let text = result["snippet"].as_str().expect("a text");
    assert!(text.contains("status: dry") && !text.contains("tags:") && !text.contains("---"), "{text}");

    let notes = data_dir.run(&["import-folder", &root, "--notes", "--json"]).await.json();
    assert_eq!((&notes["links"], &notes["failed"]), (&json!(4), &json!([])), "{notes}");
    let graph = graph().await;
    for (from, to, kind) in [
        ("The old well", "Gate", "links_to"),
        ("The old well", "Day one", "links_to"),
        ("The old well", "River", "contrasts_with"),
        ("Gate", "The old well", "links_to"),
    ] {
        let line = format!(
            "{{\"type\":\"relation\",\"from\":\"{from}\",\"to\":\"{to}\",\"relationType\":\"{kind}\"}}"
        );
        assert!(graph.contains(&line), "{line}\n{graph}");
    }
    assert!(graph.contains("\"name\":\"River\",\"entityType\":\"Note\""), "{graph}");
}
