//! `recall` on the wire.

mod fit;

use futures::FutureExt;
use jiff::{SignedDuration, Timestamp};
use memory_core::chunk::count_tokens;
use memory_core::commitment::CommitmentState;
use memory_core::event::{Category, EndedBy, StoredEvent, StoredEvidence};
use memory_core::recall::ArmPlace;
use memory_engine::directives::Directive;
use memory_engine::recall::{
    EntityLink, Fact, FoundEntity, MaybeSame, Neighbour, Place, Recall, RecallDraft, RecallRequest, Recalled,
    RelatedEvent, TimeWindow, Turn,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Call, Declared, Refusal, Registered, answer, arguments, register};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What to look for, in words or as a question
    query: Option<String>,
    /// art_… for one text whole, evt_… for one event
    id: Option<String>,
    /// Only this kind: meeting, email, document, chat, transcript, note, preference, fact, decision, project, conversation
    context: Option<String>,
    /// 1 to 50, default 10
    limit: Option<i64>,
    /// Add related events (default true)
    expand: Option<bool>,
    include_events: Option<bool>,
    include_entities: Option<bool>,
    /// Most related events, 0 to 100, default 10
    graph_budget: Option<i64>,
    /// Alone: the turns in order. With query: search inside it
    conversation_id: Option<String>,
    source: Option<String>,
    author: Option<String>,
    /// 2026-03-01 or with time and offset
    date_from: Option<String>,
    date_to: Option<String>,
    /// All of these
    tags: Option<Vec<String>>,
    min_importance: Option<f64>,
    /// Any of these; without query lists such events: Commitment, Execution, Decision, Collaboration, QualityRisk, Feedback, Change, Stakeholder
    categories: Option<Vec<String>>,
    /// Lists a person's events
    owner: Option<String>,
    /// Lists commitments: open, overdue, done, cancelled
    state: Option<String>,
    include_superseded: Option<bool>,
    /// Bound on the whole answer
    max_tokens: Option<i64>,
    /// concise (default) or full, with content
    detail: Option<String>,
    /// Show where each search arm ranked a result
    explain: Option<bool>,
    /// next_cursor of the page before
    cursor: Option<String>,
    /// Facts of this graph thread only
    #[serde(rename = "threadId")]
    thread_id: Option<String>,
    /// Turns or passages shown before and after each hit, 0 to 5, default 0
    neighbours: Option<i64>,
    /// Lowest score shown, default 0.15
    min_score: Option<f64>,
    /// Turns: oldest (default) or newest first
    order: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    results: Vec<ResultOut>,
    related: Vec<RelatedOut>,
    entities: Vec<EntityOut>,
    facts: Vec<FactOut>,
    /// Instructions and preferences of the user that bear on the query
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    directives: Vec<DirectiveOut>,
    total_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
    /// How a date in the query was understood: what is of that time comes first, the more so the surer it is
    #[serde(skip_serializing_if = "Option::is_none")]
    time_window: Option<TimeWindowOut>,
    /// So many of the results' texts are still to be read: their events come in a moment
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<Vec<TurnOut>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_turns: Option<i64>,
    /// Of a list of events
    #[serde(skip_serializing_if = "Option::is_none")]
    total_events: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ResultOut {
    id: String,
    score: f64,
    context: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    snippet: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// The content goes on: see next_cursor, or recall it by id
    #[serde(skip_serializing_if = "Option::is_none")]
    content_cut: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk: Option<ChunkOut>,
    date: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    participants: Vec<String>,
    importance: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_index: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    /// Newer text has taken its place
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Vec<EventOut>>,
    /// All events of the text, where fewer are shown
    #[serde(skip_serializing_if = "Option::is_none")]
    event_count: Option<i64>,
    /// The places of a text that is at several
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    places: Vec<TextPlaceOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place_count: Option<i64>,
    #[serde(skip)]
    is_event: bool,
    #[serde(skip)]
    all_events: i64,
    /// Of the content that was read for this answer.
    #[serde(skip)]
    content_chars: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<ExplainOut>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    neighbours: Vec<NeighbourOut>,
}

