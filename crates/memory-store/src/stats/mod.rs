//! Counting what is stored, for `status`; the queue and its workers are counted in `stats/queue.rs`.

mod queue;

use memory_core::id::Namespace;
use sqlx::Row;

use crate::{Conn, StoreError};

pub use queue::{
    EmbedJob, JobStatus, Queue, StuckJobs, WorkersSeen, job_status, queue, stuck_jobs, workers_seen,
};

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

/// What a namespace holds, in a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    pub namespace: String,
    pub texts: i64,
    pub events: i64,
    pub entities: i64,
    pub graph_entities: i64,
    pub failed_jobs: i64,
}

row!(Held { namespace, texts, events, entities, graph_entities, failed_jobs });

/// The same of several namespaces, in the order given.
pub async fn held(conn: &mut Conn, namespaces: &[Namespace]) -> Result<Vec<Held>, StoreError> {
    let names: Vec<&str> = namespaces.iter().map(Namespace::as_str).collect();
    Ok(sqlx::query_as(
        "select n.name as namespace,
                (select count(*) from artifact where namespace = n.name) as texts,
                (select count(*) from semantic_event where namespace = n.name) as events,
                (select count(*) from entity where namespace = n.name and canonical_id is null) as entities,
                (select coalesce(sum(entities), 0)::bigint from graph_thread where namespace = n.name) as graph_entities,
                (select count(*) from event_jobs where namespace = n.name and status = 'FAILED') as failed_jobs
         from unnest($1::text[]) with ordinality n (name, place)
         order by n.place",
    )
    .bind(names)
    .fetch_all(conn)
    .await?)
}

/// What a namespace has of vectors of the model that is searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Vectors {
    pub passages: i64,
    pub missing: i64,
    /// Texts that lack some and whose last job for them has failed.
    pub failed_texts: i64,
}

/// Both counts are of primary keys alone: a vector has a passage, and a passage at most one vector of a model.
pub async fn vectors(conn: &mut Conn, ns: &Namespace) -> Result<Vectors, StoreError> {
    let row = sqlx::query(
        "with counted as materialized (
             select (select count(*) from passage where namespace = $1) as passages,
                    (select count(*) from passage_embedding
                     where namespace = $1 and model_id = (select model_id from embedding_model where is_active)) as made
         )
         select passages, passages - made as missing,
                case when passages = made then 0 else
                    (select count(*)
                     from (select namespace, job_id, revision_id from event_jobs
                           where namespace = $1 and status = 'FAILED' and kind = 'embed'
                           order by job_id desc limit 1000) f
                     where not exists (select from event_jobs o
                                       where o.namespace = f.namespace and o.revision_id = f.revision_id
                                         and o.kind = 'embed' and o.job_id > f.job_id)
                       and exists (select from passage p
                                   where p.namespace = f.namespace and p.revision_id = f.revision_id
                                     and not exists (select from passage_embedding e join embedding_model m using (model_id)
                                                     where e.namespace = p.namespace and e.passage_id = p.passage_id
                                                       and m.is_active)))
                end as failed_texts
         from counted",
    )
    .bind(ns.as_str())
    .fetch_one(conn)
    .await?;
    Ok(Vectors {
        passages: row.try_get("passages")?,
        missing: row.try_get("missing")?,
        failed_texts: row.try_get("failed_texts")?,
    })
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
