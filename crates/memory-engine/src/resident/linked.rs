//! What results hang together with, of one namespace in memory: events by whom they are of, entities by what texts say of them.
//! Related events and entities are found in it as the statements of [`memory_store::expansion`] find them without filters.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use memory_core::id::RevisionId;
use memory_store::expansion::{FoundEntity, MaybeSame};
use memory_store::search::LinkedRow;

/// About what each takes besides its texts, in bytes.
const EVENT_BYTES: usize = 160;
const LINK_BYTES: usize = 96;
const MENTION_BYTES: usize = 16;
const NAME_BYTES: usize = 128;
const ENTITY_BYTES: usize = 240;

/// How many entities bring in related events, how many merged ones with each, and up to how many events of one are counted.
const SEEDS_MAX: usize = 40;
const MEMBERS_MAX: usize = 8;
const COUNTED_MAX: usize = 100;
/// How many holders of one name it is taken to mean.
const HOLDERS_MAX: usize = 8;
/// How many entities that may be the same are told of one.
const SAME_MAX: usize = 4;

type EventId = Arc<str>;
/// Newest first.
type Newest = BTreeSet<(Reverse<Timestamp>, EventId)>;

#[derive(Debug, Default)]
pub(super) struct Linked {
    events: HashMap<EventId, Event>,
    by_revision: HashMap<i64, OfRevision>,
    entities: HashMap<i64, Entity>,
    /// How many texts have a normalised name for an entity.
    named: HashMap<Box<str>, BTreeMap<i64, u32>>,
    /// What counts as an entity, by that.
    members: HashMap<i64, BTreeSet<i64>>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct OfRevision {
    events: Vec<EventId>,
    mentions: Vec<i64>,
    /// Entity, normalised name, name.
    names: Vec<(i64, Box<str>, Box<str>)>,
}

#[derive(Debug, Default)]
struct Event {
    is_latest: bool,
    links: Vec<(i64, bool, Timestamp)>,
}

#[derive(Debug, Default)]
struct Entity {
    row: Option<EntityRow>,
    mentions: i64,
    /// Normalised name and name, and how many texts have it.
    names: BTreeMap<(Box<str>, Box<str>), u32>,
    acts_in: Newest,
    is_matter_of: Newest,
    candidates: BTreeMap<i64, f32>,
}

#[derive(Debug)]
struct EntityRow {
    canonical_id: Option<i64>,
    name: Box<str>,
    normalised: Box<str>,
    entity_type: Box<str>,
}

/// An event that is looked at as related.
struct Candidate<'a> {
    event_id: &'a EventId,
    score: f64,
    occurred_at: Timestamp,
    /// Of the entity that brings it in best: whether it acts in it, with which weight, and which it is.
    by: (bool, f64, i64),
}

impl Linked {
    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn add(&mut self, row: LinkedRow) {
        match row {
            LinkedRow::Event { event_id, revision_id, is_latest } => {
                self.bytes += EVENT_BYTES + event_id.len();
                let id: EventId = event_id.into();
                self.events.entry(Arc::clone(&id)).or_default().is_latest = is_latest;
                self.by_revision.entry(revision_id).or_default().events.push(id);
            }
            LinkedRow::Link { event_id, entity_id, as_actor, occurred_at } => {
                let Some((id, _)) = self.events.get_key_value(event_id.as_str()) else { return };
                let id = Arc::clone(id);
                self.bytes += LINK_BYTES;
                self.entity(entity_id).events(as_actor).insert((Reverse(occurred_at), Arc::clone(&id)));
                self.events.entry(id).or_default().links.push((entity_id, as_actor, occurred_at));
            }
            LinkedRow::Mention { revision_id, entity_id } => {
                self.bytes += MENTION_BYTES;
                self.entity(entity_id).mentions += 1;
                self.by_revision.entry(revision_id).or_default().mentions.push(entity_id);
            }
            LinkedRow::Name { revision_id, entity_id, alias, normalised } => {
                self.bytes += NAME_BYTES + 2 * (alias.len() + normalised.len());
                let (normalised, alias) = (normalised.into_boxed_str(), alias.into_boxed_str());
                *self.named.entry(normalised.clone()).or_default().entry(entity_id).or_default() += 1;
                *self.entity(entity_id).names.entry((normalised.clone(), alias.clone())).or_default() += 1;
                self.by_revision.entry(revision_id).or_default().names.push((entity_id, normalised, alias));
            }
            LinkedRow::Entity { entity_id, canonical_id, name, normalised, entity_type } => {
                self.forget_row(entity_id);
                self.bytes += ENTITY_BYTES + name.len() + normalised.len();
                if let Some(canonical) = canonical_id {
                    self.members.entry(canonical).or_default().insert(entity_id);
                }
                self.entity(entity_id).row = Some(EntityRow {
                    canonical_id,
                    name: name.into(),
                    normalised: normalised.into(),
                    entity_type: entity_type.into(),
                });
            }
            LinkedRow::Candidate { low_id, high_id, score } => {
                self.entity(low_id).candidates.insert(high_id, score);
                self.entity(high_id).candidates.insert(low_id, score);
            }
        }
    }

