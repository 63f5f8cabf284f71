//! A graph's file as the file system has it: where it really is, whether it has changed, and replacing it in
//! one step.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use memory_core::Invalid;
use memory_core::graph::GraphFile;
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;

/// The largest file that is read, in bytes.
pub(super) const FILE_MAX_BYTES: u64 = 1 << 30;
/// How many links may lead to a file.
const LINKS_MAX: usize = 40;
/// Clocks of file systems stand still for some milliseconds: a file may change again without its times showing
/// it for this long.
const CLOCK_STEP: Duration = Duration::from_millis(50);

/// Where a graph's file really is: its folder is made, links are followed, and a `.json` file of the old name
/// becomes the `.jsonl` file, as the reference server has it.
pub(super) fn resolve_graph_file(path: &Path) -> Result<GraphFile, Invalid> {
    let real = really_at(path).map_err(|error| refused(path, &error.to_string()))?;
    usable(path, &real)
}

/// Where a graph's file is as things stand. Nothing is made or renamed: a `.json` file of the old name is read under
/// that name.
pub(super) fn locate_graph_file(path: &Path) -> Result<GraphFile, Invalid> {
    let located = || {
        if path.canonicalize().is_ok() {
            return path.canonicalize();
        }
        let old = old_name(path).filter(|old| old.is_file());
        old.map_or_else(|| std::path::absolute(path), |old| old.canonicalize())
    };
    let real = located().map_err(|error| refused(path, &error.to_string()))?;
    usable(path, &real)
}

fn refused(path: &Path, why: &str) -> Invalid {
    Invalid::new(format!(
        "MEMORY_FILE_PATH {} cannot be used: {why}. Name a file in a folder that can be written.",
        path.display()
    ))
}

fn usable(path: &Path, real: &Path) -> Result<GraphFile, Invalid> {
    let refuse = |why: &str| refused(path, why);
    match std::fs::metadata(real) {
        Ok(found) if !found.is_file() => return Err(refuse("it is not a regular file")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refuse(&error.to_string())),
        _ => {}
    }
    GraphFile::new(real.to_str().ok_or_else(|| refuse("it is not UTF-8"))?)
}

fn really_at(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    migrate(&path)?;
    for _ in 0..LINKS_MAX {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it names no file"));
        };
        // A link may lead to a folder that is not there yet.
        std::fs::create_dir_all(folder)?;
        path = folder.canonicalize()?.join(name);
        if !path.is_symlink() {
            return Ok(path);
        }
        let target = std::fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("/")).join(target);
    }
    Err(io::Error::other("its links go round in a circle"))
}

fn old_name(path: &Path) -> Option<PathBuf> {
    let start = path.to_str()?.strip_suffix(".jsonl")?;
    Some(PathBuf::from(format!("{start}.json")))
}

/// `memory.json` becomes `memory.jsonl` where that is not there. Its lines always were JSON lines.
fn migrate(path: &Path) -> io::Result<()> {
    let Some(old) = old_name(path) else { return Ok(()) };
    if path.symlink_metadata().is_ok() || !old.is_file() {
        return Ok(());
    }
    tracing::info!(old = ?old.file_name(), new = ?path.file_name(), "a graph's file gets its new name");
    std::fs::rename(&old, path)?;
    sync_folder(path)
}

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

    /// Nobody has changed the file since, for certain.
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
    // Whoever writes it in place may be in the midst of it: what is read while it changes is read again.
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
        // What is remembered is nobody else's to read; the mode of a file that was there is kept.
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
fn sync_folder(file: &Path) -> io::Result<()> {
    File::open(folder_of(file))?.sync_all()
}

pub(super) fn sha256(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn resolved(path: &Path) -> String {
        resolve_graph_file(path).unwrap().path().to_owned()
    }

    #[test]
    fn an_old_json_file_gets_its_new_name_byte_for_byte() {
        let dir = folder();
        let (old, new) = (dir.path().join("memory.json"), dir.path().join("memory.jsonl"));
        std::fs::write(&old, b"{\"type\":\"entity\"  }\r\nnot even JSON\xff").unwrap();
        resolved(&new);
        assert_eq!(std::fs::read(&new).unwrap(), b"{\"type\":\"entity\"  }\r\nnot even JSON\xff");
        assert!(!old.exists());
    }

    #[test]
    fn where_the_new_file_is_there_the_old_one_is_left_alone() {
        let dir = folder();
        let (old, new) = (dir.path().join("memory.json"), dir.path().join("memory.jsonl"));
        std::fs::write(&old, "old").unwrap();
        std::fs::write(&new, "new").unwrap();
        resolved(&new);
        assert_eq!(
            (std::fs::read(&old).unwrap(), std::fs::read(&new).unwrap()),
            (b"old".into(), b"new".into())
        );
        let other = dir.path().join("memory.txt");
        resolved(&other);
        assert!(old.exists() && !other.exists(), "a file of another kind has no old name");
    }

    #[test]
    fn folders_are_made_and_links_followed_to_where_the_file_is() {
        let dir = folder();
        let real = dir.path().canonicalize().unwrap();
        let made = dir.path().join("data/deep/../graph.jsonl");
        assert_eq!(resolved(&made), real.join("data/graph.jsonl").to_str().unwrap());
        let link = dir.path().join("link.jsonl");
        std::os::unix::fs::symlink("elsewhere/graph.jsonl", &link).unwrap();
        assert_eq!(resolved(&link), real.join("elsewhere/graph.jsonl").to_str().unwrap());
        assert!(real.join("elsewhere").is_dir() && link.is_symlink());
        let circle = dir.path().join("circle.jsonl");
        std::os::unix::fs::symlink("circle.jsonl", &circle).unwrap();
        assert!(resolve_graph_file(&circle).unwrap_err().0.contains("circle"));
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let dir = folder();
        for (path, why) in [
            (dir.path().to_owned(), "not a regular file"),
            (PathBuf::from("/dev/null"), "not a regular file"),
            (PathBuf::from("/"), "names no file"),
            (PathBuf::from("/proc/nowhere/graph.jsonl"), "MEMORY_FILE_PATH /proc/nowhere"),
        ] {
            let error = resolve_graph_file(&path).unwrap_err().0;
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn only_what_writers_have_left_is_removed() {
        let dir = folder();
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
