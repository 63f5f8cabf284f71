//! `backup`: a copy of the database, or all namespaces as archives, while everything goes on.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::bail;
use clap::Args;
use indicatif::DecimalBytes;
use memory_language::text::counted;
use memory_store::Store;
use serde_json::{Value, json};

use crate::backup::{self, Kind, Reason, Shelf, Taken};
use crate::daemon::Signals;
use crate::operator::{Held, held_postgres};
use crate::settings::Settings;

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The folder of backups; this one becomes a folder of its own in it [default: --backup-dir]
    dir: Option<PathBuf>,
    /// All namespaces as archives, which any later version can import, instead of a copy of the database
    #[arg(long)]
    logical: bool,
    /// Print what was made as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: BackupArgs) -> anyhow::Result<ExitCode> {
    let started = Instant::now();
    let Some(folder) = args.dir.or_else(|| settings.backup.backup_dir.clone()) else {
        bail!("where to? Name a folder: `remembrancer backup DIR`, or set REMEMBRANCER_BACKUP_DIR");
    };
    if settings.store.database_url.is_some() && !args.logical {
        bail!(
            "a copy of a Postgres of your own is made by its own tools, such as pgBackRest or WAL-G; `remembrancer backup \
             --logical DIR` writes what cannot be derived from any database"
        );
    }
    let mut signals = Signals::new()?;
    let working = async {
        // Another process may hold the folder's lock, which is reported before anything is started.
        let shelf = Shelf::open(&folder)?;
        let taken = take(settings, &shelf, args.logical).await?;
        let removed = match settings.backup.keep_if_given() {
            Some(keep) => shelf.prune(keep, &taken.manifest)?,
            None => Vec::new(),
        };
        Ok::<_, anyhow::Error>((taken, removed))
    };
    let (taken, removed) = tokio::select! {
        done = working => done?,
        () = signals.any() => bail!("stopped; nothing was left behind"),
    };
    let seconds = started.elapsed().as_secs_f64();
    if args.json {
        println!("{}", serde_json::to_string_pretty(&summary(&taken, &removed, seconds))?);
    } else {
        print!("{}", sentences(&taken, &removed, seconds));
    }
    Ok(ExitCode::SUCCESS)
}

async fn take(settings: &Settings, shelf: &Shelf, logical: bool) -> anyhow::Result<Taken> {
    let connections = settings.store.database_connections;
    let (store, _held) = match &settings.store.database_url {
        Some(url) => (Store::attach(url, connections).await?, None),
        None => {
            let held = Held::of(settings).await?;
            let postgres = held_postgres(settings)?;
            if !logical {
                return backup::physical(&postgres, &settings.model, shelf, Reason::Asked).await;
            }
            (Store::attach_embedded(&postgres, connections).await?, Some(held))
        }
    };
    let taken = backup::logical(&store, &settings.model, shelf, Reason::Asked).await;
    store.close().await;
    taken
}

fn summary(taken: &Taken, removed: &[PathBuf], seconds: f64) -> Value {
    let manifest = &taken.manifest;
    json!({
        "path": taken.path,
        "kind": manifest.kind,
        "created_at": manifest.created_at.to_string(),
        "bytes": manifest.bytes,
        "files": manifest.files.len(),
        "schema": manifest.database.schema,
        "postgres": manifest.database.postgres,
        "pgvector": manifest.database.pgvector,
        "model": manifest.database.model,
        "counts": manifest.counts,
        "namespaces": manifest.namespaces,
        "removed": removed,
        "seconds": (seconds * 10.0).round() / 10.0,
    })
}

fn sentences(taken: &Taken, removed: &[PathBuf], seconds: f64) -> String {
    let manifest = &taken.manifest;
    let texts = counted(manifest.counts.get("artifact_revision").copied().unwrap_or(0), "text");
    let what = match manifest.kind {
        Kind::Physical => "the database, checked".to_owned(),
        Kind::Logical => counted(manifest.namespaces.len() as u64, "namespace"),
    };
    let size = DecimalBytes(manifest.bytes);
    let mut out = format!("{}\n  {what}: {texts}, {size}, in {seconds:.1} s\n", taken.path.display());
    if !removed.is_empty() {
        let _ = writeln!(out, "  {} removed", counted(removed.len() as u64, "old backup"));
    }
    let _ = writeln!(out, "  prove it with `remembrancer restore --verify {}`", taken.path.display());
    out
}
