//! recall: search arms under filters, joined, read back, and expanded through events and entities.

mod asked_kind;
mod asked_time;
mod by_id;
mod expanding;
mod facts;
mod filtered;
mod floor;
mod hits;
mod likeness;
mod listing;
mod mirrored;
mod neighbours;
mod outdated;
mod paging;
mod position;
mod ranking;
mod repeated;
mod request;
mod reranking;
mod said_later;
mod search;
mod snippets;
mod standing;
mod tiers;
mod time_order;
mod unmentioned;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use memory_core::directive::asks_for_work;
use memory_core::id::{AnyId, EventId, Namespace, PassageId, RevisionId};
use memory_core::recall::{ArmPlace, ArtifactScore};
use memory_core::snippet::{max_chars, snippet};
use memory_language::asked_for::{asks_for_due, asks_for_wishes};
use memory_language::lexicon::Query;
use memory_store::Pooled;
pub use memory_store::expansion::{FoundEntity, MaybeSame, RelatedEvent};
pub use memory_store::hydration::Place;
use memory_store::hydration::{self, HydratedHit, Wanted};
pub use memory_store::neighbours::Neighbour;
pub use memory_store::turns::Turn;

pub use asked_time::TimeWindow;
pub use facts::{EntityLink, Fact};
pub use paging::{Cursor, Digest};
pub use position::Position;
pub use ranking::NOTHING_ANSWERS;
pub(crate) use ranking::Rankings;
pub(crate) use repeated::Repeated;
pub use request::{EventList, RecallDraft, RecallRequest, Target};
pub use reranking::Reranking;
pub use said_later::SaidLater;
pub(crate) use said_later::Told;
pub use unmentioned::NOT_MENTIONED;

use self::paging::Listing;
pub(crate) use self::ranking::Ranked;
use self::ranking::{DEPTH_MAX, Found};
use self::search::Asked;
use self::snippets::LongPassages;
use crate::directives::Directive;
use crate::{EngineError, Memory, measures};

/// The most events read with one hit of a search, the surest first; a full answer shows them all.
const EVENTS_PER_HIT: i64 = 8;
/// Of these a concise answer shows those that meet the question best.
const EVENTS_SHOWN_PER_HIT: usize = 5;
/// How much of a content, or of a turn, one answer holds, in characters; the rest is paged.
const CONTENT_PAGE_CHARS: usize = 20_000;
/// How much of each hit's content a full answer holds, in characters.
const FULL_HIT_CHARS: usize = 4_000;

/// One artifact (or event) in an answer.
#[derive(Debug, Clone)]
pub struct Recalled {
    pub hit: HydratedHit,
    /// Where it stands in the listing, from 0.
    pub place: usize,
    /// Set when an event was asked for: its id stands in the place of the artifact's.
    pub event_id: Option<EventId>,
    pub score: f32,
    pub snippet: String,
    /// The content or a part of it, where asked for.
    pub content: Option<String>,
    /// The content goes on.
    pub is_cut: bool,
    pub explanation: Option<Explanation>,
    /// What stands before and after it, in order.
    pub neighbours: Vec<Neighbour>,
    /// Where an open commitment was asked for.
    pub said_later: Option<SaidLater>,
}

impl Recalled {
    /// A hit that was asked for by its id.
    fn new(snippet: String, hit: HydratedHit) -> Self {
        Self {
            hit,
            place: 0,
            event_id: None,
            score: 1.0,
            snippet,
            content: None,
            is_cut: false,
            explanation: None,
            neighbours: Vec::new(),
            said_later: None,
        }
    }
}

/// Where the arms saw a hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Explanation {
    pub vector: Option<ArmPlace>,
    pub lexical: Option<ArmPlace>,
    pub late: Option<ArmPlace>,
    /// What the shares of these were multiplied by, since the best found answers little or an arm could not say anything.
    pub sureness: f32,
    pub artifact: ArtifactScore,
}

impl Explanation {
    /// With what the arms add to the hit's score, not to its passage's.
    fn in_shares_of_the_score(mut self) -> Self {
        for place in [&mut self.vector, &mut self.lexical, &mut self.late].into_iter().flatten() {
            place.share *= self.artifact.scale;
        }
        self
    }
}

