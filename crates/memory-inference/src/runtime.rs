//! The ONNX Runtime library: loaded once in a process, from a path that is given.

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ort::environment::Environment;
use thiserror::Error;

use crate::environment::is_telemetry_off;
use crate::integrity::{FileError, check_library};

/// Why ONNX Runtime cannot be used; setup installs it again.
#[derive(Debug, Error)]
pub(crate) enum RuntimeError {
    #[error("ONNX Runtime is missing at {path}; run `remembrancer setup`", path = .0.display())]
    Missing(PathBuf),
    #[error("{0}; run `remembrancer setup`")]
    Damaged(FileError),
    #[error("ONNX Runtime cannot be loaded from {path}: {reason}; run `remembrancer setup`", path = path.display())]
    Unloadable { path: PathBuf, reason: String },
    #[error(
        "ONNX Runtime would report this program to its maker; set ORT_DISABLE_TELEMETRY=1 before it starts"
    )]
    Telemetry,
}

/// A process has one environment, made by the first model that is loaded, and keeps it.
static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);

/// The environment of this process. Once it is there, `library` is not read again.
pub(crate) fn environment(library: &Path) -> Result<Environment, RuntimeError> {
    let mut slot = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = slot.as_ref() {
        return Ok(environment.clone());
    }
    let environment = load(library)?;
    *slot = Some(environment.clone());
    Ok(environment)
}

fn load(library: &Path) -> Result<Environment, RuntimeError> {
    if !is_telemetry_off() {
        return Err(RuntimeError::Telemetry);
    }
    if !library.is_file() {
        return Err(RuntimeError::Missing(library.to_owned()));
    }
    check_library(library).map_err(RuntimeError::Damaged)?;
    let unreadable = |error| RuntimeError::Damaged(FileError::Unreadable { path: library.to_owned(), error });
    let path = std::path::absolute(library).map_err(unreadable)?;
    // A library of another kind or version is reported, and where the binding has only an assertion,
    // that too must not end the process.
    let environment = catch_unwind(|| {
        let builder = ort::init_from(&path).map_err(|error| error.to_string())?;
        builder.with_telemetry(false).build().map_err(|error| error.to_string())
    });
    environment
        .unwrap_or_else(|_| Err("the library does not answer as expected".to_owned()))
        .map_err(|reason| RuntimeError::Unloadable { path, reason })
}

/// Whether products of unsigned and signed bytes are summed in 32 bits. Older x86-64 processors sum pairs
/// in 16 bits and clip, which spoils 8-bit weights; ONNX Runtime then has to take a slower way.
pub(crate) fn multiplies_bytes_exactly() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::is_x86_feature_detected!("avx512vnni") || std::is_x86_feature_detected!("avxvnni")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        true
    }
}
