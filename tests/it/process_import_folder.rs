//! `import-folder`: what is left out, what is gone, what was moved, and how files are read.

use std::path::Path;

use memory_tests::process::{DataDir, Ran};
use serde_json::{Value, json};

fn write(root: &Path, files: &[(&str, &[u8])]) {
    for (name, content) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is made");
        std::fs::write(path, content).expect("a file is written");
    }
}

async fn import(data_dir: &DataDir, folder: &Path, flags: &[&str]) -> Ran {
    let folder = folder.to_string_lossy().into_owned();
    data_dir.run(&[&["import-folder", &folder], flags].concat()).await
}

async fn artifacts(data_dir: &DataDir) -> Value {
    data_dir.run(&["status", "--json"]).await.json()["counts"]["artifacts"].clone()
}

#[tokio::test]
async fn what_is_left_out_is_counted_and_said_and_taken_when_asked_for() {
    let data_dir = DataDir::warm();
    let folder = data_dir.path().join("notes");
    write(
        &folder,
        &[
            (".env", b"not to be imported"),
            (".gitignore", b"*.log\n"),
            ("a.md", b"The well is behind the third oak."),
            ("run.log", b"started and ended"),
            ("web/node_modules/lib/readme.md", b"How to install the library."),
        ],
    );
    std::os::unix::fs::symlink(&folder, folder.join("circle")).expect("a link is made");
    let ran = import(&data_dir, &folder, &[]).await;
    assert!(ran.stdout.starts_with("1 new, 0 unchanged, 0 skipped, 0 failed\n"), "{ran:?}");
    let left_out =
        "left out: 2 hidden; 1 link; 2 ignored (run.log, web/node_modules/), which --include-ignored takes";
    assert!(ran.stdout.contains(left_out), "{ran:?}");
    let all = import(&data_dir, &folder, &["--include-ignored", "--json"]).await.json();
    assert_eq!((&all["created"], &all["unchanged"]), (&json!(2), &json!(1)), "{all}");
    assert_eq!(all["left_out"], json!({"hidden": 2, "links": 1, "ignored": []}));
}

#[tokio::test]
async fn files_that_are_gone_are_told_and_forgotten_only_when_that_is_confirmed() {
    let data_dir = DataDir::warm();
    let folder = data_dir.path().join("notes");
    write(
        &folder,
        &[
            ("copy.md", b"The spare key is in the blue box."),
            ("key.md", b"The spare key is in the blue box."),
            ("wifi.md", b"The wifi password is swordfish."),
        ],
    );
    assert!(import(&data_dir, &folder, &[]).await.status.success());
    write(&folder, &[("wifi.md", b"The wifi password is marmalade.")]);
    assert!(import(&data_dir, &folder, &[]).await.status.success());
    assert_eq!(artifacts(&data_dir).await, 3);
    for name in ["key.md", "wifi.md"] {
        std::fs::remove_file(folder.join(name)).expect("it is deleted");
    }

    let told = import(&data_dir, &folder, &[]).await;
    assert!(told.status.success() && told.stdout.contains("Remembered, but gone: 2 files."), "{told:?}");
    assert!(told.stdout.contains("gone key.md") && told.stdout.contains("--forget-missing"), "{told:?}");
    let asked = import(&data_dir, &folder, &["--forget-missing"]).await;
    assert!(
        asked.refusal().contains("2 remembered files") && asked.refusal().contains("--confirm"),
        "{asked:?}"
    );
    assert_eq!(artifacts(&data_dir).await, 3, "something was forgotten that was not confirmed");

    let done = import(&data_dir, &folder, &["--forget-missing", "--confirm", "--json"]).await;
    assert_eq!((done.status.code(), done.json()["forgotten"].clone()), (Some(0), json!(2)));
    // The earlier text of the file is gone with it; the other text stands in another file too, and stays.
    assert_eq!(artifacts(&data_dir).await, 1);
    let found = data_dir.run(&["recall", "--json", "spare key"]).await.json();
    assert_eq!(found["results"].as_array().map(Vec::len), Some(1), "{found}");
    assert!(found["results"][0]["snippet"].as_str().is_some_and(|text| text.contains("blue box")), "{found}");
    let again = import(&data_dir, &folder, &["--forget-missing", "--confirm"]).await;
    assert!(again.status.success() && again.stdout.starts_with("0 new, 1 unchanged"), "{again:?}");
}

