//! `bench latency`: how long do calls take over HTTP, with all that belongs to them?

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use measuring::machine::Machine;
use measuring::percentiles::Spread;
use measuring::table::{head, table};
use memory_core::ports::EmbeddingModel;
use remembrancer_bench::office;
use serde::Serialize;
use serde_json::{Value, json};

use super::database::until_signal;
use super::mcp::McpClient;
use super::own_server::{Footprint, Server};
use super::{Outputs, own_name};
use remembrancer::settings::{Settings, token};

/// Questions asked before the clock runs.
const WARM_UP: u64 = 10;
/// How long a server may take to answer for the first time, and to have done its jobs.
const PATIENCE: Duration = Duration::from_secs(60);
const SETTLING_PATIENCE: Duration = Duration::from_secs(600);
const DATE: &str = "2024-03-15";

#[derive(Debug, Args)]
pub(crate) struct LatencyArgs {
    /// A running server, such as <http://localhost:3100/mcp>; what is remembered there is forgotten again [default: one of
    /// its own, in a temporary folder]
    #[arg(long)]
    url: Option<String>,
    /// Notes to remember, for each number of clients
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    artifacts: u64,
    /// Questions to ask, for each number of clients
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    queries: u64,
    /// Clients that call at the same time, each on a connection of its own
    #[arg(long, value_delimiter = ',', default_value = "1,16", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    clients: Vec<u32>,
    #[command(flatten)]
    outputs: Outputs,
}

#[derive(Debug, Serialize)]
struct LatencyReport {
    version: &'static str,
    date: String,
    machine: Machine,
    settings: Value,
    /// Embedding the questions alone, in this process; absent where the model is not here.
    embedding: Option<Embedding>,
    /// Of an own server before the first note.
    empty: Option<Footprint>,
    rounds: Vec<Round>,
}

#[derive(Debug, Serialize)]
struct Embedding {
    model: String,
    ms: Spread,
}

#[derive(Debug, Serialize)]
struct Round {
    clients: u32,
    artifacts: u64,
    remember: Calls,
    /// From the last note until no job was pending.
    settled_after_seconds: f64,
    recall: Calls,
    /// The same questions once more.
    recall_again: Calls,
    /// Of an own server behind the round, with the notes of the rounds before.
    footprint: Option<Footprint>,
}

#[derive(Debug, Default, Serialize)]
struct Calls {
    ms: Spread,
    per_second: f64,
    errors: u64,
    first_error: Option<String>,
}

pub(crate) async fn run(settings: &Settings, args: LatencyArgs) -> anyhow::Result<()> {
    args.outputs.check()?;
    if let Some(url) = &args.url {
        McpClient::check(url)?;
    }
    let embedding = embedding_alone(settings, &args).await?;
    let (empty, rounds) = match &args.url {
        Some(url) => until_signal(rounds(url, token()?.as_deref(), None, &args)).await?,
        None => {
            let server = Server::start(settings)?;
            let measured = until_signal(rounds(&server.url, None, Some(&server), &args)).await;
            let stopped = server.stop().await;
            let measured = measured?;
            stopped?;
            measured
        }
    };
    let report = LatencyReport {
        version: env!("CARGO_PKG_VERSION"),
        date: jiff::Timestamp::now().to_string(),
        machine: Machine::here(),
        settings: json!({
            "artifacts": args.artifacts,
            "queries": args.queries,
            "clients": args.clients,
            "own_server": args.url.is_none(),
        }),
        embedding,
        empty,
        rounds,
    };
    print!("{}", shown(&report));
    args.outputs.write(&report)
}

/// What the own server takes before the rounds, and the rounds.
async fn rounds(
    url: &str,
    token: Option<&str>,
    own: Option<&Server>,
    args: &LatencyArgs,
) -> anyhow::Result<(Option<Footprint>, Vec<Round>)> {
    let mut rounds = Vec::new();
    let mut empty = None;
    for clients in &args.clients {
        // Each round begins with an empty namespace, so that rounds can be compared.
        let at = At { url, token, namespace: format!("{}-{clients}", own_name()) };
        at.first_client().await?.call("status", json!({})).await?;
        empty = empty.or_else(|| own.map(Server::footprint));
        let measured = round(&at, own, args, *clients).await;
        if args.url.is_some() {
            forget_all(&at)
                .await
                .with_context(|| format!("notes are left in the namespace {}", at.namespace))?;
        }
        rounds.push(measured?);
    }
    Ok((empty, rounds))
}

/// Where calls go.
struct At<'a> {
    url: &'a str,
    token: Option<&'a str>,
    namespace: String,
}

impl At<'_> {
    async fn client(&self) -> anyhow::Result<McpClient> {
        McpClient::connect(self.url, &self.namespace, self.token).await
    }

    /// A client of a server that may still be starting.
    async fn first_client(&self) -> anyhow::Result<McpClient> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.client().await {
                Ok(client) => return Ok(client),
                Err(error) if Instant::now() > deadline => return Err(error),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }
}

