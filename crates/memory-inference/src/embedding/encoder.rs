//! The model and its tokenizer, on the thread that owns them.

use std::borrow::Cow;
use std::path::Path;

use fastembed::{
    InitOptionsUserDefined, OutputKey, QuantizationMode, TextEmbedding, TokenizerFiles,
    UserDefinedEmbeddingModel,
};
use memory_core::ports::{Embedded, EmbeddingError, TokenState};
use ort::environment::Environment;

use super::batches::{Place, unit_length};
use super::description::{ModelDescription, unavailable};
use super::windows::{self, Token};
use super::worker::{Encode, Lane};
use crate::integrity::Sums;
use crate::runtime;

const ONNX_FILE: &str = "model_int8.onnx";

/// What a sentence encoder calls the states of its tokens.
const STATES: OutputKey = OutputKey::ByName("last_hidden_state");

type Tokenize = Box<dyn Fn(&str) -> Result<Vec<Token>, EmbeddingError> + Send>;

pub(super) struct Encoder {
    model: TextEmbedding,
    /// The tokens of a text, however many, without the marks that the model adds.
    tokenize: Tokenize,
    query: Prefix,
    passage: Prefix,
    dimension: usize,
    /// Tokens that the model adds to each text.
    marks: usize,
}

struct Prefix {
    text: String,
    tokens: usize,
    /// Tokens of a window that are left for the text.
    room: usize,
}

impl Encoder {
    pub(super) fn load(
        model_dir: &Path,
        description: &ModelDescription,
        environment: Environment,
        threads: usize,
    ) -> Result<Self, EmbeddingError> {
        // Texts come one by one or in small batches: waking other threads for them takes longer than the work.
        tokenizers::parallelism::set_parallelism(false);
        let sums = Sums::of(model_dir).map_err(unavailable)?;
        let file = |name: &str| sums.read(model_dir, name).map_err(unavailable);
        let tokenizer = TokenizerFiles {
            tokenizer_file: file("tokenizer.json")?,
            config_file: file("config.json")?,
            special_tokens_map_file: file("special_tokens_map.json")?,
            tokenizer_config_file: file("tokenizer_config.json")?,
        };
        let model = UserDefinedEmbeddingModel::new(file(ONNX_FILE)?, tokenizer)
            // Not `Dynamic`, which forces all texts of a call into one batch.
            .with_quantization(QuantizationMode::None);
        let options = session_options(environment, threads).with_max_length(description.window_tokens);
        let model = TextEmbedding::try_new_from_user_defined(model, options).map_err(|error| {
            EmbeddingError::Unavailable(format!(
                "the model in {} does not load: {error}",
                model_dir.display()
            ))
        })?;

        let tokenize = tokenize(&model);
        let marks = model.tokenizer.encode("", true).map_err(|error| failed(&error))?.len();
        let prefix = |text: &str| -> Result<Prefix, EmbeddingError> {
            let tokens = tokenize(text)?.len();
            let room = description.window_tokens.saturating_sub(marks + tokens);
            Ok(Prefix { text: text.to_owned(), tokens, room })
        };
        let (query, passage) = (prefix(&description.query_prefix)?, prefix(&description.passage_prefix)?);
        Ok(Self { model, tokenize, query, passage, dimension: description.dimension, marks })
    }

    fn prefix(&self, lane: Lane) -> &Prefix {
        match lane {
            Lane::Queries => &self.query,
            Lane::Passages | Lane::Background => &self.passage,
        }
    }
}

impl Encode for Encoder {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn places(&self, lane: Lane, index: usize, text: &str) -> Result<Vec<Place>, EmbeddingError> {
        let windows = windows::cut(text, self.prefix(lane).room, &self.tokenize)?;
        Ok(windows.into_iter().map(|window| Place { text: index, window }).collect())
    }

    fn added_tokens(&self, lane: Lane) -> usize {
        self.marks + self.prefix(lane).tokens
    }

