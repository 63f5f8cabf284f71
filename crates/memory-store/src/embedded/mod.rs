//! The embedded Postgres: a server of its own in the data folder, reached through a private socket.
//!
//! One process a data folder calls this (it holds the folder's lock). The server runs apart from that
//! process: killed together or alone, either finds the other again at the next start.

mod access;
mod account;
mod backup;
mod folders;
mod major;
mod memory;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use rustix::process::{Pid, Signal};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::Command;

use self::account::Account;
pub use self::backup::{BackupFailure, major_of};
pub use self::major::MajorFailure;
use crate::own_folder::{FolderFault, OwnFolder};

/// How long a start is tried: after a hard kill the old server may take a while to be gone.
const START_TIMEOUT: Duration = Duration::from_secs(40);
/// What a client may ask first of a server, which answers it in one byte in any state: PostgreSQL documentation, "SSLRequest".
const ENCRYPTION_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one that runs may replay its log before it accepts connections, and how often that is checked.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(3_600);
const RECOVERY_INTERVAL: Duration = Duration::from_millis(100);
/// How long a stop may take.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);
const SOCKET: &str = ".s.PGSQL.5432";
/// What the server's programs see of our environment; it has our secrets, and that of a process can be read by others of
/// its user.
const PASSED_ON: [&str; 3] = ["PATH", "LD_LIBRARY_PATH", "TZ"];
/// What the names of our own settings begin with.
const SETTINGS: [&str; 3] = ["REMEMBRANCER_", "QDRANT_", "DATABASE_URL="];
/// A log that is longer is put aside at a start.
const LOG_MAX_BYTES: u64 = 8 << 20;

#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    #[error(transparent)]
    Folder(#[from] FolderFault),
    #[error(
        "Postgres cannot run as root and its user '{user}' cannot enter {folder}; \
         choose a data folder outside private homes with --data-dir, or run as an ordinary user"
    )]
    Unreachable { folder: PathBuf, user: String },
    #[error("{program} could not be run: {source}; run `remembrancer setup` again")]
    Program { program: PathBuf, source: io::Error },
    #[error("the database could not be set up: {0}")]
    Init(String),
    #[error("the database did not start; its log is {log}. Last lines:\n{tail}")]
    Start { log: PathBuf, tail: String },
    #[error(
        "the database has not ended well: {pid_file} is still there after {seconds} s; see what it does, or what became of it, in {log}"
    )]
    Stop { pid_file: PathBuf, seconds: u64, log: PathBuf },
}

/// The folders of an embedded server.
#[derive(Debug, Clone)]
pub struct EmbeddedPostgres {
    bin: PathBuf,
    home: PathBuf,
    more_options: String,
    /// The folder of the socket, held open once it was looked at.
    socket: Arc<OnceLock<OwnFolder>>,
}

impl EmbeddedPostgres {
    /// A server whose programs are in `bin` and whose data is in `home`.
    pub fn new(bin: PathBuf, home: PathBuf) -> Self {
        Self { bin, home, more_options: String::new(), socket: Arc::default() }
    }

    /// More `-c name=value` options of the server, such as for a test that may lose its data.
    #[must_use]
    pub fn with_options(mut self, options: impl Into<String>) -> Self {
        self.more_options = options.into();
        self
    }

    /// The address of the database in this process, once it was started.
    pub fn url(&self) -> String {
        let folder = self.socket_folder();
        format!("postgres://postgres@localhost/postgres?host={}", escaped(&folder))
    }

    fn socket_folder(&self) -> PathBuf {
        let held = self.socket.get().and_then(|folder| folder.for_socket(SOCKET).ok());
        held.unwrap_or_else(|| self.home.join("socket"))
    }

    /// The folder of all that it keeps.
    pub fn home(&self) -> &Path {
        &self.home
    }

    pub fn log_file(&self) -> PathBuf {
        self.home.join("log")
    }

    fn data(&self) -> PathBuf {
        self.home.join("data")
    }

    /// There from the start of the server until all its data is safe on the disk.
    fn pid_file(&self) -> PathBuf {
        self.data().join("postmaster.pid")
    }

