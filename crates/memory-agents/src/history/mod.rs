//! History as other programs export it: read one conversation or text at a time, whatever the size of the file, with the
//! original times and speakers. What cannot be read is said with its line.

mod chats;
mod elements;
mod markdown;
mod memories;
mod sessions;

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::str::FromStr;

use serde_json::Value;

use crate::transcript::Host;
use crate::values::{string, tags, text_date};

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    ChatGpt,
    Claude,
    ClaudeCode,
    Codex,
    OpenCode,
    Mem0,
    Zep,
    McpMemoryService,
    BasicMemory,
    Obsidian,
    ServerMemory,
}

/// There is no such format.
#[derive(Debug, thiserror::Error)]
#[error(
    "write chatgpt, claude, claude-code, codex, opencode, mem0, zep, mcp-memory-service, basic-memory, obsidian or server-memory"
)]
pub struct UnknownFormat;

impl Format {
    pub const ALL: [Self; 11] = [
        Self::ChatGpt,
        Self::Claude,
        Self::ClaudeCode,
        Self::Codex,
        Self::OpenCode,
        Self::Mem0,
        Self::Zep,
        Self::McpMemoryService,
        Self::BasicMemory,
        Self::Obsidian,
        Self::ServerMemory,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ChatGpt => "chatgpt",
            Self::Claude => "claude",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::OpenCode => "opencode",
            Self::Mem0 => "mem0",
            Self::Zep => "zep",
            Self::McpMemoryService => "mcp-memory-service",
            Self::BasicMemory => "basic-memory",
            Self::Obsidian => "obsidian",
            Self::ServerMemory => "server-memory",
        }
    }

    /// The ending of its files in a folder.
    pub fn ending(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::Codex => "jsonl",
            Self::BasicMemory | Self::Obsidian => "md",
            _ => "json",
        }
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.as_str() == name).ok_or(UnknownFormat)
    }
}

/// A text to be stored, with what is known of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Text {
    pub content: String,
    pub context: &'static str,
    pub source_id: Option<String>,
    pub title: Option<String>,
    pub author: Option<String>,
    pub date: Option<String>,
    /// With its index: the conversation that it is a turn of.
    pub turn: Option<(String, u64)>,
    pub role: Option<&'static str>,
    pub tags: Vec<String>,
}

/// What a reader gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    Text(Text),
    /// A note refers to another.
    Link {
        from: String,
        to: String,
        kind: String,
    },
    /// Something that could not be read.
    Problem {
        line: u64,
        reason: String,
    },
}

/// Where what is found goes; `false` ends the reading.
pub type Take<'a> = &'a mut dyn FnMut(Found) -> bool;

/// Reads a file. `name` is its path below the folder that was given, which notes are known by.
pub fn read(format: Format, path: &Path, name: &str, take: Take<'_>) -> io::Result<()> {
    let open = || Ok::<_, io::Error>(BufReader::with_capacity(256 << 10, File::open(path)?));
    match format {
        Format::ClaudeCode => sessions::transcript(Host::ClaudeCode, open()?, path, take),
        Format::Codex => sessions::transcript(Host::Codex, open()?, path, take),
        Format::ChatGpt => elements::each(open()?, &[], take, |_, value| chats::chatgpt(value)),
        Format::Claude => elements::each(open()?, &["conversations"], take, |_, value| chats::claude(value)),
        Format::OpenCode => {
            elements::each(open()?, &["sessions"], take, |_, value| sessions::opencode(value))
        }
        Format::Mem0 => {
            elements::each(open()?, &["results", "memories"], take, |_, value| memories::mem0(value))
        }
        Format::Zep => elements::each(open()?, &memories::ZEP_LISTS, take, memories::zep),
        Format::McpMemoryService => {
            elements::each(open()?, &["memories"], take, |_, value| memories::mcp_memory_service(value))
        }
        Format::BasicMemory | Format::Obsidian => markdown::read(path, name, take),
        Format::ServerMemory => Ok(()),
    }
}

/// What an element came to: its texts, or why it cannot be read.
type Read = Result<Vec<Text>, String>;

/// A time: RFC 3339, or seconds or milliseconds since 1970; what is none is left out.
fn date(value: &Value) -> Option<String> {
    let seconds = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => match text.parse::<f64>() {
            Ok(seconds) => seconds,
            Err(_) => return text_date(text),
        },
        _ => return None,
    };
    let millis = if seconds.abs() > 1e11 { seconds } else { seconds * 1_000.0 };
    jiff::Timestamp::from_millisecond(millis as i64).ok().map(|at| at.to_string())
}

#[cfg(test)]
mod tests;
