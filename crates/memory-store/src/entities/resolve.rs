//! Which entities the names of a text refer to: existing ones, or new ones.
//!
//! Certain signs are looked up, the rest is weighed by `memory_core::entity_resolution`. A transaction that would make an entity,
//! or give one an address or a fuller name, first takes locks on the name and the addresses and reads again: so two writers
//! never make one entity twice, nor give one entity the addresses of two people. A name that is known takes no lock.

use std::collections::{BTreeSet, HashMap, HashSet};

use memory_core::entity::{EntityType, is_address, name_keys, normalised_name};
use memory_core::entity_resolution::{coreference, is_fuller_name, is_short_name};
use memory_core::event::ExtractedEntity;
use memory_core::id::Namespace;
use memory_language::hash::stable_hash;

use super::read::{self, Holder, Twin};
use super::weigh::{Around, Outcome, weigh};
use super::{Doubt, NewEntity, entities_by_key, insert_doubts, renew_keys};
use crate::events::Source;
use crate::{StoreError, Tx};

/// Of the entities of one name, the one for texts that do not say which of the others they mean.
const UNDECIDED: &str = "?";
/// Locks are taken on so many slots a namespace: a text may name thousands, and the table of locks is finite.
const LOCK_SLOTS: u64 = 256;

/// A name that a revision had before, and the entity that it was resolved to.
#[derive(Debug, Clone)]
pub(crate) struct EarlierName {
    pub(crate) normalised: String,
    pub(crate) entity_id: i64,
}

