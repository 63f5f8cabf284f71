//! Which files each host reads, for the user and for a project.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::{Part, ServerForm, Target};

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
                    target(folder.join("settings.json"), Part::Hooks(&CLAUDE_CODE_HOOKS, "claude-code")),
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
            Self::Cursor => {
                vec![target(at.home.join(".cursor/mcp.json"), Part::Server(MCP_SERVERS, ServerForm::Plain))]
            }
            Self::VsCode => {
                let file = application(at, "Code").join("User/mcp.json");
                vec![target(file, Part::Server("servers", ServerForm::Typed))]
            }
            Self::OpenCode => {
                let config = at.config.clone().unwrap_or_else(|| at.home.join(".config"));
                vec![target(opencode(&config.join("opencode")), Part::Server("mcp", ServerForm::Local))]
            }
            Self::Gemini => {
                let file = at.home.join(".gemini/settings.json");
                vec![target(file, Part::Server(MCP_SERVERS, ServerForm::Plain))]
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
                targets.push(Target { path, part: Part::Hooks(&CLAUDE_CODE_HOOKS, "claude-code") });
                targets
            }
            Self::Codex => codex(&project.join(".codex")),
            Self::Cursor => server(".cursor/mcp.json", MCP_SERVERS, ServerForm::Plain),
            Self::VsCode => server(".vscode/mcp.json", "servers", ServerForm::Typed),
            Self::OpenCode => {
                let part = Part::Server("mcp", ServerForm::Local);
                vec![Target { path: opencode(project), part }]
            }
            Self::Gemini => server(".gemini/settings.json", MCP_SERVERS, ServerForm::Plain),
        })
    }
}

fn codex(folder: &Path) -> Vec<Target> {
    vec![
        Target { path: folder.join("config.toml"), part: Part::TomlServer("mcp_servers") },
        Target { path: folder.join("hooks.json"), part: Part::Hooks(&CODEX_HOOKS, "codex") },
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
