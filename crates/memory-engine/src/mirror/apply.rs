//! Applying the outbox: each round claims due rows, reads what their points should hold now, and writes or deletes these.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use memory_store::models;
use memory_store::vector::IndexError;
use memory_store::vector::mirrors::{self, Mirror, MirrorState};
use memory_store::vector::outbox::{self, Claimed};
use memory_store::vector::points;

use super::{LOOK_INTERVAL, MirrorError, VectorMirror};
use crate::EngineError;

/// How many points are sent at a time.
const BATCH: i64 = 256;
/// How many batches a round has; the next round looks again at what there is.
const BATCHES_PER_ROUND: usize = 20;
/// How many batches of a mirror are under way at the same time.
const BATCHES_AT_ONCE: usize = 2;
/// A collection is searched once at most so many of its points are missing; those are searched in Postgres until then.
const WAITING_WHEN_USED: i64 = 1_000;
/// How long until a point that the server has refused is tried again.
const REFUSED_PAUSE: Duration = Duration::from_secs(300);

impl VectorMirror {
    /// Applies all that is due; for tests, and for commands that must not end before.
    pub fn drain(&self) -> BoxFuture<'_, Result<usize, EngineError>> {
        Box::pin(async move {
            let mut all = 0;
            loop {
                match self.round().await.map_err(|error| self.failed(error))? {
                    0 => return Ok(all),
                    done => all += done,
                }
            }
        })
    }

    /// One round over all mirrors; gives the number of points written or deleted and of steps done.
    pub(super) async fn round(&self) -> Result<usize, MirrorError> {
        let mut done = self.register_active_model().await? + self.remove_retired().await?;
        let known = mirrors::all(&mut *self.store.acquire_across().await?).await?;
        for one in known.iter().filter(|one| one.state != MirrorState::Retired && one.model_id.is_some()) {
            done += self.keep_up(one).await?;
        }
        Ok(done)
    }

    /// The vectors that are searched are mirrored, whatever model they are of.
    async fn register_active_model(&self) -> Result<usize, MirrorError> {
        let mut conn = self.store.acquire_across().await?;
        let Some(model) = models::active(&mut conn).await? else { return Ok(0) };
        let known = mirrors::all(&mut conn).await?;
        drop(conn);
        let is_live =
            |one: &&Mirror| one.model_id == Some(model.model_id) && one.state != MirrorState::Retired;
        if known.iter().any(|one| is_live(&one)) {
            return Ok(0);
        }
        self.register(&model).await?;
        Ok(1)
    }

    async fn remove_retired(&self) -> Result<usize, MirrorError> {
        let seconds = self.server.times().retired.as_secs_f64();
        let removable = mirrors::removable(&mut *self.store.acquire_across().await?, seconds).await?;
        for one in &removable {
            self.server.delete_collection(&one.collection).await?;
            self.seen().made.remove(&one.collection);
            mirrors::delete(&mut *self.store.acquire_across().await?, one.mirror_id).await?;
        }
        Ok(removable.len())
    }

    async fn keep_up(&self, one: &Mirror) -> Result<usize, MirrorError> {
        if !self.is_there(one).await? {
            tracing::warn!(collection = one.collection, "the collection is gone; building it anew");
            mirrors::retire(&mut *self.store.acquire_across().await?, one.mirror_id).await?;
            return Ok(1);
        }
        let is_filled = match one.filled_to {
            None => true,
            Some(_) => {
                let mut tx = self.store.begin_across().await?;
                let is_filled = mirrors::fill(&mut tx, one).await?;
                tx.commit().await?;
                is_filled
            }
        };
        let (mut done, mut batches) = (0, 0);
        loop {
            let under_way = (0..BATCHES_AT_ONCE).map(|_| self.apply_batch(one));
            let mut applied = 0;
            for outcome in futures::future::join_all(under_way).await {
                applied += outcome?;
            }
            done += applied;
            batches += BATCHES_AT_ONCE;
            if applied == 0 || batches >= BATCHES_PER_ROUND {
                break;
            }
        }
        if one.state == MirrorState::Filling {
            done += usize::from(!is_filled || self.finish_filling(one).await?);
        }
        Ok(done)
    }

    /// Whether the collection exists with its indexes; a new one is created.
    async fn is_there(&self, one: &Mirror) -> Result<bool, MirrorError> {
        let is_fresh = one.state == MirrorState::Filling && one.filled_to == Some(0) && one.last_rev == 0;
        let is_due = {
            let seen = self.seen();
            !seen.made.contains(&one.collection)
                || seen
                    .looked_at
                    .is_none_or(|at| at.elapsed() >= LOOK_INTERVAL.min(self.server.times().audit))
        };
        if !is_due {
            return Ok(true);
        }
        let there = self.server.collections().await?;
        let exists = there.names.contains(&one.collection);
        if !exists && !is_fresh {
            self.seen().made.remove(&one.collection);
            return Ok(false);
        }
        if !self.seen().made.contains(&one.collection) {
            self.server.ensure_collection(one).await?;
        }
        let latest = self.server.latest_rev(&one.collection).await?.unwrap_or(0);
        let mut conn = self.store.acquire_across().await?;
        outbox::rise_above(&mut conn, latest).await?;
        if one.state == MirrorState::Searched {
            if latest < one.last_rev {
                tracing::warn!(
                    collection = one.collection,
                    "the server has lost writes; all points are compared"
                );
                mirrors::want_audit(&mut conn, one.mirror_id, latest).await?;
            }
            if there.aliases.get(&one.alias) != Some(&one.collection) {
                self.server.point_alias(one).await?;
            }
        }
        let mut seen = self.seen();
        seen.made.insert(one.collection.clone());
        seen.looked_at = Some(Instant::now());
        Ok(true)
    }

    /// Starts searching a filled collection; gives whether it did.
    async fn finish_filling(&self, one: &Mirror) -> Result<bool, MirrorError> {
        let waiting = {
            let mut conn = self.store.acquire_across().await?;
            outbox::count_up_to(&mut conn, one.mirror_id, WAITING_WHEN_USED + 1).await?
        };
        if waiting > WAITING_WHEN_USED {
            return Ok(false);
        }
        self.server.point_alias(one).await?;
        let mut tx = self.store.begin_across().await?;
        match mirrors::put_to_use(&mut tx, one).await {
            Ok(()) => tx.commit().await?,
            // Another worker was first, or it was given up.
            Err(memory_store::StoreError::Conflict) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        tracing::info!(collection = one.collection, "the collection is searched from here on");
        Ok(true)
    }

    async fn apply_batch(&self, one: &Mirror) -> Result<usize, MirrorError> {
        let times = self.server.times();
        let claimed =
            outbox::claim(&mut *self.store.acquire_across().await?, one, times.lease, BATCH).await?;
        let Some(claimed) = claimed else { return Ok(0) };
        // After its lease the batch belongs to another worker: it counts as unanswered.
        let limit = times.lease.saturating_sub(times.lease / 10);
        let applied = tokio::time::timeout(limit, self.apply(one, &claimed)).await;
        let outcome = applied
            .unwrap_or_else(|_| Err(IndexError::Unavailable("it took longer than the lease".into()).into()));
        let mut conn = self.store.acquire_across().await?;
        match outcome {
            Ok(()) => {
                outbox::settle(&mut conn, &claimed, times.confirm).await?;
                Ok(claimed.passages.len())
            }
            Err(error) => {
                let is_unclear = matches!(&error, MirrorError::Index(error) if error.is_unclear());
                let reason = error.to_string();
                outbox::put_back(&mut conn, &claimed, &claimed.passages, is_unclear, &reason, Duration::ZERO)
                    .await?;
                if matches!(error, MirrorError::Index(IndexError::Missing(_))) {
                    // The next look will see whether the whole collection is gone.
                    let mut seen = self.seen();
                    seen.made.remove(&one.collection);
                    seen.looked_at = None;
                }
                Err(error)
            }
        }
    }

    /// Writes the points of the claim as Postgres has them now.
    async fn apply(&self, one: &Mirror, claimed: &Claimed) -> Result<(), MirrorError> {
        match self.apply_some(one, claimed, &claimed.passages).await {
            Err(MirrorError::Index(IndexError::Refused(reason) | IndexError::Unfit(reason))) => {
                tracing::warn!(reason, "the server refused a batch; writing its points one by one");
            }
            other => return other,
        }
        for passage in &claimed.passages {
            let alone = [*passage];
            match self.apply_some(one, claimed, &alone).await {
                Err(MirrorError::Index(IndexError::Refused(reason) | IndexError::Unfit(reason))) => {
                    let mut conn = self.store.acquire_across().await?;
                    outbox::put_back(&mut conn, claimed, &alone, false, &reason, REFUSED_PAUSE).await?;
                }
                other => other?,
            }
        }
        Ok(())
    }

    async fn apply_some(&self, one: &Mirror, claimed: &Claimed, passages: &[i64]) -> Result<(), MirrorError> {
        let Some(model_id) = one.model_id else { return Ok(()) };
        let points = {
            let mut conn = self.store.acquire_across().await?;
            points::of_passages(&mut conn, model_id, passages).await?
        };
        let present: HashSet<i64> = points.iter().map(|point| point.passage_id).collect();
        let gone: Vec<i64> = passages.iter().copied().filter(|id| !present.contains(id)).collect();
        if !points.is_empty() {
            self.server.write(&one.collection, one.dimension, claimed.rev, points).await?;
            mirrors::note_rev(&mut *self.store.acquire_across().await?, one.mirror_id, claimed.rev).await?;
        }
        if !gone.is_empty() {
            self.server.remove(&one.collection, &gone).await?;
        }
        Ok(())
    }
}
