//! Counting what is there, for `status`.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::id::{ArtifactId, Namespace};
use sqlx::Row;

use crate::{Conn, StoreError};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    pub artifacts: i64,
    pub chunks: i64,
    pub events: i64,
    pub entities: i64,
    pub graph_entities: i64,
    pub graph_relations: i64,
    /// Current ones; earlier versions are not counted.
    pub graph_observations: i64,
}

pub async fn counts(conn: &mut Conn, ns: &Namespace) -> Result<Counts, StoreError> {
    let row = sqlx::query(
        "select (select count(*) from artifact where namespace = $1) as artifacts,
                (select count(*) from chunk where namespace = $1) as chunks,
                (select count(*) from semantic_event where namespace = $1) as events,
                (select count(*) from entity where namespace = $1 and canonical_id is null) as entities,
                (select coalesce(sum(entities), 0)::bigint from graph_thread where namespace = $1) as graph_entities,
                (select count(*) from graph_relation where namespace = $1) as graph_relations,
                (select count(*) from graph_observation where namespace = $1 and is_current) as graph_observations",
    )
    .bind(ns.as_str())
    .fetch_one(conn)
    .await?;
    Ok(Counts {
        artifacts: row.try_get("artifacts")?,
        chunks: row.try_get("chunks")?,
        events: row.try_get("events")?,
        entities: row.try_get("entities")?,
        graph_entities: row.try_get("graph_entities")?,
        graph_relations: row.try_get("graph_relations")?,
        graph_observations: row.try_get("graph_observations")?,
    })
}

/// The queue of a namespace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Queue {
    pub pending: i64,
    pub processing: i64,
    pub done: i64,
    pub failed: i64,
    /// Of the pending ones, those that will compute vectors.
    pub pending_embeddings: i64,
    pub oldest_pending_seconds: Option<f64>,
    /// Error code and how many FAILED jobs have it.
    pub failures: Vec<(String, i64)>,
}

/// Every count is of an index alone, so that a status costs little however long the queue.
pub async fn queue(conn: &mut Conn, ns: &Namespace) -> Result<Queue, StoreError> {
    let row = sqlx::query(
        "with waiting as (
             select count(*) as jobs, count(*) filter (where kind = 'embed') as embeddings, min(job_id) as oldest
             from event_jobs
             where lane = any('{0,1,2}') and namespace = $1 and status = 'PENDING'
         ), counted as materialized (
             select (select count(*) from event_jobs where namespace = $1) as jobs,
                    (select count(*) from event_jobs where namespace = $1 and status = 'PROCESSING') as processing,
                    (select count(*) from event_jobs where namespace = $1 and status = 'FAILED') as failed
         )
         select w.jobs as pending, w.embeddings as pending_embeddings, c.processing, c.failed,
                c.jobs - w.jobs - c.processing - c.failed as done,
                (select extract(epoch from now() - j.created_at)::float8 from event_jobs j
                 where j.namespace = $1 and j.job_id = w.oldest) as oldest_seconds
         from waiting w, counted c",
    )
    .bind(ns.as_str())
    .fetch_one(&mut *conn)
    .await?;
    let failures = sqlx::query_as(
        "select last_error_code, count(*) from event_jobs
         where namespace = $1 and status = 'FAILED'
         group by last_error_code
         order by 2 desc, 1",
    )
    .bind(ns.as_str())
    .fetch_all(conn)
    .await?;
    Ok(Queue {
        pending: row.try_get("pending")?,
        processing: row.try_get("processing")?,
        done: row.try_get("done")?,
        failed: row.try_get("failed")?,
        pending_embeddings: row.try_get("pending_embeddings")?,
        oldest_pending_seconds: row.try_get("oldest_seconds")?,
        failures,
    })
}

/// Seconds since any event worker was seen; `None` when none ever was.
pub async fn worker_last_seen_seconds(conn: &mut Conn) -> Result<Option<f64>, StoreError> {
    Ok(sqlx::query_scalar("select extract(epoch from now() - max(last_seen))::float8 from event_worker")
        .fetch_one(conn)
        .await?)
}

/// Where the extraction of an artifact's newest revision stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobStatus {
    pub job_id: Option<i64>,
    /// PENDING, PROCESSING, DONE or FAILED; `None` when no job was ever queued for it.
    pub status: Option<String>,
    pub attempts: Option<i32>,
    pub last_error_code: Option<String>,
    pub extracted_at: Option<Timestamp>,
    pub event_count: Option<i32>,
    /// Passages whose vector is still to be computed.
    pub passages_without_vector: i64,
}

/// `None` when the namespace has no such artifact.
pub async fn job_status(
    conn: &mut Conn,
    ns: &Namespace,
    id: &ArtifactId,
) -> Result<Option<JobStatus>, StoreError> {
    let row = sqlx::query(
        "select j.job_id, j.status, j.attempts, j.last_error_code, r.extracted_at, r.event_count,
                (select count(*) from passage p
                 where p.namespace = r.namespace and p.revision_id = r.revision_id
                   and not exists (select from passage_embedding e join embedding_model m using (model_id)
                                   where e.namespace = p.namespace and e.passage_id = p.passage_id and m.is_active))
                    as passages_without_vector
         from artifact_revision r
         left join lateral (
             select * from event_jobs j
             where j.namespace = r.namespace
               and ((j.revision_id = r.revision_id and j.kind = 'extract') or j.conversation_id = r.conversation_id)
             order by j.revision_id nulls last, j.job_id desc
             limit 1
         ) j on true
         where r.namespace = $1 and r.artifact_id = $2
         order by r.is_latest desc, r.revision_id desc
         limit 1",
    )
    .bind(ns.as_str())
    .bind(&id.0)
    .fetch_optional(conn)
    .await?;
    row.map(|row| {
        Ok(JobStatus {
            job_id: row.try_get("job_id")?,
            status: row.try_get("status")?,
            attempts: row.try_get("attempts")?,
            last_error_code: row.try_get("last_error_code")?,
            extracted_at: row.try_get::<Option<SqlTimestamp>, _>("extracted_at")?.map(SqlTimestamp::to_jiff),
            event_count: row.try_get("event_count")?,
            passages_without_vector: row.try_get("passages_without_vector")?,
        })
    })
    .transpose()
}

/// How many passages a namespace has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassageCounts {
    pub of_revisions: i64,
    pub of_observations: i64,
}

/// Each counted up to `limit`.
pub async fn passages_up_to(
    conn: &mut Conn,
    ns: &Namespace,
    limit: i64,
) -> Result<PassageCounts, StoreError> {
    let row = sqlx::query(
        "select (select count(*) from (select from passage where namespace = $1 and revision_id is not null
                                       limit $2) r) as of_revisions,
                (select count(*) from (select from passage where namespace = $1 and observation is not null
                                       limit $2) o) as of_observations",
    )
    .bind(ns.as_str())
    .bind(limit)
    .fetch_one(conn)
    .await?;
    Ok(PassageCounts {
        of_revisions: row.try_get("of_revisions")?,
        of_observations: row.try_get("of_observations")?,
    })
}
