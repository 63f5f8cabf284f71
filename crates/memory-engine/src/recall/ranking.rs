//! The order of what was found: one ranking a question, from which all of its pages are cut.
//!
//! A ranking grows in tiers. What a tier brings in does not depend on how many results are wanted, and a wider tier only adds
//! behind what stands there: so the first results are the same whatever the limit. Rankings are kept for a while, so that what
//! is remembered between two pages moves nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use memory_core::id::{Namespace, PassageId, RevisionId};
use memory_core::recall::{ANSWERS_CHANCE_MIN, ArtifactScore};
use memory_store::Pooled;
use memory_store::search::Breadth;

use super::floor::floor;
use super::paging::{Digest, Listing, grown_old};
use super::search::Asked;
use super::{Explanation, RecallRequest, TimeWindow};
use crate::directives::Directive;
use crate::locking::locked;
use crate::{EngineError, Memory};

/// The warning where nothing that was found seems to answer.
pub const NOTHING_ANSWERS: &str =
    "Nothing that was found seems to answer this; the results are only the nearest.";

/// How many results a question has at most, over all its pages.
pub(super) const DEPTH_MAX: usize = 500;
/// What each arm brings in, tier by tier: more texts, and fewer passages of each.
const TIERS: [Breadth; 3] = [
    Breadth { passages: 50, of_text: 5 },
    Breadth { passages: 150, of_text: 3 },
    Breadth { passages: DEPTH_MAX + 1, of_text: 1 },
];
/// The rankings that are kept for further pages: how many, how much memory they take together, and how long each is kept
/// after it was last used.
const KEPT_MAX: usize = 256;
const KEPT_BYTES_MAX: usize = 16 << 20;
const KEPT_FOR: Duration = Duration::from_secs(600);

/// A text that was found, by the passage that stands for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranked {
    pub(super) passage_id: PassageId,
    pub(crate) revision_id: RevisionId,
    pub(super) score: f32,
    pub(crate) explanation: Explanation,
    pub(super) is_latest: bool,
    /// Its place, hashed.
    pub(super) place: u64,
    /// Its place and its content, hashed: what is one hit.
    pub(super) hit: u64,
}

/// What was found of a question, best first.
#[derive(Debug, Clone, Default)]
pub(super) struct Ranking {
    pub(super) ranked: Arc<Vec<Ranked>>,
    /// How many of them the first tier brought in.
    first: usize,
    tiers: usize,
    /// The last tier has left something out.
    pub(super) goes_on: bool,
    /// How the first tier understood a time in the question.
    pub(super) time_window: Option<TimeWindow>,
    /// How likely anything in the first tier answers.
    pub(super) chance: Option<f32>,
}

impl Ranked {
    /// Whether both are the same content at the same place.
    pub(super) fn is_the_hit_of(&self, other: &Self) -> bool {
        self.hit == other.hit
    }

    /// Gives it another score.
    pub(super) fn score_again(&mut self, score: ArtifactScore) {
        self.score = score.score;
        self.explanation.artifact = score;
    }

    fn lowered(mut self, factor: f32) -> Self {
        self.explanation.artifact = self.explanation.artifact.lowered(factor);
        self.score *= factor;
        self
    }
}

impl Ranking {
    /// What the first page says where nothing is likely to answer. A time that is asked for has its own answer.
    pub(super) fn unlikely(&self, request: &RecallRequest) -> Option<String> {
        let is_unlikely = self.chance.is_some_and(|chance| chance < ANSWERS_CHANCE_MIN);
        (is_unlikely && request.offset == 0 && self.time_window.is_none()).then(|| NOTHING_ANSWERS.to_owned())
    }

    /// The best score.
    pub(super) fn best(&self) -> Option<f32> {
        self.ranked.first().map(|ranked| ranked.score)
    }

    /// A digest of the first tier's order.
    pub(super) fn id(&self) -> Digest {
        self.order_before(self.first)
    }

    /// Whether a further tier may have more.
    pub(super) fn goes_on(&self) -> bool {
        self.goes_on && self.tiers < TIERS.len()
    }

    /// A digest of what stands before this place.
    pub(super) fn order_before(&self, place: usize) -> Digest {
        Digest::of_order(self.ranked.iter().take(place).map(|ranked| ranked.revision_id))
    }

    /// Whether another tier has to be searched to rank results down to this depth. Its results score no higher than those that are there,
    /// so none is needed once the last one scores below the least score that is shown.
    fn wants(&self, depth: usize, min_score: f32) -> bool {
        self.tiers < TIERS.len()
            && self.ranked.last().is_none_or(|last| last.score >= min_score)
            && (self.tiers == 0 || self.goes_on)
            && self.ranked.len() <= depth.min(DEPTH_MAX)
    }

    /// Puts what a further tier has found behind what is there: none of it scores higher.
    fn append(&mut self, more: Arc<Vec<Ranked>>, goes_on: bool) {
        if self.tiers == 0 {
            self.first = more.len();
            self.ranked = more;
        } else {
            let lowered = match (self.ranked.last(), more.first()) {
                (Some(last), Some(best)) if best.score > last.score => last.score / best.score,
                _ => 1.0,
            };
            let ranked = Arc::make_mut(&mut self.ranked);
            ranked.extend(more.iter().map(|ranked| ranked.lowered(lowered)));
        }
        // One more than is listed tells that there is more.
        if self.ranked.len() > DEPTH_MAX + 1 {
            Arc::make_mut(&mut self.ranked).truncate(DEPTH_MAX + 1);
        }
        self.tiers += 1;
        self.goes_on = goes_on;
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + bytes_of(&self.ranked)
    }
}