    /// The server's main process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        let file = std::fs::read_to_string(self.pid_file()).ok()?;
        file.lines().next()?.trim().parse().ok()
    }

    /// The server runs, and accepts no connections yet: it replays its log.
    fn is_recovering(&self) -> bool {
        let file = std::fs::read_to_string(self.pid_file()).unwrap_or_default();
        says_starting(&file) && self.is_alive()
    }

    fn is_alive(&self) -> bool {
        let pid = self.pid().and_then(|pid| Pid::from_raw(pid as i32));
        pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
    }

    /// Starts the server unless it runs, and makes its database first if there is none.
    pub fn start(&self) -> BoxFuture<'_, Result<(), EmbeddedError>> {
        Box::pin(async move {
            let account = Account::of(&self.home)?;
            self.prepare_folders(&account)?;
            if self.answers(&account).await && self.adopt(&account).await? {
                return self.recovered().await;
            }
            if !self.data().join("PG_VERSION").exists() {
                self.initialise(&account).await?;
            }
            self.settle_access(&account)?;
            self.end_unreachable(&account).await?;
            self.put_long_log_aside();
            let deadline = Instant::now() + START_TIMEOUT;
            let mut pause = Duration::from_millis(100);
            loop {
                let (log, options) = (self.log_file(), self.options());
                let arguments = ["-w", "-t", "30", "-l", &log.to_string_lossy(), "-o", &options, "start"];
                let done = self.pg_ctl(&account, &arguments).await?;
                if done || self.answers(&account).await {
                    return self.recovered().await;
                }
                if Instant::now() + pause > deadline {
                    return Err(EmbeddedError::Start { tail: tail(&log), log });
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(4));
            }
        })
    }

    /// Waits for a server whose socket is there until it accepts connections: after a crash, and on a copy, it replays its log first,
    /// and has to begin anew when it is ended meanwhile.
    async fn recovered(&self) -> Result<(), EmbeddedError> {
        let deadline = Instant::now() + RECOVERY_TIMEOUT;
        let mut has_logged = false;
        while self.is_recovering() {
            if Instant::now() > deadline {
                let log = self.log_file();
                return Err(EmbeddedError::Start { tail: tail(&log), log });
            }
            if !std::mem::replace(&mut has_logged, true) {
                tracing::info!("the database replays its log before it accepts connections");
            }
            tokio::time::sleep(RECOVERY_INTERVAL).await;
        }
        Ok(())
    }

    /// Ends the server, waiting until its data is safe on disk. Fails when it is not.
    pub async fn stop(&self) -> Result<(), EmbeddedError> {
        self.stop_within(STOP_TIMEOUT).await
    }

    /// The same with another patience.
    pub fn stop_within(&self, patience: Duration) -> BoxFuture<'_, Result<(), EmbeddedError>> {
        Box::pin(async move {
            self.end(&Account::of(&self.home)?, patience).await?;
            let pid_file = self.pid_file();
            if pid_file.symlink_metadata().is_ok() {
                return Err(EmbeddedError::Stop {
                    pid_file,
                    seconds: patience.as_secs(),
                    log: self.log_file(),
                });
            }
            Ok(())
        })
    }

    /// Whether it worked is for the caller to see: there may be nothing to end.
    async fn end(&self, account: &Account, patience: Duration) -> Result<(), EmbeddedError> {
        let seconds = patience.as_secs().max(1).to_string();
        self.pg_ctl(account, &["-m", "fast", "-w", "-t", &seconds, "stop"]).await?;
        Ok(())
    }

    /// The server accepts connections on its socket.
    pub async fn is_running(&self) -> bool {
        match Account::of(&self.home) {
            Ok(account) => self.answers(&account).await,
            Err(_) => false,
        }
    }

    /// The kernel reports that the process listening on the socket is of the server's user, and that process answers: those of a
    /// server that was killed hold its socket for a moment longer.
    async fn answers(&self, account: &Account) -> bool {
        let Ok(mut stream) = UnixStream::connect(self.socket_folder().join(SOCKET)).await else {
            return false;
        };
        let mut answer = [0];
        let asked = async {
            stream.write_all(&ENCRYPTION_REQUEST).await?;
            stream.read_exact(&mut answer).await
        };
        let is_answered = matches!(tokio::time::timeout(ANSWER_TIMEOUT, asked).await, Ok(Ok(_)));
        is_answered && stream.peer_cred().is_ok_and(|peer| peer.uid() == account.uid)
    }

    /// Takes on a server that runs already. False when it was ended instead, since an earlier build has started it with
    /// our secrets in its environment.
    async fn adopt(&self, account: &Account) -> Result<bool, EmbeddedError> {
        let environment = self.pid().and_then(|pid| std::fs::read(format!("/proc/{pid}/environ")).ok());
        let has_secrets = environment.is_some_and(|all| {
            let mut variables = all.split(|byte| *byte == 0);
            variables.any(|one| SETTINGS.iter().any(|start| one.starts_with(start.as_bytes())))
        });
        if has_secrets {
            self.end(account, STOP_TIMEOUT).await?;
            return Ok(false);
        }
        if self.settle_access(account)? {
            self.pg_ctl(account, &["reload"]).await?;
        }
        Ok(true)
    }

    /// A server that an earlier build started may have its socket elsewhere.
    async fn end_unreachable(&self, account: &Account) -> Result<(), EmbeddedError> {
        let file = std::fs::read_to_string(self.pid_file()).unwrap_or_default();
        let folder = file.lines().nth(4).unwrap_or_default().trim();
        let is_elsewhere = !folder.is_empty() && folder != self.socket_option() && folder != self.beside();
        if is_elsewhere && self.is_alive() {
            self.end(account, STOP_TIMEOUT).await?;
        }
        Ok(())
    }

    fn beside(&self) -> String {
        self.home.join("socket").display().to_string()
    }

    /// The folder of the socket from the server's view: relative to its data, where it works, so that the length of the path and
    /// what is in it do not matter.
    fn socket_option(&self) -> String {
        if self.data().is_symlink() { self.beside() } else { "../socket".to_owned() }
    }

    fn options(&self) -> String {
        // What is logged of a fault must not quote what was stored, as its details do.
        // fsync, full_page_writes and synchronous_commit stay on: what was acknowledged survives a crash. A young
        // database is analysed within seconds: without statistics a recall takes twice as long. Some of the log stays, so that
        // of two backups at once the one does not lose what the other is done with. Processes that have nothing to do here are
        // not there: those that read ahead for scans of whole tables, and the one that starts subscriptions. What is kept of the log
        // until it is written would be 8 MB by itself, all of which is in use from the first 8 MB on.
        format!(
            "-c listen_addresses='' -c unix_socket_directories='{}' -c unix_socket_permissions=0700 \
             -c wal_keep_size=64MB -c shared_buffers={}MB -c wal_buffers=1MB -c max_connections=60 -c jit=off -c max_wal_size=512MB -c wal_compression=on \
             -c checkpoint_timeout=15min -c autovacuum_naptime=5s -c max_parallel_workers=0 \
             -c io_method=sync -c max_logical_replication_workers=0 \
             -c logging_collector=off -c log_checkpoints=off -c log_error_verbosity=terse {}",
            self.socket_option(),
            memory::shared_buffers_mb(&self.data()),
            self.more_options
        )
    }

    fn put_long_log_aside(&self) {
        let log = self.log_file();
        if log.symlink_metadata().is_ok_and(|found| found.len() > LOG_MAX_BYTES) {
            let _ = std::fs::rename(&log, self.home.join("log.1"));
        }
    }

    async fn pg_ctl(&self, account: &Account, args: &[&str]) -> Result<bool, EmbeddedError> {
        let status = self
            .command("pg_ctl", account)
            .arg("-D")
            .arg(self.data())
            .args(args)
            .status()
            .await
            .map_err(|source| EmbeddedError::Program { program: self.bin.join("pg_ctl"), source })?;
        Ok(status.success())
    }

    fn command(&self, program: &str, account: &Account) -> Command {
        let mut command = Command::new(self.bin.join(program));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env_clear();
        command.envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        // Our working folder may be closed to the database's user. Its own process
        // group keeps a Ctrl-C in the terminal from reaching the database before we have let go of it.
        command.current_dir("/").env("LC_ALL", "C").process_group(0);
        if account.is_left_to {
            command.uid(account.uid).gid(account.gid);
        }
        command
    }
}

