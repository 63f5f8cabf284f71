//! A model's answer, which may be anything: found in whatever surrounds it, read field by field, bounded, and repaired
//! only where one reading is left.

use memory_core::entity::EntityType;
use memory_core::event::{ActorRole, Category};
use serde_json::Value;

/// Of one answer no more is taken.
const EVENTS_MAX: usize = 100;
const ENTITIES_MAX: usize = 200;
const ACTORS_MAX: usize = 20;
const ALIASES_MAX: usize = 10;
const NUMBERS_MAX: usize = 40;
const NARRATIVE_CHARS: usize = 500;
const NAME_CHARS: usize = 100;
const QUOTE_CHARS: usize = 2_000;
/// So often another brace is tried as the begin of the object.
const BEGINNINGS_MAX: usize = 60;
const CONFIDENCE_UNSAID: f32 = 0.7;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Answer {
    pub(super) events: Vec<RawEvent>,
    pub(super) entities: Vec<RawEntity>,
    /// Events that are none: not of the closed set, without a quote, or beyond the limit.
    pub(super) dropped: usize,
    /// Categories that were understood though not named exactly.
    pub(super) repaired: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct RawEvent {
    pub(super) category: Category,
    pub(super) narrative: String,
    pub(super) sentences: Vec<usize>,
    pub(super) quotes: Vec<String>,
    pub(super) actors: Vec<(String, ActorRole)>,
    pub(super) subject: Option<String>,
    pub(super) event_time: Option<String>,
    pub(super) due_time: Option<String>,
    pub(super) confidence: f32,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct RawEntity {
    pub(super) name: String,
    pub(super) entity_type: EntityType,
    pub(super) aliases: Vec<String>,
}

impl Answer {
    /// How many events it claims.
    pub(super) fn claimed(&self) -> usize {
        self.events.len() + self.dropped
    }
}

/// Reads an answer; says what is wrong with one that cannot be used.
pub(super) fn parse(text: &str) -> Result<Answer, &'static str> {
    // What a model thinks aloud before it answers may hold drafts.
    let text = text.rsplit_once("</think>").map_or(text, |(_, answer)| answer);
    let (events, entities) = object_in(text)?;
    let mut answer = of_events(&events);
    answer.entities = entities.iter().take(ENTITIES_MAX).filter_map(read_entity).collect();
    Ok(answer)
}

/// The complete events of an answer that breaks off.
pub(super) fn parse_cut(text: &str) -> Answer {
    let text = match text.rsplit_once("</think>") {
        Some((_, answer)) => answer,
        None if text.trim_start().starts_with("<think>") => return Answer::default(),
        None => text,
    };
    let mut at = text.find("\"events\"").map_or(text.len(), |key| key + "\"events\"".len());
    let skip = |at: usize, marks: &[char]| {
        let rest = &text[at..];
        at + rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || marks.contains(&c)).len()
    };
    at = skip(at, &[':']);
    if !text[at..].starts_with('[') {
        return Answer::default();
    }
    let mut events = Vec::new();
    at = skip(at + 1, &[]);
    loop {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        let Some(Ok(event)) = values.next() else { return of_events(&events) };
        events.push(event);
        at = skip(at + values.byte_offset(), &[',']);
    }
}

fn of_events(events: &[Value]) -> Answer {
    let mut answer = Answer { dropped: events.len().saturating_sub(EVENTS_MAX), ..Answer::default() };
    for event in events.iter().take(EVENTS_MAX) {
        match read_event(event, &mut answer.repaired) {
            Some(event) => answer.events.push(event),
            None => answer.dropped += 1,
        }
    }
    answer
}

/// The events and entities of the first object in the text that has them.
fn object_in(text: &str) -> Result<(Vec<Value>, Vec<Value>), &'static str> {
    let mut problem = None;
    let mut at = 0;
    for _ in 0..BEGINNINGS_MAX {
        let Some(begin) = text[at..].find(['{', '[']).map(|found| at + found) else { break };
        let mut values = serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Object(mut object))) => match (object.remove("events"), object.remove("entities"))
            {
                (Some(Value::Array(events)), Some(Value::Array(entities))) => return Ok((events, entities)),
                (Some(Value::Array(events)), _) => return Ok((events, Vec::new())),
                (Some(_), _) => _ = problem.get_or_insert("its \"events\" is no list"),
                (None, _) => _ = problem.get_or_insert("it has no \"events\""),
            },
            Some(Ok(Value::Array(events))) if events.iter().any(|event| event["category"].is_string()) => {
                return Ok((events, Vec::new()));
            }
            Some(Ok(_)) => {}
            _ => {
                problem.get_or_insert("its JSON is broken or not complete");
                at = begin + 1;
                continue;
            }
        }
        at = begin + values.byte_offset().max(1);
    }
    Err(problem.unwrap_or("it holds no JSON object"))
}

