//! Reading a graph, whole or in pages.

use std::collections::HashMap;

use memory_core::graph::{Bounds, Detail, GraphEntity, GraphRelation, SUMMARY_CHARS, TextKey};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::{Pattern, Thread, key, uuid};
use crate::{Conn, StoreError};

/// An entity with as many of its observations as were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEntity {
    pub id: i64,
    /// Of all its observations; 0 where none were asked for.
    pub observation_count: usize,
    /// Characters of what is shown, about.
    pub chars: usize,
    pub entity: GraphEntity,
    /// The only observation that is shown is shown in part.
    pub is_cut: bool,
}

/// How much of each entity is read.
#[derive(Debug, Clone, Copy)]
pub struct Portion<'a> {
    pub detail: Detail,
    /// Where an entity has more, …
    pub bounds: Bounds,
    /// … the observations that meet this are preferred, then the newest.
    pub preferred: Option<&'a Pattern>,
}

/// A relation, and its ends as far as they exist.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRelation {
    pub id: i64,
    pub from_id: Option<i64>,
    pub to_id: Option<i64>,
    pub importance: f32,
    pub relation: GraphRelation,
}

/// Which of the thread's entities have these names.
pub async fn entity_ids(
    conn: &mut Conn,
    thread: &Thread,
    names: &[TextKey],
) -> Result<HashMap<TextKey, i64>, StoreError> {
    let rows: Vec<(Uuid, i64)> = sqlx::query_as(
        "select n.name_key, e.entity_id
         from unnest($3::uuid[]) n (name_key)
         cross join lateral (
             select entity_id from graph_entity
             where namespace = $1 and thread_id = $2 and name_key = n.name_key
             offset 0
         ) e",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(names.iter().copied().map(uuid).collect::<Vec<_>>())
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|(name, id)| (key(name), id)).collect())
}

