//! The trained weights: which feature speaks how strongly for which category, and how sure each category must be.
//!
//! A text: the version of the features, the thresholds, the threshold of short texts, then a line for each feature with its name and a whole number
//! for each class, none first. They were found by `cargo run -p train-clauses`.

use std::sync::{Arc, LazyLock};

use memory_core::event::Category;

use super::super::data_file::{DataFault, DataFile, loaded};
use super::super::wordset::HashedMap;
use super::clause_features::hash;

/// Counts up with every change to what a feature's name means; weights of another version are not read.
pub const FEATURES_VERSION: u32 = 3;
/// The eight categories, and none.
pub const CLASSES: usize = Category::ALL.len() + 1;
/// A weight of one is this much in the file.
pub const SCALE: f32 = 50.0;

static FILE: DataFile = DataFile::new("weights.txt", include_str!("../../../data/weights.txt"));

/// A text of no more clauses is short: what stands alone is said more plainly than what is one of many.
const SHORT_CLAUSES: usize = 3;

/// How likely each class is; the first is none.
pub type Odds = [f32; CLASSES];

/// The share of clauses that tell something in texts that people write of their work.
const TELLING: f32 = 0.2;

/// Whether a text of so many clauses has the threshold of short ones.
pub fn is_short(clauses: usize) -> bool {
    clauses <= SHORT_CLAUSES
}

/// Doubts the clauses of a text in which hardly any tells something: a newsletter or a story has a few that look like it.
pub fn in_their_text(odds: &mut [Odds]) {
    let telling: f32 = odds.iter().map(|odds| 1.0 - odds[0]).sum();
    // A short text proves little.
    let share = (telling + 2.0 * TELLING) / (odds.len() as f32 + 2.0);
    let usual = TELLING / (1.0 - TELLING);
    let doubt = (share / (1.0 - share).max(1e-6) / usual).min(1.0);
    for odds in odds {
        let all = odds[0] + doubt * odds[1..].iter().sum::<f32>();
        odds[0] /= all;
        for odd in &mut odds[1..] {
            *odd *= doubt / all;
        }
    }
}

#[derive(Debug)]
pub struct ClauseModel {
    /// How likely an event of each category must be to be told.
    thresholds: [f32; Category::ALL.len()],
    /// The same of every category in a short text.
    short: f32,
    weights: HashedMap<[i8; CLASSES]>,
}

impl ClauseModel {
    /// The model that comes with the program.
    pub fn own() -> Arc<Self> {
        static OWN: LazyLock<Arc<ClauseModel>> = LazyLock::new(|| Arc::new(loaded(ClauseModel::read_own())));
        OWN.clone()
    }

    pub(in super::super) fn read_own() -> Result<Self, DataFault> {
        Self::parse(FILE.text())
    }

    /// Reads weights as the trainer writes them.
    pub fn parse(text: &str) -> Result<Self, DataFault> {
        let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
        let mut header = |name: &str| {
            lines.next().and_then(|(_, line)| line.strip_prefix(name)?.strip_prefix(' ')).unwrap_or_default()
        };
        let version = header("features");
        if version.parse() != Ok(FEATURES_VERSION) {
            let reason = format!(
                "the weights are for features of version '{version}', this program has {FEATURES_VERSION}; train them anew"
            );
            return Err(FILE.fault(1, reason));
        }
        let thresholds: Vec<f32> =
            header("thresholds").split(' ').filter_map(|number| number.parse().ok()).collect();
        let thresholds =
            thresholds.try_into().map_err(|_| FILE.fault(2, "it has to be 'thresholds' and 8 numbers"))?;
        let short =
            header("short").parse().map_err(|_| FILE.fault(3, "it has to be 'short' and a number"))?;
        let mut weights = HashedMap::default();
        for (number, line) in lines {
            let row = line.split_once('\t').and_then(|(name, numbers)| {
                let numbers: Vec<i8> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
                Some((hash(&[name]), numbers.try_into().ok()?))
            });
            let (name, row) = row.ok_or_else(|| {
                FILE.fault(number, format!("'{line}' is no feature with {CLASSES} numbers"))
            })?;
            weights.insert(name, row);
        }
        Ok(Self { thresholds, short, weights })
    }

    pub(super) fn odds(&self, features: &[u64]) -> Odds {
        let mut sums = [0_i32; CLASSES];
        for row in features.iter().filter_map(|feature| self.weights.get(feature)) {
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum += i32::from(*weight);
            }
        }
        let most = sums.iter().copied().max().unwrap_or_default();
        let odds = sums.map(|sum| ((sum - most) as f32 / SCALE).exp());
        let all: f32 = odds.iter().sum();
        odds.map(|odd| odd / all)
    }

    /// How likely each category must be in a text of so many clauses.
    pub(super) fn thresholds(&self, clauses: usize) -> [f32; Category::ALL.len()] {
        if is_short(clauses) {
            self.thresholds.map(|threshold| threshold.min(self.short))
        } else {
            self.thresholds
        }
    }

    /// The likeliest category, where it is likely enough.
    pub(super) fn category(odds: &Odds, thresholds: &[f32; Category::ALL.len()]) -> Option<(Category, f32)> {
        let all = Category::ALL.iter().zip(thresholds).zip(&odds[1..]);
        let ((category, threshold), odd) = all.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        (odd >= threshold).then_some((*category, *odd))
    }
}