#[derive(Debug, Clone, Default)]
pub struct Recall {
    pub results: Vec<Recalled>,
    pub related: Vec<RelatedEvent>,
    pub entities: Vec<FoundEntity>,
    /// For each of the entities, the entities of the knowledge graph that it may be.
    pub links: Vec<Vec<EntityLink>>,
    pub facts: Vec<Fact>,
    /// What the user wants that bears on the question.
    pub directives: Vec<Directive>,
    pub next_cursor: Option<String>,
    pub warnings: Vec<String>,
    /// How many texts in the results have not been extracted yet, so that their events are missing.
    pub unread: usize,
    pub conversation: Option<ConversationPage>,
    /// Where one text was asked for: its places, as far as they are shown, and how many it has.
    pub places: Vec<Place>,
    pub place_count: i64,
    /// How a date in the question was understood.
    pub time_window: Option<TimeWindow>,
    /// Of a list of events: how many there are in all.
    pub total_events: Option<i64>,
    pub paging: Paging,
}

/// Where the next page begins if only a part of this answer is shown, for lack of room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Paging {
    /// For each result or turn, the cursor of the page that begins behind it.
    Behind(Vec<String>),
    /// A text is shown in parts: the next begins at this character and this event.
    Within { chars: usize, events: usize, question: Digest },
}

impl Default for Paging {
    fn default() -> Self {
        Self::Behind(Vec::new())
    }
}

#[derive(Debug, Clone)]
pub struct ConversationPage {
    pub conversation_id: String,
    pub turns: Vec<Turn>,
    pub total_turns: i64,
}

/// The warning where what is due is asked for in words.
pub const LIST_OF_DUE: &str =
    "All commitments by their days: recall without a query, with state \"open\" or \"overdue\".";

/// The warning where all that the user wants is asked for in words.
pub const LIST_OF_WISHES: &str = "These are some of what the user wants; briefing lists more of it.";

/// The warnings of lists that answer what is asked for in words.
fn asked_lists(query: &str, request: &RecallRequest, wishes: bool) -> impl Iterator<Item = &'static str> {
    let due = request.offset == 0 && request.filters.categories.is_empty() && asks_for_due(query);
    [(due, LIST_OF_DUE), (wishes, LIST_OF_WISHES)].into_iter().filter(|(is, _)| *is).map(|(_, list)| list)
}

/// What is read of a page's results.
struct PageRead {
    hits: Vec<HydratedHit>,
    around: HashMap<PassageId, Vec<Neighbour>>,
    long: LongPassages,
    /// Handles and scores of the observations that the question meets.
    of_question: Vec<(i64, f32)>,
}

