//! Starting a memory: its database, its model, its worker.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use memory_core::ports::EmbeddingError;
use memory_engine::Memory;
use memory_engine::worker::Worker;
use memory_inference::embedding::OnnxEmbedding;
use memory_inference::files::ModelFiles;
use memory_store::embedded::EmbeddedPostgres;
use memory_store::{Store, StoreError};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::backup;
use crate::settings::Settings;
use crate::setup::{Component, Components};
use memory_engine::readiness::{Announce, Readiness};

/// How often it is checked that the embedded database runs.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);
/// How often it is checked which files of graphs are gone.
const TIDY_INTERVAL: Duration = Duration::from_secs(6 * 3600);
/// How long until another try when the database cannot be reached at the start.
const RETRY_INTERVAL: Duration = Duration::from_secs(3);

/// What to do with a model that is not the one of the stored vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mismatch {
    Refuse,
    /// Start without a model: the vectors are about to be made anew by another.
    GoWithout,
}

/// A model that is loaded on suspicion while the database starts: which model made the stored vectors is recorded in the database.
struct Guess {
    files: ModelFiles,
    loading: JoinHandle<Result<OnnxEmbedding, EmbeddingError>>,
}

impl Guess {
    fn of(settings: &Settings) -> anyhow::Result<Self> {
        let files = settings.model.files()?;
        Ok(Self { loading: load(&files), files })
    }
}

fn load(files: &ModelFiles) -> JoinHandle<Result<OnnxEmbedding, EmbeddingError>> {
    let files = files.clone();
    tokio::task::spawn_blocking(move || files.load())
}

/// A running memory and what must be ended with it.
pub(crate) struct Booted {
    pub(crate) memory: Arc<Memory>,
    postgres: Option<EmbeddedPostgres>,
    backups: backup::UnderWay,
    tasks: Vec<JoinHandle<()>>,
}

impl Booted {
    /// Whether jobs are due or a backup is being made; an idle process does not end before that is done.
    pub(crate) async fn has_work(&self) -> bool {
        self.backups.is_any() || self.memory.job_runner().has_due_jobs().await.unwrap_or(false)
    }

    /// Waits for the tasks, which end with their token, and stops the database last.
    pub(crate) async fn shut_down(self) {
        for task in self.tasks {
            let _ = task.await;
        }
        self.memory.close().await;
        if let Some(postgres) = self.postgres
            && let Err(error) = postgres.stop().await
        {
            tracing::warn!(%error, "failed to stop the database");
        }
    }
}

/// Boots and announces; while the database cannot be reached it tries again. An error that a retry cannot solve is
/// announced and returned. None once `stop` is cancelled.
pub(crate) async fn boot(
    settings: &Settings,
    announce: &Announce,
    stop: &CancellationToken,
    mismatch: Mismatch,
) -> anyhow::Result<Option<Booted>> {
    let failed = |error: &anyhow::Error| announce.set(Readiness::Failed(format!("{error:#}")));
    let mirror = settings.mirror_server().inspect_err(failed)?;
    let extractor = settings.extractor().inspect_err(failed)?;
    let reranking = settings.reranking().await.inspect_err(failed)?;
    let guess = Guess::of(settings)?;
    let opened = match open_with_retries(settings, announce, stop).await {
        Ok(Some(opened)) => opened,
        Ok(None) => return Ok(None),
        Err(error) => {
            failed(&error);
            // A process that ends while a thread of it loads ONNX Runtime may crash.
            let _ = guess.loading.await;
            return Err(error);
        }
    };
    let (store, postgres) = opened;
    let memory = Memory::new(store.clone(), extractor, settings.engine()).with_mirror(mirror);
    let mut memory = memory.with_reranking(reranking);
    if let Some(postgres) = &postgres {
        memory = memory.with_data_folder(postgres.home().to_owned());
    }
    let memory = Arc::new(memory);
    if let Err(error) = adopt(settings, &store, &memory, guess, mismatch).await {
        failed(&error);
        if let Some(postgres) = &postgres {
            let _ = postgres.stop().await;
        }
        return Err(error);
    }
    let worker = Worker::new(&memory);
    if postgres.is_some() {
        take_over(&memory, &worker).await;
    }
    announce.set(Readiness::Ready(Arc::clone(&memory)));
    let backups = backup::UnderWay::default();
    let mut tasks = background_tasks(&memory, worker, postgres.as_ref(), stop);
    let (models, under_way) = (settings.model.clone(), backups.clone());
    tasks.push(tokio::spawn(backup::keep_to_schedule(
        backup::Source { store, postgres: postgres.clone(), models, under_way },
        settings.backup.clone(),
        Arc::clone(&memory),
        stop.clone(),
    )));
    Ok(Some(Booted { memory, postgres, backups, tasks }))
}

