//! Making rows of archived lines again, beside what is there.

use jiff::Timestamp;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx};
use memory_core::archive::{ArchivedEntity, ArchivedRelation};
use memory_core::artifact::ArtifactUid;
use memory_core::graph::{GraphRelation, ObservationHandle, TextKey, Weights, fold};
use memory_core::id::{ArtifactId, ContentHash, Namespace, RevisionId};
use uuid::Uuid;

use crate::graph::{Thread, key, uuid};
use crate::{StoreError, Tx};

/// The revision of this content at this place since that moment.
pub async fn find_revision(
    tx: &mut Tx,
    ns: &Namespace,
    hash: &ContentHash,
    uid: &ArtifactUid,
    created_at: Timestamp,
) -> Result<Option<RevisionId>, StoreError> {
    let id: Option<i64> = sqlx::query_scalar(
        "select r.revision_id
         from artifact a
         join artifact_revision r on r.namespace = $1 and r.artifact_id = a.artifact_id
         where a.namespace = $1 and a.sha256 = $2 and r.artifact_uid = $3 and r.created_at = $4
         order by r.revision_id
         limit 1",
    )
    .bind(ns.as_str())
    .bind(&hash.0[..])
    .bind(&uid.0)
    .bind(created_at.to_sqlx())
    .fetch_optional(&mut **tx)
    .await?;
    Ok(id.map(RevisionId))
}

/// The latest at the place: the revision, its content's hash, and since when.
pub async fn latest_at(
    tx: &mut Tx,
    ns: &Namespace,
    uid: &ArtifactUid,
) -> Result<Option<(RevisionId, ContentHash, Timestamp)>, StoreError> {
    let row: Option<(i64, Vec<u8>, SqlTimestamp)> = sqlx::query_as(
        "select r.revision_id, a.sha256, r.created_at
         from artifact_revision r
         join artifact a on a.namespace = $1 and a.artifact_id = r.artifact_id
         where r.namespace = $1 and r.artifact_uid = $2 and r.is_latest",
    )
    .bind(ns.as_str())
    .bind(&uid.0)
    .fetch_optional(&mut **tx)
    .await?;
    let Some((id, sha256, created_at)) = row else { return Ok(None) };
    let hash = sha256.try_into().map_err(|_| StoreError::Unsuitable("a stored hash is damaged".into()))?;
    Ok(Some((RevisionId(id), ContentHash(hash), created_at.to_jiff())))
}

pub async fn content_of(
    tx: &mut Tx,
    ns: &Namespace,
    hash: &ContentHash,
) -> Result<Option<String>, StoreError> {
    Ok(sqlx::query_scalar("select content from artifact where namespace = $1 and sha256 = $2")
        .bind(ns.as_str())
        .bind(&hash.0[..])
        .fetch_optional(&mut **tx)
        .await?)
}

/// Whether any turn of the conversation was there before.
pub async fn conversation_is_known(
    tx: &mut Tx,
    ns: &Namespace,
    conversation_id: &str,
) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar(
        "select exists (select from artifact_revision
                        where namespace = $1 and conversation_id = $2 and turn_index is not null and is_latest)",
    )
    .bind(ns.as_str())
    .bind(conversation_id)
    .fetch_one(&mut **tx)
    .await?)
}

pub async fn set_artifact_created(
    tx: &mut Tx,
    ns: &Namespace,
    id: &ArtifactId,
    created_at: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query("update artifact set created_at = $3 where namespace = $1 and artifact_id = $2")
        .bind(ns.as_str())
        .bind(&id.0)
        .bind(created_at.to_sqlx())
        .execute(&mut **tx)
        .await?;
    Ok(())
}

