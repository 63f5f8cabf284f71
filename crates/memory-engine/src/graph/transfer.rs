//! Export and import of a graph as lines of JSON, a part at a time.

use futures::future::BoxFuture;
use memory_core::Invalid;
use memory_core::graph::{Bounds, Detail, GraphScope};
use memory_core::graph_jsonl::{write_entity, write_relation};
use memory_core::id::Namespace;
use memory_language::text::cut;
use memory_store::graph::{self, Portion, Thread};
use memory_store::{Conn, StoreError, jobs};
use tokio::io::AsyncWriteExt;

use super::KnowledgeGraph;
use super::merge_lines::{GraphImported, merge_lines};
use crate::EngineError;
use crate::progress::{Progress, Report};
use crate::streams::{Input, Output};

/// How many rows are read at a time …
const ROWS_AT_ONCE: usize = 500;
/// … and about how much text.
const TEXT_AT_ONCE: usize = 1_000_000;

/// How much went out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GraphExported {
    pub entities: u64,
    pub relations: u64,
}

impl KnowledgeGraph {
    /// Writes one state of a graph as the reference server writes its file. It is not held in memory.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn export<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        out: Output<'a>,
        report: Report<'a>,
    ) -> BoxFuture<'a, Result<GraphExported, EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin_snapshot(ns).await?;
            tx.allow_pauses().await?;
            let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
                if *scope == GraphScope::default() {
                    return Ok(GraphExported::default());
                }
                let name = cut(&scope.thread_name(), 100);
                return Err(Invalid::new(format!(
                    "There is no graph in thread '{name}' of namespace '{ns}'."
                ))
                .into());
            };
            let total = thread.entities.unsigned_abs() + graph::count_relations(&mut tx, &thread).await?;
            let mut lines = GraphLines::new(&mut tx, &thread);
            while let Some(part) = lines.next_part().await? {
                out.write_all(&part).await?;
                report(Progress { done: lines.written.entities + lines.written.relations, total });
            }
            let written = lines.written;
            out.flush().await?;
            Ok(written)
        })
    }

    /// Adds to a graph what the lines say: all of it, or nothing when one of them cannot be read. What the
    /// graph has already stays as it is.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn import<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        from: Input<'a>,
        total_bytes: u64,
        report: Report<'a>,
    ) -> BoxFuture<'a, Result<GraphImported, EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin(ns).await?;
            tx.allow_pauses().await?;
            let thread = graph::lock_thread(&mut tx, ns, scope).await?;
            let imported = merge_lines(&mut tx, &thread, from, total_bytes, report).await?;
            if imported.has_changed() {
                jobs::queue_indexing(&mut tx, &thread).await?;
                tx.commit().await?;
                self.announce_change();
            }
            Ok(imported)
        })
    }
}

/// The lines of one state of a graph.
struct GraphLines<'a> {
    conn: &'a mut Conn,
    thread: &'a Thread,
    after: i64,
    entities_are_done: bool,
    written: GraphExported,
}

impl<'a> GraphLines<'a> {
    fn new(conn: &'a mut Conn, thread: &'a Thread) -> Self {
        Self { conn, thread, after: 0, entities_are_done: false, written: GraphExported::default() }
    }

    /// The next lines; each but the very first begins with the line feed that ends the one before.
    async fn next_part(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        let mut part = Vec::new();
        if !self.entities_are_done {
            let ids = graph::ids_after(self.conn, self.thread, self.after, ROWS_AT_ONCE).await?;
            let whole = Portion { detail: Detail::Full, bounds: Bounds::NONE, preferred: None };
            for stored in graph::entities(self.conn, self.thread, &ids, whole, TEXT_AT_ONCE).await? {
                self.divide(&mut part);
                write_entity(&mut part, &stored.entity);
                self.after = stored.id;
                self.written.entities += 1;
            }
            if !part.is_empty() {
                return Ok(Some(part));
            }
            (self.entities_are_done, self.after) = (true, 0);
        }
        for stored in graph::relations_after(self.conn, self.thread, self.after, ROWS_AT_ONCE).await? {
            self.divide(&mut part);
            write_relation(&mut part, &stored.relation);
            self.after = stored.id;
            self.written.relations += 1;
        }
        Ok((!part.is_empty()).then_some(part))
    }

    fn divide(&self, part: &mut Vec<u8>) {
        if self.written != GraphExported::default() {
            part.push(b'\n');
        }
    }
}
