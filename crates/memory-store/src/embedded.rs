//! The embedded Postgres: a server of its own in the data folder, reached through a private socket.
//!
//! One process a data folder calls this (it holds the folder's lock). The server runs apart from that
//! process: killed together or alone, either finds the other again at the next start.

use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::net::UnixStream;
use tokio::process::Command;

/// Postgres refuses to run as root; then its processes are this user's.
const NOBODY: (u32, u32) = (65_534, 65_534);
/// How long a start is tried: after a hard kill the old server may take a while to be gone.
const START_TIMEOUT: Duration = Duration::from_secs(40);
/// A socket's path must fit the kernel's 107 bytes.
const SOCKET_DIR_MAX_BYTES: usize = 107 - "/.s.PGSQL.5432".len();

#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    #[error("the data folder {folder} cannot be used: {source}; choose another with --data-dir")]
    Folder { folder: PathBuf, source: io::Error },
    #[error(
        "Postgres cannot run as root and its user 'nobody' cannot enter {folder}; \
         choose a data folder outside private homes with --data-dir, or run as an ordinary user"
    )]
    Unreachable { folder: PathBuf },
    #[error("{program} could not be run: {source}; run `remembrancer setup` again")]
    Program { program: PathBuf, source: io::Error },
    #[error("the database could not be set up: {0}")]
    Init(String),
    #[error("the database did not start; its log is {log}. Last lines:\n{tail}")]
    Start { log: PathBuf, tail: String },
}

/// Where an embedded server lives.
#[derive(Debug, Clone)]
pub struct EmbeddedPostgres {
    bin: PathBuf,
    home: PathBuf,
    socket_dir: PathBuf,
    run_as: Option<(u32, u32)>,
    more_options: String,
}

impl EmbeddedPostgres {
    /// A server whose programs are in `bin` and whose data is in `home`.
    pub fn new(bin: PathBuf, home: PathBuf) -> Self {
        let run_as = rustix::process::geteuid().is_root().then_some(NOBODY);
        let socket_dir = socket_dir(&home);
        Self { bin, home, socket_dir, run_as, more_options: String::new() }
    }

    /// More `-c name=value` options of the server, such as a test that can lose its data wants.
    #[must_use]
    pub fn with_options(mut self, options: impl Into<String>) -> Self {
        self.more_options = options.into();
        self
    }

    pub fn url(&self) -> String {
        format!("postgres://postgres@localhost/postgres?host={}", self.socket_dir.display())
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

    /// The server's main process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        let file = std::fs::read_to_string(self.data().join("postmaster.pid")).ok()?;
        file.lines().next()?.trim().parse().ok()
    }

    /// Starts the server unless it runs, and makes its database first if there is none.
    pub async fn start(&self) -> Result<(), EmbeddedError> {
        if self.is_running().await {
            return Ok(());
        }
        self.prepare_folders()?;
        if !self.data().join("PG_VERSION").exists() {
            self.initialise().await?;
        }
        let deadline = Instant::now() + START_TIMEOUT;
        let mut pause = Duration::from_millis(100);
        loop {
            let done = self
                .pg_ctl(&[
                    "-w",
                    "-t",
                    "30",
                    "-l",
                    &self.log_file().to_string_lossy(),
                    "-o",
                    &self.options(),
                    "start",
                ])
                .await?;
            if done || self.is_running().await {
                return Ok(());
            }
            if Instant::now() + pause > deadline {
                return Err(EmbeddedError::Start { log: self.log_file(), tail: tail(&self.log_file()) });
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(4));
        }
    }

    /// Ends the server, waiting until its data is safe on disk.
    pub async fn stop(&self) -> Result<(), EmbeddedError> {
        self.pg_ctl(&["-m", "fast", "-w", "-t", "20", "stop"]).await?;
        Ok(())
    }

    /// The server accepts connections on its socket.
    pub async fn is_running(&self) -> bool {
        UnixStream::connect(self.socket_dir.join(".s.PGSQL.5432")).await.is_ok()
    }

