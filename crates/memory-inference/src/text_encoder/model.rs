//! A fine-tuned encoder of a folder: its graph under ONNX Runtime, its tokens, and the last layer that training added.

use std::path::PathBuf;
use std::sync::Arc;

use safetensors::SafeTensors;
use tokenizers::Tokenizer;

use super::tokens::Tokens;
use crate::convert::decode;
use crate::integrity::Sums;
use crate::runtime;
use crate::sentence_encoder::SentenceEncoder;
use crate::tokenizer::tokenizer;

/// Why an encoder cannot be loaded or run.
#[derive(Debug)]
pub(super) struct Failed(pub(super) String);

pub(super) fn failed(reason: impl std::fmt::Display) -> Failed {
    Failed(reason.to_string())
}

/// Where setup put the encoders, and the library that runs them.
pub(super) struct Place {
    pub(super) model_dir: PathBuf,
    pub(super) library: PathBuf,
}

pub(super) struct Encoder {
    model: SentenceEncoder,
    tokenizer: Arc<Tokenizer>,
}

impl Encoder {
    pub(super) fn load(Place { model_dir, library }: &Place, name: &str) -> Result<Self, Failed> {
        let sums = Sums::of(model_dir).map_err(failed)?;
        let environment = runtime::environment(library).map_err(failed)?;
        let tokenizer = tokenizer(model_dir, &sums).map_err(failed)?;
        let model = SentenceEncoder::load(model_dir, name, &sums, &environment, 1).map_err(failed)?;
        Ok(Self { model, tokenizer })
    }

    pub(super) fn tokens(&self, text: &str) -> Result<Tokens, Failed> {
        Tokens::of(text, &self.tokenizer).map_err(failed)
    }

    /// The states of tokens that are read together, one after the other.
    pub(super) fn states(&mut self, ids: Vec<i64>) -> Result<Vec<f32>, Failed> {
        Ok(self.model.states(&[ids], 0).map_err(failed)?.values)
    }
}

/// The last layer: pooled states to classes.
pub(super) struct Head<const CLASSES: usize> {
    /// \[classes, numbers\]
    weight: Vec<f32>,
    bias: [f32; CLASSES],
}

impl<const CLASSES: usize> Head<CLASSES> {
    pub(super) fn read(adapter: &[u8]) -> Result<Self, Failed> {
        let tensors = SafeTensors::deserialize(adapter).map_err(failed)?;
        let floats = |name: &str| {
            let tensor = tensors.tensor(name).map_err(failed)?;
            decode(tensor.data(), tensor.dtype()).ok_or_else(|| failed(format!("{name} is no float")))
        };
        let bias = floats("head.bias")?.try_into();
        let bias = bias.map_err(|_| failed(format!("head.bias has to be {CLASSES} numbers")))?;
        Ok(Self { weight: floats("head.weight")?, bias })
    }

    /// How many numbers it is given.
    pub(super) fn inputs(&self) -> usize {
        self.weight.len() / CLASSES
    }

    pub(super) fn logits(&self, pooled: &[f32]) -> Result<[f32; CLASSES], Failed> {
        let mut logits = self.bias;
        for (logit, row) in logits.iter_mut().zip(self.weight.chunks_exact(self.inputs().max(1))) {
            *logit += row.iter().zip(pooled).map(|(weight, value)| weight * value).sum::<f32>();
        }
        let is_sound = pooled.len() == self.inputs() && logits.iter().all(|it| it.is_finite());
        is_sound.then_some(logits).ok_or_else(|| failed("it gives what is no number"))
    }
}
