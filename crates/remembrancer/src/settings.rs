//! Settings: flags with environment twins. Secrets come from the environment or a file, never from a flag.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{Args, Parser, Subcommand};
use memory_core::id::{ContentHash, Namespace};
use memory_store::StoreSettings;

use crate::commands::import_folder::ImportFolderArgs;
use crate::commands::setup::SetupArgs;
use crate::commands::verbs::{ForgetArgs, RecallArgs, RememberArgs, StatusArgs};
use crate::pieces::Pieces;

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
    Stdio,
    /// Remember a text from a file or standard input
    Remember(RememberArgs),
    /// Search the memory, or show one text, event or conversation
    Recall(RecallArgs),
    /// Delete a remembered text for good
    Forget(ForgetArgs),
    /// Show what runs, what is stored and what waits
    Status(StatusArgs),
    /// Remember every text file of a folder
    ImportFolder(ImportFolderArgs),
    /// Hold the database and the model for other processes of the data folder
    #[command(hide = true)]
    Instance,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Settings {
    /// Where the database, the model and their programs are [default: the user's data folder]
    #[arg(long, env = "REMEMBRANCER_DATA_DIR", global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// The namespace that commands and connections work in
    #[arg(long, env = "REMEMBRANCER_NAMESPACE", default_value = "default", global = true)]
    pub(crate) namespace: String,
    /// The embedding model's folder [default: the one that setup made]
    #[arg(long, env = "REMEMBRANCER_MODEL_DIR", global = true, value_name = "DIR")]
    pub(crate) model_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreSettings,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on; one that is not loopback needs a token (REMEMBRANCER_TOKEN or REMEMBRANCER_TOKEN_FILE)
    #[arg(long, env = "REMEMBRANCER_BIND", default_value = "127.0.0.1:3100")]
    pub(crate) bind: String,
    /// Host names, besides loopback, that requests may be addressed to
    #[arg(long, env = "REMEMBRANCER_ALLOWED_HOSTS", value_delimiter = ',', value_name = "HOST")]
    pub(crate) allowed_hosts: Vec<String>,
}

impl Settings {
    pub(crate) fn namespace(&self) -> anyhow::Result<Namespace> {
        Ok(Namespace::new(&self.namespace)?)
    }

    pub(crate) fn data_dir(&self) -> anyhow::Result<PathBuf> {
        let chosen = match &self.data_dir {
            Some(chosen) => chosen.clone(),
            None => default_data_dir()?,
        };
        std::path::absolute(&chosen).with_context(|| format!("the data folder {} cannot be used", chosen.display()))
    }

    pub(crate) fn pieces(&self) -> anyhow::Result<Pieces> {
        Ok(Pieces { data_dir: self.data_dir()?, model_dir_override: self.model_dir.clone() })
    }

    /// Tells processes apart that share a data folder but not a database.
    pub(crate) fn instance_name(&self) -> String {
        match &self.store.database_url {
            None => "embedded".to_owned(),
            Some(url) => {
                ContentHash::of(url).candidate_ids().next().map_or_else(String::new, |id| id.0.replace("art_", "external-"))
            }
        }
    }
}

fn default_data_dir() -> anyhow::Result<PathBuf> {
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from("/var/lib/remembrancer"));
    }
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(data) = from("XDG_DATA_HOME") {
        return Ok(data.join("remembrancer"));
    }
    let home = from("HOME").context("there is no HOME to keep data in; name a folder with --data-dir")?;
    let below = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
    Ok(home.join(below).join("remembrancer"))
}

/// The bearer token that HTTP requests must bring, from REMEMBRANCER_TOKEN or the file REMEMBRANCER_TOKEN_FILE.
pub(crate) fn token() -> anyhow::Result<Option<String>> {
    let token = match (std::env::var("REMEMBRANCER_TOKEN"), std::env::var_os("REMEMBRANCER_TOKEN_FILE")) {
        (Ok(token), _) => token,
        (Err(_), Some(file)) => std::fs::read_to_string(&file)
            .with_context(|| format!("REMEMBRANCER_TOKEN_FILE {} cannot be read", PathBuf::from(&file).display()))?,
        (Err(_), None) => return Ok(None),
    };
    let token = token.trim();
    if token.len() < 16 {
        bail!("REMEMBRANCER_TOKEN is too short to be safe: use at least 16 characters, such as `openssl rand -hex 32` gives");
    }
    Ok(Some(token.to_owned()))
}
