//! Events by their time, newest first.

use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use memory_core::event::Category;
use memory_core::id::Namespace;
use sqlx::{Postgres, QueryBuilder};

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
    let mut statement =
        QueryBuilder::new("select (extract(epoch from e.at) * 1000000)::bigint as at, e.event_id from ");
    if wanted.categories.is_empty() {
        statement.push("(");
        push_ordered(&mut statement, ns, wanted, after, limit);
        statement.push(") e");
    } else {
        // Each kind by an index of its own, the first of each.
        let names: Vec<&str> = wanted.categories.iter().map(|category| category.as_str()).collect();
        statement.push("unnest(").push_bind(names).push("::text[]) c (name) cross join lateral (");
        push_ordered(&mut statement, ns, wanted, after, limit);
        statement.push(") e");
    }
    statement.push(" order by e.at desc, e.event_id desc limit ").push_bind(limit);
    Ok(statement.build_query_as().fetch_all(conn).await?)
}

fn push_ordered(
    statement: &mut QueryBuilder<Postgres>,
    ns: &Namespace,
    wanted: &Wanted,
    after: Option<&TimeKey>,
    limit: i64,
) {
    statement
        .push(
            "select coalesce(e.event_time, e.created_at) as at, e.event_id
             from semantic_event e
             cross join lateral (
                 select is_latest from artifact_revision r
                 where r.namespace = e.namespace and r.revision_id = e.revision_id offset 0
             ) r
             where r.is_latest and e.namespace = ",
        )
        .push_bind(ns.as_str().to_owned());
    if !wanted.categories.is_empty() {
        statement.push(" and e.category = c.name");
    }
    if let Some(from) = wanted.from {
        statement.push(" and coalesce(e.event_time, e.created_at) >= ").push_bind(from.to_sqlx());
    }
    if let Some(to) = wanted.to {
        statement.push(" and coalesce(e.event_time, e.created_at) <= ").push_bind(to.to_sqlx());
    }
    if let Some((at, id)) =
        after.and_then(|key| Some((Timestamp::from_microsecond(key.at).ok()?, &key.event_id)))
    {
        statement.push(" and (coalesce(e.event_time, e.created_at), e.event_id) < (");
        statement.push_bind(at.to_sqlx()).push(", ").push_bind(id.clone()).push(")");
    }
    statement
        .push(" order by coalesce(e.event_time, e.created_at) desc, e.event_id desc limit ")
        .push_bind(limit);
}
