//! What was extracted, read as it is archived.

use futures::TryStreamExt;
use futures::stream::BoxStream;
use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::id::{Namespace, RevisionId};
use serde::Deserialize;
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::types::Json;

use crate::{Conn, StoreError, Tx};

/// What was extracted from one revision. Entities and revisions go by the ids of their rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtractionRow {
    pub revision_id: RevisionId,
    pub extractor: String,
    pub extractor_version: i32,
    pub extracted_at: Timestamp,
    pub rejected: i32,
    /// It is to be read again.
    pub is_stale: bool,
    pub entities: Vec<NameRow>,
    pub events: Vec<EventRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NameRow {
    pub id: i64,
    pub name: String,
    pub entity_type: String,
    pub distinguisher: String,
    pub aliases: Vec<String>,
    pub mentions: Vec<(usize, usize)>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct EventRow {
    pub category: String,
    pub narrative: String,
    pub event_time: Option<Timestamp>,
    pub due_time: Option<Timestamp>,
    pub confidence: f32,
    pub subject: Option<i64>,
    pub actors: Vec<ActorRow>,
    pub evidence: Vec<EvidenceRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ActorRow {
    pub id: i64,
    pub role: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct EvidenceRow {
    pub revision_id: i64,
    pub start: usize,
    pub end: usize,
}

pub async fn count_extractions(conn: &mut Conn, ns: &Namespace) -> Result<u64, StoreError> {
    let count: i64 = sqlx::query_scalar(
        "select count(*) from artifact_revision where namespace = $1 and extracted_at is not null",
    )
    .bind(ns.as_str())
    .fetch_one(conn)
    .await?;
    Ok(count as u64)
}

/// All extractions in the order of their revisions.
pub fn extractions<'a>(
    conn: &'a mut Conn,
    ns: &'a Namespace,
) -> BoxStream<'a, Result<ExtractionRow, StoreError>> {
    let rows = sqlx::query(include_str!("../sql/archived_extractions.sql")).bind(ns.as_str()).fetch(conn);
    let read = |row: PgRow| {
        let Json(entities) = row.try_get("entities")?;
        let Json(events) = row.try_get("events")?;
        Ok(ExtractionRow {
            revision_id: RevisionId(row.try_get("revision_id")?),
            extractor: row.try_get("extractor")?,
            extractor_version: row.try_get("extractor_version")?,
            extracted_at: row.try_get::<SqlTimestamp, _>("extracted_at")?.to_jiff(),
            rejected: row.try_get("rejected")?,
            is_stale: row.try_get("is_stale")?,
            entities,
            events,
        })
    };
    Box::pin(rows.map_err(StoreError::from).and_then(move |row| std::future::ready(read(row))))
}

/// Whether an extraction has read the revision.
pub async fn is_extracted(tx: &mut Tx, ns: &Namespace, id: RevisionId) -> Result<bool, StoreError> {
    let read: Option<bool> = sqlx::query_scalar(
        "select extracted_at is not null from artifact_revision where namespace = $1 and revision_id = $2",
    )
    .bind(ns.as_str())
    .bind(id.0)
    .fetch_optional(&mut **tx)
    .await?;
    Ok(read.unwrap_or(false))
}
