//! A knowledge graph as lines: threads, entities with the versions of their observations, and relations.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Invalid;
use crate::graph::{
    GraphFile, GraphRelation, GraphScope, ObservationHandle, ThreadId, check_content, check_name, share,
};

/// A graph of the namespace: of a name, or of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivedThread {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub created_at: Timestamp,
}

/// An entity of the thread before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivedEntity {
    pub name: String,
    pub entity_type: String,
    pub confidence: f32,
    pub importance: f32,
    pub is_root: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A version of an observation of the entity before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivedObservation {
    pub id: String,
    /// Versions of one observation have the same number, counted from 1 in each entity.
    pub chain: u32,
    pub version: i32,
    pub current: bool,
    pub content: String,
    pub confidence: f32,
    pub importance: f32,
    pub created_at: Timestamp,
}

/// A relation of the thread before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivedRelation {
    pub from: String,
    pub to: String,
    pub relation_type: String,
    pub importance: f32,
    pub created_at: Timestamp,
}

impl ArchivedThread {
    pub fn new(scope: &GraphScope, created_at: Timestamp) -> Self {
        let (id, file) = match scope {
            GraphScope::Thread(id) => (Some(id.as_str().to_owned()), None),
            GraphScope::File(file) => (None, Some(file.path().to_owned())),
        };
        Self { id, file, created_at }
    }

    pub fn scope(&self) -> Result<GraphScope, Invalid> {
        match (&self.id, &self.file) {
            (Some(id), None) => Ok(GraphScope::Thread(ThreadId::new(id)?)),
            (None, Some(file)) => Ok(GraphScope::File(GraphFile::new(file)?)),
            _ => Err(Invalid::new("a thread has an id or a file")),
        }
    }
}

impl ArchivedEntity {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        check_name("name", &self.name)?;
        check_name("entity_type", &self.entity_type)?;
        check_shares(self.confidence, self.importance)
    }
}

impl ArchivedObservation {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        ObservationHandle::parse(&self.id)?;
        check_content("content", 0, &self.content)?;
        if self.version < 1 {
            return Err(Invalid::new(format!("version {} is none; they are counted from 1", self.version)));
        }
        check_shares(self.confidence, self.importance)
    }
}

impl ArchivedRelation {
    pub fn relation(self) -> GraphRelation {
        GraphRelation { from: self.from, to: self.to, relation_type: self.relation_type }
    }

    pub(super) fn check(&self) -> Result<(), Invalid> {
        check_name("from", &self.from)?;
        check_name("to", &self.to)?;
        check_name("relation_type", &self.relation_type)?;
        check_shares(0.0, self.importance)
    }
}

fn check_shares(confidence: f32, importance: f32) -> Result<(), Invalid> {
    share("confidence", Some(f64::from(confidence)))?;
    share("importance", Some(f64::from(importance)))?;
    Ok(())
}
