//! Semantic events, the evidence that carries them, and what an extractor gives back.

use jiff::Timestamp;
use memory_language::text::{CharIndex, CharSpan};
use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;
use crate::commitment::{CommitmentState, Ending};
use crate::entity::EntityType;

pub use crate::category::Category;

closed_set! {
    /// The part an actor has in an event.
    ActorRole {
        Owner = "owner",
        Contributor = "contributor",
        Reviewer = "reviewer",
        Stakeholder = "stakeholder",
        Other = "other",
    }
}

/// The most events of one text; an extractor drops the rest.
pub const EVENTS_MAX: usize = 2_000;

/// An exact quote of the source: `quote == text[span]`, always.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Which segment of the [`SourceText`](crate::ports::SourceText) the span counts in.
    pub segment: usize,
    pub span: CharSpan,
    pub quote: String,
}

/// An entity that the text names. Events refer to it by its index in [`Extraction::entities`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractedEntity {
    /// The fullest name seen, such as `Alice Chen`.
    pub name: String,
    pub entity_type: EntityType,
    /// Other names it goes by in this text: a first name, an e-mail address, a handle.
    pub aliases: Vec<String>,
    pub mentions: Vec<Mention>,
}

/// One occurrence of an entity's name, in whatever form it has there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    pub segment: usize,
    pub span: CharSpan,
    pub surface: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Actor {
    pub entity: usize,
    pub role: ActorRole,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ExtractedEvent {
    pub category: Category,
    /// One or two sentences that can be read without the source.
    pub narrative: String,
    /// When it happened or was said; never the deadline.
    pub event_time: Option<Timestamp>,
    /// When a promise falls due.
    pub due_time: Option<Timestamp>,
    /// Index of the entity the event is about.
    pub subject: Option<usize>,
    pub actors: Vec<Actor>,
    /// 0 to 1.
    pub confidence: f32,
    /// At least one.
    pub evidence: Vec<Evidence>,
}

/// What an extractor found in one source.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extraction {
    pub entities: Vec<ExtractedEntity>,
    pub events: Vec<ExtractedEvent>,
    /// What the extractor itself took out because the source does not bear it out.
    pub rejected: Rejected,
}

/// What was taken out of an extraction because it could not be proven.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Rejected {
    pub events: usize,
    pub mentions: usize,
}

impl Extraction {
    /// Keeps what the source confirms: every quote is at its span, every index points at something, every event has
    /// evidence. The rest is removed and counted, never repaired by guessing.
    #[must_use]
    pub fn verified(mut self, segments: &[&str]) -> (Self, Rejected) {
        let mut rejected = self.rejected;
        let indexes: Vec<CharIndex> = segments.iter().map(|text| CharIndex::new(text)).collect();
        let is_at = |segment: usize, span: CharSpan, quote: &str| {
            let text = segments.get(segment).zip(indexes.get(segment));
            !quote.is_empty() && text.and_then(|(text, index)| index.slice(text, span)) == Some(quote)
        };
        for entity in &mut self.entities {
            let before = entity.mentions.len();
            entity.mentions.retain(|m| is_at(m.segment, m.span, &m.surface));
            rejected.mentions += before - entity.mentions.len();
        }
        let entity_count = self.entities.len();
        let before = self.events.len();
        self.events.retain_mut(|event| {
            event.evidence.retain(|e| is_at(e.segment, e.span, &e.quote));
            event.actors.retain(|actor| actor.entity < entity_count);
            event.subject = event.subject.filter(|subject| *subject < entity_count);
            event.confidence =
                if event.confidence.is_finite() { event.confidence.clamp(0.0, 1.0) } else { 0.0 };
            !event.evidence.is_empty() && !event.narrative.trim().is_empty()
        });
        rejected.events += before - self.events.len();
        self.rejected = rejected;
        (self, rejected)
    }
}

/// An event as it is kept and shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredEvent {
    pub id: String,
    pub category: String,
    pub narrative: String,
    pub artifact_id: String,
    pub event_time: Option<Timestamp>,
    pub due_time: Option<Timestamp>,
    pub confidence: f32,
    /// Of a commitment: what ended it.
    #[serde(default)]
    pub ended: Option<EndedBy>,
    pub subjects: Vec<String>,
    pub actors: Vec<StoredActor>,
    pub evidence: Vec<StoredEvidence>,
}

/// What ended a commitment, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedBy {
    /// The id of an event, or of a text that was stored as one that ends it.
    pub by: String,
    /// The name of an [`Ending`].
    pub kind: String,
}

impl EndedBy {
    /// What has become of a commitment.
    pub fn state_of(ended: Option<&Self>, due: Option<Timestamp>, now: Timestamp) -> CommitmentState {
        CommitmentState::of(ended.and_then(|ended| Ending::parse(&ended.kind)), due, now)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredActor {
    pub name: String,
    pub role: String,
}

/// `quote` is the characters `start_char` to `end_char` of the artifact's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredEvidence {
    pub quote: String,
    pub start_char: usize,
    pub end_char: usize,
    pub artifact_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(quote: &str, start: usize, end: usize) -> ExtractedEvent {
        ExtractedEvent {
            category: Category::Decision,
            narrative: "They decided.".into(),
            event_time: None,
            due_time: None,
            subject: Some(9),
            actors: vec![],
            confidence: f32::NAN,
            evidence: vec![Evidence { segment: 0, span: CharSpan::new(start, end), quote: quote.into() }],
        }
    }

    #[test]
    fn evidence_that_is_not_in_the_source_is_rejected_and_counted() {
        let extraction = Extraction {
            entities: vec![],
            events: vec![event("we décided", 3, 13), event("we decided", 3, 13), event("x", 90, 91)],
            rejected: Rejected { events: 4, mentions: 0 },
        };
        let (kept, rejected) = extraction.verified(&["So we décided."]);
        assert_eq!((kept.events.len(), rejected.events), (1, 2 + 4));
        assert_eq!(kept.events[0].subject, None);
        assert!(kept.events[0].confidence.abs() < f32::EPSILON);
    }
}
