//! Many clients asking at once.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use memory_core::id::PassageId;
use memory_core::ports::EmbeddingModel;
use memory_engine::Memory;
use memory_engine::recall::{NOT_MENTIONED, NOTHING_ANSWERS, RecallDraft, RecallRequest};
use memory_store::models::ActiveModel;
use memory_store::search::{self, Breadth, EXACT_MAX, Filters, QueryVector};

use super::report::{Agreement, Outcome};
use super::{Sized, namespace};
use crate::synthetic::{SyntheticModel, World};
use measuring::percentiles::Spread;

/// Questions asked before the clock runs.
pub(super) const WARM_UP: usize = 20;
/// Questions that the index is compared on with looking at every vector, how deep, and how many a recall asks it for.
const COMPARED: u64 = 100;
const COMPARED_DEPTH: usize = 10;
const ASKED_FOR: usize = 50;

/// One round of questions.
pub(super) struct Run<'a> {
    pub(super) world: &'a Arc<World>,
    pub(super) size: u64,
    pub(super) clients: usize,
    /// The number of its first question.
    pub(super) first: u64,
}

pub(super) async fn run(
    memory: &Arc<Memory>,
    run: &Run<'_>,
    queries: usize,
    bar: &ProgressBar,
) -> anyhow::Result<Outcome> {
    let requests = (0..(WARM_UP + queries) as u64)
        .map(|n| {
            let query = Some(run.world.question(run.first + n, run.size));
            // A warning that results score too little would look like a fault.
            let draft = RecallDraft { query, min_score: Some(0.0), ..RecallDraft::default() };
            Ok(RecallRequest::new(draft)?)
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    let requests = Arc::new(requests);
    ask(memory, &requests, 0..WARM_UP, run.clients, bar).await?;
    let started = Instant::now();
    let (times, errors) = ask(memory, &requests, WARM_UP..requests.len(), run.clients, bar).await?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(Outcome { per_second: times.len() as f64 / seconds, ms: Spread::of(&times), errors })
}

/// Clients take the next question when they have an answer. Gives the times of answers, and how many failed.
async fn ask(
    memory: &Arc<Memory>,
    requests: &Arc<Vec<RecallRequest>>,
    range: std::ops::Range<usize>,
    clients: usize,
    bar: &ProgressBar,
) -> anyhow::Result<(Vec<Duration>, usize)> {
    let next = Arc::new(AtomicUsize::new(range.start));
    let tasks: Vec<_> = (0..clients)
        .map(|_| {
            let (memory, requests, next) = (Arc::clone(memory), Arc::clone(requests), Arc::clone(&next));
            let (end, bar) = (range.end, bar.clone());
            tokio::spawn(async move {
                let (mut times, mut errors) = (Vec::new(), 0);
                let ns = namespace();
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= end {
                        return (times, errors);
                    }
                    let started = Instant::now();
                    match memory.recall(&ns, &requests[n]).await {
                        // Invented questions may well have no answer.
                        Ok(answer)
                            if answer
                                .warnings
                                .iter()
                                .all(|said| said == NOTHING_ANSWERS || said.starts_with(NOT_MENTIONED)) =>
                        {
                            times.push(started.elapsed());
                        }
                        Ok(_) | Err(_) => errors += 1,
                    }
                    bar.inc(1);
                }
            })
        })
        .collect();
    let (mut times, mut errors) = (Vec::new(), 0);
    for task in tasks {
        let (own, failed) = task.await?;
        times.extend(own);
        errors += failed;
    }
    Ok((times, errors))
}

/// How much of the true nearest the approximate index finds; `None` where it is not asked yet.
pub(super) async fn index_agreement(
    of: &Sized<'_>,
    world: &Arc<World>,
    active: &ActiveModel,
) -> anyhow::Result<Option<Agreement>> {
    if of.size as i64 <= EXACT_MAX {
        return Ok(None);
    }
    let (ns, model) = (namespace(), SyntheticModel::new(Arc::clone(world)));
    let mut conn = of.store.acquire_across().await?;
    // The size of the namespace, as a scope has it, decides how it is searched.
    let exact = search::scope(&mut conn, &ns, Filters::default(), 0).await?;
    let indexed = search::scope(&mut conn, &ns, Filters::default(), of.size as i64).await?;
    let breadth = Breadth::of_passages(ASKED_FOR);
    let (mut found, mut wanted) = (0, 0);
    for n in 0..COMPARED {
        let vector = model.embed_query(&world.question(u64::MAX - n, of.size)).await?.vector;
        let query = QueryVector { model: active, vector: &vector };
        let true_ones = search::nearest(&mut conn, &ns, &exact, query, breadth, None).await?;
        let ones = search::nearest(&mut conn, &ns, &indexed, query, breadth, None).await?;
        let ones: HashSet<PassageId> = ones.into_iter().map(|(id, _)| id).collect();
        let true_ones = &true_ones[..COMPARED_DEPTH.min(true_ones.len())];
        wanted += true_ones.len();
        found += true_ones.iter().filter(|(id, _)| ones.contains(id)).count();
    }
    Ok(Some(Agreement {
        share: found as f64 / wanted.max(1) as f64,
        depth: COMPARED_DEPTH,
        questions: COMPARED as usize,
    }))
}
