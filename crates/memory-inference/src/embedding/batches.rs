//! Groups windows into batches for one run of the model, and joins what comes back.

use std::ops::Range;

use memory_core::ports::{Embedded, EmbeddingError, TokenState};

use super::windows::Window;

/// A window of one of several texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Which text.
    pub(super) text: usize,
    pub(super) window: Window,
}

/// Sorts the windows by length and groups them so that no batch, padded to its longest window, has more
/// than `cap` tokens, `marks` of which the model adds to each window. A window longer than the cap is a
/// batch of its own.
pub(super) fn group(places: &mut [Place], marks: usize, cap: usize) -> Vec<Range<usize>> {
    places.sort_by_key(|place| place.window.tokens());
    let mut batches = Vec::new();
    let mut start = 0;
    for (index, place) in places.iter().enumerate() {
        let padded = (index + 1 - start) * (place.window.tokens() + marks);
        if padded > cap && index > start {
            batches.push(start..index);
            start = index;
        }
    }
    if start < places.len() {
        batches.push(start..places.len());
    }
    batches
}

/// Adds up the vectors of each text's windows, weighted by their tokens, and collects the tokens' states.
#[derive(Debug)]
pub(super) struct Sums {
    sums: Vec<(Vec<f32>, Vec<TokenState>)>,
}

impl Sums {
    pub(super) fn new(texts: usize, dimension: usize) -> Self {
        Self { sums: vec![(vec![0.0; dimension], Vec::new()); texts] }
    }

    /// Its vector is of unit length and of the dimension given at first.
    pub(super) fn add(&mut self, place: &Place, made: Embedded) -> Result<(), EmbeddingError> {
        let (sum, tokens) = &mut self.sums[place.text];
        if made.vector.len() != sum.len() {
            return Err(EmbeddingError::Failed(format!(
                "the model gives {} numbers and its description says {}",
                made.vector.len(),
                sum.len()
            )));
        }
        let weight = place.window.tokens().max(1) as f32;
        for (sum, value) in sum.iter_mut().zip(&made.vector) {
            *sum += weight * value;
        }
        tokens.extend(made.tokens);
        Ok(())
    }

    /// One vector of unit length a text, and its tokens in order.
    pub(super) fn into_embedded(self) -> Result<Vec<Embedded>, EmbeddingError> {
        let embedded = self.sums.into_iter().map(|(sum, mut tokens)| {
            tokens.sort_by_key(|token| token.begin);
            Ok(Embedded { vector: unit_length(sum)?, tokens })
        });
        embedded.collect()
    }
}

pub(super) fn unit_length(mut vector: Vec<f32>) -> Result<Vec<f32>, EmbeddingError> {
    let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    if !length.is_finite() || length < 1e-6 {
        return Err(EmbeddingError::Failed(format!("the model gave a vector of length {length}")));
    }
    for value in &mut vector {
        *value = (f64::from(*value) / length) as f32;
    }
    Ok(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(tokens: usize) -> Window {
        Window { bytes: 0..0, begins: vec![0; tokens] }
    }

    fn places(tokens: &[usize]) -> Vec<Place> {
        let place = |(text, tokens): (usize, &usize)| Place { text, window: window(*tokens) };
        tokens.iter().enumerate().map(place).collect()
    }

    #[test]
    fn padded_batches_stay_under_the_cap() {
        let mut places = places(&[250, 3, 9, 254, 8, 40, 1, 254]);
        let batches = group(&mut places, 2, 512);
        assert_eq!(batches, [0..5, 5..7, 7..8]);
        for batch in &batches {
            let longest = places[batch.clone()].iter().map(|place| place.window.tokens() + 2).max().unwrap();
            assert!(longest * batch.len() <= 512);
        }
    }

    #[test]
    fn a_window_over_the_cap_is_a_batch_of_its_own() {
        assert_eq!(group(&mut places(&[600, 700]), 2, 512), [0..1, 1..2]);
        assert!(group(&mut [], 2, 512).is_empty());
    }

    #[test]
    fn windows_weigh_as_many_tokens_as_they_have() {
        let mut sums = Sums::new(2, 2);
        let place = |text, tokens| Place { text, window: window(tokens) };
        let made = |vector: &[f32], begin| Embedded {
            vector: vector.to_vec(),
            tokens: vec![TokenState { begin, state: vector.to_vec() }],
        };
        sums.add(&place(0, 30), made(&[1.0, 0.0], 90)).unwrap();
        sums.add(&place(0, 40), made(&[0.0, 1.0], 0)).unwrap();
        sums.add(&place(1, 0), made(&[0.0, -1.0], 0)).unwrap();
        assert!(sums.add(&place(1, 1), made(&[1.0], 0)).is_err());
        let embedded = sums.into_embedded().unwrap();
        assert_eq!((&embedded[0].vector[..], &embedded[1].vector[..]), (&[0.6, 0.8][..], &[0.0, -1.0][..]));
        assert_eq!(embedded[0].tokens.iter().map(|token| token.begin).collect::<Vec<_>>(), [0, 90]);
    }

    #[test]
    fn a_vector_that_is_no_vector_is_an_error() {
        let mut sums = Sums::new(1, 1);
        sums.add(
            &Place { text: 0, window: window(1) },
            Embedded { vector: vec![f32::NAN], tokens: Vec::new() },
        )
        .unwrap();
        assert!(sums.into_embedded().is_err());
    }
}
