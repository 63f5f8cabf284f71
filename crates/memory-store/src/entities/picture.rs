//! Entities and what connects them, few enough to be drawn: extracted ones by the events that they share, those of the
//! knowledge graph by its relations.

use memory_core::id::Namespace;
use sqlx::AssertSqlSafe;

use crate::{Conn, StoreError};

/// How many of an entity's newest events are looked at, of each kind: fewer the more entities are asked for at once.
const LOOKED_AT_MAX: i64 = 300;
const LOOKED_AT_MIN: i64 = 5;
const LOOKED_AT_OF_ALL: i64 = 4_000;
/// The same where for each event its others are looked up.
const FOLLOWED_OF_ALL: i64 = 2_000;
/// How many of the newest events decide which entities have most, and of the newest relations, of which each thread has its share.
const NEWEST_MAX: i64 = 2_500;
const NEWEST_RELATIONS_MAX: i64 = 10_000;
const NEWEST_RELATIONS_MIN: i64 = 50;

/// An entity of either memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub id: i64,
    pub name: String,
    pub entity_type: String,
    /// Events, or relations.
    pub weight: i64,
    /// How many there are without the limit.
    pub total: i64,
    /// Of the knowledge graph: its thread.
    pub thread: Option<String>,
}

row!(Node { id, name, entity_type, weight, total, thread });

/// What connects two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    pub from: i64,
    pub to: i64,
    pub weight: i64,
    /// Of the knowledge graph: the relation.
    pub label: Option<String>,
}

row!(Edge { from, to, weight, label });

/// The extracted entities with most of the newest events, and how many entities there are.
pub async fn most_active(conn: &mut Conn, ns: &Namespace, limit: i64) -> Result<Vec<Node>, StoreError> {
    Ok(sqlx::query_as(
        "with newest as materialized (
             select event_id from semantic_event
             where namespace = $1
             order by coalesce(event_time, created_at) desc, event_id desc
             limit $3
         ), linked as materialized (
             select l.entity_id, count(*) as n
             from newest e
             cross join lateral (
                 select entity_id from event_actor where namespace = $1 and event_id = e.event_id
                 union all
                 select entity_id from event_subject where namespace = $1 and event_id = e.event_id
             ) l
             group by 1
         ), rooted as materialized (
             select coalesce(t.canonical_id, t.entity_id) as root, sum(l.n)::bigint as n
             from linked l
             cross join lateral (
                 select entity_id, canonical_id from entity where namespace = $1 and entity_id = l.entity_id offset 0
             ) t
             group by 1
         ), counted as materialized (
             select root, n from rooted order by n desc, root limit $2
         )
         select t.entity_id as id, t.name, t.entity_type, c.n as weight, null::text as thread,
                -- Those of no event are not among what could be drawn, as far as all events were looked at.
                case when (select count(*) from newest) < $3 then (select count(*) from rooted)
                     else (select count(*) from entity where namespace = $1 and canonical_id is null) end as total
         from counted c
         join entity t on t.namespace = $1 and t.entity_id = c.root
         order by c.n desc, t.entity_id",
    )
    .bind(ns.as_str())
    .bind(limit)
    .bind(NEWEST_MAX)
    .fetch_all(conn)
    .await?)
}

/// These extracted entities, merged ones as what they count as.
pub async fn nodes(conn: &mut Conn, ns: &Namespace, ids: &[i64]) -> Result<Vec<Node>, StoreError> {
    Ok(sqlx::query_as(
        "select distinct r.entity_id as id, r.name, r.entity_type, 0::bigint as weight, 0::bigint as total, null::text as thread
         from unnest($2::bigint[]) u (entity_id)
         join entity t on t.namespace = $1 and t.entity_id = u.entity_id
         join entity r on r.namespace = $1 and r.entity_id = coalesce(t.canonical_id, t.entity_id)
         order by 1",
    )
    .bind(ns.as_str())
    .bind(ids)
    .fetch_all(conn)
    .await?)
}

/// `part`: of each of the entities `$2`, with what counts as them, the newest events, `$4` of each kind.
const PARTS: &str = "member as materialized (
         select entity_id, coalesce(canonical_id, entity_id) as root from entity
         where namespace = $1 and (entity_id = any($2) or canonical_id = any($2))
     ), part as materialized (
         select distinct m.root, l.event_id
         from member m
         cross join lateral (
             (select event_id from event_actor where namespace = $1 and entity_id = m.entity_id
              order by occurred_at desc limit $4)
             union
             (select event_id from event_subject where namespace = $1 and entity_id = m.entity_id
              order by occurred_at desc limit $4)
         ) l
     )";

