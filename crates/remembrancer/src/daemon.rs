//! One process a data folder holds the database, the model and the worker. Others reach it over a private
//! socket: the first line is a [`ClientRequest`], what follows is MCP, or lines of JSON.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use futures::FutureExt;
use futures::future::BoxFuture;
use memory_core::access::GivenKey;
use memory_core::id::Namespace;
use memory_telemetry::logs;
use rmcp::ServiceExt;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::boot::{Booted, Mismatch, boot};
use crate::http::{self, ListenOptions, Listening};
use crate::instance_paths::{InstancePaths, is_ours};
use crate::lines::Lines;
use crate::reembed::Reembedder;
use crate::settings::{self, Settings};
use crate::tools::{Connection, GraphHome, KeyOfConnection, ToolRegistry, ToolSettings};
use memory_engine::readiness;

/// How long a stopping process lets its clients' calls finish.
const PATIENCE: Duration = Duration::from_secs(2);
/// What the lock file says of a process that a user started, and of one that clients started in the background.
pub(crate) const OWN: &str = "serve";
const IN_BACKGROUND: &str = "background";
/// How long until a process in the background, whose memory could not be started, tries again.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);

/// What a client of the socket requests.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "want", rename_all = "snake_case")]
pub(crate) enum ClientRequest {
    /// MCP on this connection, with the tools of the client's own settings; older clients do not send them.
    Mcp {
        namespace: String,
        #[serde(default)]
        tools: ToolSettings,
        /// The file that the graph of this connection is kept in, absolute.
        #[serde(default)]
        graph_file: Option<PathBuf>,
        /// Jobs queued through this connection get bulk priority.
        #[serde(default)]
        in_bulk: bool,
    },
    /// The same with a key, which alone says what the connection may do. A request of its own, so that a process which does not
    /// know keys refuses it.
    McpWithKey {
        key: String,
        /// None is the default of the key.
        namespace: Option<String>,
        tools: ToolSettings,
        in_bulk: bool,
    },
    /// An HTTP listener for as long as this connection is open; answered with one line, a [`ListenReply`].
    Listen(Box<ListenOptions>),
    /// To keep the process, and so its database, as long as this connection is open; answered with one line, a
    /// [`HoldReply`].
    Hold,
    /// Another model's vectors for all there is; answered with lines, each a [`ReembedReply`].
    Reembed { model_dir: PathBuf, keep_old: bool },
}

