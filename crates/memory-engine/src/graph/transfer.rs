//! A graph on its way out and in, as lines of JSON, a part at a time.

use std::collections::{HashMap, HashSet};
use std::mem;

use memory_core::Invalid;
use memory_core::graph::{
    Bounds, Detail, GraphEntity, GraphRelation, GraphScope, RELATION_IMPORTANCE, TextKey, Weights,
};
use memory_core::graph_jsonl::{GraphLine, parse_line, write_entity, write_relation};
use memory_core::id::Namespace;
use memory_language::text::cut;
use memory_store::graph::{self, NewEntity, NewObservation, NewRelation, Portion, Repeated, Thread};
use memory_store::{Conn, StoreError, Tx, jobs};
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt};

use super::write::first_of_each;
use crate::lines::{NumberedLines, Progress, Report};
use crate::{EngineError, Memory};

/// How many rows are read or written at a time …
pub(super) const ROWS_AT_ONCE: usize = 500;
/// … and about how much text.
pub(super) const TEXT_AT_ONCE: usize = 1_000_000;
/// How many entities that stand in a file twice are named.
const REPEATED_NAMED: usize = 5;

/// How much went out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GraphExported {
    pub entities: u64,
    pub relations: u64,
}

/// What became of the lines that came in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphImported {
    pub entities_created: u64,
    /// Entities that were there before.
    pub entities_known: u64,
    pub observations_added: u64,
    pub relations_created: u64,
    pub relations_known: u64,
    pub warnings: Vec<String>,
}

impl GraphImported {
    pub(super) fn has_changed(&self) -> bool {
        self.entities_created + self.observations_added + self.relations_created > 0
    }
}

impl Memory {
    /// Writes one state of a graph as the reference server writes its file. It is not held in memory.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub async fn export_graph(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
        out: &mut (impl AsyncWrite + Unpin),
        report: Report<'_>,
    ) -> Result<GraphExported, EngineError> {
        let mut tx = self.store.begin_snapshot().await?;
        tx.allow_pauses().await?;
        let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
            if *scope == GraphScope::default() {
                return Ok(GraphExported::default());
            }
            let name = cut(&scope.thread_name(), 100);
            return Err(
                Invalid::new(format!("There is no graph in thread '{name}' of namespace '{ns}'.")).into()
            );
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
    }

    /// Adds to a graph what the lines say: all of it, or nothing when one of them cannot be read. What the
    /// graph has already stays as it is.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub async fn import_graph(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
        from: impl AsyncBufRead + Unpin,
        total_bytes: u64,
        report: Report<'_>,
    ) -> Result<GraphImported, EngineError> {
        let mut tx = self.store.begin().await?;
        tx.allow_pauses().await?;
        let thread = graph::lock_thread(&mut tx, ns, scope).await?;
        let imported = unite(&mut tx, &thread, from, total_bytes, report).await?;
        if imported.has_changed() {
            jobs::queue_indexing(&mut tx, &thread).await?;
            tx.commit().await?;
            self.graph_was_changed();
        }
        Ok(imported)
    }
}

/// Adds to the thread what the lines say.
pub(super) async fn unite(
    tx: &mut Tx,
    thread: &Thread,
    from: impl AsyncBufRead + Unpin,
    total_bytes: u64,
    report: Report<'_>,
) -> Result<GraphImported, EngineError> {
    let mut lines = NumberedLines::new(from);
    let mut uniting = Uniting::new(tx, thread);
    loop {
        let number = lines.number + 1;
        let Some(line) = lines.next().await? else { break };
        let text = line.len();
        for said in parse_line(number, line)? {
            uniting.take(number, said);
        }
        uniting.waiting.text += text;
        if uniting.waiting.is_much() {
            uniting.flush().await?;
            report(Progress { done: lines.bytes_read, total: total_bytes });
        }
    }
    uniting.flush().await?;
    Ok(uniting.finish())
}

/// The lines of one state of a graph.
pub(super) struct GraphLines<'a> {
    conn: &'a mut Conn,
    thread: &'a Thread,
    after: i64,
    entities_are_done: bool,
    pub(super) written: GraphExported,
}

impl<'a> GraphLines<'a> {
    pub(super) fn new(conn: &'a mut Conn, thread: &'a Thread) -> Self {
        Self { conn, thread, after: 0, entities_are_done: false, written: GraphExported::default() }
    }

    /// The next lines; each but the very first begins with the line feed that ends the one before.
    pub(super) async fn next_part(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
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

/// Lines that have come in and are not written yet.
#[derive(Default)]
struct Waiting {
    entities: Vec<GraphEntity>,
    relations: Vec<GraphRelation>,
    text: usize,
}

impl Waiting {
    fn is_much(&self) -> bool {
        self.entities.len() + self.relations.len() >= ROWS_AT_ONCE || self.text >= TEXT_AT_ONCE
    }
}

/// Lines on their way into a thread.
pub(super) struct Uniting<'a> {
    tx: &'a mut Tx,
    thread: &'a Thread,
    /// The names that came in.
    seen: HashSet<TextKey>,
    waiting: Waiting,
    repetitions: Repetitions,
    pub(super) done: GraphImported,
}

impl<'a> Uniting<'a> {
    pub(super) fn new(tx: &'a mut Tx, thread: &'a Thread) -> Self {
        Self {
            tx,
            thread,
            seen: HashSet::new(),
            waiting: Waiting::default(),
            repetitions: Repetitions::default(),
            done: GraphImported::default(),
        }
    }

