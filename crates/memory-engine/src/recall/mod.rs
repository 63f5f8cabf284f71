//! recall: search arms under filters, joined, read back, and expanded through events and entities.

mod facts;
mod mirrored;
mod neighbours;
mod paging;
mod ranking;
mod request;
mod reranking;
mod search;

use std::cmp::Reverse;
use std::sync::Arc;

use memory_core::chunk::count_tokens;
use memory_core::entity::names_in_question;
use memory_core::event::StoredEvent;
use memory_core::id::{AnyId, ArtifactId, EventId, Namespace, PassageId, RevisionId};
use memory_core::lexicon::Query;
use memory_core::recall::{ArmPlace, ArtifactScore};
use memory_core::snippet::snippet;
use memory_store::expansion;
pub use memory_store::expansion::{FoundEntity, MaybeSame, RelatedEvent};
use memory_store::hydration::{self, HydratedHit, Wanted};
use memory_store::jobs;
pub use memory_store::neighbours::Neighbour;
use memory_store::turns::{self, Turn};

pub use facts::{EntityLink, Fact};
pub use paging::Cursor;
pub(crate) use ranking::Rankings;
pub use request::{RecallDraft, RecallRequest, Target};
pub use reranking::Reranking;

use self::paging::Listing;
use self::ranking::{DEPTH_MAX, Found, Ranked};
use crate::{EngineError, Memory};

/// The most events read with one hit of a search, the surest first; a full answer shows them all.
const EVENTS_PER_HIT: i64 = 8;
/// Of these a concise answer shows those that meet the question best.
const EVENTS_SHOWN_PER_HIT: usize = 5;
/// The most events shown with one artifact that was asked for by its id.
const EVENTS_PER_ARTIFACT: i64 = 200;
const ENTITIES_MAX: i64 = 20;
/// The most entities that a question is taken to name.
const NAMED_MAX: i64 = 8;
/// How much of a content one answer holds, in characters; the rest is paged.
const CONTENT_PAGE_CHARS: usize = 20_000;
/// How much of each hit's content a full answer holds, in characters.
const FULL_HIT_CHARS: usize = 4_000;
/// What a result costs beside its texts, in tokens: names of fields, ids, numbers.
const RESULT_OVERHEAD_TOKENS: usize = 90;

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
    /// For each entity the graph's that it may be.
    pub links: Vec<Vec<EntityLink>>,
    pub facts: Vec<Fact>,
    pub next_cursor: Option<String>,
    pub warnings: Vec<String>,
    /// Of the texts in the results so many are still to be read: their events are not here yet.
    pub unread: usize,
    pub conversation: Option<ConversationPage>,
}

#[derive(Debug, Clone)]
pub struct ConversationPage {
    pub conversation_id: String,
    pub turns: Vec<Turn>,
    pub total_turns: i64,
}

impl Memory {
    #[tracing::instrument(skip_all, fields(%ns))]
    pub async fn recall(&self, ns: &Namespace, request: &RecallRequest) -> Result<Recall, EngineError> {
        self.persist(|| async {
            let mut listing = Listing::new(ns, request)?;
            let mut answer = match &request.target {
                Target::Query(query) => Box::pin(self.recall_query(ns, request, query, &mut listing)).await?,
                Target::Id(AnyId::Artifact(id)) => self.recall_artifact(ns, request, id, &listing).await?,
                Target::Id(AnyId::Event(id)) => self.recall_event(ns, request, id).await?,
                Target::Conversation(id) => self.recall_conversation(ns, request, id, &listing).await?,
            };
            if let Some(max_tokens) = request.max_tokens {
                fit(&mut answer, max_tokens, request.offset, &listing);
            }
            if request.include_events {
                answer.unread = self.unread(ns, &answer.results).await?;
            }
            Ok(answer)
        })
        .await
    }

