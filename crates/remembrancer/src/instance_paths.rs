//! Where the processes of a data folder meet: its lock, its private socket, its log, and what its process was started with.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use memory_core::id::ContentHash;
use memory_store::own_folder::{FolderFault, OwnFolder, user_name};
use serde::{Deserialize, Serialize};
use tokio::net::{UnixListener, UnixStream};

use crate::daemon::OWN;
use crate::settings::Settings;
use crate::setup::make_data_folder;

/// How long a client waits for a process it started to open its socket.
const START_TIMEOUT: Duration = Duration::from_secs(15);
/// A log that is longer is put aside when a process starts, one that grows longer while it runs is cut.
const LOG_START_BYTES: u64 = 4 << 20;
const LOG_MAX_BYTES: u64 = 16 << 20;

/// Where the processes of a data folder meet.
#[derive(Debug, Clone)]
pub(crate) struct InstancePaths {
    folder: PathBuf,
    name: String,
    /// Open, so that nothing else can replace it.
    _held: Arc<OwnFolder>,
    socket: PathBuf,
    pub(crate) log: PathBuf,
}

/// What a process was started with, as hashes: a later command may have other settings.
#[derive(Debug, Serialize, Deserialize)]
struct Recorded {
    pid: u32,
    settings: BTreeMap<String, String>,
}

impl InstancePaths {
    /// Makes the data folder and its folder `run`, unless they are there. Fails when another user owns them.
    pub(crate) fn of(settings: &Settings) -> anyhow::Result<Self> {
        let data_dir = settings.data_dir()?;
        make_data_folder(&data_dir).with_context(|| {
            format!("the data folder {} cannot be used; choose another with --data-dir", data_dir.display())
        })?;
        let folder = data_dir.join("run");
        if !folder.exists() {
            // A user has set up components of their own there.
            let owner = data_dir.join("setup.lock").symlink_metadata().map(|found| found.uid());
            let us = rustix::process::geteuid().as_raw();
            if let Ok(owner) = owner
                && us == 0
                && owner != us
            {
                let (owner, us) = (user_name(owner), user_name(us));
                return Err(FolderFault::Foreign { folder: data_dir, owner, us }.into());
            }
        }
        let held = OwnFolder::make(&folder)?;
        let name = settings.instance_name();
        let file = format!("{name}.sock");
        let socket = held.for_socket(&file)?.join(file);
        let log = folder.join(format!("{name}.log"));
        Ok(Self { folder, name, _held: Arc::new(held), socket, log })
    }

    pub(crate) fn lock_file(&self) -> PathBuf {
        self.folder.join(format!("{}.lock", self.name))
    }

