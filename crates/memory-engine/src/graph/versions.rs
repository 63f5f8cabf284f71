//! Observations change by new versions; the old ones stay to be read.

use futures::future::BoxFuture;
use memory_core::Invalid;
use memory_core::graph::{GraphScope, ObservationHandle, TextKey, Weights, check_update, share};
use memory_core::id::Namespace;
use memory_language::text::cut;
use memory_store::Conn;
use memory_store::graph::{self, ObservationVersion, Thread, VersionsPage};

use super::files::end_write;
use super::{Changed, KnowledgeGraph, list_limit};
use crate::EngineError;

/// How many versions a page of a history has unless a limit is given.
const VERSIONS_DEFAULT: usize = 200;
/// The largest number of versions that a page may begin after.
const OFFSET_MAX: usize = 1_000_000_000;

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

impl KnowledgeGraph {
    /// Supersedes the latest version of an observation and gives the new one. The same text and weights
    /// again change nothing.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn update_observation<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        update: &'a ObservationUpdate,
    ) -> BoxFuture<'a, Result<Changed<ObservationVersion>, EngineError>> {
        Box::pin(async move {
            check_update(&update.entity_name, &update.content)?;
            let confidence = share("confidence", update.confidence)?;
            let importance = share("importance", update.importance)?;
            let guard = self.begin_write(ns, scope).await?;
            let changed = self.recovery.retry_transient(|| async {
            let mut tx = self.store.begin(ns).await?;
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
                graph::observation_versions(&mut tx, &thread, entity_id, None, VersionsPage::LONGEST).await?.0;
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
            let new = graph::observation_versions(&mut tx, &thread, entity_id, Some(handle), VersionsPage::LONGEST)
                .await?
                .0
                .into_iter()
                .find(|version| version.handle == handle);
            let answer = new.ok_or_else(|| unknown_observation(handle, &update.entity_name))?;
            self.commit_change(tx, &thread, answer).await
        });
            end_write(guard, changed.await).await
        })
    }

    /// The versions of an observation, the first one first; of all the entity's observations without a handle.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn observation_history<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        entity_name: &'a str,
        handle: Option<ObservationHandle>,
        asked: HistoryRequest,
    ) -> BoxFuture<'a, Result<History, EngineError>> {
        Box::pin(async move {
            self.refresh_from_file(ns, scope).await?;
            let page = VersionsPage {
                offset: asked.offset,
                limit: asked.limit.unwrap_or(VERSIONS_DEFAULT),
                chars_max: self.bounds(asked.limit).chars,
            };
            self.recovery
                .retry_transient(|| async {
                    let mut tx = self.store.begin_snapshot(ns).await?;
                    let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
                        return Err(unknown_entity(entity_name).into());
                    };
                    let entity_id = entity_of(&mut tx, &thread, entity_name).await?;
                    let (versions, has_more) =
                        graph::observation_versions(&mut tx, &thread, entity_id, handle, page).await?;
                    match handle {
                        Some(handle) if versions.is_empty() && page.offset == 0 => {
                            Err(unknown_observation(handle, entity_name).into())
                        }
                        _ => Ok(History {
                            next_cursor: has_more
                                .then(|| format!("{CURSOR}{}", page.offset + versions.len())),
                            versions,
                        }),
                    }
                })
                .await
        })
    }
}

/// What a cursor of a history begins with; how many versions come before follows.
const CURSOR: &str = "after:";

/// Which part of a history is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HistoryRequest {
    offset: usize,
    limit: Option<usize>,
}

impl HistoryRequest {
    pub fn new(limit: Option<i64>, cursor: Option<&str>) -> Result<Self, Invalid> {
        let limit = limit.map(|limit| list_limit(Some(limit), VERSIONS_DEFAULT)).transpose()?;
        let offset = match cursor.map(str::trim).filter(|cursor| !cursor.is_empty()) {
            None => 0,
            Some(text) => {
                let offset = text.strip_prefix(CURSOR).and_then(|n| n.parse().ok());
                offset.filter(|n| *n <= OFFSET_MAX).ok_or_else(|| {
                    Invalid::new(format!(
                        "Invalid cursor '{}'. Pass the next_cursor of the page before, or leave it out for the first page.",
                        cut(text, 60)
                    ))
                })?
            }
        };
        Ok(Self { offset, limit })
    }
}

/// Versions of observations, and where the next page begins.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    pub versions: Vec<ObservationVersion>,
    pub next_cursor: Option<String>,
}

async fn observation(
    conn: &mut Conn,
    thread: &Thread,
    entity_id: i64,
    update: &ObservationUpdate,
) -> Result<Vec<ObservationVersion>, EngineError> {
    let longest = VersionsPage::LONGEST;
    Ok(graph::observation_versions(conn, thread, entity_id, Some(update.handle), longest).await?.0)
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
