//! What comes with the results: events, entities, facts and the user's directives.

use jiff::Timestamp;
use memory_core::commitment::CommitmentState;
use memory_core::event::{Category, EndedBy, StoredEvent, StoredEvidence};
use memory_engine::directives::Directive;
use memory_engine::recall::{EntityLink, Fact, FoundEntity, MaybeSame, RelatedEvent};
use schemars::JsonSchema;
use serde::Serialize;

use super::formats::{decimal, rfc3339};

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EventOut {
    pub(super) id: String,
    pub(super) category: String,
    pub(super) summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) event_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) due_time: Option<String>,
    /// Of a commitment: open, done, cancelled or overdue
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<&'static str>,
    /// The event or text that says it is done
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fulfilled_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cancelled_by: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) actors: Vec<ActorOut>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) subjects: Vec<String>,
    pub(super) confidence: f64,
    pub(super) evidence: Vec<EvidenceOut>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ActorOut {
    pub(super) name: String,
    pub(super) role: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EvidenceOut {
    pub(super) quote: String,
    pub(super) start_char: usize,
    pub(super) end_char: usize,
    pub(super) artifact_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RelatedOut {
    pub(super) id: String,
    pub(super) category: String,
    pub(super) reason: String,
    pub(super) summary: String,
    pub(super) evidence: Vec<EvidenceOut>,
    pub(super) artifact_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) event_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) due_time: Option<String>,
    /// Of a commitment: open, done, cancelled or overdue
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<&'static str>,
    /// The event or text that says it is done
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fulfilled_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cancelled_by: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EntityOut {
    pub(super) name: String,
    r#type: String,
    pub(super) mention_count: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) aliases: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) graph: Vec<LinkOut>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) possibly_same: Vec<MaybeSameOut>,
}

/// Another entity that may be this one
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MaybeSameOut {
    pub(super) name: String,
    r#type: String,
    pub(super) status: &'static str,
    pub(super) score: f64,
    pub(super) needs_review: bool,
}

/// What the user wants for longer than one answer, in their words
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DirectiveOut {
    pub(super) text: String,
    /// The sentence it stands in, where that says more
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sentence: Option<String>,
    /// When it holds; absent where it always does
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) condition: Option<String>,
    /// namespace, or conversation where it holds in one only
    pub(super) scope: &'static str,
    pub(super) since: String,
    pub(super) artifact_id: String,
    /// Where the text stands in the artifact
    pub(super) evidence: SpanOut,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SpanOut {
    pub(super) start_char: usize,
    pub(super) end_char: usize,
}

/// What the knowledge graph says
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FactOut {
    pub(super) entity: String,
    r#type: String,
    pub(super) observation: String,
    #[serde(rename = "threadId")]
    pub(super) thread_id: String,
    /// How well it meets the query; absent where it is shown for its entity
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) score: Option<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) relations: Vec<RelationOut>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RelationOut {
    pub(super) from: String,
    pub(super) relation_type: String,
    pub(super) to: String,
}

/// A graph entity that this one may be
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LinkOut {
    #[serde(rename = "threadId")]
    pub(super) thread_id: String,
    pub(super) name: String,
    r#type: String,
    pub(super) status: &'static str,
    pub(super) score: f64,
}

impl From<StoredEvidence> for EvidenceOut {
    fn from(e: StoredEvidence) -> Self {
        Self { quote: e.quote, start_char: e.start_char, end_char: e.end_char, artifact_id: e.artifact_id }
    }
}

/// What has become of a commitment, with the event or text that ended it.
#[derive(Default)]
pub(super) struct CommitmentStatus {
    pub(super) state: Option<&'static str>,
    pub(super) fulfilled_by: Option<String>,
    pub(super) cancelled_by: Option<String>,
}

impl CommitmentStatus {
    fn of(category: &str, ended: Option<&EndedBy>, due: Option<Timestamp>) -> Self {
        if Category::parse(category) != Some(Category::Commitment) {
            return Self::default();
        }
        let state = EndedBy::state_of(ended, due, Timestamp::now());
        let by = |wanted| ended.filter(|_| state == wanted).map(|ended| ended.by.clone());
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

pub(super) fn fact_out(fact: Fact) -> FactOut {
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

pub(super) fn directive_out(directive: Directive) -> DirectiveOut {
    DirectiveOut {
        text: directive.quote,
        sentence: directive.sentence,
        condition: directive.condition,
        scope: if directive.conversation_id.is_some() { "conversation" } else { "namespace" },
        since: directive.since.to_string(),
        artifact_id: directive.artifact_id,
        evidence: SpanOut { start_char: directive.span.start, end_char: directive.span.end },
    }
}

pub(super) fn link_out(link: EntityLink) -> LinkOut {
    LinkOut {
        thread_id: link.thread,
        name: link.name,
        r#type: link.entity_type,
        status: "possibly_same",
        score: decimal(link.score, 2),
    }
}

pub(super) fn entity_out(entity: FoundEntity, links: Vec<EntityLink>) -> EntityOut {
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

pub(super) fn related_out(event: RelatedEvent) -> RelatedOut {
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
