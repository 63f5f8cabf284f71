//! Backups that are cut short, find no room, or are damaged; and folders that nothing may be restored into.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use memory_tests::process::{DataDir, Ran, Server, eventually, kill};
use rustix::process::Signal;
use serde_json::json;
use tempfile::TempDir;

use crate::process_backup::{backed_up, done, have_three_texts, listed, shelf, text};

async fn refused(data_dir: &DataDir, arguments: &[&str]) -> String {
    let mut command = data_dir.command("remembrancer");
    Ran::of(command.args(arguments).stderr(Stdio::piped())).await.refusal().to_owned()
}

#[tokio::test]
async fn a_backup_that_is_killed_midway_is_none_and_the_next_one_clears_it_away() {
    let (data_dir, shelf) = (DataDir::warm(), shelf());
    let server = Server::start(&data_dir).await;
    let mut child = data_dir
        .command("remembrancer")
        .args(["backup", text(shelf.path())])
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let partial = || listed(shelf.path()).into_iter().find(|name| name.starts_with(".remembrancer-partial"));
    eventually("files are copied", Duration::from_secs(30), async || {
        partial().is_some_and(|name| shelf.path().join(name).join("data/base").exists())
    })
    .await;
    kill(child.id().expect("it runs") as i32, Signal::KILL);
    child.wait().await.expect("it has ended");
    let left = partial().expect("it was killed midway");
    let told = refused(&data_dir, &["restore", "--verify", text(&shelf.path().join(left))]).await;
    assert!(told.contains("no backup") && told.contains("manifest.json"), "{told}");
    let whole = backed_up(&data_dir, shelf.path(), &[]).await;
    let name = whole.file_name().expect("a name").to_string_lossy().into_owned();
    assert_eq!(listed(shelf.path()), [name].into());
    drop(server);
}

#[tokio::test]
async fn a_backup_that_is_interrupted_leaves_nothing() {
    let (data_dir, shelf) = (DataDir::warm(), shelf());
    let _server = Server::start(&data_dir).await;
    let mut child = data_dir
        .command("remembrancer")
        .args(["backup", text(shelf.path())])
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    eventually("it has begun", Duration::from_secs(30), async || !listed(shelf.path()).is_empty()).await;
    kill(child.id().expect("it runs") as i32, Signal::TERM);
    assert!(!child.wait().await.expect("it ends").success());
    assert!(listed(shelf.path()).is_empty(), "{:?}", listed(shelf.path()));
}

#[tokio::test]
async fn of_two_backups_at_once_into_a_folder_one_is_made_and_the_other_told_to_wait() {
    let (data_dir, shelf) = (DataDir::warm(), shelf());
    let _server = Server::start(&data_dir).await;
    let lock = File::options()
        .create(true)
        .append(true)
        .open(shelf.path().join(".remembrancer-backup.lock"))
        .expect("the lock's file");
    lock.lock().expect("it is ours");
    let told = refused(&data_dir, &["backup", text(shelf.path())]).await;
    assert!(told.contains("another backup is being made"), "{told}");
    assert!(listed(shelf.path()).is_empty());
    lock.unlock().expect("it is free");
    let other = crate::process_backup::shelf();
    // Into two folders they do not hinder each other.
    let (one, two) =
        tokio::join!(backed_up(&data_dir, shelf.path(), &[]), backed_up(&data_dir, other.path(), &[]));
    for backup in [one, two] {
        done(&data_dir, &["restore", "--verify", text(&backup), "--json"]).await;
    }
}

/// A small disk of its own, as long as this lives. Only root can make one.
struct Disk(TempDir);

impl Disk {
    fn of(options: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(folder.path())
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self(folder));
        }
        eprintln!("SKIPPED: a small disk cannot be mounted here (that takes root)");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[tokio::test]
