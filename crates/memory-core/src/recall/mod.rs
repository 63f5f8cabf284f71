//! Joining what the search arms and stages say of a passage: BM25 weights and score fusion.

mod artifact_score;
mod outdated;
mod spread;
mod time;
mod time_order;
mod told_by_words;

pub use artifact_score::{ArtifactScore, ArtifactSignals, Asking, join_reranked, score_artifacts};
pub use outdated::{Succession, lower_outdated, raise_newer, successions, weight_of_newness};
pub use spread::spread_over_conversations;
pub use time::decide_by_time;
pub use time_order::{Occurrence, rank_in_time_order};
pub use told_by_words::{end_words, tells_change};

/// BM25 with the usual constants (Robertson & Zaragoza 2009).
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// The statistics of a namespace for BM25.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
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
/// What is so near in meaning has that chance at least, in whatever words: of the questions like that below it 17 of 41 had an answer.
const VECTOR_NEAR: f32 = 0.45;
/// The best candidates of vectors and of words that count for that chance: it was learned where the arms bring in so many.
const CHANCE_PASSAGES: usize = 50;
/// What the joined score of a passage is multiplied by for each arm that cannot say anything of it.
const UNKNOWN_FACTOR: f32 = 0.85;
/// The same for one that was found by words alone, while its vector is not computed yet.
const UNEMBEDDED_FACTOR: f32 = 0.9;
/// The same where it has as many of the words as any, beside others that answer: it stands just behind what all arms like best.
const AS_WORDS_FACTOR: f32 = 0.999;

/// Scores up to this are not lowered by who said it, by age, by a time that decides or to spread results: what is shown by default
/// stays so.
const KEPT_UP_TO: f32 = 0.15;

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
    /// What the best turn of its conversation adds to it.
    pub conversation: f32,
    /// What a turn loses by somebody else, where the question names who speaks.
    pub speaker: f32,
    /// What a turn loses that ends by asking something.
    pub question: f32,
    /// What an assistant's turn of a conversation loses, since who states facts there is the user.
    pub role: f32,
    /// What a date that the question means adds, at most.
    pub time: f32,
    /// What an old text loses at most to a newer one like it, as a share of its score, where it is asked how things are.
    pub newness: f32,
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
        conversation: 0.2,
        speaker: 0.1,
        question: 0.1,
        role: 0.2,
        time: 0.05,
        newness: 0.3,
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
        let passages = passages.max(1) as f32;
        let sum = 12.2 * late + 3.4 * vector + 5.1 * coverage - 0.82 * passages.ln() - 5.84;
        let chance: f32 = 1.0 / (1.0 + (-sum).exp());
        if vector >= VECTOR_NEAR { chance.max(ANSWERS_CHANCE_MIN) } else { chance }
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
    let is_counted = |n: &usize| {
        let among_nearest = (1..=CHANCE_PASSAGES).contains(&vector.ranks[*n]);
        let has_words = lexical.scores[*n].is_some_and(|score| score > 0.0);
        among_nearest || has_words && lexical.ranks[*n] <= CHANCE_PASSAGES
    };
    let passages = (0..evidence.len()).filter(is_counted).count();
    let chance = late
        .max_if_any()
        .zip(vector.max_if_any())
        .filter(|_| lexical.full_weight > 0.0)
        .map(|(late, vector)| Compared { late, vector, coverage: best_coverage, passages }.chance());
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
    /// It has a score of nothing.
    is_silent: bool,
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
        let is_silent = order.is_empty();
        let known = || scores.iter().flatten().copied();
        let (min, max) = (known().fold(f32::MAX, f32::min), known().fold(f32::MIN, f32::max));
        let min = min.min(max - range_min);
        Self { full_weight, is_silent, scores, ranks, min, max }
    }

    fn counted_from_zero(mut self) -> Self {
        self.min = self.min.min(0.0);
        self
    }

    fn max_if_any(&self) -> Option<f32> {
        (!self.is_silent).then_some(self.max)
    }

    /// None for an arm that has nothing to say, or the same of all.
    fn weight(&self) -> f32 {
        if self.is_silent || (self.min >= 0.0 && self.max <= 0.0) { 0.0 } else { self.full_weight }
    }

    fn place(&self, n: usize, scale: f32) -> Option<ArmPlace> {
        let score = self.scores[n]?;
        let range = self.max - self.min;
        let scaled = if range > f32::EPSILON { (score - self.min) / range } else { 1.0 };
        Some(ArmPlace { rank: self.ranks[n], score, share: self.weight() * scaled * scale })
    }
}

#[cfg(test)]
mod tests;
