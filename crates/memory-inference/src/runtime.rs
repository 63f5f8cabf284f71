//! The ONNX Runtime library: loaded once in a process, from a path that is given.

use std::panic::catch_unwind;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ort::environment::Environment;

use crate::integrity::check_library;

/// A process has one environment, made by the first model that is loaded, and keeps it.
static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);

/// The environment of this process. Once it is there, `library` is not looked at again. Fails with a sentence that says
/// what to do.
pub(crate) fn environment(library: &Path) -> Result<Environment, String> {
    let mut slot = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = slot.as_ref() {
        return Ok(environment.clone());
    }
    let environment = load(library).map_err(|error| format!("{error}; run `remembrancer setup`"))?;
    *slot = Some(environment.clone());
    Ok(environment)
}

fn load(library: &Path) -> Result<Environment, String> {
    if !library.is_file() {
        return Err(format!("ONNX Runtime is missing at {}", library.display()));
    }
    check_library(library)?;
    let library = std::path::absolute(library).map_err(|error| format!("{}: {error}", library.display()))?;
    // A library of another kind or version is reported, and where the binding has only an assertion,
    // that too must not end the process.
    let environment = catch_unwind(|| {
        let builder = ort::init_from(&library).map_err(|error| error.to_string())?;
        builder.build().map_err(|error| error.to_string())
    });
    environment
        .unwrap_or_else(|_| Err("the library does not answer as expected".to_owned()))
        .map_err(|error| format!("ONNX Runtime cannot be loaded from {}: {error}", library.display()))
}
