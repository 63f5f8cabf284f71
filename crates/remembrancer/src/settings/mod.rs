//! Settings: flags with environment twins. Secrets come from the environment or a file, never from a flag.

mod shown;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args};
use ipnet::IpNet;
use memory_core::Invalid;
use memory_core::access::{Audited, GivenKey};
use memory_core::authoring::AuthoringLimits;
use memory_core::id::{ContentHash, Namespace};
use memory_core::ports::Extractor;
use memory_engine::EngineSettings;
use memory_engine::recall::Reranking;
use memory_extraction::ExtractorSettings;
use memory_inference::files::ModelSettings;
use memory_inference::reranking::RerankerSettings;
use memory_store::StoreSettings;
use memory_store::vector::qdrant::Qdrant;
use memory_store::vector::{self, MirrorSettings, Times};

use crate::backup::BackupSettings;
use crate::oauth::OAuthSettings;
use crate::setup::Components;

/// Where to listen unless something else is said.
pub(crate) const BIND_DEFAULT: &str = "127.0.0.1:3100";

#[derive(Debug, Clone, Args)]
pub struct Settings {
    #[command(flatten)]
    pub model: ModelSettings,
    /// The namespace that commands and connections work in
    #[arg(
        long,
        env = "REMEMBRANCER_NAMESPACE",
        default_value = "default",
        value_name = "NAME",
        global = true,
        help_heading = "Where the data is"
    )]
    pub(crate) namespace: String,
    #[command(flatten)]
    pub store: StoreSettings,
    #[command(flatten)]
    pub reranker: RerankerSettings,
    #[command(flatten)]
    pub extractor: ExtractorSettings,
    #[command(flatten)]
    pub(crate) mirror: MirrorSettings,
    #[command(flatten)]
    pub(crate) backup: BackupSettings,
    /// Most characters of an observation that save_memory takes
    #[arg(long, env = "REMEMBRANCER_OBSERVATION_MAX_CHARS", default_value_t = 300, value_name = "N", value_parser = clap::value_parser!(u32).range(20..=10_000), global = true, help_heading = "Knowledge graph")]
    pub(crate) observation_max_chars: u32,
    /// Most sentences of an observation that save_memory takes
    #[arg(long, env = "REMEMBRANCER_OBSERVATION_MAX_SENTENCES", default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100), global = true, help_heading = "Knowledge graph")]
    pub(crate) observation_max_sentences: u32,
    /// About how many characters of the knowledge graph one answer has unless a limit is asked for
    #[arg(long, env = "REMEMBRANCER_GRAPH_PAGE_CHARS", default_value_t = 48_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1_000..=1_000_000), global = true, help_heading = "Knowledge graph")]
    pub(crate) graph_page_chars: u32,
    /// MB of memory for namespaces that are searched in the process instead of by Postgres, 0 for none
    #[arg(long, env = "REMEMBRANCER_SEARCH_MEMORY_MB", default_value_t = 64, value_name = "MB", value_parser = clap::value_parser!(u32).range(0..=1_000_000), global = true, help_heading = "Where the data is")]
    pub(crate) search_memory_mb: u32,
    /// Seconds that a process which a host or a command started in the background stays when no client uses it
    #[arg(long, env = "REMEMBRANCER_IDLE_SECONDS", default_value_t = 600, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=604_800), global = true, help_heading = "Where the data is")]
    pub(crate) idle_seconds: u32,
    /// Which calls that bring a key are recorded: off, changes, or all, reads as well
    #[arg(long, env = "REMEMBRANCER_AUDIT", default_value = "changes", value_name = "WHICH", value_parser = audited, global = true, help_heading = "Access")]
    pub(crate) audit: Audited,
    /// Days for which these records are kept
    #[arg(long, env = "REMEMBRANCER_AUDIT_DAYS", default_value_t = 90, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..=3_650), global = true, help_heading = "Access")]
    pub(crate) audit_days: u16,
    #[arg(skip)]
    pub(crate) given: Given,
}

