//! The lines of one thread as rows.

use std::collections::{HashMap, HashSet};

use memory_core::Invalid;
use memory_core::archive::{ArchivedEntity, ArchivedObservation, ArchivedRelation, ArchivedThread};
use memory_core::graph::{GraphRelation, ObservationHandle, TextKey, Weights};
use memory_core::id::Namespace;
use memory_store::archive::{self, NewVersion};
use memory_store::graph::{self, Ordered, Thread, new_handle};
use memory_store::{StoreError, Tx, jobs};

use super::{ArchiveImported, Tally};
use crate::EngineError;

/// How many rows are written at a time …
const ROWS_AT_ONCE: usize = 500;
/// … and about how much text.
const TEXT_AT_ONCE: usize = 1_000_000;

/// A thread and what of it has come and is not written yet.
pub(super) struct GraphImport {
    thread: Thread,
    names: HashSet<TextKey>,
    handles: HashSet<ObservationHandle>,
    relation_keys: HashSet<TextKey>,
    entities: Vec<Entity>,
    relations: Vec<ArchivedRelation>,
    /// Of what is waiting.
    rows: usize,
    text: usize,
    has_relations: bool,
    threads: Tally,
    entity_tally: Tally,
    observation_tally: Tally,
    relation_tally: Tally,
}

struct Entity {
    line: ArchivedEntity,
    observations: Vec<(ObservationHandle, ArchivedObservation)>,
}

/// The versions of one observation, and their entity.
struct Chain<'a> {
    entity_id: i64,
    entity_is_new: bool,
    versions: &'a [(ObservationHandle, ArchivedObservation)],
}

impl GraphImport {
    pub(super) async fn begin(
        tx: &mut Tx,
        ns: &Namespace,
        line: &ArchivedThread,
    ) -> Result<Self, EngineError> {
        let scope = line.scope()?;
        let thread = graph::lock_thread(tx, ns, &scope).await?;
        let is_new = thread.version == 1;
        if is_new {
            archive::set_thread_created(tx, &thread, line.created_at).await?;
        }
        let mut threads = Tally::default();
        threads.count(is_new);
        Ok(Self {
            thread,
            names: HashSet::new(),
            handles: HashSet::new(),
            relation_keys: HashSet::new(),
            entities: Vec::new(),
            relations: Vec::new(),
            rows: 0,
            text: 0,
            has_relations: false,
            threads,
            entity_tally: Tally::default(),
            observation_tally: Tally::default(),
            relation_tally: Tally::default(),
        })
    }

    pub(super) async fn entity(
        &mut self,
        tx: &mut Tx,
        number: u64,
        line: ArchivedEntity,
    ) -> Result<(), EngineError> {
        if self.has_relations {
            return Err(misplaced(number, "the entities of a thread come before its relations"));
        }
        if !self.names.insert(TextKey::of(&line.name)) {
            return Err(misplaced(number, "the thread has that entity on a line before"));
        }
        if self.rows >= ROWS_AT_ONCE || self.text >= TEXT_AT_ONCE {
            self.flush(tx).await?;
        }
        self.rows += 1;
        self.text += line.name.len() + line.entity_type.len();
        self.entities.push(Entity { line, observations: Vec::new() });
        Ok(())
    }

    pub(super) fn observation(&mut self, number: u64, line: ArchivedObservation) -> Result<(), EngineError> {
        let Some(entity) = self.entities.last_mut().filter(|_| !self.has_relations) else {
            return Err(misplaced(number, "no entity comes before it"));
        };
        let before = entity.observations.last().map_or((0, 0), |(_, last)| (last.chain, last.version));
        let follows = line.chain == before.0 && line.version > before.1;
        if !follows && line.chain != before.0 + 1 {
            return Err(misplaced(number, "its chain and version do not follow those before it"));
        }
        let handle = ObservationHandle::parse(&line.id)?;
        if !self.handles.insert(handle) {
            return Err(misplaced(number, "its id is on a line before"));
        }
        self.rows += 1;
        self.text += line.content.len();
        entity.observations.push((handle, line));
        Ok(())
    }

