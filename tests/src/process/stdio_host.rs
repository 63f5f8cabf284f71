//! A host that starts `remembrancer stdio`.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::{call, initialize};

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
