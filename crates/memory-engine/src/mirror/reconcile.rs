//! Comparing the mirror with Postgres page by page: checksums over ranges of points, then the points of the ranges that
//! differ.

use std::collections::{HashMap, HashSet};

use futures::future::BoxFuture;
use memory_store::vector::mirrors::{self, Mirror, MirrorState};
use memory_store::vector::outbox;
use memory_store::vector::points::{self, Checksum};
use memory_store::vector::qdrant::{Kept, Look, Qdrant};
use memory_store::{Store, reembedding};

use super::{MirrorError, VectorMirror};
use crate::EngineError;
use crate::progress::{Progress, Report};

/// How many points are looked at at a time, by their digests and as they are.
const PAGE: u32 = 5_000;
const PAGE_OF_CONTENTS: u32 = 500;
/// How many differences are named.
const NAMED_MAX: usize = 10;

/// A collection compared with Postgres.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compared {
    pub collection: String,
    /// Points that Postgres has.
    pub points: u64,
    /// Points that the collection lacks …
    pub missing: u64,
    /// … has and should not …
    pub extra: u64,
    /// … or has otherwise than they should be.
    pub stale: u64,
    /// Differences that the outbox has already.
    pub waiting: u64,
    /// Some passages that differ.
    pub examples: Vec<i64>,
}

impl Compared {
    pub fn differences(&self) -> u64 {
        self.missing + self.extra + self.stale
    }
}

/// The differences that a reconciliation found, and those that are left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconciled {
    pub found: Vec<Compared>,
    /// After the repair; empty when nothing was repaired.
    pub left: Vec<Compared>,
    /// Collections with this database's prefix that it has no row of.
    pub orphans: Vec<String>,
    pub orphans_deleted: bool,
}

impl VectorMirror {
    /// Compares all searched collections with Postgres. With `repair` differences are queued, applied, and looked for
    /// again.
    #[tracing::instrument(skip_all)]
    pub fn reconcile<'a>(
        &'a self,
        repair: bool,
        look: Look,
        report: Report<'a>,
    ) -> BoxFuture<'a, Result<Reconciled, EngineError>> {
        Box::pin(async move {
            let reconciled = async {
                let found = self.compare_all(repair, look, report).await?;
                let orphans = self.orphans().await?;
                let mut left = Vec::new();
                if repair {
                    for name in &orphans {
                        self.server.delete_collection(name).await?;
                    }
                    if found.iter().any(|compared| compared.differences() > 0) {
                        while self.round().await? > 0 {}
                        left = self.compare_all(false, look, report).await?;
                    }
                }
                Ok(Reconciled { found, left, orphans_deleted: repair && !orphans.is_empty(), orphans })
            };
            reconciled.await.map_err(|error| self.failed(error))
        })
    }

    async fn compare_all(
        &self,
        repair: bool,
        look: Look,
        report: Report<'_>,
    ) -> Result<Vec<Compared>, MirrorError> {
        let known = mirrors::all(&mut *self.store.acquire_across().await?).await?;
        let mut found = Vec::new();
        for one in known.iter().filter(|one| one.state == MirrorState::Searched) {
            found.push(self.compare(one, repair, look, report).await?);
        }
        Ok(found)
    }

    /// Collections with this database's prefix that it has no row of: the database was restored to an earlier state.
    async fn orphans(&self) -> Result<Vec<String>, MirrorError> {
        let server = &*self.server;
        let mut conn = self.store.acquire_across().await?;
        let prefix = mirrors::own_prefix(&mut conn, &server.settings().qdrant_collection).await?;
        // The server is asked first: the row of a collection is written before the collection is created.
        let there = server.collections().await?;
        let known = mirrors::all(&mut conn).await?;
        let is_orphan =
            |name: &String| name.starts_with(&prefix) && !known.iter().any(|one| one.collection == *name);
        Ok(there.names.into_iter().filter(is_orphan).collect())
    }

    /// Compares one collection with Postgres.
    pub(super) async fn compare(
        &self,
        one: &Mirror,
        repair: bool,
        look: Look,
        report: Report<'_>,
    ) -> Result<Compared, MirrorError> {
        let server = &*self.server;
        let Some(model_id) = one.model_id else { return Ok(Compared::default()) };
        let total = reembedding::coverage(&mut *self.store.acquire_across().await?, model_id).await?.1;
        let mut comparison = Comparison {
            store: &self.store,
            server,
            mirror: one,
            model_id,
            repair,
            look,
            found: Compared { collection: one.collection.clone(), ..Compared::default() },
        };
        let (mut after, mut from) = (0, None);
        loop {
            let limit = if look == Look::Digests { PAGE } else { PAGE_OF_CONTENTS };
            let page = server.page(&one.collection, from, limit, look).await?;
            let up_to = page.next.map(|next| next.saturating_sub(1) as i64);
            let theirs = comparison.digests_of(page.points).await?;
            comparison.stretch(&theirs, after, up_to).await?;
            report(Progress { done: comparison.found.points.min(total), total });
            match (page.next, up_to) {
                (Some(next), Some(up_to)) => (after, from) = (up_to, Some(next)),
                _ => return Ok(comparison.found),
            }
        }
    }
}

struct Comparison<'a> {
    store: &'a Store,
    server: &'a Qdrant,
    mirror: &'a Mirror,
    model_id: i16,
    repair: bool,
    look: Look,
    found: Compared,
}

