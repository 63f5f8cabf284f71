//! `bench extraction`: are the events and names of labelled documents found, and nothing else? No database is needed.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::ensure;
use clap::{Args, ValueEnum};
use measuring::extraction::{self, DocumentCounts, ExtractionReport, Figures, Gold, Mistakes};
use measuring::machine::Machine;
use memory_core::ports::Extractor;
use memory_extraction::RulesExtractor;
use serde_json::json;

use super::Outputs;
use remembrancer::settings::Settings;

#[derive(Debug, Args)]
pub(crate) struct ExtractionArgs {
    /// A folder of labelled documents, NAME.txt with NAME.json each
    folder: PathBuf,
    /// Only documents whose names begin so [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// What extracts; the language model is the one that the settings name
    #[arg(long, value_enum, default_value = "rules")]
    extractor: Which,
    /// List what is wrong and what is missed, document by document
    #[arg(long)]
    errors: bool,
    #[command(flatten)]
    outputs: Outputs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Which {
    /// With the text encoder if setup has made it.
    Rules,
    /// Without it.
    RulesAlone,
    Llm,
}

impl Which {
    fn extractor(self, settings: &Settings) -> anyhow::Result<Arc<dyn Extractor>> {
        let alone = RulesExtractor::new().with_confidence(settings.extractor.event_confidence);
        match self {
            Self::Rules => Ok(Arc::new(alone.with_encoder(settings.model.text_encoder()?))),
            Self::RulesAlone => Ok(Arc::new(alone)),
            Self::Llm => {
                let named = settings.extractor.options()?.is_some();
                ensure!(
                    named,
                    "no language model is named: set REMEMBRANCER_LLM_URL and REMEMBRANCER_LLM_MODEL (or --llm-url and --llm-model)"
                );
                settings.extractor()
            }
        }
    }

    /// The model that was asked.
    fn model(self, settings: &Settings) -> Option<&str> {
        match self {
            Self::Rules | Self::RulesAlone => None,
            Self::Llm => settings.extractor.llm_model.as_deref(),
        }
    }
}

pub(crate) async fn run(settings: &Settings, args: ExtractionArgs) -> anyhow::Result<()> {
    args.outputs.check()?;
    let mut gold = Gold::read(&args.folder)?.sound()?;
    if !args.names.is_empty() {
        gold.documents.retain(|document| args.names.iter().any(|name| document.name.starts_with(name)));
    }
    let extractor = args.extractor.extractor(settings)?;
    println!("{}", extractor.health().detail);
    let (judged, failures) = extraction::run_through(extractor.as_ref(), &gold.documents).await?;
    for failure in &failures {
        eprintln!("{}: nothing was found, {}", failure.document, failure.error);
    }
    let mistakes: Option<Vec<Mistakes>> = args.errors.then(|| judged.iter().map(Mistakes::of).collect());
    for mistakes in mistakes.iter().flatten() {
        print!("{}", mistakes.text());
    }
    let figures = Figures::of(&judged);
    print!("{}", figures.table());
    args.outputs.write(&ExtractionReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        date: jiff::Timestamp::now().to_string(),
        extractor: format!("{} {}", extractor.name(), extractor.version()),
        machine: Machine::here(),
        settings: json!({
            "folder": args.folder.file_name().map(|name| name.to_string_lossy()),
            "sha256": gold.sha256,
            "model": args.extractor.model(settings),
            "interval": "95 % bootstrap over documents, 1000 resamples",
        }),
        figures,
        documents: judged.iter().map(DocumentCounts::of).collect(),
        failures,
        mistakes,
    })
}
