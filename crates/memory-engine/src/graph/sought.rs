//! Which entities a page shows, and how those that match a query are found.

use std::collections::HashSet;

use memory_store::Conn;
use memory_store::graph::{self, Pattern, Thread};

use crate::EngineError;

/// A search looks at this many entities one by one before it decides how to go on, …
const WINDOW_FIRST: usize = 128;
/// … and at no more than this many before it decides again.
const WINDOW_MAX: usize = 4_096;
/// What a search by the trigram indexes costs at least, and what each match adds, where looking at an entity
/// costs 1; measured.
const TRIGRAM_COST: f64 = 1_000.0;
const TRIGRAM_COST_OF_MATCH: f64 = 1.5;

/// Which entities are looked for.
#[derive(Clone, Copy)]
pub(super) enum Sought<'a> {
    All,
    Meeting(&'a Pattern),
    /// In order.
    Listed(&'a [i64]),
}

impl Sought<'_> {
    /// The next `limit` of them after one.
    pub(super) async fn after(
        self,
        conn: &mut Conn,
        thread: &Thread,
        after: i64,
        limit: usize,
    ) -> Result<Vec<i64>, EngineError> {
        match self {
            Self::All => Ok(graph::ids_after(conn, thread, after, limit).await?),
            Self::Meeting(pattern) => find(conn, thread, pattern, after, limit).await,
            Self::Listed(ids) => Ok(ids.iter().copied().filter(|id| *id > after).take(limit).collect()),
        }
    }

    /// Which of these are among them.
    pub(super) async fn among(
        self,
        conn: &mut Conn,
        thread: &Thread,
        ids: &[i64],
    ) -> Result<HashSet<i64>, EngineError> {
        Ok(match self {
            Self::All => ids.iter().copied().collect(),
            Self::Meeting(pattern) => {
                graph::matching_among(conn, thread, pattern, ids).await?.into_iter().collect()
            }
            Self::Listed(listed) => {
                ids.iter().copied().filter(|id| listed.binary_search(id).is_ok()).collect()
            }
        })
    }
}

/// The next `limit` entities that match. It walks the thread in order; where the matches so far are so few
/// that finding all of them by the trigram indexes will be less work, it does that.
async fn find(
    conn: &mut Conn,
    thread: &Thread,
    pattern: &Pattern,
    mut after: i64,
    limit: usize,
) -> Result<Vec<i64>, EngineError> {
    let mut found = Vec::new();
    let mut walked = 0;
    let mut window = WINDOW_FIRST;
    loop {
        let step = graph::walk(conn, thread, pattern, after, window).await?;
        walked += step.entities;
        found.extend(step.matching);
        let Some(last) = step.last.filter(|_| step.entities == window && found.len() < limit) else { break };
        after = last;
        let missing = limit - found.len();
        let share = (found.len() as f64 + 0.5) / walked as f64;
        let all = thread.entities as f64;
        let to_walk = (missing as f64 / share).min(all);
        let by_trigrams = TRIGRAM_COST + TRIGRAM_COST_OF_MATCH * share * all;
        if pattern.has_trigram() && by_trigrams < to_walk {
            found.extend(graph::by_trigrams(conn, thread, pattern, after, missing).await?);
            break;
        }
        window = (to_walk * 1.2).clamp(WINDOW_FIRST as f64, WINDOW_MAX as f64) as usize;
    }
    found.truncate(limit);
    Ok(found)
}
