//! What is remembered of a folder and is not there any more.

use std::io::ErrorKind;
use std::path::Path;

use memory_engine::lines::unreported;
use serde_json::Value;

use crate::commands::jobs::{Scope, ask};
use crate::operate::Operation;
use crate::settings::Settings;

/// Places named in one call; it must fit the socket's first line, also with every character escaped.
const CALL_MAX_BYTES: usize = 8 * 1024;

#[derive(Debug, Default)]
pub(super) struct Remembered {
    /// Paths below the folder.
    pub(super) missing: Vec<String>,
    /// Folders that are gone and had texts of this one, with how many.
    pub(super) gone_folders: Vec<(String, u64)>,
}

fn scope() -> Scope {
    Scope { all_namespaces: false, json: false }
}

/// Compares what is remembered of the folder with what is there.
pub(super) async fn look(settings: &Settings, root: &Path) -> anyhow::Result<Remembered> {
    let source = root.to_string_lossy().into_owned();
    let (mut found, mut after) = (Remembered::default(), String::new());
    loop {
        let operation = Operation::ListPlaces { source: source.clone(), after: after.clone() };
        let answer = ask(settings, &scope(), operation, &unreported).await?;
        let mut places = answer["places"].as_array().into_iter().flatten().filter_map(Value::as_str);
        found.missing.extend(places.clone().filter(|place| is_gone(root, place)).map(str::to_owned));
        for shared in answer["shared"].as_array().into_iter().flatten() {
            let (folder, texts) = (shared["source"].as_str().unwrap_or_default(), shared["texts"].as_u64());
            if Path::new(folder).is_absolute() && is_gone(Path::new("/"), folder) {
                found.gone_folders.push((folder.to_owned(), texts.unwrap_or(0)));
            }
        }
        match places.next_back() {
            Some(last) if answer["has_more"] == true => last.clone_into(&mut after),
            _ => return Ok(found),
        }
    }
}

/// Certainly not there: what cannot be looked at, or whose name is not known exactly, may be.
fn is_gone(root: &Path, place: &str) -> bool {
    let metadata = std::fs::symlink_metadata(root.join(place));
    !place.contains(char::REPLACEMENT_CHARACTER)
        && metadata.is_err_and(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
}

/// Forgets these files of the folder; gives how many there were.
pub(super) async fn forget(settings: &Settings, root: &Path, missing: &[String]) -> anyhow::Result<u64> {
    let source = root.to_string_lossy().into_owned();
    let mut forgotten = 0;
    let mut rest = missing;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fitting = rest.iter().take_while(|place| {
            bytes += place.len() + 3;
            bytes <= CALL_MAX_BYTES
        });
        let (batch, others) = rest.split_at(fitting.count().max(1));
        let operation = Operation::ForgetPlaces { source: source.clone(), source_ids: batch.to_vec() };
        let answer = ask(settings, &scope(), operation, &unreported).await?;
        forgotten += answer["forgotten"].as_u64().unwrap_or(0);
        rest = others;
    }
    Ok(forgotten)
}
