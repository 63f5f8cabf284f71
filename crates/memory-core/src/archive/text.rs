//! Texts as lines: contents, and their revisions.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Invalid;
use crate::artifact::{Draft, Metadata, NewArtifact, Role};
use crate::graph::share;
use crate::id::ContentHash;

/// A content, before the first of its revisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivedArtifact {
    /// In 64 hex digits.
    pub sha256: String,
    pub content: String,
}

/// A content at its place and time. Revisions are counted from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivedRevision {
    /// The SHA-256 of its content.
    pub artifact: String,
    pub context: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub participants: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    pub importance: f32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_index: Option<i32>,
    pub created_at: Timestamp,
    /// It is the latest at its place.
    pub latest: bool,
    /// The numbers of the revisions that it superseded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<u64>,
    /// The number of the one that took its place, where that came in before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<u64>,
}

impl ArchivedArtifact {
    pub fn new(hash: &ContentHash, content: String) -> Self {
        Self { sha256: hash.to_hex(), content }
    }

    pub(super) fn check(&self) -> Result<(), Invalid> {
        let actual = ContentHash::of(&self.content).to_hex();
        if actual == self.sha256 {
            return Ok(());
        }
        Err(Invalid::new(format!("its content is not what was written: its sha256 is {actual}")))
    }
}

impl ArchivedRevision {
    pub fn new(
        hash: &ContentHash,
        meta: Metadata,
        created_at: Timestamp,
        latest: bool,
        supersedes: Vec<u64>,
        superseded_by: Option<u64>,
    ) -> Self {
        Self {
            artifact: hash.to_hex(),
            context: meta.context.as_str().to_owned(),
            source: meta.source,
            source_id: meta.source_id,
            author: meta.author,
            role: meta.role.map(|role| Role::as_str(role).to_owned()),
            participants: meta.participants,
            date: meta.date,
            title: meta.title,
            tags: meta.tags,
            importance: meta.importance,
            conversation_id: meta.conversation_id,
            turn_index: meta.turn_index,
            created_at,
            latest,
            supersedes,
            superseded_by,
        }
    }

    /// With its content, as it may be stored.
    pub fn with_content(self, content: String) -> Result<NewArtifact, Invalid> {
        let importance = share("importance", Some(f64::from(self.importance)))?;
        NewArtifact::new(Draft {
            content,
            context: Some(self.context),
            source: self.source,
            source_id: self.source_id,
            importance: importance.map(f64::from),
            title: self.title,
            author: self.author,
            participants: self.participants,
            date: self.date.map(|date| date.to_string()),
            conversation_id: self.conversation_id,
            turn_index: self.turn_index.map(i64::from),
            role: self.role,
            tags: self.tags,
        })
    }
}
