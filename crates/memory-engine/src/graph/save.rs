//! Writing entities with their observations and relations in one call, held against the rules: all or nothing.

use std::collections::HashMap;

use futures::future::BoxFuture;
use memory_core::authoring::{
    AuthoredEntity, Checked, EntityDraft, KnownEntity, MAX_SUGGESTED_FROM, ThreadNames, check, lookups,
};
use memory_core::graph::{GraphRelation, GraphScope, TextKey, Weights, entity_id};
use memory_core::id::Namespace;
use memory_language::similarity::{MergeCandidate, similar_names};
use memory_store::Conn;
use memory_store::graph::{self, NewEntity, NewObservation, NewRelation, Repeated, Reweighed, Thread};

use super::files::end_write;
use super::{Changed, KnowledgeGraph};
use crate::EngineError;
use crate::error::on_own_thread;

/// The most names that are compared with each other.
const COMPARED_NAMES_MAX: usize = 100_000;

/// What was checked and, if all was valid, stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Saved {
    pub checked: Checked,
    /// How many were not there before.
    pub new_entities: usize,
    pub new_relations: usize,
    /// The ids of all entities of the request by name, and by name as it was sent where that is another.
    pub ids: Vec<(String, String)>,
}

/// Pairs of names that probably mean the same.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Merges {
    pub candidates: Vec<MergeCandidate>,
    /// The thread has more names than were compared.
    pub is_cut: bool,
}

impl KnowledgeGraph {
    /// Stores the entities with their observations and relations if everything about them is valid, else
    /// nothing. What an entity has already is kept; what is new is appended.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn save_memory<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        drafts: &'a [EntityDraft],
    ) -> BoxFuture<'a, Result<Changed<Saved>, EngineError>> {
        Box::pin(async move {
            let guard = self.begin_write(ns, scope).await?;
            let changed = self.recovery.retry_transient(|| async {
                let mut tx = self.store.begin(ns).await?;
                let thread = graph::lock_thread(&mut tx, ns, scope).await?;
                let known = self.known(&mut tx, &thread, drafts).await?;
                let checked = check(drafts, &known, &self.settings.authoring);
                if !checked.is_valid() {
                    return Ok(Changed::nothing(Saved { checked, ..Saved::default() }));
                }
                let (new_entities, new_relations, has_changed) =
                    store(&mut tx, &thread, &checked.authored).await?;
                let thread_name = scope.thread_name();
                let id = |name: &str| entity_id(&thread_name, name.trim());
                let stored = checked.authored.iter().map(|entity| (entity.name.clone(), id(&entity.name)));
                // A caller that sent a name with spaces at its ends looks for it as it was sent.
                let sent = drafts.iter().filter(|draft| draft.name != draft.name.trim());
                let ids = stored.chain(sent.map(|draft| (draft.name.clone(), id(&draft.name)))).collect();
                let answer = Saved { checked, new_entities, new_relations, ids };
                if !has_changed {
                    return Ok(Changed::nothing(answer));
                }
                self.commit_change(tx, &thread, answer).await
            });
            end_write(guard, changed.await).await
        })
    }

    /// What [`save_memory`](Self::save_memory) would say; nothing is written.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn validate_memory<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        drafts: &'a [EntityDraft],
    ) -> BoxFuture<'a, Result<Checked, EngineError>> {
        Box::pin(async move {
            self.refresh_from_file(ns, scope).await?;
            self.recovery
                .retry_transient(|| async {
                    let mut tx = self.store.begin_snapshot(ns).await?;
                    let known = match graph::find_thread(&mut tx, ns, scope).await? {
                        Some(thread) => self.known(&mut tx, &thread, drafts).await?,
                        None => ThreadNames::default(),
                    };
                    Ok(check(drafts, &known, &self.settings.authoring))
                })
                .await
        })
    }

    /// Pairs of the thread's names that probably mean the same, likeliest first.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn suggest_merges<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        limit: usize,
    ) -> BoxFuture<'a, Result<Merges, EngineError>> {
        Box::pin(async move {
            self.refresh_from_file(ns, scope).await?;
            let mut names = self
                .recovery
                .retry_transient(|| async {
                    let mut tx = self.store.begin_snapshot(ns).await?;
                    match graph::find_thread(&mut tx, ns, scope).await? {
                        Some(thread) => {
                            Ok(graph::names_and_types(&mut tx, &thread, COMPARED_NAMES_MAX + 1).await?)
                        }
                        None => Ok(Vec::new()),
                    }
                })
                .await?;
            let is_cut = names.len() > COMPARED_NAMES_MAX;
            names.truncate(COMPARED_NAMES_MAX);
            // Many names take seconds; other calls go on meanwhile.
            let candidates = on_own_thread(move || similar_names(&names, limit)).await?;
            Ok(Merges { candidates, is_cut })
        })
    }

    /// What the thread has of the names in the request, and names to suggest where one is missing.
    async fn known(
        &self,
        conn: &mut Conn,
        thread: &Thread,
        drafts: &[EntityDraft],
    ) -> Result<ThreadNames, EngineError> {
        let wanted = lookups(drafts, &self.settings.authoring);
        let found = graph::entities_named(conn, thread, &wanted).await?;
        let all_are_there = {
            let sent: std::collections::HashSet<&str> = drafts.iter().map(|d| d.name.trim()).collect();
            let there: std::collections::HashSet<&str> = found.iter().map(|f| f.name.as_str()).collect();
            wanted.iter().all(|name| sent.contains(name.as_str()) || there.contains(name.as_str()))
        };
        let known = ThreadNames::new(found.into_iter().map(|entity| {
            let known = KnownEntity {
                entity_type: entity.entity_type,
                has_relation: entity.has_relation,
                is_root: entity.is_root,
            };
            (entity.name, known)
        }));
        if all_are_there {
            return Ok(known);
        }
        let names = graph::names_and_types(conn, thread, MAX_SUGGESTED_FROM).await?;
        Ok(known.with_names(names.into_iter().map(|(name, _)| name)))
    }
}

