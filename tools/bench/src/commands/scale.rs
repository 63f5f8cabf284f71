//! `bench scale`: how slow does it get as it grows?

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use clap::Args;
use measuring::machine::Machine;
use memory_engine::{EngineSettings, Memory};
use memory_extraction::RulesExtractor;
use remembrancer_bench::plot;
use remembrancer_bench::scale::{self, Filled, Plan, ScaleReport, SizeReport, Sized};
use remembrancer_bench::synthetic::{GENERATOR_VERSION, World};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::database::{Database, until_signal};
use super::{Outputs, Picture};
use remembrancer::settings::Settings;
use remembrancer::transfer_bar;

#[derive(Debug, Args)]
pub(crate) struct ScaleArgs {
    /// How many passages the namespace holds
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000,1000000", value_parser = clap::value_parser!(u64).range(1..=20_000_000))]
    sizes: Vec<u64>,
    /// Questions for each number of clients and each set of weights
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    queries: u32,
    /// Clients that ask at the same time
    #[arg(long, value_delimiter = ',', default_value = "1,16", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    clients: Vec<u32>,
    /// Dimension of the invented vectors
    #[arg(long, default_value_t = 384, value_parser = clap::value_parser!(u32).range(2..=2_000))]
    dimension: u32,
    /// Notes, vectors and questions are the same for the same seed
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Keep the filled databases in this folder, one a size, and use those that are there
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// More options of the database server, such as "-c shared_buffers=1GB"
    #[arg(long, value_name = "OPTIONS", default_value = "", allow_hyphen_values = true)]
    postgres_options: String,
    /// Memory to build an index with, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 4_096, value_parser = clap::value_parser!(u32).range(16..=1_000_000))]
    build_memory: u32,
    #[command(flatten)]
    outputs: Outputs,
    #[command(flatten)]
    picture: Picture,
}

impl ScaleArgs {
    fn plan(&self) -> Plan {
        Plan {
            queries: self.queries as usize,
            clients: self.clients.iter().map(|n| *n as usize).collect(),
            seed: self.seed,
            dimension: self.dimension as usize,
            build_memory_mb: self.build_memory,
        }
    }
}

/// What a kept database was filled with; written when it is complete.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    generator: u32,
    seed: u64,
    dimension: u32,
    passages: u64,
    filled: Filled,
}

pub(crate) async fn run(settings: &Settings, args: ScaleArgs) -> anyhow::Result<()> {
    args.outputs.check()?;
    args.picture.check()?;
    ensure!(
        settings.store.database_url.is_none(),
        "bench scale fills databases of its own; unset DATABASE_URL (--database-url)"
    );
    let plan = args.plan();
    let world = plan.world();
    let mut sizes = args.sizes.clone();
    sizes.sort_unstable();
    sizes.dedup();
    let mut reports = Vec::new();
    for size in sizes {
        eprintln!("{size} passages");
        reports.push(at_size(settings, &args, &plan, &world, size).await?);
        // What was measured is not lost when a larger size fails.
        args.outputs.write(&report(settings, &args, &reports))?;
        args.picture.write(|| plot::scale(&reports))?;
    }
    println!("{}", scale::tables(&reports));
    println!("Embedding a question is not in these times: its vector is a synthetic one.");
    Ok(())
}

async fn at_size(
    settings: &Settings,
    args: &ScaleArgs,
    plan: &Plan,
    world: &Arc<World>,
    size: u64,
) -> anyhow::Result<SizeReport> {
    let options = args.postgres_options.as_str();
    let (database, kept) = match &args.keep {
        None => (Database::temporary(settings, options).await?, None),
        Some(folder) => {
            let folder = kept_folder(folder, size)?;
            let kept = read_kept(&folder, args, size)?;
            (Database::at(settings, &folder, options).await?, kept)
        }
    };
    let done = until_signal(async {
        let memory = |weights| {
            let engine = EngineSettings { weights, ..settings.engine() };
            Arc::new(Memory::new(database.store.clone(), Arc::new(RulesExtractor::new()), engine))
        };
        let sized = Sized { store: &database.store, memory: &memory, server: database.server_pid(), size };
        let bars = |unit| transfer_bar(unit, false);
        let filled = match kept {
            Some(kept) => kept.filled,
            None => {
                let filled = scale::fill(&sized, plan, world, bars).await?;
                if let Some(folder) = &args.keep {
                    write_kept(folder, args, size, &filled)?;
                }
                filled
            }
        };
        scale::measure(&sized, filled, plan, world, bars).await
    })
    .await;
    let closed = database.close().await;
    let report = done?;
    closed?;
    Ok(report)
}

/// The folder of a size, made if need be.
fn kept_folder(keep: &Path, size: u64) -> anyhow::Result<PathBuf> {
    let folder = std::path::absolute(keep)?.join(size.to_string());
    std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    Ok(folder)
}

fn kept_file(folder: &Path) -> PathBuf {
    folder.join("filled.json")
}

/// What the folder's database was filled with; `None` for an empty folder.
fn read_kept(folder: &Path, args: &ScaleArgs, size: u64) -> anyhow::Result<Option<Kept>> {
    let text = match std::fs::read_to_string(kept_file(folder)) {
        Ok(text) => text,
        Err(_) if !folder.join("postgres").exists() => return Ok(None),
        Err(_) => bail!(
            "the database in {} was not filled to its end; remove that folder, and it is filled again",
            folder.display()
        ),
    };
    let kept: Kept = serde_json::from_str(&text)
        .with_context(|| format!("{} cannot be read", kept_file(folder).display()))?;
    let wanted = (GENERATOR_VERSION, args.seed, args.dimension, size);
    if (kept.generator, kept.seed, kept.dimension, kept.passages) != wanted {
        bail!(
            "the database in {} holds {} passages of seed {} with {} dimensions, generator {}, and not what is asked for; \
             remove that folder or name another with --keep",
            folder.display(),
            kept.passages,
            kept.seed,
            kept.dimension,
            kept.generator
        );
    }
    Ok(Some(kept))
}

fn write_kept(keep: &Path, args: &ScaleArgs, size: u64, filled: &Filled) -> anyhow::Result<()> {
    let kept = Kept {
        generator: GENERATOR_VERSION,
        seed: args.seed,
        dimension: args.dimension,
        passages: size,
        filled: filled.clone(),
    };
    super::write(&kept_file(&kept_folder(keep, size)?), &(serde_json::to_string_pretty(&kept)? + "\n"))
}

fn report(settings: &Settings, args: &ScaleArgs, sizes: &[SizeReport]) -> ScaleReport {
    ScaleReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        date: jiff::Timestamp::now().to_string(),
        model: format!("synthetic-{}, not timed", args.dimension),
        machine: Machine::here(),
        settings: json!({
            "queries": args.queries,
            "clients": args.clients,
            "seed": args.seed,
            "generator": GENERATOR_VERSION,
            "postgres_options": args.postgres_options,
            "build_memory_mb": args.build_memory,
            "database_connections": settings.store.database_connections,
            "limit": 10,
            "expand": true,
        }),
        sizes: sizes.to_vec(),
    }
}
