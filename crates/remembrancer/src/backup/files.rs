//! Files of a backup: their sums, and copies of folders.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

const PART_BYTES: usize = 256 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileSum {
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

/// Every file below a folder, by its path from there.
pub(crate) fn sums(folder: &Path) -> anyhow::Result<BTreeMap<String, FileSum>> {
    let mut all = BTreeMap::new();
    for entry in WalkDir::new(folder).min_depth(1) {
        let entry = entry.with_context(|| format!("cannot read {}", folder.display()))?;
        if !entry.file_type().is_file() {
            continue;
        }
        let path = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        let name =
            path.to_str().with_context(|| format!("{} has a name that is not UTF-8", path.display()))?;
        all.insert(name.to_owned(), sum(entry.path())?);
    }
    Ok(all)
}

pub(crate) fn sum(path: &Path) -> anyhow::Result<FileSum> {
    let unreadable = || format!("cannot read {}", path.display());
    let mut file = File::open(path).with_context(unreadable)?;
    let (mut hash, mut bytes, mut part) = (Sha256::new(), 0, vec![0; PART_BYTES]);
    loop {
        let length = file.read(&mut part).with_context(unreadable)?;
        if length == 0 {
            break;
        }
        hash.update(&part[..length]);
        bytes += length as u64;
    }
    let mut sha256 = String::with_capacity(64);
    for byte in hash.finalize() {
        let _ = write!(sha256, "{byte:02x}");
    }
    Ok(FileSum { bytes, sha256 })
}

/// Copies a folder, links left out, to one that is not there; it is on the disk afterwards.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in WalkDir::new(from) {
        let entry = entry.with_context(|| format!("cannot read {}", from.display()))?;
        let copy = to.join(entry.path().strip_prefix(from).unwrap_or(entry.path()));
        let unwritable = || format!("cannot write {}", copy.display());
        if entry.file_type().is_dir() {
            fs::create_dir(&copy).with_context(unwritable)?;
        } else if entry.file_type().is_file() {
            fs::copy(entry.path(), &copy).with_context(unwritable)?;
            File::open(&copy).and_then(|file| file.sync_all()).with_context(unwritable)?;
        }
    }
    Ok(())
}

/// Has what a folder lists be on the disk.
pub(crate) fn sync(path: &Path) -> anyhow::Result<()> {
    File::open(path)
        .and_then(|file| file.sync_all())
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Whether the disk had no room for what was to be written.
pub(crate) fn is_full_disk(error: &anyhow::Error) -> bool {
    let of_the_system = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::StorageFull)
    };
    error.chain().any(of_the_system) || format!("{error:#}").contains("No space left on device")
}
