//! Reading what is archived, row by row: nothing but the row at hand is held.

use futures::TryStreamExt;
use futures::stream::BoxStream;
use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::artifact::Metadata;
use memory_core::graph::{GraphFile, GraphRelation, GraphScope, ObservationHandle, ThreadId, Weights};
use memory_core::id::{ContentHash, Namespace, RevisionId};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row};

use crate::graph::Thread;
use crate::metadata_columns::MetadataRow;
use crate::{Conn, StoreError};

/// A revision, with the content where no revision before it has the same.
#[derive(Debug, Clone, PartialEq)]
pub struct ArchivedRow {
    pub revision_id: RevisionId,
    pub superseded_by: Option<RevisionId>,
    /// The number of the successor where that came in before.
    pub earlier_successor: Option<u64>,
    pub is_latest: bool,
    pub created_at: Timestamp,
    pub hash: ContentHash,
    pub content: Option<String>,
    pub meta: Metadata,
}

/// An entity and one version of an observation, if it has any.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityRow {
    pub entity_id: i64,
    pub name: String,
    pub entity_type: String,
    pub weights: Weights,
    pub is_root: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub observation: Option<ObservationRow>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ObservationRow {
    pub handle: ObservationHandle,
    pub chain_id: i64,
    pub version: i32,
    pub is_current: bool,
    pub content: String,
    pub weights: Weights,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RelationRow {
    pub relation: GraphRelation,
    pub importance: f32,
    pub created_at: Timestamp,
}

/// How many lines an archive of the namespace has, its first one left out.
pub async fn count_rows(conn: &mut Conn, ns: &Namespace) -> Result<u64, StoreError> {
    let rows: i64 = sqlx::query_scalar(
        "select (select count(*) from artifact where namespace = $1)
              + (select count(*) from artifact_revision where namespace = $1)
              + (select count(*) from graph_thread where namespace = $1)
              + (select count(*) from graph_entity where namespace = $1)
              + (select count(*) from graph_relation where namespace = $1)
              + (select count(*) from graph_observation where namespace = $1)",
    )
    .bind(ns.as_str())
    .fetch_one(conn)
    .await?;
    Ok(rows as u64)
}

/// All revisions in the order in which they came.
pub fn revisions<'a>(
    conn: &'a mut Conn,
    ns: &'a Namespace,
) -> BoxStream<'a, Result<ArchivedRow, StoreError>> {
    let rows = sqlx::query(include_str!("../sql/archived_revisions.sql")).bind(ns.as_str()).fetch(conn);
    Box::pin(rows.map_err(StoreError::from).and_then(|row| std::future::ready(revision_of(&row))))
}

fn revision_of(row: &PgRow) -> Result<ArchivedRow, StoreError> {
    let sha256: Vec<u8> = row.try_get("sha256")?;
    let hash = sha256.try_into().map_err(|_| StoreError::Unsuitable("a stored hash is damaged".into()))?;
    Ok(ArchivedRow {
        revision_id: RevisionId(row.try_get("revision_id")?),
        superseded_by: row.try_get::<Option<i64>, _>("superseded_by")?.map(RevisionId),
        earlier_successor: row.try_get::<Option<i64>, _>("earlier_successor")?.map(|n| n as u64),
        is_latest: row.try_get("is_latest")?,
        created_at: row.try_get::<SqlTimestamp, _>("created_at")?.to_jiff(),
        hash: ContentHash(hash),
        content: row.try_get("content")?,
        meta: MetadataRow::from_row(row)?.into(),
    })
}

/// The graphs of the namespace in the order in which they came, and since when they are there.
pub async fn threads(
    conn: &mut Conn,
    ns: &Namespace,
) -> Result<Vec<(Thread, GraphScope, Timestamp)>, StoreError> {
    let rows = sqlx::query(
        "select thread_id, version, entities, cursor_key, name, file_path, created_at
         from graph_thread
         where namespace = $1
         order by thread_id",
    )
    .bind(ns.as_str())
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| {
            let file: Option<String> = row.try_get("file_path")?;
            let scope = match file {
                Some(path) => GraphFile::new(&path).map(GraphScope::File),
                None => ThreadId::new(row.try_get("name")?).map(GraphScope::Thread),
            };
            let scope = scope.map_err(|error| StoreError::Unsuitable(error.0))?;
            Ok((Thread::of(ns, row)?, scope, row.try_get::<SqlTimestamp, _>("created_at")?.to_jiff()))
        })
        .collect()
}

/// The entities of a thread in order, each with the versions of its observations in order.
pub fn entities<'a>(conn: &'a mut Conn, thread: &'a Thread) -> BoxStream<'a, Result<EntityRow, StoreError>> {
    let rows = sqlx::query(include_str!("../sql/archived_entities.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .fetch(conn);
    Box::pin(rows.map_err(StoreError::from).and_then(|row| std::future::ready(entity_of(&row))))
}

fn entity_of(row: &PgRow) -> Result<EntityRow, StoreError> {
    let moment =
        |column| Ok::<_, StoreError>(row.try_get::<SqlTimestamp, _>(column).map(SqlTimestamp::to_jiff)?);
    let handle: Option<i64> = row.try_get("handle")?;
    let observation = match handle {
        None => None,
        Some(handle) => Some(ObservationRow {
            handle: ObservationHandle(handle),
            chain_id: row.try_get("chain_id")?,
            version: row.try_get("version")?,
            is_current: row.try_get("is_current")?,
            content: row.try_get("content")?,
            weights: Weights {
                confidence: row.try_get("observation_confidence")?,
                importance: row.try_get("observation_importance")?,
            },
            created_at: moment("observed_at")?,
        }),
    };
    Ok(EntityRow {
        entity_id: row.try_get("entity_id")?,
        name: row.try_get("name")?,
        entity_type: row.try_get("entity_type")?,
        weights: Weights { confidence: row.try_get("confidence")?, importance: row.try_get("importance")? },
        is_root: row.try_get("is_root")?,
        created_at: moment("created_at")?,
        updated_at: moment("updated_at")?,
        observation,
    })
}

/// The relations of a thread in order.
pub fn relations<'a>(
    conn: &'a mut Conn,
    thread: &'a Thread,
) -> BoxStream<'a, Result<RelationRow, StoreError>> {
    let rows = sqlx::query(
        "select from_name, to_name, relation_type, importance, created_at
         from graph_relation
         where namespace = $1 and thread_id = $2
         order by relation_id",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .fetch(conn);
    let read = |row: PgRow| {
        Ok(RelationRow {
            relation: GraphRelation {
                from: row.try_get("from_name")?,
                to: row.try_get("to_name")?,
                relation_type: row.try_get("relation_type")?,
            },
            importance: row.try_get("importance")?,
            created_at: row.try_get::<SqlTimestamp, _>("created_at")?.to_jiff(),
        })
    };
    Box::pin(rows.map_err(StoreError::from).and_then(move |row| std::future::ready(read(row))))
}
