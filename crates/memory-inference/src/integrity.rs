//! Integrity of the files of a model and of its runtime: a file that was cut short or altered is reported by name when it is
//! loaded, instead of causing a crash or meaningless vectors later.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use thiserror::Error;

/// The sums of a folder's files, as `sha256sum` writes and checks them. `remembrancer setup` leaves one beside a model.
pub const SUMS_FILE: &str = "files.sha256";
/// More than any file of a model that runs here has.
const FILE_MAX_BYTES: u64 = 4 << 30;
const SUMS_MAX_BYTES: u64 = 64 * 1024;
/// More than the tables at the start of a library take.
const HEAD_BYTES: u64 = 64 * 1024;

/// Why a file of a model or of its runtime is not used.
#[derive(Debug, Error)]
pub enum FileError {
    /// The file system refuses: check that the file exists and its permissions.
    #[error("{path}: {error}", path = path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    /// A folder, a device or a pipe: name another file.
    #[error("{path} is not a regular file", path = .0.display())]
    NotRegular(PathBuf),
    /// Larger than any file of its kind: name another file.
    #[error("{path} has {bytes} bytes, the limit is {limit}", path = path.display())]
    TooLarge { path: PathBuf, bytes: u64, limit: u64 },
    /// Not the content whose sum was written: remove the folder and install it again.
    #[error("{path} is not what {SUMS_FILE} beside it says, so it was damaged or changed; remove the folder and make it anew", path = .0.display())]
    Changed(PathBuf),
    /// A library without its end: remove its folder and install it again.
    #[error("{path} was cut short: it has {length} bytes of {needed} or more; remove its folder", path = path.display())]
    CutShort { path: PathBuf, length: u64, needed: u64 },
}

/// Writes the sums of the files of a folder to [`SUMS_FILE`] in it.
pub fn write_sums(folder: &Path) -> std::io::Result<()> {
    let mut names: Vec<String> = std::fs::read_dir(folder)?
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name != SUMS_FILE)
        .collect();
    names.sort();
    let mut sums = String::new();
    for name in names {
        let _ = writeln!(sums, "{}  {name}", sum(&std::fs::read(folder.join(&name))?));
    }
    std::fs::write(folder.join(SUMS_FILE), sums)
}

/// The sums that a folder's [`SUMS_FILE`] lists; none without that file.
pub(crate) struct Sums(BTreeMap<String, String>);

impl Sums {
    pub(crate) fn of(folder: &Path) -> Result<Self, FileError> {
        let path = folder.join(SUMS_FILE);
        if !path.exists() {
            return Ok(Self(BTreeMap::new()));
        }
        let text = read_regular(&path, SUMS_MAX_BYTES)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines = text.lines().filter_map(|line| line.split_once("  "));
        Ok(Self(lines.map(|(sum, name)| (name.to_owned(), sum.to_owned())).collect()))
    }

    /// The content of a file of the folder.
    pub(crate) fn read(&self, folder: &Path, name: &str) -> Result<Vec<u8>, FileError> {
        let path = folder.join(name);
        let content = read_regular(&path, FILE_MAX_BYTES)?;
        match self.0.get(name) {
            Some(noted) if *noted != sum(&content) => Err(FileError::Changed(path)),
            _ => Ok(content),
        }
    }
}

/// Compares every file of a folder with the sums beside them; gives how many there are, 0 without sums.
pub fn check_folder(folder: &Path) -> Result<usize, FileError> {
    let sums = Sums::of(folder)?;
    for name in sums.0.keys() {
        sums.read(folder, name)?;
    }
    Ok(sums.0.len())
}

/// A regular file whole. Anything else, which might never end or never begin, is refused.
pub(crate) fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let unreadable = |error| FileError::Unreadable { path: path.to_owned(), error };
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(FileError::NotRegular(path.to_owned()));
    }
    if metadata.len() > limit {
        return Err(FileError::TooLarge { path: path.to_owned(), bytes: metadata.len(), limit });
    }
    let mut content = Vec::with_capacity(metadata.len() as usize);
    File::open(path).and_then(|file| file.take(limit).read_to_end(&mut content)).map_err(unreadable)?;
    Ok(content)
}

/// Refuses a library that ends before the parts that its header lists: loaded, it would end the process.
pub fn check_library(path: &Path) -> Result<(), FileError> {
    let unreadable = |error| FileError::Unreadable { path: path.to_owned(), error };
    let mut file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let mut head = Vec::new();
    (&mut file).take(HEAD_BYTES).read_to_end(&mut head).map_err(unreadable)?;
    match needed_bytes(&head) {
        Some(needed) if needed > length => Err(FileError::CutShort { path: path.to_owned(), length, needed }),
        _ => Ok(()),
    }
}

/// How long an ELF file of 64 bits is at least; none for another format, which the loader itself checks.
fn needed_bytes(head: &[u8]) -> Option<u64> {
    const PROGRAM_OFFSET: usize = 8;
    const PROGRAM_BYTES: usize = 32;
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let number = |at: usize, bytes: usize| -> Option<u64> {
        let field = head.get(at..at.checked_add(bytes)?)?;
        Some(field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    let (programs, sections) = (number(32, 8)?, number(40, 8)?);
    let (program_size, program_count) = (number(54, 2)?, number(56, 2)?);
    let mut needed = sections.checked_add(number(58, 2)? * number(60, 2)?)?;
    needed = needed.max(programs.checked_add(program_size * program_count)?);
    for program in 0..program_count {
        let at = usize::try_from(programs.checked_add(program * program_size)?).ok()?;
        let (Some(offset), Some(bytes)) = (number(at + PROGRAM_OFFSET, 8), number(at + PROGRAM_BYTES, 8))
        else {
            break;
        };
        needed = needed.max(offset.checked_add(bytes)?);
    }
    Some(needed)
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn sum(content: &[u8]) -> String {
    Sha256::digest(content).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> std::path::PathBuf {
        let folder =
            std::env::temp_dir().join(format!("remembrancer-integrity-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).unwrap();
        folder
    }

    #[test]
    fn a_file_that_was_altered_is_named() {
        let folder = folder("altered");
        std::fs::write(folder.join("weights"), "one").unwrap();
        assert_eq!(Sums::of(&folder).unwrap().read(&folder, "weights").unwrap(), b"one");
        write_sums(&folder).unwrap();
        assert_eq!(Sums::of(&folder).unwrap().read(&folder, "weights").unwrap(), b"one");
        std::fs::write(folder.join("weights"), "two").unwrap();
        let refused = Sums::of(&folder).unwrap().read(&folder, "weights").unwrap_err().to_string();
        assert!(refused.contains("weights") && refused.contains("damaged"), "{refused}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        for device in ["/dev/zero", "/dev"] {
            let refused = read_regular(Path::new(device), FILE_MAX_BYTES).unwrap_err().to_string();
            assert!(refused.contains("not a regular file"), "{refused}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_library_that_was_cut_short_is_refused_and_a_whole_one_is_not() {
        let folder = folder("library");
        // Any program of 64 bits will do: this one.
        let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let path = folder.join("library.so");
        std::fs::write(&path, &whole).unwrap();
        check_library(&path).unwrap();
        for length in [whole.len() / 2, whole.len() - 1, 4096] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let refused = check_library(&path).unwrap_err().to_string();
            assert!(refused.contains("cut short"), "{length}: {refused}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