    async fn unread(&self, ns: &Namespace, results: &[Recalled]) -> Result<usize, EngineError> {
        if results.is_empty() {
            return Ok(0);
        }
        let revisions: Vec<RevisionId> = results.iter().map(|result| result.hit.revision_id).collect();
        let mut conn = self.store.acquire().await?;
        let unread = jobs::unread(&mut conn, ns, &revisions).await?;
        conn.keep();
        Ok(unread as usize)
    }

    async fn recall_query(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        query: &str,
        listing: &mut Listing,
    ) -> Result<Recall, EngineError> {
        let mut answer = Recall::default();
        let searching = self.ranking(ns, request, query, listing.question, &mut answer.warnings);
        let (found, named) = futures::try_join!(searching, self.named(ns, request, query))?;
        let Found { ranking, asked, mut conn } = found;
        listing.ranking = Some(Arc::clone(&ranking));
        let end = (request.offset + request.limit).min(DEPTH_MAX);
        let page: Vec<(usize, &Ranked)> =
            ranking.ranked.iter().enumerate().take(end).skip(request.offset).collect();
        let (next_cursor, ended) = listing.next(&ranking, end);
        answer.next_cursor = next_cursor;
        answer.warnings.extend(ended);
        let ids: Vec<PassageId> = page.iter().map(|(_, ranked)| ranked.passage_id).collect();
        let events = if request.include_events { EVENTS_PER_HIT } else { 0 };
        let revisions: Vec<RevisionId> = page.iter().map(|(_, ranked)| ranked.revision_id).collect();
        let hydrating = async move {
            let hits = self.hydrate(&mut conn, ns, request, &ids, request.is_full, events).await?;
            let around = self.neighbours(&mut conn, ns, request, &hits).await?;
            conn.keep();
            Ok::<_, EngineError>((hits, around))
        };
        // Facts stand on the first page.
        let meeting_facts = async {
            match &asked {
                Some(asked) if request.offset == 0 => self.facts_of_question(ns, request, asked).await,
                _ => Ok(Vec::new()),
            }
        };
        let ((hits, mut around), expansion, of_question) =
            futures::try_join!(hydrating, self.expand(ns, request, &revisions, &named), meeting_facts)?;
        expansion.fill(&mut answer);
        if request.offset == 0 {
            (answer.facts, answer.links) = self.facts(ns, request, of_question, &answer.entities).await?;
        }
        let question = Query::new(query);
        let mut words = question.reader();
        answer.results = hits
            .into_iter()
            .filter(|hit| hit.is_latest || request.filters.include_superseded)
            .filter_map(|mut hit| {
                let (place, ranked) = *page.iter().find(|(_, ranked)| ranked.passage_id == hit.passage_id)?;
                let content = hit.content.take();
                if !request.is_full {
                    hit.events.sort_by_cached_key(|event| Reverse(words.met_by(&event.narrative)));
                    hit.events.truncate(EVENTS_SHOWN_PER_HIT);
                }
                let is_cut = content.as_ref().is_some_and(|c| c.chars().nth(FULL_HIT_CHARS).is_some());
                Some(Recalled {
                    place,
                    score: ranked.score,
                    snippet: snippet(&hit.passage, Some(&mut words)),
                    content: content.map(|c| c.chars().take(FULL_HIT_CHARS).collect()),
                    is_cut,
                    explanation: request.explain.then(|| ranked.explanation.in_shares_of_the_score()),
                    event_id: None,
                    neighbours: around.remove(&hit.passage_id).unwrap_or_default(),
                    hit,
                })
            })
            .collect();
        Ok(answer)
    }

