//! Who is meant by the names of a text: the entities that are known already, or new ones.
//!
//! Certain signs are looked up, the rest is weighed by `memory_core::entity::resolution`. Whoever would make an entity,
//! or give one an address, first takes locks on the name and the addresses and reads again: so two writers never make
//! one entity twice, nor give one entity the addresses of two people. A name that is known takes no lock.

use std::collections::{BTreeSet, HashMap, HashSet};

use memory_core::entity::resolution::{Fit, Shared, Surroundings, choose, coreference, fit, is_short_name};
use memory_core::entity::{EntityType, is_address, name_keys, normalised_name};
use memory_core::event::ExtractedEntity;
use memory_core::id::Namespace;

use super::read::{self, Candidate, Holder, Seen, Twin, Weighed};
use super::{Doubt, NewEntity, entities_by_key, insert_doubts};
use crate::events::Source;
use crate::{StoreError, Tx};

/// Of the entities of one name, the one for texts that do not say which of the others they mean.
const UNDECIDED: &str = "?";
/// The most names of one text that are weighed; further ones are taken for entities of their own.
const WEIGHED_MAX: usize = 100;
/// The most entities that are weighed for one name, and for all names of a text.
const CANDIDATES_MAX: usize = 8;
const CANDIDATES_OF_TEXT_MAX: usize = 200;
/// A score that changed by less is not written again.
const SCORE_STEP: f32 = 0.05;
/// Locks are taken on so many slots a namespace: a text may name thousands, and the table of locks is finite.
const LOCK_SLOTS: u64 = 256;

/// What a revision has told before: the name, and whom it was taken for.
#[derive(Debug, Clone)]
pub(crate) struct ToldBefore {
    pub(crate) normalised: String,
    pub(crate) entity_id: i64,
}

/// The id of each entity of an extraction.
pub(crate) async fn resolve_entities(
    tx: &mut Tx,
    ns: &Namespace,
    sources: &[Source],
    entities: &[ExtractedEntity],
    told: &[ToldBefore],
) -> Result<Vec<i64>, StoreError> {
    let leaders = coreference(entities);
    let groups = Group::of(entities, &leaders);
    let around = Around::of(sources);
    let mut locked = BTreeSet::new();
    let (known, plans) = loop {
        let known = Known::read(tx, ns, &groups, told, &around.addresses).await?;
        let plans: Vec<Plan> = groups.iter().map(|group| known.plan(group)).collect();
        let slots: BTreeSet<i64> = groups
            .iter()
            .zip(&plans)
            .filter(|(_, plan)| plan.is_claim())
            .flat_map(|(group, _)| group.lock_slots())
            .collect();
        if slots.is_subset(&locked) {
            break (known, plans);
        }
        lock(tx, ns, &slots).await?;
        locked.extend(slots);
    };
    let weighed = weigh(tx, ns, &groups, &plans, &known, &around).await?;
    let ids = settle(tx, ns, &groups, &plans, weighed).await?;
    let group_of: HashMap<usize, usize> =
        groups.iter().enumerate().map(|(at, group)| (group.leader, at)).collect();
    Ok(leaders.iter().map(|leader| ids[group_of[leader]]).collect())
}

/// An entity as one text tells it, under all of its names there.
struct Group<'a> {
    leader: usize,
    entity_type: EntityType,
    name: &'a str,
    normalised: String,
    addresses: Vec<String>,
    handles: Vec<String>,
}

impl<'a> Group<'a> {
    fn of(entities: &'a [ExtractedEntity], leaders: &[usize]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let mut places: HashMap<usize, usize> = HashMap::new();
        let in_order = (0..entities.len()).filter(|at| leaders[*at] == *at);
        for leader in in_order {
            places.insert(leader, groups.len());
            groups.push(Self {
                leader,
                entity_type: entities[leader].entity_type,
                name: &entities[leader].name,
                normalised: normalised_name(&entities[leader].name),
                addresses: Vec::new(),
                handles: Vec::new(),
            });
        }
        for (entity, leader) in entities.iter().zip(leaders) {
            let Some(group) = places.get(leader).map(|at| &mut groups[*at]) else { continue };
            if group.entity_type != EntityType::Person {
                continue;
            }
            for name in entity.aliases.iter().chain([&entity.name]).map(|name| normalised_name(name)) {
                let list = match (is_address(&name), name.starts_with('@')) {
                    (true, _) => &mut group.addresses,
                    (_, true) => &mut group.handles,
                    _ => continue,
                };
                if !list.contains(&name) {
                    list.push(name);
                }
            }
        }
        for group in &mut groups {
            group.addresses.sort_unstable();
        }
        groups
    }

