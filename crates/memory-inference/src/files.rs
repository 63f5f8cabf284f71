//! Where the model and its runtime lie: in the data folder, where `remembrancer setup` puts them.

use std::path::{Path, PathBuf};

use memory_core::ports::EmbeddingError;

use crate::embedding::OnnxEmbedding;

/// The model that setup makes, and the name of its folder.
pub const DEFAULT_MODEL: &str = "all-MiniLM-L6-v2-int8";
pub const ONNXRUNTIME: &str = "onnxruntime-1.31.1";
#[cfg(target_os = "macos")]
pub const ONNXRUNTIME_LIBRARY: &str = "libonnxruntime.dylib";
#[cfg(not(target_os = "macos"))]
pub const ONNXRUNTIME_LIBRARY: &str = "libonnxruntime.so";

#[derive(Debug, Clone, clap::Args)]
pub struct ModelSettings {
    /// Where the database, the model and their programs are [default: the user's data folder]
    #[arg(long, env = "REMEMBRANCER_DATA_DIR", global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// The embedding model's folder [default: the one that setup made]
    #[arg(long, env = "REMEMBRANCER_MODEL_DIR", global = true, value_name = "DIR")]
    pub model_dir: Option<PathBuf>,
}

impl ModelSettings {
    /// The data folder as an absolute path. Fails with a sentence when there is none to be had.
    pub fn data_dir(&self) -> Result<PathBuf, String> {
        let chosen = match &self.data_dir {
            Some(chosen) => chosen.clone(),
            None => default_data_dir()?,
        };
        std::path::absolute(&chosen)
            .map_err(|error| format!("the data folder {} cannot be used: {error}", chosen.display()))
    }

    pub fn files(&self) -> Result<ModelFiles, String> {
        let data_dir = self.data_dir()?;
        Ok(ModelFiles {
            model_dir: self.model_dir.clone().unwrap_or_else(|| model_folder(&data_dir)),
            onnxruntime_library: onnxruntime_folder(&data_dir).join(ONNXRUNTIME_LIBRARY),
        })
    }
}

/// The files of a model that can be loaded.
#[derive(Debug, Clone)]
pub struct ModelFiles {
    pub model_dir: PathBuf,
    pub onnxruntime_library: PathBuf,
}

impl ModelFiles {
    /// Loads the model; takes some hundred milliseconds. Half of the cores are left to the database and
    /// the callers: a single text is no slower for it.
    pub fn load(&self) -> Result<OnnxEmbedding, EmbeddingError> {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        OnnxEmbedding::load(&self.model_dir, &self.onnxruntime_library, (cores / 2).clamp(1, 4))
    }
}

/// Where setup puts ONNX Runtime.
pub fn onnxruntime_folder(data_dir: &Path) -> PathBuf {
    data_dir.join("runtime").join(ONNXRUNTIME)
}

/// Where setup puts the model.
pub fn model_folder(data_dir: &Path) -> PathBuf {
    data_dir.join("models").join(DEFAULT_MODEL)
}

fn default_data_dir() -> Result<PathBuf, String> {
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from("/var/lib/remembrancer"));
    }
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(data) = from("XDG_DATA_HOME") {
        return Ok(data.join("remembrancer"));
    }
    let home = from("HOME").ok_or("there is no HOME to keep data in; name a folder with --data-dir")?;
    let below = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
    Ok(home.join(below).join("remembrancer"))
}
