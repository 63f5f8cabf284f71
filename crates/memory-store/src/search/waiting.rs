//! Passages of a scope that the vector arm does not see yet.

use memory_core::id::Namespace;
use sqlx::QueryBuilder;

use super::{Filters, push_filters};
use crate::{Conn, StoreError};

/// How many texts are looked at, of those whose vectors are being computed and of those for which that has failed.
const TEXTS_MAX: i64 = 200;

/// How many passages that may be answered with have no vector of the model, as the jobs that compute them show: of up to
/// 200 texts that wait, and 200 for which it has failed.
pub async fn without_vector(
    conn: &mut Conn,
    ns: &Namespace,
    filters: &Filters,
    model_id: i16,
) -> Result<i64, StoreError> {
    let mut statement = QueryBuilder::new(
        "with texts as materialized (
             (select revision_id from event_jobs
              where kind = 'embed' and revision_id is not null and status in ('PENDING', 'PROCESSING') and namespace = ",
    );
    statement.push_bind(ns.as_str()).push(format!(
        " limit {TEXTS_MAX})
             union
             (select revision_id from event_jobs
              where kind = 'embed' and status = 'FAILED' and namespace = "
    ));
    statement.push_bind(ns.as_str()).push(format!(
        " order by job_id desc limit {TEXTS_MAX}))
         select coalesce(sum(greatest(r.passages - h.vectors, 0)), 0)::bigint
         from texts t
         join artifact_revision r on r.revision_id = t.revision_id
         cross join lateral (
             select count(*) as vectors from passage_embedding e
             where e.namespace = r.namespace and e.revision_id = r.revision_id and e.model_id = {model_id}
         ) h
         where"
    ));
    push_filters(&mut statement, ns, filters);
    Ok(statement.build_query_scalar().fetch_one(conn).await?)
}
