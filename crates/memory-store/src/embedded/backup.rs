//! Copies of the running server's data, as it makes these itself for its replicas, and their way back.

use std::os::unix::fs::{PermissionsExt, lchown};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use futures::future::BoxFuture;
use rustix::process::Pid;
use walkdir::WalkDir;

use super::account::Account;
use super::folders::FRESH;
use super::{EmbeddedError, EmbeddedPostgres, Group, SOCKET};
use crate::own_folder::{FolderFault, OwnFolder};

/// How much of a program's error output is shown.
const OUTPUT_MAX_BYTES: usize = 2_000;

#[derive(Debug, thiserror::Error)]
pub enum BackupFailure {
    #[error("{program} is missing at {folder}; run `remembrancer setup`, which fetches it")]
    NoProgram { program: &'static str, folder: PathBuf },
    #[error("{program} failed: {output}")]
    Program { program: &'static str, output: String },
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
    #[error(transparent)]
    Folder(#[from] FolderFault),
    #[error("{path} cannot be read: {source}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path} cannot be written: {source}")]
    Write { path: PathBuf, source: std::io::Error },
}

/// The major version of the server whose data a folder is.
pub fn major_of(data: &Path) -> Option<u32> {
    std::fs::read_to_string(data.join("PG_VERSION")).ok()?.trim().parse().ok()
}

impl EmbeddedPostgres {
    /// Makes use of the server that another process of ours has started.
    pub fn attach(&self) -> Result<(), EmbeddedError> {
        let socket = OwnFolder::open(&self.home.join("socket"))?;
        socket.for_socket(SOCKET)?;
        let _ = self.socket.set(socket);
        Ok(())
    }

    /// The major version of the data; none where there is no database yet.
    pub fn data_major(&self) -> Option<u32> {
        major_of(&self.data())
    }

    /// The major version of the programs.
    pub fn program_major(&self) -> BoxFuture<'_, Result<u32, BackupFailure>> {
        Box::pin(async move {
            let mut command = self.own_command("postgres");
            let output = command.arg("--version").stdout(Stdio::piped()).output().await;
            let failed = |output: String| BackupFailure::Program { program: "postgres", output };
            let output = output.map_err(|error| failed(error.to_string()))?;
            // postgres (PostgreSQL) 18.6
            let shown = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            let version =
                shown.split_whitespace().last().and_then(|version| version.split('.').next()?.parse().ok());
            version.ok_or_else(|| failed(format!("its version is not known: {shown}")))
        })
    }

    /// Copies the data of the running server into a folder that is not there yet. Dropping the future ends the copy;
    /// the caller has to remove what was written.
    pub fn base_backup<'a>(&'a self, to: &'a Path) -> BoxFuture<'a, Result<(), BackupFailure>> {
        Box::pin(async move {
            self.need("pg_basebackup")?;
            // When we are killed nothing reads its progress any more, and it ends too.
            let arguments = [
                "--username=postgres",
                "--no-password",
                "--format=plain",
                "--wal-method=stream",
                "--progress",
            ];
            let mut command = self.own_command("pg_basebackup");
            command.args(arguments).args(["--checkpoint=fast", "--manifest-checksums=SHA256", "--host"]);
            command.arg(self.socket_for_programs()).arg("--port=5432").arg("--pgdata").arg(to);
            run("pg_basebackup", command).await
        })
    }

    /// Compares a copy with what the server said of it, and reads the log that makes it consistent.
    pub fn verify_backup<'a>(&'a self, folder: &'a Path) -> BoxFuture<'a, Result<(), BackupFailure>> {
        Box::pin(async move {
            self.need("pg_verifybackup")?;
            // The program runs in another folder than this process.
            let absolute = std::path::absolute(folder)
                .map_err(|source| BackupFailure::Read { path: folder.to_owned(), source })?;
            let mut command = self.own_command("pg_verifybackup");
            command.arg("--quiet").arg(absolute);
            run("pg_verifybackup", command).await
        })
    }

    /// Where a program of ours finds the socket, for which a path through our own open files leads elsewhere.
    pub(super) fn socket_for_programs(&self) -> PathBuf {
        let socket = self.socket_folder();
        match socket.strip_prefix("/proc/self") {
            Ok(inside) => PathBuf::from(format!("/proc/{}", std::process::id())).join(inside),
            Err(_) => socket,
        }
    }

    fn need(&self, program: &'static str) -> Result<(), BackupFailure> {
        if self.bin.join(program).is_file() {
            return Ok(());
        }
        Err(BackupFailure::NoProgram { program, folder: self.bin.clone() })
    }

    /// Runs as the user of this process: what it writes belongs to that user alone, not to the server's.
    pub(super) fn own_command(&self, program: &str) -> tokio::process::Command {
        let us = Account { uid: 0, gid: 0, is_left_to: false };
        let mut command = self.command(program, &us);
        command.kill_on_drop(true);
        command
    }

    /// Has a copy, which the folder `data` is, become the data of a server that has none: the files are given to the
    /// server's user. Nothing is started.
    pub fn take_over(&self, data: &Path) -> Result<(), BackupFailure> {
        let account = Account::of(&self.home)?;
        self.prepare_folders(&account)?;
        let written = |path: &Path| {
            let path = path.to_owned();
            move |source| BackupFailure::Write { path, source }
        };
        for entry in WalkDir::new(data) {
            let entry = entry.map_err(|error| written(data)(error.into()))?;
            let mode = match entry.file_type() {
                kind if kind.is_dir() => 0o700,
                kind if kind.is_file() => 0o600,
                _ => continue,
            };
            std::fs::set_permissions(entry.path(), std::fs::Permissions::from_mode(mode))
                .map_err(written(entry.path()))?;
            if account.is_left_to {
                lchown(entry.path(), Some(account.uid), Some(account.gid)).map_err(written(entry.path()))?;
            }
        }
        std::fs::rename(data, self.data()).map_err(written(&self.data()))
    }

    /// Where a copy is put before [`take_over`](Self::take_over): a start removes what was left there.
    pub fn staging(&self) -> PathBuf {
        self.home.join(format!("{FRESH}-restored"))
    }
}

/// Waits for a program; a failure has what it wrote to standard error.
pub(super) async fn run(
    program: &'static str,
    mut command: tokio::process::Command,
) -> Result<(), BackupFailure> {
    let failed = |output: String| BackupFailure::Program { program, output };
    let child = command.stderr(Stdio::piped()).spawn().map_err(|error| failed(error.to_string()))?;
    // It has children of its own.
    let mut group = Group(child.id().and_then(|pid| Pid::from_raw(pid as i32)));
    let output = child.wait_with_output().await.map_err(|error| failed(error.to_string()))?;
    group.0 = None;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    // Other lines are its progress.
    let lines = errors.lines().map(str::trim).filter(|line| line.starts_with(program));
    let mut errors = lines.collect::<Vec<&str>>().join("; ");
    if let Some((at, _)) = errors.char_indices().find(|(at, _)| *at > OUTPUT_MAX_BYTES) {
        errors.truncate(at);
    }
    Err(failed(errors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_copy_is_verified_where_its_path_leads_from_the_folder_of_this_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("pg_verifybackup");
        std::fs::write(&program, "#!/bin/sh\ntest -f \"$2/backup.rs\"\n").expect("it is written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).expect("it is executable");
        let postgres = EmbeddedPostgres::new(folder.path().to_owned(), folder.path().join("home"));
        let verified = postgres.verify_backup(Path::new("src/embedded")).await;
        assert!(verified.is_ok(), "{verified:?}");
        assert!(postgres.verify_backup(Path::new("src")).await.is_err());
    }
}
