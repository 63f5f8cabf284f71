//! Joining what the search arms and stages say of a passage: BM25 weights and score fusion.

mod spread;
mod time;

use std::collections::HashMap;

use memory_language::asked_for::AskedFor;

pub use spread::spread_over_conversations;
pub use time::decide_by_time;

/// BM25 with the usual constants (Robertson & Zaragoza 2009).
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// The statistics of a namespace for BM25.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorpusStats {
    pub passages: f32,
    /// Mean passage length in words.
    pub mean_length: f32,
}

/// The inverse document frequency of a term found in `document_frequency` passages.
pub fn idf(stats: CorpusStats, document_frequency: f32) -> f32 {
    let n = stats.passages.max(document_frequency);
    (1.0 + (n - document_frequency + 0.5) / (document_frequency + 0.5)).ln()
}

/// The BM25 weight of a term that occurs `frequency` times in a passage of `length` words.
pub fn bm25(stats: CorpusStats, idf: f32, frequency: f32, length: f32) -> f32 {
    let norm = 1.0 - B + B * length / stats.mean_length.max(1.0);
    idf * frequency * (K1 + 1.0) / (frequency + K1 * norm)
}

/// Scores that lie closer together than this are not drawn apart by scaling: what is nearly equal stays so.
const VECTOR_RANGE_MIN: f32 = 0.2;
const LATE_RANGE_MIN: f32 = 0.15;
/// Where the best evidence of an arm says nothing of the question, and where it answers it: in between the scores
/// of all are lowered, so that a score means the same whatever else was found.
const VECTOR_SURE: (f32, f32) = (0.1, 0.5);
const LATE_SURE: (f32, f32) = (0.08, 0.4);
/// What scores are lowered to at most.
const UNSURE_FACTOR: f32 = 0.1;
/// The same where nothing that was found answers the question, as far as its words and vectors tell.
const UNLIKELY_FACTOR: f32 = 0.4;
/// Where the chance that anything answers is lower, an answer says so.
pub const ANSWERS_CHANCE_MIN: f32 = 0.1;
/// More candidates than these say nothing more of that chance: it was learned where the arms bring in 50 each.
const CHANCE_PASSAGES_MAX: usize = 100;
/// What the joined score of a passage is multiplied by for each arm that cannot say anything of it.
const UNKNOWN_FACTOR: f32 = 0.85;
/// The same for one that was found by words alone, while its vector is not computed yet.
const UNEMBEDDED_FACTOR: f32 = 0.9;
/// The same where it has as many of the words as any, beside others that answer: it stands just behind what all arms like best.
const AS_WORDS_FACTOR: f32 = 0.999;

/// How much a text loses for each e-fold of passages that it has: of many windows one is always near.
const LENGTH_PENALTY: f32 = 0.08;
/// Of more passages than these it loses no more: long documents answer too.
const LENGTH_COUNTED_MAX: usize = 8;
/// How many turns away a neighbour may be.
const NEIGHBOUR_REACH: i32 = 4;
/// What an assistant's turns gain where a summary is asked for, as a share of what they lose where facts are.
const SUMMARY_GAIN: f32 = 0.25;
/// After so many days a text counts as half as recent.
const RECENCY_HALF_LIFE_DAYS: f32 = 365.0;

/// How much each signal counts in a score, 0 to 1. A signal with weight 0 is not computed at all. One place; measured, see
/// docs/benchmarks.md.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankingWeights {
    /// The arms of the joined score: cosine similarity, BM25 and late interaction.
    pub vector: f32,
    pub lexical: f32,
    pub late_interaction: f32,
    /// What the best of a hit and its neighbours in the conversation adds to it.
    pub neighbourhood: f32,
    /// What an assistant's turn of a conversation loses, since who states facts there is the user.
    pub role: f32,
    /// What a date that the question means adds, at most.
    pub time: f32,
    pub recency: f32,
    pub importance: f32,
    /// A reranker's judgement beside everything else, where there is one. Not measured: there was no reranker to be had.
    pub reranker: f32,
}

impl RankingWeights {
    pub const DEFAULT: Self = Self {
        vector: 0.15,
        lexical: 0.25,
        late_interaction: 0.6,
        neighbourhood: 0.3,
        role: 0.2,
        time: 0.05,
        recency: 0.02,
        importance: 0.02,
        reranker: 0.7,
    };
}

