//! Lines of `~/.cursor/projects/FOLDER/agent-transcripts/ID/ID.jsonl`. They have neither times nor ids.

use serde_json::Value;

use super::{Message, Role, texts};

/// The host puts what the user has written between these, behind what it adds itself.
const QUERY: (&str, &str) = ("<user_query>", "</user_query>");

pub(super) fn read(line: &Value) -> Option<Message> {
    let role = match line["role"].as_str()? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    };
    let text = texts(&line["message"]["content"], &["text"]);
    let text = if role == Role::User { of_the_user(&text) } else { text };
    Some(Message { role, text, at: None, id: None })
}

fn of_the_user(text: &str) -> String {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once(QUERY.0) {
        let (query, behind) = behind.split_once(QUERY.1).unwrap_or((behind, ""));
        parts.push(query.trim());
        rest = behind;
    }
    if parts.is_empty() { text.to_owned() } else { parts.join("\n\n") }
}
