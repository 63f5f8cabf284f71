//! Reading the graph: whole, page by page, by search, by name. Each answer is one state of the graph.
//!
//! A page is entities in the order in which they were made, with relations. Over all pages every relation
//! comes once: with the later of its ends that the pages show.

use std::collections::{HashMap, HashSet};

use futures::future::BoxFuture;
use memory_core::graph::{
    Bounds, Cursor, CursorKey, GraphEntity, GraphRelation, GraphScope, LIMIT_MAX, PAGE_ENTITIES, PageRequest,
    Part, SealedCursor, TextKey, check_length, check_query,
};
use memory_core::id::Namespace;
use memory_store::graph::{self, Next, Pattern, Portion, StoredEntity, StoredRelation, Thread};
use memory_store::{Conn, StoreError};

use super::KnowledgeGraph;
use crate::EngineError;

/// A search looks at this many entities one by one before it decides how to go on, …
const WINDOW_FIRST: usize = 128;
/// … and at no more than this many before it decides again.
const WINDOW_MAX: usize = 4_096;
/// What a search by the trigram indexes costs at least, and what each match adds, where looking at an entity
/// costs 1; measured.
const TRIGRAM_COST: f64 = 1_000.0;
const TRIGRAM_COST_OF_MATCH: f64 = 1.5;

/// Part of a graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphPage {
    pub entities: Vec<PageEntity>,
    pub relations: Vec<GraphRelation>,
    /// Set when there is more.
    pub more: Option<More>,
    /// What else there is to say, of a graph that is kept in a file.
    pub warning: Option<String>,
}

/// An entity, its observations as far as the detail shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageEntity {
    pub entity: GraphEntity,
    /// Of all its observations; 0 where only names were asked for.
    pub observation_count: usize,
    /// It is larger than a page: some of its observations, or the end of its only one, are not shown.
    pub is_cut: bool,
}

/// What a page shows of how much, and where the next begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct More {
    pub cursor: SealedCursor,
    /// The numbers of the first and the last entity shown, from 1; the last is before the first where none is.
    pub first: u64,
    pub last: u64,
    /// The next page begins with more relations of the entities so far.
    pub has_more_relations: bool,
    /// How many there are, where that is known.
    pub total: Option<u64>,
}

/// All of a graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WholeGraph {
    /// 0 when nothing was ever written.
    pub version: i64,
    pub entities: Vec<GraphEntity>,
    pub relations: Vec<GraphRelation>,
}

