//! What is asked about graphs without reading them: their versions, and how much text one holds.

use memory_core::graph::GraphScope;
use memory_core::id::Namespace;

use super::Thread;
use crate::{Conn, StoreError};

/// How many bytes of JSON the parts take at least, without their texts.
const ENTITY_FRAME_BYTES: i64 = r#"{"name":"","entityType":"","observations":[]}"#.len() as i64;
const RELATION_FRAME_BYTES: i64 = r#"{"from":"","to":"","relationType":""}"#.len() as i64;
const OBSERVATION_FRAME_BYTES: i64 = r#""""#.len() as i64;

/// The versions of these graphs, in their order; 0 where nothing was ever written.
pub async fn versions(conn: &mut Conn, graphs: &[(Namespace, GraphScope)]) -> Result<Vec<i64>, StoreError> {
    let namespaces: Vec<&str> = graphs.iter().map(|(ns, _)| ns.as_str()).collect();
    let names: Vec<String> = graphs.iter().map(|(_, scope)| scope.thread_name()).collect();
    Ok(sqlx::query_scalar(
        "select coalesce(thread.version, 0)
         from unnest($1::text[], $2::text[]) with ordinality as asked (namespace, name, place)
         left join graph_thread thread using (namespace, name)
         order by place",
    )
    .bind(namespaces)
    .bind(names)
    .fetch_all(conn)
    .await?)
}

/// Whether the graph is certainly larger than this as JSON. Looks at no more rows than it takes to know.
pub async fn is_larger_than(conn: &mut Conn, thread: &Thread, bytes: u64) -> Result<bool, StoreError> {
    let sizes: Vec<i64> = sqlx::query_scalar(
        "select coalesce(sum(size), 0)::bigint from (
             select octet_length(name) + octet_length(entity_type) + $3 as size
             from graph_entity
             where namespace = $1 and thread_id = $2
             limit $6 / $3 + 1) entity
         union all
         select coalesce(sum(size), 0)::bigint from (
             select octet_length(from_name) + octet_length(to_name) + octet_length(relation_type) + $4 as size
             from graph_relation
             where namespace = $1 and thread_id = $2
             limit $6 / $4 + 1) relation
         union all
         select coalesce(sum(size), 0)::bigint from (
             select octet_length(content) + $5 as size
             from graph_observation
             where namespace = $1 and thread_id = $2 and is_current
             limit $6 / $5 + 1) observation",
    )
    .bind(thread.ns.as_str())
    .bind(thread.id)
    .bind(ENTITY_FRAME_BYTES)
    .bind(RELATION_FRAME_BYTES)
    .bind(OBSERVATION_FRAME_BYTES)
    .bind(bytes as i64)
    .fetch_all(conn)
    .await?;
    Ok(sizes.into_iter().sum::<i64>() > bytes as i64)
}
