//! Making a backup.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use jiff::Timestamp;
use memory_engine::archive::Whole;
use memory_inference::files::{DEFAULT_MODEL, ModelSettings, models_folder};
use memory_store::Store;
use memory_store::embedded::{EmbeddedPostgres, free_bytes};
use memory_store::inventory::{self, Change, Described};
use memory_store::written::{self, Beginning, End};
use tokio::io::AsyncWriteExt;

use super::files::{copy_folder, is_full_disk, sync};
use super::manifest::{DATA, Kind, MODELS, Manifest, NAMESPACES, NamespaceFile, Reason};
use super::shelf::{Partial, Shelf, ending};

/// Log of the database and its empty templates, which come on top of what it holds.
const MORE_BYTES: u64 = 64 << 20;
/// So many backups that were made before changes of the schema stay.
const BEFORE_CHANGES_KEPT: usize = 3;
/// Where these lie in the data folder, unless a folder for backups is set.
const BEFORE_CHANGES: &str = "backups";

/// A backup that is whole.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) path: PathBuf,
    pub(crate) manifest: Manifest,
}

/// Copies the files of the running embedded database, and checks the copy.
pub(crate) async fn physical(
    postgres: &EmbeddedPostgres,
    models: &ModelSettings,
    shelf: &Shelf,
    reason: Reason,
) -> anyhow::Result<Taken> {
    let home = postgres.home().canonicalize().unwrap_or_else(|_| postgres.home().to_owned());
    if shelf.folder().canonicalize().is_ok_and(|folder| folder.starts_with(&home)) {
        bail!("{} is in the folder of the database itself; name another", shelf.folder().display());
    }
    let created_at = Timestamp::now();
    let mut conn = inventory::look_at(&postgres.url()).await?;
    let database = inventory::describe(&mut conn).await?;
    let beginning = Beginning::now(&mut conn).await?;
    let counts = inventory::count_rows(&mut conn).await?;
    drop(conn);
    let needed = database.bytes + MORE_BYTES;
    if free_bytes(shelf.folder()).is_some_and(|free| free < needed) {
        return Err(no_room(shelf.folder(), needed));
    }
    let partial = shelf.begin(created_at, &ending(Kind::Physical, reason, database.schema))?;
    let working = async {
        let data = partial.path().join(DATA);
        postgres.base_backup(&data).await?;
        let mut conn = inventory::look_at(&postgres.url()).await?;
        let after = inventory::count_rows(&mut conn).await?;
        let end = End::now(&mut conn).await?;
        bring_models(models, &database, partial.path()).await?;
        postgres.verify_backup(&data).await?;
        let mut manifest =
            described(&partial, (Kind::Physical, reason), created_at, database, counts).await?;
        let is_other = |(table, count): &(String, i64)| manifest.counts.get(table) != Some(count);
        manifest.counts_after = after.into_iter().filter(is_other).collect();
        // Last, since what was written is reported late.
        manifest.written = written::between(&mut conn, &beginning, &end).await?;
        manifest.write(partial.path())?;
        Ok(manifest)
    };
    let manifest = working.await.map_err(|error| explained(error, shelf.folder(), needed))?;
    Ok(Taken { path: partial.finish()?, manifest })
}

/// Writes the archive of every namespace, all of the same moment.
pub(crate) async fn logical(
    store: &Store,
    models: &ModelSettings,
    shelf: &Shelf,
    reason: Reason,
) -> anyhow::Result<Taken> {
    let created_at = Timestamp::now();
    let mut whole = Whole::of(store).await?;
    let database = whole.describe().await?;
    let needed = database.bytes;
    let partial = shelf.begin(created_at, &ending(Kind::Logical, reason, database.schema))?;
    let working = async {
        let folder = partial.path().join(NAMESPACES);
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let mut namespaces = Vec::new();
        for (n, ns) in whole.namespaces().await?.into_iter().enumerate() {
            // Numbered: names that differ only in case would be one file on some disks.
            let file = format!("{NAMESPACES}/{:04}-{ns}.jsonl", n + 1);
            let path = partial.path().join(&file);
            let to = tokio::fs::File::create_new(&path)
                .await
                .with_context(|| format!("cannot write {}", path.display()))?;
            let mut to = tokio::io::BufWriter::new(to);
            let counts = whole.export(&ns, &mut to).await?;
            to.flush().await?;
            to.get_ref().sync_all().await?;
            namespaces.push(NamespaceFile { namespace: ns.to_string(), file, counts });
        }
        sync(&folder)?;
        let counts = whole.count_rows().await?;
        bring_models(models, &database, partial.path()).await?;
        let mut manifest = described(&partial, (Kind::Logical, reason), created_at, database, counts).await?;
        manifest.namespaces = namespaces;
        manifest.write(partial.path())?;
        Ok(manifest)
    };
    let manifest = working.await.map_err(|error| explained(error, shelf.folder(), needed))?;
    Ok(Taken { path: partial.finish()?, manifest })
}

