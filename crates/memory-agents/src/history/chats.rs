//! Conversations as ChatGPT and Claude export them (`conversations.json`).

use std::collections::HashSet;

use serde_json::Value;

use super::{Read, Text, date, string};
use crate::transcript::{clean, texts};

/// The most messages of one conversation.
const MESSAGES_MAX: usize = 100_000;

/// A conversation of ChatGPT: a tree of messages, of which the branch that was shown last is kept.
pub(super) fn chatgpt(conversation: &Value) -> Read {
    let id = string(&conversation["conversation_id"]).or_else(|| string(&conversation["id"]));
    let id = id.ok_or("a conversation without id")?;
    let mapping =
        conversation["mapping"].as_object().ok_or_else(|| format!("conversation {id} has no mapping"))?;
    let is_leaf = |node: &&Value| node["children"].as_array().is_none_or(Vec::is_empty);
    let time = |node: &Value| node["message"]["create_time"].as_f64().unwrap_or(0.0);
    let last =
        conversation["current_node"].as_str().filter(|id| mapping.contains_key(*id)).map(str::to_owned);
    let last = last.or_else(|| {
        let leaves = mapping.iter().filter(|(_, node)| is_leaf(node));
        leaves.max_by(|a, b| time(a.1).total_cmp(&time(b.1))).map(|(id, _)| id.clone())
    });
    let (mut branch, mut seen) = (Vec::new(), HashSet::new());
    let mut at = last.as_deref();
    while let Some(node) = at.filter(|id| seen.len() < MESSAGES_MAX && seen.insert(id.to_owned())) {
        branch.push(&mapping[node]["message"]);
        at = mapping[node]["parent"].as_str().filter(|parent| mapping.contains_key(*parent));
    }
    let title = string(&conversation["title"]);
    let began = date(&conversation["create_time"]);
    let messages = branch.into_iter().rev().filter_map(|message| {
        let role = role(message["author"]["role"].as_str()?)?;
        if message["metadata"]["is_visually_hidden_from_conversation"] == true {
            return None;
        }
        let content = clean(&chatgpt_text(message))?;
        let date = date(&message["create_time"]).or_else(|| began.clone());
        Some(Text { content, role: Some(role), date, source_id: string(&message["id"]), ..Text::default() })
    });
    Ok(turns(&format!("chatgpt:{id}"), title.as_deref(), messages))
}

/// The parts of a message; what is no text is named.
fn chatgpt_text(message: &Value) -> String {
    let content = &message["content"];
    let mut parts: Vec<String> = Vec::new();
    for part in content["parts"].as_array().into_iter().flatten() {
        match part {
            Value::String(text) => parts.push(text.clone()),
            Value::Object(part) => match part.get("text").and_then(Value::as_str) {
                Some(text) => parts.push(text.to_owned()),
                None => {
                    let kind = part.get("content_type").and_then(Value::as_str).unwrap_or("attachment");
                    parts.push(format!("[{}]", kind.trim_end_matches("_asset_pointer").replace('_', " ")));
                }
            },
            _ => {}
        }
    }
    if parts.is_empty() && content["content_type"] == "text" {
        parts.extend(content["text"].as_str().map(str::to_owned));
    }
    parts.extend(attachments(&message["metadata"]["attachments"], "name"));
    parts.join("\n\n")
}

/// A conversation of Claude.
pub(super) fn claude(conversation: &Value) -> Read {
    let id = string(&conversation["uuid"]).ok_or("a conversation without uuid")?;
    let messages = conversation["chat_messages"].as_array();
    let messages = messages.ok_or_else(|| format!("conversation {id} has no chat_messages"))?;
    let messages = messages.iter().filter_map(|message| {
        let role = role(message["sender"].as_str()?)?;
        let blocks = texts(&message["content"], &["text"]);
        let mut parts = vec![if blocks.trim().is_empty() {
            message["text"].as_str().unwrap_or_default().to_owned()
        } else {
            blocks
        }];
        for attachment in message["attachments"].as_array().into_iter().flatten() {
            let name =
                attachment["file_name"].as_str().filter(|name| !name.is_empty()).unwrap_or("without name");
            let content = attachment["extracted_content"].as_str().unwrap_or_default();
            parts.push(format!("[attachment: {name}]\n{content}"));
        }
        parts.extend(attachments(&message["files"], "file_name"));
        let content = clean(&parts.join("\n\n"))?;
        let date = date(&message["created_at"]);
        Some(Text { content, role: Some(role), date, source_id: string(&message["uuid"]), ..Text::default() })
    });
    Ok(turns(&format!("claude:{id}"), string(&conversation["name"]).as_deref(), messages))
}

fn attachments(list: &Value, name: &str) -> Vec<String> {
    let names = list.as_array().into_iter().flatten().filter_map(|file| file[name].as_str());
    names.map(|name| format!("[attachment: {name}]")).collect()
}

fn role(name: &str) -> Option<&'static str> {
    match name {
        "user" | "human" => Some("user"),
        "assistant" => Some("assistant"),
        _ => None,
    }
}

/// Messages as the turns of one conversation.
pub(super) fn turns(
    conversation: &str,
    title: Option<&str>,
    messages: impl Iterator<Item = Text>,
) -> Vec<Text> {
    let turn = |(index, text): (usize, Text)| Text {
        context: "conversation",
        title: title.map(|title| title.chars().take(200).collect()),
        turn: Some((conversation.to_owned(), index as u64)),
        ..text
    };
    messages.enumerate().map(turn).collect()
}
