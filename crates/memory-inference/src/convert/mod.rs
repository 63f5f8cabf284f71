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
/// and writes `out_file`, an ONNX model of opset 17 with inputs `input_ids`, `attention_mask` and
/// `token_type_ids`, all int64 of \[batch, sequence\], and output `last_hidden_state`, float32 of
/// \[batch, sequence, hidden\].
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
    let config_file = model_dir.join("config.json");
    let config = read(&config_file)?;
    let config = BertConfig::parse(&config_file, &config)?.with_layers(layers);
    let weights = Weights::open(&model_dir.join("model.safetensors"), adapter)?;
    let model = bert::build(&config, &weights)?;
    write_whole(out_file, &model.encode_to_vec())
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
