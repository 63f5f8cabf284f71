//! Lists of events without a question: by category, owner and state, a page after the other.

use std::collections::HashSet;

use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use memory_core::commitment::CommitmentState;
use memory_core::event::Category;
use memory_core::id::{Namespace, RevisionId};
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder, Row};

use crate::search::{Filters, push_filters};
use crate::{Conn, StoreError};

/// How many of the newest events of a category, or of an owner, are looked at.
const LOOKED_AT_MAX: i64 = 20_000;

/// How many of the next due ones are looked at for those that are open.
const DUE_LOOKED_AT: i64 = 1_000;

/// Which events are wanted.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// At least one.
    pub categories: &'a [Category],
    /// Of what their texts must be like the categories do not count.
    pub filters: &'a Filters,
    /// Entities of which one must own the event.
    pub owners: Option<&'a [i64]>,
    pub state: Option<CommitmentState>,
    /// Commitments: what is open by its due time, then what has no due time, then what has ended. Else newest first.
    pub by_due_time: bool,
    pub now: Timestamp,
}

/// The position of an event in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListKey {
    pub rank: i32,
    /// Microseconds since 1970; the largest number for none.
    pub due: i64,
    /// Microseconds before 1970 at which it happened: newer ones are lower.
    pub newness: i64,
    pub event_id: String,
}

/// The next events behind a key, at most `limit`, with their keys; and how many there are in all.
pub async fn events(
    conn: &mut Conn,
    ns: &Namespace,
    wanted: &Wanted<'_>,
    after: Option<&ListKey>,
    limit: i64,
) -> Result<(Vec<ListKey>, i64), StoreError> {
    let filters = Filters { categories: Vec::new(), ..wanted.filters.clone() };
    let is_of_all = wanted.owners.is_none() && filters == Filters::default();
    let has_ended = matches!(wanted.state, Some(CommitmentState::Done | CommitmentState::Cancelled));
    if !wanted.by_due_time || !is_of_all || has_ended || after.is_some_and(|key| key.rank > 0) {
        return sorted(conn, ns, wanted, after, limit).await;
    }
    // What is open and has a due time stands first, in the order of an index.
    let (mut keys, total) = if wanted.state.is_none() {
        let next = due(conn, ns, after, limit).await?;
        let total = commitments(conn, ns).await?;
        if next.len() as i64 >= limit {
            return Ok((next, total));
        }
        (standing(conn, ns, wanted, after, limit).await?.0, total)
    } else {
        standing(conn, ns, wanted, after, limit).await?
    };
    if (keys.len() as i64) < limit && wanted.state != Some(CommitmentState::Overdue) {
        let last = keys.last().cloned();
        let missing = limit - keys.len() as i64;
        let (rest, _) = sorted(conn, ns, wanted, last.as_ref().or(after), missing).await?;
        keys.extend(rest);
    }
    Ok((keys, total))
}

/// Those of the revisions that have a commitment which has not ended.
pub async fn with_open_commitments(
    conn: &mut Conn,
    ns: &Namespace,
    revisions: &[RevisionId],
) -> Result<HashSet<RevisionId>, StoreError> {
    let mut statement = QueryBuilder::new(
        "select distinct e.revision_id
         from (select event_id, revision_id, category from semantic_event
               where category = 'Commitment' and namespace = ",
    );
    statement.push_bind(ns.as_str().to_owned()).push(" and revision_id = any(");
    statement.push_bind(revisions.iter().map(|id| id.0).collect::<Vec<i64>>()).push(")) e");
    push_endings(&mut statement, ns);
    statement.push(" where l.kind is null");
    let rows: Vec<(i64,)> = statement.build_query_as().fetch_all(conn).await?;
    Ok(rows.into_iter().map(|(id,)| RevisionId(id)).collect())
}

/// Those of the revisions that tell a decision.
pub async fn with_decisions(
    conn: &mut Conn,
    ns: &Namespace,
    revisions: &[RevisionId],
) -> Result<HashSet<RevisionId>, StoreError> {
    let rows: Vec<(i64,)> = sqlx::query_as(
        "select distinct revision_id from semantic_event
         where category = 'Decision' and namespace = $1 and revision_id = any($2)",
    )
    .bind(ns.as_str())
    .bind(revisions.iter().map(|id| id.0).collect::<Vec<i64>>())
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|(id,)| RevisionId(id)).collect())
}

