//! What a graph is like: lists by type and name, ranges of time and weight, and the figures of its quality.

use jiff::Timestamp;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx};
use memory_core::graph::{ObservationHandle, TextKey, Weights, fold};
use serde::Deserialize;
use sqlx::Row;
use sqlx::types::Json;

use super::{Pattern, Thread};
use crate::{Conn, StoreError};

/// An entity's name and type, with its id for the next page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedEntity {
    pub id: i64,
    pub name: String,
    pub entity_type: String,
}

/// The next entities in order, of a type and with a part of a name where these are given, both in upper or lower case:
/// `limit` of them at most, up to the one that passes `chars_max`. Gives whether there are more.
pub async fn list_entities(
    conn: &mut Conn,
    thread: &Thread,
    entity_type: Option<&str>,
    name: Option<&Pattern>,
    after: i64,
    limit: usize,
    chars_max: usize,
) -> Result<(Vec<NamedEntity>, bool), StoreError> {
    let rows: Vec<(i64, String, String, i64)> = sqlx::query_as(
        "select entity_id, name, entity_type, listed
         from (select m.*, count(*) over () as listed,
                      sum(chars) over (order by entity_id rows unbounded preceding) - chars as chars_before
               from (select entity_id, name, entity_type, char_length(name) + char_length(entity_type) as chars
                     from graph_entity
                     where namespace = $1 and thread_id = $2 and entity_id > $3
                       and ($5::text is null or folded_type = $5) and ($6::text is null or folded_name like $6)
                     order by entity_id
                     limit $4) m) measured
         where chars_before < $7
         order by entity_id",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(after)
    .bind(limit as i64 + 1)
    .bind(entity_type.map(fold))
    .bind(name.map(Pattern::as_str))
    .bind(chars_max as i64)
    .fetch_all(conn)
    .await?;
    let listed = rows.first().map_or(0, |(.., listed)| *listed as usize);
    let fitting = rows.into_iter().take(limit);
    let entities: Vec<NamedEntity> =
        fitting.map(|(id, name, entity_type, _)| NamedEntity { id, name, entity_type }).collect();
    let has_more = entities.len() < listed;
    Ok((entities, has_more))
}

/// Ranges with both ends included; what is not set does not count.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranges {
    pub created_from: Option<Timestamp>,
    pub created_to: Option<Timestamp>,
    pub min_confidence: Option<f32>,
    pub max_confidence: Option<f32>,
    pub min_importance: Option<f32>,
    pub max_importance: Option<f32>,
    pub entity_type: Option<String>,
}

