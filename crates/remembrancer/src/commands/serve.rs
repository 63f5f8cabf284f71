//! `serve`: hold the data folder and listen, or have the process that holds it listen for us.

use std::process::ExitCode;

use anyhow::bail;
use memory_telemetry::{logs, traces};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::daemon::{ClientRequest, Daemon, ListenReply, Signals, send_line};
use crate::http::ListenOptions;
use crate::instance_paths::InstancePaths;
use crate::settings::{ListenSettings, Settings, graph_file, token, warn_of_open_secrets};
use crate::setup::Component;
use crate::tools::ToolSettings;

pub(crate) async fn run(
    settings: Settings,
    listen: ListenSettings,
    tools: ToolSettings,
) -> anyhow::Result<ExitCode> {
    // First of all: a signal that comes now is not lost, and does not kill.
    let signals = Signals::new()?;
    tools.check()?;
    listen.oauth.check()?;
    warn_of_open_secrets();
    let shown_settings = settings.shown(&listen, &tools);
    let options = ListenOptions {
        dashboard: listen.dashboard == "on",
        shown_settings,
        bind: listen.bind,
        allowed_hosts: listen.allowed_hosts,
        token: token()?,
        namespace: settings.namespace()?.to_string(),
        tools,
        graph_file: graph_file()?,
        max_connections: listen.max_connections as usize,
        connections_per_address: listen.connections_per_address as usize,
        trusted_proxies: listen.trusted_proxies,
        requests_per_minute: listen.requests_per_minute,
        metrics_bind: listen.metrics_bind.filter(|bind| !bind.trim().is_empty()),
        oauth: listen.oauth,
    };
    let needs_postgres = settings.store.database_url.is_none();
    let paths = InstancePaths::of(&settings)?;
    let lock = paths.try_lock()?;
    let missing = settings.components()?.missing(needs_postgres);
    if let Some(missing) = missing.iter().find(|missing| missing.component == Component::Postgres) {
        bail!("{missing}");
    }
    for missing in missing {
        logs::say(&format!("remembrancer: {missing}; until then texts are found by their words only"));
    }
    match lock {
        Some(lock) => {
            trace()?;
            let ran = Daemon::new(settings, paths, lock).run(signals, Some(options), false).await;
            traces::shut_down().await;
            ran?;
            Ok(ExitCode::SUCCESS)
        }
        None => attach(&settings, &paths, signals, options).await,
    }
}

/// The process that other commands start in the background.
pub(crate) async fn run_instance(settings: Settings) -> anyhow::Result<ExitCode> {
    let signals = Signals::new()?;
    warn_of_open_secrets();
    let paths = InstancePaths::of(&settings)?;
    // Two clients may start one at the same time; the second is not needed.
    if let Some(lock) = paths.try_lock()? {
        trace()?;
        let ran = Daemon::new(settings, paths, lock).run(signals, None, true).await;
        traces::shut_down().await;
        ran?;
    }
    Ok(ExitCode::SUCCESS)
}

fn trace() -> anyhow::Result<()> {
    Ok(traces::install("remembrancer", env!("CARGO_PKG_VERSION"))?)
}

/// Another process holds the data folder: it opens our listener beside its own, until we end.
async fn attach(
    settings: &Settings,
    paths: &InstancePaths,
    mut signals: Signals,
    options: ListenOptions,
) -> anyhow::Result<ExitCode> {
    let (read, mut write) = paths.connect_or_start(settings).await?.into_split();
    send_line(&mut write, &ClientRequest::Listen(Box::new(options))).await?;
    let mut lines = BufReader::new(read).lines();
    match lines.next_line().await?.map(|line| serde_json::from_str(&line)).transpose()? {
        Some(ListenReply::Listening(address)) => {
            logs::say(&format!(
                "Remembrancer serves MCP at http://{address}/mcp (by the process that already holds this data folder)"
            ));
        }
        Some(ListenReply::Refused(reason)) => bail!("{reason}"),
        None => bail!("the process that holds this data folder is stopping; try again"),
    }
    tokio::select! {
        () = signals.any() => Ok(ExitCode::SUCCESS),
        _ = lines.next_line() => bail!("the process that holds this data folder has ended; start `serve` again"),
    }
}
