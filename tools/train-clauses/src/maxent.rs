//! Multinomial logistic regression with L2 regularisation: full-batch Adam from zero, so the same examples in the same
//! order give the same weights.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use memory_core::event::Category;
use memory_extraction::{
    Blend, CLASSES, FEATURES_VERSION, Odds, SCALE, Thresholds, in_their_text, is_short, softmax,
};

const ROUNDS: i32 = 150;
const STEP: f32 = 0.1;
const L2: f32 = 1.5;
/// A feature of fewer clauses is not learned.
const SEEN_AT_LEAST: usize = 2;
/// No threshold is lower, in hundredths: documents that others wrote are harder than those that weights are trained on.
const THRESHOLD_MIN: u8 = 48;
/// The same of short texts.
const SHORT_THRESHOLD_MIN: u8 = 20;
/// Features that weigh less than this for every class are left out of the file.
const WEIGHT_MIN: f32 = 0.20;

/// A clause, or what may be a name, with its labels.
#[derive(Clone)]
pub(crate) struct Example<const COUNT: usize = CLASSES> {
    pub(crate) document: usize,
    /// Of its document.
    pub(crate) fold: usize,
    /// Where it stands, in characters.
    pub(crate) span: (usize, usize),
    pub(crate) features: Vec<String>,
    /// How much of it each class is, none first; `None` for a clause that is neither right nor wrong.
    pub(crate) targets: Option<[f32; COUNT]>,
}

/// Weights by the name of their feature.
pub(crate) type Weights<const COUNT: usize = CLASSES> = BTreeMap<String, [f32; COUNT]>;

pub(crate) fn train<const COUNT: usize>(examples: &[&Example<COUNT>]) -> Weights<COUNT> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for feature in examples.iter().flat_map(|example| &example.features) {
        *counts.entry(feature).or_default() += 1;
    }
    let names: Vec<&str> =
        counts.into_iter().filter(|(_, count)| *count >= SEEN_AT_LEAST).map(|(name, _)| name).collect();
    let rows: Vec<(Vec<usize>, [f32; COUNT])> = examples
        .iter()
        .filter_map(|example| {
            let features =
                example.features.iter().filter_map(|name| names.binary_search(&name.as_str()).ok());
            Some((features.collect(), example.targets?))
        })
        .collect();
    let mut weights = vec![[0.0_f32; COUNT]; names.len()];
    let mut slope = weights.clone();
    let mut curve = weights.clone();
    for round in 1..=ROUNDS {
        let gradients = gradients(&rows, &weights);
        let step = STEP * (1.0 - (round - 1) as f32 / ROUNDS as f32);
        let (first, second) = (1.0 - 0.9_f32.powi(round), 1.0 - 0.99_f32.powi(round));
        for (feature, gradient) in gradients.iter().enumerate() {
            for class in 0..COUNT {
                let (slope, curve) = (&mut slope[feature][class], &mut curve[feature][class]);
                *slope = 0.9 * *slope + 0.1 * gradient[class];
                *curve = 0.99 * *curve + 0.01 * gradient[class] * gradient[class];
                weights[feature][class] -= step * (*slope / first) / ((*curve / second).sqrt() + 1e-8);
            }
        }
    }
    names.into_iter().map(str::to_owned).zip(weights).collect()
}

fn gradients<const COUNT: usize>(
    rows: &[(Vec<usize>, [f32; COUNT])],
    weights: &[[f32; COUNT]],
) -> Vec<[f32; COUNT]> {
    let all = rows.len().max(1) as f32;
    let mut gradients: Vec<[f32; COUNT]> =
        weights.iter().map(|row| row.map(|weight| weight * L2 / all)).collect();
    for (features, targets) in rows {
        let odds = odds(features.iter().map(|feature| &weights[*feature]));
        for feature in features {
            for class in 0..COUNT {
                gradients[*feature][class] += (odds[class] - targets[class]) / all;
            }
        }
    }
    gradients
}

