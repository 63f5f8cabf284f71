//! Passages as a process keeps them in memory to search there, and what has changed of them since.

use std::sync::LazyLock;

use futures::TryStreamExt;
use memory_core::id::Namespace;
use sqlx::Row;
use sqlx::postgres::{PgRow, PgValueFormat};

use super::candidates::{ASKS, Candidate, IS_QUESTION, candidate_of};
use super::linked::{LinkedRow, linked_all};
use crate::passages::lexeme_key;
use crate::{Conn, Store, StoreError};

static READ: LazyLock<String> = LazyLock::new(|| {
    let statement = include_str!("../sql/read_passages.sql");
    statement.replace("/*asks*/", ASKS).replace("/*is_question*/", IS_QUESTION)
});
static READ_SOME: LazyLock<String> = LazyLock::new(|| format!("{} and r.revision_id = any($3)", *READ));

/// What had been committed when something was read, as Postgres writes a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Horizon(String);

/// What was committed since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// Those whose passages are others now, have other vectors, or are gone; or in which something else was found.
    pub revisions: Vec<i64>,
    /// Entities of which something else has changed than what texts say of them.
    pub entities: Vec<i64>,
    /// Where the next question goes on.
    pub horizon: Horizon,
}

impl Changes {
    pub fn are_none(&self) -> bool {
        self.revisions.is_empty() && self.entities.is_empty()
    }
}

/// A passage with all that it is found and ranked by.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedPassage {
    /// Without a cosine similarity.
    pub candidate: Candidate,
    /// Of the model that was asked for; of unit length.
    pub vector: Option<Vec<f32>>,
    /// How many words it has.
    pub length: f32,
    /// How often each lexeme occurs in it.
    pub lexemes: Vec<(String, u16)>,
}

/// What of the namespace has changed since; `None` where more than `limit` notes would have to be read.
pub async fn changed_since(
    conn: &mut Conn,
    ns: &Namespace,
    Horizon(since): &Horizon,
    limit: i64,
) -> Result<Option<Changes>, StoreError> {
    let (horizon, notes, revisions, entities): (String, i64, Vec<i64>, Vec<i64>) = sqlx::query_as(
        "with note as materialized (
             select revisions, entities from search_change
             where namespace = $1 and at >= pg_snapshot_xmin($2::pg_snapshot)
               and not pg_visible_in_snapshot(at, $2::pg_snapshot)
             limit $3
         )
         select pg_current_snapshot()::text, (select count(*) from note),
                array(select distinct unnest(revisions) from note), array(select distinct unnest(entities) from note)",
    )
    .bind(ns.as_str())
    .bind(since)
    .bind(limit + 1)
    .fetch_one(conn)
    .await?;
    Ok((notes <= limit).then_some(Changes { revisions, entities, horizon: Horizon(horizon) }))
}

/// Deletes notes that are older than `days`; a process that has not asked for so long reads everything again.
pub async fn forget_changes(conn: &mut Conn, days: i32) -> Result<u64, StoreError> {
    Ok(sqlx::query("delete from search_change where noted_at < now() - make_interval(days => $1)")
        .bind(days)
        .execute(conn)
        .await?
        .rows_affected())
}

/// What is read of a namespace.
#[derive(Debug, Clone, PartialEq)]
pub enum Read {
    Passage(Box<IndexedPassage>),
    Linked(LinkedRow),
}

/// Reads all passages of the namespace's revisions and what hangs together with them as they are at one moment, and gives that.
/// `take` is given one after the other, passages first, and says whether it wants more.
pub async fn read_all(
    store: &Store,
    ns: &Namespace,
    model_id: i16,
    mut take: impl FnMut(Read) -> bool + Send,
) -> Result<Horizon, StoreError> {
    let mut wants_more = true;
    let mut tx = store.begin_snapshot(ns).await?;
    let horizon = sqlx::query_scalar("select pg_current_snapshot()::text").fetch_one(&mut *tx).await?;
    {
        let mut rows = sqlx::query(READ.as_str()).bind(ns.as_str()).bind(model_id).fetch(&mut *tx);
        while let Some(row) = rows.try_next().await? {
            wants_more = take(Read::Passage(Box::new(indexed(&row, ns)?)));
            if !wants_more {
                break;
            }
        }
    }
    if wants_more {
        linked_all(&mut tx, ns, |row| {
            take(Read::Linked(row));
        })
        .await?;
    }
    tx.commit().await?;
    Ok(Horizon(horizon))
}

/// The passages of these revisions, as far as they are there.
pub async fn passages_of(
    conn: &mut Conn,
    ns: &Namespace,
    model_id: i16,
    revisions: &[i64],
) -> Result<Vec<IndexedPassage>, StoreError> {
    let rows = sqlx::query(READ_SOME.as_str())
        .bind(ns.as_str())
        .bind(model_id)
        .bind(revisions)
        .fetch_all(conn)
        .await?;
    rows.iter().map(|row| indexed(row, ns)).collect()
}

fn indexed(row: &PgRow, ns: &Namespace) -> Result<IndexedPassage, StoreError> {
    let lex = row.try_get_raw("lex")?;
    let unreadable = || sqlx::Error::Decode("a tsvector is not as Postgres sends it".into());
    if lex.format() != PgValueFormat::Binary {
        return Err(unreadable().into());
    }
    let bytes = lex.as_bytes().map_err(sqlx::Error::Decode)?;
    let vector: Option<pgvector::Vector> = row.try_get("embedding")?;
    Ok(IndexedPassage {
        lexemes: lexemes(bytes, &lexeme_key(ns)).ok_or_else(unreadable)?,
        length: row.try_get::<i32, _>("lex_length")? as f32,
        vector: vector.map(Into::into),
        candidate: candidate_of(row)?,
    })
}

/// The lexemes of a `tsvector` in Postgres' binary form, without the key of the namespace, and how often each occurs: the number
/// of lexemes, then for each its text up to a zero, how many positions it has, and these, in 16 bits each.
fn lexemes(bytes: &[u8], key: &str) -> Option<Vec<(String, u16)>> {
    let (count, mut rest) = bytes.split_first_chunk::<4>()?;
    let mut lexemes = Vec::with_capacity(u32::from_be_bytes(*count) as usize);
    for _ in 0..u32::from_be_bytes(*count) {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let text = std::str::from_utf8(&rest[..end]).ok()?;
        let (positions, after) = rest[end + 1..].split_first_chunk::<2>()?;
        let positions = u16::from_be_bytes(*positions);
        rest = after.get(usize::from(positions) * 2..)?;
        lexemes.push((text.strip_prefix(key).unwrap_or(text).to_owned(), positions.max(1)));
    }
    Some(lexemes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lexemes_are_read_with_how_often_they_occur() {
        let mut bytes = vec![0, 0, 0, 2];
        bytes.extend(b"nskeyapple\0");
        bytes.extend([0, 2, 0, 1, 0, 2]);
        bytes.extend(b"nskeypear\0");
        bytes.extend([0, 1, 0, 7]);
        let expected = vec![("apple".to_owned(), 2), ("pear".to_owned(), 1)];
        assert_eq!(lexemes(&bytes, "nskey"), Some(expected));
        assert_eq!(lexemes(&bytes[..bytes.len() - 1], "nskey"), None);
    }
}