    async fn recall_artifact(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        id: &ArtifactId,
        listing: &Listing,
    ) -> Result<Recall, EngineError> {
        let mut answer = Recall::default();
        let mut conn = self.store.acquire().await?;
        let passages = hydration::passages_of_artifact(&mut conn, ns, id).await?;
        let events = if request.include_events { EVENTS_PER_ARTIFACT } else { 0 };
        let first: Vec<PassageId> = passages.into_iter().take(1).collect();
        let Some(hit) = self.hydrate(&mut conn, ns, request, &first, false, events).await?.pop() else {
            return Ok(answer);
        };
        let page = hydration::content_page(&mut conn, ns, id, request.offset, CONTENT_PAGE_CHARS).await?;
        let Some((content, chars)) = page else { return Ok(answer) };
        let end = request.offset + content.chars().count();
        let is_cut = end < chars;
        answer.next_cursor = is_cut.then(|| listing.cursor(end));
        answer.results.push(Recalled {
            place: 0,
            score: 1.0,
            snippet: snippet(&hit.passage, None),
            content: Some(content),
            is_cut,
            explanation: None,
            event_id: None,
            neighbours: Vec::new(),
            hit,
        });
        let revision = answer.results[0].hit.revision_id;
        self.expand(ns, request, &[revision], &[]).await?.fill(&mut answer);
        Ok(answer)
    }

    async fn recall_event(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        id: &EventId,
    ) -> Result<Recall, EngineError> {
        let mut answer = Recall::default();
        let mut conn = self.store.acquire().await?;
        let Some(event) = hydration::event(&mut conn, ns, id).await? else { return Ok(answer) };
        let source = ArtifactId(event.artifact_id.clone());
        let passages = hydration::passages_of_artifact(&mut conn, ns, &source).await?;
        let first: Vec<PassageId> = passages.into_iter().take(1).collect();
        let Some(mut hit) = self.hydrate(&mut conn, ns, request, &first, false, 0).await?.pop() else {
            return Ok(answer);
        };
        hit.events = vec![event.clone()];
        answer.results.push(Recalled {
            place: 0,
            score: 1.0,
            snippet: event.narrative,
            content: None,
            is_cut: false,
            explanation: None,
            event_id: Some(id.clone()),
            neighbours: Vec::new(),
            hit,
        });
        let revision = answer.results[0].hit.revision_id;
        self.expand(ns, request, &[revision], &[]).await?.fill(&mut answer);
        Ok(answer)
    }

