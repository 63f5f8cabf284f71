//! The model and its tokenizer, on the thread that owns them.

use std::path::Path;
use std::sync::Arc;

use memory_core::ports::{Embedded, EmbeddingError, TokenState};
use ort::environment::Environment;
use tokenizers::{Tokenizer, TruncationDirection};

use super::batches::{Place, unit_length};
use super::description::{ModelDescription, unavailable};
use super::lanes::Lane;
use super::windows::{self, Token};
use super::worker::Encode;
use crate::integrity::Sums;
use crate::sentence_encoder::SentenceEncoder;
use crate::tokenizer::tokenizer;

const CONFIG_FILE: &str = "config.json";

pub(super) struct Encoder {
    model: SentenceEncoder,
    tokenizer: Arc<Tokenizer>,
    /// The token that shorter texts of a batch are filled up with.
    padding: i64,
    query: Prefix,
    passage: Prefix,
    dimension: usize,
    /// Tokens of a window without the marks.
    room: usize,
    /// Tokens that the model adds to each text.
    marks: usize,
}

struct Prefix {
    text: String,
    tokens: usize,
}

impl Encoder {
    pub(super) fn load(
        model_dir: &Path,
        onnx_file: &str,
        description: &ModelDescription,
        environment: &Environment,
        threads: usize,
    ) -> Result<Self, EmbeddingError> {
        // Texts come one by one or in small batches: waking other threads for them takes longer than the work.
        tokenizers::parallelism::set_parallelism(false);
        let sums = Sums::of(model_dir).map_err(unavailable)?;
        let tokenizer = tokenizer(model_dir, &sums).map_err(unavailable)?;
        let config = sums.read(model_dir, CONFIG_FILE).map_err(unavailable)?;
        let config: serde_json::Value = serde_json::from_slice(&config)
            .map_err(|error| unavailable(format!("{CONFIG_FILE} cannot be read: {error}")))?;
        let model = SentenceEncoder::load(model_dir, onnx_file, &sums, environment, threads);
        let model = model.map_err(|error| {
            EmbeddingError::Unavailable(format!(
                "the model in {} does not load: {error}",
                model_dir.display()
            ))
        })?;

        let marks = tokenizer.encode("", true).map_err(|error| failed(&error))?.len();
        let prefix = |text: &str| -> Result<Prefix, EmbeddingError> {
            let tokens = tokenize(&tokenizer, text)?.len();
            Ok(Prefix { text: text.to_owned(), tokens })
        };
        let (query, passage) = (prefix(&description.query_prefix)?, prefix(&description.passage_prefix)?);
        Ok(Self {
            model,
            padding: config["pad_token_id"].as_i64().unwrap_or(0),
            tokenizer,
            query,
            passage,
            dimension: description.dimension,
            room: description.window_tokens.saturating_sub(marks),
            marks,
        })
    }

    fn prefix(&self, lane: Lane) -> &Prefix {
        match lane {
            Lane::Queries => &self.query,
            Lane::Passages | Lane::Background => &self.passage,
        }
    }

    /// The numbers of a window's tokens, with the model's marks.
    fn ids(&self, lane: Lane, window: &str) -> Result<Vec<i64>, EmbeddingError> {
        let prefix = &self.prefix(lane).text;
        let encoded = if prefix.is_empty() {
            self.tokenizer.encode(window, false)
        } else {
            self.tokenizer.encode(format!("{prefix}{window}"), false)
        };
        let mut encoding = encoded.map_err(|error| failed(&error))?;
        // One that is cut within a word may have more tokens than it had there.
        encoding.truncate(self.room, 0, TruncationDirection::Right);
        let marked = self.tokenizer.post_process(encoding, None, true).map_err(|error| failed(&error))?;
        Ok(marked.get_ids().iter().map(|id| i64::from(*id)).collect())
    }
}

impl Encode for Encoder {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn places(&self, lane: Lane, index: usize, text: &str) -> Result<Vec<Place>, EmbeddingError> {
        let room = self.room.saturating_sub(self.prefix(lane).tokens);
        let windows = windows::cut(text, room, |piece| tokenize(&self.tokenizer, piece))?;
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
        let rows = places.iter().map(|place| self.ids(lane, &texts[place.text][place.window.bytes.clone()]));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let states = self.model.states(&rows, self.padding).map_err(|error| failed(&error))?;
        if states.dimension != self.dimension {
            return Err(failed(&format!("{} numbers for a token", states.dimension)));
        }
        let texts = states.values.chunks_exact(states.tokens * states.dimension).zip(&rows);
        texts
            .zip(places)
            .map(|((values, row), place)| self.embedded(lane, place, &values[..row.len() * states.dimension]))
            .collect()
    }
}

impl Encoder {
    /// Vector and tokens of one window, from the states of its tokens, the model's own marks included.
    fn embedded(&self, lane: Lane, place: &Place, values: &[f32]) -> Result<Embedded, EmbeddingError> {
        let seen: Vec<&[f32]> = values.chunks_exact(self.dimension).collect();
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

/// The tokens of a text, however many, without the marks that the model adds.
fn tokenize(tokenizer: &Tokenizer, text: &str) -> Result<Vec<Token>, EmbeddingError> {
    let encoding = tokenizer.encode(text, false).map_err(|error| failed(&error))?;
    let words = encoding.get_word_ids();
    let tokens = encoding.get_offsets().iter().enumerate().map(|(index, (begin, _))| Token {
        begin: *begin,
        starts_word: index == 0 || words[index].is_none() || words[index] != words[index - 1],
    });
    Ok(tokens.collect())
}

fn failed(error: &impl ToString) -> EmbeddingError {
    EmbeddingError::Failed(error.to_string())
}
