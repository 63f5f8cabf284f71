//! What an extractor reads: revisions, and stretches of conversations.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::artifact::Metadata;
use memory_core::id::{ArtifactId, Namespace, RevisionId};
use sqlx::{FromRow, Row};

use crate::metadata_columns::MetadataRow;
use crate::{Conn, StoreError};

/// A revision as the extractor reads it.
#[derive(Debug, Clone)]
pub struct Source {
    pub revision_id: RevisionId,
    pub artifact_id: ArtifactId,
    pub content: String,
    pub meta: Metadata,
    /// The date given, else when it was stored.
    pub date: Timestamp,
    /// No extraction has read it and none of its own is due.
    pub unread: bool,
}

fn source_of(row: &sqlx::postgres::PgRow) -> Result<Source, StoreError> {
    Ok(Source {
        revision_id: RevisionId(row.try_get("revision_id")?),
        artifact_id: ArtifactId(row.try_get("artifact_id")?),
        content: row.try_get("content")?,
        date: row.try_get::<SqlTimestamp, _>("said_at")?.to_jiff(),
        unread: row.try_get("unread")?,
        meta: MetadataRow::from_row(row)?.into(),
    })
}

pub async fn source(
    conn: &mut Conn,
    ns: &Namespace,
    revision_id: RevisionId,
) -> Result<Option<Source>, StoreError> {
    let row = sqlx::query(
        "select r.revision_id, r.artifact_id, a.content, coalesce(r.date, r.created_at) as said_at, true as unread,
                r.context, r.source, r.source_id, r.author, r.role, r.participants, r.date, r.title, r.tags,
                r.importance, r.conversation_id, r.turn_index
         from artifact_revision r
         join artifact a using (namespace, artifact_id)
         where r.namespace = $1 and r.revision_id = $2",
    )
    .bind(ns.as_str())
    .bind(revision_id.0)
    .fetch_optional(conn)
    .await?;
    row.as_ref().map(source_of).transpose()
}

/// The same of several revisions, in the order of their numbers; those that are gone are left out.
pub async fn sources(
    conn: &mut Conn,
    ns: &Namespace,
    revisions: &[RevisionId],
) -> Result<Vec<Source>, StoreError> {
    let rows = sqlx::query(
        "select r.revision_id, r.artifact_id, a.content, coalesce(r.date, r.created_at) as said_at, true as unread,
                r.context, r.source, r.source_id, r.author, r.role, r.participants, r.date, r.title, r.tags,
                r.importance, r.conversation_id, r.turn_index
         from unnest($2::bigint[]) u (revision_id)
         cross join lateral (
             select * from artifact_revision where namespace = $1 and revision_id = u.revision_id offset 0
         ) r
         join artifact a using (namespace, artifact_id)
         order by r.revision_id",
    )
    .bind(ns.as_str())
    .bind(revisions.iter().map(|id| id.0).collect::<Vec<_>>())
    .fetch_all(conn)
    .await?;
    rows.iter().map(source_of).collect()
}

/// A stretch of a conversation: its first unread turns, up to `unread_limit`, with up to `context` turns
/// before the first. Empty when every turn has been read.
pub async fn unread_window(
    conn: &mut Conn,
    ns: &Namespace,
    conversation_id: &str,
    unread_limit: i64,
    context: i64,
) -> Result<Vec<Source>, StoreError> {
    let rows = sqlx::query(include_str!("../sql/unread_window.sql"))
        .bind(ns.as_str())
        .bind(conversation_id)
        .bind(unread_limit)
        .bind(context)
        .fetch_all(conn)
        .await?;
    rows.iter().map(source_of).collect()
}
