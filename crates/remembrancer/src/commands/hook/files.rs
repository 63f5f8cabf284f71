//! The files of the hooks, in the folder `hooks` of the data folder: what waits to be sent, how far each session was
//! sent, what was added to it, and the log. None of them has a text of the user.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use jiff::Timestamp;
use memory_core::id::ContentHash;
use memory_store::own_folder::OwnFolder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A longer log is put aside; so there are at most two of them.
const LOG_MAX_BYTES: u64 = 256 << 10;
/// So many sessions wait at most; one more is refused, with a line in the log.
const WAITING_MAX: usize = 1_000;
/// What is known of a session is deleted so long after its last change.
const SESSION_DAYS: u64 = 60;
/// So many ids are known of what was added to one session.
const SHOWN_MAX: usize = 400;

const WAITING: &str = "waiting";
const SENDING: &str = "sending";

/// A session with turns that are not sent yet. They stay where the host has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub(super) host: String,
    pub(super) session_id: String,
    pub(super) transcript: PathBuf,
    pub(super) namespace: String,
    pub(super) tags: Vec<String>,
}

/// How far a session was sent: the last turn, which may have grown since, begins at this byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sent {
    pub(super) offset: u64,
    pub(super) turn_index: u64,
    /// How often the turn behind it was refused.
    #[serde(default)]
    pub(super) refusals: u8,
}

/// What was added to a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shown {
    pub(super) is_briefed: bool,
    pub(super) ids: Vec<String>,
}

impl Shown {
    pub(super) fn note(&mut self, ids: impl IntoIterator<Item = String>) {
        self.ids.extend(ids);
        let excess = self.ids.len().saturating_sub(SHOWN_MAX);
        self.ids.drain(..excess);
    }
}

/// The log's latest, for `doctor`.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) runs: usize,
    pub(crate) troubles: usize,
    pub(crate) last_trouble: Option<String>,
    pub(crate) waiting: usize,
}

pub(crate) struct HookFiles {
    folder: PathBuf,
}

impl HookFiles {
    /// Makes the folder unless it is there.
    pub(super) fn of(data_dir: &Path) -> anyhow::Result<Self> {
        crate::setup::make_data_folder(data_dir)?;
        let folder = data_dir.join("hooks");
        OwnFolder::make(&folder)?;
        Ok(Self { folder })
    }

    fn of_session(&self, host: &str, session_id: &str, what: &str) -> PathBuf {
        // The host's id may be anything, a path as well.
        let hash = ContentHash::of(&format!("{host}:{session_id}"));
        let name = hash.candidate_ids().next().map_or_else(String::new, |id| id.0);
        self.folder.join(format!("{name}.{what}"))
    }

    fn with_ending(&self, ending: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        let mut found: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|it| it == ending))
            .collect();
        found.sort();
        found
    }

    /// Has a session wait. One that waits already waits once.
    pub(super) fn put(&self, waiting: &Waiting) -> anyhow::Result<()> {
        let path = self.of_session(&waiting.host, &waiting.session_id, WAITING);
        if !path.exists() && self.with_ending(WAITING).len() >= WAITING_MAX {
            anyhow::bail!("{WAITING_MAX} sessions wait to be sent already, so this one is not kept");
        }
        write(&path, waiting)
    }

    /// The next session that waits; it is taken by the one process that holds the lock.
    pub(super) fn take(&self) -> Option<(PathBuf, Waiting)> {
        for path in self.with_ending(WAITING) {
            let _ = fs::rename(&path, path.with_extension(SENDING));
        }
        self.with_ending(SENDING).into_iter().find_map(|path| match read(&path) {
            Some(waiting) => Some((path, waiting)),
            None => {
                let _ = fs::remove_file(&path);
                None
            }
        })
    }

    pub(super) fn sent(&self, waiting: &Waiting) -> Sent {
        read(&self.of_session(&waiting.host, &waiting.session_id, "sent")).unwrap_or_default()
    }

    pub(super) fn note_sent(&self, waiting: &Waiting, sent: Sent) -> anyhow::Result<()> {
        write(&self.of_session(&waiting.host, &waiting.session_id, "sent"), &sent)
    }

    pub(super) fn shown(&self, host: &str, session_id: &str) -> Shown {
        read(&self.of_session(host, session_id, "shown")).unwrap_or_default()
    }

    pub(super) fn note_shown(&self, host: &str, session_id: &str, shown: &Shown) -> anyhow::Result<()> {
        write(&self.of_session(host, session_id, "shown"), shown)
    }

    /// Whether anything waits.
    pub(super) fn has_waiting(&self) -> bool {
        !self.with_ending(WAITING).is_empty() || !self.with_ending(SENDING).is_empty()
    }

    /// The lock of the one process that sends; `None` while another does.
    pub(super) fn try_lock(&self) -> anyhow::Result<Option<File>> {
        let mut options = File::options();
        let file = options.create(true).append(true).mode(0o600).open(self.folder.join("deliver.lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }

    /// Deletes what is known of sessions that are long over.
    pub(super) fn prune(&self) {
        let Some(limit) = SystemTime::now().checked_sub(Duration::from_secs(SESSION_DAYS * 86_400)) else {
            return;
        };
        for path in ["sent", "shown"].into_iter().flat_map(|ending| self.with_ending(ending)) {
            let changed = path.metadata().and_then(|found| found.modified());
            if changed.is_ok_and(|changed| changed < limit) {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// A line in the log: what was run, how long it took, and what came of it.
    pub(super) fn log(&self, what: &str, took: Duration, note: Result<&str, &str>) {
        let path = self.folder.join("log");
        if path.metadata().is_ok_and(|found| found.len() > LOG_MAX_BYTES) {
            let _ = fs::rename(&path, self.folder.join("log.1"));
        }
        let (state, note) = match note {
            Ok(note) => ("ok", note),
            Err(trouble) => ("trouble", trouble),
        };
        let note: String = note.chars().take(300).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let now = Timestamp::now();
        let line = format!("{now:.3} {what} {state} {} ms {note}\n", took.as_millis());
        let file = File::options().create(true).append(true).mode(0o600).open(path);
        let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
    }
}

/// What the log and the folder say; `None` where no hook was ever run.
pub(crate) fn report(data_dir: &Path) -> Option<Report> {
    let folder = data_dir.join("hooks");
    let log = fs::read_to_string(folder.join("log")).ok()?;
    let files = HookFiles { folder };
    let is_trouble = |line: &&str| line.split(' ').nth(3) == Some("trouble");
    let mut troubles = log.lines().filter(is_trouble);
    Some(Report {
        runs: log.lines().count(),
        troubles: troubles.clone().count(),
        last_trouble: troubles.next_back().map(str::to_owned),
        waiting: files.with_ending(WAITING).len() + files.with_ending(SENDING).len(),
    })
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// In one step, so that another process reads all of it or the state before.
fn write<T: Serialize>(path: &Path, value: &T) -> anyhow::Result<()> {
    let folder = path.parent().context("a folder")?;
    let mut draft = tempfile::NamedTempFile::new_in(folder)?;
    draft.write_all(&serde_json::to_vec(value)?)?;
    draft.persist(path)?;
    Ok(())
}
