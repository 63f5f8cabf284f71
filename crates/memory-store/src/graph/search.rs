//! Finding entities by a substring of their folded name, type or observations.
//!
//! Two ways give the same answer: walking the thread in order, which is fast where matches are many, and the
//! trigram indexes, which are fast where they are few.

use memory_core::graph::fold;

use super::Thread;
use crate::{Conn, StoreError};

/// A prepared query: its folded form as a pattern in which every character is literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    like: String,
    has_trigram: bool,
}

impl Pattern {
    pub fn new(query: &str) -> Self {
        let folded = fold(query);
        let mut like = String::with_capacity(folded.len() + 2);
        like.push('%');
        for c in folded.chars() {
            if matches!(c, '%' | '_' | '\\') {
                like.push('\\');
            }
            like.push(c);
        }
        like.push('%');
        let has_trigram =
            folded.split(|c: char| !c.is_alphanumeric()).any(|run| run.chars().nth(2).is_some());
        Self { like, has_trigram }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.like
    }

    /// The trigram indexes narrow it down. Three letters or digits in a row are needed.
    pub fn has_trigram(&self) -> bool {
        self.has_trigram
    }
}

/// What a walk over some entities found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walked {
    /// The last entity that was looked at; `None` when there was none.
    pub last: Option<i64>,
    pub entities: usize,
    /// Those that match, in order.
    pub matching: Vec<i64>,
}

/// Looks at the next `window` entities of the thread.
pub async fn walk(
    conn: &mut Conn,
    thread: &Thread,
    pattern: &Pattern,
    after: i64,
    window: usize,
) -> Result<Walked, StoreError> {
    let (last, entities, matching): (Option<i64>, i64, Vec<i64>) =
        sqlx::query_as(include_str!("../sql/walk_entities.sql"))
            .bind(thread.ns.as_str())
            .bind(thread.id)
            .bind(&pattern.like)
            .bind(after)
            .bind(window as i64)
            .fetch_one(conn)
            .await?;
    Ok(Walked { last, entities: entities as usize, matching })
}

/// The next `limit` matching entities, found by finding all and sorting them.
pub async fn by_trigrams(
    conn: &mut Conn,
    thread: &Thread,
    pattern: &Pattern,
    after: i64,
    limit: usize,
) -> Result<Vec<i64>, StoreError> {
    Ok(sqlx::query_scalar(include_str!("../sql/entities_by_trigrams.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(&pattern.like)
        .bind(after)
        .bind(limit as i64)
        .fetch_all(conn)
        .await?)
}

/// Which of these entities match.
pub async fn matching_among(
    conn: &mut Conn,
    thread: &Thread,
    pattern: &Pattern,
    ids: &[i64],
) -> Result<Vec<i64>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    Ok(sqlx::query_scalar(include_str!("../sql/matching_among.sql"))
        .bind(thread.ns.as_str())
        .bind(thread.id)
        .bind(&pattern.like)
        .bind(ids)
        .fetch_all(conn)
        .await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_takes_every_character_for_itself() {
        let pattern = Pattern::new("50%_\\Ab");
        assert_eq!(pattern.like, "%50\\%\\_\\\\ab%");
        assert!(!pattern.has_trigram());
        assert!(Pattern::new("a 漢字仮 b").has_trigram());
        assert!(!Pattern::new("ab-cd ef").has_trigram());
        assert_eq!(Pattern::new("").like, "%%");
    }
}
