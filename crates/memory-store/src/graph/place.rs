//! Rows of a graph put at places of the caller's choice, for a graph that follows the order of a file. The
//! thread is locked before.
//!
//! Entities, chains and relations are in the order of their ids. Fresh ids are greater than all there are,
//! so rows are put in order from some point on by giving each of them a fresh one.

use memory_core::graph::{GraphRelation, ObservationHandle, RELATION_IMPORTANCE, TextKey, Weights, fold};
use sqlx::Row;
use uuid::Uuid;

use super::write::new_handle;
use super::{Thread, key, uuid};
use crate::{StoreError, Tx};

/// What has ids of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordered {
    Entities,
    Chains,
    Relations,
}

/// An entity with its current observations, each with its chain, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedEntity {
    pub id: i64,
    pub entity_type: String,
    pub observations: Vec<(i64, String)>,
}

/// Fresh ids, ascending.
pub async fn fresh_ids(tx: &mut Tx, of: Ordered, count: usize) -> Result<Vec<i64>, StoreError> {
    let sequence = match of {
        Ordered::Entities => "select pg_get_serial_sequence('graph_entity', 'entity_id')",
        Ordered::Chains => "select pg_get_serial_sequence('graph_observation', 'chain_id')",
        Ordered::Relations => "select pg_get_serial_sequence('graph_relation', 'relation_id')",
    };
    if count == 0 {
        return Ok(Vec::new());
    }
    let sequence: String = sqlx::query_scalar(sequence).fetch_one(&mut **tx).await?;
    let mut ids: Vec<i64> = sqlx::query_scalar("select nextval($1::regclass) from generate_series(1, $2)")
        .bind(sequence)
        .bind(count as i64)
        .fetch_all(&mut **tx)
        .await?;
    ids.sort_unstable();
    Ok(ids)
}

