//! reembed: another embedding model in the place of the one that is searched, while everything goes on.
//!
//! Its vectors are made beside the old ones; one short transaction switches; what was written meanwhile is made up
//! for; then the old vectors go. Each batch is committed, and what there is to do is read from the database: a run
//! that was killed goes on where it was.

mod work;

use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_core::Invalid;
use memory_core::ports::{EmbeddingModel, ModelInfo};
use memory_store::models::{self, ActiveModel};
use memory_store::reembedding::{self, DIMENSION_MAX, Position, Registered, Turn};
use memory_store::vector::mirrors;
use memory_store::{Store, StoreError};
use tokio::sync::watch;

use self::work::Work;
use crate::lines::Report;
use crate::memory::{InUse, ModelState};
use crate::{EngineError, Memory};

/// How often the passages are gone through before the switch; a busy memory always has some new ones.
const PASSES_MAX: usize = 10;
/// How many old vectors are deleted at a time.
const REMOVED_AT_ONCE: i64 = 2_000;
/// How often vectors are looked for that were written while their model was removed.
const REMOVALS_MAX: usize = 5;
/// How long a run waits for the turn of one that was broken off: the server may not have seen it go.
const TURN_WAIT: Duration = Duration::from_secs(2);
/// How long is waited for calls that still work with the model before.
const CALLS_WAIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// What became of the models.
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

impl Memory {
    /// Gives every passage of every namespace a vector of `model` and makes it the one that is searched, here and in
    /// the database. The vectors of others are then deleted, unless `keep_old`. It may be dropped at any moment and
    /// run again; with nothing left to do it does nothing. One at a time: a second one is refused.
    #[tracing::instrument(skip_all, fields(model = model.info().id))]
    pub async fn reembed(
        &self,
        model: Arc<dyn EmbeddingModel>,
        keep_old: bool,
        report: Report<'_>,
    ) -> Result<Reembedded, EngineError> {
        let turn = self.turn_to_reembed().await?;
        let done = self.reembed_in_turn(model, keep_old, report).await;
        turn.give_up().await;
        done
    }

    async fn turn_to_reembed(&self) -> Result<Turn, EngineError> {
        let deadline = Instant::now() + TURN_WAIT;
        loop {
            if let Some(turn) = self.persist(|| async { Ok(self.store.turn_to_reembed().await?) }).await? {
                return Ok(turn);
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

    async fn reembed_in_turn(
        &self,
        model: Arc<dyn EmbeddingModel>,
        keep_old: bool,
        report: Report<'_>,
    ) -> Result<Reembedded, EngineError> {
        let (target, is_active) = self.register(model.info()).await?;
        let mut work = Work::new(self, Arc::clone(&model), target.clone(), report);
        let mut replaced = None;
        if is_active {
            work.is_switched = true;
            if !matches!(self.model_state(), ModelState::Ready { active, .. } if active == target) {
                self.outlast(put_to_use(self.model_sender(), model, target.clone())).await;
            }
        } else {
            self.persist(|| async {
                Ok(reembedding::ensure_index(&mut *self.store.acquire().await?, &target).await?)
            })
            .await?;
            self.persist(|| self.mirror_next_model(&target)).await?;
            for _ in 0..PASSES_MAX {
                if work.pass().await? == 0 {
                    break;
                }
            }
            replaced = self.switch(&model, &target).await?;
            work.is_switched = true;
            tracing::info!("the model is searched from here on");
        }
        // What was written with the model before, while the switch was made.
        work.pass().await?;
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
                .persist(|| async {
                    let mut tx = self.store.begin().await?;
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

    /// Database and process switch together, also when nobody waits any more for this to end.
    async fn switch(
        &self,
        model: &Arc<dyn EmbeddingModel>,
        target: &ActiveModel,
    ) -> Result<Option<ActiveModel>, EngineError> {
        let (former, state) = self
            .persist(|| async {
                let (store, state) = (self.store.clone(), self.model_sender().clone());
                let switching = tokio::spawn(switch(store, state, Arc::clone(model), target.clone()));
                switching.await.unwrap_or_else(|death| std::panic::resume_unwind(death.into_panic()))
            })
            .await?;
        self.outlast(state).await;
        Ok(former)
    }

    /// Waits until no call of this process works with a model any more that was in use: what they write is there then.
    async fn outlast(&self, state: ModelState) {
        let ModelState::Ready { model, .. } = state else { return };
        let used = Arc::downgrade(&model);
        drop(model);
        let deadline = Instant::now() + CALLS_WAIT;
        while used.strong_count() > 0 && Instant::now() < deadline {
            tokio::time::sleep(POLL).await;
        }
    }

    async fn inactive_models(&self) -> Result<Vec<ActiveModel>, EngineError> {
        self.persist(|| async { Ok(models::inactive(&mut *self.store.acquire().await?).await?) }).await
    }

    async fn remove_model(&self, model: &ActiveModel) -> Result<(), EngineError> {
        self.persist(|| async {
            let mut conn = self.store.acquire().await?;
            mirrors::retire_model(&mut conn, model.model_id).await?;
            Ok(reembedding::begin_removal(&mut conn, model).await?)
        })
        .await?;
        for _ in 0..REMOVALS_MAX {
            let mut position = Position::default();
            while let Some(next) = self
                .persist(|| async {
                    let mut conn = self.store.acquire().await?;
                    Ok(reembedding::remove_vectors(&mut conn, model.model_id, &position, REMOVED_AT_ONCE)
                        .await?)
                })
                .await?
            {
                position = next;
            }
            let mut conn = self.store.acquire().await?;
            match reembedding::delete_model(&mut conn, model.model_id).await {
                // A call that was under way has written one more.
                Err(StoreError::Conflict) => {}
                other => return Ok(other?),
            }
        }
        Err(EngineError::Unavailable(StoreError::Conflict))
    }
}

/// Makes the model the one that calls of this process work with; gives what they worked with before.
fn put_to_use(
    state: &watch::Sender<ModelState>,
    model: Arc<dyn EmbeddingModel>,
    active: ActiveModel,
) -> ModelState {
    state.send_replace(ModelState::Ready { model: Arc::new(InUse(model)), active })
}

async fn switch(
    store: Store,
    state: watch::Sender<ModelState>,
    model: Arc<dyn EmbeddingModel>,
    target: ActiveModel,
) -> Result<(Option<ActiveModel>, ModelState), EngineError> {
    let mut tx = store.begin().await?;
    let former = reembedding::switch(&mut tx, &target).await?;
    tx.commit().await?;
    Ok((former, put_to_use(&state, model, target)))
}
