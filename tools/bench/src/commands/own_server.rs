//! A server of the benchmark's own, with all defaults, and what it takes of the machine.

use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use measuring::machine;
use remembrancer::settings::Settings;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use walkdir::WalkDir;

use super::database::temporary_folder;

/// How long it may take to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// Memory is the proportional set size; `None` where the system does not report it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Footprint {
    /// The server, with the model and the worker in it.
    pub(super) server_bytes: Option<u64>,
    /// All processes of its Postgres.
    pub(super) database_bytes: Option<u64>,
    /// Blocks of all files of the database but its log of changes.
    pub(super) disk_bytes: u64,
    /// Those of the log, which is reused from some size on.
    pub(super) log_bytes: u64,
}

/// A server process on a folder of its own.
pub(super) struct Server {
    child: Child,
    pub(super) url: String,
    folder: TempDir,
}

impl Server {
    pub(super) fn start(settings: &Settings) -> anyhow::Result<Self> {
        let folder = temporary_folder()?;
        let components = settings.components()?;
        if let Some(missing) = components.missing(true).into_iter().next() {
            bail!("{missing}");
        }
        for component in ["runtime", "models"] {
            std::os::unix::fs::symlink(components.data_dir.join(component), folder.path().join(component))?;
        }
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let program = std::env::current_exe()?.with_file_name("remembrancer");
        ensure!(
            program.is_file(),
            "{} is missing: build it too, or name a running server with --url",
            program.display()
        );
        let mut command = Command::new(program);
        // Whatever the caller's settings are, this server has the default ones.
        for (name, _) in std::env::vars_os() {
            let is_setting = name.to_string_lossy().starts_with("REMEMBRANCER_");
            if is_setting || ["DATABASE_URL", "MEMORY_FILE_PATH"].iter().any(|other| name == *other) {
                command.env_remove(&name);
            }
        }
        command.arg("--data-dir").arg(folder.path());
        if let Some(model_dir) = &settings.model.model_dir {
            command.arg("--model-dir").arg(std::path::absolute(model_dir)?);
        }
        let log = std::fs::File::create(log_of(folder.path()))?;
        command.args(["serve", "--bind", &format!("127.0.0.1:{port}")]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        // A Ctrl-C reaches us alone; then the server is stopped in order.
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        Ok(Self { child, url: format!("http://127.0.0.1:{port}/mcp"), folder })
    }

    /// What it takes of the machine, with its database.
    pub(super) fn footprint(&self) -> Footprint {
        let database = self.folder.path().join("postgres");
        let main_process = std::fs::read_to_string(database.join("data/postmaster.pid"));
        let main_process = main_process.ok().and_then(|file| file.lines().next()?.trim().parse().ok());
        let log_bytes = bytes_within(&database.join("data/pg_wal"));
        Footprint {
            server_bytes: self.child.id().and_then(machine::proportional_bytes),
            database_bytes: main_process.and_then(machine::proportional_bytes_of_family),
            disk_bytes: bytes_within(&database).saturating_sub(log_bytes),
            log_bytes,
        }
    }

    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        if let Some(pid) = self.child.id().and_then(|pid| Pid::from_raw(pid as i32)) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let ended =
            tokio::time::timeout(PATIENCE, self.child.wait()).await.context("the server did not end")??;
        if !ended.success() {
            let log = std::fs::read_to_string(log_of(self.folder.path())).unwrap_or_default();
            bail!("the server failed: {}", log.trim());
        }
        self.folder.close().context("the temporary folder could not be removed")
    }
}

fn bytes_within(folder: &Path) -> u64 {
    let files = WalkDir::new(folder).into_iter().flatten().filter_map(|file| file.metadata().ok());
    files.map(|file| file.blocks() * 512).sum()
}

fn log_of(folder: &Path) -> std::path::PathBuf {
    folder.join("server.log")
}
