//! The rows of a namespace as lines.

use std::collections::HashMap;

use futures::TryStreamExt;
use memory_core::archive::{
    ARCHIVE_VERSION, ArchiveLine, ArchivedActor, ArchivedArtifact, ArchivedEntity, ArchivedEvent,
    ArchivedEvidence, ArchivedExtraction, ArchivedName, ArchivedObservation, ArchivedRelation,
    ArchivedRevision, ArchivedThread, Header, write_line,
};
use memory_core::id::{Namespace, RevisionId};
use memory_store::Tx;
use memory_store::archive::{self, EventRow, RelationRow};
use memory_store::graph::Thread;
use tokio::io::AsyncWriteExt;

use super::{ArchiveExported, decisions};
use crate::EngineError;
use crate::progress::{Progress, Report};
use crate::streams::Output;

/// Lines are passed on when there is about this much of them, in bytes.
const PART_BYTES: usize = 256 * 1024;

pub(super) async fn export(
    tx: &mut Tx,
    ns: &Namespace,
    with_events: bool,
    out: Output<'_>,
    report: Report<'_>,
) -> Result<ArchiveExported, EngineError> {
    let mut total = archive::count_rows(tx, ns).await?;
    if with_events {
        total += archive::count_extractions(tx, ns).await?;
    }
    let mut lines = Lines { out, part: Vec::new(), done: 0, total, report };
    let mut exported = ArchiveExported::default();
    lines.write(&ArchiveLine::Header(Header { version: ARCHIVE_VERSION })).await?;
    let revisions = export_revisions(tx, ns, &mut lines, &mut exported).await?;
    if with_events {
        export_extractions(tx, ns, &revisions, &mut lines, &mut exported).await?;
    }
    for line in decisions::lines(tx, ns, with_events, &revisions).await? {
        exported.decisions += u64::from(!matches!(line, ArchiveLine::EntityDoubt(_)));
        lines.total += 1;
        lines.write(&line).await?;
    }
    for (thread, scope, created_at) in archive::threads(tx, ns).await? {
        lines.write(&ArchiveLine::Thread(ArchivedThread::new(&scope, created_at))).await?;
        exported.threads += 1;
        export_entities(tx, &thread, &mut lines, &mut exported).await?;
        let mut relations = archive::relations(tx, &thread);
        while let Some(RelationRow { relation, importance, created_at }) = relations.try_next().await? {
            let archived = ArchivedRelation {
                from: relation.from,
                to: relation.to,
                relation_type: relation.relation_type,
                importance,
                created_at,
            };
            lines.write(&ArchiveLine::GraphRelation(archived)).await?;
            exported.relations += 1;
        }
    }
    lines.flush().await?;
    lines.out.flush().await?;
    Ok(exported)
}

/// Gives the revisions in the order of their numbers.
async fn export_revisions(
    tx: &mut Tx,
    ns: &Namespace,
    lines: &mut Lines<'_>,
    exported: &mut ArchiveExported,
) -> Result<Vec<RevisionId>, EngineError> {
    let mut revisions = Vec::new();
    // The numbers of those that were superseded, until their successors come.
    let mut superseded: HashMap<RevisionId, Vec<u64>> = HashMap::new();
    let mut rows = archive::revisions(tx, ns);
    while let Some(row) = rows.try_next().await? {
        if let Some(content) = row.content {
            lines.write(&ArchiveLine::Artifact(ArchivedArtifact::new(&row.hash, content))).await?;
            exported.artifacts += 1;
        }
        exported.revisions += 1;
        if let Some(successor) = row.superseded_by.filter(|_| row.earlier_successor.is_none()) {
            superseded.entry(successor).or_default().push(exported.revisions);
        }
        let revision = ArchivedRevision::new(
            &row.hash,
            row.meta,
            row.created_at,
            row.is_latest,
            superseded.remove(&row.revision_id).unwrap_or_default(),
            row.earlier_successor,
        );
        lines.write(&ArchiveLine::Revision(Box::new(revision))).await?;
        revisions.push(row.revision_id);
    }
    Ok(revisions)
}

