//! Adding entities and relations, as lines say them, to a thread that may have some of them.

use std::collections::{HashMap, HashSet};
use std::mem;

use memory_core::graph::{GraphEntity, GraphRelation, RELATION_IMPORTANCE, TextKey, Weights};
use memory_core::graph_jsonl::{GraphLine, parse_line};
use memory_language::text::cut;
use memory_store::graph::{self, NewEntity, NewObservation, NewRelation, Repeated, Thread};
use memory_store::{StoreError, Tx};

use crate::EngineError;
use crate::line_reader::LineReader;
use crate::progress::{Progress, Report};
use crate::streams::Input;

/// How many rows are written at a time …
const ROWS_AT_ONCE: usize = 500;
/// … and about how much text.
const TEXT_AT_ONCE: usize = 1_000_000;
/// How many entities that a file has twice are named.
const REPEATED_NAMED: usize = 5;

/// What an import has added, and what was there before.
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
    pub(crate) fn has_changed(&self) -> bool {
        self.entities_created + self.observations_added + self.relations_created > 0
    }
}

/// Adds to the thread what the lines say.
pub(crate) async fn merge_lines(
    tx: &mut Tx,
    thread: &Thread,
    from: Input<'_>,
    total_bytes: u64,
    report: Report<'_>,
) -> Result<GraphImported, EngineError> {
    let mut lines = LineReader::new(from);
    let mut merger = LineMerger::new(tx, thread);
    loop {
        let number = lines.number + 1;
        let Some(line) = lines.next().await? else { break };
        let text = line.len();
        for said in parse_line(number, line)? {
            merger.take(number, said);
        }
        merger.waiting.text += text;
        if merger.waiting.is_much() {
            merger.flush().await?;
            report(Progress { done: lines.bytes_read, total: total_bytes });
        }
    }
    merger.flush().await?;
    Ok(merger.finish())
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

/// Adds lines to a thread, some at a time.
pub(crate) struct LineMerger<'a> {
    tx: &'a mut Tx,
    thread: &'a Thread,
    /// The names that came in.
    seen: HashSet<TextKey>,
    waiting: Waiting,
    repeated: RepeatedNames,
    pub(crate) done: GraphImported,
}

impl<'a> LineMerger<'a> {
    pub(crate) fn new(tx: &'a mut Tx, thread: &'a Thread) -> Self {
        Self {
            tx,
            thread,
            seen: HashSet::new(),
            waiting: Waiting::default(),
            repeated: RepeatedNames::default(),
            done: GraphImported::default(),
        }
    }

    fn take(&mut self, number: u64, said: GraphLine) {
        match said {
            GraphLine::Relation(relation) => self.waiting.relations.push(relation),
            GraphLine::Entity(entity) => {
                if !self.seen.insert(TextKey::of(&entity.name)) {
                    self.repeated.note(number, &entity.name);
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
    pub(crate) async fn add_entities(&mut self, given: Vec<GraphEntity>) -> Result<(), EngineError> {
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
        self.done.warnings.extend(self.repeated.warning());
        self.done
    }
}

/// Names that came a second time.
#[derive(Default)]
pub(crate) struct RepeatedNames {
    named: Vec<String>,
    others: usize,
}

impl RepeatedNames {
    pub(crate) fn note(&mut self, number: u64, name: &str) {
        if self.named.len() < REPEATED_NAMED {
            self.named.push(format!("'{}' on line {number}", cut(name, 60)));
        } else {
            self.others += 1;
        }
    }

    pub(crate) fn warning(&self) -> Option<String> {
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

/// The items in order, of those with one key the first, each with its key.
pub(crate) fn first_of_each<T>(items: Vec<T>, key: impl Fn(&T) -> TextKey) -> Vec<(TextKey, T)> {
    let mut seen = HashSet::with_capacity(items.len());
    items.into_iter().map(|item| (key(&item), item)).filter(|(key, _)| seen.insert(*key)).collect()
}
