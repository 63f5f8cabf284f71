//! Measures the memory on databases of its own, never on what is remembered.

mod commands;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use commands::extraction::ExtractionArgs;
use commands::latency::LatencyArgs;
use commands::quality::QualityArgs;
use commands::scale::ScaleArgs;
use commands::{extraction, latency, quality, scale};
use memory_telemetry::logs;
use remembrancer::settings::Settings;

/// The server's own, so that memory is measured as it has it.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Measure how well and how fast Remembrancer is.
#[derive(Debug, Parser)]
#[command(name = "remembrancer-bench", version, propagate_version = true, max_term_width = 110)]
struct Cli {
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// How much of the evidence is found, on annotated conversations
    Quality(QualityArgs),
    /// How fast a search is, on invented namespaces of growing size
    Scale(ScaleArgs),
    /// How long remember and recall take over HTTP
    Latency(LatencyArgs),
    /// How exact and how complete extracted events and names are, on labelled documents
    Extraction(ExtractionArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Err(error) = remembrancer::prepare_environment() {
        eprintln!("remembrancer-bench: the program cannot be run anew with its environment: {error}");
        return ExitCode::FAILURE;
    }
    if let Err(reason) = logs::init("warn,rmcp=error,sqlx=error,ort=error") {
        eprintln!("remembrancer-bench: {reason}");
        return ExitCode::FAILURE;
    }
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            logs::fail("remembrancer-bench", &format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn run(cli: Cli) -> anyhow::Result<()> {
    let mut settings = cli.settings;
    settings.store.tidy()?;
    settings.check()?;
    match cli.command {
        Command::Quality(args) => quality::run(&settings, args).await,
        Command::Scale(args) => scale::run(&settings, args).await,
        Command::Latency(args) => latency::run(&settings, args).await,
        Command::Extraction(args) => extraction::run(&settings, args).await,
    }
}
