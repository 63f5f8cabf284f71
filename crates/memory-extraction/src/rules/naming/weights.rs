//! The trained weights of names: which feature speaks how strongly for what a name is of.
//!
//! A text: the version of the features, how likely each type must be where the rules are silent, how the logits of an encoder are
//! blended in and how likely each type must be with them, then a line for each feature with its name and a whole number for each
//! class, none first. They were found by `cargo run -p train-clauses -- --names`.

use std::sync::LazyLock;

use memory_core::entity::EntityType;
pub use memory_core::ports::NAME_CLASSES;

use super::super::data_file::{DataFault, DataFile, loaded};
use super::super::model::{Blend, FeatureWeights, check_version, numbered};

/// Counts up with every change to what a feature's name means; weights of another version are not read.
pub const NAME_FEATURES_VERSION: u32 = 1;

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
    weights: FeatureWeights<NAME_CLASSES>,
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
        let mut lines = numbered(text);
        check_version(&FILE, lines.next(), NAME_FEATURES_VERSION)?;
        let thresholds = FILE.numbers(lines.next(), "thresholds ")?;
        let [features, encoder, bias @ ..] = FILE.numbers::<{ NAME_CLASSES + 2 }>(lines.next(), "blend ")?;
        let blend = Blend { features, encoder, bias };
        let blended_thresholds = FILE.numbers(lines.next(), "thresholds ")?;
        let weights = FeatureWeights::parse(&FILE, lines)?;
        Ok(Self { thresholds, blend, blended_thresholds, weights })
    }

    pub(super) fn odds(&self, features: &[u64]) -> Odds {
        self.weights.odds(features)
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
