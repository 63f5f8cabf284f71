//! Replacing the embedding model that is searched, while everything else goes on.
//!
//! The new vectors are written beside the old ones; one short transaction switches; passages written meanwhile are embedded
//! too; then the old vectors are deleted. Each batch is committed, and what is missing is read from the database: a run that
//! was killed continues where it was.

mod work;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use memory_core::Invalid;
use memory_core::ports::{EmbeddingModel, ModelInfo};
use memory_store::models::{self, ActiveModel};
use memory_store::reembedding::{self, DIMENSION_MAX, Position, ReembedLock, Registered};
use memory_store::vector::mirrors;
use memory_store::{Store, StoreError};

use self::work::Work;
use crate::EngineError;
use crate::mirror::VectorMirror;
use crate::model::{CurrentModel, ModelState};
use crate::progress::Report;
use crate::recovery::Recovery;

/// How many passes over the passages are made before the switch; a busy memory always has some new ones.
const PASSES_MAX: usize = 10;
/// How many old vectors are deleted at a time.
const REMOVED_AT_ONCE: i64 = 2_000;
/// How many attempts a removal has, since calls may write vectors of the model meanwhile.
const REMOVALS_MAX: usize = 5;
/// How long a run waits for the lock of one that was interrupted: the server may not have noticed yet.
const LOCK_WAIT: Duration = Duration::from_secs(2);
/// How long to wait for calls that still use the former model.
const CALLS_WAIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reembedded {
    /// The model that is searched now …
    pub model: ModelInfo,
    /// … and the one that was until now; `None` when it is the same.
    pub replaced: Option<ModelInfo>,
    /// Vectors that this run made.
    pub embedded: u64,
    /// Passages that the model could not embed; they are found by their words.
    pub failed: u64,
    /// All passages there are.
    pub passages: u64,
    /// Models whose vectors were deleted, and models whose vectors are still there.
    pub removed: Vec<ModelInfo>,
    pub kept: Vec<ModelInfo>,
}

/// Replaces the embedding model, here and in the database.
#[derive(Clone)]
pub struct Reembedding {
    store: Store,
    recovery: Recovery,
    model: CurrentModel,
    mirror: Option<VectorMirror>,
}

impl Reembedding {
    pub(crate) fn new(
        store: Store,
        recovery: Recovery,
        model: CurrentModel,
        mirror: Option<VectorMirror>,
    ) -> Self {
        Self { store, recovery, model, mirror }
    }

