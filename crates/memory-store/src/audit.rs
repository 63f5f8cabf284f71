//! The audit: who did what, when, on which ids, and how it ended.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::access::KeyId;
use memory_core::id::Namespace;
use sqlx::{Postgres, QueryBuilder, Row};

use crate::{Conn, StoreError};

/// What is recorded. There is no room in it for content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub key: Option<KeyId>,
    /// The name of the key, or who else it was.
    pub who: String,
    pub namespace: Option<Namespace>,
    /// The tool, or the command.
    pub action: String,
    pub ids: Vec<String>,
    pub outcome: String,
}

impl Entry {
    /// What an operator did, about no namespace.
    pub fn of_operator(action: &str, ids: Vec<String>) -> Self {
        Self {
            key: None,
            who: "operator".to_owned(),
            namespace: None,
            action: action.to_owned(),
            ids,
            outcome: "ok".to_owned(),
        }
    }
}

/// An entry as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    pub number: i64,
    pub at: Timestamp,
    pub key_id: Option<String>,
    pub who: String,
    pub namespace: Option<String>,
    pub action: String,
    pub ids: Vec<String>,
    pub outcome: String,
}

/// Which entries are meant; what is not said does not narrow it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Entries of no namespace are meant as well.
    pub namespace: Option<Namespace>,
    /// The id of a key, or who it was.
    pub who: Option<String>,
    pub id: Option<String>,
    pub action: Option<String>,
    /// Only those with a smaller number.
    pub before: Option<i64>,
}

pub async fn insert(conn: &mut Conn, entry: &Entry) -> Result<(), StoreError> {
    sqlx::query(
        "insert into audit_entry (key_id, who, namespace, action, ids, outcome)
         values ($1, $2, $3, $4, $5, $6)",
    )
    .bind(entry.key.as_ref().map(KeyId::as_str))
    .bind(&entry.who)
    .bind(entry.namespace.as_ref().map(Namespace::as_str))
    .bind(&entry.action)
    .bind(&entry.ids)
    .bind(&entry.outcome)
    .execute(conn)
    .await?;
    Ok(())
}

/// Where entries are of: whatever namespace, the one that is meant, none.
const ANYWHERE: &str = "";
const AT: &str = "at";
const NOWHERE: &str = "nowhere";

/// The newest entries that are meant, newest first.
pub async fn list(conn: &mut Conn, filter: &AuditFilter, limit: i64) -> Result<Vec<Recorded>, StoreError> {
    // A key's entries have its id or its name, and entries of no namespace are meant with those of any: each of these is asked
    // for by itself, so that each has an index that gives the newest first.
    let whose = filter.who.as_ref().map_or(vec![""], |_| vec!["key_id", "who"]);
    let whereabouts = filter.namespace.as_ref().map_or(vec![ANYWHERE], |_| vec![AT, NOWHERE]);
    let mut statement =
        QueryBuilder::new("select audit_id, at, key_id, who, namespace, action, ids, outcome from (");
    let mut is_first = true;
    for who in whose {
        for place in &whereabouts {
            statement.push(if std::mem::take(&mut is_first) { "(" } else { " union (" });
            push_branch(&mut statement, filter, who, place);
            statement.push(" limit ").push_bind(limit).push(")");
        }
    }
    statement.push(") found order by audit_id desc limit ").push_bind(limit);
    let rows = statement.build().fetch_all(conn).await?;
    let recorded = rows.iter().map(|row| {
        Ok(Recorded {
            number: row.try_get("audit_id")?,
            at: row.try_get::<SqlTimestamp, _>("at")?.to_jiff(),
            key_id: row.try_get("key_id")?,
            who: row.try_get("who")?,
            namespace: row.try_get("namespace")?,
            action: row.try_get("action")?,
            ids: row.try_get("ids")?,
            outcome: row.try_get("outcome")?,
        })
    });
    recorded.collect()
}

/// One column narrows by its index, which gives the newest first: written as a range of the column and the number, since the planner
/// would else read all entries backwards for what few have.
fn push_branch(
    statement: &mut QueryBuilder<Postgres>,
    filter: &AuditFilter,
    who: &'static str,
    place: &'static str,
) {
    let mut narrowing: Vec<(&'static str, &str)> = Vec::new();
    narrowing.extend(filter.who.as_deref().map(|name| (who, name)));
    narrowing.extend(filter.action.as_deref().map(|action| ("action", action)));
    if place == AT {
        narrowing.extend(filter.namespace.as_ref().map(|namespace| ("namespace", namespace.as_str())));
    }
    let mut leading = None;
    match &filter.id {
        None => {
            statement.push("select * from audit_entry where true");
            leading = (!narrowing.is_empty()).then(|| narrowing.remove(0));
        }
        // In the owner's view: under a policy no index is used for @>.
        Some(id) => {
            statement
                .push("select e.* from (select s.audit_id as number from searched_audit s where s.ids @> array[")
                .push_bind(id.clone())
                .push(
                    "]::text[] offset 0) told
                     cross join lateral (select * from audit_entry a where a.audit_id = told.number offset 0) e
                     where true",
                );
        }
    }
    for (column, value) in narrowing {
        statement.push(format!(" and {column} = ")).push_bind(value.to_owned());
    }
    if place == NOWHERE {
        statement.push(" and namespace is null");
    }
    let before = filter.before.unwrap_or(i64::MAX);
    let Some((column, value)) = leading else {
        statement.push(" and audit_id < ").push_bind(before).push(" order by audit_id desc");
        return;
    };
    statement.push(format!(" and ({column}, audit_id) >= (")).push_bind(value.to_owned()).push(", 0)");
    statement.push(format!(" and ({column}, audit_id) < (")).push_bind(value.to_owned());
    statement.push(", ").push_bind(before).push(format!(") order by {column} desc, audit_id desc"));
}

/// Deletes entries that are older than these days, so many at most; gives how many these were.
pub async fn delete_old(conn: &mut Conn, days: i32, limit: i64) -> Result<u64, StoreError> {
    let deleted = sqlx::query(
        "delete from audit_entry
         where audit_id in (select audit_id from audit_entry where at < now() - make_interval(days => $1) order by at limit $2)",
    )
    .bind(days)
    .bind(limit)
    .execute(conn)
    .await?;
    Ok(deleted.rows_affected())
}
