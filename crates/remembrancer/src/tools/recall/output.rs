//! What `recall` answers: its results and where they are from.

use jiff::{SignedDuration, Timestamp};
use memory_engine::recall::{Neighbour, Place, Recall, Recalled, SaidLater, TimeWindow, Turn};
use schemars::JsonSchema;
use serde::Serialize;

use super::explained::ExplainOut;
use super::formats::decimal;
use super::known::{
    DirectiveOut, EntityOut, EventOut, FactOut, RelatedOut, directive_out, entity_out, fact_out, related_out,
};

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    pub(super) results: Vec<ResultOut>,
    pub(super) related: Vec<RelatedOut>,
    pub(super) entities: Vec<EntityOut>,
    pub(super) facts: Vec<FactOut>,
    /// Instructions and preferences of the user that bear on the query
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) directives: Vec<DirectiveOut>,
    pub(super) total_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) warnings: Option<Vec<String>>,
    /// How a date in the query was understood: what is of that time comes first, the more so the surer it is
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) time_window: Option<TimeWindowOut>,
    /// date: the query asks for an order, and the results of this page stand in that of their dates
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ordered_by: Option<&'static str>,
    /// So many of the results' texts are still to be read: their events come in a moment
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unread: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) conversation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turns: Option<Vec<TurnOut>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_turns: Option<i64>,
    /// Of a list of events
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_events: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ResultOut {
    pub(super) id: String,
    pub(super) score: f64,
    pub(super) context: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    pub(super) snippet: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<String>,
    /// The content goes on: see next_cursor, or recall it by id
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content_cut: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) chunk: Option<ChunkOut>,
    pub(super) date: String,
    #[serde(skip)]
    pub(super) when: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) author: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) participants: Vec<String>,
    pub(super) importance: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tags: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) conversation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turn_index: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<String>,
    /// Newer text has taken its place
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) superseded: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) superseded_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) events: Option<Vec<EventOut>>,
    /// All events of the text, where fewer are shown
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) event_count: Option<i64>,
    /// The places of a text that is at several
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) places: Vec<TextPlaceOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) place_count: Option<i64>,
    #[serde(skip)]
    pub(super) is_event: bool,
    #[serde(skip)]
    pub(super) all_events: i64,
    /// Of the content that was read for this answer.
    #[serde(skip)]
    pub(super) content_chars: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) explain: Option<ExplainOut>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) neighbours: Vec<NeighbourOut>,
    /// Of an open commitment: what was said after it and is most likely about it. Read whether it is done, moved or dropped
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) said_later: Option<SaidLaterOut>,
}

/// A later text about a commitment
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SaidLaterOut {
    pub(super) id: String,
    pub(super) date: String,
    pub(super) snippet: String,
    /// The commitment is likely done or dropped, by what it says or as it is long due
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_likely_end: bool,
}

impl From<SaidLater> for SaidLaterOut {
    fn from(later: SaidLater) -> Self {
        Self {
            id: later.artifact_id.to_string(),
            date: later.date.to_string(),
            snippet: later.snippet,
            is_likely_end: later.is_likely_end,
        }
    }
}

/// A time that the query names
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TimeWindowOut {
    /// As date_from takes it; absent where it is open
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<String>,
    /// As date_to takes it; absent where it is open
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<String>,
    pub(super) phrase: String,
    /// 0 to 1
    pub(super) certainty: f64,
    /// Nothing found is of that time: the results are of others
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unmatched: Option<bool>,
}

impl From<TimeWindow> for TimeWindowOut {
    fn from(window: TimeWindow) -> Self {
        let midnight = |moment: Timestamp| moment.as_second().rem_euclid(86_400) == 0;
        let is_days = window.from.is_none_or(midnight) && window.to.is_none_or(midnight);
        let last = window.to.and_then(|to| to.checked_sub(SignedDuration::from_micros(1)).ok());
        let shown = |moment: Timestamp| {
            if is_days { moment.strftime("%Y-%m-%d").to_string() } else { moment.to_string() }
        };
        Self {
            from: window.from.map(shown),
            to: last.map(shown),
            phrase: window.phrase,
            certainty: decimal(window.certainty, 2),
            unmatched: window.is_unmatched.then_some(true),
        }
    }
}

/// A place of a text
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TextPlaceOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) conversation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turn_index: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    /// Newer text has taken its place there
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) superseded: Option<bool>,
}

impl From<Place> for TextPlaceOut {
    fn from(place: Place) -> Self {
        Self {
            source: place.source,
            source_id: place.source_id,
            conversation_id: place.conversation_id,
            turn_index: place.turn_index,
            author: place.author,
            title: place.title,
            superseded: place.is_superseded.then_some(true),
        }
    }
}