/// Before this build changes the schema of a database that has something in it, a copy is made.
pub(crate) async fn before_change(
    postgres: &EmbeddedPostgres,
    models: &ModelSettings,
    backup_dir: Option<&Path>,
) -> anyhow::Result<Option<Taken>> {
    let change = {
        let mut conn = inventory::look_at(&postgres.url()).await?;
        inventory::change_ahead(&mut conn).await?
    };
    let Change::From(from) = change else { return Ok(None) };
    let folder = match backup_dir {
        Some(folder) => folder.to_owned(),
        None => models.data_dir()?.join(BEFORE_CHANGES),
    };
    let known = memory_store::schema::known_version();
    if from > known {
        // Opening it says so.
        return Ok(None);
    }
    tracing::info!(from, to = known, folder = %folder.display(), "backing up before the schema is changed");
    let taking = async {
        let shelf = Shelf::open(&folder)?;
        let taken = physical(postgres, models, &shelf, Reason::BeforeMigration).await?;
        shelf.prune_before_changes(BEFORE_CHANGES_KEPT, &taken.manifest)?;
        Ok::<_, anyhow::Error>(taken)
    };
    let taken = taking.await.with_context(|| {
        format!(
            "the schema of the database is {from} and has to become {known}, and the backup that is made before could not be \
             made, so nothing was changed (another folder for it: --backup-dir, REMEMBRANCER_BACKUP_DIR)"
        )
    })?;
    Ok(Some(taken))
}

/// A model that lies in the data folder and that `setup` cannot fetch goes along: without it the vectors are worth nothing.
async fn bring_models(models: &ModelSettings, database: &Described, to: &Path) -> anyhow::Result<()> {
    let searched = database
        .model
        .as_ref()
        .map(|model| memory_core::ports::ModelInfo { id: model.id.clone(), dimension: model.dimension });
    let Ok(found) = models.files_for(searched.as_ref()) else { return Ok(()) };
    let folder = models_folder(&models.data_dir()?);
    let Ok(name) = found.model_dir.strip_prefix(&folder) else { return Ok(()) };
    if name == Path::new(DEFAULT_MODEL) || !found.model_dir.is_dir() {
        return Ok(());
    }
    let to = to.join(MODELS);
    fs::create_dir(&to).with_context(|| format!("cannot make {}", to.display()))?;
    let (from, to) = (found.model_dir.clone(), to.join(name));
    tokio::task::spawn_blocking(move || copy_folder(&from, &to)).await?
}

async fn described(
    partial: &Partial,
    what: (Kind, Reason),
    created_at: Timestamp,
    database: Described,
    counts: std::collections::BTreeMap<String, i64>,
) -> anyhow::Result<Manifest> {
    let folder = partial.path().to_owned();
    tokio::task::spawn_blocking(move || Manifest::of(&folder, what, created_at, database, counts)).await?
}

fn explained(error: anyhow::Error, folder: &Path, needed: u64) -> anyhow::Error {
    if is_full_disk(&error) { no_room(folder, needed) } else { error }
}

fn no_room(folder: &Path, needed: u64) -> anyhow::Error {
    let free = free_bytes(folder).map_or_else(String::new, |free| format!(" and {} MB are free", free >> 20));
    anyhow::anyhow!(
        "there is no room for the backup in {}: it needs about {} MB{free}; free some space or name a folder on another \
         disk. Nothing was left there",
        folder.display(),
        needed.div_ceil(1 << 20)
    )
}