fn audited(given: &str) -> Result<Audited, Invalid> {
    Audited::parse(given).ok_or_else(|| Invalid::new(format!("write one of {}", Audited::names())))
}

/// The settings that were given by a flag or by the environment: variable → flag.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given(BTreeMap<String, String>);

impl Given {
    pub(crate) fn of(command: &clap::Command, matches: &ArgMatches) -> Self {
        let mut given = BTreeMap::new();
        let mut level = Some(matches);
        while let Some(matches) = level {
            for argument in command.get_arguments() {
                let (Some(variable), Some(flag)) = (argument.get_env(), argument.get_long()) else {
                    continue;
                };
                let id = argument.get_id().as_str();
                let source = matches.try_contains_id(id).ok().and_then(|_| matches.value_source(id));
                if matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable)) {
                    given.insert(variable.to_string_lossy().into_owned(), format!("--{flag}"));
                }
            }
            level = matches.subcommand().map(|(_, below)| below);
        }
        Self(given)
    }

    /// The flag of the setting of this variable, if it was given.
    pub(crate) fn flag(&self, variable: &str) -> Option<&str> {
        self.0.get(variable).map(String::as_str)
    }
}

/// Where `serve` listens.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Where serve listens")]
pub(crate) struct ListenSettings {
    /// Address to listen on; one that is not loopback needs a key (`remembrancer keys create`, or REMEMBRANCER_TOKEN)
    #[arg(
        long,
        env = "REMEMBRANCER_BIND",
        default_value = BIND_DEFAULT,
        value_name = "ADDRESS",
        global = true
    )]
    pub(crate) bind: String,
    /// Host names, besides loopback, that requests may be addressed to
    #[arg(
        long,
        env = "REMEMBRANCER_ALLOWED_HOSTS",
        value_delimiter = ',',
        value_name = "HOST",
        global = true
    )]
    pub(crate) allowed_hosts: Vec<String>,
    /// Most HTTP connections at a time; beyond a quarter of the files that the process may open there are none
    #[arg(long, env = "REMEMBRANCER_MAX_CONNECTIONS", default_value_t = 512, value_name = "N", value_parser = clap::value_parser!(u32).range(8..=100_000), global = true)]
    pub(crate) max_connections: u32,
    /// Most of them from one address; loopback and trusted proxies have no such limit
    #[arg(long, env = "REMEMBRANCER_CONNECTIONS_PER_ADDRESS", default_value_t = 128, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), global = true)]
    pub(crate) connections_per_address: u32,
    /// Addresses or networks of proxies, whose `X-Forwarded-For` says whom a request comes from
    #[arg(long, env = "REMEMBRANCER_TRUSTED_PROXIES", value_delimiter = ',', value_name = "NETWORK", value_parser = network, global = true)]
    pub(crate) trusted_proxies: Vec<IpNet>,
    /// Most requests a minute of one key; beyond them 429
    #[arg(long, env = "REMEMBRANCER_REQUESTS_PER_MINUTE", default_value_t = 1_200, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), global = true)]
    pub(crate) requests_per_minute: u32,
    /// Pages for people at /ui: on or off
    #[arg(long, env = "REMEMBRANCER_DASHBOARD", default_value = "on", value_name = "WHICH", value_parser = ["on", "off"], global = true)]
    pub(crate) dashboard: String,
    /// Address to serve metrics and health at, e.g. `127.0.0.1:9464`; none unless it is given
    #[arg(long, env = "REMEMBRANCER_METRICS_BIND", value_name = "ADDRESS", global = true)]
    pub(crate) metrics_bind: Option<String>,
    #[command(flatten)]
    pub(crate) oauth: OAuthSettings,
}

