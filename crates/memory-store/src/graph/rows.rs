//! The rows behind a graph's lines: which there are and which have changed, and what they say.

use futures::{Stream, StreamExt, TryStreamExt};
use memory_core::graph::{GraphEntity, GraphRelation};

use super::Thread;
use crate::{Conn, StoreError};

/// A row as it is. When what it says changes, so does its state: every change of an entity's observations touches
/// the entity, and Postgres marks a row with the transaction that wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowState {
    pub id: i64,
    /// Always 0 for relations: they never change.
    pub written_by: i64,
}

/// All entities in the thread's order. One row of two arrays, which is read several times as fast as a row for each.
pub async fn entity_states(conn: &mut Conn, thread: &Thread) -> Result<Vec<RowState>, StoreError> {
    let (ids, writers): (Vec<i64>, Vec<i64>) = sqlx::query_as(
        "select coalesce(array_agg(e.entity_id), '{}'), coalesce(array_agg(e.written_by), '{}')
         from (select entity_id, xmin::text::bigint as written_by
               from graph_entity
               where namespace = $1 and thread_id = $2
               order by entity_id) e",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .fetch_one(conn)
    .await?;
    Ok(ids.into_iter().zip(writers).map(|(id, written_by)| RowState { id, written_by }).collect())
}

/// All relations in the thread's order.
pub async fn relation_states(conn: &mut Conn, thread: &Thread) -> Result<Vec<RowState>, StoreError> {
    let ids: Vec<i64> = sqlx::query_scalar(
        "select coalesce(array_agg(r.relation_id), '{}')
         from (select relation_id
               from graph_relation
               where namespace = $1 and thread_id = $2
               order by relation_id) r",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .fetch_one(conn)
    .await?;
    Ok(ids.into_iter().map(|id| RowState { id, written_by: 0 }).collect())
}

/// The entities of these ids with all their observations, one after the other in the order of the ids.
pub fn stream_entities<'a>(
    conn: &'a mut Conn,
    thread: &'a Thread,
    ids: &'a [i64],
) -> impl Stream<Item = Result<(i64, GraphEntity), StoreError>> + Send + 'a {
    if ids.is_empty() {
        return futures::stream::empty().boxed();
    }
    sqlx::query_as(include_str!("../sql/stream_entities.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(ids)
        .fetch(conn)
        .map_err(StoreError::from)
        .map_ok(|(id, name, entity_type, observations)| (id, GraphEntity { name, entity_type, observations }))
        .boxed()
}

/// The relations of these ids, one after the other in the order of the ids.
pub fn stream_relations<'a>(
    conn: &'a mut Conn,
    thread: &'a Thread,
    ids: &'a [i64],
) -> impl Stream<Item = Result<(i64, GraphRelation), StoreError>> + Send + 'a {
    if ids.is_empty() {
        return futures::stream::empty().boxed();
    }
    sqlx::query_as(
        "select r.relation_id, r.from_name, r.to_name, r.relation_type
         from unnest($3::bigint[]) with ordinality g (relation_id, n)
         cross join lateral (
             select relation_id, from_name, to_name, relation_type
             from graph_relation
             where namespace = $1 and thread_id = $2 and relation_id = g.relation_id
             offset 0
         ) r
         order by g.n",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(ids)
    .fetch(conn)
    .map_err(StoreError::from)
    .map_ok(|(id, from, to, relation_type)| (id, GraphRelation { from, to, relation_type }))
    .boxed()
}