impl Default for RankingWeights {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What the arms say of a passage, each in its own measure; `None` where an arm cannot say anything.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence<K> {
    pub key: K,
    /// Cosine similarity of the vectors.
    pub vector: Option<f32>,
    /// BM25; a passage without any of the words has 0.
    pub lexical: Option<f32>,
    /// Late interaction.
    pub late: Option<f32>,
    /// How much of the question's words it has, by their weights: 0 to 1.
    pub coverage: f32,
}

/// Where one arm saw a hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArmPlace {
    /// From 1, best first.
    pub rank: usize,
    /// The arm's own score: cosine similarity, BM25, late interaction.
    pub score: f32,
    /// What it adds to the score.
    pub share: f32,
}

/// A hit of the joined search and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Fused<K> {
    pub key: K,
    /// 0 to 1.
    pub score: f32,
    pub vector: Option<ArmPlace>,
    pub lexical: Option<ArmPlace>,
    pub late: Option<ArmPlace>,
    /// What all shares were multiplied by, since the best found answers little or an arm could not say anything: 0 to 1.
    pub sureness: f32,
    /// How likely anything of what was found answers the question, 0 to 1; `None` where an arm had nothing to say.
    pub chance: Option<f32>,
}

/// The best that the arms found for a question.
#[derive(Debug, Clone, Copy)]
struct Compared {
    late: f32,
    vector: f32,
    coverage: f32,
    passages: usize,
}

impl Compared {
    /// How likely it answers. A logistic regression on 807 questions that were asked of memories of 3 to 700 turns which answer them,
    /// and 806 that were asked of others: among many passages some are always near. AUROC 0.93; see docs/benchmarks.md.
    fn chance(self) -> f32 {
        let Self { late, vector, coverage, passages } = self;
        let passages = passages.clamp(1, CHANCE_PASSAGES_MAX) as f32;
        let sum = 12.2 * late + 3.4 * vector + 5.1 * coverage - 0.82 * passages.ln() - 5.84;
        1.0 / (1.0 + (-sum).exp())
    }
}

/// Joins the arms by a convex sum of their scores, each scaled to 0…1 over the passages; an arm that says nothing
/// at all leaves its weight to the others. All are lowered by how little the best of them answers. Best first; ties are in the order of their keys, so the same
/// question has the same answer. Source: Bruch et al. 2023, "An Analysis of Fusion Functions for Hybrid
/// Retrieval".
pub fn fuse<K: Copy + Ord>(evidence: &[Evidence<K>], weights: &RankingWeights) -> Vec<Fused<K>> {
    let vector = Arm::new(weights.vector, VECTOR_RANGE_MIN, evidence.iter().map(|e| e.vector));
    // Without any of the words a passage has a BM25 of 0, whether such a one is among them or not.
    let lexical = Arm::new(weights.lexical, 0.0, evidence.iter().map(|e| e.lexical)).counted_from_zero();
    let late = Arm::new(weights.late_interaction, LATE_RANGE_MIN, evidence.iter().map(|e| e.late));
    let arms = [&vector, &lexical, &late];
    let best_coverage = evidence.iter().map(|e| e.coverage).fold(0.0, f32::max);
    let chance = late.max_if_any().zip(vector.max_if_any()).filter(|_| lexical.full_weight > 0.0).map(
        |(late, vector)| {
            Compared { late, vector, coverage: best_coverage, passages: evidence.len() }.chance()
        },
    );
    let sure = match (chance, late.max_if_any(), vector.max_if_any()) {
        (Some(chance), _, _) => UNLIKELY_FACTOR + (1.0 - UNLIKELY_FACTOR) * chance,
        (None, Some(best), _) => sureness(best, LATE_SURE),
        (None, None, Some(best)) => sureness(best, VECTOR_SURE),
        // Words are met or not.
        (None, None, None) => 1.0,
    };
    let is_compared = late.max_if_any().or(vector.max_if_any()).is_some();
    let mut fused: Vec<Fused<K>> = evidence
        .iter()
        .enumerate()
        .map(|(n, evidence)| {
            let known: f32 = arms.iter().filter(|arm| arm.scores[n].is_some()).map(|arm| arm.weight()).sum();
            let unknown = arms.iter().filter(|arm| arm.weight() > 0.0 && arm.scores[n].is_none()).count();
            // What the others would have said is taken from those that did, with a discount. How little the best of
            // what was compared answers says nothing of what was not compared: that answers as far as it has the words,
            // and where something answers, no less than others that have no more of them.
            let sureness = if unknown > 0 && evidence.vector.is_none() && evidence.late.is_none() {
                let of_best = if best_coverage > 0.0 { evidence.coverage / best_coverage } else { 0.0 };
                let compared = if is_compared { sure } else { 0.0 };
                (UNEMBEDDED_FACTOR * evidence.coverage.max(UNSURE_FACTOR))
                    .max(AS_WORDS_FACTOR * compared * of_best)
            } else {
                sure * UNKNOWN_FACTOR.powi(unknown as i32)
            };
            let scale = if known > 0.0 { sureness / known } else { 0.0 };
            let [vector, lexical, late] = arms.map(|arm| arm.place(n, scale));
            let score = [vector, lexical, late].iter().flatten().map(|place| place.share).sum();
            // Without any of the words a passage was not found by them.
            let lexical = lexical.filter(|place| place.score > 0.0);
            Fused { key: evidence.key, score, vector, lexical, late, sureness, chance }
        })
        .collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
    fused
}

