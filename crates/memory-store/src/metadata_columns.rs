//! The columns of a revision that its metadata fills, as they are read and written.

use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::artifact::{Context, Metadata, Role};
use serde::Serialize;

pub(crate) struct MetadataRow {
    pub(crate) context: String,
    pub(crate) source: Option<String>,
    pub(crate) source_id: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) role: Option<String>,
    pub(crate) participants: Vec<String>,
    pub(crate) date: Option<SqlTimestamp>,
    pub(crate) title: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) importance: f32,
    pub(crate) conversation_id: Option<String>,
    pub(crate) turn_index: Option<i32>,
}

row!(MetadataRow {
    context,
    source,
    source_id,
    author,
    role,
    participants,
    date,
    title,
    tags,
    importance,
    conversation_id,
    turn_index
});

impl From<MetadataRow> for Metadata {
    fn from(row: MetadataRow) -> Self {
        Self {
            // The schema holds only names of the closed set; a newer version's name reads as a note.
            context: Context::parse(&row.context).unwrap_or(Context::Note),
            source: row.source,
            source_id: row.source_id,
            author: row.author,
            role: row.role.as_deref().and_then(Role::parse),
            participants: row.participants,
            date: row.date.map(SqlTimestamp::to_jiff),
            title: row.title,
            tags: row.tags,
            importance: row.importance,
            conversation_id: row.conversation_id,
            turn_index: row.turn_index,
        }
    }
}

/// The columns of a revision that its metadata fills, by their names. JSON has no moments in time: the date is bound
/// beside them.
#[derive(Serialize)]
pub(crate) struct MetadataColumns<'a> {
    context: &'a str,
    source: Option<&'a str>,
    source_id: Option<&'a str>,
    author: Option<&'a str>,
    role: Option<&'a str>,
    participants: &'a [String],
    title: Option<&'a str>,
    tags: &'a [String],
    importance: f32,
    conversation_id: Option<&'a str>,
    summary: &'a str,
}

impl<'a> MetadataColumns<'a> {
    pub(crate) fn new(meta: &'a Metadata, summary: &'a str) -> Self {
        Self {
            context: meta.context.as_str(),
            source: meta.source.as_deref(),
            source_id: meta.source_id.as_deref(),
            author: meta.author.as_deref(),
            role: meta.role.map(Role::as_str),
            participants: &meta.participants,
            title: meta.title.as_deref(),
            tags: &meta.tags,
            importance: meta.importance,
            conversation_id: meta.conversation_id.as_deref(),
            summary,
        }
    }
}