fn read_event(event: &Value, repaired: &mut usize) -> Option<RawEvent> {
    let said = event["category"].as_str()?;
    let category = Category::understood(said)?;
    *repaired += usize::from(category.as_str() != said);
    let quotes: Vec<String> =
        texts(&event["quote"], QUOTE_CHARS, 3).chain(texts(&event["quotes"], QUOTE_CHARS, 3)).collect();
    if quotes.is_empty() {
        return None;
    }
    let actors = event["actors"].as_array().map(Vec::as_slice).unwrap_or_default();
    Some(RawEvent {
        category,
        narrative: text(&event["narrative"], NARRATIVE_CHARS).unwrap_or_default(),
        sentences: numbers(&event["sentences"]),
        quotes,
        actors: actors.iter().take(ACTORS_MAX).filter_map(actor).collect(),
        subject: text(&event["subject"], NAME_CHARS),
        event_time: text(&event["event_time"], 40),
        due_time: text(&event["due_time"], 40),
        confidence: confidence(&event["confidence"]),
    })
}

fn actor(actor: &Value) -> Option<(String, ActorRole)> {
    if let Some(name) = text(actor, NAME_CHARS) {
        return Some((name, ActorRole::Other));
    }
    let role = actor["role"].as_str().map(str::to_lowercase).unwrap_or_default();
    Some((text(&actor["name"], NAME_CHARS)?, ActorRole::parse(role.trim()).unwrap_or(ActorRole::Other)))
}

fn read_entity(entity: &Value) -> Option<RawEntity> {
    Some(RawEntity {
        name: text(&entity["name"], NAME_CHARS)?,
        entity_type: entity_type(entity["type"].as_str().unwrap_or_default()),
        aliases: texts(&entity["aliases"], NAME_CHARS, ALIASES_MAX).collect(),
    })
}

fn entity_type(said: &str) -> EntityType {
    match said.trim().to_lowercase().as_str() {
        "person" | "people" | "per" | "human" | "user" => EntityType::Person,
        "org" | "organization" | "organisation" | "company" | "team" | "group" | "department" => {
            EntityType::Org
        }
        "project" | "product" | "initiative" | "program" | "programme" => EntityType::Project,
        "object" | "thing" | "document" | "system" | "software" | "tool" | "service" => EntityType::Object,
        "place" | "location" | "city" | "country" | "gpe" | "loc" => EntityType::Place,
        _ => EntityType::Other,
    }
}

fn confidence(said: &Value) -> f32 {
    let number = said.as_f64().or_else(|| said.as_str()?.trim().trim_end_matches('%').trim().parse().ok());
    match number {
        Some(share @ 0.0..=1.0) => share as f32,
        Some(percent @ 1.0..=100.0) => (percent / 100.0) as f32,
        _ => CONFIDENCE_UNSAID,
    }
}

/// Numbers of sentences, however they are written.
fn numbers(said: &Value) -> Vec<usize> {
    let number = |value: &Value| {
        let text = value.as_str().map(|text| text.trim_matches(|c: char| !c.is_ascii_digit()));
        value.as_u64().or_else(|| text?.parse().ok()).map(|number| number as usize)
    };
    match said {
        Value::Array(all) => all.iter().take(NUMBERS_MAX).filter_map(number).collect(),
        one => number(one).into_iter().collect(),
    }
}

/// One text or a list of them.
fn texts(said: &Value, max_chars: usize, max: usize) -> impl Iterator<Item = String> {
    let all = match said {
        Value::Array(all) => all.as_slice(),
        one => std::slice::from_ref(one),
    };
    all.iter().take(max).filter_map(move |one| text(one, max_chars))
}

