//! Joining the search arms: BM25 weights and score fusion.

use std::collections::HashMap;
use std::hash::Hash;

/// The share of the vector arm in the fused score; the lexical arm has the rest. One place, measured.
pub const VECTOR_WEIGHT: f32 = 0.5;

/// BM25 with the usual constants (Robertson & Zaragoza 2009).
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// What BM25 knows about a namespace.
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

/// Where one arm saw a hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArmPlace {
    /// From 1, best first.
    pub rank: usize,
    /// The arm's own score: cosine similarity, BM25.
    pub score: f32,
}

/// A hit of the joined search and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Fused<K> {
    pub key: K,
    /// 0 to 1.
    pub score: f32,
    pub vector: Option<ArmPlace>,
    pub lexical: Option<ArmPlace>,
}

/// Joins two arms, each best first, by a convex sum of their scores scaled to 0…1 within the arm. An arm
/// without hits gives its share to the other. Ties stand in the order of their keys, so the same question
/// has the same answer. Source: Bruch et al. 2023, «An Analysis of Fusion Functions for Hybrid Retrieval».
pub fn fuse_scores<K: Copy + Eq + Hash + Ord>(vector: &[(K, f32)], lexical: &[(K, f32)]) -> Vec<Fused<K>> {
    let vector_weight = match (vector.is_empty(), lexical.is_empty()) {
        (true, _) => 0.0,
        (false, true) => 1.0,
        (false, false) => VECTOR_WEIGHT,
    };
    let mut fused: HashMap<K, Fused<K>> = HashMap::new();
    let blank = |key| Fused { key, score: 0.0, vector: None, lexical: None };
    for (rank, (key, score, scaled)) in scaled(vector).enumerate() {
        let hit = fused.entry(key).or_insert_with(|| blank(key));
        hit.score += vector_weight * scaled;
        hit.vector = Some(ArmPlace { rank: rank + 1, score });
    }
    for (rank, (key, score, scaled)) in scaled(lexical).enumerate() {
        let hit = fused.entry(key).or_insert_with(|| blank(key));
        hit.score += (1.0 - vector_weight) * scaled;
        hit.lexical = Some(ArmPlace { rank: rank + 1, score });
    }
    let mut fused: Vec<Fused<K>> = fused.into_values().collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
    fused
}

/// Min-max scaling; equal scores are all 1.
fn scaled<K: Copy>(hits: &[(K, f32)]) -> impl Iterator<Item = (K, f32, f32)> {
    let max = hits.iter().map(|h| h.1).fold(f32::MIN, f32::max);
    let min = hits.iter().map(|h| h.1).fold(f32::MAX, f32::min);
    let range = max - min;
    hits.iter().map(move |(key, score)| {
        (*key, *score, if range > f32::EPSILON { (score - min) / range } else { 1.0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_of_both_arms_stands_before_a_hit_of_one() {
        let fused = fuse_scores(&[(1, 0.9), (2, 0.8), (3, 0.1)], &[(2, 7.0), (4, 1.0)]);
        assert_eq!(fused[0].key, 2);
        assert_eq!(fused[0].vector.unwrap().rank, 2);
        assert_eq!(fused[0].lexical.unwrap().rank, 1);
    }

    #[test]
    fn an_arm_without_hits_takes_nothing_away() {
        let fused = fuse_scores(&[(1, 0.9), (2, 0.5)], &[]);
        assert!((fused[0].score - 1.0).abs() < 1e-6);
        assert!(fuse_scores::<u8>(&[], &[]).is_empty());
    }

    #[test]
    fn ties_stand_in_the_order_of_their_keys() {
        let keys: Vec<i32> =
            fuse_scores(&[(9, 1.0), (3, 1.0), (5, 1.0)], &[]).iter().map(|f| f.key).collect();
        assert_eq!(keys, [3, 5, 9]);
    }

    #[test]
    fn rare_terms_weigh_more_than_common_ones_and_long_passages_less() {
        let stats = CorpusStats { passages: 1000.0, mean_length: 50.0 };
        assert!(idf(stats, 2.0) > idf(stats, 500.0));
        assert!(idf(stats, 1000.0) > 0.0);
        assert!(bm25(stats, 1.0, 1.0, 20.0) > bm25(stats, 1.0, 1.0, 200.0));
        assert!(bm25(stats, 1.0, 9.0, 50.0) < 9.0 * bm25(stats, 1.0, 1.0, 50.0));
    }
}
