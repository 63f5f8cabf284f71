//! `model.json`, which setup writes beside a model: what the weights themselves do not say.

use std::path::Path;

use memory_core::ports::EmbeddingError;
use serde::{Deserialize, Serialize};

use crate::integrity::read_regular;

/// Its name in the folder of the model.
pub const MODEL_FILE: &str = "model.json";

const DESCRIPTION_MAX_BYTES: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelDescription {
    /// Name and precision, such as `all-MiniLM-L6-v2-int8`.
    pub id: String,
    /// Numbers in a vector.
    pub dimension: usize,
    /// Tokens that the model sees at once, its own marks included.
    pub window_tokens: usize,
    /// Put before each query, for models that were trained with one.
    #[serde(default)]
    pub query_prefix: String,
    /// Put before each passage.
    #[serde(default)]
    pub passage_prefix: String,
}

impl ModelDescription {
    pub fn read(model_dir: &Path) -> Result<Self, EmbeddingError> {
        let path = model_dir.join(MODEL_FILE);
        let json = read_regular(&path, DESCRIPTION_MAX_BYTES).map_err(unavailable)?;
        serde_json::from_slice(&json).map_err(|error| {
            EmbeddingError::Unavailable(format!("{} is not a model description: {error}", path.display()))
        })
    }
}

/// What keeps a model from being loaded.
pub(super) fn unavailable(reason: impl std::fmt::Display) -> EmbeddingError {
    EmbeddingError::Unavailable(format!("{reason}; run `remembrancer setup`"))
}
