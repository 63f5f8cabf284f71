//! How much of the evidence of a question is among the first results.

use serde::Serialize;

/// Each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Score {
    /// At least one component of evidence is there.
    pub any: f64,
    /// Every component is.
    pub all: f64,
    /// The share that is.
    pub frac: f64,
}

/// A metric's name and value.
pub type Metric = (&'static str, fn(&Score) -> f64);

impl Score {
    pub const METRICS: [Metric; 3] = [("any", |s| s.any), ("all", |s| s.all), ("frac", |s| s.frac)];
}

/// Scores the first `k` of `ranked`. `gold` has each component once and at least one.
pub fn score_at(k: usize, ranked: &[usize], gold: &[usize]) -> Score {
    let first = &ranked[..k.min(ranked.len())];
    let found = gold.iter().filter(|component| first.contains(component)).count();
    let holds = |condition: bool| if condition { 1.0 } else { 0.0 };
    Score {
        any: holds(found > 0),
        all: holds(found == gold.len()),
        frac: found as f64 / gold.len().max(1) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_counts_the_evidence_among_the_first_k() {
        let ranked = [4, 9, 2, 7];
        assert_eq!(score_at(1, &ranked, &[4]), Score { any: 1.0, all: 1.0, frac: 1.0 });
        assert_eq!(score_at(2, &ranked, &[9, 7]), Score { any: 1.0, all: 0.0, frac: 0.5 });
        assert_eq!(score_at(4, &ranked, &[9, 7]), Score { any: 1.0, all: 1.0, frac: 1.0 });
        assert_eq!(score_at(20, &ranked, &[1, 3]), Score { any: 0.0, all: 0.0, frac: 0.0 });
        assert_eq!(score_at(5, &[], &[1]), Score { any: 0.0, all: 0.0, frac: 0.0 });
    }
}
