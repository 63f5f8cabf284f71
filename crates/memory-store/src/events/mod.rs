//! What extraction reads and writes: sources, and events with their evidence and links.

mod insert;
mod sources;

use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use memory_core::entity::normalised_name;
use memory_core::event::{ExtractedEntity, Extraction, Rejected};
use memory_core::id::Namespace;

use self::insert::{Prepared, insert_events};
pub use self::sources::{Source, source, sources, unread_window};
use crate::entities::{
    EarlierName, NameOccurrence, NewEntity, decisions, delete_orphans, entities_by_key,
    entities_of_revisions, insert_mentions, insert_names, name_occurrences, resolve_entities,
};
use crate::{StoreError, Tx};

/// The extractor that found it.
#[derive(Debug, Clone, Copy)]
pub struct ExtractorId<'a> {
    pub name: &'a str,
    pub version: i32,
}

/// Writes what was found in `sources` (one a segment), in the place of anything found there before.
/// Only unread sources get events. Sources that were forgotten meanwhile take what refers to them along.
pub async fn replace_extraction(
    tx: &mut Tx,
    ns: &Namespace,
    extractor: ExtractorId<'_>,
    sources: &[Source],
    extraction: Extraction,
    rejected: Rejected,
) -> Result<usize, StoreError> {
    // Shared with other extractions; a forget takes it alone while it removes entities nothing refers to.
    sqlx::query("select pg_advisory_xact_lock_shared(hashtextextended($1, 2))")
        .bind(ns.as_str())
        .execute(&mut **tx)
        .await?;
    let Alive { revisions: alive, were_read } = lock_sources(tx, ns, sources).await?;
    let written: Vec<bool> = sources.iter().map(|s| s.unread && alive.contains(&s.revision_id.0)).collect();
    let targets: Vec<i64> =
        sources.iter().zip(&written).filter(|(_, w)| **w).map(|(s, _)| s.revision_id.0).collect();
    // Of texts that are read for the first time there is nothing to take back.
    let reread: Vec<i64> = targets.iter().copied().filter(|id| were_read.contains(id)).collect();
    let before = if reread.is_empty() { Vec::new() } else { entities_of_revisions(tx, ns, &reread).await? };
    let earlier = take_back(tx, ns, (&targets[..], &reread[..]), sources).await?;
    let prepared = Prepared::new(extraction, sources, &written, &alive);
    let ids = resolve_entities(tx, ns, sources, &prepared.entities, &earlier).await?;
    insert_mentions(tx, ns, sources, &prepared.entities, &ids, &written).await?;
    let names: Vec<NameOccurrence> = prepared
        .entities
        .iter()
        .zip(&ids)
        .flat_map(|(entity, id)| name_occurrences(entity, *id, sources, &written))
        .collect();
    insert_names(tx, ns, &names).await?;
    let event_counts = insert_events(tx, ns, extractor, sources, &prepared, &ids).await?;
    // What was rejected is not attributed to sources: it is counted once, on the first.
    let mut rejections = vec![0_i32; targets.len()];
    if let Some(first) = rejections.first_mut() {
        *first = (rejected.events + rejected.mentions) as i32;
    }
    let counts: Vec<i32> = targets.iter().map(|id| event_counts.get(id).copied().unwrap_or(0)).collect();
    sqlx::query(
        "update artifact_revision r
         set extractor = $3, extractor_version = $4, extracted_at = now(), event_count = u.events, rejected_count = u.rejected,
             is_extraction_stale = false
         from unnest($2::bigint[], $5::int[], $6::int[]) u (revision_id, events, rejected)
         where r.namespace = $1 and r.revision_id = u.revision_id",
    )
    .bind(ns.as_str())
    .bind(&targets)
    .bind(extractor.name)
    .bind(extractor.version)
    .bind(&counts)
    .bind(&rejections)
    .execute(&mut **tx)
    .await?;
    decisions::settle(tx, ns, &prepared.entities).await?;
    if !before.is_empty() {
        delete_orphans(tx, ns, &before).await?;
    }
    Ok(prepared.events.len())
}

/// Deletes what was found in the `reread` of the revisions before, and gives the names that they, and the other sources, had,
/// with their entities: the same names there mean the same again.
async fn take_back(
    tx: &mut Tx,
    ns: &Namespace,
    (revisions, reread): (&[i64], &[i64]),
    sources: &[Source],
) -> Result<Vec<EarlierName>, StoreError> {
    let mut names: Vec<(String, i64)> = Vec::new();
    if !reread.is_empty() {
        let taken_back = sqlx::query_as(
            "with events as (delete from semantic_event where namespace = $1 and revision_id = any($2)),
                  mentions as (delete from entity_mention where namespace = $1 and revision_id = any($2))
             delete from entity_alias where namespace = $1 and revision_id = any($2)
             returning normalised, entity_id",
        );
        names = taken_back.bind(ns.as_str()).bind(reread).fetch_all(&mut **tx).await?;
    }
    let others: Vec<i64> =
        sources.iter().map(|s| s.revision_id.0).filter(|id| !revisions.contains(id)).collect();
    if !others.is_empty() {
        let rows = sqlx::query_as(
            "select distinct normalised, entity_id from entity_alias where namespace = $1 and revision_id = any($2)",
        );
        names.extend(rows.bind(ns.as_str()).bind(others).fetch_all(&mut **tx).await? as Vec<(String, i64)>);
    }
    names.sort_unstable();
    names.dedup();
    Ok(names.into_iter().map(|(normalised, entity_id)| EarlierName { normalised, entity_id }).collect())
}