    /// Gives every passage of every namespace a vector of `model` and makes it the one that is searched, here and in
    /// the database. The vectors of others are then deleted, unless `keep_old`. It may be dropped at any moment and
    /// run again; with nothing left to do it does nothing. One at a time: a second one is refused.
    #[tracing::instrument(skip_all, fields(model = model.info().id))]
    pub fn run<'a>(
        &'a self,
        model: Arc<dyn EmbeddingModel>,
        keep_old: bool,
        report: Report<'a>,
    ) -> BoxFuture<'a, Result<Reembedded, EngineError>> {
        Box::pin(async move {
            let lock = self.lock().await?;
            let done = self.run_locked(model, keep_old, report).await;
            lock.release().await;
            done
        })
    }

    async fn lock(&self) -> Result<ReembedLock, EngineError> {
        let deadline = Instant::now() + LOCK_WAIT;
        loop {
            if let Some(lock) =
                self.recovery.retry_transient(|| async { Ok(self.store.lock_reembedding().await?) }).await?
            {
                return Ok(lock);
            }
            if Instant::now() > deadline {
                return Err(Invalid::new(
                    "The vectors of this database are being made anew already. Wait until that is done, or stop it, \
                     and try again.",
                )
                .into());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    async fn run_locked(
        &self,
        model: Arc<dyn EmbeddingModel>,
        keep_old: bool,
        report: Report<'_>,
    ) -> Result<Reembedded, EngineError> {
        let (target, is_active) = self.register(model.info()).await?;
        let mut work =
            Work::new(self.store.clone(), self.recovery.clone(), Arc::clone(&model), target.clone(), report);
        let mut replaced = None;
        if is_active {
            work.is_switched = true;
            if !matches!(self.model.state(), ModelState::Ready { active, .. } if active == target) {
                self.outlast(self.model.replace(model, target.clone())).await;
            }
        } else {
            self.recovery
                .retry_transient(|| async {
                    Ok(reembedding::ensure_index(&mut self.store.for_schema().await?, &target).await?)
                })
                .await?;
            self.recovery.retry_transient(|| self.mirror_next_model(&target)).await?;
            for _ in 0..PASSES_MAX {
                if work.pass().await? == 0 {
                    break;
                }
            }
            replaced = self.switch(&model, &target).await?;
            work.is_switched = true;
            tracing::info!("the model is searched from here on");
        }
        // Passages that were written with the former model during the switch.
        work.pass().await?;
        work.embed_directives().await?;
        let mut removed = Vec::new();
        let mut kept = Vec::new();
        for old in self.inactive_models().await? {
            if keep_old {
                kept.push(old.info);
            } else {
                self.remove_model(&old).await?;
                removed.push(old.info);
            }
        }
        Ok(Reembedded {
            model: target.info,
            replaced: replaced.map(|former| former.info),
            embedded: work.embedded,
            failed: work.failed,
            passages: work.total,
            removed,
            kept,
        })
    }

    /// Gives the model's row, and whether it is the one that is searched already.
    async fn register(&self, info: &ModelInfo) -> Result<(ActiveModel, bool), EngineError> {
        if !(1..=DIMENSION_MAX).contains(&info.dimension) {
            return Err(Invalid::new(format!(
                "{} has {} dimensions; up to {DIMENSION_MAX} can be searched. Take another model.",
                info.id, info.dimension
            ))
            .into());
        }
        loop {
            let registered = self
                .recovery
                .retry_transient(|| async {
                    let mut tx = self.store.begin_across().await?;
                    match reembedding::register(&mut tx, info).await {
                        Ok(registered) => {
                            tx.commit().await?;
                            Ok(registered)
                        }
                        Err(StoreError::ModelMismatch(reason)) => Err(Invalid::new(reason).into()),
                        Err(error) => Err(error.into()),
                    }
                })
                .await?;
            match registered {
                Registered::Active(model) => return Ok((model, true)),
                Registered::Inactive(model) => return Ok((model, false)),
                Registered::Obsolete(model) => self.remove_model(&model).await?,
            }
        }
    }

    /// Database and process switch together, also when the call is dropped.
    async fn switch(
        &self,
        model: &Arc<dyn EmbeddingModel>,
        target: &ActiveModel,
    ) -> Result<Option<ActiveModel>, EngineError> {
        let (former, state) = self
            .recovery
            .retry_transient(|| async {
                let (store, current) = (self.store.clone(), self.model.clone());
                let switching = tokio::spawn(switch(store, current, Arc::clone(model), target.clone()));
                switching.await.unwrap_or_else(|death| std::panic::resume_unwind(death.into_panic()))
            })
            .await?;
        self.outlast(state).await;
        Ok(former)
    }

    /// Waits until no call of this process uses the former model any more: all that they write is committed then.
    async fn outlast(&self, state: ModelState) {
        let ModelState::Ready { model, .. } = state else { return };
        let used = Arc::downgrade(&model);
        drop(model);
        let deadline = Instant::now() + CALLS_WAIT;
        while used.strong_count() > 0 && Instant::now() < deadline {
            tokio::time::sleep(POLL).await;
        }
    }

    /// The vectors of a model that is about to be searched are mirrored while they are made.
    async fn mirror_next_model(&self, model: &ActiveModel) -> Result<(), EngineError> {
        match &self.mirror {
            Some(mirror) => Ok(mirror.register(model).await?),
            None => Ok(()),
        }
    }

    async fn inactive_models(&self) -> Result<Vec<ActiveModel>, EngineError> {
        self.recovery
            .retry_transient(|| async {
                Ok(models::inactive(&mut *self.store.acquire_across().await?).await?)
            })
            .await
    }

    async fn remove_model(&self, model: &ActiveModel) -> Result<(), EngineError> {
        self.recovery
            .retry_transient(|| async {
                mirrors::retire_model(&mut *self.store.acquire_across().await?, model.model_id).await?;
                Ok(reembedding::begin_removal(&mut self.store.for_schema().await?, model).await?)
            })
            .await?;
        for _ in 0..REMOVALS_MAX {
            let mut position = Position::default();
            while let Some(next) = self
                .recovery
                .retry_transient(|| async {
                    let mut conn = self.store.acquire_across().await?;
                    Ok(reembedding::remove_vectors(&mut conn, model.model_id, &position, REMOVED_AT_ONCE)
                        .await?)
                })
                .await?
            {
                position = next;
            }
            let mut conn = self.store.acquire_across().await?;
            match reembedding::delete_model(&mut conn, model.model_id).await {
                // A call that was under way has written one more.
                Err(StoreError::Conflict) => {}
                other => return Ok(other?),
            }
        }
        Err(EngineError::Unavailable(StoreError::Conflict))
    }
}

async fn switch(
    store: Store,
    current: CurrentModel,
    model: Arc<dyn EmbeddingModel>,
    target: ActiveModel,
) -> Result<(Option<ActiveModel>, ModelState), EngineError> {
    let mut tx = store.begin_across().await?;
    let former = reembedding::switch(&mut tx, &target).await?;
    tx.commit().await?;
    Ok((former, current.replace(model, target)))
}
