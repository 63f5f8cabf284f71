//! Replacing a graph's content by that of its file, in the file's order. What has not changed keeps its identity: an
//! entity that is still in the file keeps its observations' ids and versions.

use std::collections::{HashMap, HashSet, VecDeque};

use memory_core::graph::{GraphEntity, GraphRelation, TextKey};
use memory_core::graph_jsonl::{GraphLine, parse_line};
use memory_store::Tx;
use memory_store::graph::{self, EntityAt, ObservationAt, Ordered, PlacedEntity, Thread};

use super::import_progress::ImportProgress;
use crate::EngineError;
use crate::graph::merge_lines::{LineMerger, RepeatedNames};

/// How many rows are placed at a time …
const ROWS_AT_ONCE: usize = 2_000;
/// … and about how much text.
const TEXT_AT_ONCE: usize = 4_000_000;

/// The outcome of a replacement.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Replaced {
    pub(super) has_changed: bool,
    pub(super) warning: Option<String>,
}

/// Replaces the thread's content by that of the file.
pub(super) async fn replace(
    tx: &mut Tx,
    thread: &Thread,
    file: &[u8],
    progress: &ImportProgress,
) -> Result<Replaced, EngineError> {
    let has_relations = !graph::relation_ids_after(tx, thread, 0, 1).await?.is_empty();
    graph::begin_bulk(tx).await?;
    let mut placing = Placing { tx, thread, progress, has_relations, has_changed: false };
    let warning = placing.entities(file).await?;
    placing.relations(file).await?;
    let has_changed = placing.has_changed;
    if has_changed {
        graph::end_bulk(tx).await?;
    }
    Ok(Replaced { has_changed, warning })
}

/// Which rows may keep their ids: those at the start whose ids ascend.
#[derive(Default)]
struct Order {
    last: i64,
    is_broken: bool,
}

impl Order {
    fn keeps(&mut self, id: Option<i64>) -> bool {
        match id {
            Some(id) if !self.is_broken && id > self.last => self.last = id,
            _ => self.is_broken = true,
        }
        !self.is_broken
    }
}

/// The things of one kind that a file says, some at a time, in its order, each with its line and key.
struct Batches<'a, T> {
    file: &'a [u8],
    number: u64,
    kind: fn(GraphLine) -> Option<T>,
}

impl<'a, T> Batches<'a, T> {
    fn new(file: &'a [u8], kind: fn(GraphLine) -> Option<T>) -> Self {
        Self { file, number: 0, kind }
    }

    fn next(&mut self) -> Result<Vec<(u64, T)>, EngineError> {
        let mut batch = Vec::new();
        let mut text = 0;
        while !self.file.is_empty() && batch.len() < ROWS_AT_ONCE && text < TEXT_AT_ONCE {
            let end = self.file.iter().position(|byte| *byte == b'\n').map_or(self.file.len(), |at| at + 1);
            let (line, rest) = self.file.split_at(end);
            self.file = rest;
            self.number += 1;
            let said = parse_line(self.number, line)?.into_iter().filter_map(self.kind);
            batch.extend(said.map(|said| (self.number, said)));
            text += line.len();
        }
        Ok(batch)
    }
}

/// Changes of existing rows, applied together at the end.
#[derive(Default)]
struct Leftover {
    moved_entities: Vec<(i64, i64)>,
    moved_chains: Vec<(i64, i64)>,
    doomed_chains: Vec<i64>,
    retyped: Vec<(i64, String)>,
    touched: Vec<i64>,
}

/// An observation that gets a fresh place.
enum Place<'a> {
    Moved(i64),
    New(i64, &'a str),
}

struct Placing<'a> {
    tx: &'a mut Tx,
    thread: &'a Thread,
    progress: &'a ImportProgress,
    /// Before anything of the file was placed.
    has_relations: bool,
    has_changed: bool,
}