fn odds<'w, const COUNT: usize>(rows: impl Iterator<Item = &'w [f32; COUNT]>) -> [f32; COUNT] {
    let mut sums = [0.0_f32; COUNT];
    for row in rows {
        for (sum, weight) in sums.iter_mut().zip(row) {
            *sum += weight;
        }
    }
    softmax(sums)
}

pub(crate) fn odds_of<const COUNT: usize>(
    example: &Example<COUNT>,
    weights: &Weights<COUNT>,
) -> [f32; COUNT] {
    odds(example.features.iter().filter_map(|name| weights.get(name)))
}

/// A clause that was read with weights of other documents.
pub(crate) struct LeftOut {
    odds: [f32; CLASSES],
    targets: [f32; CLASSES],
    is_short: bool,
}

/// What each document's clauses are likely to tell by `odds_of_text`, and what they tell. Examples of a document stand
/// together.
pub(crate) fn left_out(examples: &[Example], odds_of_text: impl Fn(&[Example]) -> Vec<Odds>) -> Vec<LeftOut> {
    let mut judged = Vec::new();
    for text in examples.chunk_by(|a, b| a.document == b.document) {
        let mut odds = odds_of_text(text);
        in_their_text(&mut odds);
        let is_short = is_short(text.len());
        let clauses = odds.into_iter().zip(text);
        judged.extend(
            clauses.filter_map(|(odds, one)| Some(LeftOut { odds, targets: one.targets?, is_short })),
        );
    }
    judged
}

/// The thresholds with the best F1 whose precision is not below `precision`: by category, and for all of short texts.
pub(crate) fn thresholds(judged: &[LeftOut], precision: f32) -> Thresholds {
    let categories = std::array::from_fn(|at| {
        let all = judged.iter().map(|one| (one.odds[at + 1], one.targets[at + 1] > 0.0));
        threshold(&all.collect::<Vec<_>>(), precision, THRESHOLD_MIN)
    });
    let short: Vec<(f32, bool)> = judged
        .iter()
        .filter(|one| one.is_short)
        .flat_map(|one| (1..CLASSES).map(|class| (one.odds[class], one.targets[class] > 0.0)))
        .collect();
    Thresholds { categories, short: threshold(&short, precision, SHORT_THRESHOLD_MIN) }
}

/// The lowest threshold of all categories together whose precision is not below `precision`, and that of short texts.
pub(crate) fn lowest_thresholds(judged: &[LeftOut], precision: f32, short: f32) -> Thresholds {
    let told = |one: &LeftOut| {
        let likeliest = (1..CLASSES).max_by(|a, b| one.odds[*a].total_cmp(&one.odds[*b])).unwrap_or(1);
        (one.odds[likeliest], one.targets[likeliest] > 0.0)
    };
    let lowest = |mut told: Vec<(f32, bool)>, precision: f32| {
        told.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let (mut threshold, mut right) = (1.0, 0.0);
        for (taken, (odd, is_right)) in told.into_iter().enumerate() {
            right += f32::from(u8::from(is_right));
            if right >= precision * (taken + 1) as f32 {
                threshold = odd;
            }
        }
        threshold
    };
    Thresholds {
        categories: [lowest(judged.iter().map(told).collect(), precision); CLASSES - 1],
        short: lowest(judged.iter().filter(|one| one.is_short).map(told).collect(), short),
    }
}

/// Of probabilities and whether they are right.
fn threshold(judged: &[(f32, bool)], precision: f32, least: u8) -> f32 {
    let wanted = judged.iter().filter(|(_, is_right)| *is_right).count() as f32;
    let mut best = (0.0, 0.6);
    for percent in least..90 {
        let threshold = f32::from(percent) / 100.0;
        let found = judged.iter().filter(|(odd, _)| *odd >= threshold);
        let (mut taken, mut right) = (0.0, 0.0);
        for (_, is_right) in found {
            taken += 1.0;
            right += f32::from(u8::from(*is_right));
        }
        let f1 = 2.0 * right / (taken + wanted);
        if right >= precision * taken && f1 > best.0 {
            best = (f1, threshold);
        }
    }
    best.1
}

