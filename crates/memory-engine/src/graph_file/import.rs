//! Importing what another program has written to a graph's file.

use memory_core::Invalid;
use memory_store::graph::{self, InStep};
use memory_store::jobs;

use super::disk;
use super::filed_graph::{FiledGraph, Imported};
use super::replace::replace;
use crate::EngineError;
use crate::graph::merge_lines::merge_lines;
use crate::progress::unreported;
use crate::recovery::retry_transient;

impl FiledGraph {
    /// Imports the file's content into the graph; `None` when the file is not there.
    pub(super) async fn import(&self, content: Option<&[u8]>) -> Result<Imported, EngineError> {
        let imported = retry_transient(|| self.try_import(content)).await;
        self.progress.end();
        imported
    }

    async fn try_import(&self, content: Option<&[u8]>) -> Result<Imported, EngineError> {
        let (ns, scope) = (&self.ns, &self.scope);
        let sha256 = content.map(disk::sha256);
        let mut conn = self.store.acquire(ns).await?;
        match (graph::last_in_step(&mut conn, ns, scope).await?, sha256) {
            (None, None) => return Ok(Imported::silent(0, false)),
            (Some((thread, None)), None) => return Ok(Imported::silent(0, thread.version > 0)),
            (Some((thread, Some(last))), sha256) if last.sha256 == sha256 => {
                return Ok(Imported::silent(last.version, thread.version > last.version));
            }
            _ => {}
        }
        drop(conn);
        self.progress.begin(content.unwrap_or_default());
        let mut tx = self.store.begin(ns).await?;
        let thread = graph::lock_thread(&mut tx, ns, scope).await?;
        let last = graph::last_in_step(&mut tx, ns, scope).await?.and_then(|(_, last)| last);
        let before = thread.version - 1;
        let is_ahead = before > last.map_or(0, |last| last.version);
        let Some(content) = content else {
            // Deleting the file empties the graph, unless the graph has what the file never had.
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
            self.watched.announce_change();
            return Ok(Imported::silent(written, is_ahead));
        };
        if is_ahead {
            let merged =
                merge_lines(&mut tx, &thread, &mut &*content, content.len() as u64, &unreported).await;
            let merged = merged.map_err(|error| self.damaged(error))?;
            let mut notices = merged.warnings.clone();
            if merged.has_changed() {
                notices.push(format!(
                    "{} was changed by another program while the graph had changes that were not in it: both are kept.",
                    self.file.path()
                ));
            }
            graph::note_in_step(&mut tx, &thread, InStep { version: before, sha256 }).await?;
            jobs::queue_indexing(&mut tx, &thread).await?;
            tx.commit().await?;
            self.watched.announce_change();
            return Ok(Imported { written: before, is_unwritten: true, notices });
        }
        let replaced =
            replace(&mut tx, &thread, content, &self.progress).await.map_err(|error| self.damaged(error))?;
        let written = if replaced.has_changed { thread.version } else { before };
        if replaced.has_changed {
            graph::note_in_step(&mut tx, &thread, InStep { version: written, sha256 }).await?;
            jobs::queue_indexing(&mut tx, &thread).await?;
            tx.commit().await?;
            self.watched.announce_change();
        } else {
            drop(tx);
            let mut conn = self.store.acquire(ns).await?;
            if let Some(thread) = graph::find_thread(&mut conn, ns, scope).await? {
                graph::note_in_step(&mut conn, &thread, InStep { version: written, sha256 }).await?;
            }
        }
        Ok(Imported { written, is_unwritten: false, notices: replaced.warning.into_iter().collect() })
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