    /// Puts what the database says now in the place of what was there of these.
    pub(super) fn replace(&mut self, revisions: &[i64], entities: &[i64], now: Vec<LinkedRow>) {
        for revision in revisions {
            let gone = self.by_revision.remove(revision).unwrap_or_default();
            for id in gone.events {
                self.bytes = self.bytes.saturating_sub(EVENT_BYTES + id.len());
                for (entity, as_actor, at) in self.events.remove(&id).unwrap_or_default().links {
                    self.bytes = self.bytes.saturating_sub(LINK_BYTES);
                    self.entity(entity).events(as_actor).remove(&(Reverse(at), Arc::clone(&id)));
                }
            }
            for entity in gone.mentions {
                self.bytes = self.bytes.saturating_sub(MENTION_BYTES);
                self.entity(entity).mentions -= 1;
            }
            for (entity, normalised, alias) in gone.names {
                self.bytes = self.bytes.saturating_sub(NAME_BYTES + 2 * (alias.len() + normalised.len()));
                if let Some(holders) = self.named.get_mut(&normalised) {
                    count_down(holders, &entity);
                    if holders.is_empty() {
                        self.named.remove(&normalised);
                    }
                }
                count_down(&mut self.entity(entity).names, &(normalised, alias));
            }
        }
        for id in entities {
            self.forget_row(*id);
            for other in std::mem::take(&mut self.entity(*id).candidates).into_keys() {
                self.entity(other).candidates.remove(id);
            }
        }
        for row in now {
            self.add(row);
        }
    }

    fn entity(&mut self, id: i64) -> &mut Entity {
        self.entities.entry(id).or_default()
    }

    fn forget_row(&mut self, id: i64) {
        let Some(row) = self.entities.get_mut(&id).and_then(|entity| entity.row.take()) else { return };
        self.bytes = self.bytes.saturating_sub(ENTITY_BYTES + row.name.len() + row.normalised.len());
        let members = row.canonical_id.and_then(|canonical| self.members.get_mut(&canonical));
        if let Some(members) = members {
            members.remove(&id);
        }
    }

    fn row(&self, id: i64) -> Option<&EntityRow> {
        self.entities.get(&id)?.row.as_ref()
    }

    /// What an entity counts as; none where it is not known.
    fn root(&self, id: i64) -> Option<i64> {
        Some(self.row(id)?.canonical_id.unwrap_or(id))
    }

    fn members_of(&self, root: i64) -> impl Iterator<Item = i64> {
        self.members.get(&root).into_iter().flatten().copied()
    }

    fn of_revision(&self, revision: RevisionId) -> Option<&OfRevision> {
        self.by_revision.get(&revision.0)
    }

