//! What was found of the questions asked last, for when they are asked again: it holds as long as nothing has changed that the
//! namespace in memory is read from, which each search asks the database for first.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::RecallRequest;
use super::paging::Digest;
use super::ranking::bytes_of;
use super::search::Searched;
use super::tiers::Tier;
use crate::Memory;
use crate::locking::locked;

/// How many are kept, how much memory they take together (most of it shared with the rankings that are kept for further pages),
/// and how long: texts grow older meanwhile, which ranking weighs.
const KEPT_MAX: usize = 256;
const KEPT_BYTES_MAX: usize = 16 << 20;
const KEPT_FOR: Duration = Duration::from_secs(300);

/// The first tiers of the questions asked last.
#[derive(Default)]
pub(crate) struct Repeated(Mutex<HashMap<Digest, Kept>>);

struct Kept {
    at: Instant,
    /// The version of the namespace in memory in which it was found.
    version: u64,
    /// Without the namespace in memory.
    tier: Tier,
}

impl Repeated {
    fn get(&self, question: Digest, version: u64, now: Instant) -> Option<Tier> {
        let all = locked(&self.0);
        let kept = all.get(&question)?;
        let holds = kept.version == version && now.saturating_duration_since(kept.at) <= KEPT_FOR;
        holds.then(|| kept.tier.clone())
    }

    fn put(&self, question: Digest, kept: Kept) {
        let mut all = locked(&self.0);
        all.retain(|_, other| kept.at.saturating_duration_since(other.at) <= KEPT_FOR);
        all.insert(question, kept);
        let mut bytes: usize = all.values().map(|it| bytes_of(&it.tier.ranked)).sum();
        while all.len() > KEPT_MAX || bytes > KEPT_BYTES_MAX {
            let Some(oldest) = all.iter().min_by_key(|(_, it)| it.at).map(|(question, _)| *question) else {
                return;
            };
            bytes -= all.remove(&oldest).map_or(0, |gone| bytes_of(&gone.tier.ranked));
        }
    }
}

impl Memory {
    /// The version of the namespace in memory for which the first tier holds. `None` where it depends on more than the question and
    /// what is noted of changes: on what filters read, the mirror, a reranker, or the hour.
    pub(super) fn holds_for(&self, request: &RecallRequest, searched: &Searched) -> Option<u64> {
        let alone = self.mirror.is_none() && !self.reranks() && !request.filters.narrow();
        let version = searched.resident.as_ref().filter(|_| alone).map(|resident| resident.version());
        version.filter(|_| searched.time.is_none())
    }

    /// What was found when it was asked before.
    pub(super) fn found_before(&self, question: Digest, version: u64, searched: &Searched) -> Option<Tier> {
        let mut tier = self.repeated.get(question, version, Instant::now())?;
        tier.asked.observations = searched.observations;
        tier.asked.resident.clone_from(&searched.resident);
        Some(tier)
    }

    /// Keeps what was found, unless the namespace has changed meanwhile. Directives are read anew each time.
    pub(super) fn keep_found(&self, question: Digest, version: u64, tier: &Tier) {
        let now = tier.asked.resident.as_ref().map(|resident| resident.version());
        if now != Some(version) || tier.asked.question.has_directives {
            return;
        }
        let mut tier = tier.clone();
        tier.asked.resident = None;
        self.repeated.put(question, Kept { at: Instant::now(), version, tier });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_holds_for_its_version_and_a_while_and_the_newest_are_kept() {
        let (repeated, start) = (Repeated::default(), Instant::now());
        let question = |n: usize| Digest::of_order([memory_core::id::RevisionId(n as i64)].into_iter());
        let kept = |at, version| Kept { at, version, tier: Tier::default() };
        repeated.put(question(0), kept(start, 1));
        assert!(repeated.get(question(0), 1, start).is_some());
        assert!(repeated.get(question(0), 2, start).is_none(), "the namespace has changed");
        assert!(repeated.get(question(1), 1, start).is_none());
        let late = start + KEPT_FOR + Duration::from_secs(1);
        assert!(repeated.get(question(0), 1, late).is_none(), "it is too old");
        for n in 1..=KEPT_MAX {
            repeated.put(question(n), kept(start + Duration::from_secs(1), 1));
        }
        assert!(repeated.get(question(0), 1, start).is_none(), "it was the oldest of one too many");
        assert!(repeated.get(question(KEPT_MAX), 1, start).is_some());
    }
}