/// The text before or after a result
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NeighbourOut {
    pub(super) id: String,
    /// before or after
    pub(super) position: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turn_index: Option<i32>,
    pub(super) text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChunkOut {
    pub(super) index: usize,
    pub(super) start_char: usize,
    pub(super) end_char: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TurnOut {
    pub(super) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) author: Option<String>,
    pub(super) turn_index: i32,
    pub(super) ts: String,
    pub(super) content: String,
    /// The content goes on: recall it by id
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content_cut: Option<bool>,
}

pub(super) fn result_out(recalled: Recalled) -> ResultOut {
    let hit = recalled.hit;
    let is_event = recalled.event_id.is_some();
    ResultOut {
        id: recalled.event_id.map_or(hit.artifact_id.0, |id| id.0),
        score: decimal(recalled.score, 4),
        context: hit.context,
        title: hit.title,
        snippet: recalled.snippet,
        content_chars: recalled.content.as_ref().map_or(0, |content| content.chars().count()),
        content: recalled.content,
        content_cut: recalled.is_cut.then_some(true),
        chunk: hit.chunk.filter(|_| !is_event).map(|(index, span)| ChunkOut {
            index,
            start_char: span.start,
            end_char: span.end,
        }),
        date: hit.date.to_string(),
        when: hit.date,
        source: hit.source,
        source_id: hit.source_id,
        author: hit.author,
        participants: hit.participants,
        importance: decimal(hit.importance, 4),
        tags: (!hit.tags.is_empty()).then_some(hit.tags),
        conversation_id: hit.conversation_id,
        turn_index: hit.turn_index,
        role: hit.role,
        superseded: (!hit.is_latest).then_some(true),
        superseded_by: hit.superseded_by,
        events: (!hit.events.is_empty()).then(|| hit.events.into_iter().map(Into::into).collect()),
        event_count: None,
        places: Vec::new(),
        place_count: None,
        is_event,
        all_events: hit.event_count,
        explain: recalled.explanation.map(Into::into),
        neighbours: recalled.neighbours.into_iter().map(neighbour_out).collect(),
        said_later: recalled.said_later.map(Into::into),
    }
}

pub(super) fn neighbour_out(neighbour: Neighbour) -> NeighbourOut {
    let text = match (neighbour.is_cut, neighbour.is_before) {
        (false, _) => neighbour.text,
        // The end of the text before is nearest; of a turn the beginning is shown.
        (true, true) if neighbour.turn_index.is_none() => format!("…{}", neighbour.text),
        (true, _) => format!("{}…", neighbour.text),
    };
    NeighbourOut {
        id: neighbour.artifact_id,
        position: if neighbour.is_before { "before" } else { "after" },
        author: neighbour.author,
        role: neighbour.role,
        turn_index: neighbour.turn_index,
        text,
    }
}

pub(super) fn output(recall: Recall) -> Output {
    let total_count = recall.results.len() + recall.related.len();
    let conversation = recall.conversation;
    let mut results: Vec<ResultOut> = recall.results.into_iter().map(result_out).collect();
    if let Some(first) = results.first_mut()
        && recall.place_count > 1
    {
        first.places = recall.places.into_iter().map(Into::into).collect();
        first.place_count = Some(recall.place_count);
    }
    Output {
        results,
        related: recall.related.into_iter().map(related_out).collect(),
        entities: recall
            .entities
            .into_iter()
            .zip(recall.links.into_iter().chain(std::iter::repeat_with(Vec::new)))
            .map(|(entity, links)| entity_out(entity, links))
            .collect(),
        facts: recall.facts.into_iter().map(fact_out).collect(),
        directives: recall.directives.into_iter().map(directive_out).collect(),
        total_count,
        next_cursor: recall.next_cursor,
        warnings: (!recall.warnings.is_empty()).then_some(recall.warnings),
        time_window: recall.time_window.map(Into::into),
        ordered_by: None,
        unread: Some(recall.unread).filter(|unread| *unread > 0),
        conversation_id: conversation.as_ref().map(|c| c.conversation_id.clone()),
        total_turns: conversation.as_ref().map(|c| c.total_turns),
        total_events: recall.total_events,
        turns: conversation.map(|c| c.turns.into_iter().map(turn_out).collect()),
    }
}

pub(super) fn turn_out(turn: Turn) -> TurnOut {
    TurnOut {
        id: turn.artifact_id,
        role: turn.role,
        author: turn.author,
        turn_index: turn.turn_index,
        ts: turn.ts.to_string(),
        content: turn.content,
        content_cut: turn.is_cut.then_some(true),
    }
}
