//! The labels of a document as they are written, and all that can be wrong with them.

use std::collections::BTreeSet;

use memory_core::artifact::{Context, Role};
use memory_core::date::parse_date;
use memory_core::entity::{EntityType, normalised_name};
use memory_core::event::{ActorRole, Category};
use memory_core::ports::{Segment, SourceText};
use memory_language::text::{CharIndex, cut};
use serde::Deserialize;

use super::gold::{Document, KINDS, LabelledEntity, LabelledEvent, day_of};

/// The most events, and the most entities, of one document.
const LABELS_MAX: usize = 1_000;

/// The JSON file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Labels {
    context: String,
    title: Option<String>,
    author: Option<String>,
    /// Whose turn of a conversation it is: user or assistant.
    role: Option<String>,
    #[serde(default)]
    participants: Vec<String>,
    date: Option<String>,
    events: Vec<WrittenEvent>,
    entities: Vec<WrittenEntity>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenEvent {
    category: OneOrMore,
    quote: Option<String>,
    #[serde(default)]
    quotes: Vec<String>,
    #[serde(default)]
    actors: Vec<WrittenActor>,
    due: Option<String>,
    when: Option<String>,
    #[serde(default)]
    optional: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenActor {
    name: String,
    role: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenEntity {
    name: String,
    #[serde(rename = "type")]
    entity_type: String,
    #[serde(default)]
    aliases: Vec<String>,
}

/// A document, or all that is wrong with it.
pub(super) fn document(name: &str, text: String, labels: &str) -> Result<Document, Vec<String>> {
    let labels: Labels = serde_json::from_str(labels)
        .map_err(|e| vec![format!("{name}.json: not as labels are written: {e}")])?;
    let mut wrong = Vec::new();
    let kind = KINDS.into_iter().find(|kind| name.split_once('-').is_some_and(|(first, _)| first == *kind));
    if kind.is_none() {
        wrong.push(format!("the name must begin with its kind and a hyphen, one of {}", KINDS.join(", ")));
    }
    let context = Context::parse_or_explain(&labels.context).map_err(|e| wrong.push(e.to_string())).ok();
    let date = labels.date.as_deref().map(|date| parse_date("date", date));
    let date = date.transpose().map_err(|e| wrong.push(e.to_string())).ok().flatten();
    if let Some(role) = labels.role.as_deref().filter(|role| Role::parse(role).is_none()) {
        wrong.push(format!("unknown role '{}', must be one of {}", cut(role, 60), Role::names()));
    }
    for (what, count) in [("events", labels.events.len()), ("entities", labels.entities.len())] {
        if count > LABELS_MAX {
            wrong.push(format!("{count} {what}, the limit is {LABELS_MAX}"));
        }
    }
    let known = LabelContext { text: &text, labels: &labels };
    let entities = known.entities(&mut wrong);
    let index = CharIndex::new(&text);
    let events: Vec<LabelledEvent> = labels
        .events
        .iter()
        .enumerate()
        .map(|(n, event)| {
            let quote = event.quote.as_ref().or(event.quotes.first()).map_or("", String::as_str);
            let mut say =
                |what: String| wrong.push(format!("event {} (\"{}\"): {what}", n + 1, cut(quote, 60)));
            known.event(event, &index, &mut say)
        })
        .collect();
    match (kind, context) {
        (Some(kind), Some(context)) if wrong.is_empty() => {
            let segment =
                Segment { text, speaker: labels.role, date, context_only: false, is_date_of_storing: false };
            let source = SourceText {
                context,
                title: labels.title,
                author: labels.author,
                participants: labels.participants,
                segments: vec![segment],
            };
            Ok(Document { name: name.to_owned(), kind, source, events, entities, is_whole: true })
        }
        _ => Err(wrong.into_iter().map(|what| format!("{name}.json: {what}")).collect()),
    }
}

/// What labels are checked against.
struct LabelContext<'a> {
    text: &'a str,
    labels: &'a Labels,
}

impl LabelContext<'_> {
    fn entities(&self, wrong: &mut Vec<String>) -> Vec<LabelledEntity> {
        let mut seen = BTreeSet::new();
        let mut entities = Vec::with_capacity(self.labels.entities.len());
        for written in &self.labels.entities {
            let name = &written.name;
            let entity_type = EntityType::parse(&written.entity_type);
            if entity_type.is_none() {
                let (given, all) = (cut(&written.entity_type, 60), EntityType::names());
                wrong.push(format!("entity '{name}': unknown type '{given}', must be one of {all}"));
            }
            if !seen.insert(normalised_name(name)) {
                wrong.push(format!("entity '{name}' is there twice"));
            }
            if let Some(alias) = written.aliases.iter().find(|alias| !self.is_seen(alias)) {
                wrong.push(format!(
                    "entity '{name}': its alias '{alias}' is neither in the text nor beside it"
                ));
            }
            if written.aliases.is_empty() && !self.is_seen(name) {
                wrong.push(format!("entity '{name}' is neither in the text nor beside it"));
            }
            let names: BTreeSet<String> =
                written.aliases.iter().chain([name]).map(|name| normalised_name(name)).collect();
            if names.contains("") {
                wrong.push(format!("entity '{name}' has a name or alias without a letter"));
            }
            let entity_type = entity_type.unwrap_or(EntityType::Other);
            entities.push(LabelledEntity { name: name.clone(), entity_type, names });
        }
        entities
    }

    /// Whether a name is in the text or in what is known about it.
    fn is_seen(&self, name: &str) -> bool {
        let labels = self.labels;
        let beside = labels.title.iter().chain(&labels.author).chain(&labels.participants);
        self.text.contains(name) || beside.into_iter().any(|known| known.contains(name))
    }

    fn event(
        &self,
        written: &WrittenEvent,
        index: &CharIndex,
        wrong: &mut impl FnMut(String),
    ) -> LabelledEvent {
        let named = match &written.category {
            OneOrMore::One(one) => std::slice::from_ref(one),
            OneOrMore::More(more) => more,
        };
        let mut categories = Vec::new();
        for name in named {
            match Category::parse(name) {
                Some(category) => categories.push(category),
                None => wrong(format!(
                    "unknown category '{}', must be one of {}",
                    cut(name, 60),
                    Category::names()
                )),
            }
        }
        if named.is_empty() {
            wrong("it has no category".to_owned());
        }
        let quotes: Vec<String> = written.quote.iter().chain(&written.quotes).cloned().collect();
        if quotes.is_empty() || written.quote.is_some() && !written.quotes.is_empty() {
            wrong("it needs either a 'quote' or a list of 'quotes'".to_owned());
        }
        let spans = quotes
            .iter()
            .filter_map(|quote| match span_of(self.text, quote) {
                Ok(bytes) => Some(index.span(self.text, bytes)),
                Err(why) => {
                    wrong(format!("the quote '{}' {why}", cut(quote, 60)));
                    None
                }
            })
            .collect();
        let mut actors = Vec::new();
        for actor in &written.actors {
            let role = ActorRole::parse(&actor.role);
            if role.is_none() {
                let (given, all) = (cut(&actor.role, 60), ActorRole::names());
                wrong(format!("unknown role '{given}' of '{}', must be one of {all}", actor.name));
            }
            match self.entity_named(&actor.name) {
                Some(entity) => actors.push((entity, role.unwrap_or(ActorRole::Other))),
                None => wrong(format!("the actor '{}' is not among the entities", actor.name)),
            }
        }
        let mut day = |field: &str, value: Option<&str>| {
            let date = parse_date(field, value?);
            date.map_err(|e| wrong(e.to_string())).ok().map(day_of)
        };
        let due = day("due", written.due.as_deref());
        let when = day("when", written.when.as_deref());
        LabelledEvent { categories, quotes, spans, actors, due, when, is_optional: written.optional }
    }

    /// The entity of this name, else of this alias.
    fn entity_named(&self, name: &str) -> Option<usize> {
        let same = |other: &String| normalised_name(other) == normalised_name(name);
        let entities = &self.labels.entities;
        let by_name = entities.iter().position(|entity| same(&entity.name));
        by_name.or_else(|| entities.iter().position(|entity| entity.aliases.iter().any(same)))
    }
}

