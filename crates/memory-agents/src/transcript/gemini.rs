//! Lines of `~/.gemini/tmp/PROJECT/chats/session-….jsonl`, and the one object of older files, `session-….json`. A message
//! that grows is written down again, with the same id.

use std::io::{self, Write};

use serde_json::Value;

use super::{Message, Role, SessionFacts, texts, time};

pub(super) fn read(line: &Value, facts: &mut SessionFacts) -> Option<Message> {
    if let Some(id) = line["sessionId"].as_str() {
        facts.id = Some(id.to_owned());
    }
    let role = match line["type"].as_str()? {
        "user" => Role::User,
        "gemini" => Role::Assistant,
        _ => return None,
    };
    // What is shown is what the user has written: the content has files in it that were named.
    let content = Some(&line["displayContent"]).filter(|shown| !shown.is_null()).unwrap_or(&line["content"]);
    Some(Message {
        role,
        text: parts(content),
        at: time(&line["timestamp"]),
        id: line["id"].as_str().map(str::to_owned),
    })
}

/// A text, or a part or a list of parts; calls of tools, files and thoughts are none.
fn parts(content: &Value) -> String {
    match content {
        Value::Array(parts) => {
            parts.iter().map(part).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
        }
        Value::Object(_) => part(content),
        content => texts(content, &[]),
    }
}

fn part(part: &Value) -> String {
    if part["thought"] == true {
        return String::new();
    }
    part.as_str().or_else(|| part["text"].as_str()).unwrap_or_default().to_owned()
}

/// An older file as lines; anything else is not changed.
pub(super) fn lines(file: Vec<u8>) -> io::Result<Vec<u8>> {
    let Ok(Value::Object(mut session)) = serde_json::from_slice::<Value>(&file) else { return Ok(file) };
    let Some(Value::Array(messages)) = session.remove("messages") else { return Ok(file) };
    let mut lines = Vec::with_capacity(file.len());
    for line in std::iter::once(&Value::Object(session)).chain(&messages) {
        serde_json::to_writer(&mut lines, line)?;
        lines.write_all(b"\n")?;
    }
    Ok(lines)
}