/// The id of each entity of an extraction.
pub(crate) async fn resolve_entities(
    tx: &mut Tx,
    ns: &Namespace,
    sources: &[Source],
    entities: &[ExtractedEntity],
    earlier: &[EarlierName],
) -> Result<Vec<i64>, StoreError> {
    let leaders = coreference(entities);
    let groups = Group::of(entities, &leaders);
    let around = Around::of(sources);
    let mut locked = BTreeSet::new();
    let (known, plans) = loop {
        let known = KnownNames::read(tx, ns, &groups, earlier, &around.addresses).await?;
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

/// An entity as one text names it, under all of its names there.
pub(super) struct Group<'a> {
    leader: usize,
    pub(super) entity_type: EntityType,
    pub(super) name: &'a str,
    pub(super) normalised: String,
    pub(super) addresses: Vec<String>,
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

    pub(super) fn is_short(&self) -> bool {
        self.addresses.is_empty() && is_short_name(self.entity_type, self.name)
    }

    /// Whether it says in full what the name of an entity that it is known to mean abbreviates.
    fn renames(&self, meant: &Holder) -> bool {
        self.is_in_full() && is_fuller_name(self.entity_type, self.name, &meant.root_name)
    }

    fn is_in_full(&self) -> bool {
        self.entity_type == EntityType::Person && self.normalised.contains(' ')
    }

    /// Where others wait that would make the same entity or one that may be the same, or claim the same address.
    fn lock_slots(&self) -> impl Iterator<Item = i64> {
        let keyed = |key: String| format!("{}:{key}", self.entity_type);
        let keys = name_keys(self.entity_type, self.name).into_iter().map(keyed);
        let name = keyed(self.normalised.clone());
        let names =
            std::iter::once(name).chain(keys).chain(self.addresses.iter().chain(&self.handles).cloned());
        names.map(|name| (stable_hash(&name) % LOCK_SLOTS) as i64)
    }
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
pub(super) enum Plan {
    Known {
        entity_id: i64,
        root: i64,
        /// It gets an address that no entity has, or a fuller name.
        claims: bool,
    },
    /// Nothing certain: an entity of its own, unless another one is meant.
    Open { own: Own, claims: bool },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Own {
    Known { entity_id: i64, root: i64 },
    New { distinguisher: String },
}

impl Plan {
    /// The entity that is certainly meant.
    pub(super) fn certain(&self) -> Option<i64> {
        match self {
            Self::Known { root, .. } => Some(*root),
            Self::Open { .. } => None,
        }
    }

    /// The entity that is taken for an open name, unless another one is meant.
    pub(super) fn own_id(&self) -> Option<i64> {
        match self {
            Self::Open { own: Own::Known { entity_id, .. }, .. } => Some(*entity_id),
            _ => None,
        }
    }

    /// What that counts as.
    pub(super) fn own_root(&self) -> Option<i64> {
        match self {
            Self::Open { own: Own::Known { root, .. }, .. } => Some(*root),
            _ => None,
        }
    }

    fn is_claim(&self) -> bool {
        match self {
            Self::Known { claims, .. } => *claims,
            Self::Open { own, claims } => *claims || matches!(own, Own::New { .. }),
        }
    }
}

/// What is known of the names of a text.
pub(super) struct KnownNames {
    holders: HashMap<String, Vec<Holder>>,
    twins: HashMap<(String, String), Vec<Twin>>,
    earlier: HashMap<(String, String), Vec<Twin>>,
    /// Participants, by address.
    pub(super) part_takers: HashSet<i64>,
}

impl KnownNames {
    async fn read(
        tx: &mut Tx,
        ns: &Namespace,
        groups: &[Group<'_>],
        earlier: &[EarlierName],
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
        // Addresses of others only matter to an entity with an address that none is known by.
        let asks_addresses = groups.iter().any(|g| g.addresses.iter().any(|a| !holders.contains_key(a)));
        let names: BTreeSet<(EntityType, String)> =
            groups.iter().map(|group| (group.entity_type, group.normalised.clone())).collect();
        let names: Vec<(EntityType, String)> = names.into_iter().collect();
        let earlier_ids: Vec<i64> = earlier.iter().map(|name| name.entity_id).collect();
        let (mut twins, mut earlier_of): (HashMap<_, Vec<Twin>>, HashMap<_, Vec<Twin>>) = Default::default();
        for twin in read::twins(tx, ns, &names, &earlier_ids, asks_addresses).await? {
            for before in earlier.iter().filter(|name| name.entity_id == twin.entity_id) {
                let of_name = earlier_of.entry((twin.entity_type.clone(), before.normalised.clone()));
                let of_name: &mut Vec<Twin> = of_name.or_default();
                if of_name.iter().all(|other| other.entity_id != twin.entity_id) {
                    of_name.push(twin.clone());
                }
            }
            twins.entry((twin.entity_type.clone(), twin.normalised.clone())).or_default().push(twin);
        }
        Ok(Self { holders, twins, earlier: earlier_of, part_takers })
    }

    fn plan(&self, group: &Group<'_>) -> Plan {
        let holders = |signs: &[String]| -> Vec<&Holder> {
            signs.iter().filter_map(|sign| self.holders.get(sign)).flatten().collect()
        };
        let by_address = holders(&group.addresses);
        let has_new_address = group.addresses.iter().any(|address| !self.holders.contains_key(address));
        if let Some(first) = by_address.first() {
            let claims = has_new_address || group.renames(first);
            return Plan::Known { entity_id: first.entity_id, root: first.root, claims };
        }
        let claims = has_new_address || group.handles.iter().any(|handle| !self.holders.contains_key(handle));
        // From here on the addresses, if there are any, are new: an entity with another one cannot be meant.
        let is_free = |has_address: bool| group.addresses.is_empty() || !has_address;
        let by_handle = holders(&group.handles);
        if let Some(first) = by_handle.first().filter(|first| {
            is_free(first.has_address) && by_handle.iter().all(|holder| holder.root == first.root)
        }) {
            let claims = claims || group.renames(first);
            return Plan::Known { entity_id: first.entity_id, root: first.root, claims };
        }
        let key = (group.entity_type.as_str().to_owned(), group.normalised.clone());
        if let Some([twin]) = self.earlier.get(&key).map(Vec::as_slice)
            && is_free(twin.has_address)
        {
            return Plan::Known { entity_id: twin.entity_id, root: twin.root, claims };
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
    let mut fuller: Vec<(i64, &Group<'_>)> = Vec::new();
    for (at, (group, plan)) in groups.iter().zip(plans).enumerate() {
        let outcome = weighed.remove(&at).unwrap_or_default();
        let is_signed = !(group.addresses.is_empty() && group.handles.is_empty());
        let meant = plan.certain().filter(|_| is_signed).or(outcome.same);
        fuller.extend(meant.filter(|_| group.is_in_full()).map(|root| (root, group)));
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
    name_in_full(tx, ns, &fuller).await?;
    Ok(ids)
}

/// Gives entities whose names have initials the full names that a text has for them, where no other entity has these.
async fn name_in_full(tx: &mut Tx, ns: &Namespace, named: &[(i64, &Group<'_>)]) -> Result<(), StoreError> {
    if named.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = named.iter().map(|(id, _)| *id).collect();
    let known: Vec<(i64, String)> =
        sqlx::query_as("select entity_id, name from entity where namespace = $1 and entity_id = any($2)")
            .bind(ns.as_str())
            .bind(&ids)
            .fetch_all(&mut **tx)
            .await?;
    let known: HashMap<i64, String> = known.into_iter().collect();
    let is_fuller = |(id, group): &&(i64, &Group<'_>)| {
        known.get(id).is_some_and(|known| is_fuller_name(group.entity_type, group.name, known))
    };
    let mut fuller: Vec<&(i64, &Group<'_>)> = named.iter().filter(is_fuller).collect();
    // One name for each, and each name once.
    fuller.sort_by_key(|(id, _)| *id);
    fuller.dedup_by_key(|(id, _)| *id);
    let mut given = HashSet::new();
    fuller.retain(|(_, group)| given.insert(group.normalised.as_str()));
    let renamed: Vec<(i64, String, String)> = sqlx::query_as(
        "update entity t set name = u.name, normalised = u.normalised
         from unnest($2::bigint[], $3::text[], $4::text[]) u (entity_id, name, normalised)
         where t.namespace = $1 and t.entity_id = u.entity_id
           and not exists (select from entity other
                           where other.namespace = $1 and other.entity_type = t.entity_type
                             and other.normalised = u.normalised)
         returning t.entity_id, t.entity_type, t.name",
    )
    .bind(ns.as_str())
    .bind(fuller.iter().map(|(id, _)| *id).collect::<Vec<_>>())
    .bind(fuller.iter().map(|(_, group)| group.name).collect::<Vec<_>>())
    .bind(fuller.iter().map(|(_, group)| group.normalised.as_str()).collect::<Vec<_>>())
    .fetch_all(&mut **tx)
    .await?;
    renew_keys(tx, ns, &renamed).await
}
