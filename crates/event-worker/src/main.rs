//! Drains the job queue of a Postgres that several processes share. Any number of workers may run.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Parser;
use memory_core::job::LEASE_SECONDS;
use memory_engine::worker::Worker;
use memory_engine::{EngineSettings, Memory};
use memory_inference::extractor::ExtractorSettings;
use memory_inference::files::ModelSettings;
use memory_store::vector::qdrant::Qdrant;
use memory_store::vector::{self, MirrorSettings, Times};
use memory_store::{Store, StoreSettings};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

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
    /// How long a job belongs to this worker; no job may take longer, and a killed worker's jobs wait as long
    #[arg(long, env = "REMEMBRANCER_WORKER_LEASE_SECONDS", default_value_t = LEASE_SECONDS, value_parser = clap::value_parser!(u64).range(2..=3600))]
    lease_seconds: u64,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("event-worker: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> anyhow::Result<()> {
    let mut settings = Settings::parse();
    settings.store.tidy();
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn,ort=warn"));
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).with_env_filter(filter).init();
    let Some(url) = &settings.store.database_url else {
        bail!(
            "DATABASE_URL is not set; without it `remembrancer serve` runs its own worker and this one is not needed"
        );
    };
    let key = vector::api_key().map_err(anyhow::Error::msg)?;
    let mirror = Qdrant::of(&settings.mirror, key, Times::default()).map_err(anyhow::Error::msg)?;
    let extractor = settings.extractor.extractor().map_err(anyhow::Error::msg)?;
    tracing::info!("{}", extractor.health().detail);
    let store =
        Store::open(url, settings.store.database_connections).await.context("the database cannot be used")?;
    let engine = EngineSettings {
        concurrency: usize::from(settings.concurrency),
        lease: Duration::from_secs(settings.lease_seconds),
        ..EngineSettings::default()
    };
    let searched = store.active_model().await.context("the database cannot be used")?;
    let files =
        settings.model.files_for(searched.as_ref().map(|model| &model.info)).map_err(anyhow::Error::msg)?;
    let memory = Arc::new(Memory::new(store, extractor, engine).with_mirror(mirror));
    match tokio::task::spawn_blocking(move || files.load()).await? {
        Ok(model) => memory.adopt_model(Arc::new(model)).await?,
        Err(error) => {
            tracing::warn!(%error, "going on without the embedding model: jobs that need it wait");
            memory.lacks_model(error.to_string());
        }
    }
    let stop = CancellationToken::new();
    let worker = Worker::new(Arc::clone(&memory));
    let working = tokio::spawn({
        let stop = stop.clone();
        async move { worker.run(stop).await }
    });
    tracing::info!("working");
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
    tracing::info!("finishing what is under way");
    stop.cancel();
    working.await?;
    memory.close().await;
    Ok(())
}