/// Gives how many entities and relations are new, and whether anything has changed at all.
async fn store(
    tx: &mut memory_store::Tx,
    thread: &Thread,
    entities: &[AuthoredEntity],
) -> Result<(usize, usize, bool), EngineError> {
    let weights = |entity: &AuthoredEntity| Weights {
        confidence: entity.confidence as f32,
        importance: entity.importance as f32,
    };
    let new: Vec<NewEntity<'_>> = entities
        .iter()
        .filter(|entity| entity.is_new)
        .map(|entity| NewEntity {
            name: &entity.name,
            entity_type: &entity.entity_type,
            weights: weights(entity),
            is_root: entity.is_root,
        })
        .collect();
    let new_entities = graph::insert_entities(tx, thread, &new).await?.len();
    let names: Vec<TextKey> = entities.iter().map(|entity| TextKey::of(&entity.name)).collect();
    let ids: HashMap<TextKey, i64> = graph::entity_ids(tx, thread, &names).await?;
    let stored = || entities.iter().zip(&names).filter_map(|(entity, name)| Some((entity, *ids.get(name)?)));
    let reweighed: Vec<Reweighed> = stored()
        .filter(|(entity, _)| !entity.is_new)
        .map(|(entity, entity_id)| Reweighed {
            entity_id,
            confidence: entity.confidence_given.then_some(entity.confidence as f32),
            importance: entity.importance_given.then_some(entity.importance as f32),
            becomes_root: entity.is_root,
        })
        .collect();
    let different = graph::reweigh_entities(tx, thread, &reweighed).await?;
    let observations: Vec<NewObservation<'_>> = stored()
        .flat_map(|(entity, entity_id)| {
            entity.observations.iter().map(move |content| NewObservation {
                entity_id,
                content,
                weights: weights(entity),
            })
        })
        .collect();
    let added = graph::insert_observations(tx, thread, &observations, Repeated::LeftOut).await?;
    let relations: Vec<(GraphRelation, f32)> = entities
        .iter()
        .flat_map(|entity| {
            entity.relations.iter().map(|relation| {
                let edge = GraphRelation {
                    from: entity.name.clone(),
                    to: relation.target.clone(),
                    relation_type: relation.relation_type.clone(),
                };
                (edge, relation.importance as f32)
            })
        })
        .collect();
    let said = entities.iter().flat_map(|entity| &entity.relations).map(|relation| relation.importance_given);
    let reweighed: Vec<(TextKey, f32)> = relations
        .iter()
        .zip(said)
        .filter(|(_, is_said)| *is_said)
        .map(|((relation, importance), _)| (TextKey::of_relation(relation), *importance))
        .collect();
    let rows: Vec<NewRelation<'_>> = relations
        .iter()
        .map(|(relation, importance)| NewRelation { relation, importance: *importance })
        .collect();
    let new_relations = graph::insert_relations(tx, thread, &rows).await?.len();
    // The new ones have theirs already.
    let different = different + graph::reweigh_relations(tx, thread, &reweighed).await?;
    let has_changed = new_entities + new_relations + added.len() > 0 || different > 0;
    Ok((new_entities, new_relations, has_changed))
}
