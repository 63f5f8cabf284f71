//! A sentence encoder under ONNX Runtime: the states of the tokens of a few texts.

use std::path::Path;

use ort::environment::Environment;
use ort::session::{Session, SessionInputValue};
use ort::value::Tensor;
use thiserror::Error;

use crate::integrity::{FileError, Sums};
use crate::runtime;
use crate::word_embeddings::{WORD_EMBEDDINGS_INPUT, WordEmbeddings, WordEmbeddingsError};

/// What an encoder calls the states of its tokens.
const STATES: &str = "last_hidden_state";

/// Why a model does not load or run.
#[derive(Debug, Error)]
pub(crate) enum SentenceEncoderError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Words(#[from] WordEmbeddingsError),
    #[error(transparent)]
    Runtime(#[from] ort::Error),
    #[error("a word cannot be read: {0}")]
    Word(#[from] std::io::Error),
    #[error("it gives numbers of the shape {0:?}")]
    Shape(Vec<i64>),
    #[error("of its outputs none is {STATES}")]
    Outputs,
}

pub(crate) struct SentenceEncoder {
    session: Session,
    /// Of a model that takes them instead of the tokens' ids.
    words: Option<WordEmbeddings>,
    /// The output with the states.
    states: String,
}

/// Of each row as many states as the longest has tokens, those of padding included.
pub(crate) struct States {
    /// \[rows, tokens, dimension\]
    pub(crate) values: Vec<f32>,
    pub(crate) tokens: usize,
    pub(crate) dimension: usize,
}

impl SentenceEncoder {
    /// Loads the ONNX file of a folder. `threads` is how many cores one run may use.
    pub(crate) fn load(
        model_dir: &Path,
        onnx_file: &str,
        sums: &Sums,
        environment: &Environment,
        threads: usize,
    ) -> Result<Self, SentenceEncoderError> {
        let mut builder = Session::builder(environment)?
            .with_intra_threads(threads.max(1))
            .map_err(ort::Error::from)?
            // Threads that wait sleep: the database needs the same cores, and a query is no slower for it.
            .with_config_entry("session.intra_op.allow_spinning", "0")
            .map_err(ort::Error::from)?;
        if !runtime::multiplies_bytes_exactly() {
            builder =
                builder.with_config_entry("session.x64quantprecision", "1").map_err(ort::Error::from)?;
        }
        let session = builder.commit_from_memory(&sums.read(model_dir, onnx_file)?)?;
        let takes_words = session.inputs().iter().any(|input| input.name() == WORD_EMBEDDINGS_INPUT);
        let words = takes_words.then(|| WordEmbeddings::open(model_dir, sums)).transpose()?;
        let states = match session.outputs() {
            [only] => only.name().to_owned(),
            outputs if outputs.iter().any(|output| output.name() == STATES) => STATES.to_owned(),
            _ => return Err(SentenceEncoderError::Outputs),
        };
        Ok(Self { session, words, states })
    }

    /// Reads rows of token ids together, each filled up with `padding` to the length of the longest.
    pub(crate) fn states(&mut self, rows: &[Vec<i64>], padding: i64) -> Result<States, SentenceEncoderError> {
        let tokens = rows.iter().map(Vec::len).max().unwrap_or_default();
        let mut ids = Vec::with_capacity(rows.len() * tokens);
        let mut mask = Vec::with_capacity(ids.capacity());
        for row in rows {
            ids.extend_from_slice(row);
            mask.resize(mask.len() + row.len(), 1_i64);
            ids.resize(mask.len() + tokens - row.len(), padding);
            mask.resize(ids.len(), 0);
        }
        let mut inputs: Vec<(String, SessionInputValue<'_>)> = Vec::with_capacity(3);
        for input in self.session.inputs() {
            let values = match (input.name(), &self.words) {
                (WORD_EMBEDDINGS_INPUT, Some(words)) => {
                    let shape = [rows.len(), tokens, words.hidden()];
                    Tensor::from_array((shape, words.rows(&ids)?))?.into_dyn()
                }
                ("input_ids", _) => Tensor::from_array(([rows.len(), tokens], ids.clone()))?.into_dyn(),
                ("attention_mask", _) => Tensor::from_array(([rows.len(), tokens], mask.clone()))?.into_dyn(),
                ("token_type_ids", _) => {
                    Tensor::from_array(([rows.len(), tokens], vec![0_i64; ids.len()]))?.into_dyn()
                }
                // What it is for is not known: the run says that it is missing.
                _ => continue,
            };
            inputs.push((input.name().to_owned(), values.into()));
        }
        let outputs = self.session.run(inputs)?;
        let (shape, values) = outputs[self.states.as_str()].try_extract_tensor::<f32>()?;
        match shape[..] {
            [of_rows, of_tokens, dimension]
                if of_rows as usize == rows.len() && of_tokens as usize == tokens && dimension > 0 =>
            {
                Ok(States { values: values.to_vec(), tokens, dimension: dimension as usize })
            }
            _ => Err(SentenceEncoderError::Shape(shape.to_vec())),
        }
    }
}
