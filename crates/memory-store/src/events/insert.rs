//! Writes the events of an extraction with their evidence and links.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx};
use memory_core::entity::normalised_name;
use memory_core::event::{Actor, ActorRole, Category, ExtractedEntity, ExtractedEvent, Extraction};
use memory_core::id::{EventId, Namespace};

use super::{ExtractorId, Source};
use crate::lifecycle::{NOBODY, link_new, owners_event};
use crate::{StoreError, Tx};

/// An extraction reduced to what will be written: entities that something refers to, events of sources
/// that are to be written and that still have all their evidence.
pub(super) struct Prepared {
    pub(super) entities: Vec<ExtractedEntity>,
    pub(super) events: Vec<ExtractedEvent>,
}

impl Prepared {
    pub(super) fn new(extraction: Extraction, sources: &[Source], written: &[bool], alive: &[i64]) -> Self {
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
pub(super) async fn insert_events(
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
        // Who reviewed it has done it too.
        let ends = event.category != Category::Commitment;
        let owns =
            |actor: &&Actor| actor.role == ActorRole::Owner || (ends && actor.role == ActorRole::Reviewer);
        let mut owners: Vec<i64> = event.actors.iter().filter(owns).map(|actor| ids[actor.entity]).collect();
        // Whom it is for tells what it is about, who does it does not.
        let doers: Vec<String> = event
            .actors
            .iter()
            .filter(owns)
            .map(|actor| normalised_name(&prepared.entities[actor.entity].name))
            .collect();
        if owners.is_empty() {
            owners.push(NOBODY);
        }
        let owners = owners.into_iter();
        owned.extend(owners.filter_map(|owner| owners_event(owner, &id.0, event, source, &doers, subject)));
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
    fn event(&mut self, id: EventId, ordinal: i32, source: &Source, event: &ExtractedEvent) {
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
