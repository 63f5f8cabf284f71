//! Reading a graph, whole or in pages.

use std::collections::HashMap;

use memory_core::graph::{Detail, GraphEntity, GraphRelation, TextKey};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::{Thread, key, uuid};
use crate::{Conn, StoreError};

/// An entity with as many of its observations as the detail shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEntity {
    pub id: i64,
    /// Of all its observations; 0 where none were asked for.
    pub observation_count: usize,
    /// Characters of what is shown.
    pub chars: usize,
    pub entity: GraphEntity,
}

/// A relation, and its ends as far as they exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRelation {
    pub id: i64,
    pub from_id: Option<i64>,
    pub to_id: Option<i64>,
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
    detail: Detail,
    chars_max: usize,
) -> Result<Vec<StoredEntity>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let observations_shown = match detail {
        Detail::Names => Some(0_i64),
        Detail::Summary => Some(1),
        Detail::Full => None,
    };
    let rows = sqlx::query(include_str!("../sql/graph_entities.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(ids)
        .bind(observations_shown)
        .bind(i64::try_from(chars_max).unwrap_or(i64::MAX))
        .fetch_all(conn)
        .await?;
    rows.iter()
        .map(|row| {
            let observations: Vec<String> = row.try_get("observations")?;
            let counted: Option<i64> = row.try_get("observation_count")?;
            Ok(StoredEntity {
                id: row.try_get("entity_id")?,
                observation_count: counted.map_or(observations.len(), |count| count as usize),
                chars: row.try_get::<i64, _>("chars")? as usize,
                entity: GraphEntity {
                    name: row.try_get("name")?,
                    entity_type: row.try_get("entity_type")?,
                    observations,
                },
            })
        })
        .collect()
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
        "select relation_id, from_id, to_id, from_name, to_name, relation_type
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

/// The relations between existing entities whose later end stands after `after` and up to `last`.
pub async fn relations_within(
    conn: &mut Conn,
    thread: &Thread,
    after: i64,
    last: i64,
) -> Result<Vec<StoredRelation>, StoreError> {
    let rows = sqlx::query(
        "select relation_id, from_id, to_id, from_name, to_name, relation_type
         from graph_relation
         where namespace = $1 and thread_id = $2 and from_id is not null and to_id is not null
           and greatest(from_id, to_id) > $3 and greatest(from_id, to_id) <= $4",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(after)
    .bind(last)
    .fetch_all(conn)
    .await?;
    rows.iter().map(relation_of).collect()
}

/// The relations of which an end does not exist.
pub async fn relations_dangling(conn: &mut Conn, thread: &Thread) -> Result<Vec<StoredRelation>, StoreError> {
    let rows = sqlx::query(
        "select relation_id, from_id, to_id, from_name, to_name, relation_type
         from graph_relation
         where namespace = $1 and thread_id = $2 and from_id is null
         union all
         select relation_id, from_id, to_id, from_name, to_name, relation_type
         from graph_relation
         where namespace = $1 and thread_id = $2 and to_id is null and from_id is not null",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .fetch_all(conn)
    .await?;
    rows.iter().map(relation_of).collect()
}

/// The relations from or to any of these entities, each once.
pub async fn relations_touching(
    conn: &mut Conn,
    thread: &Thread,
    entities: &[i64],
) -> Result<Vec<StoredRelation>, StoreError> {
    let rows = sqlx::query(include_str!("../sql/relations_touching.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(entities)
        .fetch_all(conn)
        .await?;
    let mut relations = rows.iter().map(relation_of).collect::<Result<Vec<_>, _>>()?;
    relations.sort_by_key(|relation| relation.id);
    relations.dedup_by_key(|relation| relation.id);
    Ok(relations)
}

fn relation_of(row: &PgRow) -> Result<StoredRelation, StoreError> {
    Ok(StoredRelation {
        id: row.try_get("relation_id")?,
        from_id: row.try_get("from_id")?,
        to_id: row.try_get("to_id")?,
        relation: GraphRelation {
            from: row.try_get("from_name")?,
            to: row.try_get("to_name")?,
            relation_type: row.try_get("relation_type")?,
        },
    })
}
