//! Sessions of coding agents: transcripts of Claude Code and Codex, exports of OpenCode (`opencode export`).

use std::io::{self, BufRead};
use std::path::Path;

use serde_json::Value;

use super::{Found, Read, Take, Text, chats, date, string};
use crate::transcript::{Host, Transcript, clean, texts};

/// A transcript, as the hooks store it: the same session is the same conversation.
pub(super) fn transcript<R: BufRead>(host: Host, reader: R, path: &Path, take: Take<'_>) -> io::Result<()> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    // What a sub-agent said is no part of the conversation with the user.
    if host == Host::ClaudeCode && name.starts_with("agent-") {
        return Ok(());
    }
    let mut transcript = Transcript::new(host, reader, 0);
    let mut index = 0;
    while let Some(at) = transcript.next_turn()? {
        let facts = transcript.facts();
        let session = facts.id.clone().unwrap_or_else(|| name.clone().into_owned());
        let folder = facts.folder.as_deref().and_then(|folder| Path::new(folder).file_name());
        let project = folder.map(|name| format!("project:{}", name.to_string_lossy()));
        let branch = facts.branch.as_ref().map(|branch| format!("branch:{branch}"));
        let text = Text {
            content: at.turn.text,
            context: "conversation",
            source_id: at.turn.id,
            date: at.turn.at.map(|at| at.to_string()),
            turn: Some((format!("{}:{session}", host.as_str()), index)),
            role: Some(at.turn.role.as_str()),
            tags: project.into_iter().chain(branch).chain([format!("host:{}", host.as_str())]).collect(),
            ..Text::default()
        };
        index += 1;
        if !take(Found::Text(text)) {
            return Ok(());
        }
    }
    for line in transcript.unreadable() {
        take(Found::Problem { line: line.line, reason: line.reason.clone() });
    }
    Ok(())
}

/// A session of OpenCode.
pub(super) fn opencode(session: &Value) -> Read {
    let info = &session["info"];
    let id = string(&info["id"]).ok_or("a session without info.id")?;
    let messages = session["messages"].as_array().ok_or_else(|| format!("session {id} has no messages"))?;
    let folder = info["directory"].as_str().and_then(|folder| Path::new(folder).file_name());
    let project = folder.map(|name| format!("project:{}", name.to_string_lossy()));
    let tags: Vec<String> = project.into_iter().chain(["host:opencode".to_owned()]).collect();
    let read = messages.iter().filter_map(|message| {
        let role = match message["info"]["role"].as_str()? {
            "user" => "user",
            "assistant" => "assistant",
            _ => return None,
        };
        let spoken = message["parts"]
            .as_array()?
            .iter()
            .filter(|part| part["synthetic"] != true && part["ignored"] != true);
        let content = clean(&texts(&Value::Array(spoken.cloned().collect()), &["text"]))?;
        let date = date(&message["info"]["time"]["created"]);
        let source_id = string(&message["info"]["id"]);
        Some(Text { content, role: Some(role), date, source_id, tags: tags.clone(), ..Text::default() })
    });
    Ok(chats::turns(&format!("opencode:{id}"), string(&info["title"]).as_deref(), read))
}
