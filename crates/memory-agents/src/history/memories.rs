//! Memories of other servers: mem0, Zep and Graphiti, mcp-memory-service.

use serde_json::Value;

use super::{Read, Text, date, string, tags};
use crate::transcript::clean;

pub(super) const ZEP_LISTS: [&str; 5] = ["episodes", "entities", "nodes", "facts", "edges"];

/// A memory of mem0.
pub(super) fn mem0(memory: &Value) -> Read {
    let id = string(&memory["id"]).ok_or("a memory without id")?;
    let text = string(&memory["memory"]).or_else(|| string(&memory["text"]));
    let text = text.ok_or_else(|| format!("memory {id} has no text"))?;
    let mut all = tags(&memory["categories"]);
    for (key, tag) in [("user_id", "user"), ("agent_id", "agent"), ("run_id", "run")] {
        all.extend(string(&memory[key]).map(|id| format!("{tag}:{id}")));
    }
    let date = date(&memory["updated_at"]).or_else(|| date(&memory["created_at"]));
    Ok(one(&text, Text { context: "fact", source_id: Some(id), date, tags: all, ..Text::default() }))
}

/// An episode, entity or fact of Zep or Graphiti.
pub(super) fn zep(list: &str, value: &Value) -> Read {
    let id = string(&value["uuid"]).or_else(|| string(&value["id"])).ok_or("an element without uuid")?;
    let valid = date(&value["valid_at"]).or_else(|| date(&value["created_at"]));
    match list {
        "episodes" => {
            let text = string(&value["content"]).or_else(|| string(&value["episode_body"]));
            let text = text.ok_or_else(|| format!("episode {id} has no content"))?;
            let title = string(&value["name"]);
            Ok(one(
                &text,
                Text { context: "note", source_id: Some(id), title, date: valid, ..Text::default() },
            ))
        }
        "entities" | "nodes" => {
            let name = string(&value["name"]).ok_or_else(|| format!("entity {id} has no name"))?;
            let Some(summary) = string(&value["summary"]) else { return Ok(Vec::new()) };
            let text = format!("{name}: {summary}");
            Ok(one(
                &text,
                Text {
                    context: "fact",
                    source_id: Some(id),
                    title: Some(name),
                    date: valid,
                    tags: tags(&value["labels"]),
                    ..Text::default()
                },
            ))
        }
        _ => {
            let fact = string(&value["fact"]).ok_or_else(|| format!("fact {id} has no text"))?;
            // It is kept with the time until which it held.
            let ended = date(&value["invalid_at"]).or_else(|| date(&value["expired_at"]));
            let text = match &ended {
                Some(ended) => format!("{fact} (This held until {}.)", &ended[..ended.len().min(10)]),
                None => fact,
            };
            let tags = ended.map(|_| "no-longer-true".to_owned()).into_iter().collect();
            Ok(one(
                &text,
                Text { context: "fact", source_id: Some(id), date: valid, tags, ..Text::default() },
            ))
        }
    }
}

/// A memory of mcp-memory-service.
pub(super) fn mcp_memory_service(memory: &Value) -> Read {
    let id = string(&memory["content_hash"]);
    let text = string(&memory["content"]).ok_or("a memory without content")?;
    let kind = string(&memory["memory_type"]);
    let context = match kind.as_deref() {
        Some("decision") => "decision",
        Some("preference") => "preference",
        Some("fact" | "observation" | "reference") => "fact",
        _ => "note",
    };
    let mut all = tags(&memory["tags"]);
    all.extend(kind.map(|kind| format!("type:{kind}")));
    let date = date(&memory["created_at_iso"]).or_else(|| date(&memory["created_at"]));
    Ok(one(&text, Text { context, source_id: id, date, tags: all, ..Text::default() }))
}

fn one(content: &str, text: Text) -> Vec<Text> {
    clean(content).map(|content| Text { content, ..text }).into_iter().collect()
}