impl KnowledgeGraph {
    /// The whole graph, however large it is.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn read_whole<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
    ) -> BoxFuture<'a, Result<WholeGraph, EngineError>> {
        Box::pin(async move {
            self.refresh_from_file(ns, scope).await?;
            self.recovery
                .retry_transient(|| async {
                    let mut tx = self.store.begin_snapshot(ns).await?;
                    let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
                        return Ok(WholeGraph::default());
                    };
                    Ok(whole(&mut tx, &thread).await?)
                })
                .await
        })
    }

    /// The same unless it is certainly larger than this as JSON: `None` then.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn read_whole_within<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        json_bytes_max: u64,
    ) -> BoxFuture<'a, Result<Option<WholeGraph>, EngineError>> {
        Box::pin(async move {
            self.refresh_from_file(ns, scope).await?;
            self.recovery
                .retry_transient(|| async {
                    let mut tx = self.store.begin_snapshot(ns).await?;
                    let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
                        return Ok(Some(WholeGraph::default()));
                    };
                    if graph::is_larger_than(&mut tx, &thread, json_bytes_max).await? {
                        return Ok(None);
                    }
                    Ok(Some(whole(&mut tx, &thread).await?))
                })
                .await
        })
    }

    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn read_graph<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        page: PageRequest,
    ) -> BoxFuture<'a, Result<GraphPage, EngineError>> {
        Box::pin(async move {
            let warning = self.refresh_with_notice(ns, scope).await?;
            let page = self.recovery.retry_transient(|| async {
                let mut tx = self.store.begin_snapshot(ns).await?;
                match graph::find_thread(&mut tx, ns, scope).await? {
                    Some(thread) => self.page(&mut tx, &thread, Sought::All, page).await,
                    None => Ok(GraphPage::default()),
                }
            });
            Ok(GraphPage { warning, ..page.await? })
        })
    }

    /// The entities whose name, type or observations contain the query, in upper or lower case, and the
    /// relations from and to them. An empty query finds all.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn search_nodes<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        query: &'a str,
        page: PageRequest,
    ) -> BoxFuture<'a, Result<GraphPage, EngineError>> {
        Box::pin(async move {
            check_query(query)?;
            let pattern = Pattern::new(query);
            let warning = self.refresh_with_notice(ns, scope).await?;
            let page = self.recovery.retry_transient(|| async {
                let mut tx = self.store.begin_snapshot(ns).await?;
                match graph::find_thread(&mut tx, ns, scope).await? {
                    Some(thread) => self.page(&mut tx, &thread, Sought::Meeting(&pattern), page).await,
                    None => Ok(GraphPage::default()),
                }
            });
            Ok(GraphPage { warning, ..page.await? })
        })
    }

    /// The entities of exactly these names, and the relations from and to them.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn open_nodes<'a>(
        &'a self,
        ns: &'a Namespace,
        scope: &'a GraphScope,
        names: &'a [String],
        page: PageRequest,
    ) -> BoxFuture<'a, Result<GraphPage, EngineError>> {
        Box::pin(async move {
            check_length("names", names.len())?;
            let names: Vec<TextKey> = names.iter().map(|name| TextKey::of(name)).collect();
            let warning = self.refresh_with_notice(ns, scope).await?;
            let page = self.recovery.retry_transient(|| async {
                let mut tx = self.store.begin_snapshot(ns).await?;
                let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
                    return Ok(GraphPage::default());
                };
                let mut ids: Vec<i64> =
                    graph::entity_ids(&mut tx, &thread, &names).await?.into_values().collect();
                ids.sort_unstable();
                self.page(&mut tx, &thread, Sought::Listed(&ids), page).await
            });
            Ok(GraphPage { warning, ..page.await? })
        })
    }

    /// What a page may hold.
    pub(super) fn bounds(&self, limit: Option<usize>) -> Bounds {
        PageRequest { limit, ..PageRequest::default() }.bounds(self.settings.graph_page_chars)
    }

    async fn page(
        &self,
        conn: &mut Conn,
        thread: &Thread,
        sought: Sought<'_>,
        request: PageRequest,
    ) -> Result<GraphPage, EngineError> {
        let cursor = request.start(&thread.cursor_key)?;
        let bounds = self.bounds(request.limit);
        let draft = match cursor.part {
            Some(part) => rest_of_relations(conn, thread, sought, cursor, part, bounds).await?,
            None => first_part(conn, thread, sought, cursor, request, bounds).await?,
        };
        let mut page = draft.finish(cursor, bounds, &thread.cursor_key);
        if let (Sought::All, Some(more)) = (sought, &mut page.more) {
            more.total = Some(thread.entities.unsigned_abs());
        }
        Ok(page)
    }
}

/// Which entities are looked for.
#[derive(Clone, Copy)]
enum Sought<'a> {
    All,
    Meeting(&'a Pattern),
    /// In order.
    Listed(&'a [i64]),
}

impl Sought<'_> {
    /// The next `limit` of them after one.
    async fn after(
        self,
        conn: &mut Conn,
        thread: &Thread,
        after: i64,
        limit: usize,
    ) -> Result<Vec<i64>, EngineError> {
        match self {
            Self::All => Ok(graph::ids_after(conn, thread, after, limit).await?),
            Self::Meeting(pattern) => find(conn, thread, pattern, after, limit).await,
            Self::Listed(ids) => Ok(ids.iter().copied().filter(|id| *id > after).take(limit).collect()),
        }
    }

    /// Which of these are among them.
    async fn among(self, conn: &mut Conn, thread: &Thread, ids: &[i64]) -> Result<HashSet<i64>, EngineError> {
        Ok(match self {
            Self::All => ids.iter().copied().collect(),
            Self::Meeting(pattern) => {
                graph::matching_among(conn, thread, pattern, ids).await?.into_iter().collect()
            }
            Self::Listed(listed) => {
                ids.iter().copied().filter(|id| listed.binary_search(id).is_ok()).collect()
            }
        })
    }
}

async fn whole(conn: &mut Conn, thread: &Thread) -> Result<WholeGraph, StoreError> {
    let entities = graph::all_entities(conn, thread).await?;
    let relations = graph::all_relations(conn, thread).await?;
    Ok(WholeGraph { version: thread.version, entities, relations })
}

impl From<StoredEntity> for PageEntity {
    fn from(stored: StoredEntity) -> Self {
        Self {
            observation_count: stored.observation_count,
            is_cut: stored.is_cut || stored.entity.observations.len() < stored.observation_count,
            entity: stored.entity,
        }
    }
}

