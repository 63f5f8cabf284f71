//! Proving a backup: what it holds is started on a server of its own, counted and asked for, and removed again.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use memory_engine::Memory;
use memory_engine::recall::{RecallDraft, RecallRequest};
use memory_store::Store;
use memory_store::embedded::EmbeddedPostgres;
use memory_store::inventory::{self, Probe};

use super::comparing::{compare_archives, compare_tables};
use super::manifest::{Kind, Manifest};
use super::restoring::{
    CONNECTIONS, Ending, POSTGRES, VERIFY, VERIFY_LOCK, build, checked, programs, remove, room,
};
use crate::settings::Settings;
use crate::setup::make_data_folder;

/// On top of what is copied, for the log of the database that is started with [`TRIAL`], and its temporary files.
pub(super) const MORE_TRIAL_BYTES: u64 = 512 << 20;
/// Options of that database: nothing of it is kept, and its log stays small.
pub(super) const TRIAL: &str = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c min_wal_size=32MB -c max_wal_size=64MB \
                     -c wal_keep_size=0";
/// Among how many results a text has to be that is asked for by its own words.
const PROBE_RESULTS: i64 = 50;

/// What was found out about a backup.
#[derive(Debug)]
pub(crate) struct Verified {
    pub(crate) manifest: Manifest,
    pub(crate) tables: usize,
    pub(crate) rows: i64,
    pub(crate) probes: usize,
    /// What could not be looked at, and why.
    pub(crate) notes: Vec<String>,
}

/// Starts what the backup holds on a private socket, compares the counts, asks for a few texts, and removes it again.
pub(crate) async fn verify(settings: &Settings, backup: &Path) -> anyhow::Result<Verified> {
    let manifest = checked(settings, backup).await?;
    let data_dir = settings.data_dir()?;
    make_data_folder(&data_dir)?;
    let bin = programs(&[settings.components()?])?;
    let place = Place::lock(&data_dir, &bin).await?;
    let postgres = EmbeddedPostgres::new(bin, place.home.clone()).with_options(TRIAL);
    let _ending = Ending(postgres.clone());
    room(&data_dir, &manifest, MORE_TRIAL_BYTES)?;
    let mut notes = Vec::new();
    let looking = async {
        build(settings, &postgres, backup, &manifest).await?;
        postgres.start().await?;
        let (tables, rows) = match manifest.kind {
            Kind::Physical => compare_tables(&postgres, &manifest, &mut notes).await?,
            Kind::Logical => compare_archives(&postgres, &manifest).await?,
        };
        let probes = probe(settings, &postgres, &manifest, &mut notes).await?;
        Ok::<_, anyhow::Error>((tables, rows, probes))
    };
    let looked = looking.await;
    // Nothing of it is kept: where it does not end in time it is killed.
    let _ = postgres.stop().await;
    let (tables, rows, probes) = looked?;
    Ok(Verified { manifest, tables, rows, probes, notes })
}

/// Where a backup is tried out: in the data folder, which the database's user can enter.
struct Place {
    folder: PathBuf,
    home: PathBuf,
    _lock: File,
}

impl Place {
    async fn lock(data_dir: &Path, bin: &Path) -> anyhow::Result<Self> {
        let path = data_dir.join(VERIFY_LOCK);
        let unusable = || format!("cannot lock {}", path.display());
        let lock = File::options().create(true).append(true).open(&path).with_context(unusable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!(
                    "another backup is being verified in {}; try again when that has ended",
                    data_dir.display()
                )
            }
            Err(TryLockError::Error(error)) => return Err(error).with_context(unusable),
        }
        let folder = data_dir.join(VERIFY);
        let home = folder.join(POSTGRES);
        // What one that was killed has left may still run.
        if home.exists() {
            let _ = EmbeddedPostgres::new(bin.to_owned(), home.clone()).stop().await;
        }
        remove(&folder)?;
        make_data_folder(&folder)?;
        Ok(Self { folder, home, _lock: lock })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Asks for a few texts by their own words; gives how many were found.
async fn probe(
    settings: &Settings,
    postgres: &EmbeddedPostgres,
    manifest: &Manifest,
    notes: &mut Vec<String>,
) -> anyhow::Result<usize> {
    // As the server will when it first starts on it.
    let store = Store::open_embedded(postgres, CONNECTIONS).await?;
    let probes = inventory::probes(&mut *store.acquire_across().await?).await?;
    let memory = Memory::new(store.clone(), settings.extractor()?, settings.engine());
    if let Err(error) = adopt_model(settings, &store, &memory).await {
        notes.push(format!("asked without the embedding model: {error:#}"));
        memory.lacks_model("it was not loaded".to_owned());
    } else if manifest.kind == Kind::Logical {
        notes.push("vectors are not in it: they are made when the server runs".to_owned());
    }
    if probes.is_empty() {
        notes.push("there is no text in it to ask for".to_owned());
    }
    let asking = async {
        for one in &probes {
            ask(&memory, one).await?;
        }
        Ok::<_, anyhow::Error>(())
    };
    let asked = asking.await;
    memory.close().await;
    asked?;
    Ok(probes.len())
}

async fn adopt_model(settings: &Settings, store: &Store, memory: &Memory) -> anyhow::Result<()> {
    let searched = store.active_model().await?.map(|model| model.info);
    let files = settings.model.files_for(searched.as_ref())?;
    let model = tokio::task::spawn_blocking(move || files.load()).await??;
    Ok(memory.adopt_model(Arc::new(model)).await?)
}

async fn ask(memory: &Memory, probe: &Probe) -> anyhow::Result<()> {
    let draft = RecallDraft {
        query: Some(probe.words.clone()),
        limit: Some(PROBE_RESULTS),
        min_score: Some(0.0),
        ..RecallDraft::default()
    };
    let found = memory.recall(&probe.namespace, &RecallRequest::new(draft)?).await?;
    if found.results.iter().any(|result| result.hit.artifact_id.0 == probe.artifact_id) {
        return Ok(());
    }
    bail!(
        "the text {} of the namespace {} is not found by its own words; use another backup",
        probe.artifact_id,
        probe.namespace
    )
}
