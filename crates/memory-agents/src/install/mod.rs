//! The files in which hosts are told of servers and hooks, and how our entries get into them and out again. What is not
//! ours stays as it is, with its order and its comments.

mod hosts;
mod json;
mod toml;

pub use hosts::{App, Folders, UnknownApp};

use std::path::PathBuf;

use serde_json::{Value, json};

/// The name of our entry among a host's servers.
pub const NAME: &str = "remembrancer";

/// How our program is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its path, or its name where that is found.
    pub path: String,
    /// What stands before the command: where the data is, the namespace.
    pub settings: Vec<String>,
}

impl Program {
    fn stdio(&self) -> Vec<String> {
        self.settings.iter().cloned().chain(["stdio".to_owned()]).collect()
    }

    /// As a shell reads it.
    fn hook(&self, event: &str, host: &str) -> String {
        let words = std::iter::once(&self.path).chain(&self.settings).map(|word| quoted(word));
        let words: Vec<String> = words.collect();
        format!("{} hook {event} --host {host}", words.join(" "))
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Whether a hook's command is ours.
fn is_our_hook(command: &str) -> bool {
    command.contains(NAME) && command.contains(" hook ") && command.contains(" --host ")
}

/// What of a host's is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Our server under this key, in this form.
    Server(&'static str, ServerForm),
    /// Our hooks.
    Hooks(Hooks),
    /// Both in one file.
    ServerAndHooks(&'static str, ServerForm, Hooks),
    /// Our server in a file of TOML.
    TomlServer(&'static str),
}

/// The hooks of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hooks {
    /// Its events, and what we call them.
    pub events: &'static [(&'static str, &'static str)],
    /// What `--host` says.
    pub host: &'static str,
    pub form: HookForm,
}

/// How a host writes the hooks of an event down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookForm {
    /// `[{"hooks": [{"type": "command", "command": …, "timeout": …}]}]`, the timeout in the host's unit
    Groups { timeout: u32 },
    /// `[{"command": …}]` in a file that says `"version": 1`
    Commands,
}

impl Hooks {
    fn installed(&self, text: &str, program: &Program) -> Result<String, Unreadable> {
        let hooks = self.events.iter().map(|(name, event)| (*name, program.hook(event, self.host)));
        json::with_hooks(text, &hooks.collect::<Vec<_>>(), self.form)
    }
}

/// How a host writes a server down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerForm {
    /// `{"command": …, "args": […]}`
    Plain,
    /// The same with `"type": "stdio"`.
    Typed,
    /// `{"type": "local", "command": […], "enabled": true}`
    Local,
}

impl ServerForm {
    fn value(self, program: &Program) -> Value {
        let (path, arguments) = (&program.path, program.stdio());
        match self {
            Self::Plain => json!({ "command": path, "args": arguments }),
            Self::Typed => json!({ "type": "stdio", "command": path, "args": arguments }),
            Self::Local => {
                let command: Vec<&String> = std::iter::once(path).chain(&arguments).collect();
                json!({ "type": "local", "command": command, "enabled": true })
            }
        }
    }
}

/// A file of a host, and what of ours is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub path: PathBuf,
    pub part: Part,
}

/// A file that is not what the host reads: nothing in it is touched.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("it is no JSON ({0})")]
    Json(String),
    #[error("it is no TOML ({0})")]
    Toml(String),
    #[error("`{0}` in it has another form than the host documents")]
    Form(String),
}

impl Part {
    /// The text of the file with our entry as it should be now.
    pub fn installed(self, text: &str, program: &Program) -> Result<String, Unreadable> {
        match self {
            Self::Server(key, form) => json::with_server(text, key, &form.value(program)),
            Self::Hooks(hooks) => hooks.installed(text, program),
            Self::ServerAndHooks(key, form, hooks) => {
                hooks.installed(&Self::Server(key, form).installed(text, program)?, program)
            }
            Self::TomlServer(key) => toml::with_server(text, key, program),
        }
    }

    /// The text of the file without anything of ours.
    pub fn removed(self, text: &str) -> Result<String, Unreadable> {
        match self {
            Self::Server(key, _) => json::without_server(text, key),
            Self::Hooks(hooks) => json::without_hooks(text, hooks.form),
            Self::ServerAndHooks(key, _, hooks) => {
                json::without_hooks(&json::without_server(text, key)?, hooks.form)
            }
            Self::TomlServer(key) => toml::without_server(text, key),
        }
    }

    /// The same without hooks; `None` where nothing else is in it.
    pub fn without_hooks(self) -> Option<Self> {
        match self {
            Self::Hooks(_) => None,
            Self::ServerAndHooks(key, form, _) => Some(Self::Server(key, form)),
            part => Some(part),
        }
    }

    /// Whether nothing is left in the file.
    pub fn is_empty(self, text: &str) -> bool {
        match self {
            Self::TomlServer(_) => text.trim().is_empty(),
            _ => text.split_whitespace().collect::<String>() == "{}",
        }
    }
}

#[cfg(test)]
mod tests;
