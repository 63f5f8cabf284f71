//! What related events and entities of results are found by, as a process keeps it in memory.

use futures::TryStreamExt;
use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::id::Namespace;
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::{Conn, StoreError};

/// One row of what hangs together.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkedRow {
    Event {
        event_id: String,
        revision_id: i64,
        is_latest: bool,
    },
    /// An entity acts in an event, or is the matter of it.
    Link {
        event_id: String,
        entity_id: i64,
        as_actor: bool,
        occurred_at: Timestamp,
    },
    Mention {
        revision_id: i64,
        entity_id: i64,
    },
    /// A name that a revision has for an entity.
    Name {
        revision_id: i64,
        entity_id: i64,
        alias: String,
        normalised: String,
    },
    Entity {
        entity_id: i64,
        /// What it counts as, where that is another.
        canonical_id: Option<i64>,
        name: String,
        normalised: String,
        entity_type: String,
    },
    /// Two entities that may be the same; nobody has decided.
    Candidate {
        low_id: i64,
        high_id: i64,
        score: f32,
    },
}

/// Reads all of a namespace; `take` is given one row after the other, events before what refers to them.
pub(super) async fn linked_all(
    conn: &mut Conn,
    ns: &Namespace,
    mut take: impl FnMut(LinkedRow) + Send,
) -> Result<(), StoreError> {
    let mut rows = sqlx::query(include_str!("../sql/linked_all.sql")).bind(ns.as_str()).fetch(conn);
    while let Some(row) = rows.try_next().await? {
        take(linked(&row)?);
    }
    Ok(())
}

/// Reads what these revisions have, the entities that they refer to, and those given with their candidates.
pub async fn linked_of(
    conn: &mut Conn,
    ns: &Namespace,
    revisions: &[i64],
    entities: &[i64],
) -> Result<Vec<LinkedRow>, StoreError> {
    let rows = sqlx::query(include_str!("../sql/linked_of.sql"))
        .bind(ns.as_str())
        .bind(revisions)
        .bind(entities)
        .fetch_all(conn)
        .await?;
    rows.iter().map(linked).collect()
}

fn linked(row: &PgRow) -> Result<LinkedRow, StoreError> {
    let number = |column: &str| row.try_get::<i64, _>(column);
    let text = |column: &str| row.try_get::<String, _>(column);
    Ok(match row.try_get::<i32, _>("kind")? {
        1 => LinkedRow::Event {
            event_id: text("first")?,
            revision_id: number("one")?,
            is_latest: row.try_get("is_so")?,
        },
        2 => LinkedRow::Link {
            event_id: text("first")?,
            entity_id: number("one")?,
            as_actor: row.try_get("is_so")?,
            occurred_at: row.try_get::<SqlTimestamp, _>("at")?.to_jiff(),
        },
        3 => LinkedRow::Mention { revision_id: number("one")?, entity_id: number("other")? },
        4 => LinkedRow::Name {
            revision_id: number("one")?,
            entity_id: number("other")?,
            alias: text("first")?,
            normalised: text("second")?,
        },
        5 => LinkedRow::Entity {
            entity_id: number("one")?,
            canonical_id: row.try_get("other")?,
            name: text("first")?,
            normalised: text("second")?,
            entity_type: text("third")?,
        },
        _ => LinkedRow::Candidate {
            low_id: number("one")?,
            high_id: number("other")?,
            score: row.try_get("score")?,
        },
    })
}