async fn export_extractions(
    tx: &mut Tx,
    ns: &Namespace,
    revisions: &[RevisionId],
    lines: &mut Lines<'_>,
    exported: &mut ArchiveExported,
) -> Result<(), EngineError> {
    let number = |id: RevisionId| revisions.partition_point(|revision| *revision <= id) as u64;
    let mut rows = archive::extractions(tx, ns);
    while let Some(row) = rows.try_next().await? {
        let entity = |id: i64| row.entities.iter().position(|entity| entity.id == id);
        let event = |event: &EventRow| ArchivedEvent {
            category: event.category.clone(),
            narrative: event.narrative.clone(),
            event_time: event.event_time,
            due_time: event.due_time,
            confidence: event.confidence,
            subject: event.subject.and_then(entity),
            actors: actors(event, entity),
            evidence: event
                .evidence
                .iter()
                .map(|evidence| ArchivedEvidence {
                    revision: (evidence.revision_id != row.revision_id.0)
                        .then(|| number(RevisionId(evidence.revision_id))),
                    start: evidence.start,
                    end: evidence.end,
                })
                .collect(),
        };
        let events = row.events.iter().map(event).collect();
        let entities = row.entities.iter().map(|named| ArchivedName {
            name: named.name.clone(),
            entity_type: named.entity_type.clone(),
            distinguisher: named.distinguisher.clone(),
            aliases: named.aliases.clone(),
            mentions: named.mentions.clone(),
        });
        let archived = ArchivedExtraction {
            revision: number(row.revision_id),
            extractor: row.extractor.clone(),
            extractor_version: row.extractor_version,
            extracted_at: row.extracted_at,
            rejected: row.rejected,
            stale: row.is_stale,
            entities: entities.collect(),
            events,
        };
        lines.write(&ArchiveLine::Extraction(archived)).await?;
        exported.extractions += 1;
    }
    Ok(())
}

/// In the order of the entities: row ids differ from one database to the next.
fn actors(event: &EventRow, entity: impl Fn(i64) -> Option<usize>) -> Vec<ArchivedActor> {
    let actors = event.actors.iter().filter_map(|actor| Some((entity(actor.id)?, &actor.role)));
    let mut actors: Vec<(usize, &String)> = actors.collect();
    actors.sort_unstable();
    actors.into_iter().map(|(entity, role)| ArchivedActor { entity, role: role.clone() }).collect()
}

async fn export_entities(
    tx: &mut Tx,
    thread: &Thread,
    lines: &mut Lines<'_>,
    exported: &mut ArchiveExported,
) -> Result<(), EngineError> {
    let mut rows = archive::entities(tx, thread);
    let (mut entity, mut chain_id, mut chain) = (None, None, 0);
    while let Some(row) = rows.try_next().await? {
        if entity != Some(row.entity_id) {
            (entity, chain_id, chain) = (Some(row.entity_id), None, 0);
            let archived = ArchivedEntity {
                name: row.name,
                entity_type: row.entity_type,
                confidence: row.weights.confidence,
                importance: row.weights.importance,
                is_root: row.is_root,
                created_at: row.created_at,
                updated_at: row.updated_at,
            };
            lines.write(&ArchiveLine::GraphEntity(archived)).await?;
            exported.entities += 1;
        }
        let Some(observation) = row.observation else { continue };
        if chain_id != Some(observation.chain_id) {
            (chain_id, chain) = (Some(observation.chain_id), chain + 1);
        }
        let archived = ArchivedObservation {
            id: observation.handle.to_string(),
            chain,
            version: observation.version,
            current: observation.is_current,
            content: observation.content,
            confidence: observation.weights.confidence,
            importance: observation.weights.importance,
            created_at: observation.created_at,
        };
        lines.write(&ArchiveLine::Observation(archived)).await?;
        exported.observations += 1;
    }
    Ok(())
}

/// Lines on their way out, some at a time.
struct Lines<'a> {
    out: Output<'a>,
    part: Vec<u8>,
    done: u64,
    total: u64,
    report: Report<'a>,
}

impl Lines<'_> {
    async fn write(&mut self, line: &ArchiveLine) -> Result<(), EngineError> {
        self.done += 1;
        write_line(&mut self.part, line);
        if self.part.len() >= PART_BYTES {
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), EngineError> {
        self.out.write_all(&self.part).await?;
        self.part.clear();
        (self.report)(Progress { done: self.done.saturating_sub(1), total: self.total });
        Ok(())
    }
}
