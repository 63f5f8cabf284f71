//! Writing a graph's file: what has not changed since the last time is copied, the rest is read.

use std::io;
use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use memory_core::graph_jsonl::{write_entity, write_relation};
use memory_store::graph::{self, InStep, RowState, Thread};
use memory_store::{Conn, StoreError};

use super::disk::{Draft, Stamp};
use super::file::{State, Turns};
use super::transfer::TEXT_AT_ONCE;
use crate::EngineError;

/// How often a file is written again that somebody else changed meanwhile.
const ATTEMPTS: usize = 5;
/// How many rows are looked at at a time.
const ROWS_AT_ONCE: usize = 5_000;
/// The lines of one file are kept up to so many bytes, those of all files of the process …
const LINES_MAX_BYTES: usize = 64 << 20;
const LINES_MAX_BYTES_IN_ALL: usize = 256 << 20;
/// … and until nothing was written for so long.
const LINES_IDLE: Duration = Duration::from_mins(2);

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
enum NotWritten {
    #[error(transparent)]
    Disk(#[from] io::Error),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<StoreError> for NotWritten {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

/// How many bytes of lines the process keeps.
#[derive(Debug, Clone, Default)]
pub(super) struct LinesKept(Arc<AtomicUsize>);

/// A graph as its file has it, with the rows behind its lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    text: Vec<u8>,
    entities: Vec<Line>,
    relations: Vec<Line>,
    used: Option<Instant>,
    share: Option<Share>,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    row: RowState,
    start: u32,
    end: u32,
}

/// What lines take of [`LinesKept`], until they are dropped.
#[derive(Debug)]
struct Share {
    kept: LinesKept,
    bytes: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.kept.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Lines {
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    fn line(&self, line: Line) -> &[u8] {
        &self.text[line.start as usize..line.end as usize]
    }

    /// Puts them on the account; `None` when that is full.
    fn keep(mut self, kept: &LinesKept) -> Option<Self> {
        self.text.shrink_to_fit();
        let bytes = self.text.len() + (self.entities.len() + self.relations.len()) * size_of::<Line>();
        let share = Share { kept: kept.clone(), bytes };
        let before = kept.0.fetch_add(bytes, Ordering::Relaxed);
        self.share = Some(share);
        self.used = Some(Instant::now());
        (before + bytes <= LINES_MAX_BYTES_IN_ALL).then_some(self)
    }
}

impl Turns {
    /// Writes the file; what keeps it from being written is what the next answer says.
    pub(super) async fn settle(&self, state: &mut State) {
        state.is_owed = true;
        match self.write(state).await {
            Ok(()) => {
                state.is_owed = false;
                state.failure = None;
            }
            Err(error) => {
                let failure = format!(
                    "The graph's file {} was not written: {}. The change is kept and will be in the file as soon as a \
                     later one can be written there.",
                    self.file.path(),
                    error.to_string().trim_end_matches('.')
                );
                tracing::warn!(failure);
                state.notices.push(failure.clone());
                state.failure = Some(failure);
            }
        }
    }

    async fn write(&self, state: &mut State) -> Result<(), NotWritten> {
        for _ in 0..ATTEMPTS {
            self.catch_up(state).await?;
            if self.try_write(state).await? {
                return Ok(());
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "another program keeps writing it").into())
    }

    /// `false` when somebody else has written the file meanwhile.
    async fn try_write(&self, state: &mut State) -> Result<bool, NotWritten> {
        let mut tx = self.store.begin_snapshot().await.map_err(EngineError::from)?;
        let thread = graph::find_thread(&mut tx, &self.ns, &self.scope).await.map_err(EngineError::from)?;
        let Some(thread) = thread else { return Ok(true) };
        let mut draft = Draft::begin(self.file.path())?;
        let old = state.lines.take().unwrap_or_default();
        state.lines = Composing::new(&mut tx, &thread, &mut draft, &old).compose(&self.lines_kept).await?;
        drop((tx, old));
        draft.sync().await?;
        let now = Stamp::of(self.file.path()).await?;
        if !state.seen.is_some_and(|seen| seen.seems_to_be(now)) {
            return Ok(false);
        }
        let (sha256, seen) = draft.put_in_place().await?;
        state.seen = Some(seen);
        state.written = thread.version;
        let in_step = InStep { version: thread.version, sha256: Some(sha256) };
        let noted = async {
            let mut tx = self.store.begin().await?;
            tx.may_be_lost().await?;
            graph::note_in_step(&mut tx, &thread, in_step).await?;
            tx.commit().await
        };
        if let Err(error) = noted.await {
            // The next process finds a file that it does not know, reads it, and finds the graph as it is.
            tracing::warn!(%error, "the writing of a graph's file was not noted");
        }
        Ok(true)
    }

    /// Sees to it that lines that nobody needs are not kept.
    pub(super) fn forget_lines_when_idle(self: &Arc<Self>, state: &mut State) {
        if state.lines.is_none() || mem::replace(&mut state.lines_are_watched, true) {
            return;
        }
        let turns = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LINES_IDLE).await;
                let Some(turns) = turns.upgrade() else { return };
                let mut state = turns.state.lock().await;
                let used = state.lines.as_ref().and_then(|lines| lines.used);
                if used.is_none_or(|used| used.elapsed() >= LINES_IDLE) {
                    state.lines = None;
                    state.lines_are_watched = false;
                    return;
                }
            }
        });
    }
}

/// One writing of a file.
struct Composing<'a> {
    conn: &'a mut Conn,
    thread: &'a Thread,
    out: Out<'a>,
    old: &'a Lines,
}

/// Where the lines go: into the file, and into memory as long as there is room.
struct Out<'a> {
    draft: &'a mut Draft,
    /// Not in the file yet.
    part: Vec<u8>,
    has_begun: bool,
    lines: Option<Lines>,
}

#[derive(Clone, Copy)]
enum Kind {
    Entity,
    Relation,
}

impl<'a> Composing<'a> {
    fn new(conn: &'a mut Conn, thread: &'a Thread, draft: &'a mut Draft, old: &'a Lines) -> Self {
        let out = Out { draft, part: Vec::new(), has_begun: false, lines: Some(Lines::default()) };
        Self { conn, thread, out, old }
    }

    /// Writes the draft; gives its lines if they may be kept.
    async fn compose(mut self, kept: &LinesKept) -> Result<Option<Lines>, NotWritten> {
        self.entities().await?;
        self.relations().await?;
        self.out.pass_on(true).await?;
        Ok(self.out.lines.and_then(|lines| lines.keep(kept)))
    }

    async fn entities(&mut self) -> Result<(), NotWritten> {
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

    async fn relations(&mut self) -> Result<(), NotWritten> {
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
        if lines.text.len() + self.part.len() - before > LINES_MAX_BYTES {
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
