//! What was decided about entities, out as lines and in again. Rows of revisions have numbers in an archive.

use memory_core::archive::{
    ArchiveLine, ArchivedDoubt, ArchivedMerge, ArchivedRejection, ArchivedTerms, SIGNS_MAX,
};
use memory_core::entity::normalised_name;
use memory_core::id::{Namespace, RevisionId};
use memory_store::Tx;
use memory_store::archive::{self, Decision, DoubtRow, Kind, Taken, Terms};

use crate::EngineError;

/// The lines of all doubts, if they are wanted, and of all decisions. `revisions` are those of the archive in order.
pub(super) async fn lines(
    tx: &mut Tx,
    ns: &Namespace,
    with_doubts: bool,
    revisions: &[RevisionId],
) -> Result<Vec<ArchiveLine>, EngineError> {
    let mut lines = Vec::new();
    if with_doubts {
        for doubt in archive::doubts(tx, ns, SIGNS_MAX).await? {
            lines.push(ArchiveLine::EntityDoubt(Box::new(ArchivedDoubt {
                first: archived(doubt.first, revisions),
                second: archived(doubt.second, revisions),
                score: doubt.score,
                reasons: doubt.reasons,
            })));
        }
    }
    for Decision { kind, first, second } in archive::decisions(tx, ns, SIGNS_MAX).await? {
        let (first, second) = (archived(first, revisions), archived(second, revisions));
        lines.push(match kind {
            Kind::Rejected => ArchiveLine::EntityRejection(Box::new(ArchivedRejection { first, second })),
            Kind::Merged { were_rejected } => ArchiveLine::EntityMerge(Box::new(ArchivedMerge {
                entity: first,
                into: second,
                were_rejected,
            })),
        });
    }
    Ok(lines)
}

fn archived(terms: Terms, revisions: &[RevisionId]) -> ArchivedTerms {
    let number = |id: &i64| {
        let at = revisions.binary_search(&RevisionId(*id)).ok()?;
        Some(at as u64 + 1)
    };
    ArchivedTerms {
        revisions: terms.revisions.iter().filter_map(number).collect(),
        entity_type: terms.entity_type,
        name: terms.name,
        distinguisher: terms.distinguisher,
        addresses: terms.addresses,
    }
}

/// The terms of a line, with the revisions that its numbers mean.
pub(super) fn terms(
    archived: ArchivedTerms,
    numbered: &impl Fn(&u64) -> Result<RevisionId, EngineError>,
) -> Result<Terms, EngineError> {
    let revisions: Result<Vec<i64>, EngineError> =
        archived.revisions.iter().map(|number| Ok(numbered(number)?.0)).collect();
    let mut terms = Terms {
        entity_type: archived.entity_type,
        name: normalised_name(&archived.name),
        distinguisher: archived.distinguisher,
        addresses: archived.addresses,
        revisions: revisions?,
    };
    terms.revisions.sort_unstable();
    terms.revisions.dedup();
    Ok(terms)
}

/// Takes a decision in; gives whether it is new here.
pub(super) async fn take(tx: &mut Tx, ns: &Namespace, decision: &Decision) -> Result<bool, EngineError> {
    Ok(archive::take_decision(tx, ns, decision).await? != Taken::Stays)
}

pub(super) async fn take_doubt(tx: &mut Tx, ns: &Namespace, doubt: &DoubtRow) -> Result<bool, EngineError> {
    Ok(archive::take_doubt(tx, ns, doubt).await?)
}
