//! What is known of the file that a graph is kept in step with.

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
        "select thread_id, version, entities, file_sha256, file_version
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