    fn is_short(&self) -> bool {
        self.addresses.is_empty() && is_short_name(self.entity_type, self.name)
    }

    /// Where others wait that would make the same entity or one that may be the same, or claim the same address.
    fn lock_slots(&self) -> impl Iterator<Item = i64> {
        let keyed = |key: String| format!("{}:{key}", self.entity_type);
        let keys = name_keys(self.entity_type, self.name).into_iter().map(keyed);
        let name = keyed(self.normalised.clone());
        let names =
            std::iter::once(name).chain(keys).chain(self.addresses.iter().chain(&self.handles).cloned());
        names.map(|name| (fnv(&name) % LOCK_SLOTS) as i64)
    }
}

fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Every writer takes its locks in the same order, so that two of them never wait for each other in a circle.
async fn lock(tx: &mut Tx, ns: &Namespace, slots: &BTreeSet<i64>) -> Result<(), StoreError> {
    sqlx::query(
        "select pg_advisory_xact_lock(s.slot)
         from (select hashtextextended($1, 6) # n as slot from unnest($2::bigint[]) n order by slot) s",
    )
    .bind(ns.as_str())
    .bind(slots.iter().copied().collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Whom a name is taken for before anything is weighed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Plan {
    Known {
        entity_id: i64,
        root: i64,
        /// It gets an address that nobody has.
        claims: bool,
    },
    /// Nothing certain: an entity of its own, unless another one is meant.
    Open { own: Own, claims: bool },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Own {
    Known { entity_id: i64, root: i64 },
    New { distinguisher: String },
}

impl Plan {
    fn is_claim(&self) -> bool {
        match self {
            Self::Known { claims, .. } => *claims,
            Self::Open { own, claims } => *claims || matches!(own, Own::New { .. }),
        }
    }
}

/// What is known of the names of a text.
struct Known {
    holders: HashMap<String, Vec<Holder>>,
    twins: HashMap<(String, String), Vec<Twin>>,
    told: HashMap<(String, String), Vec<Twin>>,
    /// Who takes part, by address.
    part_takers: HashSet<i64>,
}

impl Known {
    async fn read(
        tx: &mut Tx,
        ns: &Namespace,
        groups: &[Group<'_>],
        told: &[ToldBefore],
        addresses: &[String],
    ) -> Result<Self, StoreError> {
        let signs = groups.iter().flat_map(|group| group.addresses.iter().chain(&group.handles));
        let asked: BTreeSet<&String> = signs.chain(addresses).collect();
        let asked: Vec<String> = asked.into_iter().cloned().collect();
        let mut holders: HashMap<String, Vec<Holder>> = HashMap::new();
        for holder in read::holders(tx, ns, &asked).await? {
            holders.entry(holder.name.clone()).or_default().push(holder);
        }
        let part_takers =
            addresses.iter().filter_map(|address| holders.get(address)).flatten().map(|holder| holder.root);
        let part_takers = part_takers.collect();
        // Who has an address only matters to those who have one that nobody is known by.
        let asks_addresses = groups.iter().any(|g| g.addresses.iter().any(|a| !holders.contains_key(a)));
        let names: BTreeSet<(EntityType, String)> =
            groups.iter().map(|group| (group.entity_type, group.normalised.clone())).collect();
        let names: Vec<(EntityType, String)> = names.into_iter().collect();
        let told_ids: Vec<i64> = told.iter().map(|told| told.entity_id).collect();
        let (mut twins, mut told_of): (HashMap<_, Vec<Twin>>, HashMap<_, Vec<Twin>>) = Default::default();
        for twin in read::twins(tx, ns, &names, &told_ids, asks_addresses).await? {
            for before in told.iter().filter(|told| told.entity_id == twin.entity_id) {
                let of_name = told_of.entry((twin.entity_type.clone(), before.normalised.clone()));
                let of_name: &mut Vec<Twin> = of_name.or_default();
                if of_name.iter().all(|other| other.entity_id != twin.entity_id) {
                    of_name.push(twin.clone());
                }
            }
            twins.entry((twin.entity_type.clone(), twin.normalised.clone())).or_default().push(twin);
        }
        Ok(Self { holders, twins, told: told_of, part_takers })
    }

    fn plan(&self, group: &Group<'_>) -> Plan {
        let holders = |signs: &[String]| -> Vec<&Holder> {
            signs.iter().filter_map(|sign| self.holders.get(sign)).flatten().collect()
        };
        let by_address = holders(&group.addresses);
        let has_new_address = group.addresses.iter().any(|address| !self.holders.contains_key(address));
        if let Some(first) = by_address.first() {
            return Plan::Known { entity_id: first.entity_id, root: first.root, claims: has_new_address };
        }
        let claims = has_new_address || group.handles.iter().any(|handle| !self.holders.contains_key(handle));
        // From here on the addresses, if there are any, are new: nobody who has another one can be meant.
        let is_free = |has_address: bool| group.addresses.is_empty() || !has_address;
        let by_handle = holders(&group.handles);
        if let Some(first) = by_handle.first().filter(|first| {
            is_free(first.has_address) && by_handle.iter().all(|holder| holder.root == first.root)
        }) {
            return Plan::Known { entity_id: first.entity_id, root: first.root, claims };
        }
        let key = (group.entity_type.as_str().to_owned(), group.normalised.clone());
        if let Some([told]) = self.told.get(&key).map(Vec::as_slice)
            && is_free(told.has_address)
        {
            return Plan::Known { entity_id: told.entity_id, root: told.root, claims };
        }
        let twins = self.twins.get(&key).map_or(&[][..], Vec::as_slice);
        Self::plan_by_name(group, twins, claims)
    }

    fn plan_by_name(group: &Group<'_>, twins: &[Twin], claims: bool) -> Plan {
        let known = |twin: &Twin| Plan::Known { entity_id: twin.entity_id, root: twin.root, claims };
        let one = twins.first().filter(|first| twins.iter().all(|twin| twin.root == first.root));
        let own = |distinguisher: &str| Plan::Open {
            own: match twins.iter().find(|twin| twin.distinguisher == distinguisher) {
                Some(twin) => Own::Known { entity_id: twin.entity_id, root: twin.root },
                None => Own::New { distinguisher: distinguisher.to_owned() },
            },
            claims,
        };
        if let Some(address) = group.addresses.first() {
            return match one {
                Some(twin) if !twin.has_address => known(twin),
                _ if twins.is_empty() => own(""),
                _ => match twins.iter().find(|twin| group.addresses.contains(&twin.distinguisher)) {
                    Some(twin) => known(twin),
                    None => own(address),
                },
            };
        }
        match one {
            Some(twin) if group.is_short() => {
                Plan::Open { own: Own::Known { entity_id: twin.entity_id, root: twin.root }, claims }
            }
            Some(twin) => known(twin),
            None if twins.is_empty() => own(""),
            None => own(UNDECIDED),
        }
    }
}

/// What the sources say about who takes part, and where they are from.
struct Around<'a> {
    names: HashSet<String>,
    addresses: Vec<String>,
    conversations: Vec<&'a str>,
    places: Vec<&'a str>,
    date: Option<jiff::Timestamp>,
}

impl<'a> Around<'a> {
    fn of(sources: &'a [Source]) -> Self {
        let people = sources.iter().flat_map(|s| s.meta.participants.iter().chain(&s.meta.author));
        let parts: HashSet<String> = people
            .flat_map(|written| written.split(['<', '>', '(', ')', ',']))
            .map(normalised_name)
            .filter(|name| !name.is_empty())
            .collect();
        let (mut addresses, names): (Vec<String>, Vec<String>) =
            parts.into_iter().partition(|name| is_address(name));
        addresses.sort_unstable();
        let mut conversations: Vec<&str> =
            sources.iter().filter_map(|s| s.meta.conversation_id.as_deref()).collect();
        conversations.dedup();
        let mut places: Vec<&str> = sources.iter().filter_map(|s| s.meta.source.as_deref()).collect();
        places.dedup();
        Self {
            names: names.into_iter().collect(),
            addresses,
            conversations,
            places,
            date: sources.iter().map(|s| s.date).max(),
        }
    }

    /// What surrounds a name and a candidate; what the name itself is taken for, if nothing else, is none of it.
    fn surroundings(
        &self,
        candidate: &Candidate,
        seen: Option<&Seen>,
        known: &Known,
        own: Option<i64>,
    ) -> Surroundings {
        let mut shared = Shared::default();
        let in_common = seen.iter().flat_map(|seen| &seen.shared).filter(|(id, _)| Some(*id) != own);
        in_common.for_each(|(_, mentions)| shared.add(*mentions));
        let days = |seen: &Seen| {
            self.date.map(|date| date.duration_since(seen.said_at).as_secs_f32().abs() / 86_400.0)
        };
        Surroundings {
            is_known_name: candidate.is_known_name,
            same_conversation: seen.is_some_and(|seen| seen.same_conversation),
            takes_part: known.part_takers.contains(&candidate.root)
                || candidate.names.iter().any(|name| self.names.contains(&normalised_name(name))),
            shared,
            same_source: seen.is_some_and(|seen| seen.same_source),
            days: seen.and_then(days),
        }
    }
}

/// What weighing has come to for a group.
#[derive(Default)]
struct Outcome {
    same: Option<i64>,
    doubts: Vec<(i64, Fit)>,
}

/// Weighs what is open. What is certain in the same text speaks for those who were mentioned with it, and cannot be
/// meant by another name.
async fn weigh(
    tx: &mut Tx,
    ns: &Namespace,
    groups: &[Group<'_>],
    plans: &[Plan],
    known: &Known,
    around: &Around<'_>,
) -> Result<HashMap<usize, Outcome>, StoreError> {
    let mut certain: Vec<i64> = plans
        .iter()
        .filter_map(|plan| match plan {
            Plan::Known { root, .. } => Some(*root),
            Plan::Open { .. } => None,
        })
        .collect();
    certain.sort_unstable();
    certain.dedup();
    let own = |at: usize| match &plans[at] {
        Plan::Open { own: Own::Known { root, .. }, .. } => Some(*root),
        _ => None,
    };
    let companions: BTreeSet<i64> = certain.iter().copied().chain((0..plans.len()).filter_map(own)).collect();
    let open: Vec<usize> =
        (0..groups.len()).filter(|at| matches!(plans[*at], Plan::Open { .. })).take(WEIGHED_MAX).collect();
    if open.is_empty() {
        return Ok(HashMap::new());
    }
    let asked: Vec<Weighed<'_>> = open
        .iter()
        .map(|at| Weighed {
            entity_type: groups[*at].entity_type,
            normalised: &groups[*at].normalised,
            own_id: match &plans[*at] {
                Plan::Open { own: Own::Known { entity_id, .. }, .. } => Some(*entity_id),
                _ => None,
            },
            keys: name_keys(groups[*at].entity_type, groups[*at].name),
            asks_address: !groups[*at].addresses.is_empty(),
        })
        .collect();
    let mut found = read::candidates(tx, ns, &asked).await?;
    found.retain(|candidate| {
        let group = &groups[open[candidate.n as usize]];
        let may_be = group.addresses.is_empty() || !candidate.has_address;
        may_be && !candidate.is_rejected && certain.binary_search(&candidate.root).is_err()
    });
    let mut outcomes: HashMap<usize, Outcome> = HashMap::new();
    let mut to_weigh: Vec<(usize, Vec<Candidate>)> = Vec::new();
    let mut left = CANDIDATES_OF_TEXT_MAX;
    for (n, at) in open.iter().enumerate() {
        let of_name = found.iter().filter(|candidate| candidate.n as usize == n);
        let group = &groups[*at];
        match plainly_known(group, of_name.clone()) {
            Some(root) => {
                outcomes.insert(*at, Outcome { same: Some(root), doubts: Vec::new() });
            }
            None => {
                let best = likeliest(group, of_name.cloned().collect(), CANDIDATES_MAX.min(left));
                left -= best.len();
                if !best.is_empty() {
                    to_weigh.push((*at, best));
                }
            }
        }
    }
    if to_weigh.is_empty() {
        return Ok(outcomes);
    }
    let roots: BTreeSet<i64> = to_weigh.iter().flat_map(|(_, found)| found.iter().map(|c| c.root)).collect();
    let roots: Vec<i64> = roots.into_iter().collect();
    let companions: Vec<i64> = companions.into_iter().collect();
    let seen = read::surroundings(tx, ns, &roots, &around.conversations, &around.places, &companions).await?;
    for (at, found) in to_weigh {
        outcomes.insert(at, decide(&groups[at], own(at), &found, &seen, known, around));
    }
    Ok(outcomes)
}

/// A full name that exactly one entity goes by is that entity's.
fn plainly_known<'c>(group: &Group<'_>, found: impl Iterator<Item = &'c Candidate>) -> Option<i64> {
    if group.is_short() {
        return None;
    }
    let mut holders = found.filter(|candidate| candidate.is_known_name);
    let first = holders.next()?;
    holders.next().is_none().then_some(first.root)
}

/// Those of the candidates whose names are most alike.
fn likeliest(group: &Group<'_>, found: Vec<Candidate>, limit: usize) -> Vec<Candidate> {
    let alone = |candidate: &Candidate| Surroundings {
        is_known_name: candidate.is_known_name,
        ..Surroundings::default()
    };
    let mut scored: Vec<(f32, Candidate)> = found
        .into_iter()
        .filter_map(|candidate| {
            let fit = fit(group.entity_type, group.name, &candidate.names, &alone(&candidate))?;
            Some((fit.score, candidate))
        })
        .collect();
    // The newest of equals.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.root.cmp(&a.1.root)));
    scored.into_iter().take(limit).map(|(_, candidate)| candidate).collect()
}

fn decide(
    group: &Group<'_>,
    own: Option<i64>,
    found: &[Candidate],
    seen: &HashMap<i64, Seen>,
    known: &Known,
    around: &Around<'_>,
) -> Outcome {
    let fits: Vec<Option<Fit>> = found
        .iter()
        .map(|candidate| {
            let surroundings = around.surroundings(candidate, seen.get(&candidate.root), known, own);
            fit(group.entity_type, group.name, &candidate.names, &surroundings)
        })
        .collect();
    let choice = choose(&fits);
    let doubts = choice.doubts.iter().filter_map(|at| {
        let fit = fits[*at].clone()?;
        let is_news = found[*at].said_score.is_none_or(|said| fit.score > said + SCORE_STEP);
        is_news.then_some((found[*at].root, fit))
    });
    Outcome { same: choice.same.map(|at| found[at].root), doubts: doubts.collect() }
}

/// Makes what is new, and writes down what is doubtful.
async fn settle(
    tx: &mut Tx,
    ns: &Namespace,
    groups: &[Group<'_>],
    plans: &[Plan],
    mut weighed: HashMap<usize, Outcome>,
) -> Result<Vec<i64>, StoreError> {
    let mut new: Vec<NewEntity<'_>> = Vec::new();
    for (at, (group, plan)) in groups.iter().zip(plans).enumerate() {
        let is_other = weighed.get(&at).is_some_and(|outcome| outcome.same.is_some());
        if let Plan::Open { own: Own::New { distinguisher }, .. } = plan
            && !is_other
        {
            new.push(NewEntity {
                entity_type: group.entity_type.as_str(),
                normalised: group.normalised.clone(),
                distinguisher: distinguisher.clone(),
                name: group.name,
            });
        }
    }
    let made = if new.is_empty() { HashMap::new() } else { entities_by_key(tx, ns, new).await? };
    let mut ids = Vec::with_capacity(groups.len());
    let mut doubts: Vec<Doubt> = Vec::new();
    for (at, (group, plan)) in groups.iter().zip(plans).enumerate() {
        let outcome = weighed.remove(&at).unwrap_or_default();
        let id = match plan {
            Plan::Known { entity_id, .. } => *entity_id,
            Plan::Open { own, .. } => match (outcome.same, own) {
                (Some(root), _) => root,
                (None, Own::Known { entity_id, .. }) => *entity_id,
                (None, Own::New { distinguisher }) => {
                    let key = (
                        group.entity_type.as_str().to_owned(),
                        group.normalised.clone(),
                        distinguisher.clone(),
                    );
                    made.get(&key).copied().ok_or(StoreError::Conflict)?
                }
            },
        };
        doubts.extend(outcome.doubts.into_iter().filter(|(other, _)| *other != id).map(|(other, fit)| {
            Doubt { low_id: id.min(other), high_id: id.max(other), score: fit.score, reasons: fit.reasons }
        }));
        ids.push(id);
    }
    insert_doubts(tx, ns, doubts).await?;
    Ok(ids)
}
