//! Review of extracted entities: lists, doubtful pairs, and decisions of people, each of which can be undone.

use std::sync::{Mutex, PoisonError};

use futures::future::BoxFuture;
use memory_core::Invalid;
use memory_core::event::StoredEvent;
use memory_core::id::Namespace;
use memory_store::entities::portrait;
pub use memory_store::entities::portrait::{Companion, Portrait, Side, Told};
use memory_store::entities::review::{self, EntityRow};
pub use memory_store::entities::review::{
    DecidedPair, DoubtfulPair, EntityFilter, ListedEntity, MergedEntity, NEWEST_MENTIONS, PossiblySame,
};
use memory_store::hydration;
use memory_store::{Store, Tx, lifecycle};

use crate::EngineError;
use crate::locking::locked;
use crate::recovery::Recovery;

/// The two entities of a decision, by id and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    pub first: (i64, String),
    pub second: (i64, String),
}

/// One entity, its newest events with its part in each, and whom it has to do with.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityPage {
    pub portrait: Portrait,
    /// `owner` and the like, or `subject`.
    pub events: Vec<(String, StoredEvent)>,
    pub companions: Vec<Companion>,
}

/// How many events and how many companions an entity is shown with.
const EVENTS_SHOWN: i64 = 60;
const COMPANIONS_SHOWN: i64 = 24;

/// What people see of the extracted entities, and decide about them.
#[derive(Clone)]
pub struct EntityReview {
    store: Store,
    recovery: Recovery,
}

impl EntityReview {
    pub(crate) fn new(store: Store, recovery: Recovery) -> Self {
        Self { store, recovery }
    }