pub async fn set_thread_created(
    tx: &mut Tx,
    thread: &Thread,
    created_at: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query("update graph_thread set created_at = $3 where namespace = $1 and thread_id = $2")
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(created_at.to_sqlx())
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Gives back the version that [`crate::graph::lock_thread`] took for a change that turned out to be none.
pub async fn lower_version(tx: &mut Tx, thread: &Thread) -> Result<(), StoreError> {
    sqlx::query("update graph_thread set version = version - 1 where namespace = $1 and thread_id = $2")
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Inserts in the order given, leaving out names that the thread has. No name may be given twice.
/// Gives the new ones' keys and ids.
pub async fn insert_entities(
    tx: &mut Tx,
    thread: &Thread,
    given: &[&ArchivedEntity],
) -> Result<Vec<(TextKey, i64)>, StoreError> {
    let rows: Vec<(Uuid, i64)> = sqlx::query_as(
        "insert into graph_entity (namespace, thread_id, name_key, name, entity_type, folded_name, folded_type,
                                   confidence, importance, is_root, created_at, updated_at)
         select $1, $2, g.name_key, g.name, g.entity_type, g.folded_name, g.folded_type,
                g.confidence, g.importance, g.is_root, g.created_at, g.updated_at
         from unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::real[], $9::real[], $10::bool[],
                     $11::timestamptz[], $12::timestamptz[])
              with ordinality g (name_key, name, entity_type, folded_name, folded_type, confidence, importance,
                                 is_root, created_at, updated_at, n)
         order by g.n
         on conflict (namespace, thread_id, name_key) do nothing
         returning name_key, entity_id",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(given.iter().map(|e| uuid(TextKey::of(&e.name))).collect::<Vec<_>>())
    .bind(given.iter().map(|e| e.name.as_str()).collect::<Vec<_>>())
    .bind(given.iter().map(|e| e.entity_type.as_str()).collect::<Vec<_>>())
    .bind(given.iter().map(|e| fold(&e.name)).collect::<Vec<_>>())
    .bind(given.iter().map(|e| fold(&e.entity_type)).collect::<Vec<_>>())
    .bind(given.iter().map(|e| e.confidence).collect::<Vec<_>>())
    .bind(given.iter().map(|e| e.importance).collect::<Vec<_>>())
    .bind(given.iter().map(|e| e.is_root).collect::<Vec<_>>())
    .bind(given.iter().map(|e| e.created_at.to_sqlx()).collect::<Vec<_>>())
    .bind(given.iter().map(|e| e.updated_at.to_sqlx()).collect::<Vec<_>>())
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
    Ok(rows.into_iter().map(|(name, id)| (key(name), id)).collect())
}

/// Where the namespace has a version of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownObservation {
    pub handle: ObservationHandle,
    /// `None` in another thread.
    pub entity_id: Option<i64>,
    pub chain_id: i64,
}

