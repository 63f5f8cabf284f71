//! Which files each host reads, for the user and for a project.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::{HookForm, Hooks, Part, ServerForm, Target};

/// The events of hooks, as the host and as we call them.
const CLAUDE_CODE_HOOKS: [(&str, &str); 5] = [
    ("SessionStart", "session-start"),
    ("UserPromptSubmit", "prompt"),
    ("PreCompact", "pre-compact"),
    ("Stop", "stop"),
    ("SessionEnd", "session-end"),
];
const CODEX_HOOKS: [(&str, &str); 4] = [
    ("SessionStart", "session-start"),
    ("UserPromptSubmit", "prompt"),
    ("PreCompact", "pre-compact"),
    ("Stop", "stop"),
];
/// Of Cursor there is none for a prompt that could add something to it.
const CURSOR_HOOKS: [(&str, &str); 4] = [
    ("sessionStart", "session-start"),
    ("preCompact", "pre-compact"),
    ("stop", "stop"),
    ("sessionEnd", "session-end"),
];
const GEMINI_HOOKS: [(&str, &str); 5] = [
    ("SessionStart", "session-start"),
    ("BeforeAgent", "prompt"),
    ("PreCompress", "pre-compact"),
    ("AfterAgent", "stop"),
    ("SessionEnd", "session-end"),
];
const OF_CLAUDE_CODE: Hooks =
    Hooks { events: &CLAUDE_CODE_HOOKS, host: "claude-code", form: HookForm::Groups { timeout: 5 } };
const OF_CODEX: Hooks = Hooks { events: &CODEX_HOOKS, host: "codex", form: HookForm::Groups { timeout: 5 } };
const OF_CURSOR: Hooks = Hooks { events: &CURSOR_HOOKS, host: "cursor", form: HookForm::Commands };
/// It counts in milliseconds.
const OF_GEMINI: Hooks =
    Hooks { events: &GEMINI_HOOKS, host: "gemini", form: HookForm::Groups { timeout: 5_000 } };
const MCP_SERVERS: &str = "mcpServers";

/// A host that can be told of us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum App {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    Cursor,
    VsCode,
    OpenCode,
    Gemini,
}

/// There is no such host.
#[derive(Debug, thiserror::Error)]
#[error("write claude-code, claude-desktop, codex, cursor, vscode, opencode or gemini")]
pub struct UnknownApp;

/// Where the files of hosts are.
#[derive(Debug, Clone)]
pub struct Folders {
    pub home: PathBuf,
    /// That of the project.
    pub project: PathBuf,
    /// `XDG_CONFIG_HOME`, where it is set.
    pub config: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR` and `CODEX_HOME`, where they are set.
    pub claude: Option<PathBuf>,
    pub codex: Option<PathBuf>,
    pub is_macos: bool,
}

impl App {
    pub const ALL: [Self; 7] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Codex,
        Self::Cursor,
        Self::VsCode,
        Self::OpenCode,
        Self::Gemini,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::OpenCode => "opencode",
            Self::Gemini => "gemini",
        }
    }

    /// What has our entries; `None` where the host knows no files of a project.
    pub fn targets(self, at: &Folders, of_project: bool) -> Option<Vec<Target>> {
        if of_project { self.of_project(&at.project) } else { Some(self.of_user(at)) }
    }

    fn of_user(self, at: &Folders) -> Vec<Target> {
        let target = |path: PathBuf, part| Target { path, part };
        match self {
            Self::ClaudeCode => {
                let folder = at.claude.clone().unwrap_or_else(|| at.home.join(".claude"));
                let servers = at.claude.clone().unwrap_or_else(|| at.home.clone()).join(".claude.json");
                vec![
                    target(servers, Part::Server(MCP_SERVERS, ServerForm::Typed)),
                    target(folder.join("settings.json"), Part::Hooks(OF_CLAUDE_CODE)),
                ]
            }
            Self::ClaudeDesktop => {
                let file = application(at, "Claude").join("claude_desktop_config.json");
                vec![target(file, Part::Server(MCP_SERVERS, ServerForm::Plain))]
            }
            Self::Codex => {
                let folder = at.codex.clone().unwrap_or_else(|| at.home.join(".codex"));
                codex(&folder)
            }
            Self::Cursor => cursor(&at.home.join(".cursor")),
            Self::VsCode => {
                let file = application(at, "Code").join("User/mcp.json");
                vec![target(file, Part::Server("servers", ServerForm::Typed))]
            }
            Self::OpenCode => {
                let config = at.config.clone().unwrap_or_else(|| at.home.join(".config"));
                vec![target(opencode(&config.join("opencode")), Part::Server("mcp", ServerForm::Local))]
            }
            Self::Gemini => {
                vec![target(at.home.join(".gemini/settings.json"), GEMINI)]
            }
        }
    }

    fn of_project(self, project: &Path) -> Option<Vec<Target>> {
        let server =
            |file: &str, key, form| vec![Target { path: project.join(file), part: Part::Server(key, form) }];
        Some(match self {
            Self::ClaudeDesktop => return None,
            Self::ClaudeCode => {
                let mut targets = server(".mcp.json", MCP_SERVERS, ServerForm::Typed);
                let path = project.join(".claude/settings.json");
                targets.push(Target { path, part: Part::Hooks(OF_CLAUDE_CODE) });
                targets
            }
            Self::Codex => codex(&project.join(".codex")),
            Self::Cursor => cursor(&project.join(".cursor")),
            Self::VsCode => server(".vscode/mcp.json", "servers", ServerForm::Typed),
            Self::OpenCode => {
                let part = Part::Server("mcp", ServerForm::Local);
                vec![Target { path: opencode(project), part }]
            }
            Self::Gemini => {
                vec![Target { path: project.join(".gemini/settings.json"), part: GEMINI }]
            }
        })
    }
}

const GEMINI: Part = Part::ServerAndHooks(MCP_SERVERS, ServerForm::Plain, OF_GEMINI);

fn cursor(folder: &Path) -> Vec<Target> {
    vec![
        Target { path: folder.join("mcp.json"), part: Part::Server(MCP_SERVERS, ServerForm::Plain) },
        Target { path: folder.join("hooks.json"), part: Part::Hooks(OF_CURSOR) },
    ]
}

fn codex(folder: &Path) -> Vec<Target> {
    vec![
        Target { path: folder.join("config.toml"), part: Part::TomlServer("mcp_servers") },
        Target { path: folder.join("hooks.json"), part: Part::Hooks(OF_CODEX) },
    ]
}

/// Where a desktop application has its settings.
fn application(at: &Folders, name: &str) -> PathBuf {
    if at.is_macos {
        return at.home.join("Library/Application Support").join(name);
    }
    at.config.clone().unwrap_or_else(|| at.home.join(".config")).join(name)
}

/// The file that is there, of the two names that the host reads.
fn opencode(folder: &Path) -> PathBuf {
    let with_comments = folder.join("opencode.jsonc");
    if with_comments.exists() { with_comments } else { folder.join("opencode.json") }
}

impl FromStr for App {
    type Err = UnknownApp;

    fn from_str(name: &str) -> Result<Self, UnknownApp> {
        Self::ALL.into_iter().find(|app| app.as_str() == name).ok_or(UnknownApp)
    }
}