pub(super) fn bytes_of(ranked: &Vec<Ranked>) -> usize {
    ranked.capacity() * size_of::<Ranked>()
}

/// A ranking that reaches as deep as a page wants it, with what was read for it.
pub(super) struct Found {
    pub(super) ranking: Arc<Ranking>,
    /// Where the first tier was searched just now.
    pub(super) asked: Option<Asked>,
    /// What the user wants that bears on the question, where the first tier was searched just now.
    pub(super) directives: Vec<Directive>,
    pub(super) conn: Pooled,
}

impl Memory {
    /// The ranking of the question: a kept one where the cursor names it, else a new one, as far down as the page wants it and
    /// one further.
    pub(super) async fn ranking(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        query: &str,
        question: Digest,
        warnings: &mut Vec<String>,
    ) -> Result<Found, EngineError> {
        let shown = request.cursor.and_then(|cursor| cursor.shown);
        let kept = shown.and_then(|shown| self.rankings.get((question, shown.ranking), Instant::now()));
        let mut ranking = kept.clone().unwrap_or_default();
        let depth = request.offset + request.limit;
        let (mut asked, mut directives, mut conn) = (None, Vec::new(), None);
        while ranking.wants(depth, floor(request, ranking.best())) {
            let breadth = TIERS[ranking.tiers];
            let before = &ranking.ranked;
            let tier = Box::pin(self.tier(ns, request, (query, question), breadth, before, warnings));
            let (tier, read_on) = tier.await?;
            let grown = Arc::make_mut(&mut ranking);
            if grown.tiers == 0 {
                (grown.time_window, grown.chance) = (tier.time_window, tier.chance);
                directives = tier.directives;
            }
            grown.append(tier.ranked, tier.goes_on);
            asked = asked.or(Some(tier.asked));
            conn = Some(read_on);
        }
        if shown.is_some_and(|shown| ranking.order_before(request.offset) != shown.before) {
            return Err(grown_old().into());
        }
        if ranking.ranked.len() > depth && kept.is_none_or(|kept| !Arc::ptr_eq(&kept, &ranking)) {
            self.rankings.put((question, ranking.id()), Arc::clone(&ranking), Instant::now());
        }
        let conn = match conn {
            Some(conn) => conn,
            None => self.store.acquire(ns).await?,
        };
        Ok(Found { ranking, asked, directives, conn })
    }
}

impl Listing {
    /// The cursor of the page behind this place, or why there is none though there would be results.
    pub(super) fn next(&self, ranking: &Ranking, place: usize) -> (Option<String>, Option<String>) {
        let has_more = ranking.ranked.len() > place;
        if has_more && place < DEPTH_MAX {
            return (Some(self.cursor(place)), None);
        }
        let ended = format!(
            "The listing ends after {DEPTH_MAX} results, though there are more: ask with filters for the others."
        );
        (None, has_more.then_some(ended))
    }
}

/// The rankings of recent questions.
#[derive(Default)]
pub(crate) struct Rankings(Mutex<HashMap<Key, (Instant, Arc<Ranking>)>>);

/// The question and the ranking.
type Key = (Digest, Digest);

impl Rankings {
    fn get(&self, key: Key, now: Instant) -> Option<Arc<Ranking>> {
        let mut kept = locked(&self.0);
        let (used, ranking) = kept.get_mut(&key)?;
        if now.saturating_duration_since(*used) > KEPT_FOR {
            kept.remove(&key);
            return None;
        }
        *used = now;
        Some(Arc::clone(ranking))
    }

    fn put(&self, key: Key, ranking: Arc<Ranking>, now: Instant) {
        let mut kept = locked(&self.0);
        kept.insert(key, (now, ranking));
        kept.retain(|_, (used, _)| now.saturating_duration_since(*used) <= KEPT_FOR);
        let mut bytes: usize = kept.values().map(|(_, ranking)| ranking.bytes()).sum();
        while kept.len() > KEPT_MAX || bytes > KEPT_BYTES_MAX {
            let Some(oldest) = kept.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| *key) else {
                return;
            };
            if let Some((_, gone)) = kept.remove(&oldest) {
                bytes -= gone.bytes();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u32) -> Key {
        let digest = Digest::of_order([RevisionId(n.into())].into_iter());
        (digest, digest)
    }

    #[test]
    fn rankings_are_kept_for_a_while_and_never_too_many() {
        let (rankings, start) = (Rankings::default(), Instant::now());
        let at = |n: u32| start + Duration::from_secs(1) * n;
        let last = KEPT_MAX as u32;
        for n in 0..=last {
            rankings.put(key(n), Arc::default(), at(n));
        }
        assert!(rankings.get(key(0), at(last)).is_none(), "it was the oldest of one too many");
        assert!(rankings.get(key(1), at(last)).is_some());
        let later = at(last) + KEPT_FOR;
        assert!(rankings.get(key(2), later).is_none(), "it is too old");
        assert!(rankings.get(key(1), later).is_some(), "it was used since");
        let half = KEPT_BYTES_MAX / size_of::<Ranked>() / 2;
        for n in [1, 2, 3] {
            let large = Ranking { ranked: Arc::new(Vec::with_capacity(half)), ..Ranking::default() };
            rankings.put(key(n), Arc::new(large), later + Duration::from_secs(1) * n);
        }
        assert!(rankings.get(key(1), later).is_none() && rankings.get(key(3), later).is_some());
    }
}
