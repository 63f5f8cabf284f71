//! What extraction reads and writes: sources, and events with their evidence and links.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx};
use memory_core::artifact::Metadata;
use memory_core::entity::normalised_name;
use memory_core::event::{ActorRole, ExtractedEntity, Extraction, Rejected};
use memory_core::id::{ArtifactId, EventId, Namespace, RevisionId};
use sqlx::{FromRow, Row};

use crate::entities::{
    EarlierName, NameOccurrence, NewEntity, decisions, delete_orphans, entities_by_key,
    entities_of_revisions, insert_mentions, insert_names, name_occurrences, resolve_entities,
};
use crate::lifecycle::{link_new, owners_event};
use crate::metadata_columns::MetadataRow;
use crate::{Conn, StoreError, Tx};

/// A revision as the extractor reads it.
#[derive(Debug, Clone)]
pub struct Source {
    pub revision_id: RevisionId,
    pub artifact_id: ArtifactId,
    pub content: String,
    pub meta: Metadata,
    /// The date given, else when it was stored.
    pub date: Timestamp,
    /// No extraction has read it and none of its own is due.
    pub unread: bool,
}

fn source_of(row: &sqlx::postgres::PgRow) -> Result<Source, StoreError> {
    Ok(Source {
        revision_id: RevisionId(row.try_get("revision_id")?),
        artifact_id: ArtifactId(row.try_get("artifact_id")?),
        content: row.try_get("content")?,
        date: row.try_get::<SqlTimestamp, _>("said_at")?.to_jiff(),
        unread: row.try_get("unread")?,
        meta: MetadataRow::from_row(row)?.into(),
    })
}

pub async fn source(
    conn: &mut Conn,
    ns: &Namespace,
    revision_id: RevisionId,
) -> Result<Option<Source>, StoreError> {
    let row = sqlx::query(
        "select r.revision_id, r.artifact_id, a.content, coalesce(r.date, r.created_at) as said_at, true as unread,
                r.context, r.source, r.source_id, r.author, r.role, r.participants, r.date, r.title, r.tags,
                r.importance, r.conversation_id, r.turn_index
         from artifact_revision r
         join artifact a using (namespace, artifact_id)
         where r.namespace = $1 and r.revision_id = $2",
    )
    .bind(ns.as_str())
    .bind(revision_id.0)
    .fetch_optional(conn)
    .await?;
    row.as_ref().map(source_of).transpose()
}

/// The same of several revisions, in the order of their numbers; those that are gone are left out.
pub async fn sources(
    conn: &mut Conn,
    ns: &Namespace,
    revisions: &[RevisionId],
) -> Result<Vec<Source>, StoreError> {
    let rows = sqlx::query(
        "select r.revision_id, r.artifact_id, a.content, coalesce(r.date, r.created_at) as said_at, true as unread,
                r.context, r.source, r.source_id, r.author, r.role, r.participants, r.date, r.title, r.tags,
                r.importance, r.conversation_id, r.turn_index
         from unnest($2::bigint[]) u (revision_id)
         cross join lateral (
             select * from artifact_revision where namespace = $1 and revision_id = u.revision_id offset 0
         ) r
         join artifact a using (namespace, artifact_id)
         order by r.revision_id",
    )
    .bind(ns.as_str())
    .bind(revisions.iter().map(|id| id.0).collect::<Vec<_>>())
    .fetch_all(conn)
    .await?;
    rows.iter().map(source_of).collect()
}

/// A stretch of a conversation: its first unread turns, up to `unread_limit`, with up to `context` turns
/// before the first. Empty when every turn has been read.
pub async fn unread_window(
    conn: &mut Conn,
    ns: &Namespace,
    conversation_id: &str,
    unread_limit: i64,
    context: i64,
) -> Result<Vec<Source>, StoreError> {
    let rows = sqlx::query(include_str!("sql/unread_window.sql"))
        .bind(ns.as_str())
        .bind(conversation_id)
        .bind(unread_limit)
        .bind(context)
        .fetch_all(conn)
        .await?;
    rows.iter().map(source_of).collect()
}

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

/// An extraction reduced to what will be written: entities that something refers to, events of sources
/// that are to be written and that still have all their evidence.
struct Prepared {
    entities: Vec<ExtractedEntity>,
    events: Vec<memory_core::event::ExtractedEvent>,
}