impl Placing<'_> {
    async fn entities(&mut self, file: &[u8]) -> Result<Option<String>, EngineError> {
        let mut batches = Batches::new(file, |said| match said {
            GraphLine::Entity(entity) => Some(entity),
            GraphLine::Relation(_) => None,
        });
        let mut order = Order::default();
        let mut names = HashSet::new();
        let mut ids = HashSet::new();
        let mut leftover = Leftover::default();
        let mut repetitions = RepeatedNames::default();
        let mut repeated = Vec::new();
        loop {
            let batch = batches.next()?;
            if batch.is_empty() && batches.file.is_empty() {
                break;
            }
            let mut entities = Vec::with_capacity(batch.len());
            for (number, entity) in batch {
                let name = TextKey::of(&entity.name);
                if names.insert(name) {
                    entities.push((name, entity));
                } else {
                    repetitions.note(number, &entity.name);
                    repeated.push(entity);
                }
            }
            self.place_entities(&entities, &mut order, &mut ids, &mut leftover).await?;
            self.progress.add_placed(entities.len());
        }
        self.settle_entities(&ids, leftover).await?;
        if !repeated.is_empty() {
            let mut merger = LineMerger::new(self.tx, self.thread);
            merger.add_entities(repeated).await?;
            self.has_changed |= merger.done.has_changed();
        }
        Ok(repetitions.warning())
    }

    async fn place_entities(
        &mut self,
        entities: &[(TextKey, GraphEntity)],
        order: &mut Order,
        ids: &mut HashSet<i64>,
        leftover: &mut Leftover,
    ) -> Result<(), EngineError> {
        let names: Vec<TextKey> = entities.iter().map(|(name, _)| *name).collect();
        let stored: HashMap<TextKey, PlacedEntity> = match self.thread.entities {
            0 => HashMap::new(),
            _ => graph::placed_entities(self.tx, self.thread, &names).await?.into_iter().collect(),
        };
        let kept: Vec<bool> =
            names.iter().map(|name| order.keeps(stored.get(name).map(|entity| entity.id))).collect();
        let fresh = kept.iter().filter(|kept| !**kept).count();
        let mut fresh = graph::fresh_ids(self.tx, Ordered::Entities, fresh).await?.into_iter();
        let mut new = Vec::new();
        let mut places = Vec::new();
        for ((name, entity), kept) in entities.iter().zip(kept) {
            let fresh = if kept { None } else { fresh.next() };
            match (stored.get(name), fresh) {
                (Some(stored), fresh) => {
                    leftover.moved_entities.extend(fresh.map(|fresh| (stored.id, fresh)));
                    ids.insert(stored.id);
                    compare(stored, entity, &mut places, leftover);
                }
                (None, Some(id)) => {
                    new.push(EntityAt { id, name: &entity.name, entity_type: &entity.entity_type });
                    ids.insert(id);
                    places.extend(entity.observations.iter().map(|content| Place::New(id, content)));
                }
                (None, None) => {}
            }
        }
        self.has_changed |= !new.is_empty();
        graph::insert_entities_at(self.tx, self.thread, &new, self.has_relations).await?;
        self.place_observations(&places, leftover).await
    }

    async fn place_observations(
        &mut self,
        places: &[Place<'_>],
        leftover: &mut Leftover,
    ) -> Result<(), EngineError> {
        let fresh = graph::fresh_ids(self.tx, Ordered::Chains, places.len()).await?;
        let mut new = Vec::new();
        for (place, chain_id) in places.iter().zip(fresh) {
            match *place {
                Place::Moved(old) => leftover.moved_chains.push((old, chain_id)),
                Place::New(entity_id, content) => new.push(ObservationAt { entity_id, chain_id, content }),
            }
        }
        if !new.is_empty() {
            self.has_changed = true;
            graph::insert_observations_at(self.tx, self.thread, &new).await?;
        }
        Ok(())
    }

    /// Deletes entities that the file does not have, and moves those that it has elsewhere.
    async fn settle_entities(&mut self, ids: &HashSet<i64>, leftover: Leftover) -> Result<(), EngineError> {
        let mut doomed = Vec::new();
        let mut after = 0;
        while self.thread.entities > 0 {
            let page = graph::ids_after(self.tx, self.thread, after, 10_000).await?;
            let Some(last) = page.last() else { break };
            after = *last;
            doomed.extend(page.into_iter().filter(|id| !ids.contains(id)));
        }
        let Leftover { moved_entities, moved_chains, doomed_chains, retyped, touched } = leftover;
        self.has_changed |= !(doomed.is_empty()
            && moved_entities.is_empty()
            && moved_chains.is_empty()
            && doomed_chains.is_empty()
            && retyped.is_empty());
        graph::delete_entities_at(self.tx, self.thread, &doomed).await?;
        graph::delete_chains(self.tx, self.thread, &doomed_chains).await?;
        graph::retype(self.tx, self.thread, &retyped).await?;
        graph::touch(self.tx, self.thread, &touched).await?;
        graph::move_to(self.tx, self.thread, Ordered::Chains, &moved_chains).await?;
        graph::move_to(self.tx, self.thread, Ordered::Entities, &moved_entities).await?;
        Ok(())
    }

    async fn relations(&mut self, file: &[u8]) -> Result<(), EngineError> {
        let mut batches = Batches::new(file, |said| match said {
            GraphLine::Relation(relation) => Some(relation),
            GraphLine::Entity(_) => None,
        });
        let mut order = Order::default();
        let mut keys = HashSet::new();
        let mut ids = HashSet::new();
        let mut moved = Vec::new();
        loop {
            let batch = batches.next()?;
            if batch.is_empty() && batches.file.is_empty() {
                break;
            }
            let relations: Vec<(TextKey, GraphRelation)> = batch
                .into_iter()
                .map(|(_, relation)| (TextKey::of_relation(&relation), relation))
                .filter(|(key, _)| keys.insert(*key))
                .collect();
            self.place_relations(&relations, &mut order, &mut ids, &mut moved).await?;
            self.progress.add_placed(relations.len());
        }
        let mut doomed = Vec::new();
        let mut after = 0;
        while self.has_relations {
            let page = graph::relation_ids_after(self.tx, self.thread, after, 10_000).await?;
            let Some(last) = page.last() else { break };
            after = *last;
            doomed.extend(page.into_iter().filter(|id| !ids.contains(id)));
        }
        self.has_changed |= !(doomed.is_empty() && moved.is_empty());
        graph::delete_relations_at(self.tx, self.thread, &doomed).await?;
        graph::move_to(self.tx, self.thread, Ordered::Relations, &moved).await?;
        Ok(())
    }

    async fn place_relations(
        &mut self,
        relations: &[(TextKey, GraphRelation)],
        order: &mut Order,
        ids: &mut HashSet<i64>,
        moved: &mut Vec<(i64, i64)>,
    ) -> Result<(), EngineError> {
        let keys: Vec<TextKey> = relations.iter().map(|(key, _)| *key).collect();
        let stored: HashMap<TextKey, i64> = if self.has_relations {
            graph::relation_ids(self.tx, self.thread, &keys).await?.into_iter().collect()
        } else {
            HashMap::new()
        };
        let kept: Vec<bool> = keys.iter().map(|key| order.keeps(stored.get(key).copied())).collect();
        let fresh = kept.iter().filter(|kept| !**kept).count();
        let mut fresh = graph::fresh_ids(self.tx, Ordered::Relations, fresh).await?.into_iter();
        let mut new = Vec::new();
        for ((key, relation), kept) in relations.iter().zip(kept) {
            let fresh = if kept { None } else { fresh.next() };
            match (stored.get(key), fresh) {
                (Some(old), fresh) => {
                    moved.extend(fresh.map(|fresh| (*old, fresh)));
                    ids.insert(*old);
                }
                (None, Some(id)) => {
                    new.push((id, relation));
                    ids.insert(id);
                }
                (None, None) => {}
            }
        }
        if !new.is_empty() {
            self.has_changed = true;
            graph::insert_relations_at(self.tx, self.thread, &new).await?;
        }
        Ok(())
    }
}

/// Collects the changes that make a stored entity what the file has.
fn compare<'a>(
    stored: &PlacedEntity,
    said: &'a GraphEntity,
    places: &mut Vec<Place<'a>>,
    leftover: &mut Leftover,
) {
    let mut is_touched = stored.entity_type != said.entity_type;
    if is_touched {
        leftover.retyped.push((stored.id, said.entity_type.clone()));
    }
    let mut chains: HashMap<&str, VecDeque<i64>> = HashMap::new();
    for (chain, content) in &stored.observations {
        chains.entry(content).or_default().push_back(*chain);
    }
    let mut order = Order::default();
    for content in &said.observations {
        let chain = chains.get_mut(content.as_str()).and_then(VecDeque::pop_front);
        if !order.keeps(chain) {
            is_touched = true;
            places.push(chain.map_or(Place::New(stored.id, content), Place::Moved));
        }
    }
    let doomed = leftover.doomed_chains.len();
    leftover.doomed_chains.extend(chains.into_values().flatten());
    if is_touched || leftover.doomed_chains.len() > doomed {
        leftover.touched.push(stored.id);
    }
}
