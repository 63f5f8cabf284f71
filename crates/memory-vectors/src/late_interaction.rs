//! Late interaction: how well each word of a question is met by some word of a passage, both as an encoder
//! sees them in their surroundings (Khattab & Zaharia 2020, "ColBERT"), with the states of a passage's
//! tokens kept as one bit a number.

use std::ops::Range;

/// A token of a question and how much it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct WeighedToken<'a> {
    /// Not negative.
    pub weight: f32,
    pub state: &'a [f32],
}

/// Tokens that weigh less than this share of the heaviest one are not looked for.
const NEGLIGIBLE: f32 = 0.15;
/// Steps of a stored partial sum in a unit: eight numbers of a unit vector sum up to less than three.
const STEPS: f32 = 8192.0;

/// The signs of the tokens' states, a token after the other, each in whole bytes, lowest bit first.
pub fn compress(states: &[&[f32]]) -> Vec<u8> {
    let signs = |numbers: &[f32]| {
        numbers.iter().enumerate().fold(0, |byte, (bit, number)| byte | (u8::from(*number >= 0.0) << bit))
    };
    states.iter().flat_map(|state| state.chunks(8).map(signs)).collect()
}

/// For each of the passages the mean, weighed, of what is the best cosine similarity of any of its tokens to each
/// token of the question: between −1 and 1, about a fifth lower than it would be without compression.
/// `None` for a passage without tokens, and for all when no token of the question weighs anything.
pub fn max_similarities(question: &[WeighedToken<'_>], passages: &[Option<&[u8]>]) -> Vec<Option<f32>> {
    let mut sums = vec![0.0_f32; passages.len()];
    let mut weights = 0.0;
    for token in looked_for(question) {
        weights += token.weight;
        let sums_of_bytes = SumsOfBytes::new(token.state);
        for (sum, passage) in sums.iter_mut().zip(passages) {
            if let Some(best) = passage.and_then(|states| sums_of_bytes.best(states)) {
                *sum += token.weight * best;
            }
        }
    }
    let has_tokens = passages.iter().map(|passage| passage.is_some_and(|states| !states.is_empty()));
    sums.into_iter()
        .zip(has_tokens)
        .map(|(sum, has_tokens)| (weights > 0.0 && has_tokens).then(|| sum / weights))
        .collect()
}

/// The tokens of a question that weigh something beside the heaviest one.
fn looked_for<'a, 'b>(question: &'b [WeighedToken<'a>]) -> impl Iterator<Item = &'b WeighedToken<'a>> {
    let heaviest = question.iter().map(|token| token.weight).fold(0.0, f32::max);
    question.iter().filter(move |token| token.weight > NEGLIGIBLE * heaviest)
}

/// How well each token of one passage meets the tokens of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct MetTokens {
    /// For each token of the question its weight, and its cosine similarity to each token of the passage.
    by_question: Vec<(f32, Vec<f32>)>,
    count: usize,
}

impl MetTokens {
    /// `None` where the passage has no tokens, or no token of the question weighs anything.
    pub fn new(question: &[WeighedToken<'_>], states: &[u8]) -> Option<Self> {
        let by_question: Vec<_> = looked_for(question)
            .map(|token| (token.weight, SumsOfBytes::new(token.state).all(states)))
            .collect();
        let count = by_question.first()?.1.len();
        (count > 0).then_some(Self { by_question, count })
    }

    /// How many tokens the passage has.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The same as [`max_similarities`] of a part of the passage, by its tokens; −1 where there are none.
    pub fn within(&self, tokens: Range<usize>) -> f32 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for (weight, similarities) in &self.by_question {
            let part = similarities.get(tokens.clone()).unwrap_or_default();
            sum += weight * part.iter().copied().fold(-1.0, f32::max);
            weights += weight;
        }
        sum / weights
    }
}

/// For each byte of a compressed state and each value it may have, what it adds to the product with one token
/// of the question. Small enough for the nearest cache, so that a product is one look-up a byte.
struct SumsOfBytes {
    sums: Vec<[i16; 256]>,
    scale: f32,
}

impl SumsOfBytes {
    fn new(state: &[f32]) -> Self {
        let sums = state.chunks(8).map(|numbers| {
            let mut sums = [0_i16; 256];
            // First no bit is set; then each bit doubles what is filled in.
            let steps = numbers.iter().map(|number| (number * STEPS).round() as i16);
            sums[0] = -steps.clone().sum::<i16>();
            for (bit, step) in steps.enumerate() {
                for byte in 0..1 << bit {
                    sums[byte | 1 << bit] = sums[byte] + 2 * step;
                }
            }
            sums
        });
        Self { sums: sums.collect(), scale: STEPS * (state.len() as f32).sqrt() }
    }

