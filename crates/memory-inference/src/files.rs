//! Where the model and its runtime lie: in the data folder, where `remembrancer setup` puts them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_core::ports::{EmbeddingError, ModelInfo, RerankError, TextEncoder};

use thiserror::Error;

use crate::embedding::{ModelDescription, OnnxEmbedding};
use crate::reranking::CrossEncoder;
use crate::text_encoder::OnnxTextEncoder;

/// The model that setup makes, and the name of its folder.
pub const DEFAULT_MODEL: &str = "all-MiniLM-L6-v2-int8";
/// The end of the name of a folder that is not whole yet.
pub const PARTIAL: &str = "part";
pub const ONNXRUNTIME: &str = "onnxruntime-1.31.1";
#[cfg(target_os = "macos")]
pub const ONNXRUNTIME_LIBRARY: &str = "libonnxruntime.dylib";
#[cfg(not(target_os = "macos"))]
pub const ONNXRUNTIME_LIBRARY: &str = "libonnxruntime.so";

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Where the data is")]
pub struct ModelSettings {
    /// Where the database, the model and their programs are [default: the user's data folder]
    #[arg(long, env = "REMEMBRANCER_DATA_DIR", global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// The embedding model's folder [default: the one that setup made]
    #[arg(long, env = "REMEMBRANCER_MODEL_DIR", global = true, value_name = "DIR", help_heading = "Models")]
    pub model_dir: Option<PathBuf>,
}

/// Why there is no data folder: name another one.
#[derive(Debug, Error)]
pub enum DataFolderError {
    #[error("there is no HOME to keep data in; name a folder with --data-dir")]
    NoHome,
    #[error("the data folder {path} cannot be used: {error}", path = path.display())]
    Unusable { path: PathBuf, error: std::io::Error },
}

impl ModelSettings {
    /// The data folder as an absolute path.
    pub fn data_dir(&self) -> Result<PathBuf, DataFolderError> {
        let chosen = match &self.data_dir {
            Some(chosen) => chosen.clone(),
            None => default_data_dir()?,
        };
        std::path::absolute(&chosen).map_err(|error| DataFolderError::Unusable { path: chosen, error })
    }

    /// The files of the model whose vectors are searched, as far as settings leave that open: a folder that is named
    /// comes first, then the one among the models of the data folder that is it, then the one that setup made.
    pub fn files_for(&self, searched: Option<&ModelInfo>) -> Result<ModelFiles, DataFolderError> {
        let mut files = self.files()?;
        if self.model_dir.is_none()
            && let Some(searched) = searched
            && let Some(found) = find_model(&self.data_dir()?, searched)
        {
            files.model_dir = found;
        }
        Ok(files)
    }

    /// The encoder beside the model that setup made, whichever model is searched with; nothing if it made none.
    pub fn text_encoder(&self) -> Result<Option<Arc<dyn TextEncoder>>, DataFolderError> {
        let data_dir = self.data_dir()?;
        let library = onnxruntime_folder(&data_dir).join(ONNXRUNTIME_LIBRARY);
        Ok(OnnxTextEncoder::in_folder(&model_folder(&data_dir), &library))
    }

    pub fn files(&self) -> Result<ModelFiles, DataFolderError> {
        let data_dir = self.data_dir()?;
        Ok(ModelFiles {
            model_dir: self.model_dir.clone().unwrap_or_else(|| model_folder(&data_dir)),
            onnxruntime_library: onnxruntime_folder(&data_dir).join(ONNXRUNTIME_LIBRARY),
        })
    }
}

/// The files of a model that can be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFiles {
    pub model_dir: PathBuf,
    pub onnxruntime_library: PathBuf,
}

impl ModelFiles {
    /// Loads the model; takes some hundred milliseconds. Half of the cores are left to the database and
    /// the callers: a single text is no slower for it.
    pub fn load(&self) -> Result<OnnxEmbedding, EmbeddingError> {
        OnnxEmbedding::load(&self.model_dir, &self.onnxruntime_library, (cores() / 2).clamp(1, 4))
    }

    /// Loads the reranker of another folder. A caller is blocked on it and it has much to read, so it may use every core.
    pub fn load_reranker(&self, dir: &Path) -> Result<CrossEncoder, RerankError> {
        CrossEncoder::load(dir, &self.onnxruntime_library, cores())
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// Where setup puts ONNX Runtime.
pub fn onnxruntime_folder(data_dir: &Path) -> PathBuf {
    data_dir.join("runtime").join(ONNXRUNTIME)
}

/// Where setup puts the model.
pub fn model_folder(data_dir: &Path) -> PathBuf {
    models_folder(data_dir).join(DEFAULT_MODEL)
}

/// Where models lie that are found without being named.
pub fn models_folder(data_dir: &Path) -> PathBuf {
    data_dir.join("models")
}

/// The model's folder in the data folder: by what its description says, whatever its name is.
fn find_model(data_dir: &Path, model: &ModelInfo) -> Option<PathBuf> {
    let folders = std::fs::read_dir(models_folder(data_dir)).ok()?.filter_map(Result::ok);
    // What is still being copied or made has another name's end; of two with the same id the choice is always the same.
    let mut folders: Vec<PathBuf> =
        folders.map(|entry| entry.path()).filter(|path| !is_partial(path)).collect();
    folders.sort();
    folders.into_iter().find(|folder| {
        ModelDescription::read(folder).is_ok_and(|it| it.id == model.id && it.dimension == model.dimension)
    })
}

fn is_partial(folder: &Path) -> bool {
    folder.extension().is_some_and(|end| end == PARTIAL)
}

fn default_data_dir() -> Result<PathBuf, DataFolderError> {
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from("/var/lib/remembrancer"));
    }
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(data) = from("XDG_DATA_HOME") {
        return Ok(data.join("remembrancer"));
    }
    let home = from("HOME").ok_or(DataFolderError::NoHome)?;
    let below = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
    Ok(home.join(below).join("remembrancer"))
}
