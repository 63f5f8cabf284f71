//! What extraction reads and writes: sources, events with evidence, entities with mentions.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx};
use memory_core::artifact::Metadata;
use memory_core::entity::{EntityType, normalised_name};
use memory_core::event::{ExtractedEntity, Extraction, Rejected};
use memory_core::id::{ArtifactId, EventId, Namespace, RevisionId};
use sqlx::{FromRow, Row};

use crate::artifacts::MetadataRow;
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

/// Who found it.
#[derive(Debug, Clone, Copy)]
pub struct ExtractorId {
    pub name: &'static str,
    pub version: i32,
}

/// Writes what was found in `sources` (one a segment), in the place of anything found there before.
/// Only unread sources get events. Sources that were forgotten meanwhile take what refers to them along.
pub async fn replace_extraction(
    tx: &mut Tx,
    ns: &Namespace,
    extractor: ExtractorId,
    sources: &[Source],
    extraction: Extraction,
    rejected: Rejected,
) -> Result<usize, StoreError> {
    // Shared with other extractions; a forget takes it alone while it removes entities nothing refers to.
    sqlx::query("select pg_advisory_xact_lock_shared(hashtextextended($1, 2))")
        .bind(ns.as_str())
        .execute(&mut **tx)
        .await?;
    let alive = lock_sources(tx, ns, sources).await?;
    let written: Vec<bool> = sources.iter().map(|s| s.unread && alive.contains(&s.revision_id.0)).collect();
    let targets: Vec<i64> =
        sources.iter().zip(&written).filter(|(_, w)| **w).map(|(s, _)| s.revision_id.0).collect();
    let before = entities_of_revisions(tx, ns, &targets).await?;
    sqlx::query(
        "with events as (delete from semantic_event where namespace = $1 and revision_id = any($2)),
              mentions as (delete from entity_mention where namespace = $1 and revision_id = any($2))
         delete from entity_alias where namespace = $1 and revision_id = any($2)",
    )
    .bind(ns.as_str())
    .bind(&targets)
    .execute(&mut **tx)
    .await?;
    let prepared = Prepared::new(extraction, sources, &written, &alive);
    let ids = upsert_entities(tx, ns, &prepared.entities).await?;
    insert_mentions(tx, ns, sources, &prepared, &ids, &written).await?;
    let event_counts = insert_events(tx, ns, extractor, sources, &prepared, &ids).await?;
    // What was rejected is not told apart by source: it is counted once, on the first.
    let mut rejections = vec![0_i32; targets.len()];
    if let Some(first) = rejections.first_mut() {
        *first = (rejected.events + rejected.mentions) as i32;
    }
    let counts: Vec<i32> = targets.iter().map(|id| event_counts.get(id).copied().unwrap_or(0)).collect();
    sqlx::query(
        "update artifact_revision r
         set extractor = $3, extractor_version = $4, extracted_at = now(), event_count = u.events, rejected_count = u.rejected
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
    delete_orphans(tx, ns, &before).await?;
    Ok(prepared.events.len())
}

/// Which of the sources still stand; they cannot be forgotten before the transaction ends.
async fn lock_sources(tx: &mut Tx, ns: &Namespace, sources: &[Source]) -> Result<Vec<i64>, StoreError> {
    let ids: Vec<i64> = sources.iter().map(|s| s.revision_id.0).collect();
    Ok(sqlx::query_scalar(
        "select revision_id from artifact_revision where namespace = $1 and revision_id = any($2) order by revision_id for key share",
    )
    .bind(ns.as_str())
    .bind(ids)
    .fetch_all(&mut **tx)
    .await?)
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

/// The id of each entity: one with the same e-mail address, else one with the same name and type, else a new one.
async fn upsert_entities(
    tx: &mut Tx,
    ns: &Namespace,
    entities: &[ExtractedEntity],
) -> Result<Vec<i64>, StoreError> {
    let addresses: Vec<Vec<String>> = entities
        .iter()
        .map(|e| {
            e.aliases
                .iter()
                .map(|a| normalised_name(a))
                .filter(|a| a.contains('@') && a.contains('.'))
                .collect()
        })
        .collect();
    let by_address: HashMap<String, i64> = sqlx::query_as::<_, (String, i64)>(
        "select a.normalised, min(a.entity_id)
         from entity_alias a join entity t using (namespace, entity_id)
         where a.namespace = $1 and a.normalised = any($2) and t.entity_type = 'person'
         group by a.normalised having count(distinct a.entity_id) = 1",
    )
    .bind(ns.as_str())
    .bind(addresses.iter().flatten().cloned().collect::<Vec<_>>())
    .fetch_all(&mut **tx)
    .await?
    .into_iter()
    .collect();
    let key = |e: &ExtractedEntity| (e.entity_type.as_str(), normalised_name(&e.name));
    let same_address = |entity: &ExtractedEntity, addresses: &[String]| {
        let is_person = entity.entity_type == EntityType::Person;
        addresses.iter().find_map(|a| by_address.get(a)).copied().filter(|_| is_person)
    };
    let mut new: Vec<((&str, String), &str)> = entities
        .iter()
        .zip(&addresses)
        .filter(|(entity, addresses)| same_address(entity, addresses).is_none())
        .map(|(e, _)| (key(e), e.name.as_str()))
        .collect();
    // Every writer inserts in the same order, so that two of them never wait for each other in a circle.
    new.sort_unstable();
    new.dedup_by(|a, b| a.0 == b.0);
    sqlx::query(
        "insert into entity (namespace, name, normalised, entity_type)
         select $1, u.name, u.normalised, u.entity_type
         from unnest($2::text[], $3::text[], $4::text[]) u (name, normalised, entity_type)
         on conflict do nothing",
    )
    .bind(ns.as_str())
    .bind(new.iter().map(|n| n.1).collect::<Vec<_>>())
    .bind(new.iter().map(|n| n.0.1.clone()).collect::<Vec<_>>())
    .bind(new.iter().map(|n| n.0.0).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    let by_name: HashMap<(String, String), i64> = sqlx::query_as::<_, (String, String, i64)>(
        "select t.entity_type, t.normalised, t.entity_id
         from unnest($2::text[], $3::text[]) u (normalised, entity_type)
         join entity t on t.namespace = $1 and t.entity_type = u.entity_type and t.normalised = u.normalised",
    )
    .bind(ns.as_str())
    .bind(new.iter().map(|n| n.0.1.clone()).collect::<Vec<_>>())
    .bind(new.iter().map(|n| n.0.0).collect::<Vec<_>>())
    .fetch_all(&mut **tx)
    .await?
    .into_iter()
    .map(|(entity_type, name, id)| ((entity_type, name), id))
    .collect();
    entities
        .iter()
        .zip(&addresses)
        .map(|(entity, addresses)| {
            let (entity_type, name) = key(entity);
            same_address(entity, addresses)
                .or_else(|| by_name.get(&(entity_type.to_owned(), name)).copied())
                .ok_or(StoreError::Conflict)
        })
        .collect()
}

async fn insert_mentions(
    tx: &mut Tx,
    ns: &Namespace,
    sources: &[Source],
    prepared: &Prepared,
    ids: &[i64],
    written: &[bool],
) -> Result<(), StoreError> {
    let mentions: Vec<(i64, usize, &memory_core::event::Mention)> = prepared
        .entities
        .iter()
        .zip(ids)
        .flat_map(|(e, id)| e.mentions.iter().map(move |m| (*id, m.segment, m)))
        .filter(|(_, segment, _)| written[*segment])
        .collect();
    sqlx::query(
        "insert into entity_mention (namespace, entity_id, revision_id, artifact_id, start_char, end_char, surface)
         select $1, u.* from unnest($2::bigint[], $3::bigint[], $4::text[], $5::int[], $6::int[], $7::text[]) u
         on conflict do nothing",
    )
    .bind(ns.as_str())
    .bind(mentions.iter().map(|m| m.0).collect::<Vec<_>>())
    .bind(mentions.iter().map(|m| sources[m.1].revision_id.0).collect::<Vec<_>>())
    .bind(mentions.iter().map(|m| sources[m.1].artifact_id.0.as_str()).collect::<Vec<_>>())
    .bind(mentions.iter().map(|m| m.2.span.start as i32).collect::<Vec<_>>())
    .bind(mentions.iter().map(|m| m.2.span.end as i32).collect::<Vec<_>>())
    .bind(mentions.iter().map(|m| m.2.surface.as_str()).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    let names: Vec<NameTold> = prepared
        .entities
        .iter()
        .zip(ids)
        .flat_map(|(entity, id)| names_told(entity, *id, sources, written))
        .collect();
    sqlx::query(
        "insert into entity_alias (namespace, entity_id, alias, normalised, revision_id)
         select $1, u.* from unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[]) u
         on conflict do nothing",
    )
    .bind(ns.as_str())
    .bind(names.iter().map(|n| n.entity_id).collect::<Vec<_>>())
    .bind(names.iter().map(|n| n.name.as_str()).collect::<Vec<_>>())
    .bind(names.iter().map(|n| n.normalised.as_str()).collect::<Vec<_>>())
    .bind(names.iter().map(|n| n.revision_id).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// A name of an entity and a revision that tells it.
struct NameTold {
    entity_id: i64,
    name: String,
    normalised: String,
    revision_id: i64,
}

/// Each name with every source that has it in its text; one that stands in none (it comes from what is said
/// about the text) with the first source that mentions the entity, else with the first at all.
fn names_told(
    entity: &ExtractedEntity,
    entity_id: i64,
    sources: &[Source],
    written: &[bool],
) -> Vec<NameTold> {
    let mentioned: Vec<(usize, String)> = entity
        .mentions
        .iter()
        .filter(|m| written[m.segment])
        .map(|m| (m.segment, normalised_name(&m.surface)))
        .collect();
    let fallback = mentioned.first().map(|(segment, _)| *segment).or(written.iter().position(|w| *w));
    let mut told = Vec::new();
    for name in entity.aliases.iter().chain([&entity.name]) {
        let normalised = normalised_name(name);
        if normalised.is_empty() {
            continue;
        }
        let mut segments: Vec<usize> = mentioned
            .iter()
            .filter(|(_, surface)| *surface == normalised)
            .map(|(segment, _)| *segment)
            .collect();
        if segments.is_empty() {
            segments.extend(fallback);
        }
        segments.dedup();
        told.extend(segments.into_iter().map(|segment| NameTold {
            entity_id,
            name: name.clone(),
            normalised: normalised.clone(),
            revision_id: sources[segment].revision_id.0,
        }));
    }
    told
}

/// The entities that anything of the revisions refers to.
pub(crate) async fn entities_of_revisions(
    tx: &mut Tx,
    ns: &Namespace,
    revisions: &[i64],
) -> Result<Vec<i64>, StoreError> {
    Ok(sqlx::query_scalar(include_str!("sql/entities_of_revisions.sql"))
        .bind(ns.as_str())
        .bind(revisions)
        .fetch_all(&mut **tx)
        .await?)
}

/// Deletes those of the entities that no mention, actor or subject refers to; gives how many.
pub(crate) async fn delete_orphans(tx: &mut Tx, ns: &Namespace, entities: &[i64]) -> Result<u64, StoreError> {
    Ok(sqlx::query(
        "delete from entity t
         where t.namespace = $1 and t.entity_id = any($2)
           and not exists (select from entity_mention m where m.namespace = $1 and m.entity_id = t.entity_id)
           and not exists (select from event_actor a where a.namespace = $1 and a.entity_id = t.entity_id)
           and not exists (select from event_subject s where s.namespace = $1 and s.entity_id = t.entity_id)",
    )
    .bind(ns.as_str())
    .bind(entities)
    .execute(&mut **tx)
    .await?
    .rows_affected())
}

/// Writes events, evidence and links; gives the number of events of each revision.
async fn insert_events(
    tx: &mut Tx,
    ns: &Namespace,
    extractor: ExtractorId,
    sources: &[Source],
    prepared: &Prepared,
    ids: &[i64],
) -> Result<HashMap<i64, i32>, StoreError> {
    let mut rows = EventRows::default();
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
        rows.event(id, *count, source, event);
        *count += 1;
    }
    rows.insert(tx, ns, extractor).await?;
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

    async fn insert(self, tx: &mut Tx, ns: &Namespace, extractor: ExtractorId) -> Result<(), StoreError> {
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