    /// The products with the tokens, in steps.
    fn products(&self, states: &[u8]) -> impl Iterator<Item = i32> {
        states.chunks_exact(self.sums.len().max(1)).map(|token| {
            self.sums.iter().zip(token).map(|(sums, byte)| i32::from(sums[usize::from(*byte)])).sum()
        })
    }

    /// The best cosine similarity of any of the tokens.
    fn best(&self, states: &[u8]) -> Option<f32> {
        self.products(states).max().map(|best| best as f32 / self.scale)
    }

    /// The cosine similarity of each of the tokens.
    fn all(&self, states: &[u8]) -> Vec<f32> {
        self.products(states).map(|product| product as f32 / self.scale).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unit vectors that look random, each unlike the others.
    fn state(seed: u64, dimension: usize) -> Vec<f32> {
        let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let numbers: Vec<f32> = (0..dimension)
            .map(|_| {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                (x >> 40) as f32 / (1 << 23) as f32 - 1.0
            })
            .collect();
        let length = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
        numbers.into_iter().map(|x| x / length).collect()
    }

    /// Of tokens that look random, compressed.
    fn compressed(seeds: &[u64]) -> Vec<u8> {
        let states: Vec<Vec<f32>> = seeds.iter().map(|seed| state(*seed, 384)).collect();
        compress(&states.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn a_passage_that_has_the_questions_tokens_is_most_similar_wherever_they_stand() {
        let wanted = [state(1, 384), state(2, 384)];
        let question: Vec<WeighedToken> =
            wanted.iter().map(|state| WeighedToken { weight: 1.0, state }).collect();
        let passages: Vec<Vec<u8>> =
            [&[7, 2, 9, 1][..], &[1, 8, 9], &[7, 8, 9]].iter().map(|seeds| compressed(seeds)).collect();
        let given: Vec<Option<&[u8]>> =
            passages.iter().map(|states| Some(&states[..])).chain([None, Some(&[][..])]).collect();
        let found = max_similarities(&question, &given);
        let [both, one, neither] = [found[0].unwrap(), found[1].unwrap(), found[2].unwrap()];
        assert!(both > 0.75 && both < 1.0 && both > one + 0.2 && one > neither + 0.2, "{found:?}");
        assert_eq!(found[3..], [None, None]);
    }

    #[test]
    fn tokens_count_by_their_weight() {
        let wanted = [state(1, 384), state(2, 384)];
        let passages = [compressed(&[1]), compressed(&[2])];
        let given = [Some(&passages[0][..]), Some(&passages[1][..])];
        let asked = |first, second| {
            let question = [
                WeighedToken { weight: first, state: &wanted[0] },
                WeighedToken { weight: second, state: &wanted[1] },
            ];
            max_similarities(&question, &given)
        };
        let found = asked(3.0, 1.0);
        assert!(found[0] > found[1]);
        let found = asked(1.0, 0.1);
        assert!(found[1].unwrap() < 0.2, "a negligible token is left out: {found:?}");
        assert_eq!(asked(0.0, 0.0), [None, None]);
    }

    #[test]
    fn a_number_takes_a_bit_and_a_token_whole_bytes() {
        assert_eq!(compressed(&[1, 2, 3]).len(), 3 * 48);
        assert_eq!(compress(&[&state(1, 13)]).len(), 2);
    }

    #[test]
    fn a_part_of_a_passage_is_as_similar_as_a_passage_of_its_own() {
        let wanted = [state(1, 384), state(2, 384)];
        let question = [
            WeighedToken { weight: 3.0, state: &wanted[0] },
            WeighedToken { weight: 1.0, state: &wanted[1] },
        ];
        let met = MetTokens::new(&question, &compressed(&[7, 8, 2, 9, 1])).unwrap();
        assert_eq!(met.count(), 5);
        for part in [0..2, 1..4, 3..5, 0..5] {
            let alone = compressed(&[7, 8, 2, 9, 1][part.clone()]);
            let expected = max_similarities(&question, &[Some(&alone)])[0].unwrap();
            assert!((met.within(part.clone()) - expected).abs() < 1e-6, "{part:?}");
        }
        assert!(met.within(3..5) > met.within(2..4), "the heavier token counts more");
        assert!(met.within(2..2) < -0.99);
        assert_eq!(MetTokens::new(&question, &[]), None);
        assert_eq!(MetTokens::new(&[], &compressed(&[1])), None);
    }
}
