//! Backups that the server makes by itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use memory_engine::Memory;
use memory_engine::status::Problem;
use memory_inference::files::ModelSettings;
use memory_store::Store;
use memory_store::embedded::EmbeddedPostgres;
use memory_store::inventory;
use tokio_util::sync::CancellationToken;

use super::manifest::{Kind, Reason};
use super::retention::Keep;
use super::shelf::{Occupied, Shelf, StoredBackup};
use super::taking::{Taken, logical, physical};

/// How often is looked whether one is due.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);
/// How long until another try after one has failed.
const RETRY_INTERVAL: Duration = Duration::from_secs(600);
/// How far ahead of this clock the one that dated a backup may have been.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_mins(10);
const KEEP_DAILY: u32 = 7;
const KEEP_WEEKLY: u32 = 4;

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Backups")]
pub(crate) struct BackupSettings {
    /// Folder that the server makes backups in by itself, and `backup` unless it names another [default: none]
    #[arg(long, env = "REMEMBRANCER_BACKUP_DIR", global = true, value_name = "DIR")]
    pub(crate) backup_dir: Option<PathBuf>,
    /// Hours from one backup that the server makes to the next
    #[arg(long, env = "REMEMBRANCER_BACKUP_INTERVAL_HOURS", default_value_t = 24, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8_760), global = true)]
    pub(crate) backup_interval_hours: u32,
    /// Of how many days the last backup stays [default: 7 where the server makes them; `backup` deletes none unless this or
    /// --keep-weekly is given]
    #[arg(long, env = "REMEMBRANCER_BACKUP_KEEP_DAILY", value_name = "N", value_parser = clap::value_parser!(u32).range(0..=3_660), global = true)]
    pub(crate) keep_daily: Option<u32>,
    /// Of how many weeks the last backup stays [default: 4 where the server makes them]
    #[arg(long, env = "REMEMBRANCER_BACKUP_KEEP_WEEKLY", value_name = "N", value_parser = clap::value_parser!(u32).range(0..=520), global = true)]
    pub(crate) keep_weekly: Option<u32>,
}

impl BackupSettings {
    /// What stays, where anything is said of it.
    pub(crate) fn keep_if_given(&self) -> Option<Keep> {
        (self.keep_daily.is_some() || self.keep_weekly.is_some()).then(|| self.keep())
    }

    fn keep(&self) -> Keep {
        Keep { daily: self.keep_daily.unwrap_or(KEEP_DAILY), weekly: self.keep_weekly.unwrap_or(KEEP_WEEKLY) }
    }

    /// As environment variables, for a process that is started.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let absolute = |dir: &Path| std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        let dir = self.backup_dir.as_deref().map(absolute);
        let number = |value: Option<u32>| value.map_or_else(String::new, |value| value.to_string());
        vec![
            (
                "REMEMBRANCER_BACKUP_DIR",
                dir.map_or_else(String::new, |dir| dir.to_string_lossy().into_owned()),
            ),
            ("REMEMBRANCER_BACKUP_INTERVAL_HOURS", self.backup_interval_hours.to_string()),
            ("REMEMBRANCER_BACKUP_KEEP_DAILY", number(self.keep_daily)),
            ("REMEMBRANCER_BACKUP_KEEP_WEEKLY", number(self.keep_weekly)),
        ]
    }
}

/// Whether a backup of the schedule is being made; a process that is idle otherwise does not end before.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnderWay(Arc<AtomicBool>);

impl UnderWay {
    pub(crate) fn is_any(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    fn begin(&self) -> Ending<'_> {
        self.0.store(true, Ordering::SeqCst);
        Ending(self)
    }
}

struct Ending<'a>(&'a UnderWay);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::SeqCst);
    }
}

/// What is backed up.
pub(crate) struct Source {
    pub(crate) store: Store,
    /// None with a database of the user's own: then the archives are written.
    pub(crate) postgres: Option<EmbeddedPostgres>,
    pub(crate) models: ModelSettings,
    pub(crate) under_way: UnderWay,
}

/// Makes a backup whenever one is due, until `stop` is cancelled. `status` reports failures.
pub(crate) async fn keep_to_schedule(
    source: Source,
    settings: BackupSettings,
    memory: Arc<Memory>,
    stop: CancellationToken,
) {
    let Some(folder) = settings.backup_dir.clone() else { return };
    loop {
        let pause = match stop.run_until_cancelled(when_due(&source, &settings, &folder)).await {
            None => return,
            // Another process may have made one meanwhile.
            Some(Ok(None)) => {
                memory.report_backups(None);
                LOOK_INTERVAL
            }
            Some(Ok(Some(taken))) => {
                tracing::info!(backup = %taken.path.display(), bytes = taken.manifest.bytes, "backed up");
                memory.report_backups(None);
                LOOK_INTERVAL
            }
            // Another process may be making one.
            Some(Err(error)) if error.is::<Occupied>() => LOOK_INTERVAL,
            Some(Err(error)) => {
                let reason = format!("{error:#}");
                tracing::error!(reason, "the scheduled backup failed");
                memory.report_backups(Some(problem(&reason)));
                RETRY_INTERVAL
            }
        };
        memory.note_backup(Shelf::list(&folder).first().map(|newest| newest.manifest.created_at));
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Makes one if the last is older than the interval.
async fn when_due(
    source: &Source,
    settings: &BackupSettings,
    folder: &Path,
) -> anyhow::Result<Option<Taken>> {
    let kind = if source.postgres.is_some() { Kind::Physical } else { Kind::Logical };
    let interval = SignedDuration::from_hours(i64::from(settings.backup_interval_hours));
    let ours = inventory::source(&mut *source.store.acquire_across().await?).await;
    let is_like =
        |found: &StoredBackup| found.manifest.kind == kind && found.manifest.database.source == ours;
    let mut known = Shelf::list(folder).into_iter().filter(is_like);
    // One of tomorrow was made with the clock wrong, and must not keep others from being made.
    let recent = |found: StoredBackup| {
        let age = Timestamp::now().duration_since(found.manifest.created_at);
        age < interval && age > -CLOCK_TOLERANCE
    };
    if known.any(recent) {
        return Ok(None);
    }
    let _under_way = source.under_way.begin();
    let shelf = Shelf::open(folder)?;
    let taken = match &source.postgres {
        Some(postgres) => physical(postgres, &source.models, &shelf, Reason::Scheduled).await?,
        None => logical(&source.store, &source.models, &shelf, Reason::Scheduled).await?,
    };
    for gone in shelf.prune(settings.keep(), &taken.manifest)? {
        tracing::info!(backup = %gone.display(), "removed an old backup");
    }
    Ok(Some(taken))
}

fn problem(reason: &str) -> Problem {
    Problem {
        what: format!("The backup that was due failed: {reason}"),
        since: Some(Timestamp::now()),
        advice: "Mend the cause; it is tried again every ten minutes. `remembrancer backup` tries at once."
            .to_owned(),
    }
}
