//! `bench`: measures the memory on databases of its own, never on what is remembered.

mod database;
mod extraction;
mod latency;
mod mcp;
mod quality;
mod scale;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use serde::Serialize;

use self::extraction::ExtractionArgs;
use self::latency::LatencyArgs;
use self::quality::QualityArgs;
use self::scale::ScaleArgs;
use crate::settings::Settings;

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    what: Bench,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// How much of the evidence is found, on annotated conversations
    Quality(QualityArgs),
    /// How fast a search is, on invented namespaces of growing size
    Scale(ScaleArgs),
    /// How long remember and recall take over HTTP
    Latency(LatencyArgs),
    /// How exact and how complete extracted events and names are, on labelled documents
    Extraction(ExtractionArgs),
}

pub(crate) async fn run(settings: &Settings, args: BenchArgs) -> anyhow::Result<ExitCode> {
    match args.what {
        Bench::Quality(args) => quality::run(settings, args).await?,
        Bench::Scale(args) => scale::run(settings, args).await?,
        Bench::Latency(args) => latency::run(settings, args).await?,
        Bench::Extraction(args) => extraction::run(settings, args).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A name that no other run has, for the namespaces of this one.
fn own_name() -> String {
    let now = jiff::Timestamp::now().as_nanosecond();
    format!("bench-{:x}-{now:x}", std::process::id())
}

/// A picture to draw of the figures.
#[derive(Debug, Args)]
struct Picture {
    /// Draw the figures as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Picture {
    fn check(&self) -> anyhow::Result<()> {
        self.svg.as_deref().map_or(Ok(()), check_writable)
    }

    fn write(&self, draw: impl FnOnce() -> anyhow::Result<String>) -> anyhow::Result<()> {
        match &self.svg {
            Some(file) => write(file, &draw()?),
            None => Ok(()),
        }
    }
}

/// Where figures go beside the terminal.
#[derive(Debug, Args)]
struct Outputs {
    /// Write all figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Outputs {
    /// Fails before anything is measured for nothing.
    fn check(&self) -> anyhow::Result<()> {
        self.json.as_deref().map_or(Ok(()), check_writable)
    }

    fn write(&self, report: &impl Serialize) -> anyhow::Result<()> {
        if let Some(file) = &self.json {
            write(file, &(serde_json::to_string_pretty(report)? + "\n"))?;
        }
        Ok(())
    }
}

fn check_writable(file: &Path) -> anyhow::Result<()> {
    let opened = std::fs::File::options().create(true).append(true).open(file);
    opened.map(drop).with_context(|| format!("{} cannot be written", file.display()))
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(file, text).with_context(|| format!("{} cannot be written", file.display()))
}