/// A page's entities with the first of their relations.
async fn first_part(
    conn: &mut Conn,
    thread: &Thread,
    sought: Sought<'_>,
    cursor: Cursor,
    request: PageRequest,
    bounds: Bounds,
) -> Result<Draft, EngineError> {
    let max = request.limit.unwrap_or(PAGE_ENTITIES);
    let mut ids = sought.after(conn, thread, cursor.after, max + 1).await?;
    let mut draft = Draft { has_more: ids.len() > max, ..Draft::default() };
    ids.truncate(max);
    let preferred = match sought {
        Sought::Meeting(pattern) => Some(pattern),
        Sought::All | Sought::Listed(_) => None,
    };
    let portion = Portion { detail: request.detail, bounds, preferred };
    draft.take(graph::entities(conn, thread, &ids, portion, bounds.chars).await?, ids.len());
    let shown: Vec<i64> = draft.entities.iter().map(|entity| entity.id).collect();
    draft.through = shown.last().copied().unwrap_or(cursor.after);
    draft.bring(conn, thread, sought, &shown, cursor.after, next_relations(0, bounds)).await?;
    draft.fit(bounds.chars);
    Ok(draft)
}

/// What the page before had no room for.
async fn rest_of_relations(
    conn: &mut Conn,
    thread: &Thread,
    sought: Sought<'_>,
    cursor: Cursor,
    part: Part,
    bounds: Bounds,
) -> Result<Draft, EngineError> {
    let has_more = !sought.after(conn, thread, part.through, 1).await?.is_empty();
    let mut draft = Draft { has_more, through: part.through, ..Draft::default() };
    let shown = match sought {
        Sought::All => Vec::new(),
        _ => {
            let mut shown = sought.after(conn, thread, cursor.after, LIMIT_MAX).await?;
            shown.retain(|id| *id <= part.through);
            shown
        }
    };
    draft.bring(conn, thread, sought, &shown, cursor.after, next_relations(part.relation, bounds)).await?;
    Ok(draft)
}

/// One more than a page may have shows that there are more.
fn next_relations(after: i64, bounds: Bounds) -> Next {
    Next { after, limit: bounds.items + 1 }
}

/// The next `limit` entities that match. It walks the thread in order; where the matches so far are so few
/// that finding all of them by the trigram indexes will be less work, it does that.
async fn find(
    conn: &mut Conn,
    thread: &Thread,
    pattern: &Pattern,
    mut after: i64,
    limit: usize,
) -> Result<Vec<i64>, EngineError> {
    let mut found = Vec::new();
    let mut walked = 0;
    let mut window = WINDOW_FIRST;
    loop {
        let step = graph::walk(conn, thread, pattern, after, window).await?;
        walked += step.entities;
        found.extend(step.matching);
        let Some(last) = step.last.filter(|_| step.entities == window && found.len() < limit) else { break };
        after = last;
        let missing = limit - found.len();
        let share = (found.len() as f64 + 0.5) / walked as f64;
        let all = thread.entities as f64;
        let to_walk = (missing as f64 / share).min(all);
        let by_trigrams = TRIGRAM_COST + TRIGRAM_COST_OF_MATCH * share * all;
        if pattern.has_trigram() && by_trigrams < to_walk {
            found.extend(graph::by_trigrams(conn, thread, pattern, after, missing).await?);
            break;
        }
        window = (to_walk * 1.2).clamp(WINDOW_FIRST as f64, WINDOW_MAX as f64) as usize;
    }
    found.truncate(limit);
    Ok(found)
}

/// A page in the making.
#[derive(Default)]
struct Draft {
    entities: Vec<StoredEntity>,
    /// The last entity of the page, or of the one whose relations go on.
    through: i64,
    /// In order, each with the number of the entity that it comes with; without, it comes at the end of all.
    relations: Vec<(Option<usize>, StoredRelation)>,
    /// Up to here all relations are known; `None`: all there are.
    known_to: Option<i64>,
    /// There are more entities.
    has_more: bool,
}

impl Draft {
    /// Takes what was read of `wanted` entities.
    fn take(&mut self, entities: Vec<StoredEntity>, wanted: usize) {
        self.has_more |= entities.len() < wanted;
        self.entities = entities;
    }

    /// Takes the next relations of the entities after one and up to the page's last, which of a search are `shown`.
    async fn bring(
        &mut self,
        conn: &mut Conn,
        thread: &Thread,
        sought: Sought<'_>,
        shown: &[i64],
        after: i64,
        next: Next,
    ) -> Result<(), EngineError> {
        let mut relations = match sought {
            Sought::All => {
                let within = graph::relations_within(conn, thread, after, self.through, next).await?;
                let mut relations = self.note(within, next);
                if !self.has_more {
                    let dangling = graph::relations_dangling(conn, thread, next).await?;
                    relations.extend(self.note(dangling, next));
                }
                relations
            }
            _ => {
                let touching = graph::relations_touching(conn, thread, shown, next).await?;
                let mut relations = self.note(touching, next);
                self.leave_to_later_pages(conn, thread, sought, &mut relations).await?;
                relations
            }
        };
        if let Some(known_to) = self.known_to {
            relations.retain(|stored| stored.id <= known_to);
        }
        relations.sort_by_key(|stored| stored.id);
        let numbers: HashMap<i64, usize> =
            self.entities.iter().enumerate().map(|(n, entity)| (entity.id, n)).collect();
        let number_of = |end: Option<i64>| numbers.get(&end?).copied();
        let number = |stored: &StoredRelation| match sought {
            // What dangles comes last of all.
            Sought::All if stored.from_id.is_none() || stored.to_id.is_none() => None,
            _ => number_of(stored.from_id).max(number_of(stored.to_id)),
        };
        self.relations = relations.into_iter().map(|stored| (number(&stored), stored)).collect();
        Ok(())
    }