impl ClientRequest {
    /// MCP as the settings have it: with the key of REMEMBRANCER_KEY if there is one, else as the owner.
    pub(crate) fn mcp(
        settings: &Settings,
        tools: ToolSettings,
        graph_file: Option<PathBuf>,
        in_bulk: bool,
    ) -> anyhow::Result<Self> {
        let namespace = settings.namespace()?.to_string();
        let Some(key) = settings::key()? else {
            return Ok(Self::Mcp { namespace, tools, graph_file, in_bulk });
        };
        if graph_file.is_some() {
            anyhow::bail!(
                "MEMORY_FILE_PATH is for the owner of the data, not for the holder of REMEMBRANCER_KEY; unset one of them"
            );
        }
        let namespace = settings.given.flag("REMEMBRANCER_NAMESPACE").map(|_| namespace);
        Ok(Self::McpWithKey { key, namespace, tools, in_bulk })
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ListenReply {
    Listening(String),
    Refused(String),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HoldReply {
    /// The database can be connected to; and what the process extracts with.
    Held {
        extractor: String,
        version: i32,
    },
    Refused(String),
}

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

/// How many clients are connected, and since when there is none.
struct Clients {
    connected: AtomicUsize,
    last_seen: std::sync::Mutex<Instant>,
}

struct Connected(Arc<Clients>);

impl Clients {
    fn enter(self: &Arc<Self>) -> Connected {
        self.connected.fetch_add(1, Ordering::SeqCst);
        Connected(Arc::clone(self))
    }

    fn idle_for(&self) -> Duration {
        if self.connected.load(Ordering::SeqCst) > 0 {
            return Duration::ZERO;
        }
        self.last_seen.lock().map_or(Duration::ZERO, |seen| seen.elapsed())
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        if let Ok(mut seen) = self.0.last_seen.lock() {
            *seen = Instant::now();
        }
        self.0.connected.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Daemon {
    pub(crate) fn new(settings: Settings, paths: InstancePaths, lock: File) -> Self {
        let (announce, watch) = readiness::channel();
        let clients =
            Clients { connected: AtomicUsize::new(0), last_seen: std::sync::Mutex::new(Instant::now()) };
        Self {
            reembedder: Arc::new(Reembedder::new(settings.model.clone(), announce.clone())),
            settings,
            paths,
            lock,
            registry: ToolRegistry::new(watch),
            announce,
            stop: CancellationToken::new(),
            clients: Arc::new(clients),
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
        let accepting = tokio::spawn(accept(
            socket,
            Arc::clone(&self.registry),
            Arc::clone(&self.reembedder),
            Arc::clone(&self.clients),
            self.stop.clone(),
        ));
        let measuring = tokio::spawn(memory_telemetry::metrics::keep_up());
        let mut start = Start { daemon: &self, under_way: None, booted: None, failed_at: None };
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

/// The start of the memory: under way, done, or failed and perhaps begun again.
struct Start<'a> {
    daemon: &'a Daemon,
    under_way: Option<BoxFuture<'a, anyhow::Result<Option<Booted>>>>,
    booted: Option<Booted>,
    failed_at: Option<Instant>,
}

impl Start<'_> {
    fn begin(&mut self, mismatch: Mismatch) {
        let Daemon { settings, announce, stop, .. } = self.daemon;
        self.under_way = Some(boot(settings, announce, stop, mismatch).boxed());
    }

    /// Returns when the start under way has ended; pending while there is none.
    async fn finished(&mut self) -> anyhow::Result<()> {
        let Some(starting) = &mut self.under_way else { return std::future::pending().await };
        let outcome = starting.await;
        self.under_way = None;
        match outcome {
            Ok(booted) => {
                self.booted = booted;
                Ok(())
            }
            Err(error) => {
                self.failed_at = Some(Instant::now());
                Err(error)
            }
        }
    }

    /// There is no memory, and none is being started.
    fn is_missing(&self) -> bool {
        self.under_way.is_none() && self.booted.is_none()
    }

    fn failed_for(&self) -> Duration {
        self.failed_at.map_or(Duration::ZERO, |failed| failed.elapsed())
    }

    async fn has_work(&self) -> bool {
        match &self.booted {
            Some(booted) => booted.has_work().await,
            None => false,
        }
    }

    /// What has to be shut down. A start under way may have begun something, a database above all, so it is given some
    /// time to end.
    async fn end(mut self) -> Option<Booted> {
        if self.under_way.is_some() {
            let _ = tokio::time::timeout(PATIENCE, self.finished()).await;
        }
        self.booted
    }
}

fn shown(listening: &Listening) -> String {
    match listening.address.ip() {
        ip if ip.is_loopback() => format!("localhost:{}", listening.address.port()),
        _ => listening.address.to_string(),
    }
}

async fn accept(
    socket: UnixListener,
    registry: Arc<ToolRegistry>,
    reembedder: Arc<Reembedder>,
    clients: Arc<Clients>,
    stop: CancellationToken,
) {
    let connections = tokio_util::task::TaskTracker::new();
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => break,
            accepted = socket.accept() => match accepted {
                Ok((stream, _)) if is_ours(&stream) => stream,
                Ok(_) => {
                    tracing::warn!("a connection from a process of another user was refused");
                    continue;
                }
                Err(error) => {
                    tracing::warn!(%error, "failed to accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let (registry, connected, stop) = (Arc::clone(&registry), clients.enter(), stop.child_token());
        let reembedder = Arc::clone(&reembedder);
        connections.spawn(async move {
            let _connected = connected;
            if let Err(error) = handle_connection(stream, registry, &reembedder, stop).await {
                tracing::debug!(error = format!("{error:#}"), "a client connection ended with an error");
            }
        });
    }
    connections.close();
    connections.wait().await;
}

/// A listener for another process, which is told when nobody could come in by it.
async fn open_listener(
    options: ListenOptions,
    registry: Arc<ToolRegistry>,
    stop: &CancellationToken,
) -> anyhow::Result<Listening> {
    let listening = http::listen(options, Arc::clone(&registry), stop.clone()).await?;
    if let Err(error) = listening.check_keys(registry.readiness()).await {
        stop.cancel();
        listening.closed(PATIENCE).await;
        return Err(error);
    }
    Ok(listening)
}

async fn handle_connection(
    stream: UnixStream,
    registry: Arc<ToolRegistry>,
    reembedder: &Reembedder,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let mut line = String::new();
    (&mut read).take(64 * 1024).read_line(&mut line).await?;
    match serde_json::from_str(&line)? {
        ClientRequest::Mcp { namespace, tools, graph_file, in_bulk } => {
            let namespace = Namespace::new(&namespace)?;
            let graph = GraphHome::open(graph_file, tools.read_only, &registry, &namespace).await;
            let connection = Connection::new(registry, namespace, graph, &tools).in_bulk(in_bulk);
            let running = connection.serve_with_ct(Lines::new(read, write), stop).await?;
            running.waiting().await?;
        }
        ClientRequest::McpWithKey { key, namespace, tools, in_bulk } => {
            let key = GivenKey::parse(&key).context("what was given is no key")?;
            let connection = Connection::new(registry, Namespace::default(), GraphHome::Threads, &tools);
            let connection = connection.in_bulk(in_bulk).with_key(KeyOfConnection { key, namespace });
            let running = connection.serve_with_ct(Lines::new(read, write), stop).await?;
            running.waiting().await?;
        }
        ClientRequest::Listen(options) => {
            let stop = stop.child_token();
            let reply = match open_listener(*options, registry, &stop).await {
                Ok(listening) => {
                    let reply = ListenReply::Listening(shown(&listening));
                    send_line(&mut write, &reply).await?;
                    // The listener stays open as long as the process that requested it is connected.
                    let _ = stop.run_until_cancelled(read.read_line(&mut line)).await;
                    stop.cancel();
                    listening.closed(PATIENCE).await;
                    return Ok(());
                }
                Err(error) => ListenReply::Refused(format!("{error:#}")),
            };
            send_line(&mut write, &reply).await?;
        }
        ClientRequest::Hold => {
            let reply = match registry.memory().await {
                Ok(memory) => {
                    let (extractor, version) = memory.extractor_identity();
                    HoldReply::Held { extractor: extractor.to_owned(), version }
                }
                Err(readiness) => HoldReply::Refused(readiness.to_string()),
            };
            send_line(&mut write, &reply).await?;
            let _ = stop.run_until_cancelled(read.read_line(&mut line)).await;
        }
        ClientRequest::Reembed { model_dir, keep_old } => {
            let working = reembedder.reembed(&mut read, &mut write, &registry, model_dir, keep_old);
            stop.run_until_cancelled(working).await.transpose()?;
        }
    }
    Ok(())
}

pub(crate) async fn send_line<T: Serialize>(
    write: &mut (impl AsyncWriteExt + Unpin),
    message: &T,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    write.write_all(&line).await?;
    write.flush().await
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
