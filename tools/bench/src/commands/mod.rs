//! What is measured, a command each.

pub(super) mod database;
pub(super) mod extraction;
pub(super) mod latency;
pub(super) mod mcp;
mod own_server;
pub(super) mod quality;
pub(super) mod scale;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use serde::Serialize;

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