    fn run(
        &mut self,
        lane: Lane,
        texts: &[String],
        places: &[Place],
    ) -> Result<Vec<Embedded>, EmbeddingError> {
        let prefix = &self.prefix(lane).text;
        let windows: Vec<Cow<'_, str>> = places
            .iter()
            .map(|place| &texts[place.text][place.window.bytes.clone()])
            .map(|window| if prefix.is_empty() { window.into() } else { format!("{prefix}{window}").into() })
            .collect();
        // It encodes them once more: fastembed takes texts only, and does not expose its session.
        let output = self.model.transform(&windows, Some(windows.len())).map_err(|error| failed(&error))?;
        let [batch] = &output.into_raw()[..] else { return Err(failed(&"it ran more than once")) };
        let states =
            batch.select_output(&&[STATES, OutputKey::OnlyOne][..]).map_err(|error| failed(&error))?;
        let (&[texts_run, row_tokens, dimension], Some(values)) = (states.shape(), states.as_slice()) else {
            return Err(failed(&format!("it gives numbers of the shape {:?}", states.shape())));
        };
        if texts_run != places.len() || dimension != self.dimension {
            return Err(failed(&format!("{texts_run} × {dimension} numbers for {} texts", places.len())));
        }
        let mask = batch.attention_mask_array.as_slice().unwrap_or_default();
        let rows = values.chunks_exact(row_tokens * dimension).zip(mask.chunks_exact(row_tokens));
        rows.zip(places).map(|((values, mask), place)| self.embedded(lane, place, values, mask)).collect()
    }
}

impl Encoder {
    /// Vector and tokens of one window, from the states of its tokens, the model's own marks and padding included.
    fn embedded(
        &self,
        lane: Lane,
        place: &Place,
        values: &[f32],
        mask: &[i64],
    ) -> Result<Embedded, EmbeddingError> {
        let seen: Vec<&[f32]> = values
            .chunks_exact(self.dimension)
            .zip(mask)
            .filter(|(_, is_seen)| **is_seen != 0)
            .map(|(state, _)| state)
            .collect();
        let mut mean = vec![0.0_f32; self.dimension];
        for state in &seen {
            for (sum, value) in mean.iter_mut().zip(*state) {
                *sum += value;
            }
        }
        // One special token is at the end; the others, and the prefix, are before the text.
        let before = self.marks.saturating_sub(1) + self.prefix(lane).tokens;
        let end = seen.len().saturating_sub(1);
        let own = seen.get(before..end).unwrap_or_default();
        let tokens = own
            .iter()
            .zip(&place.window.begins)
            .map(|(state, begin)| Ok(TokenState { begin: *begin, state: unit_length(state.to_vec())? }));
        Ok(Embedded { vector: unit_length(mean)?, tokens: tokens.collect::<Result<_, EmbeddingError>>()? })
    }
}

fn session_options(environment: Environment, threads: usize) -> InitOptionsUserDefined {
    let options = InitOptionsUserDefined::new()
        .with_environment(environment)
        .with_intra_threads(threads.max(1))
        // Threads that wait sleep: the database needs the same cores, and a query is no slower for it.
        .with_session_config("session.intra_op.allow_spinning", "0");
    if runtime::multiplies_bytes_exactly() {
        options
    } else {
        options.with_session_config("session.x64quantprecision", "1")
    }
}

/// A tokenizer like that of the model that cuts nothing off and pads nothing.
fn tokenize(model: &TextEmbedding) -> Tokenize {
    let mut tokenizer = model.tokenizer.clone();
    tokenizer.with_padding(None);
    let uncut = tokenizer.with_truncation(None).map(|_| ()).map_err(|error| error.to_string());
    Box::new(move |text| {
        uncut.as_ref().map_err(failed)?;
        let encoding = tokenizer.encode(text, false).map_err(|error| failed(&error))?;
        let words = encoding.get_word_ids();
        let tokens = encoding.get_offsets().iter().enumerate().map(|(index, (begin, _))| Token {
            begin: *begin,
            starts_word: index == 0 || words[index].is_none() || words[index] != words[index - 1],
        });
        Ok(tokens.collect())
    })
}

fn failed(error: &impl ToString) -> EmbeddingError {
    EmbeddingError::Failed(error.to_string())
}
