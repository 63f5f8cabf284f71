//! Lists, ranges, figures and paths of a graph. Each answer is one snapshot of one thread.

use std::collections::{BTreeSet, HashMap, HashSet};

use futures::future::BoxFuture;
use memory_core::Invalid;
use memory_core::graph::{
    Cursor, GraphRelation, GraphScope, LIMIT_MAX, PAGE_ENTITIES, PageRequest, SealedCursor, TextKey,
    check_entity_type, check_query,
};
use memory_core::id::Namespace;
use memory_store::Conn;
use memory_store::graph::{
    self, ConnectedEntity, ImportantEntity, NamedEntity, Next, OrphanedEntity, Pattern, QueriedEntity,
    Ranges, RecentChange, StoredRelation, Thread,
};

use super::KnowledgeGraph;
use super::versions::unknown_entity;
use crate::EngineError;

/// Items in each list of the analytics.
const ANALYTICS_ITEMS: usize = 10;
/// Names shown at the other ends of a well-connected entity's relations.
const CONNECTED_NAMES: usize = 10;
/// The longest path that may be asked for.
pub const PATH_DEPTH_MAX: i64 = 20;
/// Entities with their observations in a list unless a limit is given.
const QUERIED_DEFAULT: usize = 50;
/// How many names without an entity are named where a path stops at them.
const NAMELESS_MAX: usize = 3;
/// A search for a path gives up after this many names.
const PATH_NAMES_MAX: usize = 100_000;

/// Entities and where the next page begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed<T> {
    pub entities: Vec<T>,
    pub next: Option<SealedCursor>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Analytics {
    pub recent_changes: Vec<RecentChange>,
    pub top_important: Vec<ImportantEntity>,
    pub most_connected: Vec<ConnectedEntity>,
    pub orphaned_entities: Vec<OrphanedEntity>,
}

/// A step along a relation, in its direction or against it.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub relation: GraphRelation,
    pub importance: f32,
    pub is_forward: bool,
}

/// What a search for a path found.
#[derive(Debug, Clone, PartialEq)]
pub enum RelationPath {
    Found(Vec<Step>),
    /// None within the depth; the search did not go on at these names, some of those that no entity has.
    NotFound(Vec<String>),
    /// None at any depth: these have no relation to another entity.
    Isolated(Vec<String>),
    /// Too many names lie within the depth to look at them all.
    GaveUp,
}

