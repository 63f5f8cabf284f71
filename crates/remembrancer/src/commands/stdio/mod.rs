//! `stdio`: lines between the host and the process that holds the data folder. When that process goes away, another takes
//! its place as soon as it is needed: the host's handshake and subscriptions are made again, and it goes on.

mod session;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use self::session::{Session, id_of, refusal};
use crate::daemon::{ClientRequest, Signals, send_line};
use crate::instance_paths::InstancePaths;
use crate::settings::{Settings, graph_file};
use crate::tools::ToolSettings;

/// How many attempts are made to pass a line on, each to another process.
const TRIES: u32 = 3;
/// The pause after a failed try to reach a process: the first one, and the longest.
const PAUSE: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// A process that lasted for less counts as a failed try.
const LASTING: Duration = Duration::from_secs(5);
/// How long answers are still read from a process that accepts no more input.
const LAST_WORDS: Duration = Duration::from_secs(2);
const CUT_OFF: &str = "The memory's process ended before it answered this; whether it was done is not known. Look first if it was a \
                       change, then try again: another process takes its place.";

pub(crate) async fn run(settings: &Settings, tools: ToolSettings) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::new()?;
    tools.check()?;
    let hello = ClientRequest::mcp(settings, tools, graph_file()?, false)?;
    let paths = InstancePaths::of(settings)?;
    let mut host = Host {
        settings,
        paths,
        hello,
        shared: Arc::new(Shared { session: Mutex::default(), stdout: Mutex::new(tokio::io::stdout()) }),
        link: None,
        failure: None,
        pause: PAUSE,
        not_before: Instant::now(),
    };
    // A failure to start the very first process is reported to the host at once.
    host.greet().await?;
    tokio::select! {
        ended = host.serve() => ended.map(|()| ExitCode::SUCCESS),
        () = signals.any() => Ok(ExitCode::SUCCESS),
    }
}

/// What both directions use.
struct Shared {
    session: Mutex<Session>,
    /// Locked for each line, so that lines of the two directions do not mix.
    stdout: Mutex<tokio::io::Stdout>,
}

impl Shared {
    async fn send(&self, line: &[u8]) -> std::io::Result<()> {
        let mut stdout = self.stdout.lock().await;
        stdout.write_all(line).await?;
        stdout.flush().await
    }

    async fn send_all(&self, messages: &[Value]) -> std::io::Result<()> {
        for message in messages {
            self.send(format!("{message}\n").as_bytes()).await?;
        }
        Ok(())
    }
}

/// A connection to the process that holds the data folder.
struct Link {
    write: OwnedWriteHalf,
    /// The process has closed it, and all that it said was passed on.
    ended: CancellationToken,
    since: Instant,
    _reading: AbortOnDropHandle<()>,
}

/// Why no process was reached by the last try; a later one may be.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
struct Unreachable(String);

struct Host<'a> {
    settings: &'a Settings,
    paths: InstancePaths,
    hello: ClientRequest,
    shared: Arc<Shared>,
    link: Option<Link>,
    /// Why there is no link, where the last try has failed.
    failure: Option<Unreachable>,
    pause: Duration,
    not_before: Instant,
}

