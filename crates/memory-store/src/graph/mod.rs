//! The knowledge graph: threads and the lock on them; writing, reading and searching are in the modules below.

mod analytics;
mod files;
pub mod index;
mod place;
mod read;
mod rows;
mod search;
mod versions;
mod watch;
mod write;

use memory_core::graph::{CursorKey, GraphScope, TextKey};
use memory_core::id::Namespace;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::{Conn, StoreError, Tx};

pub use analytics::{
    ConnectedEntity, FoundByName, ImportantEntity, NamedEntity, OrphanedEntity, QueriedEntity,
    QueriedObservation, Ranges, RecentChange, entities_named, list_entities, most_connected, names_and_types,
    orphaned_entities, query_entities, recent_changes, top_important,
};
pub use files::{FiledGraph, InStep, filed_graphs, last_in_step, note_gone, note_in_step};
pub use place::{
    EntityAt, ObservationAt, Ordered, PlacedEntity, begin_bulk, delete_chains, delete_entities_at,
    delete_relations_at, end_bulk, fresh_ids, insert_entities_at, insert_observations_at,
    insert_relations_at, move_to, placed_entities, relation_ids, relation_ids_after, retype, touch,
};
pub use read::{
    Next, Portion, StoredEntity, StoredRelation, all_entities, all_relations, count_relations, entities,
    entity_ids, ids_after, relations_after, relations_dangling, relations_touching, relations_within,
};
pub use rows::{RowState, entity_states, relation_states, stream_entities, stream_relations};
pub use search::{Pattern, Walked, by_trigrams, matching_among, walk};
pub use versions::{ObservationVersion, VersionsPage, observation_versions, supersede_observation};
pub use watch::{is_larger_than, versions};
pub use write::{
    NewEntity, NewObservation, NewRelation, Repeated, Reweighed, clear, delete_entities, delete_observations,
    delete_relations, insert_entities, insert_observations, insert_relations, new_handle, reweigh_entities,
    reweigh_relations,
};

/// A graph of a namespace, as it is or as this transaction has raised it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    pub(crate) ns: Namespace,
    pub(crate) id: i64,
    /// How often the graph has changed.
    pub version: i64,
    /// How many entities it had before this transaction.
    pub entities: i64,
    /// What its cursors are sealed with.
    pub cursor_key: CursorKey,
}

impl Thread {
    pub(crate) fn of(ns: &Namespace, row: &PgRow) -> Result<Self, StoreError> {
        Ok(Self {
            ns: ns.clone(),
            id: row.try_get("thread_id")?,
            version: row.try_get("version")?,
            entities: row.try_get("entities")?,
            cursor_key: CursorKey(row.try_get::<Uuid, _>("cursor_key")?.into_bytes()),
        })
    }
}

/// `None` when nothing was ever written to it.
pub async fn find_thread(
    conn: &mut Conn,
    ns: &Namespace,
    scope: &GraphScope,
) -> Result<Option<Thread>, StoreError> {
    let row = sqlx::query(
        "select thread_id, version, entities, cursor_key from graph_thread where namespace = $1 and name = $2",
    )
    .bind(ns.as_str())
    .bind(scope.thread_name())
    .fetch_optional(conn)
    .await?;
    row.map(|row| Thread::of(ns, &row)).transpose()
}

/// Makes the thread if need be, raises its version and keeps other writers of it out until the transaction
/// ends. It is the first statement of every change; one that changes nothing after all is not committed.
pub async fn lock_thread(tx: &mut Tx, ns: &Namespace, scope: &GraphScope) -> Result<Thread, StoreError> {
    let row = sqlx::query(
        "insert into graph_thread (namespace, name, file_path, version)
         values ($1, $2, $3, 1)
         on conflict (namespace, name) do update set version = graph_thread.version + 1
         returning thread_id, version, entities, cursor_key",
    )
    .bind(ns.as_str())
    .bind(scope.thread_name())
    .bind(scope.file_path())
    .fetch_one(&mut **tx)
    .await?;
    Thread::of(ns, &row)
}

pub(crate) fn uuid(key: TextKey) -> Uuid {
    Uuid::from_u128(key.0)
}

pub(crate) fn key(uuid: Uuid) -> TextKey {
    TextKey(uuid.as_u128())
}