/// A program and those that it has started, killed unless they have ended.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        }
    }
}

/// How much room is left on the disk of a folder, in bytes, for users other than root.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    disk_of(folder).map(|(free, _)| free)
}

/// The same, and how large the disk is.
pub fn disk_of(folder: &Path) -> Option<(u64, u64)> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some((disk.f_bavail.saturating_mul(disk.f_frsize), disk.f_blocks.saturating_mul(disk.f_frsize)))
}

/// What a server's file of its process says of it, in the eighth line. That line is written a moment after the socket is opened.
fn says_starting(pid_file: &str) -> bool {
    pid_file.lines().nth(7).is_none_or(|status| status.trim() == "starting")
}

/// A path as it is written in an address.
fn escaped(path: &Path) -> String {
    use std::fmt::Write;
    use std::os::unix::ffi::OsStrExt;
    let mut escaped = String::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                escaped.push(*byte as char);
            }
            other => {
                let _ = write!(escaped, "%{other:02X}");
            }
        }
    }
    escaped
}

fn tail(log: &Path) -> String {
    let text =
        std::fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_accepts_no_connections_yet_is_distinguished_from_one_that_does() {
        let file = |status: &str| format!("17\n/data\n1700000000\n5432\n/socket\n\n  1 2\n{status}\n");
        assert!(says_starting(&file("starting")));
        assert!(!says_starting(&file("ready   ")) && !says_starting(&file("stopping")));
        assert!(says_starting("17\n"), "its socket is open, and its state not written yet");
    }

    #[test]
    fn every_path_is_one_value_of_an_address() {
        assert_eq!(escaped(Path::new("/var/lib/x-1.y_z")), "/var/lib/x-1.y_z");
        assert_eq!(escaped(Path::new("/a b/c&d+e%f#ü")), "/a%20b/c%26d%2Be%25f%23%C3%BC");
    }
}
