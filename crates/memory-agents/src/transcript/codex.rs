//! Lines of `~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl`.

use serde_json::Value;

use super::{Message, Role, SessionFacts, texts, time};

/// What the host writes in the name of the user.
const NOT_THE_USERS: [&str; 3] = ["# AGENTS.md instructions", "<turn_aborted>", "<user_action>"];

pub(super) fn read(line: &Value, facts: &mut SessionFacts) -> Option<Message> {
    let payload = &line["payload"];
    match line["type"].as_str()? {
        "session_meta" => {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            facts.id = text(&payload["id"]);
            facts.folder = text(&payload["cwd"]);
            facts.branch = text(&payload["git"]["branch"]);
            None
        }
        "response_item" if payload["type"] == "message" => {
            let role = match payload["role"].as_str()? {
                "user" => Role::User,
                "assistant" => Role::Assistant,
                _ => return None,
            };
            let text = texts(&payload["content"], &["input_text", "output_text", "text"]);
            if role == Role::User && NOT_THE_USERS.iter().any(|start| text.trim_start().starts_with(start)) {
                return None;
            }
            let id = payload["id"].as_str().map(str::to_owned);
            Some(Message { role, text, at: time(&line["timestamp"]), id })
        }
        _ => None,
    }
}
