//! Conversations as they were held: turns in order.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::id::Namespace;
use sqlx::Row;

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
}

/// The latest revision of each turn in order, from the `offset`th; and how many turns there are.
pub async fn conversation(
    conn: &mut Conn,
    ns: &Namespace,
    conversation_id: &str,
    offset: i64,
    limit: i64,
) -> Result<(Vec<Turn>, i64), StoreError> {
    let rows = sqlx::query(
        "select r.artifact_id, r.role, r.author, r.turn_index, coalesce(r.date, r.created_at) as ts, a.content
         from artifact_revision r
         join artifact a using (namespace, artifact_id)
         where r.namespace = $1 and r.conversation_id = $2 and r.turn_index is not null and r.is_latest
         order by r.turn_index
         offset $3 limit $4",
    )
    .bind(ns.as_str())
    .bind(conversation_id)
    .bind(offset)
    .bind(limit)
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
            })
        })
        .collect::<Result<Vec<_>, StoreError>>()?;
    Ok((turns, total))
}