async fn a_disk_without_room_is_told_before_and_while_a_backup_is_made_and_nothing_is_left_there() {
    let data_dir = DataDir::warm();
    let _server = Server::start(&data_dir).await;
    // The second looks as if it had room, and is full after some files.
    for options in ["size=20m", "size=500m,nr_inodes=60"] {
        let Some(disk) = Disk::of(options) else { return };
        let told = refused(&data_dir, &["backup", text(disk.path())]).await;
        assert!(told.contains("no room") && told.contains("another disk"), "{options}: {told}");
        assert!(listed(disk.path()).is_empty(), "{options}: {:?}", listed(disk.path()));
    }
    // A logical one fails with the same message.
    let Some(disk) = Disk::of("size=500m,nr_inodes=4") else { return };
    let told = refused(&data_dir, &["backup", "--logical", text(disk.path())]).await;
    assert!(told.contains("No space") || told.contains("no room"), "{told}");
    assert!(listed(disk.path()).is_empty());
}

/// A file of the copy that holds rows.
fn some_table(backup: &Path) -> PathBuf {
    let databases = backup.join("data/base");
    let folders = std::fs::read_dir(databases).expect("databases").filter_map(Result::ok);
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten());
    let mut files: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    files.sort_by_key(|file| std::fs::metadata(file).map_or(0, |found| found.len()));
    files.pop().expect("a file")
}

#[tokio::test]
async fn a_damaged_backup_says_which_file_and_is_not_restored() {
    let (data_dir, shelf) = (DataDir::warm(), shelf());
    let server = Server::start(&data_dir).await;
    have_three_texts(&server).await;
    let backup = backed_up(&data_dir, shelf.path(), &[]).await;
    let logical = backed_up(&data_dir, shelf.path(), &["--logical"]).await;
    let file = some_table(&backup);
    let name = file.strip_prefix(&backup).expect("below it").to_str().expect("UTF-8").to_owned();
    let flip = |file: &Path| {
        let file = File::options().read(true).write(true).open(file).expect("it opens");
        let mut byte = [0];
        file.read_exact_at(&mut byte, 5_000 % file.metadata().expect("its length").len()).expect("a byte");
        file.write_all_at(&[byte[0] ^ 1], 5_000 % file.metadata().expect("its length").len())
            .expect("it is changed");
    };
    let into = DataDir::empty();
    flip(&file);
    for arguments in [&["restore", "--verify"][..], &["restore", "--into", text(into.path())]] {
        let told = refused(&data_dir, &[arguments, &[text(&backup)]].concat()).await;
        assert!(told.contains("damaged") && told.contains(&name), "{told}");
    }
    assert!(!into.path().join("postgres").exists());
    flip(&file);
    let log = backup.join("data/pg_wal");
    let segment = std::fs::read_dir(&log).expect("the log").filter_map(Result::ok);
    let segment = segment.map(|entry| entry.path()).find(|path| path.is_file()).expect("a segment");
    let aside = shelf.path().join("aside");
    std::fs::rename(&segment, &aside).expect("it is moved");
    let told = refused(&data_dir, &["restore", "--verify", text(&backup)]).await;
    assert!(told.contains("is missing") && told.contains("data/pg_wal"), "{told}");
    std::fs::rename(&aside, &segment).expect("it is moved back");
    std::fs::write(backup.join("data/more"), "x").expect("it is written");
    let told = refused(&data_dir, &["restore", "--verify", text(&backup)]).await;
    assert!(told.contains("data/more does not belong"), "{told}");
    std::fs::remove_file(backup.join("data/more")).expect("it is removed");
    done(&data_dir, &["restore", "--verify", text(&backup), "--json"]).await;

    flip(&logical.join("namespaces/0001-default.jsonl"));
    let told = refused(&data_dir, &["restore", "--verify", text(&logical)]).await;
    assert!(told.contains("0001-default.jsonl"), "{told}");
}

