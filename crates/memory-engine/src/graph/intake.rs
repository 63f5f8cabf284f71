//! Taking in what somebody else has written to a graph's file.

use std::sync::atomic::{AtomicU64, Ordering};

use memory_core::Invalid;
use memory_core::graph::grouped;
use memory_store::graph::{self, InStep};
use memory_store::jobs;

use super::disk;
use super::file::{State, Turns};
use super::replace::replace;
use super::transfer::unite;
use crate::EngineError;
use crate::lines::unreported;
use crate::memory::persist;

/// How far the taking in of a file has come. Others look while it goes on.
#[derive(Debug, Default)]
pub(super) struct Intake {
    placed: AtomicU64,
    /// 0 as long as nothing is taken in.
    lines: AtomicU64,
}

impl Intake {
    fn begins(&self, content: &[u8]) {
        let lines = content.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
        self.placed.store(0, Ordering::Relaxed);
        self.lines.store(lines as u64, Ordering::Relaxed);
    }

    pub(super) fn has_placed(&self, more: usize) {
        self.placed.fetch_add(more as u64, Ordering::Relaxed);
    }

    fn ends(&self) {
        self.lines.store(0, Ordering::Relaxed);
    }

    /// As in "61,000 of 100,000 lines".
    pub(super) fn so_far(&self) -> Option<String> {
        let lines = self.lines.load(Ordering::Relaxed);
        let placed = self.placed.load(Ordering::Relaxed).min(lines);
        (lines > 0).then(|| format!("{} of {} lines", grouped(placed), grouped(lines)))
    }
}

/// What became of a file's content.
struct TakenIn {
    written: i64,
    is_owed: bool,
    notices: Vec<String>,
}

impl TakenIn {
    fn quietly(written: i64, is_owed: bool) -> Self {
        Self { written, is_owed, notices: Vec::new() }
    }
}

impl State {
    /// This is what we wrote there ourselves.
    fn has_written(&self, content: Option<&[u8]>) -> bool {
        match (&self.lines, content) {
            (Some(lines), Some(content)) => self.seen.is_some() && lines.text() == content,
            _ => false,
        }
    }
}

impl Turns {
    /// Takes in what somebody else has written to the file.
    pub(super) async fn catch_up(&self, state: &mut State) -> Result<(), EngineError> {
        let now = self.stamp().await?;
        if state.seen.is_some_and(|seen| seen.still_is(now)) {
            return Ok(());
        }
        let taken_in = async {
            let (content, seen) =
                disk::read(self.file.path()).await.map_err(|error| self.unreadable(&error))?;
            if state.has_written(content.as_deref()) {
                return Ok((TakenIn::quietly(state.written, state.is_owed), seen));
            }
            let taken_in = persist(|| self.take_in(content.as_deref())).await;
            self.intake.ends();
            let taken_in = taken_in?;
            Ok::<_, EngineError>((taken_in, seen))
        };
        let taken_in = taken_in.await;
        match taken_in {
            Ok((taken_in, seen)) => {
                state.seen = Some(seen);
                state.written = taken_in.written;
                state.is_owed = taken_in.is_owed;
                state.notices.extend(taken_in.notices);
                state.failure = state.failure.take().filter(|_| state.is_owed);
                Ok(())
            }
            Err(error) => {
                state.failure = Some(error.to_string());
                Err(error)
            }
        }
    }

    async fn take_in(&self, content: Option<&[u8]>) -> Result<TakenIn, EngineError> {
        let (ns, scope) = (&self.ns, &self.scope);
        let sha256 = content.map(disk::sha256);
        let mut conn = self.store.acquire().await?;
        match (graph::last_in_step(&mut conn, ns, scope).await?, sha256) {
            (None, None) => return Ok(TakenIn::quietly(0, false)),
            (Some((thread, None)), None) => return Ok(TakenIn::quietly(0, thread.version > 0)),
            (Some((thread, Some(last))), sha256) if last.sha256 == sha256 => {
                return Ok(TakenIn::quietly(last.version, thread.version > last.version));
            }
            _ => {}
        }
        drop(conn);
        self.intake.begins(content.unwrap_or_default());
        let mut tx = self.store.begin().await?;
        let thread = graph::lock_thread(&mut tx, ns, scope).await?;
        let last = graph::last_in_step(&mut tx, ns, scope).await?.and_then(|(_, last)| last);
        let before = thread.version - 1;
        let is_ahead = before > last.map_or(0, |last| last.version);
        let Some(content) = content else {
            // Whoever deleted it wants to begin anew, unless the graph has what the file never had.
            let written = if is_ahead { before } else { thread.version };
            if !is_ahead {
                tracing::info!(
                    file = self.file.name(),
                    "the graph's file was deleted: the graph begins anew"
                );
                graph::clear(&mut tx, &thread).await?;
            }
            graph::note_in_step(&mut tx, &thread, InStep { version: written, sha256: None }).await?;
            tx.commit().await?;
            self.graphs.were_changed();
            return Ok(TakenIn::quietly(written, is_ahead));
        };
        if is_ahead {
            let united = unite(&mut tx, &thread, content, content.len() as u64, &unreported).await;
            let united = united.map_err(|error| self.damaged(error))?;
            let mut notices = united.warnings.clone();
            if united.has_changed() {
                notices.push(format!(
                    "{} was changed by another program while the graph had changes that were not in it: both are kept.",
                    self.file.path()
                ));
            }
            graph::note_in_step(&mut tx, &thread, InStep { version: before, sha256 }).await?;
            jobs::queue_indexing(&mut tx, &thread).await?;
            tx.commit().await?;
            self.graphs.were_changed();
            return Ok(TakenIn { written: before, is_owed: true, notices });
        }
        let replaced =
            replace(&mut tx, &thread, content, &self.intake).await.map_err(|error| self.damaged(error))?;
        let written = if replaced.has_changed { thread.version } else { before };
        if replaced.has_changed {
            graph::note_in_step(&mut tx, &thread, InStep { version: written, sha256 }).await?;
            jobs::queue_indexing(&mut tx, &thread).await?;
            tx.commit().await?;
            self.graphs.were_changed();
        } else {
            drop(tx);
            let mut conn = self.store.acquire().await?;
            if let Some(thread) = graph::find_thread(&mut conn, ns, scope).await? {
                graph::note_in_step(&mut conn, &thread, InStep { version: written, sha256 }).await?;
            }
        }
        Ok(TakenIn { written, is_owed: false, notices: replaced.warning.into_iter().collect() })
    }

    /// What is wrong with the content is said together with where it is.
    fn damaged(&self, error: EngineError) -> EngineError {
        match error {
            EngineError::Invalid(reason) => Invalid::new(format!(
                "The graph's file {} is damaged, and left as it is. {}",
                self.file.path(),
                reason.0
            ))
            .into(),
            other => other,
        }
    }
}
