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
    let count = values.len() as f64;
    let mean = |values: &mut dyn Iterator<Item = &f64>| Some(values.sum::<f64>() / count);
    match statistic_of(values, mean) {
        Some([mean, low, high]) => Mean { mean, low, high },
        None => Mean { mean: 0.0, low: 0.0, high: 0.0 },
    }
}

/// A statistic of the items, and where 95 % of those of resampled items lie: value, low, high. Resamples that have no
/// such statistic are left out; `None` when the items themselves have none.
pub fn statistic_of<T>(
    items: &[T],
    statistic: impl Fn(&mut dyn Iterator<Item = &T>) -> Option<f64>,
) -> Option<[f64; 3]> {
    if items.is_empty() {
        return None;
    }
    let value = statistic(&mut items.iter())?;
    let mut random = Random::new(SEED);
    let mut resampled: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| statistic(&mut (0..items.len()).map(|_| &items[random.below(items.len())])))
        .collect();
    resampled.sort_by(f64::total_cmp);
    let last = resampled.len().saturating_sub(1) as f64;
    let at = |share: f64| resampled.get((last * share).round() as usize).copied().unwrap_or(value);
    Some([value, at(0.025), at(0.975)])
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

    #[test]
    fn a_share_of_sums_has_an_interval_and_resamples_without_one_are_left_out() {
        // One of the items has nothing to divide by.
        let items = [(1.0, 1.0), (0.0, 0.0), (1.0, 3.0)];
        let share = |items: &mut dyn Iterator<Item = &(f64, f64)>| {
            let (part, whole) = items.fold((0.0, 0.0), |sum, item| (sum.0 + item.0, sum.1 + item.1));
            (whole > 0.0).then(|| part / whole)
        };
        let [value, low, high] = statistic_of(&items, share).unwrap();
        assert!((value - 0.5).abs() < 1e-9 && (low - 1.0 / 3.0).abs() < 1e-9 && (high - 1.0).abs() < 1e-9);
        assert_eq!(statistic_of(&[(0.0, 0.0)], share), None);
        assert_eq!(statistic_of(&[], share), None);
    }
}
