//! The commitments that a session may begin with: what is due soon, and what was due lately.

use jiff::{SignedDuration, Timestamp};
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx};
use memory_core::id::Namespace;
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::projects::PROJECT_TAG;
use crate::{Conn, StoreError};

/// What was due longer ago than this is counted, not listed.
const LATELY: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A commitment that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCommitment {
    pub event_id: String,
    pub narrative: String,
    /// When it was made or said.
    pub at: Timestamp,
    pub due: Option<Timestamp>,
    /// The text that tells it, and its place in a conversation.
    pub artifact_id: String,
    pub said_at: Timestamp,
    pub turn: Option<(String, i32)>,
}

/// The first of each kind, and how many there are of it in all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenCommitments {
    /// Due in the last 30 days, the latest first.
    pub overdue: Vec<OpenCommitment>,
    pub overdue_total: i64,
    /// Due before that.
    pub long_overdue_total: i64,
    /// The next due first, what has no due time behind them.
    pub open: Vec<OpenCommitment>,
    pub open_total: i64,
}

/// The open commitments of projects, which are named by their tags, and of no project; of all where none is named. At most `limit`
/// of each kind.
pub async fn open_commitments(
    conn: &mut Conn,
    ns: &Namespace,
    projects: &[String],
    now: Timestamp,
    limit: i64,
) -> Result<OpenCommitments, StoreError> {
    let lately = now.checked_sub(LATELY).unwrap_or(now);
    let rows = sqlx::query(include_str!("sql/open_commitments.sql"))
        .bind(ns.as_str())
        .bind(now.to_sqlx())
        .bind(lately.to_sqlx())
        .bind(projects)
        .bind(PROJECT_TAG)
        .bind(limit)
        .fetch_all(conn)
        .await?;
    let mut all = OpenCommitments::default();
    for row in &rows {
        all.overdue_total = row.try_get("overdue_total")?;
        all.long_overdue_total = row.try_get("long_overdue_total")?;
        all.open_total = row.try_get("open_total")?;
        match row.try_get::<Option<&str>, _>("state")? {
            None => {}
            Some("overdue") => all.overdue.push(commitment(row)?),
            Some(_) => all.open.push(commitment(row)?),
        }
    }
    Ok(all)
}

fn commitment(row: &PgRow) -> Result<OpenCommitment, StoreError> {
    let conversation: Option<String> = row.try_get("conversation_id")?;
    let turn: Option<i32> = row.try_get("turn_index")?;
    Ok(OpenCommitment {
        event_id: row.try_get("event_id")?,
        narrative: row.try_get("narrative")?,
        at: row.try_get::<SqlTimestamp, _>("at")?.to_jiff(),
        due: row.try_get::<Option<SqlTimestamp>, _>("due_time")?.map(SqlTimestamp::to_jiff),
        artifact_id: row.try_get("artifact_id")?,
        said_at: row.try_get::<SqlTimestamp, _>("said_at")?.to_jiff(),
        turn: conversation.zip(turn),
    })
}
