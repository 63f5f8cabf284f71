//! `stdio`: bytes between the host and the process that holds the data folder.

use std::process::ExitCode;

use anyhow::bail;
use tokio::io::AsyncWriteExt;

use crate::instance::{Hello, Meeting, Signals, send_line};
use crate::settings::Settings;

pub(crate) async fn run(settings: &Settings) -> anyhow::Result<ExitCode> {
    let namespace = settings.namespace()?.to_string();
    let mut signals = Signals::new()?;
    let stream = Meeting::of(settings)?.connect_or_start(settings).await?;
    let (mut read, mut write) = stream.into_split();
    send_line(&mut write, &Hello::Mcp { namespace }).await?;
    let to_server = async {
        let copied = tokio::io::copy(&mut tokio::io::stdin(), &mut write).await;
        // The host has closed its end: answers under way still come.
        let _ = write.shutdown().await;
        copied
    };
    let mut stdout = tokio::io::stdout();
    let from_server = tokio::io::copy(&mut read, &mut stdout);
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
