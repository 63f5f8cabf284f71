//! Restoring: a checked backup becomes a data folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_engine::progress::unreported;
use memory_inference::files::models_folder;
use memory_store::Store;
use memory_store::embedded::{EmbeddedPostgres, free_bytes};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::BufReader;

use super::files::copy_folder;
use super::manifest::{DATA, Kind, MODELS, Manifest};
use crate::instance_paths::InstancePaths;
use crate::settings::Settings;
use crate::setup::{Component, Components, make_data_folder};

/// What may be in a data folder that a backup is restored into: what `setup` makes, and what a restore that was broken off
/// or a trial of a backup has left, and backups themselves.
const HARMLESS: [&str; 9] =
    ["backups", "downloads", "models", "run", "runtime", "setup.lock", RESTORING, VERIFY, VERIFY_LOCK];
const RESTORING: &str = "postgres.restoring";
pub(super) const POSTGRES: &str = "postgres";
pub(super) const VERIFY: &str = "verify";
pub(super) const VERIFY_LOCK: &str = "verify.lock";
/// On top of what is copied, for the log of the database that is started, and its temporary files.
const MORE_BYTES: u64 = 1 << 30;
pub(super) const CONNECTIONS: u32 = 4;
/// How long a database that was filled may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(600);

/// Makes a data folder of the backup. The folder gets its database last, in one step.
pub(crate) async fn restore(settings: &Settings, backup: &Path, into: &Path) -> anyhow::Result<Manifest> {
    let into = std::path::absolute(into)?;
    if into.starts_with(std::path::absolute(backup)?) {
        bail!("{} is in the backup itself; name a new folder", into.display());
    }
    refuse_what_is_used(&into)?;
    let manifest = checked(settings, backup).await?;
    make_data_folder(&into)
        .with_context(|| format!("{} cannot be made; name another folder", into.display()))?;
    let mut theirs = settings.clone();
    theirs.model.data_dir = Some(into.clone());
    theirs.store.database_url = None;
    let bin = programs(&[theirs.components()?, settings.components()?])?;
    let paths = InstancePaths::of(&theirs)?;
    let Some(_lock) = paths.try_lock()? else {
        bail!("{} is in use by a running process; name a new folder", into.display());
    };
    // Once more: the process that had the lock until now may have made a database.
    refuse_what_is_used(&into)?;
    let home = into.join(RESTORING);
    remove(&home)?;
    room(&into, &manifest, MORE_BYTES)?;
    let postgres = EmbeddedPostgres::new(bin, home.clone());
    let _ending = Ending(postgres.clone());
    let built = async {
        build(settings, &postgres, backup, &manifest).await?;
        restore_models(backup, &into)?;
        fs::rename(&home, into.join(POSTGRES))
            .with_context(|| format!("cannot write {}", into.join(POSTGRES).display()))
    };
    if let Err(error) = built.await {
        let _ = postgres.stop().await;
        let _ = remove(&home);
        return Err(error);
    }
    super::files::sync(&into)?;
    Ok(manifest)
}

/// The manifest, once all files are found to be what it says.
pub(super) async fn checked(settings: &Settings, backup: &Path) -> anyhow::Result<Manifest> {
    let manifest = Manifest::read(backup)?;
    let (known, schema) = (memory_store::schema::known_version(), manifest.database.schema);
    if schema > known {
        bail!(
            "{} has schema {schema}, made by Remembrancer {}, and this version knows up to {known}; restore it with that \
             version or a later one",
            backup.display(),
            manifest.product
        );
    }
    let (checking, folder) = (manifest.clone(), backup.to_owned());
    tokio::task::spawn_blocking(move || checking.check_files(&folder)).await??;
    if manifest.kind == Kind::Physical {
        let bin = programs(&[settings.components()?])?;
        let postgres = EmbeddedPostgres::new(bin, backup.to_owned());
        let here = postgres.program_major().await?;
        if here != manifest.database.postgres_major {
            bail!(
                "{} is a copy of PostgreSQL {}'s files, and PostgreSQL {here} is installed, which cannot read them; restore it \
                 with the version of Remembrancer that made it ({}), or restore a logical backup",
                backup.display(),
                manifest.database.postgres_major,
                manifest.product
            );
        }
        postgres.verify_backup(&backup.join(DATA)).await.map_err(|error| {
            anyhow::anyhow!("the backup {} is damaged: {error}; use another backup", backup.display())
        })?;
    }
    Ok(manifest)
}

/// The folder with Postgres' programs, of the first components that have it.
pub(super) fn programs(components: &[Components]) -> anyhow::Result<PathBuf> {
    let missing = |components: &Components| {
        components.missing(true).into_iter().find(|missing| missing.component == Component::Postgres)
    };
    if let Some(found) = components.iter().find(|components| missing(components).is_none()) {
        return Ok(found.postgres_bin());
    }
    match components.last().and_then(missing) {
        Some(missing) => bail!("{missing}"),
        None => bail!("no Postgres is installed; run `remembrancer setup`"),
    }
}

