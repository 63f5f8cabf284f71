//! Transcripts as hosts write them while a session goes on: lines of JSON. What was said by the user and the assistant is
//! joined to turns; tools, thinking, reminders and what sub-agents said are left out.

mod claude_code;
mod codex;
mod cursor;
mod gemini;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::str::FromStr;

use jiff::Timestamp;
use serde_json::Value;

use crate::bounded_lines::BoundedLines;
use crate::{fence, redaction};

/// A longer line, such as one with a picture, is passed over.
const LINE_MAX_BYTES: usize = 8 << 20;
/// A file that has to be read as a whole is not longer.
const WHOLE_MAX_BYTES: u64 = 64 << 20;
/// A longer turn is cut, in characters.
const TURN_MAX_CHARS: usize = 200_000;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// What one side said until the other did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub role: Role,
    pub text: String,
    pub at: Option<Timestamp>,
    /// The id of its first message at the host.
    pub id: Option<String>,
}

/// A host whose transcripts can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    ClaudeCode,
    Codex,
    Cursor,
    Gemini,
}

impl Host {
    pub const ALL: [Self; 4] = [Self::ClaudeCode, Self::Codex, Self::Cursor, Self::Gemini];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
        }
    }
}

/// There is no such host.
#[derive(Debug, thiserror::Error)]
#[error("write claude-code, codex, cursor or gemini")]
pub struct UnknownHost;

impl FromStr for Host {
    type Err = UnknownHost;

    fn from_str(name: &str) -> Result<Self, UnknownHost> {
        Self::ALL.into_iter().find(|host| host.as_str() == name).ok_or(UnknownHost)
    }
}

/// What a line of a transcript says, as far as it is kept.
pub(crate) struct Message {
    pub(crate) role: Role,
    pub(crate) text: String,
    pub(crate) at: Option<Timestamp>,
    pub(crate) id: Option<String>,
}

/// What a session is called and where it was held, as its lines say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFacts {
    pub id: Option<String>,
    pub folder: Option<String>,
    pub branch: Option<String>,
}

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    pub line: u64,
    pub reason: String,
}

/// A turn, and the byte of the file where its first line begins: reading can go on there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnAt {
    pub turn: Turn,
    pub offset: u64,
}

/// Reads turns one after the other; holds one at a time.
pub struct Transcript<R> {
    host: Host,
    lines: BoundedLines<R>,
    /// The turn that goes on, and its last message: its id, and the byte where the text before it ends.
    open: Option<TurnAt>,
    last: Option<(String, usize)>,
    facts: SessionFacts,
    unreadable: Vec<Unreadable>,
}

impl Transcript<Box<dyn BufRead>> {
    /// Of a file, at this byte of its lines; from its beginning where it has fewer. Gives where that is.
    pub fn open(host: Host, path: &Path, offset: u64) -> io::Result<(Self, u64)> {
        let is_one_object = host == Host::Gemini && path.extension().is_some_and(|ending| ending == "json");
        if is_one_object {
            let mut whole = Vec::new();
            File::open(path)?.take(WHOLE_MAX_BYTES).read_to_end(&mut whole)?;
            let lines = gemini::lines(whole)?;
            let offset = if lines.len() as u64 >= offset { offset } else { 0 };
            let mut reader = io::Cursor::new(lines);
            reader.set_position(offset);
            return Ok((Self::new(host, Box::new(reader), offset), offset));
        }
        let mut file = File::open(path)?;
        let offset = if file.metadata()?.len() >= offset { offset } else { 0 };
        file.seek(SeekFrom::Start(offset))?;
        Ok((Self::new(host, Box::new(BufReader::new(file)), offset), offset))
    }
}

impl<R: BufRead> Transcript<R> {
    /// Of a reader that stands at this byte of the file.
    pub fn new(host: Host, reader: R, offset: u64) -> Self {
        Self {
            host,
            lines: BoundedLines::new(reader, offset, LINE_MAX_BYTES),
            open: None,
            last: None,
            facts: SessionFacts::default(),
            unreadable: Vec::new(),
        }
    }

    /// What the lines so far say of the session.
    pub fn facts(&self) -> &SessionFacts {
        &self.facts
    }

    /// The lines so far that could not be read; at most a hundred.
    pub fn unreadable(&self) -> &[Unreadable] {
        &self.unreadable
    }

    /// The next turn. The last of a file may go on later.
    pub fn next_turn(&mut self) -> io::Result<Option<TurnAt>> {
        while let Some(line) = self.lines.next()? {
            let parsed = line.bytes.as_deref().map(serde_json::from_slice::<Value>);
            let parsed = match parsed {
                Some(Ok(parsed)) => parsed,
                _ if line.bytes.as_ref().is_some_and(|bytes| bytes.trim_ascii().is_empty()) => continue,
                // It is still being written.
                Some(Err(_)) if !line.is_whole => continue,
                Some(Err(error)) => {
                    self.note(line.number, error.to_string());
                    continue;
                }
                None => {
                    self.note(line.number, format!("longer than {} MB", LINE_MAX_BYTES >> 20));
                    continue;
                }
            };
            let message = match self.host {
                Host::ClaudeCode => claude_code::read(&parsed, &mut self.facts),
                Host::Codex => codex::read(&parsed, &mut self.facts),
                Host::Cursor => cursor::read(&parsed),
                Host::Gemini => gemini::read(&parsed, &mut self.facts),
            };
            let Some(message) = message.and_then(kept) else { continue };
            if let Some(open) = self.open.as_mut().filter(|open| open.turn.role == message.role) {
                // A message that was written down again has grown.
                match &self.last {
                    Some((id, start)) if self.host == Host::Gemini && message.id.as_ref() == Some(id) => {
                        open.turn.text.truncate(*start);
                    }
                    _ => self.last = message.id.map(|id| (id, open.turn.text.len())),
                }
                join(&mut open.turn.text, &message.text);
                continue;
            }
            let Message { role, text, at, id } = message;
            self.last = id.clone().map(|id| (id, 0));
            let next = TurnAt { turn: Turn { role, text, at, id }, offset: line.offset };
            if let Some(done) = self.open.replace(next) {
                return Ok(Some(done));
            }
        }
        Ok(self.open.take())
    }

    fn note(&mut self, line: u64, reason: String) {
        if self.unreadable.len() < 100 {
            self.unreadable.push(Unreadable { line, reason });
        }
    }
}

fn join(text: &mut String, more: &str) {
    let room = TURN_MAX_CHARS.saturating_sub(text.chars().count() + 2);
    if room > 0 {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.extend(more.chars().take(room));
    }
}

/// The message as it is stored; `None` where nothing of it is.
fn kept(message: Message) -> Option<Message> {
    let text = clean(&message.text)?;
    Some(Message { text, ..message })
}

/// A text as it is stored: without what is left out and without secrets.
pub fn clean(text: &str) -> Option<String> {
    let stripped = fence::stripped(text);
    let clean = redaction::redacted(stripped.trim());
    // Postgres cannot hold the character.
    let clean: String = clean.chars().filter(|c| *c != '\0').take(TURN_MAX_CHARS).collect();
    let clean = clean.trim();
    (!clean.is_empty()).then(|| clean.to_owned())
}

/// The texts of a list of content blocks of these types, or a text itself.
pub(crate) fn texts(content: &Value, types: &[&str]) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    let texts = blocks.filter(|block| types.iter().any(|kind| block["type"] == *kind));
    texts.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n\n")
}

pub(crate) fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests;
