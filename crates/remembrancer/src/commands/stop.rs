//! `stop`: ends the process that others started in the background.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::daemon::{ClientRequest, OWN, send_line};
use crate::instance_paths::InstancePaths;
use crate::settings::Settings;

/// How long a process that starts is given to open its socket, and one that ends to end.
const PATIENCE: Duration = Duration::from_secs(20);
const LAST_MOMENTS: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: StopArgs) -> anyhow::Result<ExitCode> {
    let data_dir = settings.data_dir()?;
    // Where nothing ever ran nothing is made.
    let stopped = if data_dir.join("run").exists() {
        stop(&InstancePaths::of(settings)?, &data_dir).await?
    } else {
        None
    };
    match stopped {
        _ if args.json => {
            let (pid, servers) = stopped.unzip();
            let mut done = json!({ "stopped": pid.is_some(), "pid": pid });
            if let Some(servers) = servers.filter(|servers| !servers.is_empty()) {
                done["servers"] = json!(servers);
            }
            println!("{done}");
        }
        Some((pid, servers)) => println!("{}", ended(pid, &servers)),
        None => println!("Nothing runs in the background on {}.", data_dir.display()),
    }
    Ok(ExitCode::SUCCESS)
}

fn ended(pid: i32, servers: &[String]) -> String {
    let with_it = match servers {
        [] => String::new(),
        [server] => format!(", and with it the server at {server}: start `serve` again"),
        servers => format!(", and with it the servers at {}: start `serve` again", servers.join(" and ")),
    };
    format!("The process in the background ({pid}) has ended{with_it}.")
}

/// Ends the process and waits until it is gone; gives its id and where it listened for others, or none where there was no process.
async fn stop(paths: &InstancePaths, data_dir: &Path) -> anyhow::Result<Option<(i32, Vec<String>)>> {
    let deadline = Instant::now() + PATIENCE;
    let holder = loop {
        // Checked first: taking the lock of an unused folder would make one.
        if !paths.lock_file().exists() || paths.try_lock()?.is_some() {
            return Ok(None);
        }
        if let Some(holder) = holder(paths).await {
            break holder;
        }
        if Instant::now() > deadline {
            bail!(
                "a process holds {} but does not answer; its log is {}",
                data_dir.display(),
                paths.log.display()
            );
        }
        tokio::time::sleep(PAUSE).await;
    };
    let (pid, is_own) = holder;
    if is_own {
        bail!(
            "{} is held by a `serve` that was not started in the background (process {pid}): end it where it runs, with \
             Ctrl-C or `kill {pid}`",
            data_dir.display()
        );
    }
    let process = Pid::from_raw(pid).context("the process has no id")?;
    // One of another version does not say.
    let asked = tokio::time::timeout(LAST_MOMENTS, listeners(paths)).await;
    let servers = asked.ok().and_then(Result::ok).unwrap_or_default();
    match kill_process(process, Signal::TERM) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => {}
        Err(error) => bail!("process {pid} cannot be ended: {error}; the user that started it can"),
    }
    let deadline = Instant::now() + PATIENCE;
    while paths.try_lock()?.is_none() {
        if Instant::now() > deadline {
            bail!(
                "process {pid} was sent SIGTERM and has not ended; its log is {}; `kill -9 {pid}` loses nothing that was accepted",
                paths.log.display()
            );
        }
        tokio::time::sleep(PAUSE).await;
    }
    // It has let go of the folder and is about to be gone; one that its parent does not wait for stays in the table of processes.
    let deadline = Instant::now() + LAST_MOMENTS;
    while rustix::process::test_kill_process(process).is_ok() && Instant::now() < deadline {
        tokio::time::sleep(PAUSE).await;
    }
    Ok(Some((pid, servers)))
}

/// Where the process listens for others.
async fn listeners(paths: &InstancePaths) -> anyhow::Result<Vec<String>> {
    let mut stream = paths.connect().await?.context("no process listens")?;
    send_line(&mut stream, &ClientRequest::Listeners).await?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).await?;
    Ok(serde_json::from_str(&line)?)
}

/// The process that listens on the socket, and whether it was started by hand. None while it is starting or ending: the
/// lock file may then be of the one before.
async fn holder(paths: &InstancePaths) -> Option<(i32, bool)> {
    let pid = paths.connect().await.ok()??.peer_cred().ok()?.pid()?;
    let recorded = std::fs::read_to_string(paths.lock_file()).ok()?;
    let (recorded_pid, kind) = recorded.trim().split_once(' ')?;
    (recorded_pid == pid.to_string()).then(|| (pid, kind == OWN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_end_with_the_process_are_named() {
        assert_eq!(ended(7, &[]), "The process in the background (7) has ended.");
        let servers = ["localhost:3100".to_owned(), "localhost:3101".to_owned()];
        assert!(
            ended(7, &servers[..1]).contains("with it the server at localhost:3100: start `serve` again.")
        );
        assert!(ended(7, &servers).contains("the servers at localhost:3100 and localhost:3101"));
    }
}
