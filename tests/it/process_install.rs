//! `install` and `uninstall` on files as hosts have them.

use std::path::Path;

use memory_tests::process::{DataDir, Ran};
use serde_json::Value;

const SETTINGS: &str = "{\n  \"permissions\": { \"allow\": [\"Bash(git log:*)\"] },\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n    ]\n  }\n}\n";

async fn run(data_dir: &DataDir, home: &Path, arguments: &[&str]) -> Ran {
    let mut command = data_dir.command("remembrancer");
    for variable in ["XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"] {
        command.env_remove(variable);
    }
    Ran::of(command.args(arguments).env("HOME", home).current_dir(home)).await
}

fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            let text = std::fs::read_to_string(entry.path()).expect("text");
            found.push((entry.path().to_string_lossy().into_owned(), text));
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn each_host_is_told_and_afterwards_every_file_is_what_it_was() {
    let data_dir = DataDir::empty();
    let home = data_dir.path().join("home");
    std::fs::create_dir_all(home.join(".claude")).expect("a folder");
    std::fs::create_dir_all(home.join(".codex")).expect("a folder");
    std::fs::write(home.join(".claude/settings.json"), SETTINGS).expect("a file");
    std::fs::write(home.join(".codex/config.toml"), "model = \"gpt-5\" # large\n").expect("a file");
    let before = files(&home);
    for host in ["claude-code", "claude-desktop", "codex", "cursor", "vscode", "opencode", "gemini"] {
        for place in [&["--project"][..], &[]] {
            if host == "claude-desktop" && !place.is_empty() {
                assert!(
                    run(&data_dir, &home, &["install", host, "--project"])
                        .await
                        .refusal()
                        .contains("--project")
                );
                continue;
            }
            let with =
                |verb, more: &[&'static str]| -> Vec<&str> { [&[verb, host][..], place, more].concat() };
            let dry = run(&data_dir, &home, &with("install", &["--dry-run"])).await;
            assert!(
                dry.status.success()
                    && dry.stdout.contains("would be")
                    && dry.stdout.contains("remembrancer"),
                "{dry:?}"
            );
            assert_eq!(files(&home), before, "{host}: a dry run changed something");
            let installed = run(&data_dir, &home, &with("install", &["--json"])).await;
            assert!(installed.status.success(), "{installed:?}");
            let after = files(&home);
            assert_ne!(after, before, "{host}");
            let again = run(&data_dir, &home, &with("install", &["--json"])).await.json();
            let is_unchanged = |file: &Value| file["outcome"] == "unchanged";
            assert!(again["files"].as_array().expect("files").iter().all(is_unchanged), "{again}");
            assert_eq!(files(&home), after, "{host}");
            assert!(run(&data_dir, &home, &with("uninstall", &[])).await.status.success());
            assert_eq!(files(&home), before, "{host} {place:?}");
        }
    }
}

#[tokio::test]
async fn what_the_user_changed_since_stays_and_a_broken_file_is_not_touched() {
    let data_dir = DataDir::empty();
    let home = data_dir.path().join("home");
    std::fs::create_dir_all(home.join(".claude")).expect("a folder");
    let settings = home.join(".claude/settings.json");
    std::fs::write(&settings, SETTINGS).expect("a file");
    assert!(run(&data_dir, &home, &["install", "claude-code"]).await.status.success());
    let text = std::fs::read_to_string(&settings).expect("a file");
    assert!(text.contains("hook session-start --host claude-code") && text.contains("say done"), "{text}");
    std::fs::write(&settings, text.replace("say done", "say finished")).expect("a file");
    assert!(run(&data_dir, &home, &["uninstall", "claude-code"]).await.status.success());
    let text = std::fs::read_to_string(&settings).expect("a file");
    assert!(text.contains("say finished") && !text.contains("remembrancer"), "{text}");

    std::fs::write(&settings, "{ \"hooks\": ").expect("a file");
    let before = files(&home);
    let refused = run(&data_dir, &home, &["install", "claude-code"]).await;
    assert!(refused.refusal().contains("settings.json was not touched"), "{refused:?}");
    assert_eq!(files(&home), before);
}
