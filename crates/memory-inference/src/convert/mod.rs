//! Turns the weights of a sentence encoder as its authors publish them (safetensors) into what ONNX
//! Runtime runs: one ONNX file with 8-bit weights, a quarter of the size. Done once, at setup.

mod bert;
mod graph;
mod onnx;
mod quantize;
#[cfg(test)]
mod tests;
mod weights;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use prost::Message;
use safetensors::tensor::{Dtype, SafeTensorError, TensorView};

use self::bert::BertConfig;
use self::weights::Weights;
pub(crate) use self::weights::decode;

#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// A file is there but is not what its name says, or is cut short.
    #[error("{} cannot be read: {reason}", path.display())]
    Malformed { path: PathBuf, reason: String },
    /// A model that is well-formed and of a kind that is not known here.
    #[error("this model cannot be converted: {0}")]
    Unsupported(String),
}

/// Reads `config.json` and `model.safetensors` in `model_dir` (a BERT encoder, weights of 16 or 32 bits)
/// and writes `out_file`, an ONNX model of opset 17 with inputs `word_embeddings`, float32 of \[batch, sequence, hidden\],
/// `attention_mask` and `token_type_ids`, int64 of \[batch, sequence\], and output `last_hidden_state`, float32 of
/// \[batch, sequence, hidden\]. The table that the first input is taken from is what [`write_word_embeddings`] writes.
///
/// The linear layers multiply 8-bit integers: weights are quantized here, one scale an output channel,
/// activations when the model runs. The file appears under its name only when it is whole.
///
/// An `adapter` (safetensors) is what further training added: differences of tensors by their names, or two thin matrices
/// whose product is the difference.
pub fn convert_to_int8_onnx(
    model_dir: &Path,
    adapter: Option<&[u8]>,
    out_file: &Path,
) -> Result<(), ConvertError> {
    convert_first_layers(model_dir, usize::MAX, adapter, out_file)
}

/// The same of no more than `layers` layers: its output are the states of the last of them.
pub fn convert_first_layers(
    model_dir: &Path,
    layers: usize,
    adapter: Option<&[u8]>,
    out_file: &Path,
) -> Result<(), ConvertError> {
    let (config, weights) = open(model_dir, adapter)?;
    let config = config.with_layers(layers);
    let model = bert::build(&config, &weights)?;
    write_whole(out_file, &model.encode_to_vec())
}

/// Writes the table of word embeddings of the same model with 8 bits a number, as [`WORD_EMBEDDINGS_FILE`] describes. Adapters
/// leave it as it is, so that all models made of the same weights share it.
///
/// [`WORD_EMBEDDINGS_FILE`]: crate::word_embeddings::WORD_EMBEDDINGS_FILE
pub fn write_word_embeddings(model_dir: &Path, out_file: &Path) -> Result<(), ConvertError> {
    let (config, weights) = open(model_dir, None)?;
    let ([vocabulary, hidden], table) = bert::word_embeddings(&config, &weights)?;
    let scale = table.scale.to_le_bytes();
    let zero_point = [table.zero_point];
    let tensors = [
        ("scale", Dtype::F32, vec![1], &scale[..]),
        ("values", Dtype::U8, vec![vocabulary, hidden], &table.values),
        ("zero_point", Dtype::U8, vec![1], &zero_point),
    ];
    let unsupported = |error: SafeTensorError| ConvertError::Unsupported(error.to_string());
    let views = tensors
        .into_iter()
        .map(|(name, dtype, shape, bytes)| Ok((name, TensorView::new(dtype, shape, bytes)?)))
        .collect::<Result<Vec<_>, _>>()
        .map_err(unsupported)?;
    write_whole(out_file, &safetensors::serialize(views, None).map_err(unsupported)?)
}

fn open(model_dir: &Path, adapter: Option<&[u8]>) -> Result<(BertConfig, Weights), ConvertError> {
    let config_file = model_dir.join("config.json");
    let config = BertConfig::parse(&config_file, &read(&config_file)?)?;
    Ok((config, Weights::open(&model_dir.join("model.safetensors"), adapter)?))
}

fn read(path: &Path) -> Result<Vec<u8>, ConvertError> {
    fs::read(path).map_err(|source| io_error(path, source))
}

fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), ConvertError> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    fs::write(&part, bytes).map_err(|source| io_error(&part, source))?;
    fs::File::open(&part).and_then(|file| file.sync_all()).map_err(|source| io_error(&part, source))?;
    fs::rename(&part, path).map_err(|source| io_error(path, source))
}

fn io_error(path: &Path, source: io::Error) -> ConvertError {
    ConvertError::Io { path: path.to_owned(), source }
}