    pub(super) async fn relation(&mut self, tx: &mut Tx, line: ArchivedRelation) -> Result<(), EngineError> {
        if self.relations.len() >= ROWS_AT_ONCE || self.text >= TEXT_AT_ONCE || !self.has_relations {
            self.flush(tx).await?;
        }
        self.has_relations = true;
        let relation: GraphRelation = line.clone().relation();
        if self.relation_keys.insert(TextKey::of_relation(&relation)) {
            self.text += relation.from.len() + relation.to.len() + relation.relation_type.len();
            self.relations.push(line);
        }
        Ok(())
    }

    pub(super) async fn end(mut self, tx: &mut Tx, done: &mut ArchiveImported) -> Result<(), EngineError> {
        self.flush(tx).await?;
        let created = [self.threads, self.entity_tally, self.observation_tally, self.relation_tally];
        if created.iter().all(|tally| tally.created == 0) {
            archive::lower_version(tx, &self.thread).await?;
        } else {
            jobs::queue_indexing(tx, &self.thread).await?;
        }
        for (all, own) in [
            (&mut done.threads, self.threads),
            (&mut done.entities, self.entity_tally),
            (&mut done.observations, self.observation_tally),
            (&mut done.relations, self.relation_tally),
        ] {
            all.created += own.created;
            all.known += own.known;
        }
        Ok(())
    }

    async fn flush(&mut self, tx: &mut Tx) -> Result<(), EngineError> {
        (self.rows, self.text) = (0, 0);
        let entities = std::mem::take(&mut self.entities);
        if !entities.is_empty() {
            self.add_entities(tx, &entities).await?;
        }
        let relations = std::mem::take(&mut self.relations);
        if !relations.is_empty() {
            let created = archive::insert_relations(tx, &self.thread, &relations).await?;
            self.relation_tally.created += created;
            self.relation_tally.known += relations.len() as u64 - created;
        }
        Ok(())
    }

    async fn add_entities(&mut self, tx: &mut Tx, entities: &[Entity]) -> Result<(), EngineError> {
        let lines: Vec<&ArchivedEntity> = entities.iter().map(|entity| &entity.line).collect();
        let new: HashMap<TextKey, i64> =
            archive::insert_entities(tx, &self.thread, &lines).await?.into_iter().collect();
        let names: Vec<TextKey> = lines.iter().map(|line| TextKey::of(&line.name)).collect();
        let others: Vec<TextKey> = names.iter().copied().filter(|name| !new.contains_key(name)).collect();
        let known = graph::entity_ids(tx, &self.thread, &others).await?;
        self.entity_tally.created += new.len() as u64;
        self.entity_tally.known += others.len() as u64;
        let mut chains = Vec::new();
        for (name, entity) in names.iter().zip(entities) {
            let entity_id = *new.get(name).or_else(|| known.get(name)).ok_or(StoreError::Conflict)?;
            let entity_is_new = new.contains_key(name);
            let each = entity.observations.chunk_by(|a, b| a.1.chain == b.1.chain);
            chains.extend(each.map(|versions| Chain { entity_id, entity_is_new, versions }));
        }
        self.add_chains(tx, &chains).await
    }

