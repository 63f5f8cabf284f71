//! Where a graph's file really is.

use std::io;
use std::path::{Path, PathBuf};

use memory_core::Invalid;
use memory_core::graph::GraphFile;

use super::disk::sync_folder;

/// How many links may lead to a file.
const LINKS_MAX: usize = 40;

/// Where a graph's file really is: its folder is made, links are followed, and a `.json` file of the old name
/// becomes the `.jsonl` file, as the reference server has it.
pub(crate) fn resolve_graph_file(path: &Path) -> Result<GraphFile, Invalid> {
    let real = really_at(path).map_err(|error| refused(path, &error.to_string()))?;
    usable(path, &real)
}

/// Where a graph's file is as things stand. Nothing is made or renamed: a `.json` file of the old name is read under
/// that name.
pub(crate) fn locate_graph_file(path: &Path) -> Result<GraphFile, Invalid> {
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
}
