//! Real processes: the built binaries, on data folders of their own, spoken to over HTTP and stdio.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use reqwest::RequestBuilder;
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::components_dir;

/// The built executable of this name. `cargo build` makes it beside the test's own folder.
pub fn binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let built = test.parent().and_then(Path::parent).expect("target folder").join(name);
    assert!(built.is_file(), "{} is missing: run `cargo build` first", built.display());
    built
}

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

pub fn kill(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Whether the process runs; one that has ended but was not waited for does not.
pub fn is_alive(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
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

/// Waits until it holds, at most so long.
pub async fn eventually(what: &str, patience: Duration, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + patience;
    while !holds().await {
        assert!(Instant::now() < deadline, "it did not come true in {patience:?}: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A command that has ended.
#[derive(Debug)]
pub struct Ran {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub async fn of(command: &mut Command) -> Self {
        let ended = tokio::time::timeout(Duration::from_secs(60), command.output()).await;
        let output = ended.expect("the command ends in time").expect("the command runs");
        let text = |bytes| String::from_utf8(bytes).expect("the output is UTF-8");
        Self { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// What it printed, as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The one sentence with which it failed.
    pub fn refusal(&self) -> &str {
        assert_eq!(self.status.code(), Some(1), "{self:?}");
        let is_reason =
            |line: &&str| line.starts_with("remembrancer: ") || line.starts_with("remembrancer-bench: ");
        let mut lines = self.stderr.lines().filter(is_reason);
        let line = lines.next().unwrap_or_else(|| panic!("no reason was given: {self:?}"));
        assert!(lines.next().is_none(), "several reasons were given: {self:?}");
        line
    }
}

/// `remembrancer serve` on a free port.
pub struct Server {
    pub child: Child,
    pub url: String,
    client: reqwest::Client,
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port is free").port()
}

/// A client over HTTP. Encryption is of the product's choice, not of the library's.
pub fn http_client() -> reqwest::Client {
    // Another test may have been first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

impl Server {
    pub async fn start(data_dir: &DataDir) -> Self {
        Self::start_with(data_dir.command("remembrancer")).await
    }

    /// Starts `serve` with the command's environment; returns when it listens, which may be before its
    /// database is there.
    pub async fn start_with(command: Command) -> Self {
        Self::start_as(command, &[]).await
    }

    /// The same with flags of `serve`.
    pub async fn start_as(mut command: Command, flags: &[&str]) -> Self {
        let port = free_port();
        let address = format!("127.0.0.1:{port}");
        command.args(["serve", "--bind", &address]).args(flags).stdout(Stdio::null());
        let child = command.spawn().expect("serve starts");
        let mut server = Self { child, url: format!("http://127.0.0.1:{port}/mcp"), client: http_client() };
        let livez = server.url.replace("/mcp", "/livez");
        eventually("serve listens", Duration::from_secs(30), async || {
            assert!(server.child.try_wait().expect("it is watched").is_none(), "serve has ended");
            server.client.get(&livez).send().await.is_ok()
        })
        .await;
        server
    }

    /// A request as MCP clients make it; the test adds what it is about.
    pub fn request(&self) -> RequestBuilder {
        self.request_at(&self.url)
    }

    pub fn request_at(&self, url: &str) -> RequestBuilder {
        self.client
            .post(url)
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Type", "application/json")
            .header("MCP-Protocol-Version", "2025-06-18")
    }

    pub fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// The answer to one JSON-RPC message, `None` when the server cannot be reached.
    pub async fn try_post(&self, message: &Value) -> Option<Value> {
        self.request().json(message).send().await.ok()?.json().await.ok()
    }

    /// The result of a tool call; `None` when the server cannot be reached.
    pub async fn try_call(&self, tool: &str, arguments: Value) -> Option<Value> {
        let answer = self.try_post(&call(tool, arguments)).await?;
        assert!(answer["result"].is_object(), "{tool}: {answer}");
        Some(answer["result"].clone())
    }

    /// Calls a tool; gives its structured answer and whether it is an error.
    pub async fn call(&self, tool: &str, arguments: Value) -> (Value, bool) {
        let result =
            self.try_call(tool, arguments).await.unwrap_or_else(|| panic!("{tool} was not answered"));
        (result["structuredContent"].clone(), result["isError"] == true)
    }

    /// Calls a tool that must succeed.
    pub async fn ask(&self, tool: &str, arguments: Value) -> Value {
        let (answer, is_error) = self.call(tool, arguments).await;
        assert!(!is_error, "{tool}: {answer}");
        answer
    }

    /// Waits until nothing is pending.
    pub async fn settled(&self) {
        eventually("no job is pending", Duration::from_secs(60), async || {
            let (status, _) = self.call("status", json!({})).await;
            status["jobs"].is_object() && status["pending_jobs"] == 0
        })
        .await;
    }

    pub fn pid(&self) -> i32 {
        self.child.id().expect("it runs") as i32
    }

    /// As `kill -9` ends it.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("it is killed");
    }

    /// As a service manager ends it; gives how long that took.
    pub async fn terminate(mut self) -> Duration {
        let started = Instant::now();
        kill(self.pid(), Signal::TERM);
        let status = self.child.wait().await.expect("it ends");
        assert!(status.success(), "{status}");
        started.elapsed()
    }
}

pub fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}})
}

#[expect(clippy::needless_pass_by_value, reason = "arguments are written where they are passed")]
pub fn call(tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// `remembrancer stdio` as a host starts it.
pub struct StdioHost {
    pub child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl StdioHost {
    pub fn start(command: Command) -> Self {
        Self::start_as(command, &[])
    }

    /// The same with flags of `stdio`.
    pub fn start_as(mut command: Command, flags: &[&str]) -> Self {
        command.arg("stdio").args(flags).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("stdio starts");
        let lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
        Self { stdin: child.stdin.take(), child, lines }
    }

    pub async fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    pub async fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it is open");
        stdin.write_all(format!("{line}\n").as_bytes()).await.expect("it is sent");
    }

    pub async fn receive(&mut self) -> Value {
        serde_json::from_str(&self.receive_line().await).expect("JSON")
    }

    pub async fn receive_line(&mut self) -> String {
        let line = tokio::time::timeout(Duration::from_secs(60), self.lines.next_line()).await;
        line.expect("an answer in time").expect("a line").expect("the server is there")
    }

    /// Shakes hands as clients up to 2025-11-25 do.
    pub async fn initialize(&mut self) -> Value {
        self.send(&initialize()).await;
        let answer = self.receive().await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        answer
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.send(&call(tool, arguments)).await;
        self.receive().await["result"].clone()
    }

    /// Closes the host's end; gives the exit status.
    pub async fn close(mut self) -> ExitStatus {
        drop(self.stdin.take());
        self.child.wait().await.expect("it ends")
    }
}
