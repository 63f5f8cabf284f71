//! Conversations as they were held: turns in order.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::id::Namespace;
use sqlx::{AssertSqlSafe, Row};

use crate::{Conn, StoreError};

/// One turn of a conversation as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub artifact_id: String,
    pub role: Option<String>,
    pub author: Option<String>,
    pub turn_index: i32,
    pub ts: Timestamp,
    pub content: String,
    pub is_cut: bool,
}

/// Which turns of a conversation are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnPage {
    /// From the last turn backwards.
    pub newest_first: bool,
    /// Those behind this one, in their order.
    pub after: Option<i32>,
    pub limit: i64,
    /// The most that is shown of one, in characters.
    pub max_chars: i32,
}

/// The latest revision of each turn of a page in order; and how many turns there are.
pub async fn conversation(
    conn: &mut Conn,
    ns: &Namespace,
    conversation_id: &str,
    page: TurnPage,
) -> Result<(Vec<Turn>, i64), StoreError> {
    let (beyond, order) = if page.newest_first { ("<", "desc") } else { (">", "asc") };
    let rows = sqlx::query(AssertSqlSafe(format!(
        "select r.artifact_id, r.role, r.author, r.turn_index, coalesce(r.date, r.created_at) as ts,
                left(a.content, $5) as content, a.char_count > $5 as is_cut
         from artifact_revision r
         join artifact a using (namespace, artifact_id)
         where r.namespace = $1 and r.conversation_id = $2 and r.turn_index is not null and r.is_latest
           and ($3::int is null or r.turn_index {beyond} $3)
         order by r.turn_index {order}
         limit $4"
    )))
    .bind(ns.as_str())
    .bind(conversation_id)
    .bind(page.after)
    .bind(page.limit)
    .bind(page.max_chars)
    .fetch_all(&mut *conn)
    .await?;
    let total: i64 = sqlx::query_scalar(
        "select count(*) from artifact_revision
         where namespace = $1 and conversation_id = $2 and turn_index is not null and is_latest",
    )
    .bind(ns.as_str())
    .bind(conversation_id)
    .fetch_one(conn)
    .await?;
    let turns = rows
        .iter()
        .map(|row| {
            Ok(Turn {
                artifact_id: row.try_get("artifact_id")?,
                role: row.try_get("role")?,
                author: row.try_get("author")?,
                turn_index: row.try_get("turn_index")?,
                ts: row.try_get::<SqlTimestamp, _>("ts")?.to_jiff(),
                content: row.try_get("content")?,
                is_cut: row.try_get("is_cut")?,
            })
        })
        .collect::<Result<Vec<_>, StoreError>>()?;
    Ok((turns, total))
}