async fn round(at: &At<'_>, own: Option<&Server>, args: &LatencyArgs, clients: u32) -> anyhow::Result<Round> {
    let mut first = at.client().await?;
    let remember = calls(at, clients, 0..args.artifacts, |n| {
        ("remember", json!({ "content": office::note(n), "date": DATE }))
    })
    .await?;
    let stored = Instant::now();
    while first.call("status", json!({})).await?.0["pending_jobs"].as_u64() != Some(0) {
        if stored.elapsed() > SETTLING_PATIENCE {
            bail!("jobs are still pending after {} s", SETTLING_PATIENCE.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let settled_after_seconds = stored.elapsed().as_secs_f64();
    let artifacts = args.artifacts;
    let question = move |n| ("recall", json!({ "query": office::question(n, artifacts) }));
    calls(at, 1, 0..WARM_UP, question).await?;
    let recall = calls(at, clients, WARM_UP..WARM_UP + args.queries, question).await?;
    let recall_again = calls(at, clients, WARM_UP..WARM_UP + args.queries, question).await?;
    let footprint = own.map(Server::footprint);
    Ok(Round { clients, artifacts, remember, settled_after_seconds, recall, recall_again, footprint })
}

/// Makes the calls of the numbers; each client makes the next one when it has its answer.
async fn calls(
    at: &At<'_>,
    clients: u32,
    numbers: std::ops::Range<u64>,
    call: impl Fn(u64) -> (&'static str, Value) + Clone + Send + 'static,
) -> anyhow::Result<Calls> {
    let mut connected = Vec::new();
    for _ in 0..clients {
        connected.push(at.client().await?);
    }
    let next = Arc::new(AtomicU64::new(numbers.start));
    let started = Instant::now();
    let tasks: Vec<_> = connected
        .into_iter()
        .map(|mut client| {
            let (next, call, end) = (Arc::clone(&next), call.clone(), numbers.end);
            tokio::spawn(async move {
                let (mut times, mut errors, mut first_error) = (Vec::new(), 0, None);
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= end {
                        return (times, errors, first_error);
                    }
                    let (tool, arguments) = call(n);
                    match client.call(tool, arguments).await {
                        Ok((_, took)) => times.push(took),
                        Err(error) => {
                            errors += 1;
                            first_error.get_or_insert_with(|| format!("{error:#}"));
                        }
                    }
                }
            })
        })
        .collect();
    let (mut times, mut calls) = (Vec::new(), Calls::default());
    for task in tasks {
        let (own, errors, first_error) = task.await?;
        times.extend(own);
        calls.errors += errors;
        calls.first_error = calls.first_error.or(first_error);
    }
    calls.per_second = times.len() as f64 / started.elapsed().as_secs_f64();
    calls.ms = Spread::of(&times);
    Ok(calls)
}

/// Forgets what a round has remembered: every result of a question that all notes answer, until there is none.
async fn forget_all(at: &At<'_>) -> anyhow::Result<()> {
    let mut client = at.client().await?;
    loop {
        let query =
            json!({ "query": "project ticket", "limit": 50, "expand": false, "include_entities": false });
        let (found, _) = client.call("recall", query).await?;
        let ids: Vec<&Value> =
            found["results"].as_array().into_iter().flatten().map(|result| &result["id"]).collect();
        if ids.is_empty() {
            return Ok(());
        }
        for id in ids {
            client.call("forget", json!({ "id": id, "confirm": true })).await?;
        }
    }
}

/// How long the model takes for the questions, with nothing else running.
async fn embedding_alone(settings: &Settings, args: &LatencyArgs) -> anyhow::Result<Option<Embedding>> {
    let files = settings.model.files()?;
    let loaded = tokio::task::spawn_blocking(move || files.load()).await;
    let model = match loaded.context("the thread that loads the model died")? {
        Ok(model) => model,
        Err(error) if args.url.is_some() => {
            eprintln!("remembrancer: embedding alone is not measured: {error}");
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let mut times = Vec::new();
    for n in 0..WARM_UP + args.queries {
        let question = office::question(n, args.artifacts);
        let started = Instant::now();
        model.embed_query(&question).await?;
        if n >= WARM_UP {
            times.push(started.elapsed());
        }
    }
    Ok(Some(Embedding { model: model.info().id.clone(), ms: Spread::of(&times) }))
}

fn shown(report: &LatencyReport) -> String {
    let ms = |value: f64| format!("{value:.1}");
    let row = |name: String, spread: &Spread, per_second: Option<f64>, errors: String| {
        let per_second = per_second.map_or_else(String::new, ms);
        vec![
            name,
            spread.count.to_string(),
            ms(spread.p50),
            ms(spread.p95),
            ms(spread.p99),
            per_second,
            errors,
        ]
    };
    let mut rows = Vec::new();
    if let Some(embedding) = &report.embedding {
        rows.push(row("embedding a question, alone".to_owned(), &embedding.ms, None, String::new()));
    }
    let mut out = String::new();
    for round in &report.rounds {
        let of_round =
            [("remember", &round.remember), ("recall", &round.recall), ("recall again", &round.recall_again)];
        for (tool, calls) in of_round {
            let name =
                format!("{tool}, {} client{}", round.clients, if round.clients == 1 { "" } else { "s" });
            rows.push(row(name, &calls.ms, Some(calls.per_second), calls.errors.to_string()));
            if let Some(error) = &calls.first_error {
                eprintln!("remembrancer: {tool} failed {} times, first: {error}", calls.errors);
            }
        }
        let Round { clients, settled_after_seconds: seconds, artifacts, .. } = round;
        let _ = writeln!(
            out,
            "{clients} clients: no job was pending {seconds:.1} s after the last of {artifacts} notes"
        );
        if let (Some(footprint), Some(empty)) = (&round.footprint, &report.empty) {
            let mb = |bytes: Option<u64>| bytes.map_or("?".to_owned(), |bytes| (bytes >> 20).to_string());
            let _ = writeln!(
                out,
                "  memory: server {} MB, database {} MB; disk {} MB, {} of them before the first note, and log {} MB",
                mb(footprint.server_bytes),
                mb(footprint.database_bytes),
                footprint.disk_bytes >> 20,
                empty.disk_bytes >> 20,
                footprint.log_bytes >> 20,
            );
        }
    }
    table(&head(["call", "n", "p50 ms", "p95 ms", "p99 ms", "per second", "errors"]), &rows) + "\n" + &out
}
