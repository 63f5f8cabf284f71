//! A page of the graph: entities in the order in which they were made, with relations. Over all pages every relation
//! comes once: with the later of its ends that the pages show.

use std::collections::{HashMap, HashSet};

use memory_core::graph::{
    Bounds, Cursor, CursorKey, GraphEntity, GraphRelation, LIMIT_MAX, PAGE_ENTITIES, PageRequest, Part,
    SealedCursor,
};
use memory_store::Conn;
use memory_store::graph::{self, Next, Portion, StoredEntity, StoredRelation, Thread};

use super::sought::Sought;
use crate::EngineError;

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
pub(super) async fn first_part(
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
pub(super) async fn rest_of_relations(
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

/// A page in the making.
#[derive(Default)]
pub(super) struct Draft {
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

    pub(super) fn finish(mut self, cursor: Cursor, bounds: Bounds, key: &CursorKey) -> GraphPage {
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
