//! A graph's file on disk: whether it has changed, its folder's lock, and replacing it in one step.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;

/// The largest file that is read, in bytes.
pub(super) const FILE_MAX_BYTES: u64 = 1 << 30;
/// Clocks of file systems stand still for some milliseconds: a file may change again without its times showing
/// it for this long.
const CLOCK_STEP: Duration = Duration::from_millis(50);

/// What tells that a file has changed without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn new(found: &Metadata) -> Self {
        Self {
            file: (found.dev(), found.ino()),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    /// `None` when there is no file.
    pub(super) async fn of(path: &str) -> io::Result<Option<Self>> {
        match tokio::fs::metadata(path).await {
            Ok(found) => Ok(Some(Self::new(&found))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a change from now on would show.
    fn is_settled(&self) -> bool {
        let (seconds, nanoseconds) = self.changed;
        let changed = UNIX_EPOCH + Duration::new(seconds.max(0) as u64, nanoseconds.max(0) as u32);
        SystemTime::now().duration_since(changed).is_ok_and(|age| age > CLOCK_STEP)
    }
}

/// A file as it was seen; a later look compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    /// `None` when there was no file.
    stamp: Option<Stamp>,
    is_settled: bool,
}

impl Seen {
    pub(super) fn new(stamp: Option<Stamp>) -> Self {
        Self { stamp, is_settled: stamp.is_none_or(|stamp| stamp.is_settled()) }
    }

    /// The file was certainly not changed since.
    pub(super) fn still_is(&self, now: Option<Stamp>) -> bool {
        self.is_settled && self.stamp == now
    }

    /// The same, but for a change within the same step of the clock.
    pub(super) fn seems_to_be(&self, now: Option<Stamp>) -> bool {
        self.stamp == now
    }
}

/// What a file holds and how it looked then; the contents are `None` when there is none.
pub(super) async fn read(path: &str) -> io::Result<(Option<Vec<u8>>, Seen)> {
    // A program that writes in place may not have finished: what is read while the file changes is read again.
    for _ in 0..10 {
        let before = Stamp::of(path).await?;
        let Some(stamp) = before else { return Ok((None, Seen::new(None))) };
        if stamp.size > FILE_MAX_BYTES {
            let limit = format!("it has {} bytes, the limit is {FILE_MAX_BYTES}", stamp.size);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, limit));
        }
        let seen = Seen::new(before);
        match tokio::fs::read(path).await {
            Ok(content) if Stamp::of(path).await? == before => return Ok((Some(content), seen)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "another program keeps writing it"))
}

/// Keeps other processes that mind it from changing files of a folder, as long as it lives.
#[derive(Debug)]
pub(super) struct FolderLock {
    _folder: Option<File>,
}

impl FolderLock {
    /// Waits for it, at most so long.
    pub(super) async fn take(file: &str, patience: Duration) -> io::Result<Self> {
        let folder = folder_of(Path::new(file)).to_owned();
        let taking = tokio::task::spawn_blocking(move || {
            // A folder that cannot be opened, or a file system without locks, has none.
            let Ok(folder) = File::open(folder) else { return None };
            folder.lock().is_ok().then_some(folder)
        });
        match tokio::time::timeout(patience, taking).await {
            Ok(folder) => Ok(Self { _folder: folder.map_err(io::Error::other)? }),
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "another process keeps its folder locked")),
        }
    }
}

/// A new content of a file, beside it until it is complete.
pub(super) struct Draft {
    target: PathBuf,
    path: PathBuf,
    file: Option<tokio::fs::File>,
    hash: Sha256,
}

impl Draft {
    pub(super) fn begin(target: &str) -> io::Result<Self> {
        let target = PathBuf::from(target);
        let path = draft_path(&target, &format!("{:016x}", rand::random::<u64>()));
        // A new file can be read by its owner alone; the mode of a file that was there is kept.
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let draft = Self {
            target,
            path,
            file: Some(tokio::fs::File::from_std(file.try_clone()?)),
            hash: Sha256::new(),
        };
        // The new file is like the old one, its owner as far as we may.
        if let Ok(old) = std::fs::metadata(&draft.target) {
            let _ = fchown(&file, Some(old.uid()), Some(old.gid()));
            file.set_permissions(std::fs::Permissions::from_mode(old.mode() & 0o7777))?;
        }
        Ok(draft)
    }

    pub(super) async fn write(&mut self, part: &[u8]) -> io::Result<()> {
        self.hash.update(part);
        match &mut self.file {
            Some(file) => file.write_all(part).await,
            None => Ok(()),
        }
    }

    /// On disk, beside the file. From here on only a name has to change.
    pub(super) async fn sync(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.flush().await?;
        file.sync_all().await
    }

    /// Puts it in the file's place; gives its hash and how the file looks now.
    pub(super) async fn put_in_place(mut self) -> io::Result<([u8; 32], Seen)> {
        let Some(file) = self.file.take() else { return Err(io::ErrorKind::NotFound.into()) };
        tokio::fs::rename(&self.path, &self.target).await?;
        let stamp = Stamp::new(&file.metadata().await?);
        let target = self.target.clone();
        tokio::task::spawn_blocking(move || sync_folder(&target)).await.map_err(io::Error::other)??;
        Ok((std::mem::take(&mut self.hash).finalize().into(), Seen::new(Some(stamp))))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Gone already where it was put in place.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn draft_path(target: &Path, random: &str) -> PathBuf {
    // A name may be as long as the file system takes; this one is longer.
    let name: String = target.file_name().unwrap_or_default().to_string_lossy().chars().take(40).collect();
    target.with_file_name(format!(".{name}.{random}.tmp"))
}

/// Removes what processes that were killed have left beside the file. Its folder is locked.
pub(super) fn remove_drafts(target: &str) {
    let (start, end) =
        match draft_path(Path::new(target), "\0").to_str().and_then(|path| path.split_once('\0')) {
            Some((start, end)) => (start.to_owned(), end.to_owned()),
            None => return,
        };
    let Ok(entries) = std::fs::read_dir(folder_of(Path::new(target))) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let random = path.to_str().and_then(|path| path.strip_prefix(&start)?.strip_suffix(&end));
        if random.is_some_and(|r| r.len() == 16 && r.bytes().all(|b| b.is_ascii_hexdigit())) {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new("/"))
}

/// A new name is on disk only when its folder is.
pub(super) fn sync_folder(file: &Path) -> io::Result<()> {
    File::open(folder_of(file))?.sync_all()
}

pub(super) fn sha256(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_writers_have_left_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("memory.jsonl");
        let left = dir.path().join(".memory.jsonl.0123456789abcdef.tmp");
        let others = [".memory.jsonl.backup.tmp", ".other.jsonl.0123456789abcdef.tmp", "memory.jsonl"];
        std::fs::write(&left, "half").unwrap();
        for name in others {
            std::fs::write(dir.path().join(name), "mine").unwrap();
        }
        remove_drafts(target.to_str().unwrap());
        assert!(!left.exists());
        assert!(others.iter().all(|name| dir.path().join(name).exists()));
    }
}
