//! Annotated conversations: sessions of turns, and questions with the turns that answer them.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use memory_core::id::ContentHash;
use serde::Deserialize;

/// The largest file that is read, in bytes.
const FILE_MAX_BYTES: u64 = 256 * 1024 * 1024;

#[derive(Debug, Clone, Deserialize)]
pub struct Conversation {
    pub id: String,
    pub turns: Vec<Turn>,
    pub questions: Vec<Question>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Turn {
    pub id: String,
    pub session: i64,
    pub date: String,
    pub speaker: String,
    pub text: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Question {
    pub question: String,
    pub category: Category,
    /// Ids of turns.
    pub evidence: Vec<String>,
}

/// What a question asks for: a number, as LoCoMo has them, or a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(untagged)]
pub enum Category {
    Number(u8),
    Name(String),
}

/// What a category asks for, as the collection names or numbers them.
pub fn category_name(category: &Category) -> String {
    let category = match category {
        Category::Number(number) => number,
        Category::Name(name) => return name.clone(),
    };
    let name = match category {
        1 => "multi-hop",
        2 => "temporal",
        3 => "open-domain",
        4 => "single-hop",
        5 => "adversarial",
        other => return format!("category {other}"),
    };
    format!("{category} {name}")
}

/// Reads and checks the conversations of a file; with the SHA-256 of the file.
pub fn read(file: &Path) -> anyhow::Result<(Vec<Conversation>, String)> {
    let name = file.display();
    let size = file.metadata().with_context(|| format!("{name} cannot be read"))?.len();
    ensure!(size <= FILE_MAX_BYTES, "{name} has {size} bytes, the limit is {FILE_MAX_BYTES}; divide it");
    let text = std::fs::read_to_string(file).with_context(|| format!("{name} cannot be read"))?;
    let conversations = parse(&text).with_context(|| {
        format!(
            "{name} is not a list of conversations, \
             [{{id, turns: [{{id, session, date, speaker, text}}], questions: [{{question, category, evidence: [turn ids]}}]}}]"
        )
    })?;
    let hash = ContentHash::of(&text).0.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((conversations, hash))
}

fn parse(text: &str) -> anyhow::Result<Vec<Conversation>> {
    let conversations: Vec<Conversation> = serde_json::from_str(text)?;
    ensure!(!conversations.is_empty(), "it holds no conversation");
    let mut ids = BTreeSet::new();
    for conversation in &conversations {
        if !ids.insert(&conversation.id) {
            bail!("the conversation '{}' is there twice", conversation.id);
        }
        let mut turns = BTreeSet::new();
        if let Some(twice) = conversation.turns.iter().find(|turn| !turns.insert(&turn.id)) {
            bail!("the turn '{}' of '{}' is there twice", twice.id, conversation.id);
        }
    }
    Ok(conversations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_checked_before_anything_is_measured() {
        let turn = r#"{"id":"a","session":1,"date":"2024-01-01","speaker":"Ann","text":"Hi"}"#;
        let good = format!(r#"[{{"id":"c","turns":[{turn}],"questions":[]}}]"#);
        assert_eq!(parse(&good).unwrap()[0].turns[0].speaker, "Ann");
        let twice = format!(r#"[{{"id":"c","turns":[{turn},{turn}],"questions":[]}}]"#);
        for (bad, reason) in [("[]", "no conversation"), (&*twice, "'a' of 'c'"), ("{}", "expected")] {
            let refused = parse(bad).unwrap_err().to_string();
            assert!(refused.contains(reason), "{refused}");
        }
    }
}
