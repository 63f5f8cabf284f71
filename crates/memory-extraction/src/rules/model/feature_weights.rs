//! What a trained model of features keeps in its file: a version, and for each feature a weight for each class.

use super::super::data_file::{DataFault, DataFile};
use super::super::wordset::HashedMap;
use super::clause_features::hash;

/// A weight of one is this much in the file.
pub const SCALE: f32 = 50.0;

/// A line with its number.
pub(in super::super) type Line<'l> = (usize, &'l str);

/// The lines of a file, numbered from 1.
pub(in super::super) fn numbered(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.lines().enumerate().map(|(at, line)| (at + 1, line))
}

/// Checks the first line: `features` and the version that this program has.
pub(in super::super) fn check_version(
    file: &DataFile,
    line: Option<Line<'_>>,
    wanted: u32,
) -> Result<(), DataFault> {
    let version = line.and_then(|(_, line)| line.strip_prefix("features ")).unwrap_or_default();
    if version.parse() == Ok(wanted) {
        return Ok(());
    }
    let reason = format!(
        "the weights are for features of version '{version}', this program has {wanted}; train them anew"
    );
    Err(file.fault(1, reason))
}

/// By the hash of a feature's name its weights for the classes, of which the first is none.
#[derive(Debug)]
pub(in super::super) struct FeatureWeights<const CLASSES: usize>(HashedMap<[i8; CLASSES]>);

impl<const CLASSES: usize> FeatureWeights<CLASSES> {
    /// Reads lines of a feature's name, a tab and a whole number for each class.
    pub(in super::super) fn parse<'l>(
        file: &DataFile,
        lines: impl Iterator<Item = Line<'l>>,
    ) -> Result<Self, DataFault> {
        let mut weights = HashedMap::default();
        for (number, line) in lines {
            let row = line.split_once('\t').and_then(|(name, numbers)| {
                let numbers: Vec<i8> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
                Some((hash(&[name]), numbers.try_into().ok()?))
            });
            let (name, row) = row.ok_or_else(|| {
                file.fault(number, format!("'{line}' is no feature with {CLASSES} numbers"))
            })?;
            weights.insert(name, row);
        }
        Ok(Self(weights))
    }

    /// How likely each class is where these features are seen.
    pub(in super::super) fn odds(&self, features: &[u64]) -> [f32; CLASSES] {
        let mut sums = [0_i32; CLASSES];
        for row in features.iter().filter_map(|feature| self.0.get(feature)) {
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum += i32::from(*weight);
            }
        }
        softmax(sums.map(|sum| sum as f32 / SCALE))
    }
}

/// The odds of logits.
pub fn softmax<const COUNT: usize>(sums: [f32; COUNT]) -> [f32; COUNT] {
    let most = sums.iter().copied().fold(f32::MIN, f32::max);
    let odds = sums.map(|sum| (sum - most).exp());
    let all: f32 = odds.iter().sum();
    odds.map(|odd| odd / all)
}