#[tokio::test]
async fn a_manifest_that_says_more_than_there_is_is_found_out() {
    let (data_dir, shelf) = (DataDir::warm(), shelf());
    let server = Server::start(&data_dir).await;
    have_three_texts(&server).await;
    let backup = backed_up(&data_dir, shelf.path(), &[]).await;
    let manifest = backup.join("manifest.json");
    let written = std::fs::read_to_string(&manifest).expect("a manifest");
    let altered = |key: &str, value: serde_json::Value| {
        let mut changed: serde_json::Value = serde_json::from_str(&written).expect("JSON");
        *changed.pointer_mut(key).unwrap_or_else(|| panic!("{key}")) = value;
        std::fs::write(&manifest, changed.to_string()).expect("it is written");
    };
    let claim_four_revisions = |rows_written: serde_json::Value| {
        let mut changed: serde_json::Value = serde_json::from_str(&written).expect("JSON");
        changed["counts"]["artifact_revision"] = json!(4);
        changed["counts_after"] = json!({});
        changed["written"] = rows_written;
        std::fs::write(&manifest, changed.to_string()).expect("it is written");
    };
    claim_four_revisions(json!({}));
    let told = refused(&data_dir, &["restore", "--verify", text(&backup)]).await;
    assert!(told.contains("artifact_revision has 3 rows instead of 4"), "{told}");
    // A difference that writes of that time explain is reported, and a larger one is not accepted.
    claim_four_revisions(json!({"artifact_revision": 1}));
    let proof = done(&data_dir, &["restore", "--verify", text(&backup), "--json"]).await;
    let notes = proof["verified"]["notes"].to_string();
    assert!(notes.contains("artifact_revision has 3 rows; it had 4 before"), "{proof}");
    altered("/database/schema", json!(9_999));
    let told = refused(&data_dir, &["restore", "--verify", text(&backup)]).await;
    assert!(told.contains("schema 9999") && told.contains("knows up to"), "{told}");
    altered("/database/postgres_major", json!(17));
    let told = refused(&data_dir, &["restore", "--verify", text(&backup)]).await;
    assert!(told.contains("PostgreSQL 17") && told.contains("logical backup"), "{told}");
    altered("/format", json!(2));
    let told = refused(&data_dir, &["restore", "--verify", text(&backup)]).await;
    assert!(told.contains("later version"), "{told}");
    std::fs::write(&manifest, &written[..written.len() / 2]).expect("it is cut");
    let told = refused(&data_dir, &["restore", "--verify", text(&backup)]).await;
    assert!(told.contains("manifest.json is damaged"), "{told}");
}

#[tokio::test]
async fn nothing_is_restored_over_a_folder_that_has_anything() {
    let (data_dir, shelf) = (DataDir::warm(), shelf());
    let server = Server::start(&data_dir).await;
    have_three_texts(&server).await;
    let backup = backed_up(&data_dir, shelf.path(), &[]).await;
    // The live one.
    let told = refused(&data_dir, &["restore", text(&backup), "--into", text(data_dir.path())]).await;
    assert!(told.contains("is not empty") && told.contains("new folder"), "{told}");
    let stopped = DataDir::warm();
    std::fs::write(stopped.path().join("mine.txt"), "a note").expect("it is written");
    let told = refused(&data_dir, &["restore", text(&backup), "--into", text(stopped.path())]).await;
    assert!(told.contains("is not empty"), "{told}");
    assert_eq!(std::fs::read_to_string(stopped.path().join("mine.txt")).expect("it is there"), "a note");
    let inside = backup.join("new");
    let told = refused(&data_dir, &["restore", text(&backup), "--into", text(&inside)]).await;
    assert!(told.contains("in the backup itself"), "{told}");
    let told = refused(&data_dir, &["restore", text(shelf.path()), "--verify"]).await;
    assert!(told.contains("is no backup"), "{told}");
    // Nor is a backup made inside the database that it is of.
    let within = data_dir.path().join("postgres/data/backups");
    let told = refused(&data_dir, &["backup", text(&within)]).await;
    assert!(told.contains("folder of the database itself"), "{told}");
    assert_eq!(server.ask("status", json!({})).await["counts"]["artifacts"], 3);
}
