//! Real processes: the built binaries, on data folders of their own, spoken to over HTTP and stdio.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::pieces_dir;

/// The built executable of this name. `cargo build` makes it beside the test's own folder.
pub fn binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let built = test.parent().and_then(Path::parent).expect("target folder").join(name);
    assert!(built.is_file(), "{} is missing: run `cargo build` first", built.display());
    built
}

/// A data folder with the pieces of `setup` in it and nothing else.
pub struct DataDir(TempDir);

impl DataDir {
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("remembrancer-it-").tempdir().expect("a folder is made");
        // The database's user must get through.
        std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("folder mode");
        for piece in ["runtime", "models"] {
            std::os::unix::fs::symlink(pieces_dir().join(piece), dir.path().join(piece)).expect("a piece is linked");
        }
        Self(dir)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The binary with this data folder and none of the caller's settings.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(binary(name));
        for (key, _) in std::env::vars_os() {
            let key = key.to_string_lossy().into_owned();
            if key.starts_with("REMEMBRANCER_") || key == "DATABASE_URL" || key == "RUST_LOG" {
                command.env_remove(key);
            }
        }
        command.env("REMEMBRANCER_DATA_DIR", self.path()).stdin(Stdio::null()).kill_on_drop(true);
        command
    }
}

impl Default for DataDir {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        // Whatever still runs on the folder goes with it.
        for pid in ["postgres/data/postmaster.pid"].map(|f| self.path().join(f)) {
            if let Some(pid) = first_number(&pid) {
                kill(pid, rustix::process::Signal::QUIT);
            }
        }
    }
}

fn first_number(file: &Path) -> Option<i32> {
    std::fs::read_to_string(file).ok()?.lines().next()?.trim().parse().ok()
}

pub fn kill(pid: i32, signal: rustix::process::Signal) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// The process id of the embedded database of a data folder.
pub fn postmaster_pid(data_dir: &Path) -> Option<i32> {
    first_number(&data_dir.join("postgres/data/postmaster.pid"))
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

impl Server {
    pub async fn start(data_dir: &DataDir) -> Self {
        Self::start_with(data_dir.command("remembrancer")).await
    }

    /// Starts `serve` with the command's environment; returns when it answers `initialize`.
    pub async fn start_with(mut command: Command) -> Self {
        let port = free_port();
        let child = command
            .args(["serve", "--bind", &format!("127.0.0.1:{port}")])
            .stdout(Stdio::null())
            .spawn()
            .expect("serve starts");
        let server =
            Self { child, url: format!("http://127.0.0.1:{port}/mcp"), client: reqwest::Client::new() };
        let deadline = Instant::now() + Duration::from_secs(30);
        while server.try_post(&initialize()).await.is_none() {
            assert!(Instant::now() < deadline, "serve does not answer");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        server
    }

    /// The answer to one JSON-RPC message, `None` when the server cannot be reached.
    pub async fn try_post(&self, message: &Value) -> Option<Value> {
        let request = self
            .client
            .post(&self.url)
            .header("Accept", "application/json, text/event-stream")
            .header("MCP-Protocol-Version", "2025-06-18")
            .json(message);
        request.send().await.ok()?.json().await.ok()
    }

    /// Calls a tool; gives its structured answer and whether it is an error.
    pub async fn call(&self, tool: &str, arguments: Value) -> (Value, bool) {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
        let answer = self.try_post(&message).await.unwrap_or_else(|| panic!("{tool} was not answered"));
        let result = &answer["result"];
        assert!(result.is_object(), "{tool}: {answer}");
        (result["structuredContent"].clone(), result["isError"] == true)
    }

    /// Waits until nothing is pending.
    pub async fn settled(&self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let (status, _) = self.call("status", json!({})).await;
            if status["jobs"].is_object() && status["pending_jobs"] == 0 {
                return;
            }
            assert!(Instant::now() < deadline, "jobs stay pending: {status}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
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
        kill(self.pid(), rustix::process::Signal::TERM);
        self.child.wait().await.expect("it ends");
        started.elapsed()
    }
}

pub fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}})
}

/// `remembrancer stdio` as a host starts it.
pub struct StdioHost {
    pub child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl StdioHost {
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .arg("stdio")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("stdio starts");
        let lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
        Self { stdin: child.stdin.take(), child, lines }
    }

    pub async fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().expect("it is open");
        stdin.write_all(format!("{message}\n").as_bytes()).await.expect("it is sent");
    }

    pub async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(60), self.lines.next_line()).await.expect("an answer in time");
        serde_json::from_str(&line.expect("a line").expect("the server is there")).expect("JSON")
    }

    /// Shakes hands as clients up to 2025-11-25 do.
    pub async fn initialize(&mut self) -> Value {
        self.send(&initialize()).await;
        let answer = self.receive().await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        answer
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})).await;
        self.receive().await["result"].clone()
    }

    /// Closes the host's end; gives the exit status.
    pub async fn close(mut self) -> std::process::ExitStatus {
        drop(self.stdin.take());
        self.child.wait().await.expect("it ends")
    }
}
