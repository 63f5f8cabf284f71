//! Settings: flags with environment twins. Secrets come from the environment or a file, never from a flag.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, Parser, Subcommand};
use memory_core::authoring::AuthoringLimits;
use memory_core::id::{ContentHash, Namespace};
use memory_core::ports::Extractor;
use memory_engine::EngineSettings;
use memory_engine::recall::Reranking;
use memory_inference::extractor::ExtractorSettings;
use memory_inference::files::ModelSettings;
use memory_inference::reranking::RerankerSettings;
use memory_store::StoreSettings;
use memory_store::vector::qdrant::Qdrant;
use memory_store::vector::{self, MirrorSettings, Times};

use crate::commands::bench::BenchArgs;
use crate::commands::entities::EntitiesCommand;
use crate::commands::events::{CommitmentsArgs, DecisionsArgs};
use crate::commands::export::ExportArgs;
use crate::commands::import::ImportArgs;
use crate::commands::import_folder::ImportFolderArgs;
use crate::commands::jobs::JobsArgs;
use crate::commands::mirror::{ReconcileArgs, ReindexArgs};
use crate::commands::reembed::ReembedArgs;
use crate::commands::reextract::ReextractArgs;
use crate::commands::setup::SetupArgs;
use crate::commands::verbs::{ForgetArgs, RecallArgs, RememberArgs, StatusArgs};
use crate::pieces::Pieces;
use crate::tools::ToolSettings;

/// The memory that AI agents keep.
#[derive(Debug, Parser)]
#[command(name = "remembrancer", version, propagate_version = true, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) settings: Settings,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fetch Postgres, ONNX Runtime and the embedding model, once
    Setup(SetupArgs),
    /// Serve MCP over HTTP at <http://localhost:3100/mcp>
    Serve(ServeArgs),
    /// Serve MCP over standard input and output, as hosts start it
    Stdio(ToolSettings),
    /// Remember a text from a file or standard input
    Remember(RememberArgs),
    /// Search the memory, or show one text, event or conversation
    Recall(RecallArgs),
    /// List what was promised: what is overdue first, then by due date
    Commitments(CommitmentsArgs),
    /// List what was decided, newest first
    Decisions(DecisionsArgs),
    /// Delete a remembered text for good
    Forget(ForgetArgs),
    /// Show what runs, what is stored and what waits
    Status(StatusArgs),
    /// Show who and what the texts name, and say which are the same
    #[command(subcommand)]
    Entities(EntitiesCommand),
    /// Write a knowledge graph as lines of JSON
    Export(ExportArgs),
    /// Take in what export, or a graph server, wrote
    Import(ImportArgs),
    /// Remember every text file of a folder
    ImportFolder(ImportFolderArgs),
    /// Change the embedding model, named by --model-dir, while everything goes on
    Reembed(ReembedArgs),
    /// Compare the vectors mirrored in Qdrant with Postgres, and mend them
    Reconcile(ReconcileArgs),
    /// Build a new collection in Qdrant while the old one is searched
    Reindex(ReindexArgs),
    /// Extract events and entities again, behind what others wait for, while everything goes on
    Reextract(ReextractArgs),
    /// Look at background jobs, try failed ones again, cancel
    Jobs(JobsArgs),
    /// Measure how well and how fast it is, on a database of its own
    Bench(BenchArgs),
    /// Hold the database and the model for other processes of the data folder
    #[command(hide = true)]
    Instance,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Settings {
    #[command(flatten)]
    pub(crate) model: ModelSettings,
    /// The namespace that commands and connections work in
    #[arg(long, env = "REMEMBRANCER_NAMESPACE", default_value = "default", global = true)]
    pub(crate) namespace: String,
    /// Most characters of an observation that save_memory takes
    #[arg(long, env = "REMEMBRANCER_OBSERVATION_MAX_CHARS", default_value_t = 300, value_parser = clap::value_parser!(u32).range(20..=10_000), global = true)]
    pub(crate) observation_max_chars: u32,
    /// Most sentences of an observation that save_memory takes
    #[arg(long, env = "REMEMBRANCER_OBSERVATION_MAX_SENTENCES", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100), global = true)]
    pub(crate) observation_max_sentences: u32,
    #[command(flatten)]
    pub(crate) store: StoreSettings,
    #[command(flatten)]
    pub(crate) mirror: MirrorSettings,
    #[command(flatten)]
    pub(crate) extractor: ExtractorSettings,
    #[command(flatten)]
    pub(crate) reranker: RerankerSettings,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on; one that is not loopback needs a token (REMEMBRANCER_TOKEN or REMEMBRANCER_TOKEN_FILE)
    #[arg(long, env = "REMEMBRANCER_BIND", default_value = "127.0.0.1:3100")]
    pub(crate) bind: String,
    /// Host names, besides loopback, that requests may be addressed to
    #[arg(long, env = "REMEMBRANCER_ALLOWED_HOSTS", value_delimiter = ',', value_name = "HOST")]
    pub(crate) allowed_hosts: Vec<String>,
    #[command(flatten)]
    pub(crate) tools: ToolSettings,
}

