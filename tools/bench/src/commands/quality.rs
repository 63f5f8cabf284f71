//! `bench quality`: is the evidence among the results?

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, ValueEnum};
use futures::FutureExt;
use measuring::machine::Machine;
use memory_core::ports::EmbeddingModel;
use memory_engine::{EngineSettings, Memory};
use memory_extraction::RulesExtractor;
use remembrancer_bench::conversations::{self, Conversation};
use remembrancer_bench::plot;
use remembrancer_bench::quality::{self, Given, Level, LevelReport, Plan, QualityReport};
use serde_json::{Value, json};

use super::database::{Database, until_signal};
use super::{Outputs, Picture, own_name};
use remembrancer::settings::Settings;
use remembrancer::transfer_bar;

/// The depth that the picture shows, if it is among those asked for; else the deepest.
const SHOWN_K: usize = 10;

#[derive(Debug, Args)]
pub(crate) struct QualityArgs {
    /// Conversations with questions, as JSON: [{id, turns: [{id, session, date, speaker, text}], questions: [{question,
    /// category, evidence: [turn ids]}]}]; several files are measured one after the other and shown side by side
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What is remembered as one artifact
    #[arg(long, value_enum, default_value = "both")]
    level: Levels,
    /// How many results count
    #[arg(short, long, value_delimiter = ',', default_value = "5,10,20", value_parser = clap::value_parser!(u64).range(1..=50))]
    k: Vec<u64>,
    /// What turns are given with, besides their texts
    #[arg(long, value_enum, default_value = "all")]
    given: Given,
    /// Measure the default alone, without other weights and without what expansion adds
    #[arg(long)]
    brief: bool,
    #[command(flatten)]
    outputs: Outputs,
    #[command(flatten)]
    picture: Picture,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Levels {
    Turn,
    Session,
    Both,
}

impl Levels {
    fn list(self) -> Vec<Level> {
        match self {
            Self::Turn => vec![Level::Turn],
            Self::Session => vec![Level::Session],
            Self::Both => vec![Level::Turn, Level::Session],
        }
    }
}

pub(crate) async fn run(settings: &Settings, args: QualityArgs) -> anyhow::Result<()> {
    args.outputs.check()?;
    args.picture.check()?;
    let collections = args
        .files
        .iter()
        .map(|file| Ok((file, conversations::read(file)?)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let files = settings.model.files()?;
    let model: Arc<dyn EmbeddingModel> = Arc::new(
        tokio::task::spawn_blocking(move || files.load())
            .await
            .context("the thread that loads the model died")??,
    );
    let mut ks: Vec<usize> = args.k.iter().map(|k| *k as usize).collect();
    ks.sort_unstable();
    ks.dedup();
    let sources: Vec<Value> =
        collections.iter().map(|(file, (talks, sha256))| source(file, talks, sha256)).collect();
    let plan = |(n, (file, (conversations, _))): (usize, (&PathBuf, (Vec<Conversation>, String)))| Plan {
        collection: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        conversations,
        levels: args.level.list(),
        given: args.given,
        is_brief: args.brief,
        ks: ks.clone(),
        prefix: format!("{}-{n}", own_name()),
    };
    let plans: Vec<Plan> = collections.into_iter().enumerate().map(plan).collect();

    let reranking = settings.reranking().await?;
    let database = Database::given_or_temporary(settings).await?;
    // Nothing is waited for: jobs are done when all of it is remembered.
    let engine = EngineSettings {
        conversation_pause: std::time::Duration::ZERO,
        conversation_patience: std::time::Duration::ZERO,
        ..settings.engine()
    };
    let with_weights = |weights| {
        let engine = EngineSettings { weights, ..engine.clone() };
        let memory = Memory::new(database.store.clone(), Arc::new(RulesExtractor::new()), engine);
        let (memory, model) = (Arc::new(memory.with_reranking(reranking.clone())), Arc::clone(&model));
        async move {
            memory.adopt_model(model).await?;
            Ok(memory)
        }
        .boxed()
    };
    let measuring = async {
        let mut levels = Vec::new();
        for plan in &plans {
            levels.extend(quality::run(&with_weights, plan, |unit| transfer_bar(unit, false)).await?);
        }
        Ok(levels)
    };
    let measured = until_signal(measuring).await;
    let cleared = clear(settings, &database, &plans).await;
    let closed = database.close().await;
    let levels = measured?;
    cleared?;
    closed?;
    for level in &levels {
        println!("{}", level.table());
    }
    let shown = ks.iter().copied().find(|k| *k == SHOWN_K).or(ks.last().copied()).unwrap_or(SHOWN_K);
    if levels.len() > 1 {
        println!("{}", quality::side_by_side(&levels, shown));
    }
    args.picture.write(|| plot::quality(&levels, shown))?;
    args.outputs.write(&report(settings, &sources, &ks, model.info().id.clone(), levels))
}

/// A database that was given gets back to what it was.
async fn clear(settings: &Settings, database: &Database, plans: &[Plan]) -> anyhow::Result<()> {
    if settings.store.database_url.is_some() {
        let memory = Memory::new(database.store.clone(), Arc::new(RulesExtractor::new()), settings.engine());
        for plan in plans {
            for namespace in plan.namespaces()? {
                memory
                    .forget_namespace(&namespace)
                    .await
                    .with_context(|| format!("the namespace {namespace} could not be removed again"))?;
            }
        }
    }
    Ok(())
}

fn source(file: &Path, conversations: &[Conversation], sha256: &str) -> Value {
    json!({
        "file": file.file_name().map(|name| name.to_string_lossy()),
        "sha256": sha256,
        "conversations": conversations.len(),
        "turns": conversations.iter().map(|one| one.turns.len()).sum::<usize>(),
    })
}

fn report(
    settings: &Settings,
    sources: &[Value],
    ks: &[usize],
    model: String,
    levels: Vec<LevelReport>,
) -> QualityReport {
    let reranker = settings.reranker.reranker_dir.as_ref().and_then(|dir| dir.file_name());
    QualityReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        date: jiff::Timestamp::now().to_string(),
        model,
        machine: Machine::here(),
        settings: json!({
            "files": sources,
            "k": ks,
            "limit": ks.last(),
            "expand": false,
            "reranker": reranker.map(|name| name.to_string_lossy()),
            "interval": "95 % bootstrap over questions, 1000 resamples",
        }),
        levels,
    }
}
