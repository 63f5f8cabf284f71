//! Data of an older major version of Postgres: what it holds goes into new data, and the old is kept.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::BoxFuture;
use rustix::fs::{CWD, RenameFlags};

use super::backup::{BackupFailure, run};
use super::{EmbeddedPostgres, free_bytes};
use crate::inventory::{self, Change};
use crate::{StoreError, row_security};

/// Where the new data is made.
const NEXT: &str = "next";
/// How long each of the two servers may take to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(600);

#[derive(Debug, thiserror::Error)]
pub enum MajorFailure {
    #[error(transparent)]
    Backup(#[from] BackupFailure),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(
        "there is no room in {folder} for the database in the form of the new version: about {needed} MB are needed and {free} \
         MB are free; free some space and start again"
    )]
    NoRoom { folder: PathBuf, needed: u64, free: u64 },
    #[error("the new database differs from the old: {0}; nothing was changed")]
    Differs(String),
    #[error("{path} cannot be put in its place: {source}; nothing was changed")]
    Place { path: PathBuf, source: std::io::Error },
}

impl EmbeddedPostgres {
    /// Has the data, which `older` can read, become data of this server: dumped, taken in, compared, and put in its place in
    /// one step. Gives where the old data is kept. Neither server runs afterwards.
    pub fn change_major<'a>(&'a self, older: &'a Self) -> BoxFuture<'a, Result<PathBuf, MajorFailure>> {
        Box::pin(async move {
            let next = Self { home: self.home.join(NEXT), socket: std::sync::Arc::default(), ..self.clone() };
            if next.home.exists() {
                // What a change that was cut short has left; it may run.
                let _ = next.stop().await;
                std::fs::remove_dir_all(&next.home).map_err(place(&next.home))?;
            }
            let made = self.make_next(older, &next).await;
            // Whichever has not ended has data that is not on the disk yet.
            let stopped = (older.stop_within(STOP_TIMEOUT).await, next.stop_within(STOP_TIMEOUT).await);
            if let Err(error) = made {
                let _ = std::fs::remove_dir_all(&next.home);
                return Err(error);
            }
            stopped.0.map_err(BackupFailure::from)?;
            stopped.1.map_err(BackupFailure::from)?;
            let kept = (0..1_000).map(|n| self.home.join(kept_name(older.data_major(), n)));
            let kept =
                kept.into_iter().find(|path| !path.exists()).unwrap_or_else(|| self.home.join("data-old"));
            // In one step: at no moment there is none, for which a start would make an empty one.
            rustix::fs::renameat_with(CWD, self.data(), CWD, next.data(), RenameFlags::EXCHANGE)
                .map_err(|error| place(&self.data())(error.into()))?;
            std::fs::rename(next.data(), &kept).map_err(place(&kept))?;
            let _ = std::fs::remove_dir_all(&next.home);
            Ok(kept)
        })
    }

    /// Fails when there is no room for the new data and the dump, and for a copy of the old where its schema is behind.
    /// `older` runs.
    pub fn need_room_for_change<'a>(&'a self, older: &'a Self) -> BoxFuture<'a, Result<(), MajorFailure>> {
        Box::pin(async move {
            let mut conn = inventory::look_at(&older.url()).await?;
            let bytes = inventory::describe(&mut conn).await?.bytes;
            let parts = if inventory::change_ahead(&mut conn).await? == Change::None { 2 } else { 3 };
            let needed = bytes.saturating_mul(parts);
            if let Some(free) = free_bytes(&self.home).filter(|free| *free < needed) {
                let (needed, free) = (needed.div_ceil(1 << 20), free >> 20);
                return Err(MajorFailure::NoRoom { folder: self.home.clone(), needed, free });
            }
            Ok(())
        })
    }

    async fn make_next(&self, older: &Self, next: &Self) -> Result<(), MajorFailure> {
        older.start().await.map_err(BackupFailure::from)?;
        self.need_room_for_change(older).await?;
        let mut conn = inventory::look_at(&older.url()).await?;
        let before = inventory::count_rows(&mut conn).await?;
        drop(conn);
        next.start().await.map_err(BackupFailure::from)?;
        // The dump names it in what it grants; roles are not in it.
        let mut conn = inventory::look_at(&next.url()).await?;
        row_security::make_role(&mut conn, true).await?;
        drop(conn);
        // Ours, so that no other user reads it; the folder of the server's user is open to us.
        let dump = next.home.join("dump");
        let mut dumping = self.own_command("pg_dump");
        dumping.args(["--username=postgres", "--no-password", "--format=custom", "--port=5432", "--host"]);
        dumping.arg(older.socket_for_programs()).arg("--file").arg(&dump).arg("postgres");
        run("pg_dump", dumping).await?;
        let mut restoring = self.own_command("pg_restore");
        restoring.args(["--username=postgres", "--no-password", "--exit-on-error", "--dbname=postgres"]);
        restoring.arg("--port=5432").arg("--host").arg(next.socket_for_programs()).arg(&dump);
        run("pg_restore", restoring).await?;
        std::fs::remove_file(&dump).map_err(place(&dump))?;
        let mut conn = inventory::look_at(&next.url()).await?;
        let after = inventory::count_rows(&mut conn).await?;
        if before == after {
            return Ok(());
        }
        let differing = before.iter().filter(|(table, rows)| after.get(*table) != Some(rows));
        let lines =
            differing.map(|(table, rows)| format!("{table} had {rows} rows and has {:?}", after.get(table)));
        Err(MajorFailure::Differs(lines.collect::<Vec<_>>().join(", ")))
    }
}

fn kept_name(major: Option<u32>, n: u32) -> String {
    let major = major.map_or_else(|| "old".to_owned(), |major| major.to_string());
    if n == 0 { format!("data-{major}") } else { format!("data-{major}-{n}") }
}

fn place(path: &Path) -> impl FnOnce(std::io::Error) -> MajorFailure + use<> {
    let path = path.to_owned();
    move |source| MajorFailure::Place { path, source }
}
