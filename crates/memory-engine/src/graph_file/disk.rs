//! A graph's file on disk: whether it has changed, its folder's lock, reading it whole and replacing it in one step. This
//! waits for the disk: callers do it on a thread of its own.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

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
    pub(super) fn of(path: &Path) -> io::Result<Option<Self>> {
        match std::fs::metadata(path) {
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
pub(super) fn read(path: &Path) -> io::Result<(Option<Vec<u8>>, Seen)> {
    // A program that writes in place may not have finished: what is read while the file changes is read again.
    for _ in 0..10 {
        let before = Stamp::of(path)?;
        let Some(stamp) = before else { return Ok((None, Seen::new(None))) };
        if stamp.size > FILE_MAX_BYTES {
            let limit = format!("it has {} bytes, the limit is {FILE_MAX_BYTES}", stamp.size);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, limit));
        }
        let seen = Seen::new(before);
        match std::fs::read(path) {
            Ok(content) if Stamp::of(path)? == before => return Ok((Some(content), seen)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => thread::sleep(Duration::from_millis(10)),
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
    /// Waits for it. A folder that cannot be opened, or a file system without locks, has none.
    pub(super) fn take(file: &Path) -> Self {
        let folder = File::open(folder_of(file)).ok();
        Self { _folder: folder.filter(|folder| folder.lock().is_ok()) }
    }
}

/// A file that was replaced.
pub(super) struct Written {
    pub(super) sha256: [u8; 32],
    /// How it looks now.
    pub(super) seen: Seen,
}

/// A new content of a file, beside it until it is complete.
pub(super) struct Draft {
    path: PathBuf,
    file: File,
}

impl Draft {
    /// Empty, and like the file that it is to replace.
    pub(super) fn begin(target: &Path) -> io::Result<Self> {
        let path = draft_path(target, &format!("{:016x}", rand::random::<u64>()));
        // A new file can be read by its owner alone; the mode of a file that was there is kept.
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let draft = Self { path, file };
        // Its owner as far as we may.
        if let Ok(old) = std::fs::metadata(target) {
            let _ = fchown(&draft.file, Some(old.uid()), Some(old.gid()));
            draft.file.set_permissions(std::fs::Permissions::from_mode(old.mode() & 0o7777))?;
        }
        Ok(draft)
    }

    /// Replaces the file by this content in one step; `None`, and nothing is replaced, if the file is not as it was `seen`
    /// any more.
    pub(super) fn replace(
        mut self,
        target: &Path,
        content: &[u8],
        seen: Option<Seen>,
    ) -> io::Result<Option<Written>> {
        self.file.write_all(content)?;
        // On disk, beside the file: from here on only a name has to change.
        self.file.sync_all()?;
        let sha256 = sha256(content);
        let now = Stamp::of(target)?;
        if !seen.is_some_and(|seen| seen.seems_to_be(now)) {
            return Ok(None);
        }
        std::fs::rename(&self.path, target)?;
        let stamp = Stamp::new(&self.file.metadata()?);
        sync_folder(target)?;
        Ok(Some(Written { sha256, seen: Seen::new(Some(stamp)) }))
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
pub(super) fn remove_drafts(target: &Path) {
    let (start, end) = match draft_path(target, "\0").to_str().and_then(|path| path.split_once('\0')) {
        Some((start, end)) => (start.to_owned(), end.to_owned()),
        None => return,
    };
    let Ok(entries) = std::fs::read_dir(folder_of(target)) else { return };
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
        remove_drafts(&target);
        assert!(!left.exists());
        assert!(others.iter().all(|name| dir.path().join(name).exists()));
    }

    #[test]
    fn a_file_that_has_changed_since_it_was_seen_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("memory.jsonl");
        let replace = |content: &[u8], seen| {
            Draft::begin(&target).unwrap().replace(&target, content, Some(seen)).unwrap()
        };
        assert!(replace(b"one", Seen::new(None)).is_some());
        assert!(replace(b"two", Seen::new(None)).is_none(), "it is there now");
        let (content, seen) = read(&target).unwrap();
        assert_eq!(content.as_deref(), Some(&b"one"[..]));
        std::fs::write(&target, "another").unwrap();
        assert!(replace(b"two", seen).is_none());
        assert_eq!(std::fs::read(&target).unwrap(), b"another");
        let (_, seen) = read(&target).unwrap();
        assert_eq!(replace(b"two", seen).expect("it is replaced").sha256, sha256(b"two"));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no draft is left");
    }
}