/// When an extraction was made, and how much of it was rejected then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    pub at: Timestamp,
    pub rejected: i32,
    /// It is to be read again nevertheless.
    pub is_stale: bool,
}

/// Writes what was found in the first of the sources at another time, with evidence in the others as well, and
/// takes away the job that would find it again, unless that is wanted. The distinguishers are those of the entities, in their order.
pub async fn restore_extraction(
    tx: &mut Tx,
    ns: &Namespace,
    extractor: ExtractorId<'_>,
    sources: &[Source],
    extraction: Extraction,
    distinguishers: &[String],
    made: Made,
) -> Result<(), StoreError> {
    sqlx::query("select pg_advisory_xact_lock_shared(hashtextextended($1, 2))")
        .bind(ns.as_str())
        .execute(&mut **tx)
        .await?;
    let Some(source) = sources.first() else { return Ok(()) };
    let Extraction { entities, events, .. } = extraction;
    let distinguisher = |at: usize| distinguishers.get(at).cloned().unwrap_or_default();
    let named = entities.iter().enumerate().map(|(at, e)| NewEntity {
        entity_type: e.entity_type.as_str(),
        normalised: normalised_name(&e.name),
        distinguisher: distinguisher(at),
        name: &e.name,
    });
    let by_key = entities_by_key(tx, ns, named.collect()).await?;
    let id_of = |(at, e): (usize, &ExtractedEntity)| {
        let key = (e.entity_type.as_str().to_owned(), normalised_name(&e.name), distinguisher(at));
        by_key.get(&key).copied().ok_or(StoreError::Conflict)
    };
    let ids = entities.iter().enumerate().map(id_of).collect::<Result<Vec<i64>, _>>()?;
    let written: Vec<bool> = (0..sources.len()).map(|n| n == 0).collect();
    insert_mentions(tx, ns, sources, &entities, &ids, &written).await?;
    let names = entities.iter().zip(&ids).flat_map(|(entity, id)| {
        entity.aliases.iter().map(|alias| NameOccurrence {
            entity_id: *id,
            name: alias.clone(),
            normalised: normalised_name(alias),
            revision_id: source.revision_id.0,
        })
    });
    insert_names(tx, ns, &names.collect::<Vec<_>>()).await?;
    let count = events.len() as i32;
    let prepared = Prepared { entities, events };
    insert_events(tx, ns, extractor, sources, &prepared, &ids).await?;
    decisions::settle(tx, ns, &prepared.entities).await?;
    sqlx::query(
        "with job as (
             delete from event_jobs
             where namespace = $1 and revision_id = $2 and kind = 'extract' and status = 'PENDING' and not $8
         )
         update artifact_revision
         set extractor = $3, extractor_version = $4, extracted_at = $5, event_count = $6, rejected_count = $7,
             is_extraction_stale = $8 and not exists (
                 select from event_jobs
                 where namespace = $1 and revision_id = $2 and kind = 'extract' and status = 'PENDING')
         where namespace = $1 and revision_id = $2",
    )
    .bind(ns.as_str())
    .bind(source.revision_id.0)
    .bind(extractor.name)
    .bind(extractor.version)
    .bind(made.at.to_sqlx())
    .bind(count)
    .bind(made.rejected)
    .bind(made.is_stale)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Sources that are still there, and those of them that an extraction has read before.
struct Alive {
    revisions: Vec<i64>,
    were_read: Vec<i64>,
}

/// Which of the sources are still there; they cannot be forgotten before the transaction ends.
async fn lock_sources(tx: &mut Tx, ns: &Namespace, sources: &[Source]) -> Result<Alive, StoreError> {
    let ids: Vec<i64> = sources.iter().map(|s| s.revision_id.0).collect();
    let locked: Vec<(i64, bool)> = sqlx::query_as(
        "select revision_id, extracted_at is not null from artifact_revision
         where namespace = $1 and revision_id = any($2) order by revision_id for key share",
    )
    .bind(ns.as_str())
    .bind(ids)
    .fetch_all(&mut **tx)
    .await?;
    let were_read = locked.iter().filter(|(_, was_read)| *was_read).map(|(id, _)| *id).collect();
    Ok(Alive { revisions: locked.into_iter().map(|(id, _)| id).collect(), were_read })
}
