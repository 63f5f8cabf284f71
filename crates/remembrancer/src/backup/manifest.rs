//! What a backup says of itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use jiff::Timestamp;
use memory_engine::archive::ArchiveExported;
use memory_store::inventory::Described;
use serde::{Deserialize, Serialize};

use super::files::{self, FileSum};

pub(crate) const MANIFEST: &str = "manifest.json";
/// Where the copy of the database is in a physical backup.
pub(crate) const DATA: &str = "data";
/// Where the archives are in a logical one.
pub(crate) const NAMESPACES: &str = "namespaces";
/// Where models are that `setup` does not fetch.
pub(crate) const MODELS: &str = "models";
const FORMAT: u32 = 1;
/// More than the manifest of any database has that fits on a disk.
const MANIFEST_MAX_BYTES: u64 = 256 << 20;
/// How many faults are named.
const FAULTS_SHOWN: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// The files of the embedded database.
    Physical,
    /// An archive of each namespace.
    Logical,
}

impl Kind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Physical => "physical",
            Self::Logical => "logical",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    Asked,
    Scheduled,
    /// A newer build was about to change the schema.
    BeforeMigration,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamespaceFile {
    pub(crate) namespace: String,
    pub(crate) file: String,
    pub(crate) counts: ArchiveExported,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    pub(crate) kind: Kind,
    pub(crate) reason: Reason,
    pub(crate) created_at: Timestamp,
    /// The version of the program that made it.
    pub(crate) product: String,
    pub(crate) database: Described,
    /// The rows of every table, when the backup began.
    pub(crate) counts: BTreeMap<String, i64>,
    /// The same when it ended, of tables that were written to meanwhile.
    pub(crate) counts_after: BTreeMap<String, i64>,
    /// How many rows were inserted and deleted meanwhile, by table. Not known of every backup, nor of those of earlier builds.
    #[serde(default)]
    pub(crate) written: Option<BTreeMap<String, i64>>,
    /// Of a logical backup.
    pub(crate) namespaces: Vec<NamespaceFile>,
    pub(crate) bytes: u64,
    pub(crate) files: BTreeMap<String, FileSum>,
}

impl Manifest {
    /// Of what lies in the folder by now.
    pub(crate) fn of(
        folder: &Path,
        (kind, reason): (Kind, Reason),
        created_at: Timestamp,
        database: Described,
        counts: BTreeMap<String, i64>,
    ) -> anyhow::Result<Self> {
        let files = files::sums(folder)?;
        Ok(Self {
            format: FORMAT,
            kind,
            reason,
            created_at,
            product: env!("CARGO_PKG_VERSION").to_owned(),
            database,
            counts,
            counts_after: BTreeMap::new(),
            written: None,
            namespaces: Vec::new(),
            bytes: files.values().map(|file| file.bytes).sum(),
            files,
        })
    }

    pub(crate) fn read(backup: &Path) -> anyhow::Result<Self> {
        let path = backup.join(MANIFEST);
        let found = fs::metadata(&path).map_err(|_| {
            anyhow::anyhow!(
                "{} is no backup: it has no {MANIFEST}, which is written last; name the folder of a whole one",
                backup.display()
            )
        })?;
        if found.len() > MANIFEST_MAX_BYTES {
            bail!("{} is too long to be one of ours", path.display());
        }
        let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let damaged = |error: serde_json::Error| {
            anyhow::anyhow!("{} is damaged ({error}); use another backup", path.display())
        };
        let value: serde_json::Value = serde_json::from_slice(&text).map_err(damaged)?;
        // Said first: what a later form has may not be understood.
        if let Some(format) = value["format"].as_u64().filter(|format| *format > u64::from(FORMAT)) {
            bail!(
                "{} has the form {format} of a later version of Remembrancer, and this one knows {FORMAT}; restore it with \
                 that version",
                backup.display()
            );
        }
        serde_json::from_value(value).map_err(damaged)
    }

    pub(crate) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let path = folder.join(MANIFEST);
        fs::write(&path, serde_json::to_vec_pretty(self)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
        files::sync(&path)
    }

    /// Fails when a file is missing, was added or is not what it was, and says which.
    pub(crate) fn check_files(&self, backup: &Path) -> anyhow::Result<()> {
        let mut faults = Vec::new();
        for (name, noted) in &self.files {
            match files::sum(&backup.join(name)) {
                Ok(found) if found == *noted => {}
                Ok(found) if found.bytes != noted.bytes => {
                    faults.push(format!("{name} has {} bytes instead of {}", found.bytes, noted.bytes));
                }
                Ok(_) => faults.push(format!("{name} was changed (another SHA-256)")),
                Err(_) if !backup.join(name).exists() => faults.push(format!("{name} is missing")),
                Err(error) => faults.push(format!("{error:#}")),
            }
        }
        let entries = walkdir::WalkDir::new(backup).min_depth(1).into_iter().filter_map(Result::ok);
        for entry in entries.filter(|entry| !entry.file_type().is_dir()) {
            let name = entry.path().strip_prefix(backup).unwrap_or(entry.path()).to_string_lossy();
            if name != MANIFEST && !self.files.contains_key(name.as_ref()) {
                faults.push(format!("{name} does not belong to it"));
            }
        }
        if faults.is_empty() {
            return Ok(());
        }
        let more = faults.len().saturating_sub(FAULTS_SHOWN);
        faults.truncate(FAULTS_SHOWN);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        bail!("the backup {} is damaged: {}{more}; use another backup", backup.display(), faults.join("; "))
    }
}
