//! Forgetting: everything that came from an artifact goes in one transaction.

use memory_core::id::{ArtifactId, EventId, Namespace};
use memory_core::spoken::LinePlace;
use sqlx::Row;

use crate::entities::{decisions, delete_orphans, entities_of_revisions, renew_keys};
use crate::{Conn, StoreError, Tx};

/// How much went with artifacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cascade {
    pub chunks: i64,
    pub events: i64,
    pub entities: i64,
}

/// A place in a conversation that a turn was taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftPlace {
    pub conversation_id: String,
    pub turn_index: i32,
}

/// The turns that revisions of the artifacts are, by conversation.
pub async fn places(
    conn: &mut Conn,
    ns: &Namespace,
    ids: &[ArtifactId],
) -> Result<Vec<LeftPlace>, StoreError> {
    let rows = sqlx::query(
        "select distinct conversation_id, turn_index
         from artifact_revision
         where namespace = $1 and artifact_id = any($2) and conversation_id is not null and turn_index is not null
         order by conversation_id, turn_index",
    )
    .bind(ns.as_str())
    .bind(texts_of(ids))
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(LeftPlace {
                conversation_id: row.try_get("conversation_id")?,
                turn_index: row.try_get("turn_index")?,
            })
        })
        .collect()
}

/// The lines of talks that revisions of the artifacts are.
pub async fn lines(
    conn: &mut Conn,
    ns: &Namespace,
    ids: &[ArtifactId],
) -> Result<Vec<LinePlace>, StoreError> {
    let rows: Vec<(i64, i32)> = sqlx::query_as(
        "select distinct line_of, line_index from artifact_revision
         where namespace = $1 and artifact_id = any($2) and line_of is not null
         order by line_of, line_index",
    )
    .bind(ns.as_str())
    .bind(texts_of(ids))
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|(of, index)| LinePlace { of, index }).collect())
}

/// Deletes the artifacts with all their revisions, chunks, passages, vectors, jobs, events and mentions, every event that rests on a
/// quote of them, and the entities that nothing refers to any more. Gives how many of the artifacts the namespace had.
pub async fn delete_artifacts(
    tx: &mut Tx,
    ns: &Namespace,
    ids: &[ArtifactId],
) -> Result<(u64, Cascade), StoreError> {
    // No extraction may link an entity between our look and our delete.
    sqlx::query("select pg_advisory_xact_lock(hashtextextended($1, 2))")
        .bind(ns.as_str())
        .execute(&mut **tx)
        .await?;
    let found: Vec<String> = sqlx::query_scalar(
        "select artifact_id from artifact where namespace = $1 and artifact_id = any($2) order by artifact_id for update",
    )
    .bind(ns.as_str())
    .bind(texts_of(ids))
    .fetch_all(&mut **tx)
    .await?;
    if found.is_empty() {
        return Ok((0, Cascade::default()));
    }
    let revisions: Vec<i64> = sqlx::query_scalar(
        "select revision_id from artifact_revision where namespace = $1 and artifact_id = any($2)",
    )
    .bind(ns.as_str())
    .bind(&found)
    .fetch_all(&mut **tx)
    .await?;
    let touched = entities_of_revisions(tx, ns, &revisions).await?;
    let events = delete_events(tx, ns, &revisions).await?;
    let chunks: i64 =
        sqlx::query_scalar("select count(*) from chunk where namespace = $1 and artifact_id = any($2)")
            .bind(ns.as_str())
            .bind(&found)
            .fetch_one(&mut **tx)
            .await?;
    sqlx::query("delete from artifact where namespace = $1 and artifact_id = any($2)")
        .bind(ns.as_str())
        .bind(&found)
        .execute(&mut **tx)
        .await?;
    let entities = delete_orphans(tx, ns, &touched).await?;
    rename_nameless(tx, ns, &touched).await?;
    decisions::forget_unnamed(tx, ns).await?;
    let cascade = Cascade { chunks, events: events as i64, entities: entities as i64 };
    Ok((found.len() as u64, cascade))
}

/// Deletes the events of the revisions, and every event that rests on a quote of one of them.
pub(crate) async fn delete_events(tx: &mut Tx, ns: &Namespace, revisions: &[i64]) -> Result<u64, StoreError> {
    Ok(sqlx::query(
        "delete from semantic_event e
         where e.namespace = $1
           and (e.revision_id = any($2)
                or e.event_id in (select v.event_id from event_evidence v
                                  where v.namespace = $1 and v.revision_id = any($2)))",
    )
    .bind(ns.as_str())
    .bind(revisions)
    .execute(&mut **tx)
    .await?
    .rows_affected())
}

fn texts_of(ids: &[ArtifactId]) -> Vec<&str> {
    ids.iter().map(|id| id.0.as_str()).collect()
}

/// Deletes all that the namespace remembers; its knowledge graph stays.
pub async fn delete_all(tx: &mut Tx, ns: &Namespace) -> Result<(), StoreError> {
    sqlx::query("select pg_advisory_xact_lock(hashtextextended($1, 2))")
        .bind(ns.as_str())
        .execute(&mut **tx)
        .await?;
    // What hangs on an artifact goes with it, and what refers to an entity is gone before the entity.
    for statement in [
        "delete from artifact where namespace = $1",
        "delete from event_jobs where namespace = $1",
        "delete from entity where namespace = $1",
        "delete from entity_decision where namespace = $1",
    ] {
        sqlx::query(statement).bind(ns.as_str()).execute(&mut **tx).await?;
    }
    Ok(())
}

/// Gives those of the entities whose name no text has any more one of the names that texts still have: the
/// longest that is free, an address only where there is nothing else.
pub(crate) async fn rename_nameless(tx: &mut Tx, ns: &Namespace, entities: &[i64]) -> Result<(), StoreError> {
    let renamed: Vec<(i64, String, String)> = sqlx::query_as(
        "with nameless as (
             select t.entity_id, t.entity_type from entity t
             where t.namespace = $1 and t.entity_id = any($2)
               and not exists (select from entity_alias a
                               where a.namespace = $1 and a.entity_id = t.entity_id and a.normalised = t.normalised)
         ), chosen as (
             select distinct on (n.entity_id) n.entity_id, a.alias, a.normalised
             from nameless n
             join entity_alias a on a.namespace = $1 and a.entity_id = n.entity_id
             where not exists (select from entity other
                               where other.namespace = $1 and other.entity_type = n.entity_type
                                 and other.normalised = a.normalised)
             order by n.entity_id, position('@' in a.alias) > 0, length(a.alias) desc, a.alias
         )
         update entity t set name = c.alias, normalised = c.normalised
         from chosen c
         where t.namespace = $1 and t.entity_id = c.entity_id
         returning t.entity_id, t.entity_type, t.name",
    )
    .bind(ns.as_str())
    .bind(entities)
    .fetch_all(&mut **tx)
    .await?;
    renew_keys(tx, ns, &renamed).await
}

/// The artifact an event was extracted from.
pub async fn artifact_of_event(
    conn: &mut Conn,
    ns: &Namespace,
    id: &EventId,
) -> Result<Option<ArtifactId>, StoreError> {
    let id: Option<String> =
        sqlx::query_scalar("select artifact_id from semantic_event where namespace = $1 and event_id = $2")
            .bind(ns.as_str())
            .bind(&id.0)
            .fetch_optional(conn)
            .await?;
    Ok(id.map(ArtifactId))
}
