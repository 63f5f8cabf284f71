//! The trained weights: which feature speaks how strongly for which category, and how sure each category must be.
//!
//! A text: the version of the features, the thresholds, the threshold of short texts, how the odds of an encoder are blended
//! in with the thresholds of that, then a line for each feature with its name and a whole number for each class, none first. They were
//! found by `cargo run -p train-clauses`.

use std::sync::{Arc, LazyLock};

use memory_core::event::Category;
use memory_core::ports::CLAUSE_CLASSES;

use super::super::data_file::{DataFault, DataFile, loaded};
use super::feature_weights::{FeatureWeights, Line, check_version, numbered, softmax};

/// Counts up with every change to what a feature's name means; weights of another version are not read.
pub const FEATURES_VERSION: u32 = 3;
/// The eight categories, and none.
pub const CLASSES: usize = CLAUSE_CLASSES;

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

/// How likely an event must be to be told.
#[derive(Debug, Clone, PartialEq)]
pub struct Thresholds {
    /// By category.
    pub categories: [f32; Category::ALL.len()],
    /// Of every category in a short text.
    pub short: f32,
}

/// How the odds by features and the logits of an encoder are weighed: the factors of their logarithms, and what is added for
/// each class.
#[derive(Debug, Clone, PartialEq)]
pub struct Blend<const COUNT: usize = CLASSES> {
    pub features: f32,
    pub encoder: f32,
    pub bias: [f32; COUNT],
}

impl<const COUNT: usize> Blend<COUNT> {
    /// Replaces the odds of these numbers by those of both.
    pub fn join(&self, odds: &mut [[f32; COUNT]], numbers: &[usize], logits: &[[f32; COUNT]]) {
        for (number, logits) in numbers.iter().zip(logits) {
            let odds = &mut odds[*number];
            let encoder = softmax(*logits);
            let mut sums = self.bias;
            for ((sum, own), encoder) in sums.iter_mut().zip(&*odds).zip(encoder) {
                *sum += self.features * logarithm(*own) + self.encoder * logarithm(encoder);
            }
            *odds = softmax(sums);
        }
    }
}

/// Of odds that may be as good as 0.
pub fn logarithm(odd: f32) -> f32 {
    odd.max(1e-7).ln()
}

#[derive(Debug)]
pub struct ClauseModel {
    thresholds: Thresholds,
    /// With an encoder.
    blend: Blend,
    blended_thresholds: Thresholds,
    weights: FeatureWeights<CLASSES>,
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
        let mut lines = numbered(text);
        check_version(&FILE, lines.next(), FEATURES_VERSION)?;
        let thresholds = thresholds(&mut lines)?;
        let [features, encoder, bias @ ..] = FILE.numbers::<{ CLASSES + 2 }>(lines.next(), "blend ")?;
        let blend = Blend { features, encoder, bias };
        let blended_thresholds = self::thresholds(&mut lines)?;
        let weights = FeatureWeights::parse(&FILE, lines)?;
        Ok(Self { thresholds, blend, blended_thresholds, weights })
    }

    pub(super) fn odds(&self, features: &[u64]) -> Odds {
        self.weights.odds(features)
    }

    /// How an encoder is weighed.
    pub(in super::super) fn blend(&self) -> &Blend {
        &self.blend
    }

    /// How likely each category must be in a text of so many clauses, with an encoder or without.
    pub(in super::super) fn thresholds(
        &self,
        clauses: usize,
        with_encoder: bool,
    ) -> [f32; Category::ALL.len()] {
        let Thresholds { categories, short } =
            if with_encoder { &self.blended_thresholds } else { &self.thresholds };
        if is_short(clauses) { [*short; Category::ALL.len()] } else { *categories }
    }

    /// The likeliest category, where it is likely enough.
    pub(super) fn category(odds: &Odds, thresholds: &[f32; Category::ALL.len()]) -> Option<(Category, f32)> {
        let all = Category::ALL.iter().zip(thresholds).zip(&odds[1..]);
        let ((category, threshold), odd) = all.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        (odd >= threshold).then_some((*category, *odd))
    }
}

/// The two lines of thresholds.
fn thresholds<'l>(lines: &mut impl Iterator<Item = Line<'l>>) -> Result<Thresholds, DataFault> {
    let categories = FILE.numbers(lines.next(), "thresholds ")?;
    let [short] = FILE.numbers(lines.next(), "short ")?;
    Ok(Thresholds { categories, short })
}
