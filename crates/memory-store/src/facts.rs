//! Facts: what the knowledge graph says about the matter of a search.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::graph::{GraphReach, GraphRelation, ObservationHandle};
use memory_core::id::Namespace;
use serde::Deserialize;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use sqlx::{Row, query};

use crate::{Conn, StoreError};

/// A current observation as an answer shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredFact {
    pub handle: ObservationHandle,
    pub thread: String,
    pub entity: String,
    pub entity_type: String,
    pub observation: String,
    pub importance: f32,
    pub created_at: Timestamp,
    /// Some relations of its entity, the most important first.
    pub relations: Vec<GraphRelation>,
}

#[derive(Deserialize)]
struct RelationRow {
    from: String,
    to: String,
    relation_type: String,
}

fn fact_of(row: &PgRow) -> Result<StoredFact, StoreError> {
    let relations: Json<Vec<RelationRow>> = row.try_get("relations")?;
    let relations = relations.0.into_iter();
    Ok(StoredFact {
        handle: ObservationHandle(row.try_get("handle")?),
        thread: row.try_get("thread")?,
        entity: row.try_get("entity")?,
        entity_type: row.try_get("entity_type")?,
        observation: row.try_get("content")?,
        importance: row.try_get("importance")?,
        created_at: row.try_get::<SqlTimestamp, _>("created_at")?.to_jiff(),
        relations: relations
            .map(|r| GraphRelation { from: r.from, to: r.to, relation_type: r.relation_type })
            .collect(),
    })
}

/// Reads observations back, in the order given; those that are gone or have a later version are left out.
pub async fn of_observations(
    conn: &mut Conn,
    ns: &Namespace,
    handles: &[i64],
    relations: i64,
) -> Result<Vec<StoredFact>, StoreError> {
    let rows = query(include_str!("sql/facts_of_observations.sql"))
        .bind(ns.as_str())
        .bind(handles)
        .bind(relations)
        .fetch_all(conn)
        .await?;
    rows.iter().map(fact_of).collect()
}

/// The most important observations of entities of these folded names, at most `each` an entity, those of the
/// names that come first before others.
pub async fn of_entities(
    conn: &mut Conn,
    ns: &Namespace,
    reach: &GraphReach,
    folded_names: &[String],
    each: i64,
    limit: i64,
) -> Result<Vec<i64>, StoreError> {
    Ok(sqlx::query_scalar(include_str!("sql/observations_of_entities.sql"))
        .bind(ns.as_str())
        .bind(folded_names)
        .bind(reach.only())
        .bind(each)
        .bind(limit)
        .bind(reach.file_thread())
        .fetch_all(conn)
        .await?)
}

/// An entity of the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedEntity {
    pub folded_name: String,
    pub thread: String,
    pub name: String,
    pub entity_type: String,
}

row!(NamedEntity { folded_name, thread, name, entity_type });

/// The entities of the graph that have one of these folded names.
pub async fn entities_named(
    conn: &mut Conn,
    ns: &Namespace,
    reach: &GraphReach,
    folded_names: &[String],
    limit: i64,
) -> Result<Vec<NamedEntity>, StoreError> {
    Ok(sqlx::query_as(
        "select e.folded_name, e.thread, e.name, e.entity_type
         from unnest($2::text[]) with ordinality n (folded_name, place)
         cross join lateral (
             select g.thread_id, t.name as thread, g.folded_name, g.name, g.entity_type
             from graph_entity g
             join graph_thread t on t.namespace = $1 and t.thread_id = g.thread_id
             where g.namespace = $1 and g.folded_name = n.folded_name and length(g.folded_name) <= 200
               and (t.name = $3 or ($3 is null and (t.file_path is null or t.name = $5)))
             order by g.thread_id, g.entity_id
             limit 10
             offset 0
         ) e
         order by n.place, e.thread_id
         limit $4",
    )
    .bind(ns.as_str())
    .bind(folded_names)
    .bind(reach.only())
    .bind(limit)
    .bind(reach.file_thread())
    .fetch_all(conn)
    .await?)
}
