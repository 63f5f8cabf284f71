//! How the odds by features and the logits of an encoder are weighed: multinomial logistic regression over the two,
//! by full-batch Adam, on documents that neither was trained on.

use memory_extraction::{Blend, CLASSES, logarithm, softmax};

const ROUNDS: i32 = 2_000;
const STEP: f32 = 0.02;
/// Of the numbers that are added for each class.
const L2: f32 = 1e-4;

/// A clause, or what may be a name, by features and by the encoder, with what it tells.
pub(crate) struct Pair<const COUNT: usize = CLASSES> {
    pub(crate) odds: [f32; COUNT],
    pub(crate) logits: [f32; COUNT],
    pub(crate) targets: [f32; COUNT],
}

pub(crate) fn fit<const COUNT: usize>(pairs: &[Pair<COUNT>]) -> Blend<COUNT> {
    let rows: Vec<_> = pairs
        .iter()
        .map(|pair| (pair.odds.map(logarithm), softmax(pair.logits).map(logarithm), pair.targets))
        .collect();
    let mut blend = Blend { features: 0.5, encoder: 0.5, bias: [0.0; COUNT] };
    let (mut slope, mut curve) = (vec![0.0; COUNT + 2], vec![0.0; COUNT + 2]);
    for round in 1..=ROUNDS {
        let gradient = gradient(&rows, &blend);
        let step = STEP * (1.0 - (round - 1) as f32 / ROUNDS as f32);
        let (first, second) = (1.0 - 0.9_f32.powi(round), 1.0 - 0.99_f32.powi(round));
        let parameters = [&mut blend.features, &mut blend.encoder].into_iter().chain(&mut blend.bias);
        for (at, parameter) in parameters.enumerate() {
            slope[at] = 0.9 * slope[at] + 0.1 * gradient[at];
            curve[at] = 0.99 * curve[at] + 0.01 * gradient[at] * gradient[at];
            *parameter -= step * (slope[at] / first) / ((curve[at] / second).sqrt() + 1e-8);
        }
    }
    blend
}

/// Of the factors of both, then of what is added for each class.
fn gradient<const COUNT: usize>(
    rows: &[([f32; COUNT], [f32; COUNT], [f32; COUNT])],
    Blend { features, encoder, bias }: &Blend<COUNT>,
) -> Vec<f32> {
    let mut sums = vec![0.0_f64; COUNT + 2];
    for (own, read, targets) in rows {
        let mut logits = *bias;
        for class in 0..COUNT {
            logits[class] += features * own[class] + encoder * read[class];
        }
        let odds = softmax(logits);
        for class in 0..COUNT {
            let off = f64::from(odds[class] - targets[class]);
            sums[0] += off * f64::from(own[class]);
            sums[1] += off * f64::from(read[class]);
            sums[2 + class] += off;
        }
    }
    let mut gradient: Vec<f32> =
        sums.into_iter().map(|sum| (sum / rows.len().max(1) as f64) as f32).collect();
    gradient[2..].iter_mut().zip(bias).for_each(|(slope, bias)| *slope += 2.0 * L2 * bias);
    gradient
}