/// An entity with those of its observations that are in the ranges.
#[derive(Debug, Clone, PartialEq)]
pub struct QueriedEntity {
    pub id: i64,
    pub name: String,
    pub entity_type: String,
    pub weights: Weights,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Those that were asked for, or the newest of them.
    pub observations: Vec<QueriedObservation>,
    /// How many were asked for.
    pub observation_count: usize,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct QueriedObservation {
    handle: i64,
    pub version: i32,
    pub content: String,
    pub created_at: Timestamp,
    pub confidence: f32,
    pub importance: f32,
}

impl QueriedObservation {
    pub fn handle(&self) -> ObservationHandle {
        ObservationHandle(self.handle)
    }
}

/// The next entities in order of which something is in all ranges: `limit` of them at most, up to the one that passes
/// `chars_max`, which holds for the observations of one as well. Gives whether there are more.
pub async fn query_entities(
    conn: &mut Conn,
    thread: &Thread,
    ranges: &Ranges,
    after: i64,
    limit: usize,
    chars_max: usize,
) -> Result<(Vec<QueriedEntity>, bool), StoreError> {
    let rows = sqlx::query(include_str!("../sql/query_entities.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(after)
        .bind(limit as i64 + 1)
        .bind(ranges.created_from.map(ToSqlx::to_sqlx))
        .bind(ranges.created_to.map(ToSqlx::to_sqlx))
        .bind(ranges.min_confidence)
        .bind(ranges.max_confidence)
        .bind(ranges.min_importance)
        .bind(ranges.max_importance)
        .bind(ranges.entity_type.as_deref().map(fold))
        .bind(chars_max as i64)
        .fetch_all(conn)
        .await?;
    let listed: i64 = rows.first().map_or(Ok(0), |row| row.try_get("listed"))?;
    let has_more = rows.len().min(limit) < listed as usize;
    let entities = rows
        .iter()
        .take(limit)
        .map(|row| {
            let observations: Option<Json<Vec<QueriedObservation>>> = row.try_get("observations")?;
            Ok(QueriedEntity {
                id: row.try_get("entity_id")?,
                name: row.try_get("name")?,
                entity_type: row.try_get("entity_type")?,
                weights: Weights {
                    confidence: row.try_get("confidence")?,
                    importance: row.try_get("importance")?,
                },
                created_at: row.try_get::<SqlTimestamp, _>("created_at")?.to_jiff(),
                updated_at: row.try_get::<SqlTimestamp, _>("updated_at")?.to_jiff(),
                observations: observations.map(|Json(list)| list).unwrap_or_default(),
                observation_count: row.try_get::<i64, _>("observation_count")? as usize,
            })
        })
        .collect::<Result<Vec<_>, StoreError>>()?;
    Ok((entities, has_more))
}

/// An entity and when it was last changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentChange {
    pub name: String,
    pub entity_type: String,
    pub changed_at: Timestamp,
    /// Nothing has happened to it since it was created.
    pub is_new: bool,
}

pub async fn recent_changes(
    conn: &mut Conn,
    thread: &Thread,
    limit: usize,
) -> Result<Vec<RecentChange>, StoreError> {
    let rows = sqlx::query(include_str!("../sql/recent_changes.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(limit as i64)
        .fetch_all(conn)
        .await?;
    rows.iter()
        .map(|row| {
            Ok(RecentChange {
                name: row.try_get("name")?,
                entity_type: row.try_get("entity_type")?,
                changed_at: row.try_get::<SqlTimestamp, _>("changed_at")?.to_jiff(),
                is_new: row.try_get("is_new")?,
            })
        })
        .collect()
}

#[derive(Debug, Clone, PartialEq)]
pub struct ImportantEntity {
    pub name: String,
    pub entity_type: String,
    pub importance: f32,
    pub observation_count: i64,
}

pub async fn top_important(
    conn: &mut Conn,
    thread: &Thread,
    limit: usize,
) -> Result<Vec<ImportantEntity>, StoreError> {
    let rows: Vec<(String, String, f32, i64)> = sqlx::query_as(
        "select e.name, e.entity_type, e.importance, o.observation_count
         from (select entity_id, name, entity_type, importance
               from graph_entity
               where namespace = $1 and thread_id = $2
               order by importance desc, entity_id
               limit $3) e
         cross join lateral (select count(*) as observation_count
                             from graph_observation
                             where namespace = $1 and thread_id = $2 and entity_id = e.entity_id and is_current) o
         order by e.importance desc, e.entity_id",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(limit as i64)
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|(name, entity_type, importance, observation_count)| ImportantEntity {
            name,
            entity_type,
            importance,
            observation_count,
        })
        .collect())
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectedEntity {
    pub name: String,
    pub entity_type: String,
    pub relation_count: i64,
    /// Some of the names at the other ends.
    pub connected_to: Vec<String>,
}

pub async fn most_connected(
    conn: &mut Conn,
    thread: &Thread,
    limit: usize,
    names_max: usize,
) -> Result<Vec<ConnectedEntity>, StoreError> {
    let rows: Vec<(String, String, i64, Vec<String>)> =
        sqlx::query_as(include_str!("../sql/most_connected.sql"))
            .bind(thread.ns.as_str())
            .bind(thread.id)
            .bind(limit as i64)
            .bind(names_max as i64)
            .fetch_all(conn)
            .await?;
    Ok(rows
        .into_iter()
        .map(|(name, entity_type, relation_count, connected_to)| ConnectedEntity {
            name,
            entity_type,
            relation_count,
            connected_to,
        })
        .collect())
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrphanedEntity {
    pub name: String,
    pub entity_type: String,
    /// `no_relations` or `broken_relation`.
    pub reason: String,
}

pub async fn orphaned_entities(
    conn: &mut Conn,
    thread: &Thread,
    limit: usize,
) -> Result<Vec<OrphanedEntity>, StoreError> {
    let rows: Vec<(String, String, String, i64)> =
        sqlx::query_as(include_str!("../sql/orphaned_entities.sql"))
            .bind(thread.ns.as_str())
            .bind(thread.id)
            .bind(limit as i64)
            .fetch_all(conn)
            .await?;
    Ok(rows
        .into_iter()
        .map(|(name, entity_type, reason, _)| OrphanedEntity { name, entity_type, reason })
        .collect())
}

/// Names and types of the first `limit` entities.
pub async fn names_and_types(
    conn: &mut Conn,
    thread: &Thread,
    limit: usize,
) -> Result<Vec<(String, String)>, StoreError> {
    Ok(sqlx::query_as(
        "select name, entity_type from graph_entity
         where namespace = $1 and thread_id = $2
         order by entity_id
         limit $3",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(limit as i64)
    .fetch_all(conn)
    .await?)
}

/// An entity found by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundByName {
    pub name: String,
    pub entity_type: String,
    /// From it or to it, with another end.
    pub has_relation: bool,
    pub is_root: bool,
}

/// The entities of these names that exist.
pub async fn entities_named(
    conn: &mut Conn,
    thread: &Thread,
    names: &[String],
) -> Result<Vec<FoundByName>, StoreError> {
    let rows: Vec<(String, String, bool, bool)> = sqlx::query_as(
        "select name, entity_type, is_root,
                exists (select from graph_relation
                        where namespace = $1 and thread_id = $2 and from_id = e.entity_id
                          and to_id is distinct from from_id offset 0)
                or exists (select from graph_relation
                           where namespace = $1 and thread_id = $2 and to_id = e.entity_id
                              and to_id is distinct from from_id offset 0) as has_relation
         from graph_entity e
         where namespace = $1 and thread_id = $2 and name_key = any($3)",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(names.iter().map(|name| super::uuid(TextKey::of(name))).collect::<Vec<_>>())
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|(name, entity_type, is_root, has_relation)| FoundByName {
            name,
            entity_type,
            has_relation,
            is_root,
        })
        .collect())
}
