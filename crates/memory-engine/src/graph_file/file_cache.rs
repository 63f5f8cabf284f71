//! The lines of a graph's file, cached with the rows behind them: a new file is composed of cached lines and of those
//! rows that have changed since.

use std::io;
use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use memory_core::graph_jsonl::{write_entity, write_relation};
use memory_store::graph::{self, RowState, Thread};
use memory_store::{Conn, StoreError};

use super::disk::Draft;

/// About how much text is written to the file at a time.
const TEXT_AT_ONCE: usize = 1_000_000;
/// How many rows are compared at a time.
const ROWS_AT_ONCE: usize = 5_000;
/// The lines of one file are kept up to so many bytes, those of all files of the process …
const CACHE_MAX_BYTES: usize = 64 << 20;
const CACHE_MAX_BYTES_IN_ALL: usize = 256 << 20;
/// … and until nothing was written for so long.
pub(super) const CACHE_IDLE: Duration = Duration::from_mins(2);

/// Why a file could not be composed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ComposeError {
    #[error(transparent)]
    Disk(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How many bytes the caches of the process have in all.
#[derive(Debug, Clone, Default)]
pub(super) struct CacheBudget(Arc<AtomicUsize>);

/// A graph as its file has it, with the rows behind its lines.
#[derive(Debug, Default)]
pub(super) struct CachedFile {
    text: Vec<u8>,
    entities: Vec<Line>,
    relations: Vec<Line>,
    written_at: Option<Instant>,
    share: Option<Share>,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    row: RowState,
    start: u32,
    end: u32,
}

/// What a cache takes of [`CacheBudget`], until it is dropped.
#[derive(Debug)]
struct Share {
    kept: CacheBudget,
    bytes: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.kept.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl CachedFile {
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    pub(super) fn is_idle(&self) -> bool {
        self.written_at.is_none_or(|at| at.elapsed() >= CACHE_IDLE)
    }

    fn line(&self, line: Line) -> &[u8] {
        &self.text[line.start as usize..line.end as usize]
    }

    /// Takes its share of the budget; `None` when that is spent.
    fn keep(mut self, kept: &CacheBudget) -> Option<Self> {
        self.text.shrink_to_fit();
        let bytes = self.text.len() + (self.entities.len() + self.relations.len()) * size_of::<Line>();
        let share = Share { kept: kept.clone(), bytes };
        let before = kept.0.fetch_add(bytes, Ordering::Relaxed);
        self.share = Some(share);
        self.written_at = Some(Instant::now());
        (before + bytes <= CACHE_MAX_BYTES_IN_ALL).then_some(self)
    }
}

/// One writing of a file.
pub(super) struct Composing<'a> {
    conn: &'a mut Conn,
    thread: &'a Thread,
    out: Out<'a>,
    old: &'a CachedFile,
}

/// Where the lines go: into the file, and into memory as long as there is room.
struct Out<'a> {
    draft: &'a mut Draft,
    /// Not in the file yet.
    part: Vec<u8>,
    has_begun: bool,
    lines: Option<CachedFile>,
}

#[derive(Clone, Copy)]
enum Kind {
    Entity,
    Relation,
}

impl<'a> Composing<'a> {
    pub(super) fn new(
        conn: &'a mut Conn,
        thread: &'a Thread,
        draft: &'a mut Draft,
        old: &'a CachedFile,
    ) -> Self {
        let out = Out { draft, part: Vec::new(), has_begun: false, lines: Some(CachedFile::default()) };
        Self { conn, thread, out, old }
    }

    /// Writes the draft; gives its lines if they may be kept.
    pub(super) async fn compose(mut self, kept: &CacheBudget) -> Result<Option<CachedFile>, ComposeError> {
        self.entities().await?;
        self.relations().await?;
        self.out.pass_on(true).await?;
        Ok(self.out.lines.and_then(|lines| lines.keep(kept)))
    }

    async fn entities(&mut self) -> Result<(), ComposeError> {
        let Self { conn, thread, out, old } = self;
        let (mut after, mut at) = (0, 0);
        loop {
            let rows = graph::entity_states_after(conn, thread, after, ROWS_AT_ONCE).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.id;
            let (known, missing) = compare(&rows, &old.entities, &mut at);
            let mut read = pin!(graph::stream_entities(conn, thread, &missing));
            for (row, known) in rows.into_iter().zip(known) {
                if let Some(line) = known {
                    out.put(Kind::Entity, row, |part| part.extend_from_slice(old.line(line)));
                } else {
                    let read = read.try_next().await?.filter(|(id, _)| *id == row.id);
                    let (_, entity) = read.ok_or(StoreError::Conflict)?;
                    out.put(Kind::Entity, row, |part| write_entity(part, &entity));
                }
                out.pass_on(false).await?;
            }
        }
    }

    async fn relations(&mut self) -> Result<(), ComposeError> {
        let Self { conn, thread, out, old } = self;
        let (mut after, mut at) = (0, 0);
        loop {
            let rows = graph::relation_states_after(conn, thread, after, ROWS_AT_ONCE).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.id;
            let (known, missing) = compare(&rows, &old.relations, &mut at);
            let mut read = pin!(graph::stream_relations(conn, thread, &missing));
            for (row, known) in rows.into_iter().zip(known) {
                if let Some(line) = known {
                    out.put(Kind::Relation, row, |part| part.extend_from_slice(old.line(line)));
                } else {
                    let read = read.try_next().await?.filter(|(id, _)| *id == row.id);
                    let (_, relation) = read.ok_or(StoreError::Conflict)?;
                    out.put(Kind::Relation, row, |part| write_relation(part, &relation));
                }
                out.pass_on(false).await?;
            }
        }
    }
}

/// For each row its line, if it has not changed; and the ids of the other rows. Rows and lines stand in the order of
/// their ids; lines up to `at` are behind.
fn compare(rows: &[RowState], old: &[Line], at: &mut usize) -> (Vec<Option<Line>>, Vec<i64>) {
    let mut missing = Vec::new();
    let known = rows.iter().map(|row| {
        while old.get(*at).is_some_and(|line| line.row.id < row.id) {
            *at += 1;
        }
        let line = old.get(*at).filter(|line| line.row == *row).copied();
        if line.is_none() {
            missing.push(row.id);
        }
        line
    });
    (known.collect(), missing)
}

impl Out<'_> {
    /// The next line; `write` appends it.
    fn put(&mut self, kind: Kind, row: RowState, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.part.len();
        if mem::replace(&mut self.has_begun, true) {
            self.part.push(b'\n');
        }
        let start = self.part.len();
        write(&mut self.part);
        let Some(lines) = &mut self.lines else { return };
        if lines.text.len() + self.part.len() - before > CACHE_MAX_BYTES {
            self.lines = None;
            return;
        }
        lines.text.extend_from_slice(&self.part[before..]);
        let end = lines.text.len();
        let line = Line { row, start: (end - (self.part.len() - start)) as u32, end: end as u32 };
        match kind {
            Kind::Entity => lines.entities.push(line),
            Kind::Relation => lines.relations.push(line),
        }
    }

    /// Passes on what has gathered, if it is much.
    async fn pass_on(&mut self, is_last: bool) -> io::Result<()> {
        if is_last || self.part.len() >= TEXT_AT_ONCE {
            self.draft.write(&self.part).await?;
            self.part.clear();
        }
        Ok(())
    }
}
