//! The embedding model of this process, and whether its vectors are still those of the database.

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::ports::{Embedded, EmbeddingError, EmbeddingModel, ModelInfo};
use memory_store::models::{self, ActiveModel};
use memory_store::{Store, StoreError};
use tokio::sync::watch;

use crate::measures;

/// The embedding model as far as it has got.
#[derive(Clone)]
pub enum ModelState {
    Loading,
    Ready {
        model: Arc<dyn EmbeddingModel>,
        active: ActiveModel,
    },
    /// Why there is none.
    Failed(String),
}

/// The model that calls embed with. Clones share it.
#[derive(Clone)]
pub(crate) struct CurrentModel {
    store: Store,
    state: watch::Sender<ModelState>,
}

impl CurrentModel {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, state: watch::Sender::new(ModelState::Loading) }
    }

    /// Starts using a loaded model, if its vectors and the stored ones belong together.
    pub(crate) async fn adopt(&self, model: Arc<dyn EmbeddingModel>) -> Result<(), StoreError> {
        let active = self.store.adopt_model(model.info()).await?;
        self.replace(model, active);
        Ok(())
    }

    /// Gives the state before.
    pub(crate) fn replace(&self, model: Arc<dyn EmbeddingModel>, active: ActiveModel) -> ModelState {
        self.state.send_replace(ModelState::Ready { model: Arc::new(ModelInUse(model)), active })
    }

    pub(crate) fn fail(&self, reason: String) {
        self.state.send_replace(ModelState::Failed(reason));
    }

    pub(crate) fn state(&self) -> ModelState {
        self.state.borrow().clone()
    }

    pub(crate) fn ready(&self) -> Option<(Arc<dyn EmbeddingModel>, ActiveModel)> {
        match &*self.state.borrow() {
            ModelState::Ready { model, active } => Some((Arc::clone(model), active.clone())),
            ModelState::Loading | ModelState::Failed(_) => None,
        }
    }

    /// Stops using a model whose vectors another process has removed: texts then wait for their vectors instead of
    /// being refused.
    pub(crate) async fn leave_removed(&self) {
        let Some((_, mine)) = self.ready() else { return };
        let Ok(mut conn) = self.store.acquire().await else { return };
        if !matches!(models::is_known(&mut conn, mine.model_id).await, Ok(false)) {
            return;
        }
        let reason = format!(
            "the vectors of {} were replaced by those of another model; start with that (--model-dir)",
            mine.info.id
        );
        self.state.send_if_modified(|state| {
            let is_mine = matches!(&*state, ModelState::Ready { active, .. } if *active == mine);
            if is_mine {
                tracing::warn!(reason, "going on without an embedding model");
                *state = ModelState::Failed(reason);
            }
            is_mine
        });
    }
}

/// A model that calls work with. A call holds it until its results are written: so the end of the last one can be seen.
struct ModelInUse(Arc<dyn EmbeddingModel>);

#[async_trait]
impl EmbeddingModel for ModelInUse {
    fn info(&self) -> &ModelInfo {
        self.0.info()
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        measures::embedding("passages", texts.len(), self.0.embed_passages(texts)).await
    }

    async fn embed_in_background(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        measures::embedding("background", texts.len(), self.0.embed_in_background(texts)).await
    }

    async fn embed_query(&self, text: &str) -> Result<Embedded, EmbeddingError> {
        measures::embedding("query", 1, self.0.embed_query(text)).await
    }
}