    /// Entities that are not merged into another, those mentioned most first, and how many there are without the limit.
    pub fn list<'a>(
        &'a self,
        ns: &'a Namespace,
        filter: &'a EntityFilter,
    ) -> BoxFuture<'a, Result<(Vec<ListedEntity>, i64), EngineError>> {
        Box::pin(async move {
            let mut conn = self.store.acquire(ns).await?;
            Ok(review::list(&mut conn, ns, filter).await?)
        })
    }

    /// The number of the entity of this name; `None` where none has it.
    pub fn named<'a>(
        &'a self,
        ns: &'a Namespace,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<i64>, EngineError>> {
        Box::pin(async move {
            let mut conn = self.store.acquire(ns).await?;
            Ok(review::named(&mut conn, ns, name).await?)
        })
    }

    /// One entity; `None` where there is none of that number.
    pub fn page<'a>(
        &'a self,
        ns: &'a Namespace,
        id: i64,
    ) -> BoxFuture<'a, Result<Option<EntityPage>, EngineError>> {
        Box::pin(async move {
            let mut conn = self.store.acquire(ns).await?;
            let Some(found) = portrait::portrait(&mut conn, ns, id).await? else { return Ok(None) };
            let own = portrait::events(&mut conn, ns, id, EVENTS_SHOWN).await?;
            let ids: Vec<String> = own.iter().map(|event| event.event_id.clone()).collect();
            let events = hydration::events(&mut conn, ns, &ids).await?;
            let role = |event: &StoredEvent| {
                own.iter()
                    .find(|own| own.event_id == event.id)
                    .map_or_else(String::new, |own| own.role.clone())
            };
            let events = events.into_iter().map(|event| (role(&event), event)).collect();
            let companions = portrait::companions(&mut conn, ns, id, COMPANIONS_SHOWN).await?;
            Ok(Some(EntityPage { portrait: found, events, companions }))
        })
    }

    /// What tells entities from each other, in the order of their numbers given; those that are gone are left out.
    pub fn sides<'a>(
        &'a self,
        ns: &'a Namespace,
        ids: &'a [i64],
    ) -> BoxFuture<'a, Result<Vec<Side>, EngineError>> {
        Box::pin(async move { Ok(portrait::sides(&mut *self.store.acquire(ns).await?, ns, ids).await?) })
    }

    /// Pairs of entities that may be one and are not decided on, likeliest first.
    pub fn list_doubtful_pairs<'a>(
        &'a self,
        ns: &'a Namespace,
        filter: &'a EntityFilter,
    ) -> BoxFuture<'a, Result<(Vec<DoubtfulPair>, i64), EngineError>> {
        Box::pin(async move {
            let mut conn = self.store.acquire(ns).await?;
            Ok(review::pairs(&mut conn, ns, filter).await?)
        })
    }

    /// What was merged and what was rejected, of each at most `limit`; either can be undone.
    pub fn list_decided_pairs<'a>(
        &'a self,
        ns: &'a Namespace,
        limit: i64,
    ) -> BoxFuture<'a, Result<Vec<DecidedPair>, EngineError>> {
        Box::pin(async move {
            let mut conn = self.store.acquire(ns).await?;
            Ok(review::decided_pairs(&mut conn, ns, limit).await?)
        })
    }

    /// From now on `other` counts as `keep`. People with different e-mail addresses are only merged where the caller
    /// insists.
    #[tracing::instrument(skip_all, fields(%ns, keep, other))]
    pub fn merge<'a>(
        &'a self,
        ns: &'a Namespace,
        keep: i64,
        other: i64,
        insists: bool,
    ) -> BoxFuture<'a, Result<Decided, EngineError>> {
        Box::pin(self.decide(ns, Decision::Merge { keep, other, insists }))
    }

    /// Undoes the merge of an entity. Gives it and the one that it was merged into.
    #[tracing::instrument(skip_all, fields(%ns, id))]
    pub fn split<'a>(&'a self, ns: &'a Namespace, id: i64) -> BoxFuture<'a, Result<Decided, EngineError>> {
        Box::pin(self.decide(ns, Decision::Split(id)))
    }

    /// Two entities are not the same: the pair is neither listed as doubtful nor compared again.
    #[tracing::instrument(skip_all, fields(%ns, a, b))]
    pub fn reject<'a>(
        &'a self,
        ns: &'a Namespace,
        a: i64,
        b: i64,
    ) -> BoxFuture<'a, Result<Decided, EngineError>> {
        Box::pin(self.decide(ns, Decision::Reject(a, b)))
    }

    /// Undoes [`reject`](Self::reject).
    #[tracing::instrument(skip_all, fields(%ns, a, b))]
    pub fn reopen<'a>(
        &'a self,
        ns: &'a Namespace,
        a: i64,
        b: i64,
    ) -> BoxFuture<'a, Result<Decided, EngineError>> {
        Box::pin(self.decide(ns, Decision::Reopen(a, b)))
    }

    /// A decision whose commit was not answered is made again, and found to be made already.
    async fn decide(&self, ns: &Namespace, decision: Decision) -> Result<Decided, EngineError> {
        let unanswered = Mutex::new(None);
        let answer = self
            .recovery
            .retry_transient(|| async {
                let mut tx = self.store.begin(ns).await?;
                let (first, second) = match decision {
                    Decision::Merge { keep, other, insists } => {
                        merge(&mut tx, ns, keep, other, insists).await?
                    }
                    Decision::Split(id) => split(&mut tx, ns, id).await?,
                    Decision::Reject(a, b) => reject(&mut tx, ns, a, b).await?,
                    Decision::Reopen(a, b) => reopen(&mut tx, ns, a, b).await?,
                };
                let decided =
                    Decided { first: (first.entity_id, first.name), second: (second.entity_id, second.name) };
                *locked(&unanswered) = Some(decided.clone());
                tx.commit().await?;
                Ok(decided)
            })
            .await;
        match (answer, unanswered.into_inner().unwrap_or_else(PoisonError::into_inner)) {
            (Err(EngineError::Invalid(_)), Some(decided)) => Ok(decided),
            (answer, _) => answer,
        }
    }
}

/// What a person decides about entities, by their numbers.
#[derive(Debug, Clone, Copy)]
enum Decision {
    Merge { keep: i64, other: i64, insists: bool },
    Split(i64),
    Reject(i64, i64),
    Reopen(i64, i64),
}

/// The two entities that a decision is about.
type Pair = (EntityRow, EntityRow);

