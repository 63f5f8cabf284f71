//! Changes of a graph. The thread is locked before.

use memory_core::graph::{GraphRelation, ObservationHandle, TextKey, Weights, fold};
use uuid::Uuid;

use super::{Thread, key, uuid};
use crate::{StoreError, Tx};

/// An entity to be stored, without its observations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewEntity<'a> {
    pub name: &'a str,
    pub entity_type: &'a str,
    pub weights: Weights,
    pub is_root: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewRelation<'a> {
    pub relation: &'a GraphRelation,
    pub importance: f32,
}

/// An observation to be stored as the last of its entity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewObservation<'a> {
    pub entity_id: i64,
    pub content: &'a str,
    pub weights: Weights,
}

/// Inserts in the order given, leaving out names that the thread has. No name may be given twice.
/// Gives the new ones' keys and ids.
pub async fn insert_entities(
    tx: &mut Tx,
    thread: &Thread,
    given: &[NewEntity<'_>],
) -> Result<Vec<(TextKey, i64)>, StoreError> {
    let rows: Vec<(Uuid, i64)> = sqlx::query_as(
        "insert into graph_entity (namespace, thread_id, name_key, name, entity_type, folded_name, folded_type,
                                   confidence, importance, is_root)
         select $1, $2, g.name_key, g.name, g.entity_type, g.folded_name, g.folded_type,
                g.confidence, g.importance, g.is_root
         from unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::real[], $9::real[], $10::bool[])
              with ordinality g (name_key, name, entity_type, folded_name, folded_type, confidence, importance,
                                 is_root, n)
         order by g.n
         on conflict (namespace, thread_id, name_key) do nothing
         returning name_key, entity_id",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(given.iter().map(|e| uuid(TextKey::of(e.name))).collect::<Vec<_>>())
    .bind(given.iter().map(|e| e.name).collect::<Vec<_>>())
    .bind(given.iter().map(|e| e.entity_type).collect::<Vec<_>>())
    .bind(given.iter().map(|e| fold(e.name)).collect::<Vec<_>>())
    .bind(given.iter().map(|e| fold(e.entity_type)).collect::<Vec<_>>())
    .bind(given.iter().map(|e| e.weights.confidence).collect::<Vec<_>>())
    .bind(given.iter().map(|e| e.weights.importance).collect::<Vec<_>>())
    .bind(given.iter().map(|e| e.is_root).collect::<Vec<_>>())
    .fetch_all(&mut **tx)
    .await?;
    if !rows.is_empty() {
        sqlx::query(include_str!("../sql/settle_entities.sql"))
            .bind(thread.ns.as_str())
            .bind(thread.id)
            .bind(rows.iter().map(|(name_key, _)| *name_key).collect::<Vec<_>>())
            .execute(&mut **tx)
            .await?;
    }
    Ok(rows.into_iter().map(|(name_key, id)| (key(name_key), id)).collect())
}

