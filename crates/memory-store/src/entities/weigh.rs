//! Weighing: the names of which nothing certain is known, held against the entities that may be meant.

use std::collections::{BTreeSet, HashMap, HashSet};

use memory_core::entity::{is_address, name_keys, normalised_name};
use memory_core::entity_resolution::{Fit, Shared, Surroundings, choose, fit};
use memory_core::id::Namespace;

use super::decisions::{self, Kind};
use super::read::{self, Candidate, SharedContext, Weighed};
use super::resolve::{Group, KnownNames, Plan};
use crate::events::Source;
use crate::{StoreError, Tx};

/// The most names of one text that are weighed; further ones are taken for entities of their own.
const WEIGHED_MAX: usize = 100;
/// The most entities that are weighed for one name, and for all names of a text.
const CANDIDATES_MAX: usize = 8;
const CANDIDATES_OF_TEXT_MAX: usize = 200;
/// A score that changed by less is not written again.
const SCORE_STEP: f32 = 0.05;

/// What weighing has come to for a group.
#[derive(Default)]
pub(super) struct Outcome {
    /// The entity that is meant.
    pub(super) same: Option<i64>,
    /// Those that may be meant too.
    pub(super) doubts: Vec<(i64, Fit)>,
}

/// What the metadata of the sources says: participants, conversations, places and date.
pub(super) struct Around<'a> {
    names: HashSet<String>,
    pub(super) addresses: Vec<String>,
    conversations: Vec<&'a str>,
    places: Vec<&'a str>,
    date: Option<jiff::Timestamp>,
}

impl<'a> Around<'a> {
    pub(super) fn of(sources: &'a [Source]) -> Self {
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

    /// The context that a name shares with a candidate, without the entity that the name itself is taken for by default.
    fn surroundings(
        &self,
        candidate: &Candidate,
        seen: Option<&SharedContext>,
        known: &KnownNames,
        own: Option<i64>,
    ) -> Surroundings {
        let mut shared = Shared::default();
        let in_common = seen.iter().flat_map(|seen| &seen.shared).filter(|(id, _)| Some(*id) != own);
        in_common.for_each(|(_, mentions)| shared.add(*mentions));
        let days = |seen: &SharedContext| {
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

/// Scores what is open. Entities that are certain in the same text are evidence for those mentioned with them, and cannot
/// be meant by another name.
pub(super) async fn weigh(
    tx: &mut Tx,
    ns: &Namespace,
    groups: &[Group<'_>],
    plans: &[Plan],
    known: &KnownNames,
    around: &Around<'_>,
) -> Result<HashMap<usize, Outcome>, StoreError> {
    let certain: BTreeSet<i64> = plans.iter().filter_map(Plan::certain).collect();
    let is_open = |at: &usize| matches!(plans[*at], Plan::Open { .. });
    let open: Vec<usize> = (0..groups.len()).filter(is_open).take(WEIGHED_MAX).collect();
    if open.is_empty() {
        return Ok(HashMap::new());
    }
    let mut found = ask(tx, ns, groups, plans, &open).await?;
    found.retain(|candidate| !certain.contains(&candidate.root));
    let mut outcomes: HashMap<usize, Outcome> = HashMap::new();
    let mut to_weigh: Vec<(usize, Vec<Candidate>)> = Vec::new();
    let mut left = CANDIDATES_OF_TEXT_MAX;
    for (n, at) in open.iter().enumerate() {
        let of_name = found.iter().filter(|candidate| candidate.n as usize == n);
        if let Some(root) = plainly_known(&groups[*at], of_name.clone()) {
            outcomes.insert(*at, Outcome { same: Some(root), doubts: Vec::new() });
            continue;
        }
        let best = likeliest(&groups[*at], of_name.cloned().collect(), CANDIDATES_MAX.min(left));
        left -= best.len();
        if !best.is_empty() {
            to_weigh.push((*at, best));
        }
    }
    if to_weigh.is_empty() {
        return Ok(outcomes);
    }
    let own = |at: usize| plans[at].own_root();
    let companions: BTreeSet<i64> = certain.into_iter().chain((0..plans.len()).filter_map(own)).collect();
    // Without other entities and conversations there is no evidence to read.
    let is_alone = companions.iter().all(|companion| open.iter().all(|at| own(*at) == Some(*companion)));
    let seen = if is_alone && around.conversations.is_empty() {
        HashMap::new()
    } else {
        let roots: BTreeSet<i64> = to_weigh.iter().flat_map(|(_, found)| found).map(|c| c.root).collect();
        let (roots, companions) = (Vec::from_iter(roots), Vec::from_iter(companions));
        read::surroundings(tx, ns, &roots, &around.conversations, &around.places, &companions).await?
    };
    for (at, found) in to_weigh {
        outcomes.insert(at, decide(&groups[at], own(at), &found, &seen, known, around));
    }
    Ok(outcomes)
}

/// Entities that the open names may refer to, as far as neither an address nor a decision excludes them, be it one that
/// waits for its entities.
async fn ask(
    tx: &mut Tx,
    ns: &Namespace,
    groups: &[Group<'_>],
    plans: &[Plan],
    open: &[usize],
) -> Result<Vec<Candidate>, StoreError> {
    let asked: Vec<Weighed<'_>> = open
        .iter()
        .map(|at| Weighed {
            entity_type: groups[*at].entity_type,
            normalised: &groups[*at].normalised,
            own_id: plans[*at].own_id(),
            keys: name_keys(groups[*at].entity_type, groups[*at].name),
            asks_address: !groups[*at].addresses.is_empty(),
        })
        .collect();
    let mut found = read::candidates(tx, ns, &asked).await?;
    found.retain(|candidate| {
        let has_other_address = candidate.has_address && asked[candidate.n as usize].asks_address;
        !has_other_address && !candidate.is_rejected
    });
    if !found.is_empty() {
        let names: Vec<String> = asked.iter().map(|name| name.normalised.to_owned()).collect();
        let mut rejected = decisions::waiting(tx, ns, &names).await?;
        rejected.retain(|(_, decision)| decision.kind == Kind::Rejected);
        found.retain(|candidate| {
            let name = &asked[candidate.n as usize];
            let tells_apart = |a: &decisions::Terms, b: &decisions::Terms| {
                a.name == name.normalised
                    && a.entity_type == name.entity_type.as_str()
                    && candidate.names.iter().any(|other| normalised_name(other) == b.name)
            };
            rejected
                .iter()
                .all(|(_, d)| !tells_apart(&d.first, &d.second) && !tells_apart(&d.second, &d.first))
        });
    }
    Ok(found)
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
    seen: &HashMap<i64, SharedContext>,
    known: &KnownNames,
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