/// The file of a model.
pub(crate) fn written(
    weights: &Weights,
    thresholds: &Thresholds,
    (Blend { features, encoder, bias }, blended): &(Blend, Thresholds),
) -> String {
    let mut out = format!("features {FEATURES_VERSION}\n{}", lines(thresholds));
    let bias = bias.map(|one| format!("{one:.3}")).join(" ");
    let _ = write!(out, "blend {features:.3} {encoder:.3} {bias}\n{}", lines(blended));
    write_weights(&mut out, weights, SCALE);
    out
}

/// A line for each feature that counts.
pub(crate) fn write_weights<const COUNT: usize>(out: &mut String, weights: &Weights<COUNT>, scale: f32) {
    for (name, row) in weights {
        // Only differences between the classes count: "none" is the one that the others are measured by.
        let row = row.map(|weight| (weight * scale).round().clamp(-127.0, 127.0) as i32);
        if row.iter().any(|weight| weight.abs() as f32 >= WEIGHT_MIN * scale) {
            let numbers: Vec<String> = row.iter().map(ToString::to_string).collect();
            let _ = writeln!(out, "{name}\t{}", numbers.join(" "));
        }
    }
}

fn lines(Thresholds { categories, short }: &Thresholds) -> String {
    let categories = categories.map(|threshold| format!("{threshold:.2}")).join(" ");
    format!("thresholds {categories}\nshort {short:.2}\n")
}

/// The targets of clauses at `spans`, held against labels.
pub(crate) struct Label {
    pub(crate) categories: Vec<Category>,
    pub(crate) spans: Vec<(usize, usize)>,
    pub(crate) is_optional: bool,
}

/// The labels of each clause: the clause that agrees best with a label is its event; others that meet it are neither right
/// nor wrong. Of an act of several turns it is the last.
pub(crate) fn targets(clauses: &[(usize, usize)], labels: &[Label]) -> Vec<Option<[f32; CLASSES]>> {
    let mut labelled: Vec<[f32; CLASSES]> = vec![[0.0; CLASSES]; clauses.len()];
    let mut met = BTreeSet::new();
    for label in labels {
        let mut carriers = Vec::new();
        for span in &label.spans {
            let meeting = clauses.iter().enumerate().filter(|(_, clause)| overlap(**clause, *span).is_some());
            met.extend(meeting.clone().map(|(at, _)| at));
            carriers.extend(meeting.max_by_key(|(_, clause)| overlap(**clause, *span)).map(|(at, _)| at));
        }
        let Some(carrier) = carriers.last().filter(|_| !label.is_optional) else { continue };
        for category in &label.categories {
            let class = Category::ALL.iter().position(|known| known == category).map_or(0, |at| at + 1);
            let share = 1.0 / label.categories.len() as f32;
            labelled[*carrier][class] = labelled[*carrier][class].max(share);
        }
    }
    let judged = labelled.into_iter().enumerate().map(|(at, mut row)| {
        let all: f32 = row.iter().sum();
        if all > 0.0 {
            return Some(row.map(|part| part / all));
        }
        row[0] = 1.0;
        (!met.contains(&at)).then_some(row)
    });
    judged.collect()
}

/// In thousandths of what the two cover; `None` when they share less than half of the shorter.
fn overlap(a: (usize, usize), b: (usize, usize)) -> Option<usize> {
    let shared = a.1.min(b.1).saturating_sub(a.0.max(b.0));
    let shorter = (a.1 - a.0).min(b.1 - b.0);
    (shared > 0 && shared * 2 >= shorter).then(|| shared * 1000 / (a.1 - a.0 + b.1 - b.0 - shared))
}