type Opened = (Store, Option<EmbeddedPostgres>);

/// Opens the store; tries again for as long as the reason may pass. None once `stop` is cancelled.
async fn open_with_retries(
    settings: &Settings,
    announce: &Announce,
    stop: &CancellationToken,
) -> anyhow::Result<Option<Opened>> {
    let mut last_reason = None;
    loop {
        match open_store(settings).await {
            Ok(opened) => return Ok(Some(opened)),
            Err(error) if is_passing(&error) => {
                let reason = format!("{error:#}");
                // Logged once for each reason, not every few seconds.
                if last_reason.as_ref() != Some(&reason) {
                    tracing::warn!("{reason}; trying again every {} s", RETRY_INTERVAL.as_secs());
                    announce.set(Readiness::Waiting(reason.clone()));
                    last_reason = Some(reason);
                }
            }
            Err(error) => return Err(error),
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(None),
            () = tokio::time::sleep(RETRY_INTERVAL) => {}
        }
    }
}

/// Ends what an earlier process of the data folder has left open. A failure is only a delay.
async fn take_over(memory: &Arc<Memory>, worker: &Worker) {
    if let Err(error) = memory.job_runner().expire_leases().await {
        tracing::warn!(%error, "failed to expire the leases of an earlier process; its jobs wait until they end");
    }
    memory.push().expire_leases().await;
    if let Err(error) = memory.leave_mirror().await {
        tracing::warn!(%error, "failed to check the outbox of a mirror that is not configured any more");
    }
    worker.heartbeat().await;
}

/// What runs until `stop`. The process of a data folder is also its worker; with a shared database others are.
fn background_tasks(
    memory: &Arc<Memory>,
    worker: Worker,
    postgres: Option<&EmbeddedPostgres>,
    stop: &CancellationToken,
) -> Vec<JoinHandle<()>> {
    let until_stopped = || (Arc::clone(memory), stop.clone());
    let (of_changes, stop_changes) = until_stopped();
    let mut tasks = vec![tokio::spawn(async move {
        let _ = stop_changes.run_until_cancelled(of_changes.graph().follow_changes()).await;
    })];
    let (audited, stop_audit) = until_stopped();
    tasks.push(tokio::spawn(async move {
        let _ = stop_audit.run_until_cancelled(audited.audit().tidy()).await;
    }));
    let (memory, stop) = until_stopped();
    match postgres {
        Some(postgres) => {
            tasks.push(tokio::spawn(keep_running(postgres.clone(), stop.clone())));
            tasks.push(tokio::spawn(tidy(memory, stop.clone())));
            tasks.push(tokio::spawn(async move { worker.run(stop).await }));
        }
        None => tasks.push(tokio::spawn(async move {
            let _ = stop.run_until_cancelled(memory.forward_hints()).await;
        })),
    }
    tasks
}

/// Gives the memory the model of its vectors, or goes on without where there is none.
async fn adopt(
    settings: &Settings,
    store: &Store,
    memory: &Memory,
    guess: Guess,
    mismatch: Mismatch,
) -> anyhow::Result<()> {
    let searched = store.active_model().await?.map(|model| model.info);
    let files = settings.model.files_for(searched.as_ref())?;
    let loading = if files == guess.files { guess.loading } else { load(&files) };
    let model = match loading.await.context("the thread that loads the model died")? {
        Ok(model) => model,
        Err(error) => {
            let reason = error.to_string();
            tracing::warn!(reason, "going on without an embedding model: texts are found by their words");
            memory.lacks_model(reason);
            return Ok(());
        }
    };
    match memory.adopt_model(Arc::new(model)).await {
        Err(StoreError::ModelMismatch(reason)) if mismatch == Mismatch::GoWithout => {
            memory.lacks_model(reason);
        }
        other => other?,
    }
    Ok(())
}

