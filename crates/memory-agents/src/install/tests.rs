use serde_json::Value;

use super::*;

/// Files as users have them, one or more of each format.
const CLAUDE_SETTINGS: &str = r#"{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": { "allow": ["Bash(git log:*)"], "deny": [] },
  "hooks": {
    "PostToolUse": [
      { "matcher": "Edit|Write", "hooks": [{ "type": "command", "command": "prettier --write" }] }
    ],
    "Stop": [
      { "hooks": [{ "type": "command", "command": "say done", "timeout": 10 }] }
    ]
  },
  "model": "opus"
}
"#;
const CLAUDE_JSON: &str = r#"{
  "numStartups": 42,
  "mcpServers": {
    "github": { "type": "http", "url": "https://example.org/mcp" }
  },
  "projects": {"/home/ann/atlas": {"allowedTools": [], "mcpServers": {}}}
}"#;
const VS_CODE: &str = "{\n\t// Servers of the team\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t/* the browser */\n\t\t\"playwright\": {\n\t\t\t\"command\": \"npx\",\n\t\t\t\"args\": [\"-y\", \"@playwright/mcp@latest\"], // newest\n\t\t},\n\t},\n}\n";
const OPENCODE: &str =
    "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // a comment\n  \"theme\": \"system\"\n}\n";
const CODEX: &str = "# my settings\nmodel = \"gpt-5\" # the large one\n\n[mcp_servers.docs]\ncommand = \"npx\"\nargs = [\"-y\", \"docs\"]\n\n[projects.\"/home/ann/atlas\"]\ntrust_level = \"trusted\"\n";

const CURSOR_HOOKS: &str = "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [\n      { \"command\": \"./say-done.sh\" }\n    ],\n    \"afterFileEdit\": [\n      { \"command\": \"hooks/format.sh\", \"timeout\": 30 }\n    ]\n  }\n}\n";
const GEMINI: &str = r#"{
  "security": { "auth": { "selectedType": "oauth-personal" } },
  "mcpServers": {
    "github": { "httpUrl": "https://example.org/mcp" }
  },
  "hooks": {
    "BeforeTool": [
      { "matcher": "write_file", "hooks": [{ "name": "lint", "type": "command", "command": "./lint.sh", "timeout": 5000 }] }
    ],
    "AfterAgent": [
      { "hooks": [{ "type": "command", "command": "say done" }] }
    ]
  }
}
"#;

fn program() -> Program {
    Program { path: "/opt/my tools/remembrancer".to_owned(), settings: Vec::new() }
}

fn folders() -> Folders {
    Folders {
        home: "/home/ann".into(),
        project: "/srv/atlas".into(),
        config: None,
        claude: None,
        codex: None,
        is_macos: false,
    }
}

fn all() -> Vec<(Part, &'static str)> {
    let at = folders();
    let mut all = Vec::new();
    for app in App::ALL {
        for target in app.targets(&at, false).into_iter().flatten() {
            let name = target.path.file_name().expect("a name").to_string_lossy().into_owned();
            let texts: &[&str] = match (app, name.as_str()) {
                (App::ClaudeCode, "settings.json") | (App::Codex, "hooks.json") => &[CLAUDE_SETTINGS],
                (App::Codex, _) => &[CODEX],
                (App::Cursor, "hooks.json") => &[CURSOR_HOOKS],
                (App::Gemini, _) => &[GEMINI],
                (App::VsCode, _) => &[VS_CODE],
                (App::OpenCode, _) => &[OPENCODE],
                _ => &[CLAUDE_JSON, CLAUDE_SETTINGS],
            };
            all.extend(
                texts
                    .iter()
                    .copied()
                    .chain(["", "{}"].into_iter().take(if app == App::Codex { 1 } else { 2 }))
                    .map(|text| (target.part, text)),
            );
        }
    }
    all
}

#[test]
fn installing_twice_is_installing_once_and_removing_takes_everything_out_again() {
    let all = all();
    assert!(all.len() > 20, "{}", all.len());
    for (part, text) in all {
        let once = part.installed(text, &program()).expect("it is installed");
        assert_ne!(once, text);
        assert_eq!(part.installed(&once, &program()).expect("again"), once, "{part:?}");
        let removed = part.removed(&once).expect("it is removed");
        assert!(!removed.contains("remembrancer"), "{removed}");
        assert_eq!(part.removed(&removed).expect("again"), removed);
        let is_json = !matches!(part, Part::TomlServer(_));
        if is_json
            && let (Ok(before), Ok(after)) =
                (serde_json::from_str::<Value>(text), serde_json::from_str::<Value>(&removed))
        {
            assert_eq!(after, before, "{part:?}");
        }
        if text.trim().is_empty() || text == "{}" {
            assert!(part.is_empty(&removed), "{part:?}: {removed}");
        } else {
            assert!(!part.is_empty(&removed), "{part:?}: {removed}");
        }
    }
}

