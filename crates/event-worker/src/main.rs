//! Drains the job queue of a Postgres that several processes share. Any number of workers may run.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Parser;
use memory_core::job::LEASE_SECONDS;
use memory_engine::readiness::{self, Announce, Readiness};
use memory_engine::worker::Worker;
use memory_engine::{EngineSettings, Memory};
use memory_extraction::ExtractorSettings;
use memory_inference::files::ModelSettings;
use memory_store::models::ActiveModel;
use memory_store::vector::qdrant::Qdrant;
use memory_store::vector::{self, MirrorSettings, Times};
use memory_store::{Store, StoreError, StoreSettings};
use memory_telemetry::{listener, logs, metrics};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Gives freed memory back within seconds. The C library keeps most of what the tokens of a long text took: hundreds of
/// megabytes for good.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Extracts events and computes late embeddings for the servers of one database.
#[derive(Debug, Parser)]
#[command(name = "event-worker", version, max_term_width = 110)]
struct Settings {
    #[command(flatten)]
    model: ModelSettings,
    #[command(flatten)]
    store: StoreSettings,
    #[command(flatten)]
    mirror: MirrorSettings,
    #[command(flatten)]
    extractor: ExtractorSettings,
    /// Jobs done at the same time
    #[arg(long, env = "REMEMBRANCER_WORKER_CONCURRENCY", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    concurrency: u16,
    /// How long a job belongs to this worker, unless it renews that; a killed worker's jobs wait as long
    #[arg(long, env = "REMEMBRANCER_WORKER_LEASE_SECONDS", default_value_t = LEASE_SECONDS, value_parser = clap::value_parser!(u64).range(2..=3600))]
    lease_seconds: u64,
    /// Address to serve metrics and health at, e.g. `127.0.0.1:9464`; none unless it is given
    #[arg(long, env = "REMEMBRANCER_METRICS_BIND", value_name = "ADDRESS")]
    metrics_bind: Option<String>,
}

/// How often a database that is away is tried, and how often that is said.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);
const LOGGED_EVERY: Duration = Duration::from_secs(30);

#[tokio::main]
async fn main() -> ExitCode {
    if let Err(error) = memory_inference::environment::prepare() {
        eprintln!("event-worker: the program cannot be run anew with its environment: {error}");
        return ExitCode::FAILURE;
    }
    // Before anything else is begun: until then a signal ends the process as it is.
    let stop = match stop_on_signals() {
        Ok(stop) => stop,
        Err(error) => {
            eprintln!("event-worker: signals cannot be listened for: {error}");
            return ExitCode::FAILURE;
        }
    };
    match run(stop).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            logs::fail("event-worker", &format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Cancelled by SIGINT or SIGTERM.
fn stop_on_signals() -> std::io::Result<CancellationToken> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    tokio::spawn(async move {
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        stopping.cancel();
    });
    Ok(stop)
}

async fn run(stop: CancellationToken) -> anyhow::Result<()> {
    let mut settings = Settings::parse();
    settings.store.tidy()?;
    logs::init("info,sqlx=warn,ort=warn")?;
    metrics::install(env!("CARGO_PKG_VERSION"));
    let measuring = tokio::spawn(metrics::keep_up());
    let Some(url) = &settings.store.database_url else {
        bail!(
            "DATABASE_URL is not set; without it `remembrancer serve` runs its own worker and this one is not needed"
        );
    };
    let key = vector::api_key()?;
    let mirror = Qdrant::of(&settings.mirror, key, Times::default())?;
    let extractor = settings.extractor.extractor(settings.model.text_encoder()?)?;
    tracing::info!("{}", extractor.health().detail);
    let (announce, readiness) = readiness::channel();
    if let Some(bind) = settings.metrics_bind.filter(|bind| !bind.trim().is_empty()) {
        let (address, _) = listener::listen(&bind, readiness, stop.clone()).await?;
        tracing::info!("metrics are at http://{address}/metrics");
    }
    let Some((store, searched)) = open(url, settings.store.database_connections, &announce, &stop).await?
    else {
        return Ok(());
    };
    let engine = EngineSettings {
        concurrency: usize::from(settings.concurrency),
        lease: Duration::from_secs(settings.lease_seconds),
        ..EngineSettings::default()
    };
    let files = settings.model.files_for(searched.as_ref().map(|model| &model.info))?;
    let memory = Arc::new(Memory::new(store, extractor, engine).with_mirror(mirror));
    // A process that ends while a thread of it loads ONNX Runtime may crash: this is not broken off.
    match tokio::task::spawn_blocking(move || files.load()).await? {
        Ok(model) => memory.adopt_model(Arc::new(model)).await?,
        Err(error) => {
            tracing::warn!(%error, "going on without the embedding model: jobs that need it wait");
            memory.lacks_model(error.to_string());
        }
    }
    announce.set(Readiness::Ready(Arc::clone(&memory)));
    let worker = Worker::new(&memory);
    let working = tokio::spawn({
        let stop = stop.clone();
        async move { worker.run(stop).await }
    });
    tracing::info!("doing jobs");
    stop.cancelled().await;
    tracing::info!("finishing what is under way");
    working.await?;
    measuring.abort();
    memory.close().await;
    Ok(())
}

/// Waits for a database that is away or only starting; `None` once `stop` is cancelled.
async fn open(
    url: &str,
    connections: u32,
    announce: &Announce,
    stop: &CancellationToken,
) -> anyhow::Result<Option<(Store, Option<ActiveModel>)>> {
    let mut logged: Option<Instant> = None;
    loop {
        let opening = async {
            let store = Store::open(url, connections).await?;
            let searched = store.active_model().await?;
            Ok::<_, StoreError>((store, searched))
        };
        let error = match stop.run_until_cancelled(opening).await {
            None => return Ok(None),
            Some(Ok(opened)) => return Ok(Some(opened)),
            Some(Err(error)) if error.is_passing() => anyhow::Error::from(error),
            Some(Err(error)) => return Err(error).context("the database cannot be used"),
        };
        announce.set(Readiness::Waiting(format!("{error:#}")));
        if logged.is_none_or(|at| at.elapsed() >= LOGGED_EVERY) {
            logged = Some(Instant::now());
            tracing::warn!(error = format!("{error:#}"), "waiting for the database");
        }
        if stop.run_until_cancelled(tokio::time::sleep(RETRY_INTERVAL)).await.is_none() {
            return Ok(None);
        }
    }
}
