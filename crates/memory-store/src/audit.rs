//! The audit: who did what, when, on which ids, and how it ended.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::access::KeyId;
use memory_core::id::Namespace;
use sqlx::Row;

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

/// The newest entries that are meant, newest first.
pub async fn list(conn: &mut Conn, filter: &AuditFilter, limit: i64) -> Result<Vec<Recorded>, StoreError> {
    let rows = sqlx::query(
        "select audit_id, at, key_id, who, namespace, action, ids, outcome
         from audit_entry
         where ($1::text is null or namespace = $1 or namespace is null)
           and ($2::text is null or key_id = $2 or who = $2)
           and ($3::text is null or ids @> array[$3])
           and ($4::text is null or action = $4)
           and ($5::bigint is null or audit_id < $5)
         order by audit_id desc
         limit $6",
    )
    .bind(filter.namespace.as_ref().map(Namespace::as_str))
    .bind(&filter.who)
    .bind(&filter.id)
    .bind(&filter.action)
    .bind(filter.before)
    .bind(limit)
    .fetch_all(conn)
    .await?;
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
