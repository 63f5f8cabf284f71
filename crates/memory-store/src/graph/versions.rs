//! The versions of observations: each a row, the last of its chain current.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::graph::{ObservationHandle, TextKey, Weights, fold};
use sqlx::Row;

use super::{Thread, new_handle, uuid};
use crate::{Conn, StoreError, Tx};

/// One version of an observation.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservationVersion {
    pub handle: ObservationHandle,
    /// The same for all versions of an observation.
    pub chain_id: i64,
    pub version: i32,
    pub is_current: bool,
    pub content: String,
    pub created_at: Timestamp,
    pub weights: Weights,
    pub supersedes: Option<ObservationHandle>,
    pub superseded_by: Option<ObservationHandle>,
}

/// Some of a list of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionsPage {
    /// How many come before.
    pub offset: usize,
    pub limit: usize,
    /// It ends with the one that passes these.
    pub chars_max: usize,
}

impl VersionsPage {
    /// As many as an entity may be asked for at once.
    pub const LONGEST: Self = Self { offset: 0, limit: u16::MAX as usize, chars_max: u32::MAX as usize };
}

/// Of the versions of all of an entity's observations in order, or of the one that `handle` is a version of, a page.
/// Gives whether there are more.
pub async fn observation_versions(
    conn: &mut Conn,
    thread: &Thread,
    entity_id: i64,
    handle: Option<ObservationHandle>,
    page: VersionsPage,
) -> Result<(Vec<ObservationVersion>, bool), StoreError> {
    let rows = sqlx::query(include_str!("../sql/observation_versions.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(entity_id)
        .bind(handle.map(|handle| handle.0))
        .bind(page.limit as i64 + 1)
        .bind(page.offset as i64)
        .bind(page.chars_max as i64)
        .fetch_all(conn)
        .await?;
    let listed: i64 = rows.first().map_or(Ok(0), |row| row.try_get("listed"))?;
    let has_more = rows.len().min(page.limit) < listed as usize;
    let versions = rows
        .iter()
        .take(page.limit)
        .map(|row| {
            let handle = |column| row.try_get::<Option<i64>, _>(column).map(|h| h.map(ObservationHandle));
            Ok(ObservationVersion {
                handle: ObservationHandle(row.try_get("handle")?),
                chain_id: row.try_get("chain_id")?,
                version: row.try_get("version")?,
                is_current: row.try_get("is_current")?,
                content: row.try_get("content")?,
                created_at: row.try_get::<SqlTimestamp, _>("created_at")?.to_jiff(),
                weights: Weights {
                    confidence: row.try_get("confidence")?,
                    importance: row.try_get("importance")?,
                },
                supersedes: handle("supersedes")?,
                superseded_by: handle("superseded_by")?,
            })
        })
        .collect::<Result<Vec<_>, StoreError>>()?;
    Ok((versions, has_more))
}

/// Puts a new version in the place of a chain's current one and gives its handle.
pub async fn supersede_observation(
    tx: &mut Tx,
    thread: &Thread,
    entity_id: i64,
    latest: &ObservationVersion,
    content: &str,
    weights: Weights,
) -> Result<ObservationHandle, StoreError> {
    sqlx::query(
        "update graph_observation set is_current = false
         where namespace = $1 and handle = $2 and thread_id = $3",
    )
    .bind(thread.ns.as_str())
    .bind(latest.handle.0)
    .bind(thread.id)
    .execute(&mut **tx)
    .await?;
    let handle = new_handle();
    sqlx::query(
        "with touched as (
             update graph_entity set updated_at = now()
             where namespace = $1 and thread_id = $2 and entity_id = $3
         )
         insert into graph_observation (namespace, thread_id, entity_id, chain_id, version, handle, content_key,
                                        content, folded, confidence, importance)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(entity_id)
    .bind(latest.chain_id)
    .bind(latest.version + 1)
    .bind(handle.0)
    .bind(uuid(TextKey::of(content)))
    .bind(content)
    .bind(fold(content))
    .bind(weights.confidence)
    .bind(weights.importance)
    .execute(&mut **tx)
    .await?;
    Ok(handle)
}
