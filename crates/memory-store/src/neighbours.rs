//! The passages before and after a passage.

use memory_core::id::{Namespace, PassageId};
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::{Conn, StoreError};

/// A turn, or a passage of the same text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    pub artifact_id: String,
    /// It is before the hit.
    pub is_before: bool,
    pub author: Option<String>,
    pub role: Option<String>,
    /// Set for a turn of a conversation.
    pub turn_index: Option<i32>,
    /// Where it begins in its text, in characters.
    pub start_char: i32,
    /// Its text, or as much of it as was asked for.
    pub text: String,
    pub is_cut: bool,
}

/// The place of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turns {
    pub of: PassageId,
    pub conversation_id: String,
    pub turn_index: i32,
}

/// Up to `each` latest turns before and after each of these, in order, with at most `max_chars` of their texts.
pub async fn turns(
    conn: &mut Conn,
    ns: &Namespace,
    given: &[Turns],
    each: i64,
    max_chars: i32,
) -> Result<Vec<(PassageId, Neighbour)>, StoreError> {
    if given.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(include_str!("sql/neighbour_turns.sql"))
        .bind(ns.as_str())
        .bind(given.iter().map(|turn| turn.of.0).collect::<Vec<_>>())
        .bind(given.iter().map(|turn| turn.conversation_id.as_str()).collect::<Vec<_>>())
        .bind(given.iter().map(|turn| turn.turn_index).collect::<Vec<_>>())
        .bind(each)
        .bind(max_chars)
        .fetch_all(conn)
        .await?;
    rows.iter().map(neighbour_of).collect()
}

/// Up to `each` lines before and after each of these that are lines of talks, in order, with at most `max_chars` of their texts.
pub async fn lines(
    conn: &mut Conn,
    ns: &Namespace,
    given: &[PassageId],
    each: i64,
    max_chars: i32,
) -> Result<Vec<(PassageId, Neighbour)>, StoreError> {
    if given.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(include_str!("sql/neighbour_lines.sql"))
        .bind(ns.as_str())
        .bind(given.iter().map(|id| id.0).collect::<Vec<_>>())
        .bind(each)
        .bind(max_chars)
        .fetch_all(conn)
        .await?;
    rows.iter().map(neighbour_of).collect()
}

/// Up to `each` passages before and after each of these in the same text, in order, with at most `max_chars` of
/// each; what a passage shares with the hit is left out.
pub async fn passages(
    conn: &mut Conn,
    ns: &Namespace,
    given: &[PassageId],
    each: i32,
    max_chars: i32,
) -> Result<Vec<(PassageId, Neighbour)>, StoreError> {
    if given.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(include_str!("sql/neighbour_passages.sql"))
        .bind(ns.as_str())
        .bind(given.iter().map(|id| id.0).collect::<Vec<_>>())
        .bind(each)
        .bind(max_chars)
        .fetch_all(conn)
        .await?;
    rows.iter().map(neighbour_of).collect()
}

fn neighbour_of(row: &PgRow) -> Result<(PassageId, Neighbour), StoreError> {
    Ok((
        PassageId(row.try_get("of_passage")?),
        Neighbour {
            artifact_id: row.try_get("artifact_id")?,
            is_before: row.try_get("is_before")?,
            author: row.try_get("author")?,
            role: row.try_get("role")?,
            turn_index: row.try_get("turn_index")?,
            start_char: row.try_get("start_char")?,
            text: row.try_get("text")?,
            is_cut: row.try_get("is_cut")?,
        },
    ))
}