/// Inserts in the order given, leaving out relations that the thread has. None may be given twice.
/// Gives the new ones' keys.
pub async fn insert_relations(
    tx: &mut Tx,
    thread: &Thread,
    given: &[NewRelation<'_>],
) -> Result<Vec<TextKey>, StoreError> {
    let rows: Vec<Uuid> = sqlx::query_scalar(include_str!("../sql/insert_relations.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(given.iter().map(|r| uuid(TextKey::of_relation(r.relation))).collect::<Vec<_>>())
        .bind(given.iter().map(|r| uuid(TextKey::of(&r.relation.from))).collect::<Vec<_>>())
        .bind(given.iter().map(|r| uuid(TextKey::of(&r.relation.to))).collect::<Vec<_>>())
        .bind(given.iter().map(|r| r.relation.from.as_str()).collect::<Vec<_>>())
        .bind(given.iter().map(|r| r.relation.to.as_str()).collect::<Vec<_>>())
        .bind(given.iter().map(|r| r.relation.relation_type.as_str()).collect::<Vec<_>>())
        .bind(given.iter().map(|r| r.importance).collect::<Vec<_>>())
        .fetch_all(&mut **tx)
        .await?;
    Ok(rows.into_iter().map(key).collect())
}

/// Which observations are left out when they are inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeated {
    /// Those that their entity has as current ones; none may be given twice.
    LeftOut,
    /// None: an entity made with the same text twice has it twice.
    Kept,
}

/// Inserts in the order given; gives the entity, the content's key and the handle of each new one.
pub async fn insert_observations(
    tx: &mut Tx,
    thread: &Thread,
    given: &[NewObservation<'_>],
    repeated: Repeated,
) -> Result<Vec<(i64, TextKey, ObservationHandle)>, StoreError> {
    if given.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<(i64, Uuid, i64)> = sqlx::query_as(include_str!("../sql/insert_observations.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(given.iter().map(|o| o.entity_id).collect::<Vec<_>>())
        .bind(given.iter().map(|_| new_handle().0).collect::<Vec<_>>())
        .bind(given.iter().map(|o| uuid(TextKey::of(o.content))).collect::<Vec<_>>())
        .bind(given.iter().map(|o| o.content).collect::<Vec<_>>())
        .bind(given.iter().map(|o| fold(o.content)).collect::<Vec<_>>())
        .bind(given.iter().map(|o| o.weights.confidence).collect::<Vec<_>>())
        .bind(given.iter().map(|o| o.weights.importance).collect::<Vec<_>>())
        .bind(repeated == Repeated::Kept)
        .fetch_all(&mut **tx)
        .await?;
    Ok(rows
        .into_iter()
        .map(|(entity_id, content, handle)| (entity_id, key(content), ObservationHandle(handle)))
        .collect())
}

/// A handle for a new observation or version. Two that collide make the transaction fail and run again.
pub fn new_handle() -> ObservationHandle {
    ObservationHandle((rand::random::<u64>() >> 1) as i64)
}

/// What a later call says about an entity that is there; `None` leaves it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reweighed {
    pub entity_id: i64,
    pub confidence: Option<f32>,
    pub importance: Option<f32>,
    pub becomes_root: bool,
}

/// Gives how many entities are different now.
pub async fn reweigh_entities(tx: &mut Tx, thread: &Thread, given: &[Reweighed]) -> Result<u64, StoreError> {
    let done = sqlx::query(
        "update graph_entity e
         set confidence = coalesce(g.confidence, e.confidence), importance = coalesce(g.importance, e.importance),
             is_root = e.is_root or g.becomes_root, updated_at = now()
         from unnest($3::bigint[], $4::real[], $5::real[], $6::bool[]) g (entity_id, confidence, importance, becomes_root)
         where e.namespace = $1 and e.thread_id = $2 and e.entity_id = g.entity_id
           and (e.confidence <> g.confidence or e.importance <> g.importance or (g.becomes_root and not e.is_root))",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(given.iter().map(|g| g.entity_id).collect::<Vec<_>>())
    .bind(given.iter().map(|g| g.confidence).collect::<Vec<_>>())
    .bind(given.iter().map(|g| g.importance).collect::<Vec<_>>())
    .bind(given.iter().map(|g| g.becomes_root).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(done.rows_affected())
}

/// Gives relations that are there other importances; gives how many are different now.
pub async fn reweigh_relations(
    tx: &mut Tx,
    thread: &Thread,
    given: &[(TextKey, f32)],
) -> Result<u64, StoreError> {
    if given.is_empty() {
        return Ok(0);
    }
    let done = sqlx::query(
        "update graph_relation r
         set importance = g.importance
         from unnest($3::uuid[], $4::real[]) g (relation_key, importance)
         where r.namespace = $1 and r.thread_id = $2 and r.relation_key = g.relation_key
           and r.importance <> g.importance",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(given.iter().map(|(relation, _)| uuid(*relation)).collect::<Vec<_>>())
    .bind(given.iter().map(|(_, importance)| *importance).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(done.rows_affected())
}

/// Deletes entities of these names with their observations and relations, and relations from or to such a
/// name that no entity has. Gives how many entities and relations without one that were.
pub async fn delete_entities(tx: &mut Tx, thread: &Thread, names: &[TextKey]) -> Result<u64, StoreError> {
    let deleted: i64 = sqlx::query_scalar(include_str!("../sql/delete_entities.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(names.iter().copied().map(uuid).collect::<Vec<_>>())
        .fetch_one(&mut **tx)
        .await?;
    Ok(deleted as u64)
}

/// Deletes current observations by entity and content, each with all its versions. Gives how many rows that
/// were.
pub async fn delete_observations(
    tx: &mut Tx,
    thread: &Thread,
    given: &[(i64, TextKey)],
) -> Result<u64, StoreError> {
    let deleted: i64 = sqlx::query_scalar(include_str!("../sql/delete_observations.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(given.iter().map(|(entity_id, _)| *entity_id).collect::<Vec<_>>())
        .bind(given.iter().map(|(_, content)| uuid(*content)).collect::<Vec<_>>())
        .fetch_one(&mut **tx)
        .await?;
    Ok(deleted as u64)
}

/// Gives how many were there.
pub async fn delete_relations(
    tx: &mut Tx,
    thread: &Thread,
    relations: &[TextKey],
) -> Result<u64, StoreError> {
    let done = sqlx::query(include_str!("../sql/delete_relations.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(relations.iter().copied().map(uuid).collect::<Vec<_>>())
        .execute(&mut **tx)
        .await?;
    Ok(done.rows_affected())
}

/// Deletes everything in the thread, not the thread.
pub async fn clear(tx: &mut Tx, thread: &Thread) -> Result<(), StoreError> {
    for statement in [
        "delete from graph_entity where namespace = $1 and thread_id = $2",
        "delete from graph_relation where namespace = $1 and thread_id = $2",
        "update graph_thread set entities = 0 where namespace = $1 and thread_id = $2",
    ] {
        sqlx::query(statement).bind(thread.ns.as_str()).bind(thread.id).execute(&mut **tx).await?;
    }
    Ok(())
}
