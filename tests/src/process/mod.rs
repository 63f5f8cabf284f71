//! Real processes: the built binaries, on data folders of their own, spoken to over HTTP and stdio.

mod data_dir;
mod stdio_host;

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use reqwest::RequestBuilder;
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

pub use data_dir::DataDir;
pub use stdio_host::StdioHost;

/// The built executable of this name. `cargo build` makes it beside the test's own folder.
pub fn binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let built = test.parent().and_then(Path::parent).expect("target folder").join(name);
    assert!(built.is_file(), "{} is missing: run `cargo build` first", built.display());
    built
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