impl KnowledgeGraph {
    /// Names and types, of a type and with a part of the name where these are given.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn list_entities<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        entity_type: Option<&'a str>,
        name_part: Option<&'a str>,
        page: PageRequest,
    ) -> BoxFuture<'a, Result<Listed<NamedEntity>, EngineError>> {
        Box::pin(async move {
            self.refresh_from_file(ns, scope).await?;
            entity_type.map_or(Ok(()), check_entity_type)?;
            name_part.map_or(Ok(()), check_query)?;
            let pattern = name_part.map(Pattern::new);
            let (limit, chars) = (page.limit.unwrap_or(PAGE_ENTITIES), self.bounds(page.limit).chars);
            self.recovery
                .retry_transient(|| async {
                    let mut tx = self.store.begin_snapshot(ns).await?;
                    let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
                        return Ok(Listed { entities: Vec::new(), next: None });
                    };
                    let cursor = page.start(&thread.cursor_key)?;
                    let pattern = pattern.as_ref();
                    let (entities, has_more) = graph::list_entities(
                        &mut tx,
                        &thread,
                        entity_type,
                        pattern,
                        cursor.after,
                        limit,
                        chars,
                    )
                    .await?;
                    let last = entities.last().map(|entity| entity.id).filter(|_| has_more);
                    Ok(listed(&thread, entities, cursor, last))
                })
                .await
        })
    }

    /// Entities of which something is in all the ranges.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn query_nodes<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        ranges: &'a Ranges,
        page: PageRequest,
    ) -> BoxFuture<'a, Result<Listed<QueriedEntity>, EngineError>> {
        Box::pin(async move {
            check_ranges(ranges)?;
            self.refresh_from_file(ns, scope).await?;
            let (limit, chars) = (page.limit.unwrap_or(QUERIED_DEFAULT), self.bounds(page.limit).chars);
            self.recovery
                .retry_transient(|| async {
                    let mut tx = self.store.begin_snapshot(ns).await?;
                    let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
                        return Ok(Listed { entities: Vec::new(), next: None });
                    };
                    let cursor = page.start(&thread.cursor_key)?;
                    let (entities, has_more) =
                        graph::query_entities(&mut tx, &thread, ranges, cursor.after, limit, chars).await?;
                    let last = entities.last().map(|entity| entity.id).filter(|_| has_more);
                    Ok(listed(&thread, entities, cursor, last))
                })
                .await
        })
    }

    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn analytics<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
    ) -> BoxFuture<'a, Result<Analytics, EngineError>> {
        Box::pin(async move {
            self.refresh_from_file(ns, scope).await?;
            self.recovery
                .retry_transient(|| async {
                    let mut tx = self.store.begin_snapshot(ns).await?;
                    let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
                        return Ok(Analytics::default());
                    };
                    let n = ANALYTICS_ITEMS;
                    Ok(Analytics {
                        recent_changes: graph::recent_changes(&mut tx, &thread, n).await?,
                        top_important: graph::top_important(&mut tx, &thread, n).await?,
                        most_connected: graph::most_connected(&mut tx, &thread, n, CONNECTED_NAMES).await?,
                        orphaned_entities: graph::orphaned_entities(&mut tx, &thread, n).await?,
                    })
                })
                .await
        })
    }

    /// A shortest path of at most `depth` relations, each taken in its direction or against it; of several
    /// the one of the oldest relations.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn find_relation_path<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        from: &'a str,
        to: &'a str,
        depth: usize,
    ) -> BoxFuture<'a, Result<RelationPath, EngineError>> {
        Box::pin(async move {
            self.refresh_from_file(ns, scope).await?;
            self.recovery
                .retry_transient(|| async {
                    let mut tx = self.store.begin_snapshot(ns).await?;
                    let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
                        return Err(unknown_entity(from).into());
                    };
                    let (start, goal) = (TextKey::of(from), TextKey::of(to));
                    let known = graph::entity_ids(&mut tx, &thread, &[start, goal]).await?;
                    let id_of = |key, name| known.get(&key).copied().ok_or_else(|| unknown_entity(name));
                    let (start, goal) = (id_of(start, from)?, id_of(goal, to)?);
                    let path = shortest_path(&mut tx, &thread, start, goal, depth).await?;
                    if !matches!(path, RelationPath::NotFound(_)) {
                        return Ok(path);
                    }
                    let mut isolated = Vec::new();
                    for (id, name) in [(start, from), (goal, to)] {
                        let touching = graph::relations_touching(&mut tx, &thread, &[id], Next::ALL).await?;
                        // A relation to a name without an entity is known by that.
                        let leads_on = |r: &StoredRelation| r.from_id != r.to_id;
                        if !touching.iter().any(leads_on) {
                            isolated.push(name.to_owned());
                        }
                    }
                    Ok(if isolated.is_empty() { path } else { RelationPath::Isolated(isolated) })
                })
                .await
        })
    }
}

/// Checks the depth of a path that is asked for.
pub fn path_depth(depth: Option<i64>) -> Result<usize, Invalid> {
    let depth = depth.unwrap_or(5);
    usize::try_from(depth).ok().filter(|_| (1..=PATH_DEPTH_MAX).contains(&depth)).ok_or_else(|| {
        Invalid::new(format!("Invalid maxDepth {depth}. Use a whole number from 1 to {PATH_DEPTH_MAX}."))
    })
}

/// Checks how many items are asked for.
pub fn list_limit(limit: Option<i64>, default: usize) -> Result<usize, Invalid> {
    match limit {
        None => Ok(default),
        Some(n) => usize::try_from(n).ok().filter(|n| (1..=LIMIT_MAX).contains(n)).ok_or_else(|| {
            Invalid::new(format!("Invalid limit {n}. Use a whole number from 1 to {LIMIT_MAX}."))
        }),
    }
}

fn listed<T>(thread: &Thread, entities: Vec<T>, cursor: Cursor, last: Option<i64>) -> Listed<T> {
    let shown = cursor.shown.saturating_add(entities.len() as u64);
    let next = last.map(|after| Cursor { after, shown, part: None }.seal(&thread.cursor_key));
    Listed { entities, next }
}

