//! Data folders of tests, and the processes that hold them.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;
use tokio::process::Command;

use super::{Ran, binary, is_alive, kill};
use crate::components_dir;

/// A data folder with the components of `setup` in it. What its processes log is shown when the test fails.
pub struct DataDir(TempDir);

impl DataDir {
    /// Components and nothing else: the first start makes the database.
    pub fn new() -> Self {
        let dir = Self::empty();
        for component in ["runtime", "models"] {
            std::os::unix::fs::symlink(components_dir().join(component), dir.path().join(component))
                .expect("a component is linked");
        }
        dir
    }

    /// A folder whose empty database was made before.
    pub fn warm() -> Self {
        let dir = Self::new();
        copy(&made_database().join("postgres"), &dir.path().join("postgres"));
        dir
    }

    /// Not even the components.
    pub fn empty() -> Self {
        let dir = tempfile::Builder::new().prefix("remembrancer-it-").tempdir().expect("a folder is made");
        // The database's user must get through.
        std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("folder mode");
        Self(dir)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The binary with this data folder and none of the caller's settings.
    pub fn command(&self, name: &str) -> Command {
        let log = std::fs::File::options().create(true).append(true).open(self.path().join("test.log"));
        let mut command = Command::new(binary(name));
        for (key, _) in std::env::vars_os() {
            let key = key.to_string_lossy().into_owned();
            if key.starts_with("REMEMBRANCER_")
                || key.starts_with("QDRANT_")
                || key.starts_with("OTEL_")
                || [
                    "DATABASE_URL",
                    "MEMORY_FILE_PATH",
                    "RUST_LOG",
                    "ORT_DISABLE_TELEMETRY",
                    "MALLOC_MMAP_THRESHOLD_",
                    "MALLOC_CONF",
                ]
                .contains(&key.as_str())
            {
                command.env_remove(key);
            }
        }
        // What is started in the background does not outlive the test for long.
        command.env("REMEMBRANCER_DATA_DIR", self.path()).env("REMEMBRANCER_IDLE_SECONDS", "20");
        command.stdin(Stdio::null()).stderr(log.expect("the log opens")).kill_on_drop(true);
        command
    }

    /// Runs `remembrancer` with these arguments to its end.
    pub async fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command("remembrancer").args(arguments)).await
    }

    /// The address of the embedded database, for looking at rows directly.
    pub fn database_url(&self) -> String {
        format!(
            "postgres://postgres@localhost/postgres?host={}",
            self.path().join("postgres/socket").display()
        )
    }

    pub fn postmaster_pid(&self) -> Option<i32> {
        first_number(&self.path().join("postgres/data/postmaster.pid"))
    }

    /// The processes that hold this folder in the background for others.
    pub fn instances(&self) -> Vec<i32> {
        let folder = self.path().to_string_lossy().into_owned();
        let is_instance = |arguments: &[String]| {
            arguments.contains(&folder) && arguments.last().is_some_and(|a| a == "instance")
        };
        pids().filter(|pid| arguments_of(*pid).is_some_and(|arguments| is_instance(&arguments))).collect()
    }
}

impl Default for DataDir {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for log in ["test.log", "run/embedded.log", "postgres/log"] {
                let text = std::fs::read_to_string(self.path().join(log)).unwrap_or_default();
                eprintln!("--- {log}\n{text}");
            }
        }
        // Whatever still runs on the folder goes with it, also a database that is only starting.
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline {
            self.instances().into_iter().for_each(|pid| kill(pid, Signal::KILL));
            match self.postmaster_pid() {
                Some(pid) if is_alive(pid) => kill(pid, Signal::QUIT),
                _ if std::fs::remove_dir_all(self.path()).is_ok() => return,
                _ => {}
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A folder with a new, migrated database, kept beside the binary that made it until that is built anew.
fn made_database() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let made = binary("remembrancer").with_file_name("test-database");
        let age = |path: &Path| path.metadata().and_then(|m| m.modified()).ok();
        if age(&made) < age(&binary("remembrancer")) {
            make_database(&made);
        }
        made
    })
}

fn make_database(made: &Path) {
    let dir = DataDir::new();
    let mut serve = dir.command("remembrancer").into_std();
    let serve = serve.args(["serve", "--bind", "127.0.0.1:0"]).stdout(Stdio::null());
    let mut serve = serve.spawn().expect("serve starts");
    // Else `status` may be first to hold the folder, by a process that outlives `serve`.
    let deadline = Instant::now() + Duration::from_secs(30);
    while !dir.path().join("run/embedded.sock").exists() {
        assert!(Instant::now() < deadline, "serve did not hold the folder in time");
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut status = dir.command("remembrancer").into_std();
    let status = status.arg("status").output().expect("status runs");
    let shown = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(shown.contains(": healthy"), "no database could be made: {shown}");
    kill(serve.id() as i32, Signal::TERM);
    assert!(serve.wait().expect("serve ends").success(), "serve did not end well");
    let fresh = made.with_extension(std::process::id().to_string());
    std::fs::create_dir_all(&fresh).expect("a folder is made");
    copy(&dir.path().join("postgres"), &fresh.join("postgres"));
    let _ = std::fs::remove_file(fresh.join("postgres/log"));
    let _ = std::fs::remove_dir_all(made);
    std::fs::rename(&fresh, made).expect("the database is kept");
}

fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp runs");
    assert!(copied.success(), "{} could not be copied", from.display());
}

fn first_number(file: &Path) -> Option<i32> {
    std::fs::read_to_string(file).ok()?.lines().next()?.trim().parse().ok()
}

fn pids() -> impl Iterator<Item = i32> {
    let processes = std::fs::read_dir("/proc").expect("processes are listed");
    processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn arguments_of(pid: i32) -> Option<Vec<String>> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(
        bytes
            .split(|b| *b == 0)
            .filter(|a| !a.is_empty())
            .map(|a| String::from_utf8_lossy(a).into_owned())
            .collect(),
    )
}
