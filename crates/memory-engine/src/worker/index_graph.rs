//! Indexing jobs: the passages of a graph's observations, by which a search finds them.

use memory_language::lexicon::lexeme_counts;
use memory_store::graph::index;
use memory_store::jobs::{self, LeasedJob};
use memory_store::passages::{self, PassageVector};

use super::JobRunner;
use super::attempt::{JobError, Slice};
use super::embed::model_error;

/// How many observations get their words at a time, and how many their vectors.
const WORDS_BATCH: i64 = 500;
const VECTORS_BATCH: i64 = 64;

impl JobRunner {
    /// First passages of deleted observations go, also without a model; then lexemes are written, so that all is found by
    /// words soon; then vectors, until the slice is over and the job yields.
    pub(super) async fn index_graph(
        &self,
        job: &LeasedJob,
        thread_id: i64,
        slice: &Slice,
    ) -> Result<(), JobError> {
        let ns = &job.namespace;
        let mut tx = self.store.begin(ns).await?;
        jobs::renew(&mut tx, job, self.settings.lease).await?;
        index::delete_former(&mut tx, ns, thread_id).await?;
        tx.commit().await?;
        loop {
            let batch = {
                let mut conn = self.store.acquire(ns).await?;
                index::unindexed(&mut conn, ns, thread_id, WORDS_BATCH).await?
            };
            if batch.is_empty() {
                break;
            }
            let rendered = batch.into_iter().map(|observation| {
                let text = format!("{}: {}", observation.entity, observation.content);
                let lexemes = lexeme_counts(&text);
                (observation.handle, text, lexemes)
            });
            let rendered: Vec<_> = rendered.collect();
            let mut tx = self.store.begin(ns).await?;
            jobs::renew(&mut tx, job, self.settings.lease).await?;
            index::insert_passages(&mut tx, ns, &rendered).await?;
            tx.commit().await?;
            slice.got_on();
            self.statistics.forget_passages(ns);
        }
        loop {
            let (model, active) = self.model.ready().ok_or_else(|| self.no_model())?;
            let batch = {
                let mut conn = self.store.acquire(ns).await?;
                index::without_vector(&mut conn, ns, thread_id, active.model_id, VECTORS_BATCH).await?
            };
            let is_last = (batch.len() as i64) < VECTORS_BATCH;
            let (ids, texts): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
            let embedded = model.embed_in_background(texts).await.map_err(model_error)?;
            let vectors = ids.into_iter().zip(embedded).map(|(id, made)| {
                (id, PassageVector { states: made.compressed_states(), vector: made.vector })
            });
            let is_over = is_last || slice.is_over();
            let mut tx = self.store.begin(ns).await?;
            if is_last {
                jobs::finish(&mut tx, job).await?;
            } else if is_over {
                jobs::yield_turn(&mut tx, job).await?;
            } else {
                jobs::renew(&mut tx, job, self.settings.lease).await?;
            }
            passages::write_vectors(&mut tx, ns, active.model_id, vectors.collect()).await?;
            tx.commit().await?;
            slice.got_on();
            if is_over {
                return Ok(());
            }
        }
    }
}
