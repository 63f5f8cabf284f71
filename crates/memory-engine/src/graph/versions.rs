//! Observations change by new versions; the old ones stay to be read.

use memory_core::Invalid;
use memory_core::graph::{
    GraphEntity, GraphScope, ObservationHandle, TextKey, Weights, check_entities, share,
};
use memory_core::id::Namespace;
use memory_core::text::cut;
use memory_store::Conn;
use memory_store::graph::{self, ObservationVersion, Thread};

use super::Changed;
use crate::{EngineError, Memory};

/// The most versions that a history shows.
const VERSIONS_MAX: usize = 1_000;

/// The next version of an observation, as it is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservationUpdate {
    pub entity_name: String,
    /// Any version of it.
    pub handle: ObservationHandle,
    pub content: String,
    /// As the latest version has it unless given.
    pub confidence: Option<f64>,
    pub importance: Option<f64>,
}

impl Memory {
    /// Supersedes the latest version of an observation and gives the new one. The same text and weights
    /// again change nothing.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub async fn update_observation(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
        update: &ObservationUpdate,
    ) -> Result<Changed<ObservationVersion>, EngineError> {
        check_entities(&[GraphEntity {
            name: update.entity_name.clone(),
            entity_type: String::new(),
            observations: vec![update.content.clone()],
        }])?;
        let confidence = share("confidence", update.confidence)?;
        let importance = share("importance", update.importance)?;
        let turn = self.turn(ns, scope).await?;
        let changed = self.persist(|| async {
            let mut tx = self.store.begin().await?;
            let thread = graph::lock_thread(&mut tx, ns, scope).await?;
            let entity_id = entity_of(&mut tx, &thread, &update.entity_name).await?;
            let versions = observation(&mut tx, &thread, entity_id, update).await?;
            let Some(latest) = versions.into_iter().next_back() else {
                return Err(unknown_observation(update.handle, &update.entity_name).into());
            };
            let weights = Weights {
                confidence: confidence.unwrap_or(latest.weights.confidence),
                importance: importance.unwrap_or(latest.weights.importance),
            };
            if latest.content == update.content && latest.weights == weights {
                return Ok(Changed::nothing(latest));
            }
            let all =
                graph::observation_versions(&mut tx, &thread, entity_id, None, usize::from(u16::MAX)).await?;
            let twin = all.iter().find(|other| {
                other.is_current && other.chain_id != latest.chain_id && other.content == update.content
            });
            if let Some(twin) = twin {
                return Err(Invalid::new(format!(
                    "'{}' has this observation already, as {}. Delete the old one with delete_observations instead.",
                    cut(&update.entity_name, 100),
                    twin.handle
                ))
                .into());
            }
            let handle =
                graph::supersede_observation(&mut tx, &thread, entity_id, &latest, &update.content, weights)
                    .await?;
            let new = graph::observation_versions(&mut tx, &thread, entity_id, Some(handle), VERSIONS_MAX)
                .await?
                .into_iter()
                .find(|version| version.handle == handle);
            let answer = new.ok_or_else(|| unknown_observation(handle, &update.entity_name))?;
            self.commit_change(tx, &thread, answer).await
        });
        turn.end(changed.await).await
    }

    /// The versions of an observation, the first one first; of all the entity's observations without a handle.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub async fn observation_history(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
        entity_name: &str,
        handle: Option<ObservationHandle>,
    ) -> Result<Vec<ObservationVersion>, EngineError> {
        self.take_in_file(ns, scope).await?;
        self.persist(|| async {
            let mut tx = self.store.begin_snapshot().await?;
            let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
                return Err(unknown_entity(entity_name).into());
            };
            let entity_id = entity_of(&mut tx, &thread, entity_name).await?;
            let versions =
                graph::observation_versions(&mut tx, &thread, entity_id, handle, VERSIONS_MAX).await?;
            match handle {
                Some(handle) if versions.is_empty() => Err(unknown_observation(handle, entity_name).into()),
                _ => Ok(versions),
            }
        })
        .await
    }
}

async fn observation(
    conn: &mut Conn,
    thread: &Thread,
    entity_id: i64,
    update: &ObservationUpdate,
) -> Result<Vec<ObservationVersion>, EngineError> {
    let max = usize::from(u16::MAX);
    Ok(graph::observation_versions(conn, thread, entity_id, Some(update.handle), max).await?)
}

async fn entity_of(conn: &mut Conn, thread: &Thread, name: &str) -> Result<i64, EngineError> {
    let known = graph::entity_ids(conn, thread, &[TextKey::of(name)]).await?;
    known.into_values().next().ok_or_else(|| unknown_entity(name).into())
}

pub(super) fn unknown_entity(name: &str) -> Invalid {
    Invalid::new(format!(
        "Entity with name {} not found. Names are case-sensitive; list_entities shows those of the thread.",
        cut(name, 200)
    ))
}

fn unknown_observation(handle: ObservationHandle, entity_name: &str) -> Invalid {
    Invalid::new(format!(
        "'{}' has no observation {handle}. get_observation_history without observationId shows all of them.",
        cut(entity_name, 100)
    ))
}
