//! Reading the graph: whole, page by page, by search, by name. Each answer is one state of the graph.
//!
//! A page is entities in the order in which they were made, with relations. Over all pages every relation
//! comes once: with the later of its ends that the pages show.

use std::collections::{HashMap, HashSet};

use memory_core::Invalid;
use memory_core::graph::{
    Cursor, Detail, GraphEntity, GraphRelation, GraphScope, LIMITED_PAGE_CHARS, PageRequest, TextKey,
    check_length, check_query, grouped,
};
use memory_core::id::Namespace;
use memory_store::graph::{self, Pattern, StoredEntity, StoredRelation, Thread};
use memory_store::{Conn, StoreError};

use crate::{EngineError, Memory};

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
}

/// What a page shows of how much, and where the next begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct More {
    pub cursor: Cursor,
    /// The numbers of the first and the last entity shown, from 1.
    pub first: u64,
    pub last: u64,
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

impl Memory {
    /// A graph in one piece, however large it is.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub async fn whole_graph(&self, ns: &Namespace, scope: &GraphScope) -> Result<WholeGraph, EngineError> {
        self.take_in_file(ns, scope).await?;
        self.persist(|| async {
            let mut tx = self.store.begin_snapshot().await?;
            let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
                return Ok(WholeGraph::default());
            };
            Ok(read_whole(&mut tx, &thread).await?)
        })
        .await
    }

    /// The same unless it is certainly larger than this as JSON: `None` then.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub async fn whole_graph_within(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
        json_bytes_max: u64,
    ) -> Result<Option<WholeGraph>, EngineError> {
        self.take_in_file(ns, scope).await?;
        self.persist(|| async {
            let mut tx = self.store.begin_snapshot().await?;
            let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
                return Ok(Some(WholeGraph::default()));
            };
            if graph::is_larger_than(&mut tx, &thread, json_bytes_max).await? {
                return Ok(None);
            }
            Ok(Some(read_whole(&mut tx, &thread).await?))
        })
        .await
    }

    #[tracing::instrument(skip_all, fields(%ns))]
    pub async fn read_graph(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
        page: PageRequest,
    ) -> Result<GraphPage, EngineError> {
        let warning = self.in_step(ns, scope).await?;
        let page = self.persist(|| async {
            let mut tx = self.store.begin_snapshot().await?;
            match graph::find_thread(&mut tx, ns, scope).await? {
                Some(thread) => read_page(&mut tx, &thread, page).await,
                None => Ok(GraphPage::default()),
            }
        });
        Ok(GraphPage { warning, ..page.await? })
    }

    /// The entities in whose name, type or observations the query stands, in upper or lower case, and the
    /// relations from and to them. An empty query finds all.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub async fn search_nodes(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
        query: &str,
        page: PageRequest,
    ) -> Result<GraphPage, EngineError> {
        check_query(query)?;
        let pattern = Pattern::new(query);
        let warning = self.in_step(ns, scope).await?;
        let page = self.persist(|| async {
            let mut tx = self.store.begin_snapshot().await?;
            match graph::find_thread(&mut tx, ns, scope).await? {
                Some(thread) => search_page(&mut tx, &thread, &pattern, page).await,
                None => Ok(GraphPage::default()),
            }
        });
        Ok(GraphPage { warning, ..page.await? })
    }

    /// The entities of exactly these names, and the relations from and to them.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub async fn open_nodes(
        &self,
        ns: &Namespace,
        scope: &GraphScope,
        names: &[String],
    ) -> Result<GraphPage, EngineError> {
        check_length("names", names.len())?;
        let names: Vec<TextKey> = names.iter().map(|name| TextKey::of(name)).collect();
        let warning = self.in_step(ns, scope).await?;
        let page = self.persist(|| async {
            let mut tx = self.store.begin_snapshot().await?;
            let Some(thread) = graph::find_thread(&mut tx, ns, scope).await? else {
                return Ok(GraphPage::default());
            };
            let mut ids: Vec<i64> =
                graph::entity_ids(&mut tx, &thread, &names).await?.into_values().collect();
            ids.sort_unstable();
            let found = graph::entities(&mut tx, &thread, &ids, Detail::Full, LIMITED_PAGE_CHARS).await?;
            if found.len() < ids.len() {
                return Err(Invalid::new(format!(
                    "The {} entities have more than {} characters in all. Open fewer at once.",
                    ids.len(),
                    grouped(LIMITED_PAGE_CHARS as u64)
                ))
                .into());
            }
            let relations = graph::relations_touching(&mut tx, &thread, &ids).await?;
            Ok(GraphPage {
                entities: found.into_iter().map(PageEntity::from).collect(),
                relations: relations.into_iter().map(|stored| stored.relation).collect(),
                more: None,
                warning: None,
            })
        });
        Ok(GraphPage { warning, ..page.await? })
    }
}