#[test]
fn everything_else_keeps_its_order_and_its_comments() {
    for (part, text) in all() {
        let installed = part.installed(text, &program()).expect("it is installed");
        let mut rest = installed.as_str();
        for line in text.lines().filter(|line| line.trim().len() > 2) {
            let kept = line.trim().trim_end_matches(',');
            let at = rest.find(kept).unwrap_or_else(|| panic!("{kept:?} is gone or moved:\n{installed}"));
            rest = &rest[at..];
        }
    }
}

#[test]
fn hooks_are_commands_that_a_shell_understands_and_those_of_others_stay() {
    let part = all().into_iter().find(|(part, _)| matches!(part, Part::Hooks(..))).expect("hooks").0;
    let installed = part.installed(CLAUDE_SETTINGS, &program()).expect("it is installed");
    let value: Value = serde_json::from_str(&installed).expect("JSON");
    assert_eq!(
        value["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"],
        "'/opt/my tools/remembrancer' hook prompt --host claude-code"
    );
    assert_eq!(value["hooks"]["Stop"][0]["hooks"][0]["command"], "say done");
    assert_eq!(value["hooks"]["Stop"].as_array().map(Vec::len), Some(2));
    // A program that has moved takes the place of the old one.
    let moved = Program {
        path: "/usr/bin/remembrancer".to_owned(),
        settings: vec!["--namespace".into(), "a".into()],
    };
    let again = part.installed(&installed, &moved).expect("it is installed");
    let value: Value = serde_json::from_str(&again).expect("JSON");
    assert_eq!(value["hooks"]["Stop"].as_array().map(Vec::len), Some(2));
    assert!(again.contains("/usr/bin/remembrancer --namespace a hook stop --host claude-code"), "{again}");
    assert!(!again.contains("my tools"), "{again}");
}

#[test]
fn what_the_user_added_to_our_entry_stays() {
    let text =
        r#"{"mcpServers": {"remembrancer": {"command": "old", "args": ["stdio"], "env": {"A": "b"}}}}"#;
    let part = Part::Server("mcpServers", ServerForm::Plain);
    let value: Value =
        serde_json::from_str(&part.installed(text, &program()).expect("it is installed")).expect("JSON");
    let ours = &value["mcpServers"]["remembrancer"];
    assert_eq!((&ours["env"]["A"], &ours["command"]), (&json!("b"), &json!(program().path)));
}

#[test]
fn a_file_that_cannot_be_read_is_not_touched() {
    let hooks = all().into_iter().find(|(part, _)| matches!(part, Part::Hooks(..))).expect("hooks").0;
    for (part, text) in [
        (Part::Server("mcpServers", ServerForm::Plain), "{ \"mcpServers\": "),
        (Part::Server("mcpServers", ServerForm::Plain), "{ \"mcpServers\": [] }"),
        (Part::Server("mcpServers", ServerForm::Plain), "[]"),
        (hooks, "{ \"hooks\": { \"Stop\": {} } }"),
        (Part::TomlServer("mcp_servers"), "model = "),
        (Part::TomlServer("mcp_servers"), "mcp_servers = 5"),
    ] {
        assert!(part.installed(text, &program()).is_err(), "{text}");
    }
}

#[test]
fn hooks_are_written_as_each_host_documents_them() {
    let value = |app: App, name: &str, text: &str| -> Value {
        let at = folders();
        let targets = app.targets(&at, false).expect("files of the user");
        let target = targets.into_iter().find(|target| target.path.ends_with(name)).expect("the file");
        serde_json::from_str(&target.part.installed(text, &program()).expect("it is installed"))
            .expect("JSON")
    };
    let command =
        |event: &str, host: &str| format!("'/opt/my tools/remembrancer' hook {event} --host {host}");
    let cursor = value(App::Cursor, ".cursor/hooks.json", CURSOR_HOOKS);
    let stop = json!([{ "command": "./say-done.sh" }, { "command": command("stop", "cursor") }]);
    assert_eq!((&cursor["version"], &cursor["hooks"]["stop"]), (&json!(1), &stop));
    assert_eq!(cursor["hooks"]["beforeSubmitPrompt"], Value::Null, "a prompt could not be added to");
    assert_eq!(value(App::Cursor, ".cursor/hooks.json", "")["version"], 1);

    let gemini = value(App::Gemini, ".gemini/settings.json", GEMINI);
    let hook = json!({ "type": "command", "command": command("prompt", "gemini"), "timeout": 5000 });
    assert_eq!(gemini["hooks"]["BeforeAgent"], json!([{ "hooks": [hook] }]));
    assert_eq!(gemini["mcpServers"]["remembrancer"]["args"], json!(["stdio"]));
    assert_eq!(gemini["hooks"]["AfterAgent"][0]["hooks"][0]["command"], "say done");
}