/// The entities of these names, by name.
pub async fn placed_entities(
    tx: &mut Tx,
    thread: &Thread,
    names: &[TextKey],
) -> Result<Vec<(TextKey, PlacedEntity)>, StoreError> {
    let rows = sqlx::query(include_str!("../sql/placed_entities.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(names.iter().copied().map(uuid).collect::<Vec<_>>())
        .fetch_all(&mut **tx)
        .await?;
    rows.iter()
        .map(|row| {
            let chains: Vec<i64> = row.try_get("chains")?;
            let contents: Vec<String> = row.try_get("contents")?;
            let placed = PlacedEntity {
                id: row.try_get("entity_id")?,
                entity_type: row.try_get("entity_type")?,
                observations: chains.into_iter().zip(contents).collect(),
            };
            Ok((key(row.try_get("name_key")?), placed))
        })
        .collect()
}

/// A new entity and the id it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntityAt<'a> {
    pub id: i64,
    pub name: &'a str,
    pub entity_type: &'a str,
}

/// Prepares for inserting thousands of rows: new trigrams are collected in the pending list of the indexes. [`end_bulk`] comes after.
pub async fn begin_bulk(tx: &mut Tx) -> Result<(), StoreError> {
    sqlx::query("set local gin_pending_list_limit = '16MB'").execute(&mut **tx).await?;
    Ok(())
}

/// Brings what waits into the trigram indexes, so that no search has to read it.
pub async fn end_bulk(tx: &mut Tx) -> Result<(), StoreError> {
    sqlx::query(
        "select clean_pending_lists(
             array['graph_entity_name', 'graph_entity_type', 'graph_observation_folded']::regclass[])",
    )
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// None of the names may be there. Where the thread has relations, those that name one of them get its id.
pub async fn insert_entities_at(
    tx: &mut Tx,
    thread: &Thread,
    given: &[EntityAt<'_>],
    has_relations: bool,
) -> Result<(), StoreError> {
    if given.is_empty() {
        return Ok(());
    }
    let names: Vec<Uuid> = given.iter().map(|e| uuid(TextKey::of(e.name))).collect();
    sqlx::query(
        "insert into graph_entity (namespace, thread_id, entity_id, name_key, name, entity_type, folded_name, folded_type)
         select $1, $2, g.*
         from unnest($3::bigint[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[]) g",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(given.iter().map(|e| e.id).collect::<Vec<_>>())
    .bind(&names)
    .bind(given.iter().map(|e| e.name).collect::<Vec<_>>())
    .bind(given.iter().map(|e| e.entity_type).collect::<Vec<_>>())
    .bind(given.iter().map(|e| fold(e.name)).collect::<Vec<_>>())
    .bind(given.iter().map(|e| fold(e.entity_type)).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    let counted = if has_relations {
        sqlx::query(include_str!("../sql/settle_entities.sql"))
    } else {
        sqlx::query(
            "update graph_thread set entities = entities + cardinality($3::uuid[])
             where namespace = $1 and thread_id = $2",
        )
    };
    counted.bind(thread.ns.as_str()).bind(thread.id).bind(&names).execute(&mut **tx).await?;
    Ok(())
}

/// A new observation, its entity and the chain it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservationAt<'a> {
    pub entity_id: i64,
    pub chain_id: i64,
    pub content: &'a str,
}

pub async fn insert_observations_at(
    tx: &mut Tx,
    thread: &Thread,
    given: &[ObservationAt<'_>],
) -> Result<(), StoreError> {
    let weights = Weights::default();
    sqlx::query(
        "insert into graph_observation (namespace, thread_id, confidence, importance, entity_id, chain_id, handle,
                                        content_key, content, folded)
         select $1, $2, $3, $4, g.*
         from unnest($5::bigint[], $6::bigint[], $7::bigint[], $8::uuid[], $9::text[], $10::text[]) g",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(weights.confidence)
    .bind(weights.importance)
    .bind(given.iter().map(|o| o.entity_id).collect::<Vec<_>>())
    .bind(given.iter().map(|o| o.chain_id).collect::<Vec<_>>())
    .bind(given.iter().map(|_| new_handle()).map(|ObservationHandle(handle)| handle).collect::<Vec<_>>())
    .bind(given.iter().map(|o| uuid(TextKey::of(o.content))).collect::<Vec<_>>())
    .bind(given.iter().map(|o| o.content).collect::<Vec<_>>())
    .bind(given.iter().map(|o| fold(o.content)).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Which of the thread's relations have these keys.
pub async fn relation_ids(
    tx: &mut Tx,
    thread: &Thread,
    relations: &[TextKey],
) -> Result<Vec<(TextKey, i64)>, StoreError> {
    let rows: Vec<(Uuid, i64)> = sqlx::query_as(
        "select g.relation_key, r.relation_id
         from unnest($3::uuid[]) g (relation_key)
         cross join lateral (
             select relation_id from graph_relation
             where namespace = $1 and thread_id = $2 and relation_key = g.relation_key
             offset 0
         ) r",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(relations.iter().copied().map(uuid).collect::<Vec<_>>())
    .fetch_all(&mut **tx)
    .await?;
    Ok(rows.into_iter().map(|(relation, id)| (key(relation), id)).collect())
}

/// The ids of the next relations in the thread's order.
pub async fn relation_ids_after(
    tx: &mut Tx,
    thread: &Thread,
    after: i64,
    limit: usize,
) -> Result<Vec<i64>, StoreError> {
    Ok(sqlx::query_scalar(
        "select relation_id from graph_relation
         where namespace = $1 and thread_id = $2 and relation_id > $3
         order by relation_id
         limit $4",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(after)
    .bind(limit as i64)
    .fetch_all(&mut **tx)
    .await?)
}

/// None of the relations may be there.
pub async fn insert_relations_at(
    tx: &mut Tx,
    thread: &Thread,
    given: &[(i64, &GraphRelation)],
) -> Result<(), StoreError> {
    sqlx::query(include_str!("../sql/insert_relations_at.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(RELATION_IMPORTANCE)
        .bind(given.iter().map(|(id, _)| *id).collect::<Vec<_>>())
        .bind(given.iter().map(|(_, r)| uuid(TextKey::of_relation(r))).collect::<Vec<_>>())
        .bind(given.iter().map(|(_, r)| uuid(TextKey::of(&r.from))).collect::<Vec<_>>())
        .bind(given.iter().map(|(_, r)| uuid(TextKey::of(&r.to))).collect::<Vec<_>>())
        .bind(given.iter().map(|(_, r)| r.from.as_str()).collect::<Vec<_>>())
        .bind(given.iter().map(|(_, r)| r.to.as_str()).collect::<Vec<_>>())
        .bind(given.iter().map(|(_, r)| r.relation_type.as_str()).collect::<Vec<_>>())
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Gives entities other types.
pub async fn retype(tx: &mut Tx, thread: &Thread, given: &[(i64, String)]) -> Result<(), StoreError> {
    if given.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "update graph_entity e
         set entity_type = g.entity_type, folded_type = g.folded_type
         from unnest($3::bigint[], $4::text[], $5::text[]) g (entity_id, entity_type, folded_type)
         where e.namespace = $1 and e.thread_id = $2 and e.entity_id = g.entity_id",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(given.iter().map(|(id, _)| *id).collect::<Vec<_>>())
    .bind(given.iter().map(|(_, entity_type)| entity_type.as_str()).collect::<Vec<_>>())
    .bind(given.iter().map(|(_, entity_type)| fold(entity_type)).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Notes that something about these entities has changed.
pub async fn touch(tx: &mut Tx, thread: &Thread, entities: &[i64]) -> Result<(), StoreError> {
    by_ids(
        tx,
        thread,
        entities,
        "update graph_entity set updated_at = now()
         where namespace = $1 and thread_id = $2 and entity_id = any($3)",
    )
    .await
}

/// Deletes observations with all their versions.
pub async fn delete_chains(tx: &mut Tx, thread: &Thread, chains: &[i64]) -> Result<(), StoreError> {
    by_ids(
        tx,
        thread,
        chains,
        "delete from graph_observation where namespace = $1 and thread_id = $2 and chain_id = any($3)",
    )
    .await
}

/// Deletes entities with their observations and relations.
pub async fn delete_entities_at(tx: &mut Tx, thread: &Thread, entities: &[i64]) -> Result<(), StoreError> {
    by_ids(
        tx,
        thread,
        entities,
        "with deleted as (
             delete from graph_entity where namespace = $1 and thread_id = $2 and entity_id = any($3)
             returning entity_id
         )
         update graph_thread set entities = entities - (select count(*) from deleted)
         where namespace = $1 and thread_id = $2",
    )
    .await
}

pub async fn delete_relations_at(tx: &mut Tx, thread: &Thread, relations: &[i64]) -> Result<(), StoreError> {
    by_ids(
        tx,
        thread,
        relations,
        "delete from graph_relation where namespace = $1 and thread_id = $2 and relation_id = any($3)",
    )
    .await
}

async fn by_ids(
    tx: &mut Tx,
    thread: &Thread,
    ids: &[i64],
    statement: &'static str,
) -> Result<(), StoreError> {
    if !ids.is_empty() {
        sqlx::query(statement).bind(thread.ns.as_str()).bind(thread.id).bind(ids).execute(&mut **tx).await?;
    }
    Ok(())
}

/// Gives rows other ids; the first of each pair is the old one.
pub async fn move_to(
    tx: &mut Tx,
    thread: &Thread,
    of: Ordered,
    moves: &[(i64, i64)],
) -> Result<(), StoreError> {
    if moves.is_empty() {
        return Ok(());
    }
    let statement = match of {
        Ordered::Entities => {
            "update graph_entity t set entity_id = g.new_id
             from unnest($3::bigint[], $4::bigint[]) g (old_id, new_id)
             where t.namespace = $1 and t.thread_id = $2 and t.entity_id = g.old_id"
        }
        Ordered::Chains => {
            "update graph_observation t set chain_id = g.new_id
             from unnest($3::bigint[], $4::bigint[]) g (old_id, new_id)
             where t.namespace = $1 and t.thread_id = $2 and t.chain_id = g.old_id"
        }
        Ordered::Relations => {
            "update graph_relation t set relation_id = g.new_id
             from unnest($3::bigint[], $4::bigint[]) g (old_id, new_id)
             where t.namespace = $1 and t.thread_id = $2 and t.relation_id = g.old_id"
        }
    };
    let (old, new): (Vec<i64>, Vec<i64>) = moves.iter().copied().unzip();
    sqlx::query(statement)
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(old)
        .bind(new)
        .execute(&mut **tx)
        .await?;
    Ok(())
}