/// The next entities in the thread's order.
pub async fn ids_after(
    conn: &mut Conn,
    thread: &Thread,
    after: i64,
    limit: usize,
) -> Result<Vec<i64>, StoreError> {
    Ok(sqlx::query_scalar(
        "select entity_id from graph_entity
         where namespace = $1 and thread_id = $2 and entity_id > $3
         order by entity_id
         limit $4",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(after)
    .bind(limit as i64)
    .fetch_all(conn)
    .await?)
}

/// The entities of these ids in the thread's order, up to the one with which the shown text passes
/// `chars_max`; at least one.
pub async fn entities(
    conn: &mut Conn,
    thread: &Thread,
    ids: &[i64],
    portion: Portion<'_>,
    chars_max: usize,
) -> Result<Vec<StoredEntity>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let bound = |bound: usize| (bound < usize::MAX).then_some(bound as i64);
    let (items, chars) = match portion.detail {
        Detail::Names => (Some(0), Some(0)),
        Detail::Summary => (Some(1), Some(SUMMARY_CHARS as i64)),
        Detail::Full => (bound(portion.bounds.items), bound(portion.bounds.chars)),
    };
    let rows = sqlx::query(include_str!("../sql/graph_entities.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(ids)
        .bind(items)
        .bind(i64::try_from(chars_max).unwrap_or(i64::MAX))
        .bind(chars)
        .bind(portion.preferred.map(Pattern::as_str))
        .bind(portion.detail == Detail::Summary)
        .fetch_all(conn)
        .await?;
    rows.iter()
        .map(|row| {
            let mut observations: Vec<String> = row.try_get("observations")?;
            let is_cut = chars.is_some_and(|chars| cut_to(&mut observations, chars as usize));
            Ok(StoredEntity {
                id: row.try_get("entity_id")?,
                observation_count: row.try_get::<i64, _>("observation_count")? as usize,
                chars: row.try_get::<i64, _>("chars")? as usize,
                is_cut,
                entity: GraphEntity {
                    name: row.try_get("name")?,
                    entity_type: row.try_get("entity_type")?,
                    observations,
                },
            })
        })
        .collect()
}

/// An observation that is longer than the bound for all is the only one of its page.
fn cut_to(observations: &mut [String], chars: usize) -> bool {
    let [only] = observations else { return false };
    let Some((end, _)) = only.char_indices().nth(chars) else { return false };
    only.truncate(end);
    only.push('…');
    true
}

/// All entities of the thread in order.
pub async fn all_entities(conn: &mut Conn, thread: &Thread) -> Result<Vec<GraphEntity>, StoreError> {
    let rows: Vec<(String, String, Vec<String>)> = sqlx::query_as(
        "select e.name, e.entity_type,
                array(select content from graph_observation
                      where namespace = $1 and thread_id = $2 and entity_id = e.entity_id and is_current
                      order by chain_id) as observations
         from graph_entity e
         where e.namespace = $1 and e.thread_id = $2
         order by e.entity_id",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|(name, entity_type, observations)| GraphEntity { name, entity_type, observations })
        .collect())
}

/// All relations of the thread in order.
pub async fn all_relations(conn: &mut Conn, thread: &Thread) -> Result<Vec<GraphRelation>, StoreError> {
    let rows: Vec<(String, String, String)> = sqlx::query_as(
        "select from_name, to_name, relation_type
         from graph_relation
         where namespace = $1 and thread_id = $2
         order by relation_id",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|(from, to, relation_type)| GraphRelation { from, to, relation_type }).collect())
}

/// The next relations in the thread's order, each with its id.
pub async fn relations_after(
    conn: &mut Conn,
    thread: &Thread,
    after: i64,
    limit: usize,
) -> Result<Vec<StoredRelation>, StoreError> {
    let rows = sqlx::query(
        "select relation_id, from_id, to_id, from_name, to_name, relation_type, importance
         from graph_relation
         where namespace = $1 and thread_id = $2 and relation_id > $3
         order by relation_id
         limit $4",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(after)
    .bind(limit as i64)
    .fetch_all(conn)
    .await?;
    rows.iter().map(relation_of).collect()
}

pub async fn count_relations(conn: &mut Conn, thread: &Thread) -> Result<u64, StoreError> {
    let count: i64 =
        sqlx::query_scalar("select count(*) from graph_relation where namespace = $1 and thread_id = $2")
            .bind(thread.ns.as_str())
            .bind(thread.id)
            .fetch_one(conn)
            .await?;
    Ok(count as u64)
}

/// Which of some relations are read: the first of them after one, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    pub after: i64,
    pub limit: usize,
}

impl Next {
    pub const ALL: Self = Self { after: 0, limit: u32::MAX as usize };
}

/// Of the relations between existing entities whose later end is after `after` and up to `last`, the next.
pub async fn relations_within(
    conn: &mut Conn,
    thread: &Thread,
    after: i64,
    last: i64,
    next: Next,
) -> Result<Vec<StoredRelation>, StoreError> {
    let rows = sqlx::query(
        "select * from (
             select relation_id, from_id, to_id, from_name, to_name, relation_type, importance
             from graph_relation
             where namespace = $1 and thread_id = $2 and from_id is not null and to_id is not null
               and greatest(from_id, to_id) > $3 and greatest(from_id, to_id) <= $4
             offset 0) within
         where relation_id > $5
         order by relation_id
         limit $6",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(after)
    .bind(last)
    .bind(next.after)
    .bind(next.limit as i64)
    .fetch_all(conn)
    .await?;
    rows.iter().map(relation_of).collect()
}

/// Of the relations of which an end does not exist, the next.
pub async fn relations_dangling(
    conn: &mut Conn,
    thread: &Thread,
    next: Next,
) -> Result<Vec<StoredRelation>, StoreError> {
    let rows = sqlx::query(
        "select * from (
             select relation_id, from_id, to_id, from_name, to_name, relation_type, importance
             from graph_relation
             where namespace = $1 and thread_id = $2 and from_id is null
             union all
             select relation_id, from_id, to_id, from_name, to_name, relation_type, importance
             from graph_relation
             where namespace = $1 and thread_id = $2 and to_id is null and from_id is not null
             offset 0) dangling
         where relation_id > $3
         order by relation_id
         limit $4",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(next.after)
    .bind(next.limit as i64)
    .fetch_all(conn)
    .await?;
    rows.iter().map(relation_of).collect()
}

/// Of the relations from or to any of these entities, the next, each once.
pub async fn relations_touching(
    conn: &mut Conn,
    thread: &Thread,
    entities: &[i64],
    next: Next,
) -> Result<Vec<StoredRelation>, StoreError> {
    let rows = sqlx::query(include_str!("../sql/relations_touching.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(entities)
        .bind(next.after)
        // Those between two of the entities come twice.
        .bind(next.limit as i64 * 2)
        .fetch_all(conn)
        .await?;
    let mut relations = rows.iter().map(relation_of).collect::<Result<Vec<_>, _>>()?;
    relations.dedup_by_key(|relation| relation.id);
    relations.truncate(next.limit);
    Ok(relations)
}

fn relation_of(row: &PgRow) -> Result<StoredRelation, StoreError> {
    Ok(StoredRelation {
        id: row.try_get("relation_id")?,
        from_id: row.try_get("from_id")?,
        to_id: row.try_get("to_id")?,
        importance: row.try_get("importance")?,
        relation: GraphRelation {
            from: row.try_get("from_name")?,
            to: row.try_get("to_name")?,
            relation_type: row.try_get("relation_type")?,
        },
    })
}
