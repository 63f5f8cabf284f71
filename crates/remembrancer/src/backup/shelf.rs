//! The folder that backups lie in: one at a time is made, it has its name only when it is whole, and old ones go.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::files::sync;
use super::manifest::{Kind, Manifest, Reason};
use super::retention::Keep;

const PREFIX: &str = "remembrancer-";
/// The prefix of the name of a backup that is not complete yet.
const PARTIAL: &str = ".remembrancer-partial-";
const REMOVAL_TRIES: u32 = 30;
const REMOVAL_PAUSE: Duration = Duration::from_millis(100);
const LOCK: &str = ".remembrancer-backup.lock";

/// A folder of backups, locked.
#[derive(Debug)]
pub(crate) struct Shelf {
    folder: PathBuf,
    /// Held until the value is dropped; the system releases it if the process dies.
    _lock: File,
}

/// Another process makes a backup in the folder.
#[derive(Debug, thiserror::Error)]
#[error("another backup is being made in {}; try again when it has ended", .0.display())]
pub(crate) struct Occupied(PathBuf);

/// A whole backup.
#[derive(Debug)]
pub(crate) struct StoredBackup {
    pub(crate) path: PathBuf,
    pub(crate) manifest: Manifest,
}

/// A backup that is being made; it is removed again unless it is finished.
#[derive(Debug)]
pub(crate) struct Partial {
    path: PathBuf,
    target: PathBuf,
    is_whole: bool,
}

impl Shelf {
    /// Makes the folder unless it is there, and removes what backups have left that were broken off.
    pub(crate) fn open(folder: &Path) -> anyhow::Result<Self> {
        let unusable = || format!("no backup can be made in {}; name another folder", folder.display());
        let folder = std::path::absolute(folder).with_context(unusable)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).with_context(unusable)?;
        let lock = File::options().create(true).append(true).mode(0o600).open(folder.join(LOCK));
        let lock = lock.with_context(unusable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Occupied(folder).into()),
            Err(TryLockError::Error(error)) => return Err(error).with_context(unusable),
        }
        for entry in fs::read_dir(&folder).with_context(unusable)?.filter_map(Result::ok) {
            if entry.file_name().to_string_lossy().starts_with(PARTIAL) {
                tracing::info!(folder = %entry.path().display(), "removing a backup that was broken off");
                remove_partial(&entry.path())
                    .with_context(|| format!("cannot remove {}", entry.path().display()))?;
            }
        }
        Ok(Self { folder, _lock: lock })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The whole backups of a folder, newest first. What cannot be read is left out.
    pub(crate) fn list(folder: &Path) -> Vec<StoredBackup> {
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
        let mut all: Vec<StoredBackup> = ours
            .filter_map(|entry| {
                let manifest = Manifest::read(&entry.path()).ok()?;
                Some(StoredBackup { path: entry.path(), manifest })
            })
            .collect();
        all.sort_by_key(|found| std::cmp::Reverse(found.manifest.created_at));
        all
    }

    pub(crate) fn begin(&self, at: Timestamp, ending: &str) -> anyhow::Result<Partial> {
        let stamp = at.to_zoned(TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ").to_string();
        let path = self.folder.join(format!("{PARTIAL}{stamp}-{:08x}", std::process::id()));
        DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .with_context(|| format!("cannot make {}", path.display()))?;
        let name = |n: u32| match n {
            1 => format!("{PREFIX}{stamp}-{ending}"),
            _ => format!("{PREFIX}{stamp}-{ending}-{n}"),
        };
        let free = (1..100).map(|n| self.folder.join(name(n))).find(|target| !target.exists());
        let Some(target) = free else { bail!("{} is full of backups of this second", self.folder.display()) };
        Ok(Partial { path, target, is_whole: false })
    }

    /// Deletes what need not stay of the backups of this kind and this database; gives what went.
    pub(crate) fn prune(&self, keep: Keep, like: &Manifest) -> anyhow::Result<Vec<PathBuf>> {
        let is_like = |found: &StoredBackup| {
            let manifest = &found.manifest;
            manifest.reason != Reason::BeforeMigration
                && manifest.kind == like.kind
                && manifest.database.source == like.database.source
        };
        let all: Vec<StoredBackup> = Self::list(&self.folder).into_iter().filter(is_like).collect();
        let times: Vec<Timestamp> = all.iter().map(|found| found.manifest.created_at).collect();
        let goes = keep.chosen(&times).into_iter().zip(all).filter(|(stays, _)| !stays);
        goes.map(|(_, found)| self.remove(found)).collect()
    }

    /// Of those of this database that were made before changes of its schema so many stay.
    pub(crate) fn prune_before_changes(&self, most: usize, like: &Manifest) -> anyhow::Result<Vec<PathBuf>> {
        let is_like = |found: &StoredBackup| {
            let manifest = &found.manifest;
            manifest.reason == Reason::BeforeMigration && manifest.database.source == like.database.source
        };
        let old = Self::list(&self.folder).into_iter().filter(is_like).skip(most);
        old.map(|found| self.remove(found)).collect()
    }

    /// It loses its name first: what is half removed is no backup.
    fn remove(&self, found: StoredBackup) -> anyhow::Result<PathBuf> {
        let name = found.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let going = self.folder.join(format!("{PARTIAL}{name}"));
        fs::rename(&found.path, &going)
            .and_then(|()| fs::remove_dir_all(&going))
            .with_context(|| format!("cannot remove {}", found.path.display()))?;
        Ok(found.path)
    }
}

impl Partial {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its name.
    pub(crate) fn finish(mut self) -> anyhow::Result<PathBuf> {
        sync(&self.path)?;
        fs::rename(&self.path, &self.target)
            .with_context(|| format!("cannot write {}", self.target.display()))?;
        self.is_whole = true;
        if let Some(folder) = self.target.parent() {
            sync(folder)?;
        }
        Ok(self.target.clone())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_whole
            && let Err(error) = remove_partial(&self.path)
        {
            tracing::warn!(%error, folder = %self.path.display(), "failed to remove a partial backup; the next one tries again");
        }
    }
}

/// A program that was ended, or that has lost us, may write for another moment.
fn remove_partial(path: &Path) -> std::io::Result<()> {
    let mut tries = 0;
    loop {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(_) if tries < REMOVAL_TRIES => {
                tries += 1;
                std::thread::sleep(REMOVAL_PAUSE);
            }
            other => return other,
        }
    }
}

/// What the name of a backup ends with.
pub(crate) fn ending(kind: Kind, reason: Reason, schema: i64) -> String {
    match reason {
        Reason::BeforeMigration => format!("schema-{schema}"),
        Reason::Asked | Reason::Scheduled => kind.as_str().to_owned(),
    }
}
