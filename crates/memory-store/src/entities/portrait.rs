//! One entity: its names, since when it is known, its events, and whom it has to do with.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::id::Namespace;
use serde::Deserialize;
use sqlx::types::Json;
use sqlx::{AssertSqlSafe, Row};

use super::review::{MergedEntity, PossiblySame};
use super::with_names;
use crate::{Conn, StoreError};

/// How many of an entity's newest events are looked at for what else they are of.
const LOOKED_AT_MAX: i64 = 500;

/// An entity with what counts as it.
#[derive(Debug, Clone, PartialEq)]
pub struct Portrait {
    pub id: i64,
    pub name: String,
    pub entity_type: String,
    /// What it counts as, where it was merged into another.
    pub counts_as: Option<i64>,
    pub aliases: Vec<String>,
    pub merged: Vec<MergedEntity>,
    pub possibly_same: Vec<PossiblySame>,
    pub mentions: i64,
    pub texts: i64,
    pub first_seen: Option<Timestamp>,
    pub last_seen: Option<Timestamp>,
}

/// `None` where there is no such entity.
pub async fn portrait(conn: &mut Conn, ns: &Namespace, id: i64) -> Result<Option<Portrait>, StoreError> {
    let row = sqlx::query(AssertSqlSafe(with_names(include_str!("../sql/entity_portrait.sql"))))
        .bind(ns.as_str())
        .bind(id)
        .fetch_optional(conn)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let time = |column: &str| -> Result<Option<Timestamp>, sqlx::Error> {
        Ok(row.try_get::<Option<SqlTimestamp>, _>(column)?.map(SqlTimestamp::to_jiff))
    };
    let Json(merged) = row.try_get("merged")?;
    let Json(possibly_same) = row.try_get("possibly_same")?;
    Ok(Some(Portrait {
        id: row.try_get("entity_id")?,
        name: row.try_get("name")?,
        entity_type: row.try_get("entity_type")?,
        counts_as: row.try_get("canonical_id")?,
        aliases: row.try_get("aliases")?,
        merged,
        possibly_same,
        mentions: row.try_get("mentions")?,
        texts: row.try_get("texts")?,
        first_seen: time("first_seen")?,
        last_seen: time("last_seen")?,
    }))
}

/// What tells an entity from another that may be the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    pub id: i64,
    pub name: String,
    pub aliases: Vec<String>,
    pub last_seen: Option<Timestamp>,
    /// Whom it has most to do with of late.
    pub companions: Vec<String>,
    /// What it did or is told of it, newest first.
    pub events: Vec<Told>,
    /// The words around it where it was named of late.
    pub mentions: Vec<Told>,
}

/// Words, and the text that has them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Told {
    pub artifact_id: String,
    pub text: String,
}

/// How many of the newest events are looked at for companions, and how many events and mentions are told.
const OF_SIDE_MAX: i64 = 60;
const TOLD_MAX: i64 = 3;
const NAMED_MAX: i64 = 2;

/// The entities of these numbers beside each other, in the order given; those that are gone are left out.
pub async fn sides(conn: &mut Conn, ns: &Namespace, ids: &[i64]) -> Result<Vec<Side>, StoreError> {
    let rows = sqlx::query(AssertSqlSafe(with_names(include_str!("../sql/entity_sides.sql"))))
        .bind(ns.as_str())
        .bind(ids)
        .bind(OF_SIDE_MAX)
        .bind(TOLD_MAX)
        .bind(NAMED_MAX)
        .fetch_all(conn)
        .await?;
    rows.iter()
        .map(|row| {
            let Json(events) = row.try_get("events")?;
            let Json(mentions) = row.try_get("mentions")?;
            Ok(Side {
                id: row.try_get("entity_id")?,
                name: row.try_get("name")?,
                aliases: row.try_get("aliases")?,
                last_seen: row.try_get::<Option<SqlTimestamp>, _>("last_seen")?.map(SqlTimestamp::to_jiff),
                companions: row.try_get("companions")?,
                events,
                mentions,
            })
        })
        .collect()
}

/// An event of an entity: its part in it, `subject` where the event is about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnEvent {
    pub event_id: String,
    pub role: String,
}

row!(OwnEvent { event_id, role });

/// The newest events of an entity and of what counts as it, newest first, at most `limit`.
pub async fn events(
    conn: &mut Conn,
    ns: &Namespace,
    id: i64,
    limit: i64,
) -> Result<Vec<OwnEvent>, StoreError> {
    Ok(sqlx::query_as(
        "with member as (
             select $2::bigint as entity_id
             union all
             select entity_id from entity where namespace = $1 and canonical_id = $2
         )
         select event_id, min(role) as role
         from member m
         cross join lateral (
             (select event_id, role, occurred_at from event_actor
              where namespace = $1 and entity_id = m.entity_id order by occurred_at desc limit $3)
             union all
             (select event_id, 'subject', occurred_at from event_subject
              where namespace = $1 and entity_id = m.entity_id order by occurred_at desc limit $3)
         ) e
         group by event_id
         order by max(occurred_at) desc, event_id
         limit $3",
    )
    .bind(ns.as_str())
    .bind(id)
    .bind(limit)
    .fetch_all(conn)
    .await?)
}

/// Another entity of the same events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Companion {
    pub id: i64,
    pub name: String,
    pub entity_type: String,
    pub events: i64,
}

row!(Companion { id, name, entity_type, events });

/// The entities that share most of its newest events.
pub async fn companions(
    conn: &mut Conn,
    ns: &Namespace,
    id: i64,
    limit: i64,
) -> Result<Vec<Companion>, StoreError> {
    let own = events(conn, ns, id, LOOKED_AT_MAX).await?;
    let own: Vec<String> = own.into_iter().map(|event| event.event_id).collect();
    Ok(sqlx::query_as(
        "select r.entity_id as id, r.name, r.entity_type, count(distinct o.event_id) as events
         from unnest($3::text[]) u (event_id)
         cross join lateral (
             select entity_id, event_id from event_actor where namespace = $1 and event_id = u.event_id
             union all
             select entity_id, event_id from event_subject where namespace = $1 and event_id = u.event_id
         ) o
         join entity t on t.namespace = $1 and t.entity_id = o.entity_id
         join entity r on r.namespace = $1 and r.entity_id = coalesce(t.canonical_id, t.entity_id)
         where r.entity_id <> $2
         group by 1, 2, 3
         order by events desc, r.name, r.entity_id
         limit $4",
    )
    .bind(ns.as_str())
    .bind(id)
    .bind(own)
    .bind(limit)
    .fetch_all(conn)
    .await?)
}
