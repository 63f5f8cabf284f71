//! `import-folder --watch`: what changes is remembered and what goes is forgotten, also while others write, move and replace
//! files, and while the memory is away.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use memory_tests::process::{DataDir, eventually, kill};
use rustix::process::Signal;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout};

const PATIENCE: Duration = Duration::from_secs(60);

/// A watch that has made its first pass.
struct Watch {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    warnings: Lines<BufReader<ChildStderr>>,
}

impl Watch {
    async fn start(data_dir: &DataDir, folder: &Path, flags: &[&str]) -> Self {
        let mut command = data_dir.command("remembrancer");
        command.arg("import-folder").arg(folder).args(["--watch", "--json"]).args(flags);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
        let warnings = BufReader::new(child.stderr.take().expect("stderr")).lines();
        let mut watch = Self { child, lines, warnings };
        let summary = watch.line().await;
        assert!(summary["created"].is_number(), "{summary}");
        let said = watch.warning().await;
        assert!(said.contains("watching"), "{said}");
        watch
    }

    async fn line(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        let line = line.expect("a line in time").expect("it is read").expect("it watches");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// What became of the next files, by file, in whatever order.
    async fn files<const N: usize>(&mut self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for _ in 0..N {
            let line = self.line().await;
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            all.push((text("outcome"), text("file")));
        }
        all.sort();
        all
    }

    async fn warning(&mut self) -> String {
        let line = tokio::time::timeout(PATIENCE, self.warnings.next_line()).await;
        line.expect("a warning in time").expect("it is read").expect("it watches")
    }

    /// Ends it as Ctrl-C does; gives what it had still printed.
    async fn end(mut self) -> (ExitStatus, Vec<String>) {
        kill(self.child.id().expect("it runs") as i32, Signal::INT);
        let status = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        let mut rest = Vec::new();
        while let Ok(Some(line)) = self.lines.next_line().await {
            rest.push(line);
        }
        (status.expect("it ends in time").expect("it ends"), rest)
    }
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is made");
    std::fs::write(&path, text).expect("a file is written");
    path
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(outcome, file)| ((*outcome).to_owned(), (*file).to_owned())).collect()
}

/// The texts that are remembered of the folder now, by file.
async fn remembered(data_dir: &DataDir) -> HashMap<String, String> {
    let file = data_dir.path().join("export.jsonl");
    let _ = std::fs::remove_file(&file);
    let ran = data_dir.run(&["export", file.to_str().expect("UTF-8")]).await;
    assert!(ran.status.success(), "{ran:?}");
    let text = std::fs::read_to_string(&file).expect("it is written");
    let mut contents = HashMap::new();
    let mut places = HashMap::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let of = |key: &str| line[key].as_str().map(str::to_owned);
        match (of("type").as_deref(), of("sha256"), of("content"), of("artifact"), of("source_id")) {
            (Some("artifact"), Some(hash), Some(content), ..) => drop(contents.insert(hash, content)),
            (Some("revision"), _, _, Some(hash), Some(place)) if line["latest"] == true => {
                places.insert(place, hash);
            }
            _ => {}
        }
    }
    places.into_iter().map(|(place, id)| (place, contents.get(&id).cloned().unwrap_or_default())).collect()
}

