//! Puts one component in its place: fetch, unpack beside it, make it ready, rename. Whatever ends it on the
//! way, the next run begins with what is whole.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use memory_inference::adapted::ADAPTED_MODELS;
use memory_inference::convert::{convert_first_layers, convert_to_int8_onnx, write_word_embeddings};
use memory_inference::embedding::{MODEL_FILE, ModelDescription};
use memory_inference::integrity::{SUMS_FILE, write_sums};
use memory_inference::word_embeddings::WORD_EMBEDDINGS_FILE;
use walkdir::WalkDir;

use super::unpack::unpack;
use memory_inference::files::DEFAULT_MODEL;

use super::{Component, Components, Pin, Progress, Source, make_folders};

const DOWNLOADS: &str = "downloads";
const WEIGHTS: &str = "model.safetensors";

/// One run of setup, which holds the lock.
#[derive(Debug)]
pub(crate) struct Installer<'a> {
    components: &'a Components,
    source: Source,
    downloads: PathBuf,
    /// Of this run alone: a pip that outlived an earlier one writes nowhere here.
    work: PathBuf,
}

impl<'a> Installer<'a> {
    /// Clears what interrupted runs have left.
    pub(crate) fn new(components: &'a Components, source: Source) -> anyhow::Result<Self> {
        let downloads = components.data_dir.join(DOWNLOADS);
        make_folders(&downloads)?;
        for entry in
            fs::read_dir(&downloads).with_context(|| format!("cannot read {}", downloads.display()))?
        {
            let path = entry.with_context(|| format!("cannot read {}", downloads.display()))?.path();
            if path.is_dir() {
                remove_folder(&path)?;
            }
        }
        let work = downloads.join(format!("run-{}", std::process::id()));
        make_folders(&work)?;
        Ok(Self { components, source, downloads, work })
    }

    pub(crate) fn install(&self, component: Component, pin: &Pin, progress: &Progress) -> anyhow::Result<()> {
        let work = self.work.join(component.package());
        make_folders(&work)?;
        let package = self.source.fetch(pin, &self.downloads, &work, progress)?;

        let folder = self.components.folder(component);
        make_folders(folder.parent().context("a component lies in a folder")?)?;
        let part = with_suffix(&folder, ".part");
        remove_folder(&part)?;
        progress.step("unpacking");
        unpack(&package, &part, |file| component.place(file))?;
        if component == Component::Model {
            progress.step("converting to 8 bits");
            prepare_model(&part)?;
        }
        settle(&part)?;
        // One that is there lacks something, and may be in use: it is away for no longer than this takes.
        let old = with_suffix(&folder, ".old");
        remove_folder(&old)?;
        if folder.exists() {
            fs::rename(&folder, &old).with_context(|| format!("cannot move {}", folder.display()))?;
        }
        fs::rename(&part, &folder).with_context(|| format!("cannot move {}", part.display()))?;
        remove_folder(&old)?;
        if self.source.is_ours() {
            fs::remove_file(&package).with_context(|| format!("cannot delete {}", package.display()))?;
        }
        progress.done("ready");
        Ok(())
    }

    /// Deletes what this run needed. Packages that were fetched and not yet used stay for the next.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        remove_folder(&self.work)?;
        let is_empty = fs::read_dir(&self.downloads).is_ok_and(|mut entries| entries.next().is_none());
        if is_empty {
            remove_folder(&self.downloads)?;
        }
        Ok(())
    }
}

/// Weights as published become those that are run.
fn prepare_model(folder: &Path) -> anyhow::Result<()> {
    convert_to_int8_onnx(folder, None, &folder.join("model_int8.onnx"))?;
    for model in ADAPTED_MODELS {
        convert_first_layers(folder, model.layers, Some(model.adapter), &folder.join(model.file))?;
    }
    write_word_embeddings(folder, &folder.join(WORD_EMBEDDINGS_FILE))?;
    let weights = folder.join(WEIGHTS);
    fs::remove_file(&weights).with_context(|| format!("cannot delete {}", weights.display()))?;
    let description = ModelDescription {
        id: DEFAULT_MODEL.to_owned(),
        dimension: 384,
        window_tokens: 256,
        query_prefix: String::new(),
        passage_prefix: String::new(),
    };
    let json = serde_json::to_string_pretty(&description)?;
    let description = folder.join(MODEL_FILE);
    fs::write(&description, json).with_context(|| format!("cannot write {}", description.display()))?;
    let made = ["model_int8.onnx", WORD_EMBEDDINGS_FILE, MODEL_FILE];
    for name in made.into_iter().chain(ADAPTED_MODELS.map(|model| model.file)) {
        let file = folder.join(name);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644))
            .with_context(|| format!("cannot set the mode of {}", file.display()))?;
    }
    note_sums(folder)
}

/// Writes the sums of the files of a model, which are checked when it is loaded.
pub(super) fn note_sums(folder: &Path) -> anyhow::Result<()> {
    let sums = folder.join(SUMS_FILE);
    write_sums(folder)
        .and_then(|()| fs::set_permissions(&sums, fs::Permissions::from_mode(0o644)))
        .with_context(|| format!("cannot write {}", sums.display()))
}

/// The files are on the disk before their folder has its name, also when the power fails.
pub(super) fn settle(folder: &Path) -> anyhow::Result<()> {
    for entry in WalkDir::new(folder) {
        let entry = entry.with_context(|| format!("cannot read {}", folder.display()))?;
        File::open(entry.path())
            .and_then(|file| file.sync_all())
            .with_context(|| format!("cannot write {}", entry.path().display()))?;
    }
    Ok(())
}

pub(super) fn remove_folder(folder: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot delete {}", folder.display()))
        }
        _ => Ok(()),
    }
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    PathBuf::from(path)
}

/// Bytes of all files in a folder; files that come and go meanwhile may be left out.
pub(crate) fn folder_bytes(folder: &Path) -> u64 {
    let files =
        WalkDir::new(folder).into_iter().filter_map(Result::ok).filter_map(|entry| entry.metadata().ok());
    files.filter(std::fs::Metadata::is_file).map(|file| file.len()).sum()
}