/// Where the one occurrence of a quote is, in bytes.
fn span_of(text: &str, quote: &str) -> Result<std::ops::Range<usize>, &'static str> {
    if quote.is_empty() || quote.trim() != quote {
        return Err("is empty or has spaces around it");
    }
    let start = text.find(quote).ok_or("is not in the text")?;
    let step = quote.chars().next().map_or(1, char::len_utf8);
    if text[start + step..].contains(quote) {
        return Err("is in the text more than once; make it longer");
    }
    Ok(start..start + quote.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Änne said: I'll send it by Friday. I'll call. I'll call Bob.";

    fn read(name: &str, change: impl FnOnce(&mut serde_json::Value)) -> Result<Document, String> {
        let mut labels = serde_json::json!({
            "context": "email", "title": null, "author": "Änne Berg", "participants": ["Bob"], "date": "2025-02-11T09:00:00Z",
            "events": [{
                "category": "Commitment", "quote": "I'll send it by Friday",
                "actors": [{ "name": "Änne Berg", "role": "owner" }], "due": "2025-02-14", "when": null, "optional": false,
            }],
            "entities": [{ "name": "Änne Berg", "type": "person", "aliases": ["Änne"] }, { "name": "Bob", "type": "person" }],
        });
        change(&mut labels);
        document(name, TEXT.to_owned(), &labels.to_string()).map_err(|wrong| wrong.join("\n"))
    }

    #[test]
    fn a_document_is_read_with_spans_in_characters() {
        let document = read("mail-it", |_| ()).unwrap();
        assert_eq!((document.kind, document.is_negative(), document.text()), ("mail", false, TEXT));
        let event = &document.events[0];
        assert_eq!(event.spans[0].of(TEXT), Some("I'll send it by Friday"));
        assert_eq!((event.due, event.when), (Some(jiff::civil::date(2025, 2, 14)), None));
        assert_eq!(
            (&*event.actors, &*event.categories),
            (&[(0, ActorRole::Owner)][..], &[Category::Commitment][..])
        );
        assert!(
            document.entities[0].names.contains("änne berg") && document.entities[0].names.contains("änne")
        );
        let two = read("negative-it", |labels| {
            labels["events"][0]["category"] = serde_json::json!(["Decision", "Change"]);
            labels["events"][0]["quote"] = serde_json::Value::Null;
            labels["events"][0]["quotes"] = serde_json::json!(["I'll send it", "I'll call Bob"]);
        });
        let two = two.unwrap();
        assert!(two.is_negative());
        assert_eq!((two.events[0].spans.len(), two.events[0].categories.len()), (2, 2));
    }

    #[test]
    fn what_is_wrong_is_said_with_file_and_value() {
        let refused = |pointer: &str, value: serde_json::Value, reason: &str| {
            let wrong = read("mail-it", |labels| *labels.pointer_mut(pointer).unwrap() = value).unwrap_err();
            assert!(wrong.starts_with("mail-it.json: ") && wrong.contains(reason), "{wrong}");
        };
        refused(
            "/events/0/quote",
            "I'll sell it".into(),
            "event 1 (\"I'll sell it\"): the quote 'I'll sell it' is not in the text",
        );
        refused("/events/0/quote", "I'll call".into(), "more than once");
        refused("/events/0/quote", " said".into(), "spaces around it");
        refused("/events/0/quote", serde_json::Value::Null, "either a 'quote'");
        refused(
            "/events/0/category",
            "Promise".into(),
            "unknown category 'Promise', must be one of Commitment",
        );
        refused("/events/0/actors/0/name", "Carla".into(), "the actor 'Carla' is not among the entities");
        refused("/events/0/actors/0/role", "boss".into(), "unknown role 'boss'");
        refused("/events/0/due", "Friday".into(), "Friday");
        refused("/entities/1/type", "animal".into(), "unknown type 'animal'");
        refused("/entities/1/name", "änne berg".into(), "is there twice");
        refused("/entities/1/name", "Zoe".into(), "entity 'Zoe' is neither");
        refused("/entities/0/aliases/0", "Anni".into(), "alias 'Anni'");
        refused("/context", "letter".into(), "Invalid context 'letter'");
        refused("/date", "yesterday".into(), "yesterday");
        refused("/entities", "none".into(), "not as labels are written");
        let unnamed = read("letter-it", |_| ()).unwrap_err();
        assert!(unnamed.contains("letter-it.json: the name must begin with its kind"), "{unnamed}");
    }
}