/// A range that holds nothing is a mistake.
fn check_ranges(ranges: &Ranges) -> Result<(), Invalid> {
    ranges.entity_type.as_deref().map_or(Ok(()), check_entity_type)?;
    let swapped = |from: &str, low: String, to: &str, high: String| {
        Err(Invalid::new(format!("Invalid range: {from} {low} is above {to} {high}. Swap them.")))
    };
    if let (Some(from), Some(to)) = (ranges.created_from, ranges.created_to)
        && from > to
    {
        return swapped("createdFrom", from.to_string(), "createdTo", to.to_string());
    }
    for (what, low, high) in [
        ("Confidence", ranges.min_confidence, ranges.max_confidence),
        ("Importance", ranges.min_importance, ranges.max_importance),
    ] {
        if let (Some(low), Some(high)) = (low, high)
            && low > high
        {
            return swapped(&format!("min{what}"), low.to_string(), &format!("max{what}"), high.to_string());
        }
    }
    Ok(())
}

/// One side of a search from both ends: how each name was reached, and those reached last.
struct Side {
    reached: HashMap<i64, Option<(i64, StoredRelation)>>,
    border: Vec<i64>,
    /// Some of the names without an entity that it came to.
    nameless: BTreeSet<String>,
}

impl Side {
    fn new(at: i64) -> Self {
        Self { reached: HashMap::from([(at, None)]), border: vec![at], nameless: BTreeSet::new() }
    }

    /// Goes one relation further; gives the names that this reaches for the first time, in order.
    async fn grow(&mut self, conn: &mut Conn, thread: &Thread) -> Result<(), EngineError> {
        let relations = graph::relations_touching(conn, thread, &self.border, Next::ALL).await?;
        let border: HashSet<i64> = self.border.drain(..).collect();
        for relation in relations {
            let (Some(from), Some(to)) = (relation.from_id, relation.to_id) else {
                self.stop_at(&relation);
                continue;
            };
            for (near, far) in [(from, to), (to, from)] {
                if border.contains(&near) && !self.reached.contains_key(&far) {
                    self.reached.insert(far, Some((near, relation.clone())));
                    self.border.push(far);
                }
            }
        }
        Ok(())
    }

    fn stop_at(&mut self, relation: &StoredRelation) {
        let ends = [(relation.from_id, &relation.relation.from), (relation.to_id, &relation.relation.to)];
        for (_, name) in ends.into_iter().filter(|(id, _)| id.is_none()) {
            if self.nameless.len() < NAMELESS_MAX {
                self.nameless.insert(name.clone());
            }
        }
    }

    /// The relations from a name back to where the side began, with the nearer end of each.
    fn way_back(&self, from: i64) -> Vec<(i64, StoredRelation)> {
        let mut way = Vec::new();
        let mut at = from;
        while let Some(Some((near, relation))) = self.reached.get(&at) {
            way.push((*near, relation.clone()));
            at = *near;
        }
        way
    }
}

async fn shortest_path(
    conn: &mut Conn,
    thread: &Thread,
    start: i64,
    goal: i64,
    depth: usize,
) -> Result<RelationPath, EngineError> {
    if start == goal {
        return Ok(RelationPath::Found(Vec::new()));
    }
    let (mut ahead, mut behind) = (Side::new(start), Side::new(goal));
    for _ in 0..depth {
        let is_ahead = ahead.border.len() <= behind.border.len();
        let (side, other) = if is_ahead { (&mut ahead, &behind) } else { (&mut behind, &ahead) };
        side.grow(conn, thread).await?;
        if let Some(meeting) = side.border.iter().copied().find(|name| other.reached.contains_key(name)) {
            return Ok(RelationPath::Found(steps(&ahead, &behind, meeting)));
        }
        if side.border.is_empty() {
            break;
        }
        if ahead.reached.len() + behind.reached.len() > PATH_NAMES_MAX {
            return Ok(RelationPath::GaveUp);
        }
    }
    let nameless: BTreeSet<String> = ahead.nameless.into_iter().chain(behind.nameless).collect();
    Ok(RelationPath::NotFound(nameless.into_iter().take(NAMELESS_MAX).collect()))
}

fn steps(ahead: &Side, behind: &Side, meeting: i64) -> Vec<Step> {
    let step = |relation: StoredRelation, at: i64| Step {
        is_forward: relation.from_id == Some(at),
        importance: relation.importance,
        relation: relation.relation,
    };
    let mut steps: Vec<Step> =
        ahead.way_back(meeting).into_iter().rev().map(|(near, relation)| step(relation, near)).collect();
    let mut at = meeting;
    for (near, relation) in behind.way_back(meeting) {
        steps.push(step(relation, at));
        at = near;
    }
    steps
}