impl Comparison<'_> {
    /// The digests of points, without those whose content does not match their digest.
    async fn digests_of(&self, kept: Vec<Kept>) -> Result<Vec<(i64, Option<i64>)>, MirrorError> {
        let mut ours = HashMap::new();
        if self.look == Look::Contents {
            let ids: Vec<i64> = kept.iter().map(|kept| kept.passage_id).collect();
            let mut conn = self.store.acquire_across().await?;
            let points = points::of_passages(&mut conn, self.model_id, &ids).await?;
            ours.extend(points.into_iter().map(|point| (point.passage_id, point)));
        }
        let digest = |kept: Kept| {
            let is_false = ours.get(&kept.passage_id).is_some_and(|point| !kept.holds(point));
            (kept.passage_id, kept.digest.filter(|_| !is_false))
        };
        Ok(kept.into_iter().map(digest).collect())
    }

    /// Compares the points after one passage up to another, or to the end. `theirs` are all of the collection in between.
    async fn stretch(
        &mut self,
        theirs: &[(i64, Option<i64>)],
        after: i64,
        up_to: Option<i64>,
    ) -> Result<(), MirrorError> {
        let mut sum = Checksum::default();
        for (id, digest) in theirs {
            // A point without a digest is foreign, and differs from each of ours.
            sum.add(*id, digest.unwrap_or(-1));
        }
        let ours = {
            let mut conn = self.store.acquire_across().await?;
            points::checksum(&mut conn, self.model_id, after, up_to).await?
        };
        self.found.points += ours.count() as u64;
        if ours == sum {
            return Ok(());
        }
        let (mut after, mut theirs) = (after, theirs);
        loop {
            let ours = {
                let mut conn = self.store.acquire_across().await?;
                points::digests(&mut conn, self.model_id, after, up_to, i64::from(PAGE)).await?
            };
            // The page of Postgres may end before that of the server.
            let is_last = ours.len() < PAGE as usize;
            let end = ours.last().map_or(after, |(id, _)| *id);
            let split = if is_last { theirs.len() } else { theirs.partition_point(|(id, _)| *id <= end) };
            let (here, rest) = theirs.split_at(split);
            self.verify(differing(&ours, here)).await?;
            if is_last {
                return Ok(());
            }
            (after, theirs) = (end, rest);
        }
    }

    /// Both sides change meanwhile: suspects are read again in an order in which a change under way is seen as such. First
    /// Postgres, then the outbox, then the server: what changed before is on the server already, or in the outbox.
    async fn verify(&mut self, suspects: Vec<i64>) -> Result<(), MirrorError> {
        for suspects in suspects.chunks(PAGE_OF_CONTENTS as usize) {
            let (model_id, mirror_id) = (self.model_id, self.mirror.mirror_id);
            let mut conn = self.store.acquire_across().await?;
            let before = points::digests_of(&mut conn, model_id, suspects).await?;
            let waiting = outbox::waiting_among(&mut conn, mirror_id, suspects).await?;
            drop(conn);
            let theirs = self.server.kept(&self.mirror.collection, suspects, self.look).await?;
            let theirs = self.digests_of(theirs).await?;
            let mut conn = self.store.acquire_across().await?;
            let now: HashMap<i64, i64> =
                points::digests_of(&mut conn, model_id, suspects).await?.into_iter().collect();
            let before: HashMap<i64, i64> = before.into_iter().collect();
            let waiting: HashSet<i64> = waiting.into_iter().collect();
            let theirs: HashMap<i64, Option<i64>> = theirs.into_iter().collect();
            let mut wrong = Vec::new();
            for id in suspects {
                if waiting.contains(id) || before.get(id) != now.get(id) {
                    self.found.waiting += 1;
                    continue;
                }
                let count = match (now.get(id), theirs.get(id)) {
                    (Some(_), None) => &mut self.found.missing,
                    (None, Some(_)) => &mut self.found.extra,
                    (Some(ours), Some(theirs)) if *theirs != Some(*ours) => &mut self.found.stale,
                    _ => continue,
                };
                *count += 1;
                wrong.push(*id);
                if self.found.examples.len() < NAMED_MAX {
                    self.found.examples.push(*id);
                }
            }
            if self.repair && !wrong.is_empty() {
                outbox::queue(&mut conn, mirror_id, &wrong).await?;
            }
        }
        Ok(())
    }
}

/// The passages whose digests differ between two ordered lists.
fn differing(ours: &[(i64, i64)], theirs: &[(i64, Option<i64>)]) -> Vec<i64> {
    let (mut ours, mut theirs) = (ours.iter().peekable(), theirs.iter().peekable());
    let mut found = Vec::new();
    loop {
        let id = match (ours.peek(), theirs.peek()) {
            (None, None) => return found,
            (Some((id, _)), None) | (None, Some((id, _))) => *id,
            (Some((a, _)), Some((b, _))) => *a.min(b),
        };
        let mine = ours.next_if(|(at, _)| *at == id).map(|(_, digest)| *digest);
        let its = theirs.next_if(|(at, _)| *at == id).map(|(_, digest)| *digest);
        if its != mine.map(Some) {
            found.push(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lists_differ_where_one_lacks_a_point_or_says_something_else() {
        let ours = [(1, 10), (2, 20), (4, 40), (6, 60)];
        let theirs = [(1, Some(10)), (3, Some(30)), (4, Some(41)), (6, None), (9, Some(9))];
        assert_eq!(differing(&ours, &theirs), [2, 3, 4, 6, 9]);
        assert!(differing(&ours, &ours.map(|(id, digest)| (id, Some(digest)))).is_empty());
        assert!(differing(&[], &[]).is_empty());
    }
}
