//! The table of settings in the documentation and what the binaries say of themselves are the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use memory_tests::process::DataDir;

/// Settings that have no flag: secrets, the log filter of the logging library, and the reference server's file.
const WITHOUT_FLAG: [&str; 16] = [
    "DATABASE_PASSWORD_FILE",
    "MEMORY_FILE_PATH",
    "QDRANT_API_KEY",
    "QDRANT_API_KEY_FILE",
    "REMEMBRANCER_GRANT_PASSWORD",
    "REMEMBRANCER_GRANT_PASSWORD_FILE",
    "REMEMBRANCER_KEY",
    "REMEMBRANCER_KEY_FILE",
    "REMEMBRANCER_LLM_KEY",
    "REMEMBRANCER_LLM_KEY_FILE",
    "REMEMBRANCER_LOG_FORMAT",
    "REMEMBRANCER_PASSWORD",
    "REMEMBRANCER_PASSWORD_FILE",
    "REMEMBRANCER_TOKEN",
    "REMEMBRANCER_TOKEN_FILE",
    "RUST_LOG",
];

/// Flag → environment name of every option that has one, from a help text.
fn settings_of(help: &str) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    let mut flag = None;
    // The environment's name may stand lines after the flag, and be broken from its opening bracket.
    let mut follows_bracket = false;
    for line in help.lines() {
        // Descriptions, which may name other flags, are indented further.
        let is_option = line.len() - line.trim_start().len() <= 6;
        for word in line.split_whitespace() {
            let name = word.trim_end_matches(',');
            if is_option && name.starts_with("--") && line.trim_start().starts_with('-') {
                flag = Some(name.to_owned());
            }
            if follows_bracket {
                let variable = word.split(['=', ']']).next().unwrap_or_default();
                settings.insert(flag.clone().expect("an option"), variable.to_owned());
            }
            follows_bracket = word == "[env:";
        }
    }
    settings
}

/// Flag → environment name of the rows of the table.
fn settings_of_the_table() -> BTreeMap<String, String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/settings.md");
    let page = std::fs::read_to_string(page).expect("docs/settings.md is there");
    let mut settings = BTreeMap::new();
    for row in page.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<&str> =
            row.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        assert_eq!(cells.len(), 4, "{row}");
        assert!(!cells[3].is_empty(), "{row} says nothing");
        let key = if cells[0] == "—" { cells[1] } else { cells[0] };
        assert!(settings.insert(key.to_owned(), cells[1].to_owned()).is_none(), "{key} stands there twice");
    }
    settings
}

#[tokio::test]
async fn every_setting_stands_in_the_table_and_every_row_is_a_setting() {
    let data_dir = DataDir::empty();
    let mut settings = BTreeMap::new();
    let commands = [
        "setup",
        "serve",
        "stdio",
        "remember",
        "recall",
        "forget",
        "status",
        "export",
        "backup",
        "restore",
        "import",
        "import-folder",
        "reembed",
        "reextract",
        "keys",
        "migrate",
        "reconcile",
        "stop",
    ];
    for arguments in std::iter::once(vec!["--help"]).chain(commands.iter().map(|c| vec![*c, "--help"])) {
        let help = data_dir.run(&arguments).await;
        assert!(help.status.success(), "{help:?}");
        settings.extend(settings_of(&help.stdout));
    }
    let mut worker = data_dir.command("event-worker");
    let help = memory_tests::process::Ran::of(worker.arg("--help")).await;
    settings.extend(settings_of(&help.stdout));
    assert!(settings.len() >= 8, "{settings:?}");
    settings.extend(WITHOUT_FLAG.map(|name| (name.to_owned(), name.to_owned())));
    assert_eq!(settings_of_the_table(), settings);
}

#[tokio::test]
async fn no_secret_is_a_flag_or_shown_by_help() {
    let data_dir = DataDir::empty();
    for command in ["serve", "stdio", "status"] {
        let mut help = data_dir.command("remembrancer");
        help.env("DATABASE_URL", "postgres://user:hunter2@host/db").env("REMEMBRANCER_TOKEN", "hunter2");
        help.env("REMEMBRANCER_LLM_KEY", "hunter2")
            .env("REMEMBRANCER_LLM_URL", "http://localhost/v1?key=hunter2");
        let help = memory_tests::process::Ran::of(help.args([command, "--help"])).await;
        assert!(!help.stdout.contains("hunter2"), "{help:?}");
        let flags: BTreeSet<&str> =
            help.stdout.split_whitespace().filter(|word| word.starts_with("--")).collect();
        assert!(!flags.iter().any(|flag| flag.contains("token") || flag.contains("key")), "{flags:?}");
    }
}