fn sureness(best: f32, (nothing, all): (f32, f32)) -> f32 {
    ((best - nothing) / (all - nothing)).clamp(UNSURE_FACTOR, 1.0)
}

/// The scores of one arm.
struct Arm {
    full_weight: f32,
    scores: Vec<Option<f32>>,
    ranks: Vec<usize>,
    min: f32,
    max: f32,
}

impl Arm {
    fn new(full_weight: f32, range_min: f32, scores: impl Iterator<Item = Option<f32>>) -> Self {
        let scores: Vec<Option<f32>> = scores.collect();
        let mut order: Vec<usize> = (0..scores.len()).filter(|n| scores[*n].is_some()).collect();
        order.sort_by(|a, b| scores[*b].unwrap_or(0.0).total_cmp(&scores[*a].unwrap_or(0.0)));
        let mut ranks = vec![0; scores.len()];
        for (rank, n) in order.iter().enumerate() {
            ranks[*n] = rank + 1;
        }
        let known = || scores.iter().flatten().copied();
        let (min, max) = (known().fold(f32::MAX, f32::min), known().fold(f32::MIN, f32::max));
        let min = min.min(max - range_min);
        Self { full_weight, scores, ranks, min, max }
    }

    fn counted_from_zero(mut self) -> Self {
        self.min = self.min.min(0.0);
        self
    }

    fn max_if_any(&self) -> Option<f32> {
        self.scores.iter().any(Option::is_some).then_some(self.max)
    }

    /// None for an arm that has nothing to say, or the same of all.
    fn weight(&self) -> f32 {
        if self.scores.iter().all(Option::is_none) || (self.min >= 0.0 && self.max <= 0.0) {
            0.0
        } else {
            self.full_weight
        }
    }

    fn place(&self, n: usize, scale: f32) -> Option<ArmPlace> {
        let score = self.scores[n]?;
        let range = self.max - self.min;
        let scaled = if range > f32::EPSILON { (score - self.min) / range } else { 1.0 };
        Some(ArmPlace { rank: self.ranks[n], score, share: self.weight() * scaled * scale })
    }
}

/// What an artifact is ranked by, beside its neighbours in the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactSignals<'a> {
    /// The joined score of its best passage.
    pub score: f32,
    /// What that was multiplied by, since the best found answers little.
    pub sureness: f32,
    /// How many passages it has.
    pub passages: usize,
    /// Conversation and number of the turn.
    pub turn: Option<(&'a str, i32)>,
    pub by_assistant: bool,
    /// How well its date fits the question, 0 to 1, by how sure it is that the question means one.
    pub time: f32,
    pub age_days: f32,
    /// 0 to 1.
    pub importance: f32,
}

/// What an artifact's score is made of.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ArtifactScore {
    /// 0 to 1: the sum of the parts.
    pub score: f32,
    /// The share of its best passage, with `length` and `role` in it.
    pub passage: f32,
    /// What is taken off that share for the text's length; not above 0.
    pub length: f32,
    /// What is taken off that share, or added to it, since an assistant said it.
    pub role: f32,
    /// The share of itself or the best turn near it.
    pub neighbourhood: f32,
    pub time: f32,
    pub priors: f32,
    /// What it gains to rank before outdated texts of its place.
    pub place: f32,
    /// What it gains since it states what the user wants where something like the question is asked.
    pub directive: f32,
    /// What the reranker adds, where it has read the artifact's best passage.
    pub reranker: Option<ArmPlace>,
    /// What of its passage's joined score counts: `passage` is that score times this, `length` and `role`.
    pub scale: f32,
}

impl ArtifactScore {
    /// The same with a reranker's judgement in it, or without one where it has not read so far: both come to a scale on which
    /// what was not read never ranks before what was read and ranked before it.
    fn joined(self, judged: Option<ArmPlace>, weight: f32) -> Self {
        let left = self.lowered(1.0 - weight);
        Self { score: left.score + judged.map_or(0.0, |place| place.share), reranker: judged, ..left }
    }