async fn merge(
    tx: &mut Tx,
    ns: &Namespace,
    keep: i64,
    other: i64,
    insists: bool,
) -> Result<Pair, EngineError> {
    let (first, second) = two(tx, ns, keep, other).await?;
    for (row, name) in [(&first, "keep"), (&second, "merge")] {
        if let Some(root) = row.canonical_id {
            return Err(Invalid::new(format!(
                "Entity {} counts as entity {root} already: {name} {root} instead, or split {} first.",
                shown(row),
                row.entity_id
            ))
            .into());
        }
    }
    if first.entity_type != second.entity_type {
        return Err(Invalid::new(format!(
            "{} is of type {}, {} of type {}: entities of different types are never merged.",
            shown(&first),
            first.entity_type,
            shown(&second),
            second.entity_type
        ))
        .into());
    }
    let tells_apart = !first.addresses.is_empty()
        && !second.addresses.is_empty()
        && !first.addresses.iter().any(|address| second.addresses.contains(address));
    if tells_apart && !insists {
        return Err(Invalid::new(format!(
            "{} has the address {}, {} has {}. If one person has both, merge them with --different-addresses.",
            shown(&first),
            first.addresses.join(", "),
            shown(&second),
            second.addresses.join(", ")
        ))
        .into());
    }
    let joined = review::merge(tx, ns, keep, other).await?;
    review::mark_merged(tx, ns, keep, other).await?;
    lifecycle::link_merged(tx, ns, &joined).await?;
    Ok((first, second))
}

async fn split(tx: &mut Tx, ns: &Namespace, id: i64) -> Result<Pair, EngineError> {
    review::lock(tx, ns).await?;
    let row = one(tx, ns, id).await?;
    let Some(parent) = row.merged_into else {
        let hint = match row.absorbed.as_slice() {
            [] => "It was not merged into another.".to_owned(),
            [only] => format!("Entity {only} was merged into it: split {only}."),
            several => {
                let ids: Vec<String> = several.iter().map(ToString::to_string).collect();
                format!("Entities {} were merged into it: split one of these.", ids.join(", "))
            }
        };
        return Err(Invalid::new(format!("Entity {} cannot be split. {hint}", shown(&row))).into());
    };
    let into = one(tx, ns, parent).await?;
    let root = row.canonical_id.unwrap_or(parent);
    review::split(tx, ns, id).await?;
    review::unmark_merged(tx, ns, id, parent).await?;
    lifecycle::unlink_split(tx, ns, &[id, root]).await?;
    Ok((row, into))
}

async fn reject(tx: &mut Tx, ns: &Namespace, a: i64, b: i64) -> Result<Pair, EngineError> {
    let (first, second) = two(tx, ns, a, b).await?;
    let root = |row: &EntityRow| row.canonical_id.unwrap_or(row.entity_id);
    if root(&first) == root(&second) {
        return Err(Invalid::new(format!(
            "{} and {} were merged: split {} first.",
            shown(&first),
            shown(&second),
            if second.canonical_id.is_some() { second.entity_id } else { first.entity_id }
        ))
        .into());
    }
    review::mark_rejected(tx, ns, a, b).await?;
    Ok((first, second))
}

async fn reopen(tx: &mut Tx, ns: &Namespace, a: i64, b: i64) -> Result<Pair, EngineError> {
    let (first, second) = two(tx, ns, a, b).await?;
    if !review::unmark_rejected(tx, ns, a, b).await? {
        return Err(Invalid::new(format!(
            "{} and {} were not rejected as the same.",
            shown(&first),
            shown(&second)
        ))
        .into());
    }
    Ok((first, second))
}

fn shown(row: &EntityRow) -> String {
    format!("{} \"{}\"", row.entity_id, memory_language::text::cut(&row.name, 80))
}

async fn one(tx: &mut Tx, ns: &Namespace, id: i64) -> Result<EntityRow, EngineError> {
    review::entity(tx, ns, id).await?.ok_or_else(|| {
        Invalid::new(format!(
            "There is no entity {id} in the namespace '{ns}'. `remembrancer entities list` shows those that are there."
        ))
        .into()
    })
}

async fn two(tx: &mut Tx, ns: &Namespace, a: i64, b: i64) -> Result<Pair, EngineError> {
    if a == b {
        return Err(Invalid::new(format!("{a} was given twice: name two entities.")).into());
    }
    review::lock(tx, ns).await?;
    Ok((one(tx, ns, a).await?, one(tx, ns, b).await?))
}