    /// Adds the observations that are new, and to those that are known the versions after theirs.
    async fn add_chains(&mut self, tx: &mut Tx, chains: &[Chain<'_>]) -> Result<(), EngineError> {
        let handles: Vec<ObservationHandle> =
            chains.iter().flat_map(|chain| chain.versions).map(|(handle, _)| *handle).collect();
        let taken: HashMap<ObservationHandle, (Option<i64>, i64)> =
            archive::known_observations(tx, &self.thread, &handles)
                .await?
                .into_iter()
                .map(|known| (known.handle, (known.entity_id, known.chain_id)))
                .collect();
        let chain_of = |chain: &Chain<'_>| {
            let found = chain.versions.iter().filter_map(|(handle, _)| taken.get(handle));
            found.filter(|(entity, _)| *entity == Some(chain.entity_id)).map(|(_, chain)| *chain).next()
        };
        let known: Vec<Option<i64>> = chains.iter().map(chain_of).collect();
        let pairs: Vec<(i64, i64)> = chains
            .iter()
            .zip(&known)
            .filter_map(|(chain, known)| known.map(|known| (chain.entity_id, known)))
            .collect();
        let newest: HashMap<i64, i32> =
            archive::newest_versions(tx, &self.thread, &pairs).await?.into_iter().collect();
        let said = self.contents_that_are_said(tx, chains, &known).await?;
        let is_added = |n: usize| known[n].is_none() && !said[n];
        let fresh = (0..chains.len()).filter(|n| is_added(*n)).count();
        let mut fresh = graph::fresh_ids(tx, Ordered::Chains, fresh).await?.into_iter();
        let (mut rows, mut longer, mut touched) = (Vec::new(), Vec::new(), Vec::new());
        for (n, chain) in chains.iter().enumerate() {
            let (chain_id, after) = match known[n] {
                Some(id) => (id, newest.get(&id).copied().unwrap_or(0)),
                None if is_added(n) => (fresh.next().ok_or(StoreError::Conflict)?, 0),
                None => continue,
            };
            let added = chain.versions.iter().filter(|(_, line)| line.version > after);
            let before = rows.len();
            rows.extend(added.map(|(handle, line)| NewVersion {
                entity_id: chain.entity_id,
                chain_id,
                version: line.version,
                is_current: line.current,
                handle: if taken.contains_key(handle) { new_handle() } else { *handle },
                content: &line.content,
                weights: Weights { confidence: line.confidence, importance: line.importance },
                created_at: line.created_at,
            }));
            if rows.len() > before {
                longer.extend(known[n].map(|id| (chain.entity_id, id)));
                touched.extend((!chain.entity_is_new).then_some(chain.entity_id));
            }
        }
        archive::retire_versions(tx, &self.thread, &longer).await?;
        archive::insert_versions(tx, &self.thread, &rows).await?;
        graph::touch(tx, &self.thread, &touched).await?;
        self.observation_tally.created += rows.len() as u64;
        self.observation_tally.known += (handles.len() - rows.len()) as u64;
        Ok(())
    }

    /// Of which chains an entity that was there before has the content by another observation.
    async fn contents_that_are_said(
        &self,
        tx: &mut Tx,
        chains: &[Chain<'_>],
        known: &[Option<i64>],
    ) -> Result<Vec<bool>, EngineError> {
        let content = |chain: &Chain<'_>| {
            let current = chain.versions.iter().find(|(_, line)| line.current).or(chain.versions.last());
            current.map(|(_, line)| (chain.entity_id, TextKey::of(&line.content)))
        };
        let asked: Vec<Option<(i64, TextKey)>> = chains
            .iter()
            .zip(known)
            .map(|(chain, known)| if known.is_none() && !chain.entity_is_new { content(chain) } else { None })
            .collect();
        let pairs: Vec<(i64, TextKey)> = asked.iter().flatten().copied().collect();
        if pairs.is_empty() {
            return Ok(vec![false; chains.len()]);
        }
        let said: HashSet<(i64, TextKey)> =
            archive::known_contents(tx, &self.thread, &pairs).await?.into_iter().collect();
        Ok(asked.iter().map(|pair| pair.is_some_and(|pair| said.contains(&pair))).collect())
    }
}

/// A line that does not fit those before it.
pub(super) fn misplaced(number: u64, reason: &str) -> EngineError {
    let reason = reason.trim_end_matches('.');
    Invalid::new(format!("Line {number} cannot be taken: {reason}. Nothing was changed.")).into()
}