/// Which of these the namespace has already.
pub async fn known_observations(
    tx: &mut Tx,
    thread: &Thread,
    handles: &[ObservationHandle],
) -> Result<Vec<KnownObservation>, StoreError> {
    let rows: Vec<(i64, Option<i64>, i64)> = sqlx::query_as(
        "select o.handle, o.entity_id, o.chain_id
         from unnest($3::bigint[]) g (handle)
         cross join lateral (
             select handle, case when thread_id = $2 then entity_id end as entity_id, chain_id
             from graph_observation
             where namespace = $1 and handle = g.handle
             offset 0
         ) o",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(handles.iter().map(|handle| handle.0).collect::<Vec<_>>())
    .fetch_all(&mut **tx)
    .await?;
    let known = rows.into_iter().map(|(handle, entity_id, chain_id)| KnownObservation {
        handle: ObservationHandle(handle),
        entity_id,
        chain_id,
    });
    Ok(known.collect())
}

/// Which of these contents their entities have as current ones.
pub async fn known_contents(
    tx: &mut Tx,
    thread: &Thread,
    given: &[(i64, TextKey)],
) -> Result<Vec<(i64, TextKey)>, StoreError> {
    let rows: Vec<(i64, Uuid)> = sqlx::query_as(
        "select g.entity_id, g.content_key
         from unnest($3::bigint[], $4::uuid[]) g (entity_id, content_key)
         where exists (select from graph_observation o
                       where o.namespace = $1 and o.thread_id = $2 and o.entity_id = g.entity_id
                         and o.content_key = g.content_key and o.is_current
                       offset 0)",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(given.iter().map(|(entity, _)| *entity).collect::<Vec<_>>())
    .bind(given.iter().map(|(_, content)| uuid(*content)).collect::<Vec<_>>())
    .fetch_all(&mut **tx)
    .await?;
    Ok(rows.into_iter().map(|(entity, content)| (entity, key(content))).collect())
}

/// The newest version of each of these chains, given with their entities.
pub async fn newest_versions(
    tx: &mut Tx,
    thread: &Thread,
    chains: &[(i64, i64)],
) -> Result<Vec<(i64, i32)>, StoreError> {
    Ok(sqlx::query_as(
        "select g.chain_id, v.version
         from unnest($3::bigint[], $4::bigint[]) g (entity_id, chain_id)
         cross join lateral (
             select max(version) as version
             from graph_observation
             where namespace = $1 and thread_id = $2 and entity_id = g.entity_id and chain_id = g.chain_id
             offset 0
         ) v
         where v.version is not null",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(chains.iter().map(|(entity, _)| *entity).collect::<Vec<_>>())
    .bind(chains.iter().map(|(_, chain)| *chain).collect::<Vec<_>>())
    .fetch_all(&mut **tx)
    .await?)
}

/// Makes all versions of these chains, given with their entities, former ones.
pub async fn retire_versions(tx: &mut Tx, thread: &Thread, chains: &[(i64, i64)]) -> Result<(), StoreError> {
    if chains.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "update graph_observation o
         set is_current = false
         from unnest($3::bigint[], $4::bigint[]) g (entity_id, chain_id)
         where o.namespace = $1 and o.thread_id = $2 and o.entity_id = g.entity_id and o.chain_id = g.chain_id
           and o.is_current",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(chains.iter().map(|(entity, _)| *entity).collect::<Vec<_>>())
    .bind(chains.iter().map(|(_, chain)| *chain).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// A version of an observation to be stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewVersion<'a> {
    pub entity_id: i64,
    pub chain_id: i64,
    pub version: i32,
    pub is_current: bool,
    pub handle: ObservationHandle,
    pub content: &'a str,
    pub weights: Weights,
    pub created_at: Timestamp,
}

pub async fn insert_versions(
    tx: &mut Tx,
    thread: &Thread,
    given: &[NewVersion<'_>],
) -> Result<(), StoreError> {
    if given.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "insert into graph_observation (namespace, thread_id, entity_id, chain_id, version, is_current, handle,
                                        content_key, content, folded, confidence, importance, created_at)
         select $1, $2, g.*
         from unnest($3::bigint[], $4::bigint[], $5::int[], $6::bool[], $7::bigint[], $8::uuid[], $9::text[],
                     $10::text[], $11::real[], $12::real[], $13::timestamptz[]) g",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(given.iter().map(|v| v.entity_id).collect::<Vec<_>>())
    .bind(given.iter().map(|v| v.chain_id).collect::<Vec<_>>())
    .bind(given.iter().map(|v| v.version).collect::<Vec<_>>())
    .bind(given.iter().map(|v| v.is_current).collect::<Vec<_>>())
    .bind(given.iter().map(|v| v.handle.0).collect::<Vec<_>>())
    .bind(given.iter().map(|v| uuid(TextKey::of(v.content))).collect::<Vec<_>>())
    .bind(given.iter().map(|v| v.content).collect::<Vec<_>>())
    .bind(given.iter().map(|v| fold(v.content)).collect::<Vec<_>>())
    .bind(given.iter().map(|v| v.weights.confidence).collect::<Vec<_>>())
    .bind(given.iter().map(|v| v.weights.importance).collect::<Vec<_>>())
    .bind(given.iter().map(|v| v.created_at.to_sqlx()).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Inserts in the order given, leaving out relations that the thread has. None may be given twice. Gives how
/// many are new.
pub async fn insert_relations(
    tx: &mut Tx,
    thread: &Thread,
    given: &[ArchivedRelation],
) -> Result<u64, StoreError> {
    let relations: Vec<GraphRelation> = given.iter().map(|r| r.clone().relation()).collect();
    let done = sqlx::query(include_str!("../sql/insert_archived_relations.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(relations.iter().map(|r| uuid(TextKey::of_relation(r))).collect::<Vec<_>>())
        .bind(relations.iter().map(|r| uuid(TextKey::of(&r.from))).collect::<Vec<_>>())
        .bind(relations.iter().map(|r| uuid(TextKey::of(&r.to))).collect::<Vec<_>>())
        .bind(relations.iter().map(|r| r.from.as_str()).collect::<Vec<_>>())
        .bind(relations.iter().map(|r| r.to.as_str()).collect::<Vec<_>>())
        .bind(relations.iter().map(|r| r.relation_type.as_str()).collect::<Vec<_>>())
        .bind(given.iter().map(|r| r.importance).collect::<Vec<_>>())
        .bind(given.iter().map(|r| r.created_at.to_sqlx()).collect::<Vec<_>>())
        .execute(&mut **tx)
        .await?;
    Ok(done.rows_affected())
}