fn refuse_what_is_used(into: &Path) -> anyhow::Result<()> {
    let entries = match fs::read_dir(into) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be used", into.display())),
    };
    for entry in entries {
        let name = entry?.file_name();
        if !HARMLESS.iter().any(|harmless| name == *harmless) {
            bail!(
                "{} is not empty (it has {}), and a backup is never restored over anything; name a new folder",
                into.display(),
                name.display()
            );
        }
    }
    Ok(())
}

pub(super) fn room(folder: &Path, manifest: &Manifest, more: u64) -> anyhow::Result<()> {
    let needed = needed_bytes(manifest, more);
    match free_bytes(folder) {
        Some(free) if free < needed => bail!(
            "there is no room in {} for what the backup holds: it needs about {} MB and {} MB are free; free some space or name \
             a folder on another disk",
            folder.display(),
            needed.div_ceil(1 << 20),
            free >> 20
        ),
        _ => Ok(()),
    }
}

pub(super) fn needed_bytes(manifest: &Manifest, more: u64) -> u64 {
    manifest.bytes.max(manifest.database.bytes).saturating_add(more)
}

/// Has the server's folder, which has no data yet, hold what the backup holds. The server does not run afterwards.
pub(super) async fn build(
    settings: &Settings,
    postgres: &EmbeddedPostgres,
    backup: &Path,
    manifest: &Manifest,
) -> anyhow::Result<()> {
    if manifest.kind == Kind::Physical {
        let home = postgres.home().to_owned();
        if !home.exists() {
            fs::create_dir(&home).with_context(|| format!("cannot make {}", home.display()))?;
        }
        let (from, to) = (backup.join(DATA), postgres.staging());
        tokio::task::spawn_blocking(move || copy_folder(&from, &to)).await??;
        return Ok(postgres.take_over(&postgres.staging())?);
    }
    postgres.start().await?;
    let store = Store::open_embedded(postgres, CONNECTIONS).await?;
    let memory = Memory::new(store, settings.extractor()?, settings.engine());
    let importing = async {
        for one in &manifest.namespaces {
            let path = backup.join(&one.file);
            let file = tokio::fs::File::open(&path)
                .await
                .with_context(|| format!("cannot read {}", path.display()))?;
            let bytes = file.metadata().await?.len();
            let namespace = Namespace::new(&one.namespace)?;
            memory
                .archive()
                .import(&namespace, &mut BufReader::new(file), bytes, &unreported)
                .await
                .with_context(|| format!("the namespace {} could not be taken in", one.namespace))?;
        }
        Ok::<_, anyhow::Error>(())
    };
    let imported = importing.await;
    memory.close().await;
    // All of it has to be on the disk, which may take long.
    let stopped = postgres.stop_within(STOP_TIMEOUT).await;
    imported?;
    Ok(stopped?)
}

fn restore_models(backup: &Path, into: &Path) -> anyhow::Result<()> {
    let Ok(models) = fs::read_dir(backup.join(MODELS)) else { return Ok(()) };
    let folder = models_folder(into);
    crate::setup::make_folders(&folder)?;
    for model in models.filter_map(Result::ok) {
        let to = folder.join(model.file_name());
        if !to.exists() {
            // Half of a model must not be taken for the whole.
            let partial = folder.join(format!(".{}.restoring", model.file_name().to_string_lossy()));
            remove(&partial)?;
            copy_folder(&model.path(), &partial)?;
            fs::rename(&partial, &to).with_context(|| format!("cannot write {}", to.display()))?;
        }
    }
    Ok(())
}

pub(super) fn remove(folder: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// A server that does not outlive this, also where the work was given up.
pub(super) struct Ending(pub(super) EmbeddedPostgres);

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(pid) = self.0.pid().and_then(|pid| Pid::from_raw(pid as i32)) {
            let _ = kill_process(pid, Signal::QUIT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::verifying::{MORE_TRIAL_BYTES, TRIAL};
    use super::*;

    #[test]
    fn what_a_backup_needs_is_its_copy_or_its_database_and_what_is_written_on_top() {
        let manifest = |bytes: u64, of_database: u64| {
            serde_json::from_value(serde_json::json!({
                "format": 1, "kind": "logical", "reason": "asked", "created_at": "2026-02-02T01:00:00Z", "product": "1.0.0",
                "database": {
                    "schema": 1, "postgres": "18.6", "postgres_major": 18, "pgvector": null, "model": null, "source": null,
                    "bytes": of_database
                },
                "counts": {}, "counts_after": {}, "namespaces": [], "bytes": bytes, "files": {},
            }))
            .expect("a manifest")
        };
        let (mb, log_max) = (1 << 20, 512 << 20);
        assert!(needed_bytes(&manifest(100 * mb, 1), MORE_BYTES) >= 100 * mb + 2 * log_max);
        assert!(needed_bytes(&manifest(1, 100 * mb), MORE_TRIAL_BYTES) >= 100 * mb + log_max);
        assert!(TRIAL.contains("max_wal_size=64MB"), "{TRIAL}");
        assert_eq!(needed_bytes(&manifest(u64::MAX, 1), 1), u64::MAX);
    }
}