/// A time that the query names
#[derive(Debug, Serialize, JsonSchema)]
struct TimeWindowOut {
    /// As date_from takes it; absent where it is open
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// As date_to takes it; absent where it is open
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    phrase: String,
    /// 0 to 1
    certainty: f64,
    /// Nothing found is of that time: the results are of others
    #[serde(skip_serializing_if = "Option::is_none")]
    unmatched: Option<bool>,
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
struct TextPlaceOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_index: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// Newer text has taken its place there
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded: Option<bool>,
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
struct NeighbourOut {
    id: String,
    /// before or after
    position: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_index: Option<i32>,
    text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ChunkOut {
    index: usize,
    start_char: usize,
    end_char: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ExplainOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    vector: Option<PlaceOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lexical: Option<PlaceOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    late_interaction: Option<PlaceOut>,
    /// What the arms' shares were multiplied by: the less the best found answers the question, the less
    sureness: f64,
    /// Taken off for the text's length
    length: f64,
    /// Taken off since an assistant said it, where it is asked what the user said
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<f64>,
    /// The arms' shares, length and role together
    passage: f64,
    /// These and passage add up to the score
    neighbourhood: f64,
    /// For a date that fits the query
    time: f64,
    priors: f64,
    /// Gained to rank before outdated texts of its place
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reranker: Option<PlaceOut>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlaceOut {
    rank: usize,
    /// Cosine similarity, BM25, mean best similarity of the question's tokens, or the reranker's judgement
    score: f64,
    /// What it adds to the result's score
    share: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EventOut {
    id: String,
    category: String,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_time: Option<String>,
    /// Of a commitment: open, done, cancelled or overdue
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    /// The event that says it is done
    #[serde(skip_serializing_if = "Option::is_none")]
    fulfilled_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled_by: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    actors: Vec<ActorOut>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    subjects: Vec<String>,
    confidence: f64,
    evidence: Vec<EvidenceOut>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ActorOut {
    name: String,
    role: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EvidenceOut {
    quote: String,
    start_char: usize,
    end_char: usize,
    artifact_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RelatedOut {
    id: String,
    category: String,
    reason: String,
    summary: String,
    evidence: Vec<EvidenceOut>,
    artifact_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_time: Option<String>,
    /// Of a commitment: open, done, cancelled or overdue
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    /// The event that says it is done
    #[serde(skip_serializing_if = "Option::is_none")]
    fulfilled_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled_by: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EntityOut {
    name: String,
    r#type: String,
    mention_count: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    graph: Vec<LinkOut>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    possibly_same: Vec<MaybeSameOut>,
}

/// Another entity that may be this one
#[derive(Debug, Serialize, JsonSchema)]
struct MaybeSameOut {
    name: String,
    r#type: String,
    status: &'static str,
    score: f64,
    needs_review: bool,
}

/// What the user wants for longer than one answer, in their words
#[derive(Debug, Serialize, JsonSchema)]
struct DirectiveOut {
    text: String,
    /// When it holds; absent where it always does
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    /// namespace, or conversation where it holds in one only
    scope: &'static str,
    since: String,
    artifact_id: String,
    /// Where the text stands in the artifact
    evidence: SpanOut,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SpanOut {
    start_char: usize,
    end_char: usize,
}

/// What the knowledge graph says
#[derive(Debug, Serialize, JsonSchema)]
struct FactOut {
    entity: String,
    r#type: String,
    observation: String,
    #[serde(rename = "threadId")]
    thread_id: String,
    /// How well it meets the query; absent where it is shown for its entity
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    relations: Vec<RelationOut>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RelationOut {
    from: String,
    relation_type: String,
    to: String,
}

/// A graph entity that this one may be
#[derive(Debug, Serialize, JsonSchema)]
struct LinkOut {
    #[serde(rename = "threadId")]
    thread_id: String,
    name: String,
    r#type: String,
    status: &'static str,
    score: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TurnOut {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    turn_index: i32,
    ts: String,
    content: String,
    /// The content goes on: recall it by id
    #[serde(skip_serializing_if = "Option::is_none")]
    content_cut: Option<bool>,
}

/// A short decimal: the nearest 32-bit float would be written with sixteen digits.
fn decimal(value: f32, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (f64::from(value) * scale).round() / scale
}

fn rfc3339(timestamp: Option<Timestamp>) -> Option<String> {
    timestamp.map(|t| t.to_string())
}

impl From<StoredEvidence> for EvidenceOut {
    fn from(e: StoredEvidence) -> Self {
        Self { quote: e.quote, start_char: e.start_char, end_char: e.end_char, artifact_id: e.artifact_id }
    }
}

/// What has become of a commitment, with the event that ended it.
#[derive(Default)]
struct CommitmentStatus {
    state: Option<&'static str>,
    fulfilled_by: Option<String>,
    cancelled_by: Option<String>,
}

impl CommitmentStatus {
    fn of(category: &str, ended: Option<&EndedBy>, due: Option<Timestamp>) -> Self {
        if Category::parse(category) != Some(Category::Commitment) {
            return Self::default();
        }
        let state = EndedBy::state_of(ended, due, Timestamp::now());
        let by = |wanted| ended.filter(|_| state == wanted).map(|ended| ended.event_id.clone());
        Self {
            state: Some(state.as_str()),
            fulfilled_by: by(CommitmentState::Done),
            cancelled_by: by(CommitmentState::Cancelled),
        }
    }
}

impl From<StoredEvent> for EventOut {
    fn from(event: StoredEvent) -> Self {
        let status = CommitmentStatus::of(&event.category, event.ended.as_ref(), event.due_time);
        Self {
            state: status.state,
            fulfilled_by: status.fulfilled_by,
            cancelled_by: status.cancelled_by,
            id: event.id,
            category: event.category,
            summary: event.narrative,
            event_time: rfc3339(event.event_time),
            due_time: rfc3339(event.due_time),
            actors: event.actors.into_iter().map(|a| ActorOut { name: a.name, role: a.role }).collect(),
            subjects: event.subjects,
            confidence: decimal(event.confidence, 2),
            evidence: event.evidence.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<ArmPlace> for PlaceOut {
    fn from(place: ArmPlace) -> Self {
        Self { rank: place.rank, score: decimal(place.score, 3), share: decimal(place.share, 3) }
    }
}

fn result_out(recalled: Recalled) -> ResultOut {
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
        explain: recalled.explanation.map(|e| ExplainOut {
            vector: e.vector.map(Into::into),
            lexical: e.lexical.map(Into::into),
            late_interaction: e.late.map(Into::into),
            sureness: decimal(e.sureness, 3),
            length: decimal(e.artifact.length, 3),
            role: (e.artifact.role != 0.0).then(|| decimal(e.artifact.role, 3)),
            passage: decimal(e.artifact.passage, 3),
            neighbourhood: decimal(e.artifact.neighbourhood, 3),
            time: decimal(e.artifact.time, 3),
            priors: decimal(e.artifact.priors, 3),
            place: (e.artifact.place > 0.0).then(|| decimal(e.artifact.place, 3)),
            reranker: e.artifact.reranker.map(Into::into),
        }),
        neighbours: recalled.neighbours.into_iter().map(neighbour_out).collect(),
    }
}

fn neighbour_out(neighbour: Neighbour) -> NeighbourOut {
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

fn fact_out(fact: Fact) -> FactOut {
    let relations = fact.stored.relations.into_iter();
    FactOut {
        entity: fact.stored.entity,
        r#type: fact.stored.entity_type,
        observation: fact.stored.observation,
        thread_id: fact.stored.thread,
        score: fact.score.map(|score| decimal(score, 4)),
        relations: relations
            .map(|r| RelationOut { from: r.from, relation_type: r.relation_type, to: r.to })
            .collect(),
    }
}

fn directive_out(directive: Directive) -> DirectiveOut {
    DirectiveOut {
        text: directive.quote,
        condition: directive.condition,
        scope: if directive.conversation_id.is_some() { "conversation" } else { "namespace" },
        since: directive.since.to_string(),
        artifact_id: directive.artifact_id,
        evidence: SpanOut { start_char: directive.span.start, end_char: directive.span.end },
    }
}

fn link_out(link: EntityLink) -> LinkOut {
    LinkOut {
        thread_id: link.thread,
        name: link.name,
        r#type: link.entity_type,
        status: "possibly_same",
        score: decimal(link.score, 2),
    }
}

fn entity_out(entity: FoundEntity, links: Vec<EntityLink>) -> EntityOut {
    let maybe_same = |other: MaybeSame| MaybeSameOut {
        name: other.name,
        r#type: entity.entity_type.clone(),
        status: "possibly_same",
        score: decimal(other.score, 2),
        needs_review: true,
    };
    EntityOut {
        possibly_same: entity.possibly_same.into_iter().map(maybe_same).collect(),
        name: entity.name,
        r#type: entity.entity_type,
        mention_count: entity.mention_count,
        aliases: entity.aliases,
        graph: links.into_iter().map(link_out).collect(),
    }
}

fn related_out(event: RelatedEvent) -> RelatedOut {
    let status = CommitmentStatus::of(&event.category, event.ended.as_ref(), event.due_time);
    RelatedOut {
        id: event.id,
        category: event.category,
        reason: event.reason,
        summary: event.narrative,
        evidence: event.evidence.into_iter().map(Into::into).collect(),
        artifact_id: event.artifact_id,
        event_time: rfc3339(event.event_time),
        due_time: rfc3339(event.due_time),
        state: status.state,
        fulfilled_by: status.fulfilled_by,
        cancelled_by: status.cancelled_by,
    }
}

fn output(recall: Recall) -> Output {
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
        unread: Some(recall.unread).filter(|unread| *unread > 0),
        conversation_id: conversation.as_ref().map(|c| c.conversation_id.clone()),
        total_turns: conversation.as_ref().map(|c| c.total_turns),
        total_events: recall.total_events,
        turns: conversation.map(|c| c.turns.into_iter().map(turn_out).collect()),
    }
}

fn turn_out(turn: Turn) -> TurnOut {
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

/// The answer as it is sent: within the bound that was asked for, or that a default answer has.
fn shown(request: &RecallRequest, mut recall: Recall) -> Output {
    let paging = std::mem::take(&mut recall.paging);
    let mut output = output(recall);
    fit::show_events(&mut output, request);
    match fit::bound(request) {
        Some(bound) => fit::fit(output, bound, request.max_tokens.is_some(), &paging),
        None => output,
    }
}

/// The size of an answer as a client gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerSize {
    /// Of its JSON.
    pub tokens: usize,
    /// How many results it shows, from the first.
    pub results: usize,
}

/// How large the answer that a client gets of a recall is.
pub fn answer_size(request: &RecallRequest, recall: Recall) -> serde_json::Result<AnswerSize> {
    let output = shown(request, recall);
    let tokens = count_tokens(&serde_json::to_value(&output)?.to_string());
    Ok(AnswerSize { tokens, results: output.results.len() })
}

pub(super) fn tool() -> Registered {
    let declared = Declared {
        name: "recall",
        title: "Recall",
        description: "Search memory by meaning and words, fetch by id or conversation, or list events by category, owner \
                      or state. Answers passages best first, with the events in them, related events of the same people \
                      and subjects, and entities.",
        read_only: true,
        destructive: false,
        idempotent: true,
    };
    register::<Input, Output>(&declared, |call, given| run(call, given).boxed())
}

async fn run(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
    let input: Input = arguments("recall", given)?;
    let request = RecallRequest::new(RecallDraft {
        query: input.query,
        id: input.id,
        context: input.context,
        limit: input.limit,
        expand: input.expand,
        include_events: input.include_events,
        include_entities: input.include_entities,
        graph_budget: input.graph_budget,
        conversation_id: input.conversation_id,
        source: input.source,
        author: input.author,
        date_from: input.date_from,
        date_to: input.date_to,
        tags: input.tags.unwrap_or_default(),
        min_importance: input.min_importance,
        categories: input.categories.unwrap_or_default(),
        include_superseded: input.include_superseded,
        max_tokens: input.max_tokens,
        detail: input.detail,
        explain: input.explain,
        cursor: input.cursor,
        graph: call.graph.reach(input.thread_id)?,
        neighbours: input.neighbours,
        min_score: input.min_score,
        order: input.order,
        owner: input.owner,
        state: input.state,
    })?;
    let recall = call.memory.recall(&call.namespace, &request).await?;
    answer(&shown(&request, recall))
}
