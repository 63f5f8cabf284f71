//! What was extracted from a revision, as a line: the entities and the events in it.

use std::collections::HashMap;

use jiff::Timestamp;
use memory_language::text::{CharIndex, CharSpan, cut};
use serde::{Deserialize, Serialize};

use crate::Invalid;
use crate::entity::EntityType;
use crate::event::{
    Actor, ActorRole, Category, Evidence, ExtractedEntity, ExtractedEvent, Extraction, Mention,
};
use crate::graph::share;

/// The extraction of one revision, after that revision and those that its evidence lies in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivedExtraction {
    /// The number of the revision.
    pub revision: u64,
    pub extractor: String,
    pub extractor_version: i32,
    pub extracted_at: Timestamp,
    /// How much the extractor said that the text does not bear out.
    pub rejected: i32,
    /// Another extraction of the revision was requested.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<ArchivedName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<ArchivedEvent>,
}

/// An entity that the revision names. Events refer to it by its index, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivedName {
    pub name: String,
    pub entity_type: String,
    /// What distinguishes it from others of that name, where there are several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub distinguisher: String,
    /// The names that this revision uses for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// From which to which character of the content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<(usize, usize)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivedEvent {
    pub category: String,
    pub narrative: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_time: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_time: Option<Timestamp>,
    pub confidence: f32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actors: Vec<ArchivedActor>,
    pub evidence: Vec<ArchivedEvidence>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivedActor {
    pub entity: usize,
    pub role: String,
}

/// From which to which character of a content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivedEvidence {
    /// The number of the revision, where it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    pub start: usize,
    pub end: usize,
}

impl ArchivedExtraction {
    /// The revisions that it refers to, its own first.
    pub fn revisions(&self) -> Vec<u64> {
        let mut revisions = vec![self.revision];
        for evidence in self.events.iter().flat_map(|event| &event.evidence) {
            let revision = evidence.revision.unwrap_or(self.revision);
            if !revisions.contains(&revision) {
                revisions.push(revision);
            }
        }
        revisions
    }

    /// Those of the entities, in their order.
    pub fn distinguishers(&self) -> Vec<String> {
        self.entities.iter().map(|named| named.distinguisher.clone()).collect()
    }

    /// With the contents of [`revisions`](Self::revisions), in that order.
    pub fn with_contents(self, contents: &[&str]) -> Result<Extraction, Invalid> {
        let segments: HashMap<u64, usize> = self.revisions().into_iter().zip(0..).collect();
        let indexes: Vec<CharIndex> = contents.iter().map(|content| CharIndex::new(content)).collect();
        let quoted = |segment: usize, start: usize, end: usize| {
            let span = (start < end).then(|| CharSpan::new(start, end));
            let quote = span.and_then(|span| indexes.get(segment)?.slice(contents.get(segment)?, span));
            span.zip(quote)
                .map(|(span, quote)| (span, quote.to_owned()))
                .ok_or_else(|| Invalid::new(format!("characters {start} to {end} are not in the content")))
        };
        let entities = self.entities.into_iter().map(|named| {
            let mentions = named.mentions.into_iter().map(|(start, end)| {
                quoted(0, start, end).map(|(span, surface)| Mention { segment: 0, span, surface })
            });
            Ok(ExtractedEntity {
                entity_type: known("entity type", &named.entity_type, EntityType::parse)?,
                mentions: mentions.collect::<Result<_, Invalid>>()?,
                name: named.name,
                aliases: named.aliases,
            })
        });
        let entities: Vec<ExtractedEntity> = entities.collect::<Result<_, Invalid>>()?;
        let numbered = |n: usize| {
            (n < entities.len()).then_some(n).ok_or_else(|| Invalid::new(format!("there is no entity {n}")))
        };
        let event = |event: ArchivedEvent| {
            let evidence = event.evidence.iter().map(|evidence| {
                let segment = segments.get(&evidence.revision.unwrap_or(self.revision)).copied().unwrap_or(0);
                let (span, quote) = quoted(segment, evidence.start, evidence.end)?;
                Ok(Evidence { segment, span, quote })
            });
            let actors = event.actors.iter().map(|actor| {
                Ok(Actor {
                    entity: numbered(actor.entity)?,
                    role: known("role", &actor.role, ActorRole::parse)?,
                })
            });
            let evidence: Vec<Evidence> = evidence.collect::<Result<_, Invalid>>()?;
            if evidence.is_empty() {
                return Err(Invalid::new("an event has no evidence"));
            }
            share("confidence", Some(f64::from(event.confidence)))?;
            Ok(ExtractedEvent {
                category: known("category", &event.category, Category::parse)?,
                event_time: event.event_time,
                due_time: event.due_time,
                subject: event.subject.map(numbered).transpose()?,
                actors: actors.collect::<Result<_, Invalid>>()?,
                confidence: event.confidence,
                evidence,
                narrative: event.narrative,
            })
        };
        let events = self.events.into_iter().map(event).collect::<Result<_, Invalid>>()?;
        Ok(Extraction { entities, events, ..Extraction::default() })
    }
}

fn known<T>(what: &str, text: &str, parse: fn(&str) -> Option<T>) -> Result<T, Invalid> {
    parse(text).ok_or_else(|| Invalid::new(format!("'{}' is no {what}", cut(text, 40))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> ArchivedExtraction {
        ArchivedExtraction {
            revision: 5,
            extractor: "rules".into(),
            extractor_version: 1,
            extracted_at: Timestamp::UNIX_EPOCH,
            rejected: 0,
            stale: false,
            entities: vec![ArchivedName {
                name: "Zoë".into(),
                entity_type: "person".into(),
                distinguisher: String::new(),
                aliases: vec!["Zoë".into()],
                mentions: vec![(0, 3)],
            }],
            events: vec![ArchivedEvent {
                category: "Decision".into(),
                narrative: "Zoë decided.".into(),
                event_time: None,
                due_time: None,
                confidence: 1.0,
                subject: None,
                actors: vec![ArchivedActor { entity: 0, role: "owner".into() }],
                evidence: vec![
                    ArchivedEvidence { revision: None, start: 4, end: 11 },
                    ArchivedEvidence { revision: Some(2), start: 0, end: 4 },
                ],
            }],
        }
    }

    #[test]
    fn quotes_are_taken_from_the_contents() {
        assert_eq!(line().revisions(), [5, 2]);
        let extraction = line().with_contents(&["Zoë decided it.", "Good."]).unwrap();
        assert_eq!(extraction.entities[0].mentions[0].surface, "Zoë");
        let quotes: Vec<&str> = extraction.events[0].evidence.iter().map(|e| e.quote.as_str()).collect();
        assert_eq!(quotes, ["decided", "Good"]);
    }

    #[test]
    fn what_the_contents_do_not_have_is_refused() {
        let refused = |change: fn(&mut ArchivedExtraction)| {
            let mut line = line();
            change(&mut line);
            line.with_contents(&["Zoë decided it.", "Good."]).unwrap_err().0
        };
        assert!(refused(|l| l.events[0].evidence[1].end = 6).contains("characters 0 to 6"));
        assert!(refused(|l| l.entities[0].mentions[0] = (3, 3)).contains("characters 3 to 3"));
        assert!(refused(|l| l.events[0].subject = Some(1)).contains("no entity 1"));
        assert!(refused(|l| l.events[0].category = "Party".into()).contains("'Party' is no category"));
        assert!(refused(|l| l.events[0].evidence.clear()).contains("no evidence"));
    }
}