/// A text on one line, without what is not seen; `None` when nothing is left.
fn text(said: &Value, max_chars: usize) -> Option<String> {
    let said = said.as_str()?;
    // Read no further than could be kept.
    let visible = said.chars().take(max_chars * 4).filter(|c| !super::prompt::is_unseen(*c));
    let spaced: String = visible.map(|c| if c.is_control() { ' ' } else { c }).collect();
    let text = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then(|| memory_language::text::cut(&text, max_chars))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const GOOD: &str = r#"{"events": [{"category": "Decision", "narrative": "n", "sentences": [1], "quote": "q"}], "entities": []}"#;

    #[test]
    fn the_object_is_found_in_whatever_surrounds_it() {
        for text in [
            GOOD.to_owned(),
            format!("Sure! Here is the JSON you asked for:\n{GOOD}\nHope that helps {{smile}}"),
            format!("```json\n{GOOD}\n```"),
            format!("<think>maybe {{\"events\": []}}?</think>{GOOD}"),
            format!("For {{example}} or [1]: {GOOD}"),
            format!("\u{FEFF}{GOOD}"),
            r#"[{"category": "Decision", "quote": "q"}]"#.to_owned(),
        ] {
            assert_eq!(parse(&text).map(|answer| answer.events.len()), Ok(1), "{text}");
        }
    }

    #[test]
    fn what_is_no_answer_is_told_and_never_taken_for_an_empty_one() {
        for text in [
            "",
            "I could not find any events.",
            "{}",
            "[]",
            "null",
            "[1, 2]",
            r#"{"events": {}}"#,
            r#"{"error": "x"}"#,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        let cut = &GOOD[..GOOD.len() - 20];
        assert_eq!(parse(cut), Err("its JSON is broken or not complete"));
        let deep = format!("{}1{}", "{\"events\":[".repeat(5_000), "]}".repeat(5_000));
        assert!(parse(&deep).is_err());
        assert!(parse(&"[".repeat(1_000_000)).is_err());
    }

    #[test]
    fn of_an_answer_that_breaks_off_the_complete_events_are_left() {
        let one = r#"{"category": "Decision", "sentences": [2], "quote": "q {[\"]}"}"#;
        let two = format!("{{\"events\": [{one}, {one}");
        for (text, count) in [
            (two.clone(), 2),
            (format!("{two},"), 2),
            (format!("```json\n{two}, {{\"category\": \"Change\", \"quote\": \"bro"), 2),
            (format!("{two}], \"entities\": [{{\"name\": \"An"), 2),
            (format!("{two}, {{\"category\": 3}}"), 2),
            (format!("<think>{{\"events\": []}}</think>{two}"), 2),
            (format!("<think>a draft: {two}"), 0),
            ("{\"events\": [".to_owned(), 0),
            ("{\"events\"".to_owned(), 0),
            ("{\"events\": {".to_owned(), 0),
            ("prose".to_owned(), 0),
            (String::new(), 0),
        ] {
            assert_eq!(parse_cut(&text).events.len(), count, "{text}");
        }
    }

    #[test]
    fn a_key_that_comes_twice_counts_once_and_fields_of_the_wrong_type_are_left_out() {
        let twice =
            r#"{"events": [], "events": [{"category": "Change", "category": "Decision", "quote": "q"}]}"#;
        let answer = parse(twice).unwrap();
        assert_eq!((answer.events.len(), answer.events[0].category), (1, Category::Decision));
        let odd = json!({"events": [7, null, {"category": 3}, {"category": "Decision"}, {"category": "Weather", "quote": "q"},
            {"category": "Decision", "quote": "q", "narrative": ["x"], "sentences": "[4]", "actors": ["Ann", {"name": "Bob", "role": "OWNER"}, 3],
             "subject": {}, "confidence": "85%"}], "entities": ["x", {"name": " Ann\u{0} Lee\n", "type": "Company", "aliases": "A"}]});
        let answer = parse(&odd.to_string()).unwrap();
        assert_eq!((answer.events.len(), answer.dropped), (1, 5));
        let event = &answer.events[0];
        assert_eq!((event.narrative.as_str(), &event.sentences[..], &event.subject), ("", &[4][..], &None));
        assert_eq!(
            event.actors,
            [("Ann".to_owned(), ActorRole::Other), ("Bob".to_owned(), ActorRole::Owner)]
        );
        assert!((event.confidence - 0.85).abs() < 0.001);
        assert_eq!(answer.entities.len(), 1);
        assert_eq!(
            (answer.entities[0].name.as_str(), answer.entities[0].entity_type),
            ("Ann Lee", EntityType::Org)
        );
    }

    #[test]
    fn repaired_names_of_categories_are_counted() {
        let event = |category: &str| json!({"category": category, "quote": "q"});
        let said = json!({"events": [event("Decision"), event("Quality Risks"), event("Desicion"), event("Weather")]});
        let answer = parse(&said.to_string()).unwrap();
        assert_eq!((answer.events.len(), answer.repaired, answer.dropped), (3, 2, 1));
    }

    #[test]
    fn a_flood_of_events_is_cut_and_counted() {
        let flood =
            format!("{{\"events\": [{}]}}", vec![r#"{"category":"Change","quote":"q"}"#; 50_000].join(","));
        let answer = parse(&flood).unwrap();
        assert_eq!((answer.events.len(), answer.claimed()), (EVENTS_MAX, 50_000));
        let long =
            json!({"events": [{"category": "Change", "quote": "q", "narrative": "x ".repeat(400_000)}]});
        assert!(parse(&long.to_string()).unwrap().events[0].narrative.chars().count() <= NARRATIVE_CHARS);
    }
}