impl Prepared {
    fn new(extraction: Extraction, sources: &[Source], written: &[bool], alive: &[i64]) -> Self {
        let mut events = extraction.events;
        events.retain(|event| {
            let first = event.evidence.first().map(|e| e.segment);
            first.is_some_and(|segment| written[segment])
                && event.evidence.iter().all(|e| alive.contains(&sources[e.segment].revision_id.0))
        });
        let mut used = vec![false; extraction.entities.len()];
        for event in &events {
            event.actors.iter().map(|a| a.entity).chain(event.subject).for_each(|entity| used[entity] = true);
        }
        for (entity, used) in extraction.entities.iter().zip(&mut used) {
            *used |= entity.mentions.iter().any(|m| written[m.segment]);
            *used &= !normalised_name(&entity.name).is_empty();
        }
        let mut new_index = vec![None; used.len()];
        let mut entities = Vec::new();
        for (old, entity) in extraction.entities.into_iter().enumerate() {
            if used[old] {
                new_index[old] = Some(entities.len());
                entities.push(entity);
            }
        }
        for event in &mut events {
            event.subject = event.subject.and_then(|old| new_index[old]);
            event.actors.retain_mut(|actor| match new_index[actor.entity] {
                Some(new) => {
                    actor.entity = new;
                    true
                }
                None => false,
            });
        }
        Self { entities, events }
    }
}

/// Writes events, evidence, links to entities, and which promises are ended; gives the number of events of each revision.
async fn insert_events(
    tx: &mut Tx,
    ns: &Namespace,
    extractor: ExtractorId<'_>,
    sources: &[Source],
    prepared: &Prepared,
    ids: &[i64],
) -> Result<HashMap<i64, i32>, StoreError> {
    let mut rows = EventRows::default();
    let mut owned = Vec::new();
    let mut counts: HashMap<i64, i32> = HashMap::new();
    let mut seen: HashMap<EventId, usize> = HashMap::new();
    for event in &prepared.events {
        let source = &sources[event.evidence[0].segment];
        let count = counts.entry(source.revision_id.0).or_default();
        let span = event.evidence[0].span;
        let actors: Vec<String> =
            event.actors.iter().map(|a| normalised_name(&prepared.entities[a.entity].name)).collect();
        let derive = |ordinal| {
            EventId::derive(
                &source.revision_id.0.to_string(),
                event.category.as_str(),
                (span.start, span.end),
                &actors,
                ordinal,
            )
        };
        let twins = seen.entry(derive(0)).or_default();
        let id = derive(*twins);
        *twins += 1;
        let occurred_at = event.event_time.unwrap_or(source.date);
        for (ordinal, evidence) in event.evidence.iter().enumerate() {
            rows.evidence(&id, ordinal, &sources[evidence.segment], evidence);
        }
        for actor in &event.actors {
            rows.actors.push((
                ids[actor.entity],
                id.0.clone(),
                actor.role.as_str(),
                occurred_at.to_sqlx(),
                event.category.as_str(),
            ));
        }
        if let Some(subject) = event.subject {
            rows.subjects.push((ids[subject], id.0.clone(), occurred_at.to_sqlx(), event.category.as_str()));
        }
        let subject = event.subject.map(|subject| ids[subject]);
        let owners = event.actors.iter().filter(|actor| actor.role == ActorRole::Owner);
        owned.extend(
            owners.filter_map(|a| owners_event(ids[a.entity], &id.0, event, source, &actors, subject)),
        );
        rows.event(id, *count, source, event);
        *count += 1;
    }
    rows.insert(tx, ns, extractor).await?;
    link_new(tx, ns, owned).await?;
    Ok(counts)
}

/// Columns of the rows to insert, a statement a table.
#[derive(Default)]
struct EventRows {
    event_id: Vec<String>,
    revision_id: Vec<i64>,
    artifact_id: Vec<String>,
    ordinal: Vec<i32>,
    category: Vec<&'static str>,
    narrative: Vec<String>,
    event_time: Vec<Option<SqlTimestamp>>,
    due_time: Vec<Option<SqlTimestamp>>,
    confidence: Vec<f32>,
    evidence: Vec<(String, i32, i64, String, i32, i32, String)>,
    actors: Vec<(i64, String, &'static str, SqlTimestamp, &'static str)>,
    subjects: Vec<(i64, String, SqlTimestamp, &'static str)>,
}

impl EventRows {
    fn event(
        &mut self,
        id: EventId,
        ordinal: i32,
        source: &Source,
        event: &memory_core::event::ExtractedEvent,
    ) {
        self.event_id.push(id.0);
        self.revision_id.push(source.revision_id.0);
        self.artifact_id.push(source.artifact_id.0.clone());
        self.ordinal.push(ordinal);
        self.category.push(event.category.as_str());
        self.narrative.push(event.narrative.clone());
        self.event_time.push(event.event_time.map(Timestamp::to_sqlx));
        self.due_time.push(event.due_time.map(Timestamp::to_sqlx));
        self.confidence.push(event.confidence);
    }