async fn read_whole(conn: &mut Conn, thread: &Thread) -> Result<WholeGraph, StoreError> {
    let entities = graph::all_entities(conn, thread).await?;
    let relations = graph::all_relations(conn, thread).await?;
    Ok(WholeGraph { version: thread.version, entities, relations })
}

impl From<StoredEntity> for PageEntity {
    fn from(stored: StoredEntity) -> Self {
        Self { observation_count: stored.observation_count, entity: stored.entity }
    }
}

async fn read_page(conn: &mut Conn, thread: &Thread, page: PageRequest) -> Result<GraphPage, EngineError> {
    let (cursor, max) = (page.cursor, page.entities_max());
    let mut ids = graph::ids_after(conn, thread, cursor.after, max + 1).await?;
    let mut draft = Draft { has_more: ids.len() > max, ..Draft::default() };
    ids.truncate(max);
    draft.take(graph::entities(conn, thread, &ids, page.detail, page.chars_max()).await?, ids.len());
    let last = draft.entities.last().map_or(cursor.after, |entity| entity.id);
    let relations = graph::relations_within(conn, thread, cursor.after, last).await?;
    draft.bring(relations);
    if !draft.has_more {
        let dangling = graph::relations_dangling(conn, thread).await?;
        draft.relations.extend(dangling.into_iter().map(|stored| (None, stored)));
    }
    draft.fit(page.chars_max());
    let mut shown = draft.finish(cursor);
    if let Some(more) = &mut shown.more {
        more.total = Some(thread.entities.unsigned_abs());
    }
    Ok(shown)
}

async fn search_page(
    conn: &mut Conn,
    thread: &Thread,
    pattern: &Pattern,
    page: PageRequest,
) -> Result<GraphPage, EngineError> {
    let (cursor, max) = (page.cursor, page.entities_max());
    let mut ids = find(conn, thread, pattern, cursor.after, max + 1).await?;
    let mut draft = Draft { has_more: ids.len() > max, ..Draft::default() };
    ids.truncate(max);
    draft.take(graph::entities(conn, thread, &ids, page.detail, page.chars_max()).await?, ids.len());
    let Some(last) = draft.entities.last().map(|entity| entity.id) else {
        return Ok(GraphPage::default());
    };
    let shown: Vec<i64> = draft.entities.iter().map(|entity| entity.id).collect();
    let mut relations = graph::relations_touching(conn, thread, &shown).await?;
    if draft.has_more {
        // A relation to a match that a later page shows comes with that page.
        let ends = |stored: &StoredRelation| [stored.from_id, stored.to_id].into_iter().flatten();
        let beyond: HashSet<i64> = relations.iter().flat_map(ends).filter(|id| *id > last).collect();
        let beyond: Vec<i64> = beyond.into_iter().collect();
        let later: HashSet<i64> =
            graph::matching_among(conn, thread, pattern, &beyond).await?.into_iter().collect();
        relations.retain(|stored| ends(stored).all(|id| !later.contains(&id)));
    }
    draft.bring(relations);
    draft.fit(page.chars_max());
    Ok(draft.finish(cursor))
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
    /// With the number of the entity that each comes with; without, it comes at the end of all.
    relations: Vec<(Option<usize>, StoredRelation)>,
    has_more: bool,
}

impl Draft {
    /// Takes what was read of `wanted` entities.
    fn take(&mut self, entities: Vec<StoredEntity>, wanted: usize) {
        self.has_more |= entities.len() < wanted;
        self.entities = entities;
    }

    /// Takes relations of its entities, each with the later one of its ends on the page.
    fn bring(&mut self, relations: Vec<StoredRelation>) {
        let numbers: HashMap<i64, usize> =
            self.entities.iter().enumerate().map(|(n, entity)| (entity.id, n)).collect();
        let number_of = |end: Option<i64>| numbers.get(&end?).copied();
        self.relations = relations
            .into_iter()
            .map(|stored| (number_of(stored.from_id).max(number_of(stored.to_id)), stored))
            .collect();
    }

    /// Ends the page with the entity that, with its relations, passes `chars_max`.
    fn fit(&mut self, chars_max: usize) {
        let mut chars: Vec<usize> = self.entities.iter().map(|entity| entity.chars).collect();
        for (number, stored) in &self.relations {
            if let Some(of_entity) = number.and_then(|n| chars.get_mut(n)) {
                let relation = &stored.relation;
                *of_entity += [&relation.from, &relation.to, &relation.relation_type]
                    .map(|text| text.chars().count())
                    .iter()
                    .sum::<usize>();
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
        }
    }

    fn finish(mut self, cursor: Cursor) -> GraphPage {
        self.relations.sort_by_key(|(_, stored)| stored.id);
        let shown = self.entities.len() as u64;
        let more = self.entities.last().filter(|_| self.has_more).map(|last| More {
            cursor: Cursor { after: last.id, shown: cursor.shown.saturating_add(shown) },
            first: cursor.shown.saturating_add(1),
            last: cursor.shown.saturating_add(shown),
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