impl Memory {
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn recall<'a>(
        &'a self,
        ns: &'a Namespace,
        request: &'a RecallRequest,
    ) -> BoxFuture<'a, Result<Recall, EngineError>> {
        Box::pin(async move {
            self.recovery
                .retry_transient(|| async {
                    let mut listing = Listing::new(ns, request)?;
                    let mut answer = match &request.target {
                        Target::Query(query) => {
                            Box::pin(self.recall_query(ns, request, query, &mut listing)).await?
                        }
                        Target::Id(AnyId::Artifact(id)) => self.recall_artifact(ns, request, id).await?,
                        Target::Id(AnyId::Event(id)) => self.recall_event(ns, request, id).await?,
                        Target::Conversation(id) => self.recall_conversation(ns, request, id).await?,
                        Target::Events(list) => self.list_events(ns, request, list).await?,
                    };
                    self.explain_filters(ns, request, &mut answer).await?;
                    if request.include_events {
                        answer.unread = answer.results.iter().filter(|result| result.hit.is_unread).count();
                    }
                    answer.warnings.splice(0..0, request.warnings.iter().cloned());
                    Ok(answer)
                })
                .await
        })
    }

    async fn recall_query(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        query: &str,
        listing: &mut Listing,
    ) -> Result<Recall, EngineError> {
        let mut answer = Recall::default();
        let found = self.ranking(ns, request, query, listing.question, &mut answer.warnings).await?;
        let Found { ranking, asked, directives, conn } = found;
        listing.ranking = Some(Arc::clone(&ranking));
        answer.time_window.clone_from(&ranking.time_window);
        let end = (request.offset + request.limit).min(DEPTH_MAX);
        // Scores never rise.
        let floor = floor::floor(request, ranking.best());
        let shown = ranking.ranked.partition_point(|ranked| ranked.score >= floor);
        let page: Vec<(usize, &Ranked)> =
            ranking.ranked.iter().enumerate().take(end.min(shown)).skip(request.offset).collect();
        let low = ranking.ranked.len() - shown;
        if shown > end {
            let (next_cursor, ended) = listing.next(&ranking, end);
            answer.next_cursor = next_cursor;
            answer.warnings.extend(ended);
        } else if low > 0 {
            answer.warnings.push(floor::left_out(low, floor, ranking.goes_on()));
        }
        // Facts stand on the first page.
        let is_first = request.offset == 0;
        let on_graph =
            asked.as_ref().filter(|it| is_first && it.observations > 0 && !request.filters.narrow());
        let named = asked.as_ref().map_or(&[][..], |asked| &asked.named);
        let resident = asked.as_ref().and_then(|asked| asked.resident.as_deref());
        let revisions: Vec<RevisionId> = page.iter().map(|(_, ranked)| ranked.revision_id).collect();
        let expanding = self.expand(ns, request, &revisions, (named, resident));
        let reading = self.read_page(ns, request, conn, &page, (asked.as_ref(), on_graph));
        let (PageRead { hits, mut around, long, of_question }, expansion) =
            futures::try_join!(reading, measures::stage("expand", expanding))?;
        expansion.fill(&mut answer);
        answer.directives = if is_first { directives } else { Vec::new() };
        // Facts of an entity that stands in the results say nothing of whether anything answers.
        let is_met_by_a_fact = !of_question.is_empty();
        if on_graph.is_some() {
            (answer.facts, answer.links) = self.facts(ns, request, of_question, &answer.entities).await?;
        }
        let lists_wishes = !answer.directives.is_empty() && asks_for_wishes(query);
        let wants_an_answer = !is_met_by_a_fact && !lists_wishes && !asks_for_work(query);
        answer.warnings.extend(ranking.unlikely(request).filter(|_| wants_an_answer));
        answer.warnings.extend(asked_lists(query, request, lists_wishes).map(str::to_owned));
        let question = Query::new(query);
        let mut words = question.reader();
        answer.results = hits
            .into_iter()
            .filter(|hit| hit.is_latest || request.filters.include_superseded)
            .filter_map(|mut hit| {
                let (place, ranked) = *page.iter().find(|(_, ranked)| ranked.passage_id == hit.passage_id)?;
                let content = hit.content.take();
                let tokens = long.get(hit.passage_id);
                let shown = snippet(&hit.passage, max_chars(place), Some(&mut words), tokens);
                if !request.is_full {
                    hit.events.sort_by_cached_key(|event| Reverse(words.met_by(&event.narrative)));
                    hit.events.truncate(EVENTS_SHOWN_PER_HIT);
                }
                Some(Recalled {
                    place,
                    score: ranked.score,
                    is_cut: content.as_ref().is_some_and(|c| c.chars().nth(FULL_HIT_CHARS).is_some()),
                    content: content.map(|c| c.chars().take(FULL_HIT_CHARS).collect()),
                    explanation: request.explain.then(|| ranked.explanation.in_shares_of_the_score()),
                    neighbours: around.remove(&hit.passage_id).unwrap_or_default(),
                    ..Recalled::new(shown, hit)
                })
            })
            .collect();
        let unmentioned = unmentioned::warning(query, &answer).filter(|_| request.offset == 0);
        answer.warnings.extend(unmentioned);
        let behind = answer.results.iter().map(|result| listing.cursor(result.place + 1));
        answer.paging = Paging::Behind(behind.collect());
        Ok(answer)
    }

    /// Reads back what stands on a page, and what of the graph the question meets.
    async fn read_page(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        mut conn: Pooled,
        page: &[(usize, &Ranked)],
        (asked, on_graph): (Option<&Asked>, Option<&Asked>),
    ) -> Result<PageRead, EngineError> {
        let ids: Vec<PassageId> = page.iter().map(|(_, ranked)| ranked.passage_id).collect();
        let events = if request.include_events { EVENTS_PER_HIT } else { 0 };
        let hydrating = async move {
            let hits = self.hydrate(&mut conn, ns, request, &ids, request.is_full, events).await?;
            let around = self.neighbours(&mut conn, ns, request, &hits).await?;
            let long = LongPassages::of(&mut conn, ns, asked, &hits, page).await?;
            conn.done();
            Ok::<_, EngineError>((hits, around, long))
        };
        let (hits, around, long) = measures::stage("hydrate", hydrating).await?;
        let of_question = match on_graph {
            Some(asked) => self.facts_of_question(ns, request, asked).await?,
            None => Vec::new(),
        };
        Ok(PageRead { hits, around, long, of_question })
    }

    async fn hydrate(
        &self,
        conn: &mut memory_store::Conn,
        ns: &Namespace,
        request: &RecallRequest,
        passages: &[PassageId],
        content: bool,
        events: i64,
    ) -> Result<Vec<HydratedHit>, EngineError> {
        let categories: Vec<&str> = request.filters.categories.iter().map(|c| c.as_str()).collect();
        Ok(hydration::hydrate(conn, ns, passages, Wanted { content, events, categories: &categories })
            .await?)
    }
}