fn is_passing(error: &anyhow::Error) -> bool {
    error.downcast_ref::<StoreError>().is_some_and(StoreError::is_passing)
}

async fn open_store(settings: &Settings) -> anyhow::Result<Opened> {
    let connections = settings.store.database_connections;
    if let Some(url) = &settings.store.database_url {
        return Ok((Store::open(url, connections).await?, None));
    }
    let components = settings.components()?;
    if let Some(missing) = components.missing(true).into_iter().find(|m| m.component == Component::Postgres) {
        anyhow::bail!("{missing}");
    }
    let postgres = EmbeddedPostgres::new(components.postgres_bin(), components.data_dir.join("postgres"));
    follow_major(&postgres, &components, settings).await?;
    postgres.start().await?;
    let backup_dir = settings.backup.backup_dir.as_deref();
    if let Err(error) = backup::before_change(&postgres, &settings.model, backup_dir).await {
        let _ = postgres.stop().await;
        return Err(error);
    }
    match Store::open_embedded(&postgres, connections).await {
        Ok(store) => Ok((store, Some(postgres))),
        Err(error) => {
            // Without a store there is no later point at which it is stopped.
            let _ = postgres.stop().await;
            Err(error.into())
        }
    }
}

/// Data of an older major version of Postgres is taken over, by the programs that an earlier setup has left.
async fn follow_major(
    postgres: &EmbeddedPostgres,
    components: &Components,
    settings: &Settings,
) -> anyhow::Result<()> {
    let here = Components::postgres_major();
    let Some(major) = postgres.data_major().filter(|major| *major != here) else { return Ok(()) };
    let folder = postgres.home().join("data");
    if major > here {
        anyhow::bail!(
            "{} is of PostgreSQL {major}, and this version of Remembrancer has {here}; run the version that wrote it or a \
             later one",
            folder.display()
        );
    }
    let Some(bin) = components.postgres_bin_of(major) else {
        anyhow::bail!(
            "{} is of PostgreSQL {major}, this version of Remembrancer has {here}, and the programs of {major} are gone from \
             {}; run the version that wrote it, make a logical backup, and restore that with this one",
            folder.display(),
            components.data_dir.join("runtime").display()
        );
    };
    tracing::warn!(from = major, to = here, "the database is taken over into a new version of Postgres");
    let older = EmbeddedPostgres::new(bin, postgres.home().to_owned());
    older.start().await?;
    if let Err(error) = prepare_for_dump(postgres, &older, settings).await {
        let _ = older.stop().await;
        return Err(error);
    }
    let kept = postgres.change_major(&older).await?;
    tracing::warn!(folder = %kept.display(), "the old database is kept in this folder; remove it when all is well");
    Ok(())
}

/// Brings the schema of the older database up to date, since a dump may depend on it. Before that a copy is made, and first
/// of all the free space is checked.
async fn prepare_for_dump(
    postgres: &EmbeddedPostgres,
    older: &EmbeddedPostgres,
    settings: &Settings,
) -> anyhow::Result<()> {
    postgres.need_room_for_change(older).await?;
    backup::before_change(older, &settings.model, settings.backup.backup_dir.as_deref()).await?;
    Store::open_embedded(older, settings.store.database_connections).await?.close().await;
    Ok(())
}

/// Tidies the graphs whose files are gone. With a shared database the files may be on another machine.
async fn tidy(memory: Arc<Memory>, stop: CancellationToken) {
    loop {
        if let Err(error) = memory.graph().tidy_files().await {
            tracing::warn!(%error, "failed to check for graphs whose files are gone; trying again later");
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(TIDY_INTERVAL) => {}
        }
    }
}

/// Starts the embedded database again when it has died.
async fn keep_running(postgres: EmbeddedPostgres, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(WATCH_INTERVAL) => {}
        }
        if postgres.is_running().await {
            continue;
        }
        tracing::warn!("the embedded database is gone; starting it again");
        if let Err(error) = postgres.start().await {
            tracing::error!(%error, "the embedded database could not be started");
        }
    }
}
