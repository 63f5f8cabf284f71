//! The memory as operator commands have it: a command opens the database itself. That of a data folder runs as long as the
//! process that holds the folder, which is kept from ending meanwhile.

use std::sync::Arc;

use anyhow::{Context, bail};
use memory_engine::Memory;
use memory_store::Store;
use memory_store::embedded::EmbeddedPostgres;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::UnixStream;

use crate::daemon::{ClientRequest, HoldReply, send_line};
use crate::instance_paths::InstancePaths;
use crate::settings::Settings;

/// Connections that a command has to the database of a data folder.
const CONNECTIONS: u32 = 4;

/// Keeps the process that holds the data folder from ending for lack of clients.
pub(crate) struct Held {
    _stream: BufReader<UnixStream>,
    /// What the process extracts with: name and version.
    extractor: (String, i32),
}

impl Held {
    /// Waits until the process that holds the data folder has its database; starts one where there is none.
    pub(crate) async fn of(settings: &Settings) -> anyhow::Result<Self> {
        let mut stream = InstancePaths::of(settings)?.connect_or_start(settings).await?;
        send_line(&mut stream, &ClientRequest::Hold).await?;
        let (mut stream, mut line) = (BufReader::new(stream), String::new());
        stream.read_line(&mut line).await?;
        if line.is_empty() {
            bail!(
                "the memory's process gave no answer; if it is still there, it is of another version: end it with \
                 `remembrancer stop` and try again"
            );
        }
        match serde_json::from_str(&line)
            .context("the memory's process speaks another version; restart it")?
        {
            HoldReply::Held { extractor, version } => {
                Ok(Self { _stream: stream, extractor: (extractor, version) })
            }
            HoldReply::Refused(reason) => bail!("{reason}"),
        }
    }
}

/// The database of the data folder, run by the process that holds it.
pub(crate) fn held_postgres(settings: &Settings) -> anyhow::Result<EmbeddedPostgres> {
    let components = settings.components()?;
    let postgres = EmbeddedPostgres::new(components.postgres_bin(), components.data_dir.join("postgres"));
    postgres.attach()?;
    Ok(postgres)
}

/// An open memory without an embedding model and without a worker.
pub(crate) struct OpenMemory {
    pub(crate) memory: Arc<Memory>,
    /// What new jobs are extracted with: name and version.
    pub(crate) extractor: (String, i32),
    _held: Option<Held>,
}

impl OpenMemory {
    /// On the database of DATABASE_URL, or on that of the data folder.
    pub(crate) async fn open(settings: &Settings) -> anyhow::Result<Self> {
        let extractor = settings.extractor()?;
        let (store, held) = match &settings.store.database_url {
            Some(url) => (Store::open(url, settings.store.database_connections).await?, None),
            None => {
                let held = Held::of(settings).await?;
                (Store::attach_embedded(&held_postgres(settings)?, CONNECTIONS).await?, Some(held))
            }
        };
        let identity = match &held {
            Some(held) => held.extractor.clone(),
            None => (extractor.name().to_owned(), extractor.version()),
        };
        let memory = Memory::new(store, extractor, settings.engine()).with_mirror(settings.mirror_server()?);
        Ok(Self { memory: Arc::new(memory), extractor: identity, _held: held })
    }

    /// Tells other processes that there may be jobs and changed graphs, and lets go of the database.
    pub(crate) async fn close(self) {
        self.memory.hint_others().await;
        self.memory.close().await;
    }
}

/// Does something with the memory, and closes it whatever comes of it.
pub(crate) async fn with_memory<T>(
    settings: &Settings,
    work: impl AsyncFnOnce(&OpenMemory) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let open = OpenMemory::open(settings).await?;
    let done = work(&open).await;
    open.close().await;
    done
}