/// An address, or a network as `10.0.0.0/8`.
fn network(text: &str) -> Result<IpNet, String> {
    let address = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse()
        .or_else(|_| address())
        .map_err(|_| format!("{text} is no address and no network; write 10.0.0.2 or 10.0.0.0/8"))
}

impl Settings {
    /// Refuses, before anything is begun, what cannot work. Nothing is connected to.
    pub fn check(&self) -> anyhow::Result<()> {
        self.extractor()?;
        self.mirror.address()?;
        self.mirror.check()?;
        vector::api_key()?;
        self.store.check()?;
        if let Some(folder) = self.reranker.reranker_dir.as_ref().filter(|folder| !folder.is_dir()) {
            bail!(
                "REMEMBRANCER_RERANKER_DIR {} is no folder; name that of a cross-encoder, or unset it",
                folder.display()
            );
        }
        Ok(())
    }

    /// What the process that holds the data folder goes by, as environment variables: one that is started in the background
    /// gets them so. What is not set is empty.
    pub(crate) fn of_the_process(&self) -> Vec<(&'static str, String)> {
        let model_dir =
            self.model.model_dir.as_ref().map(|dir| std::path::absolute(dir).unwrap_or_else(|_| dir.clone()));
        let mut all = vec![
            (
                "REMEMBRANCER_MODEL_DIR",
                model_dir.map_or_else(String::new, |dir| dir.to_string_lossy().into_owned()),
            ),
            ("REMEMBRANCER_DATABASE_CONNECTIONS", self.store.database_connections.to_string()),
            ("REMEMBRANCER_OBSERVATION_MAX_CHARS", self.observation_max_chars.to_string()),
            ("REMEMBRANCER_OBSERVATION_MAX_SENTENCES", self.observation_max_sentences.to_string()),
            ("REMEMBRANCER_GRAPH_PAGE_CHARS", self.graph_page_chars.to_string()),
            ("REMEMBRANCER_SEARCH_MEMORY_MB", self.search_memory_mb.to_string()),
            ("REMEMBRANCER_IDLE_SECONDS", self.idle_seconds.to_string()),
            ("REMEMBRANCER_AUDIT", self.audit.to_string()),
            ("REMEMBRANCER_AUDIT_DAYS", self.audit_days.to_string()),
        ];
        all.extend(self.mirror.environment());
        all.extend(self.extractor.environment());
        all.extend(self.reranker.environment());
        all.extend(self.backup.environment());
        all
    }

    pub(crate) fn namespace(&self) -> anyhow::Result<Namespace> {
        Ok(Namespace::new(&self.namespace)?)
    }

    pub fn engine(&self) -> EngineSettings {
        EngineSettings {
            authoring: AuthoringLimits {
                observation_chars: self.observation_max_chars as usize,
                observation_sentences: self.observation_max_sentences as usize,
                ..AuthoringLimits::default()
            },
            graph_page_chars: self.graph_page_chars as usize,
            resident_bytes: self.search_memory_mb as usize * 1_000_000,
            audited: self.audit,
            audit_days: self.audit_days,
            ..EngineSettings::default()
        }
    }

    /// The server that the vectors are mirrored to, if any.
    pub(crate) fn mirror_server(&self) -> anyhow::Result<Option<Qdrant>> {
        let key = vector::api_key()?;
        Ok(Qdrant::of(&self.mirror, key, Times::default())?)
    }

    /// The extractor that is configured.
    pub fn extractor(&self) -> anyhow::Result<Arc<dyn Extractor>> {
        Ok(self.extractor.extractor(self.model.text_encoder()?)?)
    }

    /// The reranker that is configured, loaded; waits for up to some seconds.
    pub async fn reranking(&self) -> anyhow::Result<Option<Reranking>> {
        let Some(dir) = self.reranker.reranker_dir.clone() else { return Ok(None) };
        let files = self.model.files()?;
        let loading = tokio::task::spawn_blocking(move || files.load_reranker(&dir));
        let reranker = loading.await.context("the thread that loads the reranker died")??;
        let deadline = Duration::from_millis(self.reranker.reranker_deadline_ms);
        Ok(Some(Reranking { reranker: Arc::new(reranker), deadline }))
    }

