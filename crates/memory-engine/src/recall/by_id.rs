//! One text, one event, or the turns of a conversation, as they are asked for by their ids.

use memory_core::id::{ArtifactId, EventId, Namespace, PassageId};
use memory_core::snippet::{max_chars, snippet};
use memory_store::hydration;
use memory_store::turns::{self, TurnPage};

use super::{
    CONTENT_PAGE_CHARS, ConversationPage, Digest, Paging, Position, Recall, RecallRequest, Recalled,
};
use crate::{EngineError, Memory};

/// The most events shown with one text at once; the rest is paged.
const EVENTS_PER_PAGE: i64 = 200;
/// The most places shown of one text.
const PLACES_MAX: i64 = 20;
/// How many events extraction keeps of one text.
const EXTRACTED_MAX: i64 = 2_000;

impl Memory {
    /// A text, a part of its content and of its events after the other.
    pub(super) async fn recall_artifact(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        id: &ArtifactId,
    ) -> Result<Recall, EngineError> {
        let (from_char, from_event) = match request.after {
            Some(Position::Part { chars, events }) => (chars, events),
            _ => (0, 0),
        };
        let question = Digest::of_question(ns, request);
        let mut answer = Recall::default();
        let mut conn = self.store.acquire(ns).await?;
        let passages = hydration::passages_of_artifact(&mut conn, ns, id).await?;
        let first: Vec<PassageId> = passages.into_iter().take(1).collect();
        // Its events are only counted here.
        let counted = i64::from(request.include_events);
        let Some(mut hit) = self.hydrate(&mut conn, ns, request, &first, false, counted).await?.pop() else {
            return Ok(answer);
        };
        let page = hydration::content_page(&mut conn, ns, id, from_char, CONTENT_PAGE_CHARS).await?;
        let Some((content, chars)) = page else { return Ok(answer) };
        hit.events = Vec::new();
        if request.include_events {
            let categories: Vec<&str> = request.filters.categories.iter().map(|c| c.as_str()).collect();
            let (revision, from) = (hit.revision_id, from_event as i64);
            let ids =
                hydration::events_of_revision(&mut conn, ns, revision, &categories, from, EVENTS_PER_PAGE)
                    .await?;
            hit.events = hydration::events(&mut conn, ns, &ids).await?;
        }
        if hit.event_count >= EXTRACTED_MAX {
            answer.warnings.push(format!(
                "Extraction keeps {EXTRACTED_MAX} events of a text: what comes later in this one may have more."
            ));
        }
        if from_char == 0 && from_event == 0 {
            (answer.places, answer.place_count) = hydration::places(&mut conn, ns, id, PLACES_MAX).await?;
        }
        let end = from_char + content.chars().count();
        let events_end = from_event + hit.events.len();
        let is_cut = end < chars;
        if is_cut || (events_end as i64) < hit.event_count {
            answer.next_cursor = Some(Position::Part { chars: end, events: events_end }.cursor(question));
        }
        answer.paging = Paging::Within { chars: from_char, events: from_event, question };
        let revision = hit.revision_id;
        answer.results.push(Recalled {
            // Behind its end there are only events left.
            content: (from_char == 0 || !content.is_empty()).then_some(content),
            is_cut,
            ..Recalled::new(snippet(&hit.passage, max_chars(0), None, None), hit)
        });
        self.expand_text(&mut conn, ns, request, revision).await?.fill(&mut answer);
        Ok(answer)
    }

    pub(super) async fn recall_event(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        id: &EventId,
    ) -> Result<Recall, EngineError> {
        let mut answer = Recall::default();
        let mut conn = self.store.acquire(ns).await?;
        answer.results = self.events_as_results(&mut conn, ns, request, std::slice::from_ref(&id.0)).await?;
        let Some(found) = answer.results.first() else { return Ok(answer) };
        let revision = found.hit.revision_id;
        self.expand_text(&mut conn, ns, request, revision).await?.fill(&mut answer);
        conn.done();
        self.add_said_later(ns, &mut answer.results).await?;
        Ok(answer)
    }

    /// Events as results: each with the revision that tells it.
    pub(super) async fn events_as_results(
        &self,
        conn: &mut memory_store::Conn,
        ns: &Namespace,
        request: &RecallRequest,
        ids: &[String],
    ) -> Result<Vec<Recalled>, EngineError> {
        let passages = hydration::passages_of_events(conn, ns, ids).await?;
        let of_passages: Vec<PassageId> = passages.iter().map(|(_, passage)| *passage).collect();
        let hits = self.hydrate(conn, ns, request, &of_passages, false, 0).await?;
        let events = hydration::events(conn, ns, ids).await?;
        let results = events.into_iter().filter_map(|event| {
            let (_, passage) = passages.iter().find(|(id, _)| *id == event.id)?;
            let mut hit = hits.iter().find(|hit| hit.passage_id == *passage)?.clone();
            hit.events = vec![event.clone()];
            Some(Recalled { event_id: Some(EventId(event.id)), ..Recalled::new(event.narrative, hit) })
        });
        Ok(results.collect())
    }

    pub(super) async fn recall_conversation(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        id: &str,
    ) -> Result<Recall, EngineError> {
        let mut conn = self.store.acquire(ns).await?;
        let page = TurnPage {
            newest_first: request.newest_first,
            after: match request.after {
                Some(Position::Turn(turn)) => Some(turn),
                _ => None,
            },
            limit: request.limit as i64 + 1,
            max_chars: CONTENT_PAGE_CHARS as i32,
        };
        let (mut turns, total_turns) = turns::conversation(&mut conn, ns, id, page).await?;
        let goes_on = turns.len() > request.limit;
        turns.truncate(request.limit);
        let question = Digest::of_question(ns, request);
        let behind: Vec<String> =
            turns.iter().map(|turn| Position::Turn(turn.turn_index).cursor(question)).collect();
        Ok(Recall {
            next_cursor: behind.last().filter(|_| goes_on).cloned(),
            paging: Paging::Behind(behind),
            conversation: Some(ConversationPage { conversation_id: id.to_owned(), turns, total_turns }),
            ..Recall::default()
        })
    }
}
