//! The word embeddings of an encoder, read row by row from their file: of 12 MB a text needs some kilobytes, which lie in
//! the system's file cache, once for all models and processes that read it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, SafeTensorError, TensorInfo};
use thiserror::Error;

use crate::integrity::{FileError, Sums};

/// Their file in the folder of a model whose ONNX file takes [`WORD_EMBEDDINGS_INPUT`]: safetensors of `values`, bytes of
/// \[vocabulary, hidden\], `scale`, one float, and `zero_point`, one byte.
pub const WORD_EMBEDDINGS_FILE: &str = "word_embeddings.safetensors";
/// The input that takes them in place of the tokens' ids, float32 of \[batch, sequence, hidden\].
pub(crate) const WORD_EMBEDDINGS_INPUT: &str = "word_embeddings";

/// Why they cannot be used: make the model anew.
#[derive(Debug, Error)]
pub(crate) enum WordEmbeddingsError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{WORD_EMBEDDINGS_FILE} cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    #[error("{WORD_EMBEDDINGS_FILE} holds no word embeddings: {0}")]
    Malformed(String),
}

impl From<SafeTensorError> for WordEmbeddingsError {
    fn from(error: SafeTensorError) -> Self {
        Self::Malformed(error.to_string())
    }
}

#[derive(Debug)]
pub(crate) struct WordEmbeddings {
    file: File,
    /// Where the first row begins.
    begin: u64,
    vocabulary: usize,
    hidden: usize,
    /// By the quantized value.
    values: [f32; 256],
}

impl WordEmbeddings {
    pub(crate) fn open(model_dir: &Path, sums: &Sums) -> Result<Self, WordEmbeddingsError> {
        let content = sums.read(model_dir, WORD_EMBEDDINGS_FILE)?;
        let (header_bytes, metadata) = SafeTensors::read_metadata(&content)?;
        let data = size_of::<u64>() + header_bytes;
        let find = |name: &str, dtype: Dtype| -> Result<&TensorInfo, WordEmbeddingsError> {
            let found = metadata.info(name).filter(|info| info.dtype == dtype);
            found.ok_or_else(|| malformed(&format!("there are no {name} of {dtype:?}")))
        };
        let one = |info: &TensorInfo| &content[data + info.data_offsets.0..data + info.data_offsets.1];
        let values = find("values", Dtype::U8)?;
        let (&[vocabulary, hidden], Ok(scale), &[zero_point]) = (
            values.shape.as_slice(),
            one(find("scale", Dtype::F32)?).try_into(),
            one(find("zero_point", Dtype::U8)?),
        ) else {
            return Err(malformed("they are no table with one scale and one zero point"));
        };
        let scale = f32::from_le_bytes(scale);
        Ok(Self {
            file: File::open(model_dir.join(WORD_EMBEDDINGS_FILE))?,
            begin: (data + values.data_offsets.0) as u64,
            vocabulary,
            hidden,
            values: std::array::from_fn(|value| (value as f32 - f32::from(zero_point)) * scale),
        })
    }

    /// The numbers of a row.
    pub(crate) fn hidden(&self) -> usize {
        self.hidden
    }

    /// The rows of tokens, one after the other.
    pub(crate) fn rows(&self, ids: &[i64]) -> io::Result<Vec<f32>> {
        let mut rows = Vec::with_capacity(ids.len() * self.hidden);
        let mut row = vec![0; self.hidden];
        for id in ids {
            let number = usize::try_from(*id).ok().filter(|number| *number < self.vocabulary);
            let number = number.ok_or_else(|| io::Error::other(format!("no word has the number {id}")))?;
            self.file.read_exact_at(&mut row, self.begin + (number * self.hidden) as u64)?;
            rows.extend(row.iter().map(|value| self.values[usize::from(*value)]));
        }
        Ok(rows)
    }
}

fn malformed(reason: &str) -> WordEmbeddingsError {
    WordEmbeddingsError::Malformed(reason.to_owned())
}