#[tokio::test]
async fn what_changes_is_remembered_and_what_goes_is_forgotten_until_it_is_ended() {
    let data_dir = DataDir::warm();
    let folder = data_dir.path().join("notes");
    write(&folder, "key.md", "The spare key is in the blue box.");
    write(&folder, "old/well.md", "The well is behind the third oak.");
    let mut watch = Watch::start(&data_dir, &folder, &["--forget-missing", "--confirm"]).await;

    write(&folder, "new/deep/gate.md", "The gate opens at dusk.");
    assert_eq!(watch.files::<1>().await, pairs(&[("remembered", "new/deep/gate.md")]));
    write(&folder, "key.md", "The spare key is in the red box.");
    assert_eq!(watch.files::<1>().await, pairs(&[("remembered", "key.md")]));

    // Moved: it is remembered at its new place only. A folder that is moved is watched where it is now.
    std::fs::rename(folder.join("old"), folder.join("archive")).expect("it is moved");
    let moved = pairs(&[("forgotten", "old/well.md"), ("remembered", "archive/well.md")]);
    assert_eq!(watch.files::<2>().await, moved);
    write(&folder, "archive/well.md", "The well is dry.");
    assert_eq!(watch.files::<1>().await, pairs(&[("remembered", "archive/well.md")]));
    std::fs::remove_file(folder.join("key.md")).expect("it is deleted");
    assert_eq!(watch.files::<1>().await, pairs(&[("forgotten", "key.md")]));
    // Touched, and ignored from now on.
    write(&folder, "archive/well.md", "The well is dry.");
    assert_eq!(watch.files::<1>().await, pairs(&[("unchanged", "archive/well.md")]));
    write(&folder, ".gitignore", "gate.md\n");
    write(&folder, "odd.bin", "\u{1}\0");
    let last = pairs(&[("left out", "new/deep/gate.md"), ("skipped", "odd.bin")]);
    assert_eq!(watch.files::<2>().await, last);

    let (status, rest) = watch.end().await;
    assert!(status.success() && rest.is_empty(), "{status} {rest:?}");
    let all = remembered(&data_dir).await;
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(
        (all["archive/well.md"].as_str(), all["new/deep/gate.md"].as_str()),
        ("The well is dry.", "The gate opens at dusk.")
    );
}