    fn evidence(
        &mut self,
        id: &EventId,
        ordinal: usize,
        source: &Source,
        evidence: &memory_core::event::Evidence,
    ) {
        self.evidence.push((
            id.0.clone(),
            ordinal as i32,
            source.revision_id.0,
            source.artifact_id.0.clone(),
            evidence.span.start as i32,
            evidence.span.end as i32,
            evidence.quote.clone(),
        ));
    }

    async fn insert(self, tx: &mut Tx, ns: &Namespace, extractor: ExtractorId<'_>) -> Result<(), StoreError> {
        sqlx::query(
            "insert into semantic_event (namespace, event_id, revision_id, artifact_id, ordinal, category, narrative,
                 event_time, due_time, confidence, extractor, extractor_version)
             select $1, u.*, $2, $3
             from unnest($4::text[], $5::bigint[], $6::text[], $7::int[], $8::text[], $9::text[], $10::timestamptz[],
                 $11::timestamptz[], $12::real[]) u",
        )
        .bind(ns.as_str())
        .bind(extractor.name)
        .bind(extractor.version)
        .bind(self.event_id)
        .bind(self.revision_id)
        .bind(self.artifact_id)
        .bind(self.ordinal)
        .bind(self.category)
        .bind(self.narrative)
        .bind(self.event_time)
        .bind(self.due_time)
        .bind(self.confidence)
        .execute(&mut **tx)
        .await?;
        sqlx::query(
            "insert into event_evidence (namespace, event_id, ordinal, revision_id, artifact_id, start_char, end_char, quote)
             select $1, u.* from unnest($2::text[], $3::int[], $4::bigint[], $5::text[], $6::int[], $7::int[], $8::text[]) u",
        )
        .bind(ns.as_str())
        .bind(self.evidence.iter().map(|e| e.0.as_str()).collect::<Vec<_>>())
        .bind(self.evidence.iter().map(|e| e.1).collect::<Vec<_>>())
        .bind(self.evidence.iter().map(|e| e.2).collect::<Vec<_>>())
        .bind(self.evidence.iter().map(|e| e.3.as_str()).collect::<Vec<_>>())
        .bind(self.evidence.iter().map(|e| e.4).collect::<Vec<_>>())
        .bind(self.evidence.iter().map(|e| e.5).collect::<Vec<_>>())
        .bind(self.evidence.iter().map(|e| e.6.as_str()).collect::<Vec<_>>())
        .execute(&mut **tx)
        .await?;
        sqlx::query(
            "with subjects as (
                 insert into event_subject (namespace, entity_id, event_id, occurred_at, category)
                 select $1, u.* from unnest($7::bigint[], $8::text[], $9::timestamptz[], $10::text[]) u
                 on conflict do nothing
             )
             insert into event_actor (namespace, entity_id, event_id, role, occurred_at, category)
             select $1, u.* from unnest($2::bigint[], $3::text[], $4::text[], $5::timestamptz[], $6::text[]) u
             on conflict do nothing",
        )
        .bind(ns.as_str())
        .bind(self.actors.iter().map(|a| a.0).collect::<Vec<_>>())
        .bind(self.actors.iter().map(|a| a.1.as_str()).collect::<Vec<_>>())
        .bind(self.actors.iter().map(|a| a.2).collect::<Vec<_>>())
        .bind(self.actors.iter().map(|a| a.3).collect::<Vec<_>>())
        .bind(self.actors.iter().map(|a| a.4).collect::<Vec<_>>())
        .bind(self.subjects.iter().map(|s| s.0).collect::<Vec<_>>())
        .bind(self.subjects.iter().map(|s| s.1.as_str()).collect::<Vec<_>>())
        .bind(self.subjects.iter().map(|s| s.2).collect::<Vec<_>>())
        .bind(self.subjects.iter().map(|s| s.3).collect::<Vec<_>>())
        .execute(&mut **tx)
        .await?;
        Ok(())
    }
}
