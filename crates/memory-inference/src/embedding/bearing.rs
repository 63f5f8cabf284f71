//! The encoder that tells which directives bear on a request. Few texts need it: it is loaded with the first of them.

use std::sync::{Mutex, PoisonError};

use memory_core::ports::EmbeddingError;

use super::batches::Sums;
use super::encoder::Encoder;
use super::lanes::Lane;
use super::worker::Encode;

type Load = dyn Fn() -> Result<Encoder, EmbeddingError> + Send + Sync;

pub(super) struct Bearing {
    load: Box<Load>,
    loaded: Mutex<Option<Encoder>>,
}

impl Bearing {
    pub(super) fn new(load: impl Fn() -> Result<Encoder, EmbeddingError> + Send + Sync + 'static) -> Self {
        Self { load: Box::new(load), loaded: Mutex::new(None) }
    }

    /// One vector a text, in order. Blocks for some milliseconds a text.
    pub(super) fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        // The model holds no state from one run to the next, so it can be used after a panic.
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let encoder = match &mut *loaded {
            Some(encoder) => encoder,
            none => none.insert((self.load)()?),
        };
        texts.iter().map(|text| vector(encoder, std::slice::from_ref(text))).collect()
    }
}

/// Of the one text. Windows are run one by one: activations are quantized over all that runs together.
fn vector(encoder: &mut Encoder, text: &[String]) -> Result<Vec<f32>, EmbeddingError> {
    let mut sums = Sums::new(1, encoder.dimension());
    for place in encoder.places(Lane::Queries, 0, &text[0])? {
        for made in encoder.run(Lane::Queries, text, std::slice::from_ref(&place))? {
            sums.add(&place, made)?;
        }
    }
    let embedded = sums.into_embedded()?.pop();
    embedded.map(|made| made.vector).ok_or_else(|| EmbeddingError::Failed("no vector came back".to_owned()))
}