    pub(crate) fn data_dir(&self) -> anyhow::Result<PathBuf> {
        Ok(self.model.data_dir()?)
    }

    pub fn components(&self) -> anyhow::Result<Components> {
        Ok(Components { data_dir: self.data_dir()?, model_dir_override: self.model.model_dir.clone() })
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

const SECRET_FILES: [&str; 6] = [
    "DATABASE_PASSWORD_FILE",
    "REMEMBRANCER_KEY_FILE",
    "REMEMBRANCER_PASSWORD_FILE",
    "REMEMBRANCER_TOKEN_FILE",
    "REMEMBRANCER_LLM_KEY_FILE",
    "QDRANT_API_KEY_FILE",
];
/// Where containers have theirs: access to them is decided by the runtime, not by the mode.
const MOUNTED_SECRETS: &str = "/run/secrets";

/// Logs secrets in files that other users can read: once, by the process that keeps using them.
pub(crate) fn warn_of_open_secrets() {
    for open in open_secrets() {
        tracing::warn!("{open}");
    }
}

/// What is to be said of each of them.
pub(crate) fn open_secrets() -> Vec<String> {
    let mut open = Vec::new();
    for name in SECRET_FILES {
        let Some(file) = std::env::var_os(name).filter(|file| !file.is_empty()).map(PathBuf::from) else {
            continue;
        };
        if let Ok(found) = std::fs::metadata(&file)
            && found.mode() & 0o077 != 0
            && !file.starts_with(MOUNTED_SECRETS)
        {
            open.push(format!(
                "{name} {} can be read by others (mode {:03o}): `chmod 600` keeps the secret to its owner",
                file.display(),
                found.mode() & 0o777
            ));
        }
    }
    open
}

/// The bearer token that HTTP requests must bring, from REMEMBRANCER_TOKEN or the file REMEMBRANCER_TOKEN_FILE.
pub fn token() -> anyhow::Result<Option<String>> {
    let Some(token) = secret("REMEMBRANCER_TOKEN", "REMEMBRANCER_TOKEN_FILE")? else { return Ok(None) };
    let token = token.trim();
    if token.len() < 16 {
        bail!(
            "REMEMBRANCER_TOKEN is too short to be safe: use at least 16 characters, such as `openssl rand -hex 32` gives"
        );
    }
    Ok(Some(token.to_owned()))
}

/// A variable, or what the file has that another variable names.
pub(crate) fn secret(variable: &str, file_variable: &str) -> anyhow::Result<Option<String>> {
    match (std::env::var(variable), std::env::var_os(file_variable)) {
        (Ok(secret), _) => Ok(Some(secret)),
        (Err(_), Some(file)) => {
            let read = std::fs::read_to_string(&file);
            let name = || format!("{file_variable} {} cannot be read", PathBuf::from(&file).display());
            Ok(Some(read.with_context(name)?))
        }
        (Err(_), None) => Ok(None),
    }
}

/// The key that `stdio` and commands bring to the process that holds the data folder, from REMEMBRANCER_KEY or the file
/// REMEMBRANCER_KEY_FILE. Set to nothing it is refused: a key that was lost on the way must not open everything.
pub(crate) fn key() -> anyhow::Result<Option<String>> {
    let Some(key) = secret("REMEMBRANCER_KEY", "REMEMBRANCER_KEY_FILE")? else { return Ok(None) };
    let key = key.trim();
    if GivenKey::parse(key).is_none() {
        bail!(
            "REMEMBRANCER_KEY is no key: it takes what `remembrancer keys create` has shown, which begins with rem_; or unset it"
        );
    }
    Ok(Some(key.to_owned()))
}