    /// Where there are more than were read, what comes after the last of them is not known.
    fn note(&mut self, mut read: Vec<StoredRelation>, next: Next) -> Vec<StoredRelation> {
        if read.len() >= next.limit {
            read.truncate(next.limit - 1);
            let last = read.last().map_or(next.after, |stored| stored.id);
            self.known_to = Some(self.known_to.map_or(last, |known_to| known_to.min(last)));
        }
        read
    }

    /// A relation to a match that a later page shows comes with that page.
    async fn leave_to_later_pages(
        &self,
        conn: &mut Conn,
        thread: &Thread,
        sought: Sought<'_>,
        relations: &mut Vec<StoredRelation>,
    ) -> Result<(), EngineError> {
        if !self.has_more {
            return Ok(());
        }
        let ends = |stored: &StoredRelation| [stored.from_id, stored.to_id].into_iter().flatten();
        let beyond: HashSet<i64> = relations.iter().flat_map(ends).filter(|id| *id > self.through).collect();
        let beyond: Vec<i64> = beyond.into_iter().collect();
        let later = sought.among(conn, thread, &beyond).await?;
        relations.retain(|stored| ends(stored).all(|id| !later.contains(&id)));
        Ok(())
    }

    /// Ends the page with the entity that, with its relations, passes `chars_max`.
    fn fit(&mut self, chars_max: usize) {
        let mut chars: Vec<usize> = self.entities.iter().map(|entity| entity.chars).collect();
        for (number, stored) in &self.relations {
            if let Some(of_entity) = number.and_then(|n| chars.get_mut(n)) {
                *of_entity += chars_of(&stored.relation);
            }
        }
        let before = chars.iter().scan(0_usize, |sum, chars| {
            let before = *sum;
            *sum = sum.saturating_add(*chars);
            Some(before)
        });
        let fitting = before.take_while(|before| *before < chars_max).count();
        if fitting < self.entities.len() {
            self.entities.truncate(fitting);
            self.relations.retain(|(number, _)| number.is_some_and(|n| n < fitting));
            self.has_more = true;
            self.through = self.entities.last().map_or(self.through, |entity| entity.id);
        }
    }

    /// Leaves out relations that are too many; gives the last one that the next page need not bring.
    fn cut_relations(&mut self, bounds: Bounds) -> Option<i64> {
        // The last entity of a page may pass its characters, its relations with it.
        let chars_max = bounds.chars.saturating_add(bounds.chars / 2);
        let mut chars = 0_usize;
        let fitting = self.relations.iter().take_while(|(_, stored)| {
            let has_room = chars < chars_max;
            chars = chars.saturating_add(chars_of(&stored.relation));
            has_room
        });
        let fitting = fitting.take(bounds.items).count();
        if fitting < self.relations.len() {
            self.relations.truncate(fitting);
            return self.relations.last().map(|(_, stored)| stored.id);
        }
        self.known_to
    }

    fn finish(mut self, cursor: Cursor, bounds: Bounds, key: &CursorKey) -> GraphPage {
        let cut_at = self.cut_relations(bounds);
        let shown = cursor.shown.saturating_add(self.entities.len() as u64);
        let next = match cut_at {
            Some(relation) => Some(Cursor {
                after: cursor.after,
                shown,
                part: Some(Part { through: self.through, relation }),
            }),
            None => self.has_more.then_some(Cursor { after: self.through, shown, part: None }),
        };
        let more = next.map(|next| More {
            cursor: next.seal(key),
            first: cursor.shown.saturating_add(1),
            last: shown,
            has_more_relations: next.part.is_some(),
            total: None,
        });
        GraphPage {
            entities: self.entities.into_iter().map(PageEntity::from).collect(),
            relations: self.relations.into_iter().map(|(_, stored)| stored.relation).collect(),
            more,
            warning: None,
        }
    }
}

fn chars_of(relation: &GraphRelation) -> usize {
    [&relation.from, &relation.to, &relation.relation_type].iter().map(|text| text.chars().count()).sum()
}
