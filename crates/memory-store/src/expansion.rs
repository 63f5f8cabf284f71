//! From hits to what hangs together with them: entities, and other events of the same entities.

use jiff::Timestamp;
use memory_core::event::{EndedBy, StoredEvidence};
use memory_core::id::{Namespace, RevisionId};
use serde::Deserialize;
use sqlx::Row;
use sqlx::types::Json;

use crate::{Conn, StoreError};

/// An event that shares an actor or subject with the events of the hits.
#[derive(Debug, Clone, Deserialize)]
pub struct RelatedEvent {
    pub id: String,
    pub category: String,
    /// `same_actor:<name>` or `same_subject:<name>`.
    pub reason: String,
    pub narrative: String,
    pub evidence: Vec<StoredEvidence>,
    pub artifact_id: String,
    pub event_time: Option<Timestamp>,
    pub due_time: Option<Timestamp>,
    /// Of a commitment: what ended it.
    #[serde(default)]
    pub ended: Option<EndedBy>,
}

/// At most `budget` events that share entities with the events of `seeds`, which are left out themselves, or that are
/// of the entities `named`. The more and the rarer the shared entities the better; actors count double; newer before older.
pub async fn related_events(
    conn: &mut Conn,
    ns: &Namespace,
    seeds: &[RevisionId],
    named: &[i64],
    categories: &[&str],
    include_superseded: bool,
    budget: i64,
) -> Result<Vec<RelatedEvent>, StoreError> {
    let seeds: Vec<i64> = seeds.iter().map(|id| id.0).collect();
    let events: Vec<Json<RelatedEvent>> = sqlx::query_scalar(include_str!("sql/expand.sql"))
        .bind(ns.as_str())
        .bind(seeds)
        .bind(categories)
        .bind(include_superseded)
        .bind(budget)
        .bind(named)
        .fetch_all(conn)
        .await?;
    Ok(events.into_iter().map(|Json(event)| event).collect())
}

/// Someone or something that the hits are about.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundEntity {
    pub name: String,
    pub entity_type: String,
    /// Distinct mentions in the namespace.
    pub mention_count: i64,
    pub aliases: Vec<String>,
    /// Entities that may be the same, likeliest first.
    pub possibly_same: Vec<MaybeSame>,
}

/// An entity of the same type that may be another one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct MaybeSame {
    pub name: String,
    /// How likely, 0 to 1.
    pub score: f32,
}

/// The entities `named`, then those that the revisions mention or whose events they tell, those of most hits first.
pub async fn entities_of(
    conn: &mut Conn,
    ns: &Namespace,
    revisions: &[RevisionId],
    named: &[i64],
    limit: i64,
) -> Result<Vec<FoundEntity>, StoreError> {
    let revisions: Vec<i64> = revisions.iter().map(|id| id.0).collect();
    let rows = sqlx::query(include_str!("sql/entities_of.sql"))
        .bind(ns.as_str())
        .bind(revisions)
        .bind(limit)
        .bind(named)
        .fetch_all(conn)
        .await?;
    rows.iter()
        .map(|row| {
            Ok(FoundEntity {
                name: row.try_get("name")?,
                entity_type: row.try_get("entity_type")?,
                mention_count: row.try_get("mention_count")?,
                aliases: row.try_get("aliases")?,
                possibly_same: row.try_get::<Json<Vec<MaybeSame>>, _>("possibly_same")?.0,
            })
        })
        .collect()
}

/// The entities that go by one of these normalised names, those that stand for what counts as them; at most `limit`.
pub async fn entities_called(
    conn: &mut Conn,
    ns: &Namespace,
    names: &[String],
    limit: i64,
) -> Result<Vec<i64>, StoreError> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    Ok(sqlx::query_scalar(include_str!("sql/entities_called.sql"))
        .bind(ns.as_str())
        .bind(names)
        .bind(limit)
        .fetch_all(conn)
        .await?)
}
