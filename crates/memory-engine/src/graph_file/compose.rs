//! The text of a graph's file, whole: lines of the rows that have not changed are taken from the text before.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{Stream, TryStreamExt};
use memory_core::graph_jsonl::{write_entity, write_relation};
use memory_store::graph::{self, RowState, Thread};
use memory_store::{Conn, StoreError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The lines of one file are kept up to so many kibibytes, those of all files of the process …
const CACHE_MAX_KIB: usize = 64 << 10;
const CACHE_MAX_KIB_IN_ALL: usize = 256 << 10;
/// … and until nothing was written for so long.
pub(super) const CACHE_IDLE: Duration = Duration::from_mins(2);

/// How much the files of the process may keep in all, in kibibytes.
#[derive(Clone)]
pub(super) struct CacheBudget(Arc<Semaphore>);

impl Default for CacheBudget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(CACHE_MAX_KIB_IN_ALL)))
    }
}

/// A graph as its file has it, with the rows behind its lines.
#[derive(Default)]
pub(super) struct Composed {
    pub(super) text: Vec<u8>,
    entities: Vec<Line>,
    relations: Vec<Line>,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    row: RowState,
    start: usize,
    end: usize,
}

/// What was written, kept for the next writing.
pub(super) struct CachedFile {
    pub(super) composed: Arc<Composed>,
    written_at: Instant,
    _share: OwnedSemaphorePermit,
}

impl CachedFile {
    /// `None` where there is no room for it.
    pub(super) fn keep(composed: Arc<Composed>, budget: &CacheBudget) -> Option<Self> {
        let lines = composed.entities.capacity() + composed.relations.capacity();
        let kib = (composed.text.capacity() + lines * size_of::<Line>()).div_ceil(1024);
        if kib > CACHE_MAX_KIB {
            return None;
        }
        let share = Arc::clone(&budget.0).try_acquire_many_owned(kib as u32).ok()?;
        Some(Self { composed, written_at: Instant::now(), _share: share })
    }

    pub(super) fn is_idle(&self) -> bool {
        self.written_at.elapsed() >= CACHE_IDLE
    }
}

/// The graph as its file is to have it.
pub(super) async fn compose(
    conn: &mut Conn,
    thread: &Thread,
    old: &Composed,
) -> Result<Composed, StoreError> {
    let mut text = Vec::with_capacity(old.text.len() + 4_096);
    let rows = graph::entity_states(conn, thread).await?;
    let (known, missing) = compare(&rows, &old.entities);
    let read = graph::stream_entities(conn, thread, &missing);
    let entities = append(&mut text, &old.text, (rows, known), read, write_entity).await?;
    let rows = graph::relation_states(conn, thread).await?;
    let (known, missing) = compare(&rows, &old.relations);
    let read = graph::stream_relations(conn, thread, &missing);
    let relations = append(&mut text, &old.text, (rows, known), read, write_relation).await?;
    Ok(Composed { text, entities, relations })
}

/// For each row its line, if it has not changed; and the ids of the other rows. Rows and lines stand in the order of
/// their ids.
fn compare(rows: &[RowState], old: &[Line]) -> (Vec<Option<Line>>, Vec<i64>) {
    let mut old = old.iter().peekable();
    let mut missing = Vec::new();
    let known = rows.iter().map(|row| {
        while old.next_if(|line| line.row.id < row.id).is_some() {}
        let line = old.peek().filter(|line| line.row == *row).map(|line| **line);
        if line.is_none() {
            missing.push(row.id);
        }
        line
    });
    (known.collect(), missing)
}

/// Appends the lines of the rows: from the text before where they are known, else from what is read.
async fn append<T>(
    text: &mut Vec<u8>,
    old: &[u8],
    (rows, known): (Vec<RowState>, Vec<Option<Line>>),
    read: impl Stream<Item = Result<(i64, T), StoreError>>,
    write: impl Fn(&mut Vec<u8>, &T),
) -> Result<Vec<Line>, StoreError> {
    let mut read = pin!(read);
    let mut lines = Vec::with_capacity(rows.len());
    for (row, known) in rows.into_iter().zip(known) {
        if !text.is_empty() {
            text.push(b'\n');
        }
        let start = text.len();
        match known {
            Some(line) => text.extend_from_slice(&old[line.start..line.end]),
            None => {
                let read = read.try_next().await?.filter(|(id, _)| *id == row.id);
                write(text, &read.ok_or(StoreError::Conflict)?.1);
            }
        }
        lines.push(Line { row, start, end: text.len() });
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: i64, written_by: i64) -> RowState {
        RowState { id, written_by }
    }

    #[test]
    fn a_row_that_was_written_since_or_is_new_has_no_line() {
        let line = |row| Line { row, start: 0, end: 1 };
        let old = [line(row(1, 5)), line(row(2, 5)), line(row(4, 6)), line(row(7, 5))];
        let rows = [row(1, 5), row(3, 9), row(4, 9), row(7, 5), row(8, 9)];
        let (known, missing) = compare(&rows, &old);
        assert_eq!(known.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false, true, false]);
        assert_eq!(missing, [3, 4, 8]);
    }

    #[test]
    fn all_files_together_keep_no_more_than_they_may() {
        let budget = CacheBudget::default();
        let of = |mebibytes: usize| {
            let composed = Composed { text: Vec::with_capacity(mebibytes << 20), ..Composed::default() };
            CachedFile::keep(Arc::new(composed), &budget)
        };
        assert!(of(65).is_none(), "one is too large");
        let mut kept: Vec<_> = (0..4).map(|_| of(60).expect("there is room")).collect();
        assert!(of(60).is_none());
        kept.pop();
        assert!(of(60).is_some());
    }
}