impl Host<'_> {
    async fn serve(&mut self) -> anyhow::Result<()> {
        let (sender, mut lines) = mpsc::channel(1);
        // It may wait for a line when all else has ended.
        let _reading = AbortOnDropHandle::new(tokio::spawn(async move {
            let mut from = LineReader::new(tokio::io::stdin());
            while let Ok(Some(line)) = from.next().await {
                if sender.send(line.to_vec()).await.is_err() {
                    break;
                }
            }
        }));
        loop {
            let wants_news = self.shared.session.lock().await.expects_news();
            tokio::select! {
                line = lines.recv() => match line {
                    Some(line) => self.pass_on(&line).await?,
                    None => return self.finish().await,
                },
                () = ended(self.link.as_ref()) => self.let_go().await?,
                () = tokio::time::sleep_until(self.not_before.into()), if self.link.is_none() && wants_news => {
                    if let Err(error) = self.connect().await {
                        tracing::warn!(%error, "the memory's process cannot be reached");
                    }
                }
            }
        }
    }

    /// Passes a line of the host on; a process that has gone in between never had it whole, so another may have it.
    async fn pass_on(&mut self, line: &[u8]) -> anyhow::Result<()> {
        if let Some(answer) = fault(line) {
            return Ok(self.shared.send(&answer).await?);
        }
        let mut reason = "it ends again and again".to_owned();
        for _ in 0..TRIES {
            if self.link.as_ref().is_some_and(|link| link.ended.is_cancelled()) {
                self.let_go().await?;
            }
            if self.link.is_none() {
                // What needs no answer is not worth a process; the handshake's end is said again with its beginning.
                if id_of(line).is_none() {
                    self.shared.session.lock().await.passes_on(line);
                    return Ok(());
                }
                if let Err(error) = self.connect().await {
                    reason = error.to_string();
                    break;
                }
            }
            let Some(link) = &mut self.link else { break };
            let key = self.shared.session.lock().await.passes_on(line);
            if link.write.write_all(line).await.is_ok() {
                return Ok(());
            }
            self.shared.session.lock().await.takes_back(key.as_deref());
            let _ = tokio::time::timeout(LAST_WORDS, link.ended.cancelled()).await;
            self.let_go().await?;
        }
        if let Some(id) = id_of(line) {
            let reason = format!("The memory's process cannot be reached: {reason}. Try again in a moment.");
            self.shared.send_all(&[refusal(&id, &reason)]).await?;
        }
        Ok(())
    }

    /// Connects to the process that holds the data folder, starting one if need be, and repeats the handshake and the subscriptions.
    async fn connect(&mut self) -> Result<(), Unreachable> {
        if let Some(failure) = self.failure.as_ref().filter(|_| Instant::now() < self.not_before) {
            return Err(failure.clone());
        }
        let connected = self.greet().await.map_err(|error| Unreachable(format!("{error:#}")));
        self.failure = connected.clone().err();
        if self.failure.is_some() {
            self.put_off();
        }
        connected
    }

    fn put_off(&mut self) {
        self.not_before = Instant::now() + self.pause;
        self.pause = (self.pause * 2).min(PAUSE_MAX);
    }

    async fn greet(&mut self) -> anyhow::Result<()> {
        let (read, mut write) = self.paths.connect_or_start(self.settings).await?.into_split();
        send_line(&mut write, &self.hello).await?;
        let (again, news) = {
            let mut session = self.shared.session.lock().await;
            (session.repeated(), session.news())
        };
        let ended = CancellationToken::new();
        let reading = tokio::spawn(hear(read, Arc::clone(&self.shared), ended.clone()));
        for line in again {
            write.write_all(&line).await?;
        }
        self.shared.send_all(&news).await?;
        self.link =
            Some(Link { write, ended, since: Instant::now(), _reading: AbortOnDropHandle::new(reading) });
        Ok(())
    }

    /// The process has gone: what it has not answered is answered here.
    async fn let_go(&mut self) -> anyhow::Result<()> {
        let Some(link) = self.link.take() else { return Ok(()) };
        // One that did not last is no reason to start the next at once.
        if link.since.elapsed() < LASTING {
            self.put_off();
        } else {
            self.pause = PAUSE;
        }
        let refusals = self.shared.session.lock().await.lost(CUT_OFF);
        Ok(self.shared.send_all(&refusals).await?)
    }

    /// The host has closed its end: answers under way still come.
    async fn finish(&mut self) -> anyhow::Result<()> {
        if let Some(link) = &mut self.link {
            let _ = link.write.shutdown().await;
            link.ended.cancelled().await;
        }
        self.let_go().await
    }
}

/// Never, where there is no connection.
async fn ended(link: Option<&Link>) {
    match link {
        Some(link) => link.ended.cancelled().await,
        None => std::future::pending().await,
    }
}

/// Passes on what the process says, until it says no more.
async fn hear(read: OwnedReadHalf, shared: Arc<Shared>, ended: CancellationToken) {
    let mut from = LineReader::new(read);
    // A line that was cut off is none.
    while let Ok(Some(line)) = from.next().await
        && line.ends_with(b"\n")
    {
        let (is_for_the_host, more) = shared.session.lock().await.comes_back(line);
        let written = if is_for_the_host { shared.send(line).await } else { Ok(()) };
        if written.is_err() || shared.send_all(&more).await.is_err() {
            break;
        }
    }
    ended.cancel();
}

/// Lines as they come, with their ends.
struct LineReader<R> {
    from: BufReader<R>,
    line: Vec<u8>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    fn new(from: R) -> Self {
        Self { from: BufReader::with_capacity(64 * 1024, from), line: Vec::new() }
    }

    async fn next(&mut self) -> std::io::Result<Option<&[u8]>> {
        self.line.clear();
        let length = self.from.read_until(b'\n', &mut self.line).await?;
        Ok((length > 0).then_some(&self.line[..]))
    }
}

/// The answer to a call whose line is no JSON that can be read: the server would drop it unanswered, and
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