    /// The folder's lock, or `None` when another process has it.
    pub(crate) fn try_lock(&self) -> anyhow::Result<Option<File>> {
        let unusable = || {
            format!("cannot write to {}; choose another data folder with --data-dir", self.folder.display())
        };
        let file = private().append(true).open(self.lock_file()).with_context(unusable)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error).with_context(unusable),
        }
    }

    /// Opens the socket. The lock is ours, so one that is there was left behind.
    pub(crate) fn listen(&self) -> anyhow::Result<UnixListener> {
        self.remove_socket();
        let listener = UnixListener::bind(&self.socket)
            .with_context(|| format!("cannot open a socket in {}", self.folder.display()))?;
        std::fs::set_permissions(&self.socket, std::fs::Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    pub(crate) fn remove_socket(&self) {
        let _ = std::fs::remove_file(&self.socket);
    }

    /// Connects to the process that holds the folder; starts one in the background when there is none.
    pub(crate) async fn connect_or_start(&self, settings: &Settings) -> anyhow::Result<UnixStream> {
        if let Some(stream) = self.connect().await? {
            self.warn_of_other_settings(settings);
            return Ok(stream);
        }
        let deadline = Instant::now() + START_TIMEOUT;
        let mut started = None;
        loop {
            // A process that holds the lock without a socket is starting or stopping: wait for it.
            if started.is_none() && self.try_lock()?.is_some() {
                started = Some(self.start(settings)?);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            if let Some(stream) = self.connect().await? {
                return Ok(stream);
            }
            if let Some(child) = &mut started
                && let Some(status) = child.try_wait()?
            {
                if !status.success() {
                    bail!("the memory's process did not start; its log is {}", self.log.display());
                }
                started = None;
            }
            if Instant::now() > deadline {
                bail!("the memory's process did not answer in time; its log is {}", self.log.display());
            }
        }
    }

    /// The process that holds the folder, if one listens. Nothing is said to one of another user.
    pub(crate) async fn connect(&self) -> anyhow::Result<Option<UnixStream>> {
        let Ok(stream) = UnixStream::connect(&self.socket).await else { return Ok(None) };
        if is_ours(&stream) {
            return Ok(Some(stream));
        }
        let owner =
            stream.peer_cred().map_or_else(|_| "another user".to_owned(), |peer| user_name(peer.uid()));
        bail!(
            "a process of {owner} listens on the socket in {}, and nothing was said to it: remove the socket, or choose \
             another data folder with --data-dir",
            self.folder.display()
        )
    }

    fn start(&self, settings: &Settings) -> anyhow::Result<std::process::Child> {
        use std::os::unix::process::CommandExt;
        let mut command = std::process::Command::new(program()?);
        command.arg("--data-dir").arg(settings.data_dir()?);
        // By environment: the arguments of a process can be read by others.
        command.env_remove("REMEMBRANCER_TOKEN");
        for (name, value) in settings.of_the_process() {
            if value.is_empty() {
                command.env_remove(name)
            } else {
                command.env(name, value)
            };
        }
        if let Some(url) = &settings.store.database_url {
            command.env("DATABASE_URL", url);
        }
        command
            .arg("instance")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(self.open_log()?)
            .process_group(0)
            .current_dir("/");
        Ok(command.spawn()?)
    }

    /// The log of a process that is about to start; a long one is put aside, and the one before it goes.
    fn open_log(&self) -> anyhow::Result<File> {
        if self.log.metadata().is_ok_and(|found| found.len() > LOG_START_BYTES) {
            std::fs::rename(&self.log, self.older_log())?;
        }
        Ok(private().append(true).open(&self.log)?)
    }

    /// A log that has grown too long while its process runs is copied and begun anew.
    pub(crate) fn shorten_log(&self) {
        if self.log.metadata().is_ok_and(|found| found.len() > LOG_MAX_BYTES) {
            let shortened = std::fs::copy(&self.log, self.older_log())
                .and_then(|_| File::options().write(true).open(&self.log)?.set_len(0));
            if let Err(error) = shortened {
                tracing::warn!(%error, "failed to shorten the log");
            }
        }
    }

    fn older_log(&self) -> PathBuf {
        self.folder.join(format!("{}.log.1", self.name))
    }

    /// Notes what this process was started with.
    pub(crate) fn record(&self, settings: &[(&'static str, String)]) -> anyhow::Result<()> {
        let settings =
            settings.iter().map(|(name, value)| ((*name).to_owned(), fingerprint(value))).collect();
        let recorded = serde_json::to_vec(&Recorded { pid: std::process::id(), settings })?;
        let file = self.folder.join(format!("{}.settings", self.name));
        let draft = file.with_extension("settings.new");
        let mut to = private().write(true).truncate(true).open(&draft)?;
        std::io::Write::write_all(&mut to, &recorded)?;
        Ok(std::fs::rename(draft, file)?)
    }

    /// What it was started with is not what it goes by any more.
    pub(crate) fn forget_settings(&self) {
        let _ = std::fs::remove_file(self.folder.join(format!("{}.settings", self.name)));
    }

    /// Warns of a setting, given by a flag or the environment, that the running process has another value of.
    fn warn_of_other_settings(&self, settings: &Settings) {
        let file = self.folder.join(format!("{}.settings", self.name));
        let Ok(recorded) = std::fs::read(file) else { return };
        let Ok(recorded) = serde_json::from_slice::<Recorded>(&recorded) else { return };
        let pid = recorded.pid;
        let holder = std::fs::read_to_string(self.lock_file()).unwrap_or_default();
        let is_own = holder.trim() == format!("{pid} {OWN}");
        let ending = if is_own { format!("`kill {pid}`") } else { "`remembrancer stop`".to_owned() };
        for (name, value) in settings.of_the_process() {
            let Some(flag) = settings.given.flag(name).filter(|_| !value.is_empty()) else { continue };
            if recorded.settings.get(name) != Some(&fingerprint(&value)) {
                eprintln!(
                    "warning: {flag} ({name}) has no effect: the process that holds the data folder, {pid}, was started with \
                     another value. End it ({ending}), and every `serve` on it with it; the next command starts one with this \
                     value."
                );
            }
        }
    }
}

/// Whether the other end is a process of our user, as the kernel reports it.
pub(crate) fn is_ours(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw())
}

/// For files that other users may not read.
fn private() -> OpenOptions {
    let mut options = File::options();
    options.create(true).mode(0o600);
    options
}

fn fingerprint(value: &str) -> String {
    ContentHash::of(value).candidate_ids().next().map_or_else(String::new, |id| id.0.replace("art_", ""))
}

/// This program; when it was replaced since, as by an update, the one in its place.
fn program() -> std::io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let replaced = program.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map(PathBuf::from);
    Ok(replaced.filter(|_| !program.exists()).unwrap_or(program))
}