    fn take(&mut self, number: u64, said: GraphLine) {
        match said {
            GraphLine::Relation(relation) => self.waiting.relations.push(relation),
            GraphLine::Entity(entity) => {
                if !self.seen.insert(TextKey::of(&entity.name)) {
                    self.repetitions.note(number, &entity.name);
                }
                self.waiting.entities.push(entity);
            }
        }
    }

    async fn flush(&mut self) -> Result<(), EngineError> {
        let Waiting { entities, relations, .. } = mem::take(&mut self.waiting);
        if !entities.is_empty() {
            self.add_entities(entities).await?;
        }
        if !relations.is_empty() {
            let given = relations.len();
            let relations = first_of_each(relations, TextKey::of_relation);
            let rows: Vec<NewRelation<'_>> = relations
                .iter()
                .map(|(_, relation)| NewRelation { relation, importance: RELATION_IMPORTANCE })
                .collect();
            let created = graph::insert_relations(self.tx, self.thread, &rows).await?.len();
            self.done.relations_created += created as u64;
            self.done.relations_known += (given - created) as u64;
        }
        Ok(())
    }

    /// Adds what the graph does not have of these entities.
    pub(super) async fn add_entities(&mut self, given: Vec<GraphEntity>) -> Result<(), EngineError> {
        let weights = Weights::default();
        let entities = joined(given);
        let rows: Vec<NewEntity<'_>> = entities
            .iter()
            .map(|(_, e)| NewEntity { name: &e.name, entity_type: &e.entity_type, weights, is_root: false })
            .collect();
        let new: HashMap<TextKey, i64> =
            graph::insert_entities(self.tx, self.thread, &rows).await?.into_iter().collect();
        let others: Vec<TextKey> =
            entities.iter().map(|(name, _)| *name).filter(|name| !new.contains_key(name)).collect();
        let known = graph::entity_ids(self.tx, self.thread, &others).await?;
        let (mut of_new, mut of_known) = (Vec::new(), Vec::new());
        let mut given_once = HashSet::new();
        for (name, entity) in &entities {
            let row = |entity_id| move |content| NewObservation { entity_id, content, weights };
            let contents = entity.observations.iter().map(String::as_str);
            match (new.get(name), known.get(name)) {
                (Some(id), _) => of_new.extend(contents.map(row(*id))),
                (None, Some(id)) => {
                    of_known.extend(contents.filter(|c| given_once.insert((*id, *c))).map(row(*id)));
                }
                (None, None) => return Err(StoreError::Conflict.into()),
            }
        }
        let kept = graph::insert_observations(self.tx, self.thread, &of_new, Repeated::Kept).await?;
        let added = graph::insert_observations(self.tx, self.thread, &of_known, Repeated::LeftOut).await?;
        self.done.entities_created += new.len() as u64;
        self.done.observations_added += (kept.len() + added.len()) as u64;
        Ok(())
    }

    fn finish(mut self) -> GraphImported {
        self.done.entities_known = self.seen.len() as u64 - self.done.entities_created;
        self.done.warnings.extend(self.repetitions.warning());
        self.done
    }
}

/// Names that came a second time.
#[derive(Default)]
pub(super) struct Repetitions {
    named: Vec<String>,
    others: usize,
}

impl Repetitions {
    pub(super) fn note(&mut self, number: u64, name: &str) {
        if self.named.len() < REPEATED_NAMED {
            self.named.push(format!("'{}' on line {number}", cut(name, 60)));
        } else {
            self.others += 1;
        }
    }

    pub(super) fn warning(&self) -> Option<String> {
        let rest = match self.others {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        (!self.named.is_empty()).then(|| {
            format!(
                "Some entities came twice: {}{rest}. The first of each name counts; what the others observe was added to it.",
                self.named.join(", ")
            )
        })
    }
}

/// Each name once, with its key: the first with it, and what the others observe that it does not.
fn joined(given: Vec<GraphEntity>) -> Vec<(TextKey, GraphEntity)> {
    let mut at: HashMap<TextKey, usize> = HashMap::with_capacity(given.len());
    let mut joined: Vec<(TextKey, GraphEntity)> = Vec::with_capacity(given.len());
    for entity in given {
        let key = TextKey::of(&entity.name);
        let Some(first) = at.get(&key) else {
            at.insert(key, joined.len());
            joined.push((key, entity));
            continue;
        };
        let first = &mut joined[*first].1.observations;
        let mut has: HashSet<String> = first.iter().cloned().collect();
        first.extend(entity.observations.into_iter().filter(|content| has.insert(content.clone())));
    }
    joined
}
