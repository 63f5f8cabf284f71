//! What an archive is made of, and how its lines become rows again.

mod extraction;
mod read;
mod write;

pub use crate::entities::decisions::{
    Decision, DoubtRow, Kind, Taken, Terms, all as decisions, doubts, take as take_decision, take_doubt,
};
pub use extraction::{EventRow, ExtractionRow, count_extractions, extractions, is_extracted};
pub use read::{
    ArchivedRow, EntityRow, ObservationRow, RelationRow, count_rows, entities, relations, revisions, threads,
};
pub use write::{
    KnownObservation, NewVersion, content_of, conversation_is_known, find_revision, insert_entities,
    insert_relations, insert_versions, known_contents, known_observations, latest_at, lower_version,
    newest_versions, retire_versions, set_artifact_created, set_thread_created,
};