    async fn recall_conversation(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        id: &str,
        listing: &Listing,
    ) -> Result<Recall, EngineError> {
        let mut conn = self.store.acquire().await?;
        let (turns, total_turns) =
            turns::conversation(&mut conn, ns, id, request.offset as i64, request.limit as i64).await?;
        let end = request.offset + turns.len();
        Ok(Recall {
            next_cursor: (!turns.is_empty() && (end as i64) < total_turns).then(|| listing.cursor(end)),
            conversation: Some(ConversationPage { conversation_id: id.to_owned(), turns, total_turns }),
            ..Recall::default()
        })
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

    /// The entities that the question names, under whatever name. A filter on texts would not hold for what they
    /// bring in.
    async fn named(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        query: &str,
    ) -> Result<Vec<i64>, EngineError> {
        let is_wanted = request.include_entities || request.expand;
        if !is_wanted || request.offset > 0 || request.filters.narrow() {
            return Ok(Vec::new());
        }
        let names = names_in_question(query);
        let mut conn = self.store.acquire().await?;
        let named = expansion::entities_called(&mut conn, ns, &names, NAMED_MAX).await?;
        conn.keep();
        Ok(named)
    }

    /// What hangs together with the results, and with the entities that the question names. Seeds are the events of
    /// all of them.
    async fn expand(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        revisions: &[RevisionId],
        named: &[i64],
    ) -> Result<Expansion, EngineError> {
        let is_empty = revisions.is_empty() && named.is_empty();
        let categories: Vec<&str> = request.filters.categories.iter().map(|c| c.as_str()).collect();
        let related = async {
            if is_empty || !request.expand || request.graph_budget == 0 {
                return Ok(Vec::new());
            }
            let mut conn = self.store.acquire().await?;
            let superseded = request.filters.include_superseded;
            let budget = request.graph_budget;
            let related =
                expansion::related_events(&mut conn, ns, revisions, named, &categories, superseded, budget)
                    .await?;
            conn.keep();
            Ok::<_, EngineError>(related)
        };
        let entities = async {
            if is_empty || !request.include_entities {
                return Ok(Vec::new());
            }
            let mut conn = self.store.acquire().await?;
            let entities = expansion::entities_of(&mut conn, ns, revisions, named, ENTITIES_MAX).await?;
            conn.keep();
            Ok(entities)
        };
        let (related, entities) = futures::try_join!(related, entities)?;
        Ok(Expansion { related, entities })
    }
}

struct Expansion {
    related: Vec<RelatedEvent>,
    entities: Vec<FoundEntity>,
}

impl Expansion {
    fn fill(self, answer: &mut Recall) {
        answer.related = self.related;
        answer.entities = self.entities;
    }
}

/// Leaves out what the bound has no room for: results from the end, then related events, facts and entities.
/// The first result always stays.
fn fit(answer: &mut Recall, max_tokens: usize, offset: usize, listing: &Listing) {
    let mut left = max_tokens;
    let mut take = |cost: usize| match left.checked_sub(cost) {
        Some(rest) => {
            left = rest;
            true
        }
        None => {
            left = 0;
            false
        }
    };
    let kept = answer.results.iter().take_while(|r| take(cost_of(r))).count().max(1);
    if kept < answer.results.len() {
        answer.next_cursor = Some(listing.cursor(answer.results[kept].place));
        answer.results.truncate(kept);
        answer.warnings.push(format!("Cut to {kept} results by max_tokens; next_cursor has the rest."));
    }
    answer.related.retain(|r| {
        take(
            RESULT_OVERHEAD_TOKENS / 2
                + count_tokens(&r.narrative)
                + r.evidence.iter().map(|e| count_tokens(&e.quote) + 30).sum::<usize>(),
        )
    });
    answer.facts.retain(|fact| take(cost_of_fact(fact)));
    let mut links = std::mem::take(&mut answer.links).into_iter();
    let mut kept_links = Vec::new();
    answer.entities.retain(|e| {
        let links = links.next().unwrap_or_default();
        let fits = take(
            12 + count_tokens(&e.name)
                + e.aliases.iter().map(|a| count_tokens(a)).sum::<usize>()
                + 25 * (links.len() + e.possibly_same.len()),
        );
        if fits {
            kept_links.push(links);
        }
        fits
    });
    answer.links = kept_links;
    if let Some(conversation) = &mut answer.conversation {
        let kept =
            conversation.turns.iter().take_while(|t| take(40 + count_tokens(&t.content))).count().max(1);
        if kept < conversation.turns.len() {
            conversation.turns.truncate(kept);
            answer.next_cursor = Some(listing.cursor(offset + kept));
        }
    }
}

fn cost_of_fact(fact: &Fact) -> usize {
    let stored = &fact.stored;
    let relation = |r: &memory_core::graph::GraphRelation| {
        15 + count_tokens(&r.from) + count_tokens(&r.to) + count_tokens(&r.relation_type)
    };
    30 + count_tokens(&stored.entity)
        + count_tokens(&stored.entity_type)
        + count_tokens(&stored.observation)
        + stored.relations.iter().map(relation).sum::<usize>()
}

fn cost_of(result: &Recalled) -> usize {
    let event_cost = |event: &StoredEvent| {
        60 + count_tokens(&event.narrative)
            + event.evidence.iter().map(|e| count_tokens(&e.quote) + 30).sum::<usize>()
    };
    RESULT_OVERHEAD_TOKENS
        + count_tokens(&result.snippet)
        + result.content.as_deref().map_or(0, count_tokens)
        + result.neighbours.iter().map(|n| 40 + count_tokens(&n.text)).sum::<usize>()
        + result.hit.events.iter().map(event_cost).sum::<usize>()
}
