//! The embedding model of this process, and whether its vectors are still those of the database.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use hashlink::LruCache;
use memory_core::ports::{Embedded, EmbeddingError, EmbeddingModel, ModelInfo, TokenState};
use memory_store::models::{self, ActiveModel};
use memory_store::{Store, StoreError};
use tokio::sync::watch;

use crate::locking::locked;
use crate::measures;

/// How many questions are kept with what the model made of them, and how much memory that may take.
const QUESTIONS_MAX: usize = 1_000;
const QUESTIONS_BYTES_MAX: usize = 16 << 20;

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
    questions: Arc<Mutex<RecentQuestions>>,
}

impl CurrentModel {
    pub(crate) fn new(store: Store) -> Self {
        let questions = Arc::new(Mutex::new(RecentQuestions::new(QUESTIONS_MAX, QUESTIONS_BYTES_MAX)));
        Self { store, state: watch::Sender::new(ModelState::Loading), questions }
    }

    /// Starts using a loaded model, if its vectors and the stored ones belong together.
    pub(crate) async fn adopt(&self, model: Arc<dyn EmbeddingModel>) -> Result<(), StoreError> {
        let active = self.store.adopt_model(model.info()).await?;
        self.replace(model, active);
        Ok(())
    }

    /// Gives the state before.
    pub(crate) fn replace(&self, model: Arc<dyn EmbeddingModel>, active: ActiveModel) -> ModelState {
        locked(&self.questions).clear();
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

    /// The embedding of a question, from the cache where the question is among the recent ones.
    pub(crate) async fn embed_question(
        &self,
        question: &str,
    ) -> Result<(Arc<Embedded>, ActiveModel), EmbeddingError> {
        let Some((model, active)) = self.ready() else {
            return Err(EmbeddingError::Unavailable("not loaded".into()));
        };
        let key = (Vectors::Embedding(active.model_id), question.to_owned());
        if let Some(embedded) = locked(&self.questions).get(&key) {
            return Ok((embedded, active));
        }
        let embedded = Arc::new(model.embed_query(question).await?);
        locked(&self.questions).put(key, Arc::clone(&embedded));
        Ok((embedded, active))
    }

    /// The vector by which directives that bear on a request are near it, with its version; from the cache where the request is among
    /// the recent ones. `None` where the model gives none.
    pub(crate) async fn embed_request(&self, request: &str) -> Option<(i16, Arc<Embedded>)> {
        let (model, _) = self.ready()?;
        let version = model.bearing_version()?;
        let key = (Vectors::Bearing(version), request.to_owned());
        if let Some(embedded) = locked(&self.questions).get(&key) {
            return Some((version, embedded));
        }
        let made = model.embed_for_bearing(vec![request.to_owned()]).await;
        let made =
            made.inspect_err(|error| tracing::warn!(%error, "directives are chosen by likeness alone"));
        let vector = made.ok()?.pop()?;
        let embedded = Arc::new(Embedded { vector, tokens: Vec::new() });
        locked(&self.questions).put(key, Arc::clone(&embedded));
        Some((version, embedded))
    }

    /// Stops using a model whose vectors another process has removed: texts then wait for their vectors instead of
    /// being refused.
    pub(crate) async fn leave_removed(&self) {
        let Some((_, mine)) = self.ready() else { return };
        let Ok(mut conn) = self.store.acquire_across().await else { return };
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

/// The model as calls share it. A call holds its reference until its results are written, so that it can be seen when no call uses a
/// former model any more.
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

    fn bearing_version(&self) -> Option<i16> {
        self.0.bearing_version()
    }

    async fn embed_for_bearing(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        measures::embedding("bearing", texts.len(), self.0.embed_for_bearing(texts)).await
    }
}

/// What a model made of a text: the vector that passages are compared with, by the number of the model, or the one that directives are
/// compared with, by its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Vectors {
    Embedding(i16),
    Bearing(i16),
}

type QuestionKey = (Vectors, String);

/// What models made of the questions asked last, within a number and a size.
struct RecentQuestions {
    kept: LruCache<QuestionKey, Arc<Embedded>>,
    bytes: usize,
    bytes_max: usize,
}

impl RecentQuestions {
    fn new(questions_max: usize, bytes_max: usize) -> Self {
        Self { kept: LruCache::new(questions_max), bytes: 0, bytes_max }
    }

    fn clear(&mut self) {
        self.kept.clear();
        self.bytes = 0;
    }

    fn get(&mut self, key: &QuestionKey) -> Option<Arc<Embedded>> {
        self.kept.get(key).map(Arc::clone)
    }

    fn put(&mut self, key: QuestionKey, embedded: Arc<Embedded>) {
        let added = bytes_of(&key, &embedded);
        if added > self.bytes_max {
            return;
        }
        if let Some(before) = self.kept.remove_entry(&key) {
            self.bytes -= bytes_of(&before.0, &before.1);
        }
        while self.kept.len() >= self.kept.capacity() || self.bytes + added > self.bytes_max {
            let Some((key, embedded)) = self.kept.remove_lru() else { break };
            self.bytes -= bytes_of(&key, &embedded);
        }
        self.kept.insert(key, embedded);
        self.bytes += added;
    }
}

/// About how much memory a question takes.
fn bytes_of((_, text): &QuestionKey, embedded: &Embedded) -> usize {
    let states = embedded.tokens.iter().map(|token| size_of::<TokenState>() + size_of_val(&token.state[..]));
    size_of::<QuestionKey>() + text.len() + size_of_val(&embedded.vector[..]) + states.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> QuestionKey {
        (Vectors::Embedding(1), text.to_owned())
    }

    fn embedded(tokens: usize) -> Arc<Embedded> {
        let token = TokenState { begin: 0, state: vec![0.0; 100] };
        Arc::new(Embedded { vector: vec![0.0; 100], tokens: vec![token; tokens] })
    }

    #[test]
    fn questions_are_kept_up_to_a_number_and_a_size_the_latest_asked_first() {
        let mut recent = RecentQuestions::new(3, 100_000);
        for text in ["a", "b", "c"] {
            recent.put(key(text), embedded(1));
        }
        assert!(recent.get(&key("a")).is_some(), "it is the latest now");
        recent.put(key("d"), embedded(1));
        assert!(recent.get(&key("b")).is_none() && recent.get(&key("a")).is_some());
        assert!(
            recent.get(&(Vectors::Embedding(2), "a".into())).is_none(),
            "another model has not been asked"
        );
        recent.put(key("long"), embedded(200));
        assert!(recent.get(&key("long")).is_some() && recent.bytes <= 100_000);
        recent.put(key("longer"), embedded(150));
        assert!(recent.get(&key("long")).is_none(), "both together are too large");
        recent.put(key("huge"), embedded(1_000));
        assert!(recent.get(&key("huge")).is_none() && recent.get(&key("longer")).is_some());
        recent.put(key("longer"), embedded(1));
        let sum: usize = recent.kept.iter().map(|(key, embedded)| bytes_of(key, embedded)).sum();
        assert_eq!(recent.bytes, sum);
    }
}