#[tokio::test]
async fn saves_of_editors_and_slow_writers_and_bursts_are_read_once_and_whole() {
    let data_dir = DataDir::warm();
    let folder = data_dir.path().join("notes");
    let note = write(&folder, "note.md", "The first version.");
    let mut watch = Watch::start(&data_dir, &folder, &["--forget-missing", "--confirm"]).await;

    // As editors save: the old file away, a new one in its place, the old one deleted.
    std::fs::rename(&note, folder.join("note.md~")).expect("it is moved");
    let temporary = write(&folder, ".note.md.swp", "The second version.");
    std::fs::rename(temporary, &note).expect("it is moved");
    std::fs::remove_file(folder.join("note.md~")).expect("it is deleted");
    assert_eq!(watch.files::<1>().await, pairs(&[("remembered", "note.md")]));

    // A program that writes a line now and then: nothing is read before it has ended.
    let mut slow = std::fs::File::create(folder.join("slow.md")).expect("a file");
    for line in 0..6 {
        writeln!(slow, "Line {line} of the slow writer.").expect("it is written");
        slow.sync_all().expect("it is on the disk");
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
    drop(slow);
    assert_eq!(watch.files::<1>().await, pairs(&[("remembered", "slow.md")]));
    let slow = data_dir.run(&["recall", "--json", "slow writer"]).await.json();
    let text = slow["results"].to_string();
    assert!(text.contains("Line 5"), "{slow}");

    // One of 300 files, each written five times.
    for round in 0..5 {
        for file in 0..300 {
            write(&folder, &format!("many/{file:03}.md"), &format!("File {file} holds the number {round}."));
        }
    }
    let mut seen = HashMap::new();
    for _ in 0..300 {
        let line = watch.line().await;
        assert_eq!(line["outcome"], "remembered", "{line}");
        *seen.entry(line["file"].as_str().expect("a file").to_owned()).or_insert(0) += 1;
    }
    assert!(seen.len() == 300 && seen.values().all(|count| *count == 1), "{seen:?}");
    let (status, rest) = watch.end().await;
    assert!(status.success() && rest.is_empty(), "{status} {rest:?}");
    let all = remembered(&data_dir).await;
    assert_eq!(all.len(), 302, "{:?}", all.keys());
    assert_eq!(all["note.md"], "The second version.");
    assert!(
        (0..300).all(|file| all[&format!("many/{file:03}.md")] == format!("File {file} holds the number 4."))
    );
}

#[tokio::test]
async fn nothing_is_lost_while_the_memory_is_killed_or_cannot_be_started() {
    let data_dir = DataDir::warm();
    let folder = data_dir.path().join("notes");
    write(&folder, "key.md", "The spare key is in the blue box.");
    let mut watch = Watch::start(&data_dir, &folder, &["--forget-missing", "--confirm"]).await;
    // No other process can be started: what it needs is gone.
    let (runtime, away) = (data_dir.path().join("runtime"), data_dir.path().join("runtime.away"));
    std::fs::rename(&runtime, &away).expect("it is moved");
    data_dir.instances().into_iter().for_each(|pid| kill(pid, Signal::KILL));
    eventually("the memory is gone", PATIENCE, async || data_dir.instances().is_empty()).await;
    write(&folder, "gate.md", "The gate opens at dusk.");
    write(&folder, "key.md", "The spare key is in the red box.");
    let failed = pairs(&[("failed", "gate.md"), ("failed", "key.md")]);
    assert_eq!(watch.files::<2>().await, failed);
    write(&folder, "later.md", "Written while it was away.");
    assert_eq!(watch.files::<1>().await, pairs(&[("failed", "later.md")]));
    std::fs::rename(&away, &runtime).expect("it is moved");
    let stored = pairs(&[("remembered", "gate.md"), ("remembered", "key.md"), ("remembered", "later.md")]);
    assert_eq!(watch.files::<3>().await, stored);
    let (status, rest) = watch.end().await;
    assert!(status.success() && rest.is_empty(), "{status} {rest:?}");
    assert_eq!(remembered(&data_dir).await["key.md"], "The spare key is in the red box.");
}

#[tokio::test]
async fn a_folder_that_is_taken_away_has_lost_nothing_and_is_watched_again_when_it_is_back() {
    let data_dir = DataDir::warm();
    let (folder, away) = (data_dir.path().join("disk"), data_dir.path().join("away"));
    write(&folder, "key.md", "The spare key is in the blue box.");
    let mut watch = Watch::start(&data_dir, &folder, &["--forget-missing", "--confirm"]).await;
    std::fs::rename(&folder, &away).expect("it is moved");
    let said = watch.warning().await;
    assert!(said.contains("is gone, or another folder") && said.contains("not forgotten"), "{said}");
    tokio::time::sleep(Duration::from_secs(2)).await;
    std::fs::rename(&away, &folder).expect("it is back");
    write(&folder, "gate.md", "The gate opens at dusk.");
    assert_eq!(watch.files::<1>().await, pairs(&[("remembered", "gate.md")]));
    let (status, rest) = watch.end().await;
    assert!(status.success() && rest.is_empty(), "{status} {rest:?}");
    assert_eq!(remembered(&data_dir).await.len(), 2);
}

#[tokio::test]
async fn what_goes_is_only_told_unless_forgetting_was_asked_for_and_confirmed() {
    let data_dir = DataDir::warm();
    let folder = data_dir.path().join("notes");
    write(&folder, "key.md", "The spare key is in the blue box.");
    write(&folder, "gate.md", "The gate opens at dusk.");
    let mut command = data_dir.command("remembrancer");
    command.arg("import-folder").arg(&folder).args(["--watch", "--forget-missing"]).stderr(Stdio::piped());
    let refused = memory_tests::process::Ran::of(&mut command).await;
    assert!(refused.refusal().contains("--confirm"), "{refused:?}");
    let mut watch = Watch::start(&data_dir, &folder, &[]).await;
    std::fs::remove_file(folder.join("key.md")).expect("it is deleted");
    assert_eq!(watch.files::<1>().await, pairs(&[("gone", "key.md")]));
    let (status, _) = watch.end().await;
    assert!(status.success());
    assert_eq!(remembered(&data_dir).await.len(), 2);
}
