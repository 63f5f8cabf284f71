//! Gets the file of a package: through pip, the ordinary client, or from a folder. Either way it is what
//! its hash says, or an error.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use sha2::{Digest, Sha256};

use super::{Pin, Progress};

const POLL: Duration = Duration::from_millis(100);

/// The ways to reach pip, in the order in which they are tried.
const PIP_COMMANDS: [&[&str]; 4] = [&["python3", "-m", "pip"], &["python", "-m", "pip"], &["pip3"], &["pip"]];

#[derive(Debug)]
pub(crate) enum Source {
    /// Files that a user put there; they stay.
    Folder(PathBuf),
    /// The command line of pip, without arguments.
    Pip(&'static [&'static str]),
}

impl Source {
    /// pip, if this machine has it.
    pub(crate) fn pip() -> anyhow::Result<Self> {
        let works = |command: &&&[&str]| {
            let status = command_line(command).arg("--version").stdout(Stdio::null()).status();
            status.is_ok_and(|status| status.success())
        };
        let command = PIP_COMMANDS.iter().find(works).context(
            "setup fetches packages with pip and finds none: install it (`python3 -m ensurepip`, or the \
             system's python3-pip), or bring the packages from another machine with --from FOLDER",
        )?;
        Ok(Self::Pip(command))
    }

    /// The path of the package's file, its hash checked. `work` is an empty folder for this component and
    /// `downloads` the one in which finished files wait.
    pub(super) fn fetch(
        &self,
        pin: &Pin,
        downloads: &Path,
        work: &Path,
        progress: &Progress,
    ) -> anyhow::Result<PathBuf> {
        match self {
            Self::Folder(folder) => {
                let file = folder.join(&pin.file);
                ensure!(file.is_file(), "{} has no {}", folder.display(), pin.file);
                check_hash(&file, pin)?;
                Ok(file)
            }
            Self::Pip(command) => {
                let file = downloads.join(&pin.file);
                // Fetched by a run that ended before it unpacked it.
                if file.is_file() && check_hash(&file, pin).is_ok() {
                    return Ok(file);
                }
                let fetched = download(command, pin, work, progress)?;
                check_hash(&fetched, pin)?;
                fs::rename(&fetched, &file).with_context(|| format!("cannot move {}", fetched.display()))?;
                Ok(file)
            }
        }
    }

    /// Whether what [`Source::fetch`] gave may be deleted.
    pub(super) fn is_ours(&self) -> bool {
        matches!(self, Self::Pip(_))
    }
}

fn check_hash(file: &Path, pin: &Pin) -> anyhow::Result<()> {
    let found = sha256(file).with_context(|| format!("cannot read {}", file.display()))?;
    ensure!(
        found == pin.sha256,
        "{} is not the file that setup knows (its SHA-256 is {found}): it is not used",
        file.display()
    );
    Ok(())
}

fn sha256(file: &Path) -> std::io::Result<String> {
    let mut file = File::open(file)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hexadecimal(&hash.finalize()));
        }
        hash.update(&buffer[..read]);
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

fn download(command: &[&str], pin: &Pin, work: &Path, progress: &Progress) -> anyhow::Result<PathBuf> {
    let context = || format!("cannot write in {}", work.display());
    let requirements = work.join("requirements.txt");
    fs::write(&requirements, pin.line()).with_context(context)?;
    let temporary = work.join("tmp");
    fs::create_dir(&temporary).with_context(context)?;
    let messages = work.join("messages");

    progress.step_of("fetching", pin.bytes);
    let mut pip = command_line(command);
    pip.args(["download", "--quiet", "--no-input", "--disable-pip-version-check", "--no-cache-dir"])
        .args(["--no-deps", "--only-binary=:all:", "--require-hashes"])
        // The files are used without Python: any version of it can fetch those of one version.
        .args(["--python-version", "3.11", "--implementation", "cp"])
        .args(pin.platforms().filter(|platform| *platform != "any").flat_map(|one| ["--platform", one]))
        .args([OsStr::new("--requirement"), requirements.as_os_str(), OsStr::new("--dest"), work.as_os_str()])
        .env("PIP_REQUIRE_VIRTUALENV", "0")
        // Unfinished files are looked at for progress, and go with the folder.
        .env("TMPDIR", &temporary)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&messages).with_context(context)?);
    let mut pip = pip.spawn().with_context(|| format!("cannot start {}", command.join(" ")))?;
    let status = watch(&mut pip, &temporary, progress);
    if status.as_ref().is_err() {
        let _ = pip.kill();
    }
    let file = work.join(&pin.file);
    if !status?.success() || !file.is_file() {
        let messages = fs::read_to_string(&messages).unwrap_or_default();
        bail!(
            "pip could not fetch {}: {}. Without a network, bring the packages from another machine with \
             --from FOLDER",
            pin.requirement.replace("==", " "),
            reason(&messages)
        );
    }
    Ok(file)
}

fn watch(pip: &mut Child, temporary: &Path, progress: &Progress) -> anyhow::Result<ExitStatus> {
    loop {
        if let Some(status) = pip.try_wait().context("cannot wait for pip")? {
            return Ok(status);
        }
        progress.reached(super::folder_bytes(temporary));
        std::thread::sleep(POLL);
    }
}

/// The last complaint of pip, without addresses.
fn reason(messages: &str) -> String {
    let mut errors = messages.lines().filter_map(|line| line.trim().strip_prefix("ERROR:"));
    let Some(error) = errors.next_back() else { return "it gave no reason".to_owned() };
    let words = error.split_whitespace().map(|word| if word.contains("://") { "…" } else { word });
    words.collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
}

fn command_line(command: &[&str]) -> Command {
    let mut line = Command::new(command[0]);
    line.args(&command[1..]).stderr(Stdio::null());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_last_error_without_addresses() {
        let messages =
            "WARNING: retrying\nERROR: first\n  ERROR: cannot reach https://example.org/x now.\nnote";
        assert_eq!(reason(messages), "cannot reach … now");
        assert_eq!(reason("killed"), "it gave no reason");
    }
}
