//! Durations in short: the middle, the slow end.

use std::time::Duration;

use serde::Serialize;

/// Milliseconds, and how many were measured.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Spread {
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
    pub count: usize,
}

impl Spread {
    /// By nearest rank: each figure is one that was measured.
    pub fn of(durations: &[Duration]) -> Self {
        let mut sorted: Vec<f64> = durations.iter().map(|d| d.as_secs_f64() * 1e3).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let rank = (share * sorted.len() as f64).ceil() as usize;
            sorted.get(rank.max(1) - 1).copied().unwrap_or(0.0)
        };
        Self { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1.0), count: sorted.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let durations: Vec<Duration> = (1..=200).rev().map(Duration::from_millis).collect();
        let spread = Spread::of(&durations);
        let expected = Spread { p50: 100.0, p95: 190.0, p99: 198.0, max: 200.0, count: 200 };
        assert_eq!(spread, expected);
        assert_eq!(Spread::of(&[]), Spread::default());
        assert!((Spread::of(&[Duration::from_millis(3)]).p50 - 3.0).abs() < 1e-9);
    }
}
