//! The trained weights of names: which feature speaks how strongly for what a name is of.
//!
//! A text: the version of the features, how likely each type must be where the rules are silent, how the logits of an encoder are
//! blended in and how likely each type must be with them, then a line for each feature with its name and a whole number for each
//! class, none first. They were found by `cargo run -p train-clauses -- --names`.

use std::sync::LazyLock;

use memory_core::entity::EntityType;
pub use memory_core::ports::NAME_CLASSES;

use super::super::data_file::{DataFault, DataFile, loaded};
use super::super::model::{Blend, hash, softmax};
use super::super::wordset::HashedMap;

/// Counts up with every change to what a feature's name means; weights of another version are not read.
pub const NAME_FEATURES_VERSION: u32 = 1;
/// A weight of one is this much in the file.
pub const NAME_SCALE: f32 = 50.0;

/// What a name may be of, after none; the last class is all else that has a name.
const TYPES: [EntityType; 4] = [EntityType::Person, EntityType::Org, EntityType::Project, EntityType::Place];

static FILE: DataFile = DataFile::new("name_weights.txt", include_str!("../../../data/name_weights.txt"));

/// How likely a name of each type must be.
pub(super) type Thresholds = [f32; TYPES.len()];

/// How likely each class is; the first is none.
pub(super) type Odds = [f32; NAME_CLASSES];

#[derive(Debug)]
pub struct NameModel {
    thresholds: Thresholds,
    /// With an encoder.
    blend: Blend<NAME_CLASSES>,
    blended_thresholds: Thresholds,
    weights: HashedMap<[i8; NAME_CLASSES]>,
}

impl NameModel {
    /// The model that comes with the program.
    pub(in super::super) fn own() -> &'static Self {
        static OWN: LazyLock<NameModel> = LazyLock::new(|| loaded(NameModel::read_own()));
        &OWN
    }

    pub(in super::super) fn read_own() -> Result<Self, DataFault> {
        Self::parse(FILE.text())
    }

    /// The class of a type; `None` for one that is not judged.
    pub fn class_of(entity_type: EntityType) -> Option<usize> {
        TYPES.iter().position(|known| *known == entity_type).map(|at| at + 1)
    }

    /// Reads weights as the trainer writes them.
    pub fn parse(text: &str) -> Result<Self, DataFault> {
        let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
        let version = lines.next().and_then(|(_, line)| line.strip_prefix("features ")).unwrap_or_default();
        if version.parse() != Ok(NAME_FEATURES_VERSION) {
            let reason = format!(
                "the weights are not for features of version {NAME_FEATURES_VERSION}; train them anew"
            );
            return Err(FILE.fault(1, reason));
        }
        let thresholds = FILE.numbers(lines.next(), "thresholds ")?;
        let [features, encoder, bias @ ..] = FILE.numbers::<{ NAME_CLASSES + 2 }>(lines.next(), "blend ")?;
        let blend = Blend { features, encoder, bias };
        let blended_thresholds = FILE.numbers(lines.next(), "thresholds ")?;
        let mut weights = HashedMap::default();
        for (number, line) in lines {
            let row = line.split_once('\t').and_then(|(name, numbers)| {
                let numbers: Vec<i8> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
                Some((hash(&[name]), numbers.try_into().ok()?))
            });
            let (name, row) = row.ok_or_else(|| {
                FILE.fault(number, format!("'{line}' is no feature with {NAME_CLASSES} numbers"))
            })?;
            weights.insert(name, row);
        }
        Ok(Self { thresholds, blend, blended_thresholds, weights })
    }

    pub(super) fn odds(&self, features: &[u64]) -> Odds {
        let mut sums = [0_i32; NAME_CLASSES];
        for row in features.iter().filter_map(|feature| self.weights.get(feature)) {
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum += i32::from(*weight);
            }
        }
        softmax(sums.map(|sum| sum as f32 / NAME_SCALE))
    }

    /// How an encoder is weighed.
    pub(super) fn blend(&self) -> &Blend<NAME_CLASSES> {
        &self.blend
    }

    /// How likely each type must be where the rules are silent, with an encoder or without.
    pub(super) fn thresholds(&self, with_encoder: bool) -> &Thresholds {
        if with_encoder { &self.blended_thresholds } else { &self.thresholds }
    }
}

/// What it names, where that is likely enough.
pub(super) fn named(odds: &Odds, thresholds: &Thresholds) -> Option<EntityType> {
    let (class, odd) = likeliest(odds);
    (odd >= *thresholds.get(class - 1)?).then(|| TYPES[class - 1])
}

/// The likeliest class but none.
fn likeliest(odds: &Odds) -> (usize, f32) {
    let classes = (1..NAME_CLASSES).map(|class| (class, odds[class]));
    classes.max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap_or((1, 0.0))
}

/// Another type than nothing that is at least so likely.
pub(super) fn surely(odds: &Odds, least: f32) -> Option<EntityType> {
    let (class, odd) = likeliest(odds);
    TYPES.get(class - 1).copied().filter(|_| odd > least)
}
