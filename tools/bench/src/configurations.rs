//! Which weights of the ranking are measured against each other.

use memory_core::recall::RankingWeights;

/// A signal of the ranking, and how its weight is set.
type Signal = (&'static str, fn(&mut RankingWeights, f32));

/// What brings results in; each is also measured alone.
const ARMS: [Signal; 2] = [("vector", |w, n| w.vector = n), ("lexical", |w, n| w.lexical = n)];
/// What else can be left out.
const REFINEMENTS: [Signal; 8] = [
    ("late interaction", |w, n| w.late_interaction = n),
    ("neighbourhood", |w, n| (w.neighbourhood, w.conversation) = (n, n)),
    ("speaker", |w, n| w.speaker = n),
    ("question", |w, n| w.question = n),
    ("newness", |w, n| w.newness = n),
    ("time", |w, n| w.time = n),
    ("priors", |w, n| (w.recency, w.importance) = (n, n)),
    RERANKING,
];
/// Only where there is a reranker.
const RERANKING: Signal = ("reranking", |w, n| w.reranker = n);

/// The default weights, and each arm alone.
pub fn arms() -> Vec<(String, RankingWeights)> {
    let alone = |(name, arm): &Signal| {
        let mut weights = RankingWeights::DEFAULT;
        for (_, other) in ARMS.iter().chain(&REFINEMENTS) {
            other(&mut weights, 0.0);
        }
        arm(&mut weights, 1.0);
        (format!("{name} alone"), weights)
    };
    [("default".to_owned(), RankingWeights::DEFAULT)].into_iter().chain(ARMS.iter().map(alone)).collect()
}

/// The default weights, each arm alone, and all without each signal.
pub fn all(has_reranker: bool) -> Vec<(String, RankingWeights)> {
    let mut list = arms();
    for (name, signal) in ARMS.iter().chain(&REFINEMENTS) {
        if *name == RERANKING.0 && !has_reranker {
            continue;
        }
        let mut without = RankingWeights::DEFAULT;
        signal(&mut without, 0.0);
        list.push((format!("without {name}"), without));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_weights_is_measured_once_and_the_default_first() {
        let list = all(true);
        assert_eq!(list[0], ("default".to_owned(), RankingWeights::DEFAULT));
        for (n, (name, weights)) in list.iter().enumerate() {
            assert!(list[..n].iter().all(|(other, known)| other != name && known != weights), "{name}");
        }
        let vector_alone = list.iter().find(|(name, _)| name == "vector alone").unwrap().1;
        assert!(vector_alone.vector > 0.0 && vector_alone.lexical <= 0.0);
        assert_eq!(list.len(), all(false).len() + 1);
    }
}