/// The next open commitments by their due times, as far as the next due ones are not all ended.
async fn due(
    conn: &mut Conn,
    ns: &Namespace,
    after: Option<&ListKey>,
    limit: i64,
) -> Result<Vec<ListKey>, StoreError> {
    let mut statement = QueryBuilder::new(
        "select event_id, 0 as rank, due, newness
         from (select e.event_id, e.due_time, (date_part('epoch', e.due_time) * 1000000)::bigint as due,
                      -(date_part('epoch', coalesce(e.event_time, r.date, r.created_at)) * 1000000)::bigint as newness
               from (select event_id, revision_id, category, event_time, due_time from semantic_event
                     where category = 'Commitment' and due_time is not null and namespace = ",
    );
    statement.push_bind(ns.as_str().to_owned());
    if let Some(at) = after.and_then(|key| Timestamp::from_microsecond(key.due).ok()) {
        statement.push(" and due_time >= ").push_bind(at.to_sqlx());
    }
    // The planner would not know that few of these have to be looked at; those of one due time stay together.
    statement.push(format!(
        " order by due_time fetch first {DUE_LOOKED_AT} rows with ties) e
               cross join lateral (select date, created_at from artifact_revision
                                   where revision_id = e.revision_id and is_latest and namespace = "
    ));
    statement.push_bind(ns.as_str().to_owned()).push(" offset 0) r");
    push_endings(&mut statement, ns);
    statement.push(" where l.kind is null) listed where true");
    if let Some(key) = after {
        statement.push(" and (due, newness, event_id) > (").push_bind(key.due).push(", ");
        statement.push_bind(key.newness).push(", ").push_bind(key.event_id.clone()).push(")");
    }
    statement.push(" order by due_time, newness, event_id limit ").push_bind(limit);
    statement.build().fetch_all(conn).await?.iter().map(key).collect()
}

/// The same however many ended ones are due before them, with how many there are in all that are in the state and open: those
/// without a due time as well. Most of both is read out of an index.
async fn standing(
    conn: &mut Conn,
    ns: &Namespace,
    wanted: &Wanted<'_>,
    after: Option<&ListKey>,
    limit: i64,
) -> Result<(Vec<ListKey>, i64), StoreError> {
    let mut statement = QueryBuilder::new("with ");
    push_ended(&mut statement, ns);
    statement.push(", open as materialized (select e.event_id, e.revision_id, e.due_time from semantic_event e where e.category = 'Commitment' and e.namespace = ");
    statement.push_bind(ns.as_str().to_owned());
    statement.push(" and not exists (select from ended l where l.commitment_id = e.event_id)");
    push_latest(&mut statement, ns, "e.revision_id");
    match wanted.state {
        Some(CommitmentState::Overdue) => {
            statement.push(" and e.due_time < ").push_bind(wanted.now.to_sqlx());
        }
        Some(CommitmentState::Open) => {
            statement
                .push(" and (e.due_time is null or e.due_time >= ")
                .push_bind(wanted.now.to_sqlx())
                .push(")");
        }
        _ => {}
    }
    statement.push("), next as materialized (");
    // Those of one due time stay together: of the key's own all are looked at, and of the later ones the first.
    let at = after.and_then(|key| Timestamp::from_microsecond(key.due).ok());
    if let Some(at) = at {
        statement.push("select * from open where due_time = ").push_bind(at.to_sqlx()).push(" union all ");
    }
    statement.push("(select * from open where due_time is not null");
    if let Some(at) = at {
        statement.push(" and due_time > ").push_bind(at.to_sqlx());
    }
    statement.push(" order by due_time fetch first ").push_bind(limit).push(
        " rows with ties)), listed as (
             select n.event_id, 0 as rank, (date_part('epoch', n.due_time) * 1000000)::bigint as due,
                    -(date_part('epoch', coalesce(e.event_time, r.date, r.created_at)) * 1000000)::bigint as newness
             from next n
             cross join lateral (select event_time from semantic_event where event_id = n.event_id and namespace = ",
    );
    statement.push_bind(ns.as_str().to_owned()).push(
        " offset 0) e
             cross join lateral (select date, created_at from artifact_revision where revision_id = n.revision_id and namespace = ",
    );
    statement.push_bind(ns.as_str().to_owned()).push(
        " offset 0) r)
         select c.total, l.event_id, l.rank, l.due, l.newness
         from (select count(*) as total from open) c
         left join (select * from listed",
    );
    if let Some(key) = after {
        statement.push(" where (due, newness, event_id) > (").push_bind(key.due).push(", ");
        statement.push_bind(key.newness).push(", ").push_bind(key.event_id.clone()).push(")");
    }
    statement.push(" order by due, newness, event_id limit ").push_bind(limit);
    statement.push(") l on true order by l.due, l.newness, l.event_id");
    let rows = statement.build().fetch_all(conn).await?;
    let total = rows.first().map_or(Ok(0), |row| row.try_get("total"))?;
    let mut keys = Vec::with_capacity(rows.len());
    for row in &rows {
        if row.try_get::<Option<String>, _>("event_id")?.is_some() {
            keys.push(key(row)?);
        }
    }
    Ok((keys, total))
}

/// How many commitments there are in latest texts.
async fn commitments(conn: &mut Conn, ns: &Namespace) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar(
        "select (select count(*) from semantic_event where namespace = $1 and category = 'Commitment')
              - (select count(*) from artifact_revision r
                 cross join lateral (select from semantic_event
                                     where namespace = $1 and revision_id = r.revision_id and category = 'Commitment') e
                 where r.namespace = $1 and not r.is_latest)",
    )
    .bind(ns.as_str())
    .fetch_one(conn)
    .await?)
}

fn key(row: &PgRow) -> Result<ListKey, StoreError> {
    Ok(ListKey {
        rank: row.try_get("rank")?,
        due: row.try_get("due")?,
        newness: row.try_get("newness")?,
        event_id: row.try_get("event_id")?,
    })
}

/// The same out of all that is wanted, sorted.
async fn sorted(
    conn: &mut Conn,
    ns: &Namespace,
    wanted: &Wanted<'_>,
    after: Option<&ListKey>,
    limit: i64,
) -> Result<(Vec<ListKey>, i64), StoreError> {
    let asks_endings = wanted.by_due_time || wanted.state.is_some();
    let mut statement = QueryBuilder::new("with ");
    if asks_endings && wanted.owners.is_none() {
        push_ended(&mut statement, ns);
        statement.push(", ");
    }
    statement.push("listed as materialized (select e.event_id, ");
    if wanted.by_due_time {
        statement.push(
            "case when l.kind is not null then 2 when e.due_time is null then 1 else 0 end as rank,
             case when l.kind is null and e.due_time is not null then (date_part('epoch', e.due_time) * 1000000)::bigint
                  else 9223372036854775807 end as due,",
        );
    } else {
        statement.push("0 as rank, 9223372036854775807 as due,");
    }
    statement.push(" -(date_part('epoch', coalesce(e.event_time, r.date, r.created_at)) * 1000000)::bigint as newness from ");
    push_events(&mut statement, ns, wanted);
    statement.push(" cross join lateral (select r.date, r.created_at from artifact_revision r where r.revision_id = e.revision_id and");
    push_filters(&mut statement, ns, &Filters { categories: Vec::new(), ..wanted.filters.clone() });
    statement.push(" offset 0) r");
    // What ends a promise is looked up only where promises are listed by it: for those of an owner one by one, which are few.
    match (asks_endings, wanted.owners) {
        (false, _) => {}
        (true, None) => {
            statement.push(" left join ended l on l.commitment_id = e.event_id");
        }
        (true, Some(_)) => push_endings(&mut statement, ns),
    }
    statement.push(" where true");
    push_state(&mut statement, wanted);
    statement.push(
        ") select event_id, rank, due, newness, (select count(*) from listed) as total from listed where true",
    );
    if let Some(key) = after {
        statement.push(" and (rank, due, newness, event_id) > (").push_bind(key.rank).push(", ");
        statement.push_bind(key.due).push(", ").push_bind(key.newness).push(", ");
        statement.push_bind(key.event_id.clone()).push(")");
    }
    statement.push(" order by rank, due, newness, event_id limit ").push_bind(limit);
    let rows = statement.build().fetch_all(conn).await?;
    let total = rows.first().map_or(Ok(0), |row| row.try_get("total"))?;
    Ok((rows.iter().map(key).collect::<Result<_, StoreError>>()?, total))
}

/// `ended`: all commitments that were ended by what a latest text tells, with how.
fn push_ended(statement: &mut QueryBuilder<Postgres>, ns: &Namespace) {
    statement
        .push(
            "ended as materialized (
                 select l.commitment_id, case when bool_or(l.kind = 'fulfils') then 'fulfils' else 'cancels' end as kind
                 from commitment_ending l
                 where l.namespace = ",
        )
        .push_bind(ns.as_str().to_owned());
    push_latest(statement, ns, "l.closing_revision");
    statement.push(" group by 1)");
}

/// The text is not outdated. Asked of many these are fewer to look at than the latest.
fn push_latest(statement: &mut QueryBuilder<Postgres>, ns: &Namespace, revision: &str) {
    statement
        .push(format!(
            " and not exists (select from artifact_revision o where o.revision_id = {revision} and not o.is_latest and o.namespace = "
        ))
        .push_bind(ns.as_str().to_owned())
        .push(")");
}

/// `l.kind`: how the event `e` was ended, by what a latest text tells; null where it was not.
fn push_endings(statement: &mut QueryBuilder<Postgres>, ns: &Namespace) {
    statement.push(
        " left join lateral (
            select l.kind
            from commitment_ending l
            cross join lateral (select is_latest from artifact_revision
                                where namespace = l.namespace and revision_id = l.closing_revision offset 0) o
            where l.namespace = ",
    );
    statement.push_bind(ns.as_str().to_owned());
    statement.push(
        " and l.commitment_id = e.event_id and o.is_latest
            order by l.kind = 'fulfils' desc, l.occurred_at, l.closing_id
            limit 1
        ) l on e.category = 'Commitment'",
    );
}

/// The events of the categories, newest texts first, or of the owners.
fn push_events(statement: &mut QueryBuilder<Postgres>, ns: &Namespace, wanted: &Wanted<'_>) {
    let categories: Vec<&str> = wanted.categories.iter().map(|category| category.as_str()).collect();
    let columns = "event_id, revision_id, category, event_time, due_time";
    let Some(owners) = wanted.owners else {
        statement
            .push("unnest(")
            .push_bind(categories)
            .push("::text[]) c (name) cross join lateral (select ");
        statement.push(columns).push(" from semantic_event where category = c.name and namespace = ");
        statement.push_bind(ns.as_str().to_owned());
        statement.push(format!(" order by revision_id desc limit {LOOKED_AT_MAX}) e"));
        return;
    };
    statement.push("(select distinct a.event_id from unnest(").push_bind(owners.to_vec());
    statement.push("::bigint[]) o (id) cross join lateral (select event_id from event_actor where entity_id = o.id and namespace = ");
    statement
        .push_bind(ns.as_str().to_owned())
        .push(" and role = 'owner' and category = any(")
        .push_bind(categories);
    statement.push(format!(
        ") order by occurred_at desc limit {LOOKED_AT_MAX}) a) o cross join lateral (select {columns}"
    ));
    statement.push(" from semantic_event where event_id = o.event_id and namespace = ");
    statement.push_bind(ns.as_str().to_owned()).push(" offset 0) e");
}

fn push_state(statement: &mut QueryBuilder<Postgres>, wanted: &Wanted<'_>) {
    let now = wanted.now.to_sqlx();
    match wanted.state {
        None => {}
        Some(CommitmentState::Open) => {
            statement
                .push(" and l.kind is null and (e.due_time is null or e.due_time >= ")
                .push_bind(now)
                .push(")");
        }
        Some(CommitmentState::Overdue) => {
            statement.push(" and l.kind is null and e.due_time < ").push_bind(now);
        }
        Some(CommitmentState::Done) => {
            statement.push(" and l.kind = 'fulfils'");
        }
        Some(CommitmentState::Cancelled) => {
            statement.push(" and l.kind = 'cancels'");
        }
    }
}

/// The entities among these, and those that count as them.
pub async fn counting_as(conn: &mut Conn, ns: &Namespace, roots: &[i64]) -> Result<Vec<i64>, StoreError> {
    Ok(sqlx::query_scalar(
        "select entity_id from unnest($2::bigint[]) root (entity_id)
         union
         select m.entity_id from unnest($2::bigint[]) root (entity_id)
         cross join lateral (
             select entity_id from entity where namespace = $1 and canonical_id = root.entity_id order by entity_id limit 100
         ) m",
    )
    .bind(ns.as_str())
    .bind(roots)
    .fetch_all(conn)
    .await?)
}
