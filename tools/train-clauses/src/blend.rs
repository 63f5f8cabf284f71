//! How the odds by features and the logits of the clause encoder are weighed: multinomial logistic regression over the two,
//! by full-batch Adam, on documents that neither was trained on.

use memory_extraction::{Blend, CLASSES, Odds, logarithm, softmax};

const ROUNDS: i32 = 2_000;
const STEP: f32 = 0.02;
/// Of the numbers that are added for each class.
const L2: f32 = 1e-4;
const PARAMETERS: usize = CLASSES + 2;

/// A clause by features and by the encoder, with what it tells.
pub(crate) struct Pair {
    pub(crate) odds: Odds,
    pub(crate) logits: [f32; CLASSES],
    pub(crate) targets: [f32; CLASSES],
}

pub(crate) fn fit(pairs: &[Pair]) -> Blend {
    let rows: Vec<_> = pairs
        .iter()
        .map(|pair| (pair.odds.map(logarithm), softmax(pair.logits).map(logarithm), pair.targets))
        .collect();
    let mut parameters = [0.0; PARAMETERS];
    parameters[..2].fill(0.5);
    let (mut slope, mut curve) = ([0.0; PARAMETERS], [0.0; PARAMETERS]);
    for round in 1..=ROUNDS {
        let gradient = gradient(&rows, &parameters);
        let step = STEP * (1.0 - (round - 1) as f32 / ROUNDS as f32);
        let (first, second) = (1.0 - 0.9_f32.powi(round), 1.0 - 0.99_f32.powi(round));
        for at in 0..PARAMETERS {
            slope[at] = 0.9 * slope[at] + 0.1 * gradient[at];
            curve[at] = 0.99 * curve[at] + 0.01 * gradient[at] * gradient[at];
            parameters[at] -= step * (slope[at] / first) / ((curve[at] / second).sqrt() + 1e-8);
        }
    }
    let [features, encoder, bias @ ..] = parameters;
    Blend { features, encoder, bias }
}

fn gradient(
    rows: &[([f32; CLASSES], [f32; CLASSES], [f32; CLASSES])],
    parameters: &[f32; PARAMETERS],
) -> [f32; PARAMETERS] {
    let [features, encoder, bias @ ..] = parameters;
    let mut sums = [0.0_f64; PARAMETERS];
    for (own, read, targets) in rows {
        let mut logits = *bias;
        for class in 0..CLASSES {
            logits[class] += features * own[class] + encoder * read[class];
        }
        let odds = softmax(logits);
        for class in 0..CLASSES {
            let off = f64::from(odds[class] - targets[class]);
            sums[0] += off * f64::from(own[class]);
            sums[1] += off * f64::from(read[class]);
            sums[2 + class] += off;
        }
    }
    let mut gradient = sums.map(|sum| (sum / rows.len().max(1) as f64) as f32);
    gradient[2..].iter_mut().zip(bias).for_each(|(slope, bias)| *slope += 2.0 * L2 * bias);
    gradient
}