    fn links_of<'a>(&'a self, of: &'a OfRevision) -> impl Iterator<Item = i64> {
        of.events
            .iter()
            .filter_map(|id| self.events.get(id))
            .flat_map(|event| event.links.iter().map(|(entity, _, _)| *entity))
    }

    /// See [`memory_store::expansion::entities_called`].
    pub(super) fn called(&self, names: &[String], limit: usize) -> Vec<i64> {
        let mut roots: Vec<i64> = Vec::new();
        for name in names {
            let holders = self.named.get(name.as_str()).into_iter().flat_map(BTreeMap::keys);
            let mut of_name: Vec<i64> =
                holders.take(HOLDERS_MAX).filter_map(|holder| self.root(*holder)).collect();
            of_name.sort_unstable();
            for root in of_name {
                if !roots.contains(&root) {
                    roots.push(root);
                }
            }
        }
        roots.truncate(limit);
        roots
    }

    /// See [`memory_store::expansion::related_events`]: the events' ids with the reasons.
    pub(super) fn related(
        &self,
        revisions: &[RevisionId],
        named: &[i64],
        budget: usize,
        include_superseded: bool,
    ) -> Vec<(String, String)> {
        let seeds: Vec<&OfRevision> = revisions.iter().filter_map(|id| self.of_revision(*id)).collect();
        let is_seed: HashSet<&EventId> = seeds.iter().flat_map(|of| &of.events).collect();
        let depth = (10 + 2 * budget).min(COUNTED_MAX);
        let mut found: HashMap<&EventId, Candidate<'_>> = HashMap::new();
        for (root, is_named) in self.seed_entities(&seeds, named) {
            let members: Vec<(i64, &Entity)> = std::iter::once(root)
                .chain(self.members_of(root).take(MEMBERS_MAX))
                .filter_map(|id| Some((id, self.entities.get(&id)?)))
                .collect();
            let counted = |events: &Newest| events.len().min(COUNTED_MAX);
            let common: usize =
                members.iter().map(|(_, it)| counted(&it.acts_in) + counted(&it.is_matter_of)).sum();
            let weight = if is_named { 1.0 } else { 1.0 / (2.0 + common as f64).ln() };
            let kinds = members
                .iter()
                .flat_map(|(_, it)| [(true, 2.0 * weight, &it.acts_in), (false, weight, &it.is_matter_of)]);
            for (as_actor, weight, events) in kinds {
                for (Reverse(occurred_at), event_id) in events.iter().take(depth) {
                    if is_seed.contains(event_id) {
                        continue;
                    }
                    let by = (as_actor, weight, root);
                    let first = Candidate { event_id, score: 0.0, occurred_at: *occurred_at, by };
                    let candidate = found.entry(event_id).or_insert(first);
                    candidate.score += weight;
                    candidate.occurred_at = candidate.occurred_at.max(*occurred_at);
                    if is_better(by, candidate.by) {
                        candidate.by = by;
                    }
                }
            }
        }
        let mut found: Vec<Candidate<'_>> = found.into_values().collect();
        found.sort_unstable_by(|a, b| {
            let newer = b.occurred_at.cmp(&a.occurred_at);
            b.score.total_cmp(&a.score).then(newer).then_with(|| a.event_id.cmp(b.event_id))
        });
        let is_shown = |it: &&Candidate<'_>| {
            include_superseded || self.events.get(it.event_id).is_some_and(|event| event.is_latest)
        };
        let told = |it: &Candidate<'_>| {
            let (as_actor, _, entity) = it.by;
            let kind = if as_actor { "same_actor" } else { "same_subject" };
            Some((it.event_id.to_string(), format!("{kind}:{}", self.row(entity)?.name)))
        };
        found.iter().filter(is_shown).take(budget).filter_map(told).collect()
    }

    /// The entities that bring in events: those named, then those that most events of the texts are of.
    fn seed_entities(&self, seeds: &[&OfRevision], named: &[i64]) -> Vec<(i64, bool)> {
        let mut links: HashMap<i64, (bool, usize)> = HashMap::new();
        for entity in seeds.iter().flat_map(|of| self.links_of(of)) {
            if let Some(root) = self.root(entity) {
                links.entry(root).or_default().1 += 1;
            }
        }
        for root in named.iter().filter_map(|id| self.root(*id)) {
            links.entry(root).or_default().0 = true;
        }
        let mut seeds: Vec<(i64, (bool, usize))> = links.into_iter().collect();
        seeds.sort_unstable_by_key(|(root, order)| (Reverse(*order), *root));
        seeds.truncate(SEEDS_MAX);
        seeds.into_iter().map(|(root, (is_named, _))| (root, is_named)).collect()
    }

    /// See [`memory_store::expansion::entities_of`].
    pub(super) fn entities_of(
        &self,
        revisions: &[RevisionId],
        named: &[i64],
        limit: usize,
    ) -> Vec<FoundEntity> {
        let mut found: HashMap<i64, (bool, HashSet<i64>)> = HashMap::new();
        for (revision, of) in revisions.iter().filter_map(|id| Some((id.0, self.of_revision(*id)?))) {
            for entity in of.mentions.iter().copied().chain(self.links_of(of)) {
                if let Some(root) = self.root(entity) {
                    found.entry(root).or_default().1.insert(revision);
                }
            }
        }
        for root in named.iter().filter_map(|id| self.root(*id)) {
            found.entry(root).or_default().0 = true;
        }
        let mut order: Vec<(i64, (bool, usize))> =
            found.into_iter().map(|(root, (is_named, texts))| (root, (is_named, texts.len()))).collect();
        order.sort_unstable_by_key(|(root, order)| (Reverse(*order), *root));
        order.truncate(limit);
        let told = |(root, order)| Some((order, self.told(root)?));
        let mut told: Vec<((bool, usize), FoundEntity)> = order.into_iter().filter_map(told).collect();
        told.sort_by(|(a_order, a), (b_order, b)| {
            let by_mentions = b_order.cmp(a_order).then(b.mention_count.cmp(&a.mention_count));
            by_mentions.then_with(|| (&a.name, &a.entity_type).cmp(&(&b.name, &b.entity_type)))
        });
        told.into_iter().map(|(_, entity)| entity).collect()
    }

    fn told(&self, root: i64) -> Option<FoundEntity> {
        let row = self.row(root)?;
        let ids: Vec<i64> = std::iter::once(root).chain(self.members_of(root)).collect();
        let known: Vec<&Entity> = ids.iter().filter_map(|id| self.entities.get(id)).collect();
        // Of each normalised name the first in the alphabet.
        let mut aliases: BTreeMap<&str, &str> = BTreeMap::new();
        for (normalised, alias) in known.iter().flat_map(|entity| entity.names.keys()) {
            if *normalised != row.normalised {
                let first = aliases.entry(normalised).or_insert(alias);
                *first = (*first).min(alias);
            }
        }
        let mut aliases: Vec<String> = aliases.into_values().map(str::to_owned).collect();
        aliases.sort_unstable();
        Some(FoundEntity {
            name: row.name.to_string(),
            entity_type: row.entity_type.to_string(),
            mention_count: known.iter().map(|entity| entity.mentions).sum(),
            aliases,
            possibly_same: self.possibly_same(root, &known),
        })
    }

    fn possibly_same(&self, root: i64, known: &[&Entity]) -> Vec<MaybeSame> {
        let mut others: BTreeMap<i64, f32> = BTreeMap::new();
        for (other, score) in known.iter().flat_map(|entity| &entity.candidates) {
            if let Some(other) = self.root(*other).filter(|other| *other != root) {
                let best = others.entry(other).or_insert(*score);
                *best = best.max(*score);
            }
        }
        let mut others: Vec<(i64, f32)> = others.into_iter().collect();
        others.sort_by(|a, b| b.1.total_cmp(&a.1));
        others.truncate(SAME_MAX);
        let told = |(id, score)| Some(MaybeSame { name: self.row(id)?.name.to_string(), score });
        others.into_iter().filter_map(told).collect()
    }
}

impl Entity {
    fn events(&mut self, as_actor: bool) -> &mut Newest {
        if as_actor { &mut self.acts_in } else { &mut self.is_matter_of }
    }
}

/// Who acts comes before what it is about; then the greater weight, then the earlier known.
fn is_better(one: (bool, f64, i64), other: (bool, f64, i64)) -> bool {
    one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(other.2.cmp(&one.2)).is_gt()
}

fn count_down<K: Ord>(counts: &mut BTreeMap<K, u32>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}
