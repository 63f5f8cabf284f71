//! Means with their 95 % bootstrap intervals (percentile method; Efron & Tibshirani 1993).

use serde::Serialize;

use crate::random::Random;

const RESAMPLES: usize = 1_000;
/// The same for every mean: means over the same questions are resampled alike.
const SEED: u64 = 20_230_508;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mean {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

/// The mean of the values, and where 95 % of the means of resampled values lie.
pub fn mean_of(values: &[f64]) -> Mean {
    if values.is_empty() {
        return Mean { mean: 0.0, low: 0.0, high: 0.0 };
    }
    let count = values.len() as f64;
    let mut random = Random::new(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| values.iter().map(|_| values[random.below(values.len())]).sum::<f64>() / count)
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((RESAMPLES - 1) as f64 * share).round() as usize];
    Mean { mean: values.iter().sum::<f64>() / count, low: at(0.025), high: at(0.975) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_holds_its_mean_and_is_the_same_each_time() {
        let values: Vec<f64> = (0..100).map(|n| f64::from(n % 2)).collect();
        let mean = mean_of(&values);
        assert!((mean.mean - 0.5).abs() < 1e-9);
        // Half of a hundred coins: the standard error is 0.05.
        assert!((mean.low - 0.4).abs() < 0.03 && (mean.high - 0.6).abs() < 0.03, "{mean:?}");
        assert_eq!(mean, mean_of(&values));
    }

    #[test]
    fn values_that_are_all_the_same_leave_no_doubt() {
        assert_eq!(mean_of(&[1.0; 9]), Mean { mean: 1.0, low: 1.0, high: 1.0 });
        assert_eq!(mean_of(&[]), Mean { mean: 0.0, low: 0.0, high: 0.0 });
    }
}