#[tokio::test]
async fn a_folder_that_was_moved_is_recognised_and_its_old_places_can_be_left() {
    let data_dir = DataDir::warm();
    let (old, new) = (data_dir.path().join("old"), data_dir.path().join("new"));
    write(&old, &[("a.md", b"The well is behind the third oak."), ("b.md", b"The gate opens at dusk.")]);
    assert!(import(&data_dir, &old, &[]).await.status.success());
    std::fs::rename(&old, &new).expect("it is moved");
    let moved = import(&data_dir, &new, &[]).await;
    let told = format!("2 of these texts are also remembered under {}, which is gone", old.display());
    assert!(moved.stdout.contains(&told), "{moved:?}");
    let left = import(&data_dir, &old, &["--forget-missing", "--confirm"]).await;
    assert!(left.status.success() && left.stdout.contains("since it is gone: 2 files"), "{left:?}");
    assert_eq!(artifacts(&data_dir).await, 2, "the texts are there still");
    let found = data_dir.run(&["recall", "--json", "well behind the oak"]).await.json();
    let results = found["results"].as_array().expect("a list");
    assert!(results.iter().all(|result| result["source"] == *new.to_string_lossy()), "{found}");
    let last = import(&data_dir, &new, &[]).await;
    assert_eq!(last.stdout, "0 new, 2 unchanged, 0 skipped, 0 failed\n", "{last:?}");
}

#[tokio::test]
async fn files_of_older_encodings_are_read_and_what_was_guessed_is_said() {
    let data_dir = DataDir::warm();
    let folder = data_dir.path().join("notes");
    let utf16: Vec<u8> =
        "\u{feff}Jörg keeps the cellar key.".encode_utf16().flat_map(u16::to_le_bytes).collect();
    write(
        &folder,
        &[
            ("latin.txt", b"Frau M\xfcller h\xfctet den Schl\xfcssel zum Keller."),
            ("odd.bin", b"\x01\x02\xff\xfe\xfd"),
            ("utf16.txt", &utf16),
        ],
    );
    let ran = import(&data_dir, &folder, &[]).await;
    assert!(ran.stdout.starts_with("2 new, 0 unchanged, 1 skipped, 0 failed"), "{ran:?}");
    assert!(ran.stdout.contains("latin.txt: not UTF-8, read as Windows-1252"), "{ran:?}");
    assert!(ran.stdout.contains("odd.bin: not text") && ran.stdout.contains("iconv"), "{ran:?}");
    for (question, answer) in
        [("Schlüssel zum Keller", "Frau Müller hütet"), ("Jörg cellar key", "Jörg keeps")]
    {
        let found = data_dir.run(&["recall", question, "-n", "2"]).await;
        assert!(found.stdout.contains(answer), "{found:?}");
    }
    // One file by itself is read in the same way.
    let mut command = data_dir.command("remembrancer");
    command.arg("remember").arg(folder.join("latin.txt")).stderr(std::process::Stdio::piped());
    let one = Ran::of(&mut command).await;
    assert!(one.status.success() && one.stderr.contains("Windows-1252"), "{one:?}");
}

#[tokio::test]
async fn a_kind_that_there_is_not_is_told_once_before_anything_is_read() {
    let data_dir = DataDir::empty();
    let folder = data_dir.path().join("notes");
    write(&folder, &[("a.md", b"a text"), ("b.md", b"another")]);
    let mut command = data_dir.command("remembrancer");
    let folder = folder.to_string_lossy().into_owned();
    command.args(["import-folder", &folder, "--context", "bogus"]).stderr(std::process::Stdio::piped());
    let ran = Ran::of(&mut command).await;
    assert!(ran.refusal().contains("bogus") && ran.stderr.lines().count() == 1, "{ran:?}");
}

#[tokio::test]
async fn reextract_names_the_extractors_when_there_is_none_of_that_name() {
    let data_dir = DataDir::empty();
    let refused = data_dir.run(&["reextract", "--extractor", "nope"]).await;
    assert!(
        refused.refusal().contains("\"nope\"") && refused.refusal().contains("rules, llm"),
        "{refused:?}"
    );
}
