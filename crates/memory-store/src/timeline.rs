//! Events by their time, newest first.

use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use memory_core::event::Category;
use memory_core::id::Namespace;

use crate::{Conn, StoreError};

/// Which events are wanted.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// All where there is none.
    pub categories: Vec<Category>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

/// Where in the order an event stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeKey {
    /// Microseconds since 1970.
    pub at: i64,
    pub event_id: String,
}

row!(TimeKey { at, event_id });

/// The next events behind a key, of texts that are the latest at their place; at most `limit`.
pub async fn events(
    conn: &mut Conn,
    ns: &Namespace,
    wanted: &Wanted,
    after: Option<&TimeKey>,
    limit: i64,
) -> Result<Vec<TimeKey>, StoreError> {
    let categories: Vec<&str> = wanted.categories.iter().map(|category| category.as_str()).collect();
    let at = after.and_then(|key| Timestamp::from_microsecond(key.at).ok());
    Ok(sqlx::query_as(
        "select (extract(epoch from coalesce(e.event_time, e.created_at)) * 1000000)::bigint as at, e.event_id
         from semantic_event e
         cross join lateral (
             select is_latest from artifact_revision where namespace = $1 and revision_id = e.revision_id offset 0
         ) r
         where e.namespace = $1 and r.is_latest
           and (cardinality($2::text[]) = 0 or e.category = any($2))
           and coalesce(e.event_time, e.created_at) between coalesce($3, '-infinity'::timestamptz)
               and coalesce($4, 'infinity'::timestamptz)
           and ($5::timestamptz is null or (coalesce(e.event_time, e.created_at), e.event_id) < ($5, $6))
         order by coalesce(e.event_time, e.created_at) desc, e.event_id desc
         limit $7",
    )
    .bind(ns.as_str())
    .bind(categories)
    .bind(wanted.from.map(ToSqlx::to_sqlx))
    .bind(wanted.to.map(ToSqlx::to_sqlx))
    .bind(at.map(ToSqlx::to_sqlx))
    .bind(after.map(|key| key.event_id.as_str()))
    .bind(limit)
    .fetch_all(conn)
    .await?)
}