async fn edges(
    conn: &mut Conn,
    ns: &Namespace,
    ids: &[i64],
    limit: i64,
    of_all: i64,
    of_parts: &str,
) -> Result<Vec<Edge>, StoreError> {
    Ok(sqlx::query_as(AssertSqlSafe(format!(
        "with {PARTS} {of_parts} group by 1, 2 order by 3 desc, 1, 2 limit $3"
    )))
    .bind(ns.as_str())
    .bind(ids)
    .bind(limit)
    .bind((of_all / ids.len().max(1) as i64).clamp(LOOKED_AT_MIN, LOOKED_AT_MAX))
    .fetch_all(conn)
    .await?)
}

/// The pairs of these that share most events.
pub async fn shared_events(
    conn: &mut Conn,
    ns: &Namespace,
    ids: &[i64],
    limit: i64,
) -> Result<Vec<Edge>, StoreError> {
    let pairs = "select a.root as \"from\", b.root as \"to\", count(*) as weight, null::text as label
         from part a
         join part b on a.event_id = b.event_id and a.root < b.root";
    edges(conn, ns, ids, limit, LOOKED_AT_OF_ALL, pairs).await
}

/// From each of these to the others of its newest events, those of most events first.
pub async fn neighbours(
    conn: &mut Conn,
    ns: &Namespace,
    ids: &[i64],
    limit: i64,
) -> Result<Vec<Edge>, StoreError> {
    let others = ", others as (
             select p.root as \"from\", coalesce(t.canonical_id, t.entity_id) as \"to\", p.event_id
             from part p
             cross join lateral (
                 select entity_id from event_actor where namespace = $1 and event_id = p.event_id
                 union
                 select entity_id from event_subject where namespace = $1 and event_id = p.event_id
             ) o
             join entity t on t.namespace = $1 and t.entity_id = o.entity_id
         )
         select \"from\", \"to\", count(distinct event_id) as weight, null::text as label
         from others
         where \"from\" <> \"to\"";
    edges(conn, ns, ids, limit, FOLLOWED_OF_ALL, others).await
}

/// The entities of the knowledge graph with most of the newest relations, of all threads, and how many entities there are.
pub async fn most_related(conn: &mut Conn, ns: &Namespace, limit: i64) -> Result<Vec<Node>, StoreError> {
    Ok(sqlx::query_as(
        "with looked_at as materialized (
             select greatest($4, $3 / greatest(count(*), 1)) as share from graph_thread where namespace = $1
         ), newest as materialized (
             select r.thread_id, r.from_id, r.to_id
             from graph_thread t
             cross join lateral (
                 select thread_id, from_id, to_id from graph_relation
                 where namespace = $1 and thread_id = t.thread_id
                 order by relation_id desc
                 limit (select share from looked_at)
             ) r
             where t.namespace = $1
         ), ends as materialized (
             select thread_id, entity_id, count(*) as n
             from (select thread_id, from_id as entity_id from newest where from_id is not null
                   union all
                   select thread_id, to_id from newest
                   where to_id is not null and to_id is distinct from from_id) e
             group by 1, 2
             order by n desc, entity_id
             limit $2
         )
         select e.entity_id as id, e.name, e.entity_type, n.n as weight, t.name as thread,
                (select coalesce(sum(entities), 0)::bigint from graph_thread where namespace = $1) as total
         from ends n
         join graph_entity e on e.namespace = $1 and e.thread_id = n.thread_id and e.entity_id = n.entity_id
         join graph_thread t on t.namespace = $1 and t.thread_id = n.thread_id
         order by n.n desc, e.entity_id",
    )
    .bind(ns.as_str())
    .bind(limit)
    .bind(NEWEST_RELATIONS_MAX)
    .bind(NEWEST_RELATIONS_MIN)
    .fetch_all(conn)
    .await?)
}

/// Relations between these entities of the knowledge graph.
pub async fn relations(
    conn: &mut Conn,
    ns: &Namespace,
    ids: &[i64],
    limit: i64,
) -> Result<Vec<Edge>, StoreError> {
    Ok(sqlx::query_as(
        "select from_id as \"from\", to_id as \"to\", 1::bigint as weight, relation_type as label
         from graph_relation
         where namespace = $1 and from_id = any($2) and to_id = any($2)
         order by relation_id
         limit $3",
    )
    .bind(ns.as_str())
    .bind(ids)
    .bind(limit)
    .fetch_all(conn)
    .await?)
}
