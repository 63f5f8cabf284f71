//! Latency over size: an invented namespace of a given number of passages is filled in bulk, then searched by many
//! clients. The time to embed a question is not in the figures: the model is a synthetic one.

pub mod bulk;
mod filling;
mod report;
mod searching;

use std::sync::Arc;
use std::time::Instant;

use memory_core::id::Namespace;
use memory_core::recall::RankingWeights;
use memory_engine::{Memory, ModelState};
use memory_store::Store;
use memory_store::models::ActiveModel;

pub use self::filling::{Filled, note};
pub use self::report::{Measured, Outcome, ScaleReport, SizeReport, tables};

use crate::Bars;
use crate::configurations::arms;
use crate::synthetic::{SyntheticModel, World};
use measuring::machine;

/// What is measured at each size.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Questions for each number of clients and each set of weights.
    pub queries: usize,
    pub clients: Vec<usize>,
    pub seed: u64,
    pub dimension: usize,
    /// Megabytes to build an index with.
    pub build_memory_mb: u32,
}

impl Plan {
    pub fn world(&self) -> Arc<World> {
        Arc::new(World::new(self.seed, self.dimension))
    }
}

/// A database that is filled, or to be filled, with so many passages.
pub struct Sized<'a> {
    pub store: &'a Store,
    /// Makes a memory on the store that ranks by these weights.
    pub memory: &'a (dyn Fn(RankingWeights) -> Arc<Memory> + Sync),
    /// The main process of the database's server.
    pub server: Option<u32>,
    pub size: u64,
}

fn namespace() -> Namespace {
    Namespace::default()
}

/// Adopts the synthetic model, and gives the row that its vectors are stored under.
async fn adopt(memory: &Arc<Memory>, world: &Arc<World>) -> anyhow::Result<ActiveModel> {
    memory.adopt_model(Arc::new(SyntheticModel::new(Arc::clone(world)))).await?;
    match memory.model_state() {
        ModelState::Ready { active, .. } => Ok(active),
        ModelState::Loading | ModelState::Failed(_) => anyhow::bail!("the model was not adopted"),
    }
}

/// Fills an empty database.
pub async fn fill(of: &Sized<'_>, plan: &Plan, world: &Arc<World>, bars: Bars) -> anyhow::Result<Filled> {
    let active = adopt(&(of.memory)(RankingWeights::DEFAULT), world).await?;
    filling::fill(of, plan, world, &active, bars).await
}

/// Searches a filled database.
pub async fn measure(
    of: &Sized<'_>,
    filled: Filled,
    plan: &Plan,
    world: &Arc<World>,
    bars: Bars,
) -> anyhow::Result<SizeReport> {
    let started = Instant::now();
    let active = adopt(&(of.memory)(RankingWeights::DEFAULT), world).await?;
    let configurations = arms();
    let bar = bars("questions asked");
    let rounds = configurations.len() * plan.clients.len();
    bar.set_length((rounds * (plan.queries + searching::WARM_UP)) as u64);
    let mut measured = Vec::new();
    for (round, (name, weights)) in configurations.iter().enumerate() {
        let memory = (of.memory)(*weights);
        adopt(&memory, world).await?;
        for (turn, clients) in plan.clients.iter().enumerate() {
            // No question is asked twice: the second time it would find everything at hand.
            let first = ((round * plan.clients.len() + turn) * (plan.queries + searching::WARM_UP)) as u64;
            let run = searching::Run { world, size: of.size, clients: *clients, first };
            let outcome = searching::run(&memory, &run, plan.queries, &bar).await?;
            measured.push(Measured { weights: name.clone(), clients: *clients, outcome });
        }
    }
    bar.finish_and_clear();
    let index_agreement = searching::index_agreement(of, world, &active).await?;
    let mut conn = of.store.acquire_across().await?;
    Ok(SizeReport {
        passages: of.size,
        filled,
        measured,
        index_agreement,
        on_disk: bulk::sizes(&mut conn).await?,
        database_bytes: bulk::database_bytes(&mut conn).await?,
        process_bytes: machine::proportional_bytes(std::process::id()),
        server_bytes: of.server.and_then(machine::proportional_bytes_of_family),
        measuring_seconds: started.elapsed().as_secs_f64(),
    })
}
