//! Changes of the graph, each one transaction that holds its thread from its first statement on.
//!
//! Writers of one thread follow one another; those of different threads never wait. A change that turns out
//! to be none is rolled back.

use std::collections::{HashMap, HashSet};

use futures::future::BoxFuture;
use memory_core::authoring::MAX_SUGGESTED_FROM;
use memory_core::graph::{
    EntityObservations, GraphEntity, GraphRelation, GraphScope, RELATION_IMPORTANCE, TextKey, Weights,
    check_entities, check_length, check_observations, check_relations,
};
use memory_core::id::Namespace;
use memory_language::similarity::closest_names;
use memory_language::text::cut;
use memory_store::Conn;
use memory_store::graph::{self, NewEntity, NewObservation, NewRelation, Repeated, Thread};

use super::files::end_write;
use super::merge_lines::first_of_each;
use super::{Changed, KnowledgeGraph};
use crate::EngineError;

/// So many names are suggested for one that is not there.
const SUGGESTIONS: usize = 2;

impl KnowledgeGraph {
    /// Creates the entities whose names are new and gives them back. Of two with one name the first counts.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn create_entities<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        entities: Vec<GraphEntity>,
    ) -> BoxFuture<'a, Result<Changed<Vec<GraphEntity>>, EngineError>> {
        Box::pin(async move {
            check_entities(&entities)?;
            let entities = first_of_each(entities, |entity| TextKey::of(&entity.name));
            let guard = self.begin_write(ns, scope).await?;
            let changed =
                self.recovery.retry_transient(|| self.try_create_entities(ns, scope, &entities)).await;
            end_write(guard, changed).await
        })
    }

    async fn try_create_entities(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
        entities: &[(TextKey, GraphEntity)],
    ) -> Result<Changed<Vec<GraphEntity>>, EngineError> {
        if entities.is_empty() {
            return Ok(Changed::nothing(Vec::new()));
        }
        let weights = Weights::default();
        let rows: Vec<NewEntity<'_>> = entities
            .iter()
            .map(|(_, e)| NewEntity { name: &e.name, entity_type: &e.entity_type, weights, is_root: false })
            .collect();
        let mut tx = self.store.begin(ns).await?;
        let thread = graph::lock_thread(&mut tx, ns, scope).await?;
        let ids: HashMap<TextKey, i64> =
            graph::insert_entities(&mut tx, &thread, &rows).await?.into_iter().collect();
        if ids.is_empty() {
            return Ok(Changed::nothing(Vec::new()));
        }
        let created: Vec<(i64, &GraphEntity)> =
            entities.iter().filter_map(|(name, e)| Some((*ids.get(name)?, e))).collect();
        let observations: Vec<NewObservation<'_>> = created
            .iter()
            .flat_map(|(id, e)| e.observations.iter().map(|content| (*id, content)))
            .map(|(entity_id, content)| NewObservation { entity_id, content, weights })
            .collect();
        graph::insert_observations(&mut tx, &thread, &observations, Repeated::Kept).await?;
        let answer = created.into_iter().map(|(_, entity)| entity.clone()).collect();
        self.commit_change(tx, &thread, answer).await
    }

    /// Creates the relations that are new and gives them back. Their ends need not exist.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn create_relations<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        relations: Vec<GraphRelation>,
    ) -> BoxFuture<'a, Result<Changed<Vec<GraphRelation>>, EngineError>> {
        Box::pin(async move {
            check_relations(&relations)?;
            let relations = first_of_each(relations, TextKey::of_relation);
            let guard = self.begin_write(ns, scope).await?;
            let changed =
                self.recovery.retry_transient(|| self.try_create_relations(ns, scope, &relations)).await;
            end_write(guard, changed).await
        })
    }

    async fn try_create_relations(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
        relations: &[(TextKey, GraphRelation)],
    ) -> Result<Changed<Vec<GraphRelation>>, EngineError> {
        if relations.is_empty() {
            return Ok(Changed::nothing(Vec::new()));
        }
        let rows: Vec<NewRelation<'_>> = relations
            .iter()
            .map(|(_, relation)| NewRelation { relation, importance: RELATION_IMPORTANCE })
            .collect();
        let mut tx = self.store.begin(ns).await?;
        let thread = graph::lock_thread(&mut tx, ns, scope).await?;
        let new: HashSet<TextKey> =
            graph::insert_relations(&mut tx, &thread, &rows).await?.into_iter().collect();
        if new.is_empty() {
            return Ok(Changed::nothing(Vec::new()));
        }
        let created = relations.iter().filter(|(key, _)| new.contains(key));
        let answer = created.map(|(_, relation)| relation.clone()).collect();
        self.commit_change(tx, &thread, answer).await
    }

    /// Adds the observations that their entities do not have, and gives these back, one item for each given.
    /// An unknown entity refuses all of them.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn add_observations<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        additions: Vec<EntityObservations>,
        weights: Weights,
    ) -> BoxFuture<'a, Result<Changed<Vec<EntityObservations>>, EngineError>> {
        Box::pin(async move {
            check_observations(&additions)?;
            let guard = self.begin_write(ns, scope).await?;
            let changed = self
                .recovery
                .retry_transient(|| self.try_add_observations(ns, scope, &additions, weights))
                .await;
            end_write(guard, changed).await
        })
    }

    async fn try_add_observations(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
        additions: &[EntityObservations],
        weights: Weights,
    ) -> Result<Changed<Vec<EntityObservations>>, EngineError> {
        let names: Vec<TextKey> = additions.iter().map(|a| TextKey::of(&a.entity_name)).collect();
        let mut tx = self.store.begin(ns).await?;
        let thread = graph::lock_thread(&mut tx, ns, scope).await?;
        let known = graph::entity_ids(&mut tx, &thread, &names).await?;
        let mut given = HashSet::new();
        let mut rows = Vec::new();
        let mut per_addition = Vec::with_capacity(additions.len());
        for (addition, name) in additions.iter().zip(&names) {
            let Some(&entity_id) = known.get(name) else {
                return Err(unknown_entity(&mut tx, &thread, &addition.entity_name).await?);
            };
            let contents: Vec<(TextKey, &String)> = addition
                .contents
                .iter()
                .map(|content| (TextKey::of(content), content))
                .filter(|(key, _)| given.insert((entity_id, *key)))
                .collect();
            rows.extend(contents.iter().map(|(_, content)| NewObservation { entity_id, content, weights }));
            per_addition.push((addition, entity_id, contents));
        }
        let inserted = graph::insert_observations(&mut tx, &thread, &rows, Repeated::LeftOut).await?;
        let new: HashSet<(i64, TextKey)> = inserted.into_iter().map(|(id, key, _)| (id, key)).collect();
        let answer = per_addition
            .into_iter()
            .map(|(addition, entity_id, contents)| EntityObservations {
                entity_name: addition.entity_name.clone(),
                contents: contents
                    .into_iter()
                    .filter(|(key, _)| new.contains(&(entity_id, *key)))
                    .map(|(_, content)| content.clone())
                    .collect(),
            })
            .collect();
        if new.is_empty() {
            return Ok(Changed::nothing(answer));
        }
        self.commit_change(tx, &thread, answer).await
    }

    /// Deletes entities with their observations and every relation from or to one of the names.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn delete_entities<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        names: &'a [String],
    ) -> BoxFuture<'a, Result<Changed<()>, EngineError>> {
        Box::pin(async move {
            check_length("entityNames", names.len())?;
            let names: Vec<TextKey> = names.iter().map(|name| TextKey::of(name)).collect();
            let guard = self.begin_write(ns, scope).await?;
            let changed = self.recovery.retry_transient(|| async {
                let mut tx = self.store.begin(ns).await?;
                let thread = graph::lock_thread(&mut tx, ns, scope).await?;
                if graph::delete_entities(&mut tx, &thread, &names).await? == 0 {
                    return Ok(Changed::nothing(()));
                }
                self.commit_change(tx, &thread, ()).await
            });
            end_write(guard, changed.await).await
        })
    }

    /// Deletes observations by their text, each with all its versions.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn delete_observations<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        deletions: &'a [EntityObservations],
    ) -> BoxFuture<'a, Result<Changed<()>, EngineError>> {
        Box::pin(async move {
            check_length("deletions", deletions.len())?;
            for deletion in deletions {
                check_length("observations", deletion.contents.len())?;
            }
            let names: Vec<TextKey> = deletions.iter().map(|d| TextKey::of(&d.entity_name)).collect();
            let guard = self.begin_write(ns, scope).await?;
            let changed = self.recovery.retry_transient(|| async {
                let mut tx = self.store.begin(ns).await?;
                let thread = graph::lock_thread(&mut tx, ns, scope).await?;
                let known = graph::entity_ids(&mut tx, &thread, &names).await?;
                let doomed: Vec<(i64, TextKey)> = deletions
                    .iter()
                    .zip(&names)
                    .filter_map(|(deletion, name)| Some((*known.get(name)?, deletion)))
                    .flat_map(|(id, deletion)| deletion.contents.iter().map(move |c| (id, TextKey::of(c))))
                    .collect();
                if graph::delete_observations(&mut tx, &thread, &doomed).await? == 0 {
                    return Ok(Changed::nothing(()));
                }
                self.commit_change(tx, &thread, ()).await
            });
            end_write(guard, changed.await).await
        })
    }

    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn delete_relations<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        relations: &'a [GraphRelation],
    ) -> BoxFuture<'a, Result<Changed<()>, EngineError>> {
        Box::pin(async move {
            check_length("relations", relations.len())?;
            let keys: Vec<TextKey> = relations.iter().map(TextKey::of_relation).collect();
            let guard = self.begin_write(ns, scope).await?;
            let changed = self.recovery.retry_transient(|| async {
                let mut tx = self.store.begin(ns).await?;
                let thread = graph::lock_thread(&mut tx, ns, scope).await?;
                if graph::delete_relations(&mut tx, &thread, &keys).await? == 0 {
                    return Ok(Changed::nothing(()));
                }
                self.commit_change(tx, &thread, ()).await
            });
            end_write(guard, changed.await).await
        })
    }
}

/// That there is no such entity, with names of the graph that are like it.
async fn unknown_entity(conn: &mut Conn, thread: &Thread, name: &str) -> Result<EngineError, EngineError> {
    let names = graph::names_and_types(conn, thread, MAX_SUGGESTED_FROM).await?;
    let near = closest_names(name, names.iter().map(|(name, _)| name.as_str()), SUGGESTIONS);
    let near: Vec<String> = near.into_iter().map(|name| format!("'{}'", cut(name, 100))).collect();
    let hint = if near.is_empty() {
        "Nothing was added. Make it with create_entities first.".to_owned()
    } else {
        let near = near.join(" or ");
        format!("Nothing was added. Did you mean {near}? If not, make it with create_entities first.")
    };
    Ok(EngineError::UnknownEntity { name: cut(name, 200), hint })
}