    fn options(&self) -> String {
        // fsync, full_page_writes and synchronous_commit stay on: what was acknowledged survives a crash. A young
        // database is analysed within seconds: without statistics a recall takes twice as long.
        format!(
            "-c listen_addresses='' -c unix_socket_directories='{}' -c unix_socket_permissions=0700 \
             -c shared_buffers=256MB -c max_connections=60 -c jit=off -c max_wal_size=512MB -c wal_compression=on \
             -c checkpoint_timeout=15min -c autovacuum_naptime=5s -c max_parallel_workers=0 \
             -c logging_collector=off -c log_checkpoints=off {}",
            self.socket_dir.display(),
            self.more_options
        )
    }

    fn prepare_folders(&self) -> Result<(), EmbeddedError> {
        for folder in [&self.home, &self.socket_dir] {
            let refused = |source| EmbeddedError::Folder { folder: folder.clone(), source };
            if !folder.exists() {
                std::fs::DirBuilder::new().recursive(true).mode(0o755).create(folder).map_err(refused)?;
            }
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).map_err(refused)?;
            if let Some((uid, gid)) = self.run_as {
                chown(folder, Some(uid), Some(gid)).map_err(refused)?;
            }
        }
        if self.run_as.is_some() {
            for folder in [&self.home, &self.bin] {
                let resolved = folder.canonicalize().unwrap_or_else(|_| folder.clone());
                if let Some(closed) = resolved.ancestors().skip(1).find(|a| !open_to_all(a)) {
                    return Err(EmbeddedError::Unreachable { folder: closed.to_owned() });
                }
            }
        }
        Ok(())
    }

    async fn initialise(&self) -> Result<(), EmbeddedError> {
        let fresh = self.home.join("data.new");
        if fresh.exists() {
            std::fs::remove_dir_all(&fresh)
                .map_err(|source| EmbeddedError::Folder { folder: fresh.clone(), source })?;
        }
        let output = self
            .command("initdb")
            .args(["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale-provider=builtin"])
            .args(["--locale=C.UTF-8", "--no-instructions", "-D"])
            .arg(&fresh)
            .stderr(Stdio::piped())
            .output()
            .await
            .map_err(|source| EmbeddedError::Program { program: self.bin.join("initdb"), source })?;
        if !output.status.success() {
            return Err(EmbeddedError::Init(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        // The rename is what makes the database exist; a start cut short before it begins anew.
        std::fs::rename(&fresh, self.data())
            .map_err(|source| EmbeddedError::Folder { folder: self.data(), source })
    }

    async fn pg_ctl(&self, args: &[&str]) -> Result<bool, EmbeddedError> {
        let status = self
            .command("pg_ctl")
            .arg("-D")
            .arg(self.data())
            .args(args)
            .status()
            .await
            .map_err(|source| EmbeddedError::Program { program: self.bin.join("pg_ctl"), source })?;
        Ok(status.success())
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // The working folder of whoever started us may be closed to the database's user. Its own process
        // group keeps a Ctrl-C in the terminal from reaching the database before we have let go of it.
        command.current_dir("/").env("LC_ALL", "C").process_group(0);
        if let Some((uid, gid)) = self.run_as {
            command.uid(uid).gid(gid);
        }
        command
    }
}

/// How much room is left on the disk of a folder, in bytes, for who is not root.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// The socket stands in the home folder, or, where that path is too long for a socket, in the temporary folder under a name
/// made from it.
fn socket_dir(home: &Path) -> PathBuf {
    let beside = home.join("socket");
    if beside.as_os_str().len() <= SOCKET_DIR_MAX_BYTES {
        return beside;
    }
    let hash = memory_core::id::ContentHash::of(&home.to_string_lossy());
    let name =
        hash.candidate_ids().next().map_or_else(String::new, |id| id.0.replace("art_", "remembrancer-pg-"));
    std::env::temp_dir().join(name)
}

fn open_to_all(folder: &Path) -> bool {
    folder.metadata().is_ok_and(|m| m.mode() & 0o001 != 0 || m.uid() == NOBODY.0)
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
    fn a_socket_path_always_fits_the_kernel() {
        let near = socket_dir(Path::new("/var/lib/remembrancer/postgres"));
        assert_eq!(near, Path::new("/var/lib/remembrancer/postgres/socket"));
        let far = socket_dir(&PathBuf::from(format!("/{}", "x".repeat(200))));
        assert!(far.as_os_str().len() <= SOCKET_DIR_MAX_BYTES, "{}", far.display());
    }
}