impl Settings {
    pub(crate) fn namespace(&self) -> anyhow::Result<Namespace> {
        Ok(Namespace::new(&self.namespace)?)
    }

    pub(crate) fn engine(&self) -> EngineSettings {
        EngineSettings {
            authoring: AuthoringLimits {
                observation_chars: self.observation_max_chars as usize,
                observation_sentences: self.observation_max_sentences as usize,
                ..AuthoringLimits::default()
            },
            ..EngineSettings::default()
        }
    }

    /// The server that the vectors are mirrored to, if any.
    pub(crate) fn mirror_server(&self) -> anyhow::Result<Option<Qdrant>> {
        let key = vector::api_key().map_err(anyhow::Error::msg)?;
        Qdrant::of(&self.mirror, key, Times::default()).map_err(anyhow::Error::msg)
    }

    /// The extractor that is configured.
    pub(crate) fn extractor(&self) -> anyhow::Result<Arc<dyn Extractor>> {
        self.extractor.extractor().map_err(anyhow::Error::msg)
    }

    /// The reranker that is configured, loaded; waits for up to some seconds.
    pub(crate) async fn reranking(&self) -> anyhow::Result<Option<Reranking>> {
        let Some(dir) = self.reranker.reranker_dir.clone() else { return Ok(None) };
        let files = self.model.files().map_err(anyhow::Error::msg)?;
        let loading = tokio::task::spawn_blocking(move || files.load_reranker(&dir));
        let reranker = loading.await.context("the thread that loads the reranker died")??;
        let deadline = Duration::from_millis(self.reranker.reranker_deadline_ms);
        Ok(Some(Reranking { reranker: Arc::new(reranker), deadline }))
    }

    pub(crate) fn data_dir(&self) -> anyhow::Result<PathBuf> {
        self.model.data_dir().map_err(anyhow::Error::msg)
    }

    pub(crate) fn pieces(&self) -> anyhow::Result<Pieces> {
        Ok(Pieces { data_dir: self.data_dir()?, model_dir_override: self.model.model_dir.clone() })
    }

    /// Tells processes apart that share a data folder but not a database.
    pub(crate) fn instance_name(&self) -> String {
        match &self.store.database_url {
            None => "embedded".to_owned(),
            Some(url) => ContentHash::of(url)
                .candidate_ids()
                .next()
                .map_or_else(String::new, |id| id.0.replace("art_", "external-")),
        }
    }
}

/// The file that the graph is kept in, from MEMORY_FILE_PATH: absolute, or relative to the working directory.
pub(crate) fn graph_file() -> anyhow::Result<Option<PathBuf>> {
    let Some(path) = std::env::var_os("MEMORY_FILE_PATH").filter(|path| !path.is_empty()) else {
        return Ok(None);
    };
    let path = std::path::absolute(&path).context("MEMORY_FILE_PATH cannot be used")?;
    if path.to_str().is_none() {
        bail!("MEMORY_FILE_PATH {} is not UTF-8; name another file", path.display());
    }
    Ok(Some(path))
}

/// The bearer token that HTTP requests must bring, from REMEMBRANCER_TOKEN or the file REMEMBRANCER_TOKEN_FILE.
pub(crate) fn token() -> anyhow::Result<Option<String>> {
    let token = match (std::env::var("REMEMBRANCER_TOKEN"), std::env::var_os("REMEMBRANCER_TOKEN_FILE")) {
        (Ok(token), _) => token,
        (Err(_), Some(file)) => std::fs::read_to_string(&file).with_context(|| {
            format!("REMEMBRANCER_TOKEN_FILE {} cannot be read", PathBuf::from(&file).display())
        })?,
        (Err(_), None) => return Ok(None),
    };
    let token = token.trim();
    if token.len() < 16 {
        bail!(
            "REMEMBRANCER_TOKEN is too short to be safe: use at least 16 characters, such as `openssl rand -hex 32` gives"
        );
    }
    Ok(Some(token.to_owned()))
}
