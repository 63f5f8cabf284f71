//! What is known of the file that a graph is kept in step with.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::graph::GraphScope;
use memory_core::id::Namespace;
use sqlx::Row;

use super::Thread;
use crate::{Conn, StoreError};

/// When a graph and its file last were in step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InStep {
    /// The graph's version then.
    pub version: i64,
    /// The SHA-256 of the file then; `None` when there was no file.
    pub sha256: Option<[u8; 32]>,
}

/// The graph as it is, and when it last was in step; `None` when nothing was ever written to it.
pub async fn last_in_step(
    conn: &mut Conn,
    ns: &Namespace,
    scope: &GraphScope,
) -> Result<Option<(Thread, Option<InStep>)>, StoreError> {
    let row = sqlx::query(
        "select thread_id, version, entities, cursor_key, file_sha256, file_version
         from graph_thread
         where namespace = $1 and name = $2",
    )
    .bind(ns.as_str())
    .bind(scope.thread_name())
    .fetch_optional(conn)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let sha256: Option<Vec<u8>> = row.try_get("file_sha256")?;
    let version: Option<i64> = row.try_get("file_version")?;
    let in_step = version.map(|version| InStep { version, sha256: sha256.and_then(|s| s.try_into().ok()) });
    Ok(Some((Thread::of(ns, &row)?, in_step)))
}

/// Notes that the graph of this version and the file are in step.
pub async fn note_in_step(conn: &mut Conn, thread: &Thread, in_step: InStep) -> Result<(), StoreError> {
    sqlx::query(
        "update graph_thread set file_version = $3, file_sha256 = $4
         where namespace = $1 and thread_id = $2",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(in_step.version)
    .bind(in_step.sha256.map(|sha256| sha256.to_vec()))
    .execute(conn)
    .await?;
    Ok(())
}

/// A graph of a file that something is stored of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FiledGraph {
    pub namespace: String,
    pub path: String,
    pub entities: i64,
    /// It has changes that never came into the file.
    pub is_ahead: bool,
    /// Since when the file has been seen to be gone.
    pub gone_since: Option<Timestamp>,
}

/// The graphs of files, of one namespace or of all, by their paths.
pub async fn filed_graphs(conn: &mut Conn, ns: Option<&Namespace>) -> Result<Vec<FiledGraph>, StoreError> {
    let rows = sqlx::query(
        "select t.namespace, t.file_path, t.entities, t.file_gone_since,
                t.version > coalesce(t.file_version, 0) as is_ahead
         from graph_thread t
         where t.file_path is not null and ($1::text is null or t.namespace = $1)
           and (t.entities > 0
                or exists (select from graph_relation r where r.namespace = t.namespace and r.thread_id = t.thread_id))
         order by t.namespace, t.file_path",
    )
    .bind(ns.map(Namespace::as_str))
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| {
            let gone_since: Option<SqlTimestamp> = row.try_get("file_gone_since")?;
            Ok(FiledGraph {
                namespace: row.try_get("namespace")?,
                path: row.try_get("file_path")?,
                entities: row.try_get("entities")?,
                is_ahead: row.try_get("is_ahead")?,
                gone_since: gone_since.map(SqlTimestamp::to_jiff),
            })
        })
        .collect()
}

/// Records whether the file of a graph is gone, and when that was first seen.
pub async fn note_gone(
    conn: &mut Conn,
    ns: &Namespace,
    scope: &GraphScope,
    is_gone: bool,
) -> Result<(), StoreError> {
    sqlx::query(
        "update graph_thread set file_gone_since = case when $3 then coalesce(file_gone_since, now()) end
         where namespace = $1 and name = $2 and (file_gone_since is null) = $3",
    )
    .bind(ns.as_str())
    .bind(scope.thread_name())
    .bind(is_gone)
    .execute(conn)
    .await?;
    Ok(())
}
