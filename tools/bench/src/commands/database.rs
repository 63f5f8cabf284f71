//! The database that something is measured on: a server of its own in a temporary folder.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, bail};
use memory_store::Store;
use memory_store::embedded::EmbeddedPostgres;
use tempfile::TempDir;
use tokio::signal::unix::{SignalKind, signal};

use remembrancer::settings::Settings;
use remembrancer::setup::Component;

/// What is measured may be lost: nothing waits for the disk.
const LOSABLE: &str = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off";

/// An open database, and the server and folder that go with it.
pub(super) struct Database {
    pub(super) store: Store,
    postgres: Option<EmbeddedPostgres>,
    folder: Option<TempDir>,
}

impl Database {
    /// The database of DATABASE_URL, or a new one in a temporary folder.
    pub(super) async fn given_or_temporary(settings: &Settings) -> anyhow::Result<Self> {
        match &settings.store.database_url {
            Some(url) => {
                let store = Store::open(url, settings.store.database_connections).await?;
                Ok(Self { store, postgres: None, folder: None })
            }
            None => Self::temporary(settings, "").await,
        }
    }

    /// A new database that is gone when it is closed.
    pub(super) async fn temporary(settings: &Settings, options: &str) -> anyhow::Result<Self> {
        let folder = temporary_folder()?;
        let mut database = Self::at(settings, folder.path(), options).await?;
        database.folder = Some(folder);
        Ok(database)
    }

    /// The database in a folder, a new one if there is none.
    pub(super) async fn at(settings: &Settings, folder: &Path, options: &str) -> anyhow::Result<Self> {
        let components = settings.components()?;
        if let Some(missing) =
            components.missing(true).into_iter().find(|m| m.component == Component::Postgres)
        {
            bail!("{missing}");
        }
        let postgres = EmbeddedPostgres::new(components.postgres_bin(), folder.join("postgres"))
            .with_options(format!("{LOSABLE} {options}"));
        postgres.start().await?;
        match Store::open_embedded(&postgres, settings.store.database_connections).await {
            Ok(store) => Ok(Self { store, postgres: Some(postgres), folder: None }),
            Err(error) => {
                let _ = postgres.stop().await;
                Err(error.into())
            }
        }
    }

    /// The main process of the bench's own server.
    pub(super) fn server_pid(&self) -> Option<u32> {
        self.postgres.as_ref().and_then(EmbeddedPostgres::pid)
    }

    /// Ends the server and removes the folder, where they are the bench's own.
    pub(super) async fn close(self) -> anyhow::Result<()> {
        self.store.close().await;
        if let Some(postgres) = &self.postgres {
            postgres.stop().await?;
        }
        match self.folder {
            Some(folder) => folder.close().context("the temporary folder could not be removed"),
            None => Ok(()),
        }
    }
}

/// A folder that the database's user can enter.
pub(super) fn temporary_folder() -> anyhow::Result<TempDir> {
    let folder = tempfile::Builder::new()
        .prefix("remembrancer-bench-")
        .permissions(PermissionsExt::from_mode(0o755))
        .tempdir()
        .context("no temporary folder can be made; name another place with TMPDIR")?;
    Ok(folder)
}

/// Does the work unless a signal comes first; so a server that was started is stopped in either case.
pub(super) async fn until_signal<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        done = work => done,
        _ = tokio::signal::ctrl_c() => bail!("stopped"),
        _ = terminate.recv() => bail!("stopped"),
    }
}
