//! What is remembered of a folder and is not there any more.

use std::io::ErrorKind;
use std::path::Path;

use memory_core::id::Namespace;
use memory_engine::Memory;

use crate::operator::with_memory;
use crate::settings::Settings;

/// Places read at a time, and forgotten in one transaction.
const PLACES_PAGE: i64 = 5_000;
const FORGOTTEN_AT_ONCE: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Remembered {
    /// Paths below the folder.
    pub(super) missing: Vec<String>,
    /// Folders that are gone and had texts of this one, with how many.
    pub(super) gone_folders: Vec<(String, u64)>,
}

/// Compares what is remembered of the folder with what is there.
pub(super) async fn look(settings: &Settings, root: &Path) -> anyhow::Result<Remembered> {
    let namespace = settings.namespace()?;
    with_memory(settings, async |open| compare(&open.memory, &namespace, root).await).await
}

async fn compare(memory: &Memory, ns: &Namespace, root: &Path) -> anyhow::Result<Remembered> {
    let source = root.to_string_lossy();
    let mut found = Remembered::default();
    for (folder, texts) in memory.places().shared_sources(ns, &source).await? {
        if Path::new(&folder).is_absolute() && is_gone(Path::new("/"), &folder) {
            found.gone_folders.push((folder, texts as u64));
        }
    }
    let mut after = String::new();
    loop {
        let places = memory.places().list(ns, &source, &after, PLACES_PAGE).await?;
        let missing = places.iter().map(|place| &place.source_id).filter(|place| is_gone(root, place));
        found.missing.extend(missing.cloned());
        match places.last() {
            Some(last) if places.len() as i64 == PLACES_PAGE => after.clone_from(&last.source_id),
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
    let (namespace, source) = (settings.namespace()?, root.to_string_lossy());
    let forgetting = with_memory(settings, async |open| {
        let mut forgotten = 0;
        for batch in missing.chunks(FORGOTTEN_AT_ONCE) {
            forgotten += open.memory.places().forget(&namespace, &source, batch).await?.0;
        }
        Ok(forgotten)
    });
    forgetting.await
}
