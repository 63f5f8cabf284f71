//! Queues what is to be extracted again.

use memory_core::artifact::Context;
use memory_core::id::{JobId, Namespace, RevisionId};
use sqlx::Row;

use crate::events::ExtractorId;
use crate::{Conn, StoreError, Tx};

/// Which of the latest revisions are read again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Also those that the present extractor has read.
    pub all: bool,
    /// Only those read by a version before this one.
    pub older_than_version: Option<i32>,
    /// Only those read by the extractor of this name.
    pub extractor: Option<String>,
    pub context: Option<Context>,
}

/// What became of some revisions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueuedBatch {
    /// Where the next batch begins; `None` when there are no more.
    pub last: Option<RevisionId>,
    /// A job for each text that has its own.
    pub jobs: Vec<JobId>,
    /// Short turns that the next pass over their conversation reads again.
    pub turns: i64,
    /// They waited before.
    pub waiting: i64,
    /// They are being extracted at this moment, and left alone.
    pub running: i64,
    /// Conversations that a pass is to be queued for.
    pub conversations: Vec<String>,
}

/// Where a batch begins, and what one is.
#[derive(Debug, Clone, Copy)]
pub struct BatchOf {
    pub after: RevisionId,
    pub limit: i64,
    /// A turn under this many tokens is read with its conversation.
    pub short_turn_tokens: i64,
}

pub async fn queue_batch(
    tx: &mut Tx,
    ns: &Namespace,
    selection: &Selection,
    present: ExtractorId<'_>,
    batch: BatchOf,
) -> Result<QueuedBatch, StoreError> {
    let row = sqlx::query(include_str!("sql/queue_reextraction.sql"))
        .bind(ns.as_str())
        .bind(batch.after.0)
        .bind(selection.all)
        .bind(present.name)
        .bind(present.version)
        .bind(selection.older_than_version)
        .bind(&selection.extractor)
        .bind(selection.context.map(Context::as_str))
        .bind(batch.short_turn_tokens)
        .bind(batch.limit)
        .fetch_one(&mut **tx)
        .await?;
    let jobs: Vec<i64> = row.try_get("jobs")?;
    Ok(QueuedBatch {
        last: row.try_get::<Option<i64>, _>("last_revision")?.map(RevisionId),
        jobs: jobs.into_iter().map(JobId).collect(),
        turns: row.try_get("turns")?,
        waiting: row.try_get("waiting")?,
        running: row.try_get("running")?,
        conversations: row.try_get("conversations")?,
    })
}

/// How many latest revisions there are.
pub async fn revisions(conn: &mut Conn, ns: &Namespace) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar("select count(*) from artifact_revision where namespace = $1 and is_latest")
        .bind(ns.as_str())
        .fetch_one(conn)
        .await?)
}

/// Every namespace that holds texts.
pub async fn namespaces(conn: &mut Conn) -> Result<Vec<Namespace>, StoreError> {
    let names: Vec<String> = sqlx::query_scalar(
        "with recursive walk as (
             (select namespace from artifact_revision order by namespace limit 1)
             union all
             select (select r.namespace from artifact_revision r where r.namespace > w.namespace
                     order by r.namespace limit 1)
             from walk w
             where w.namespace is not null
         )
         select namespace from walk where namespace is not null",
    )
    .fetch_all(conn)
    .await?;
    names.iter().map(|name| Namespace::new(name).map_err(|e| StoreError::Unsuitable(e.0))).collect()
}
