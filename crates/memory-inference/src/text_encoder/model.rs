//! The encoders of a folder: their graphs under ONNX Runtime, their tokens, and the last layers that training added.

use std::path::PathBuf;
use std::sync::Arc;

use memory_core::ports::{CLAUSE_CLASSES, DIRECTIVE_CLASSES, NAME_CLASSES};
use safetensors::SafeTensors;
use tokenizers::Tokenizer;

use super::tokens::Tokens;
use crate::adapted::{PAIR_ENCODER, TEXT_ENCODER};
use crate::convert::decode;
use crate::integrity::Sums;
use crate::runtime;
use crate::sentence_encoder::SentenceEncoder;
use crate::tokenizer::tokenizer;

/// Why the encoder cannot be loaded or run.
#[derive(Debug)]
pub(super) struct Failed(pub(super) String);

pub(super) fn failed(reason: impl std::fmt::Display) -> Failed {
    Failed(reason.to_string())
}

/// Where setup put the encoders, and the library that runs them.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) model_dir: PathBuf,
    pub(super) library: PathBuf,
}

/// The layers that give states of tokens.
pub(super) struct Layers {
    encoder: SentenceEncoder,
    tokenizer: Arc<Tokenizer>,
}

/// What reads texts.
pub(super) struct Model {
    pub(super) layers: Layers,
    /// Of the means of the states of a name's tokens, of those before and of those behind.
    pub(super) names: Head<NAME_CLASSES>,
    /// Of the mean and the most of the states of a clause's tokens.
    pub(super) clauses: Head<CLAUSE_CLASSES>,
    /// Of the same of a sentence's.
    pub(super) directives: Head<DIRECTIVE_CLASSES>,
    /// The same: whether it may end or change what was stated before.
    pub(super) revising: Head<1>,
    /// The same: whether later requests may have to be answered in another way for it.
    pub(super) binding: Head<1>,
}

/// What compares two statements.
pub(super) struct PairModel {
    pub(super) layers: Layers,
    /// Of the means and the most of the states of both, their product and their distance.
    pub(super) replacing: Head<1>,
}

impl PairModel {
    pub(super) fn load(place: &Place) -> Result<Self, Failed> {
        let layers = Layers::load(place, PAIR_ENCODER.file)?;
        let adapter = SafeTensors::deserialize(PAIR_ENCODER.adapter).map_err(failed)?;
        Ok(Self { layers, replacing: Head::read(&adapter, "replacing")? })
    }
}

impl Model {
    pub(super) fn load(place: &Place) -> Result<Self, Failed> {
        let layers = Layers::load(place, TEXT_ENCODER.file)?;
        let adapter = SafeTensors::deserialize(TEXT_ENCODER.adapter).map_err(failed)?;
        let (names, clauses) = (Head::read(&adapter, "names")?, Head::read(&adapter, "clauses")?);
        let directives = Head::read(&adapter, "directives")?;
        let (revising, binding) = (Head::read(&adapter, "revising")?, Head::read(&adapter, "binding")?);
        Ok(Self { layers, names, clauses, directives, revising, binding })
    }
}

impl Layers {
    fn load(Place { model_dir, library }: &Place, file: &str) -> Result<Self, Failed> {
        let sums = Sums::of(model_dir).map_err(failed)?;
        let environment = runtime::environment(library).map_err(failed)?;
        let tokenizer = tokenizer(model_dir, &sums).map_err(failed)?;
        let encoder = SentenceEncoder::load(model_dir, file, &sums, &environment, 1).map_err(failed)?;
        Ok(Self { encoder, tokenizer })
    }

    pub(super) fn tokens(&self, text: &str) -> Result<Tokens, Failed> {
        Tokens::of(text, &self.tokenizer).map_err(failed)
    }

    /// The states of tokens that are read together, one after the other, and of how many numbers each is.
    ///
    /// Windows are read one by one: activations are quantized over all that runs together, and what stands in another window must not
    /// change what is read in this one.
    pub(super) fn states(&mut self, ids: Vec<i64>) -> Result<(Vec<f32>, usize), Failed> {
        let states = self.encoder.states(&[ids], 0).map_err(failed)?;
        Ok((states.values, states.dimension))
    }
}

/// A last layer: pooled states to classes.
pub(super) struct Head<const CLASSES: usize> {
    /// \[classes, numbers\]
    weight: Vec<f32>,
    bias: [f32; CLASSES],
}

impl<const CLASSES: usize> Head<CLASSES> {
    fn read(adapter: &SafeTensors<'_>, name: &str) -> Result<Self, Failed> {
        let floats = |part: &str| {
            let name = format!("{name}.{part}");
            let tensor = adapter.tensor(&name).map_err(failed)?;
            decode(tensor.data(), tensor.dtype()).ok_or_else(|| failed(format!("{name} is no float")))
        };
        let bias = floats("bias")?.try_into();
        let bias = bias.map_err(|_| failed(format!("{name}.bias has to be {CLASSES} numbers")))?;
        Ok(Self { weight: floats("weight")?, bias })
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
