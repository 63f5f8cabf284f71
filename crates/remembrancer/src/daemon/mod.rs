//! One process a data folder holds the database, the model and the worker. Others reach it over a private
//! socket: the first line is a [`ClientRequest`], what follows is MCP, or lines of JSON.

mod clients;
mod socket;
mod start;
mod wire;

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use memory_engine::readiness;
use memory_telemetry::logs;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::boot::{Booted, Mismatch};
use crate::http::{self, ListenOptions, Listening};
use crate::instance_paths::InstancePaths;
use crate::reembed::Reembedder;
use crate::settings::Settings;
use crate::tools::ToolRegistry;
use clients::Clients;
use start::Start;

pub(crate) use wire::{ClientRequest, HoldReply, ListenReply, send_line};

/// How long a stopping process lets its clients' calls finish.
const PATIENCE: Duration = Duration::from_secs(2);
/// The marks in the lock file for a process that a user started and for one that clients started in the background.
pub(crate) const OWN: &str = "serve";
const IN_BACKGROUND: &str = "background";
/// How long until a process in the background, whose memory could not be started, tries again.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);

/// The process that holds the data folder.
pub(crate) struct Daemon {
    settings: Settings,
    paths: InstancePaths,
    lock: File,
    registry: Arc<ToolRegistry>,
    reembedder: Arc<Reembedder>,
    announce: readiness::Announce,
    stop: CancellationToken,
    clients: Arc<Clients>,
}

impl Daemon {
    pub(crate) fn new(settings: Settings, paths: InstancePaths, lock: File) -> Self {
        let (announce, watch) = readiness::channel();
        Self {
            reembedder: Arc::new(Reembedder::new(settings.model.clone(), announce.clone())),
            settings,
            paths,
            lock,
            registry: ToolRegistry::new(watch),
            announce,
            stop: CancellationToken::new(),
            clients: Arc::new(Clients::new()),
        }
    }

    /// Serves until a signal, or, in the background, until no client was connected for the seconds that are set.
    pub(crate) async fn run(
        self,
        mut signals: Signals,
        listen: Option<ListenOptions>,
        ends_when_idle: bool,
    ) -> anyhow::Result<()> {
        self.record_holder(if ends_when_idle { IN_BACKGROUND } else { OWN })?;
        self.paths.record(&self.settings.of_the_process())?;
        let socket = self.paths.listen()?;
        let listening = match listen {
            Some(options) => Some(self.listen(options).await?),
            None => None,
        };
        let accepting = tokio::spawn(socket::accept(
            socket,
            Arc::clone(&self.registry),
            Arc::clone(&self.reembedder),
            Arc::clone(&self.clients),
            self.stop.clone(),
        ));
        let measuring = tokio::spawn(memory_telemetry::metrics::keep_up());
        let mut start = Start::of(&self);
        start.begin(Mismatch::Refuse);
        let served = self.serve(&mut start, &mut signals, listening.as_ref(), ends_when_idle).await;
        measuring.abort();
        // Clients that connect from here on wait for the next process.
        self.paths.remove_socket();
        self.stop.cancel();
        let booted = start.end().await;
        self.wind_down(listening, accepting, booted).await;
        served
    }

    async fn listen(&self, options: ListenOptions) -> anyhow::Result<Listening> {
        let opened = http::listen(options, Arc::clone(&self.registry), self.stop.child_token()).await?;
        logs::say(&format!("Remembrancer serves MCP at http://{}/mcp", shown(&opened)));
        if let Some(metrics) = opened.metrics {
            logs::say(&format!("Metrics are at http://{metrics}/metrics"));
        }
        Ok(opened)
    }

    /// Waits for what ends the process. A start that fails ends one in the foreground, with its error; one in the
    /// background reports it to clients and tries again.
    async fn serve(
        &self,
        start: &mut Start<'_>,
        signals: &mut Signals,
        listening: Option<&Listening>,
        ends_when_idle: bool,
    ) -> anyhow::Result<()> {
        let idle_limit = Duration::from_secs(self.settings.idle_seconds.into());
        let mut ticking = tokio::time::interval(Duration::from_secs(1));
        ticking.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                outcome = start.finished() => match outcome {
                    Ok(()) => if let Some(listening) = listening {
                        listening.check_keys(self.registry.readiness()).await?;
                        logs::say("Ready.");
                    },
                    Err(error) if !ends_when_idle => return Err(error),
                    Err(error) => tracing::error!(error = format!("{error:#}"), "the memory is not available"),
                },
                () = self.reembedder.restart_wanted(), if start.is_missing() => start.begin(Mismatch::GoWithout),
                () = signals.any() => return Ok(()),
                _ = ticking.tick(), if ends_when_idle => {
                    self.paths.shorten_log();
                    // The reason may have been removed meanwhile.
                    if start.is_missing() && start.failed_for() > RETRY_INTERVAL {
                        start.begin(Mismatch::Refuse);
                    }
                    if self.clients.idle_for() >= idle_limit && !start.has_work().await {
                        tracing::info!("no client was connected for a while; ending");
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Writes to the lock file which process holds it, for `stop`.
    fn record_holder(&self, kind: &str) -> io::Result<()> {
        self.lock.set_len(0)?;
        (&self.lock).write_all(format!("{} {kind}\n", std::process::id()).as_bytes())
    }

    async fn wind_down(
        &self,
        listening: Option<Listening>,
        accepting: tokio::task::JoinHandle<()>,
        booted: Option<Booted>,
    ) {
        let closing = async {
            if let Some(listening) = listening {
                listening.closed(PATIENCE).await;
            }
            let _ = tokio::time::timeout(PATIENCE, accepting).await;
        };
        let ending = async {
            if let Some(booted) = booted {
                booted.shut_down().await;
            }
        };
        let ended =
            tokio::time::timeout(Duration::from_millis(4_500), async { tokio::join!(closing, ending) });
        if ended.await.is_err() {
            tracing::warn!("the shutdown took too long and was cut off; what was accepted is stored");
        }
    }
}

fn shown(listening: &Listening) -> String {
    match listening.address.ip() {
        ip if ip.is_loopback() => format!("localhost:{}", listening.address.port()),
        _ => listening.address.to_string(),
    }
}

/// SIGINT and SIGTERM.
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    pub(crate) async fn any(&mut self) {
        tokio::select! { _ = self.interrupt.recv() => {}, _ = self.terminate.recv() => {} }
    }
}