    /// The same with all parts multiplied.
    #[must_use]
    pub fn lowered(mut self, factor: f32) -> Self {
        let parts = [
            &mut self.score,
            &mut self.passage,
            &mut self.length,
            &mut self.role,
            &mut self.neighbourhood,
            &mut self.time,
            &mut self.priors,
            &mut self.place,
            &mut self.directive,
            &mut self.scale,
        ];
        for part in parts {
            *part *= factor;
        }
        if let Some(place) = &mut self.reranker {
            place.share *= factor;
        }
        self
    }

    /// The same with at least this score.
    #[must_use]
    pub fn raised_to(mut self, score: f32) -> Self {
        if score > self.score {
            self.place += score - self.score;
            self.score = score;
        }
        self
    }

    /// The same with at least this score, since it states what the user wants.
    #[must_use]
    pub fn raised_as_directive_to(mut self, score: f32) -> Self {
        let gain = (score - self.score).max(0.0);
        self.directive += gain;
        self.score += gain;
        self
    }
}

/// Joins a reranker's judgements, 0 to 1, of the first of these scores, best first, with all of them.
pub fn join_reranked(scores: &mut [ArtifactScore], judged: &[f32], weight: f32) {
    let mut order: Vec<usize> = (0..judged.len()).collect();
    order.sort_by(|a, b| judged[*b].total_cmp(&judged[*a]));
    let mut places = vec![None; scores.len().max(judged.len())];
    for (rank, n) in order.into_iter().enumerate() {
        let score = judged[n];
        places[n] = Some(ArmPlace { rank: rank + 1, score, share: weight * score });
    }
    for (score, place) in scores.iter_mut().zip(places) {
        *score = score.joined(place, weight);
    }
}

/// The scores of artifacts from those of their best passages. A text of many passages loses a little, and so does what an
/// assistant said, unless that is `asked_for`; each gets a share of the best of itself and the turns near it, so that what is
/// talked about at length ranks before a chance hit, where long turns speak for their neighbours less than short ones;
/// dates, recency and importance move what is nearly equal.
pub fn score_artifacts(
    found: &[ArtifactSignals<'_>],
    asked_for: AskedFor,
    weights: &RankingWeights,
) -> Vec<ArtifactScore> {
    let length = |f: &ArtifactSignals<'_>| {
        -(LENGTH_PENALTY * f.sureness * (f.passages.clamp(1, LENGTH_COUNTED_MAX) as f32).ln()).min(f.score)
    };
    let role = |f: &ArtifactSignals<'_>| {
        let left = f.score + length(f);
        match asked_for {
            _ if !f.by_assistant || f.turn.is_none() => 0.0,
            AskedFor::Facts => -(weights.role * f.sureness).min(left),
            AskedFor::Answers => 0.0,
            AskedFor::Summary => (weights.role * f.sureness * SUMMARY_GAIN).min(1.0 - left),
        }
    };
    let own: Vec<f32> = found.iter().map(|f| f.score + length(f) + role(f)).collect();
    let mut turns: HashMap<(&str, i32), f32> = HashMap::new();
    for (found, own) in found.iter().zip(&own) {
        if let Some(turn) = found.turn {
            let best = turns.entry(turn).or_default();
            *best = best.max(own / (found.passages.max(1) as f32).sqrt());
        }
    }
    let near = |(conversation, at): (&str, i32)| {
        let places = at.saturating_sub(NEIGHBOUR_REACH)..=at.saturating_add(NEIGHBOUR_REACH);
        places.filter_map(|place| turns.get(&(conversation, place))).copied().fold(0.0, f32::max)
    };
    let neighbour_weight = weights.neighbourhood;
    let time_weight = if found.iter().any(|f| f.time > 0.0) { weights.time } else { 0.0 };
    let prior_weight = weights.recency + weights.importance;
    let whole = 1.0 + time_weight + prior_weight;
    found
        .iter()
        .zip(&own)
        .map(|(found, own)| {
            let best_near = found.turn.map_or(*own, |turn| near(turn).max(*own));
            let recency = (-found.age_days.max(0.0) / RECENCY_HALF_LIFE_DAYS).exp2();
            let priors = (weights.recency * recency + weights.importance * found.importance) / whole;
            let scale = 1.0 / (1.0 + neighbour_weight) / whole;
            let passage = own * scale;
            let neighbourhood = neighbour_weight * best_near * scale;
            let time = time_weight * found.time / whole;
            ArtifactScore {
                score: passage + neighbourhood + time + priors,
                passage,
                length: length(found) * scale,
                role: role(found) * scale,
                neighbourhood,
                time,
                priors,
                place: 0.0,
                directive: 0.0,
                reranker: None,
                scale,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
