//! `stdio`: lines between the host and the process that holds the data folder.

use std::process::ExitCode;

use anyhow::bail;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

use crate::instance::{Hello, Meeting, Signals, send_line};
use crate::settings::{Settings, graph_file};
use crate::tools::ToolSettings;

pub(crate) async fn run(settings: &Settings, tools: ToolSettings) -> anyhow::Result<ExitCode> {
    tools.check()?;
    let namespace = settings.namespace()?.to_string();
    let graph_file = graph_file()?;
    let mut signals = Signals::new()?;
    let stream = Meeting::of(settings)?.connect_or_start(settings).await?;
    let (read, mut write) = stream.into_split();
    send_line(&mut write, &Hello::Mcp { namespace, tools, graph_file, in_bulk: false }).await?;
    // Both directions may have a line for the host; each is written whole.
    let stdout = Mutex::new(tokio::io::stdout());
    let to_server = async {
        let forwarded = each_line(tokio::io::stdin(), async |line| match fault(line) {
            None => write.write_all(line).await,
            Some(answer) => tell(&stdout, &answer).await,
        });
        let forwarded = forwarded.await;
        // The host has closed its end: answers under way still come.
        let _ = write.shutdown().await;
        forwarded
    };
    let from_server = each_line(read, async |line| tell(&stdout, line).await);
    tokio::pin!(to_server, from_server);
    let mut host_is_gone = false;
    loop {
        tokio::select! {
            sent = &mut to_server, if !host_is_gone => { sent?; host_is_gone = true; }
            received = &mut from_server => {
                received?;
                if host_is_gone {
                    return Ok(ExitCode::SUCCESS);
                }
                bail!("the memory's process has ended; start this again");
            }
            () = signals.any() => return Ok(ExitCode::SUCCESS),
        }
    }
}

async fn each_line(
    from: impl AsyncRead + Unpin,
    mut forward: impl AsyncFnMut(&[u8]) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut from = BufReader::with_capacity(64 * 1024, from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).await? > 0 {
        forward(&line).await?;
        line.clear();
    }
    Ok(())
}

async fn tell(stdout: &Mutex<tokio::io::Stdout>, line: &[u8]) -> std::io::Result<()> {
    let mut stdout = stdout.lock().await;
    stdout.write_all(line).await?;
    stdout.flush().await
}

/// What a call is told whose line is no JSON that can be taken in: the server would drop it unanswered, and
/// the host would wait. Skipping values tolerates what reading them does not, so the id is found.
fn fault(line: &[u8]) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct Envelope {
        id: Value,
    }
    let error = serde_json::from_slice::<Value>(line).err()?;
    let Envelope { id } = serde_json::from_slice(line).ok()?;
    let message = format!("Parse error: {error}");
    let answer = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32700, "message": message } });
    Some(format!("{answer}\n").into_bytes())
}
