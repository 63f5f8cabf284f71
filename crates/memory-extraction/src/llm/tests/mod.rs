//! The extractor against a server that misbehaves in every way a server can.

#[allow(unreachable_pub, reason = "the end-to-end tests use it as well")]
pub(crate) mod server;

mod answers;
mod failures;
mod transport;

use std::time::Duration;

use memory_core::artifact::Context;
use memory_core::event::Extraction;
use memory_core::ports::{ExtractError, Extractor, Segment, SourceText};
use serde_json::{Value, json};

use super::{Key, LlmExtractor, LlmOptions};
use crate::RulesExtractor;
use server::ChatServer;

const TEXT: &str = "Alice Chen will send the API design to Bob by Friday, she said. The weather was mild. \
     We decided to use Postgres instead of MySQL for Apollo.";

fn document(text: &str) -> SourceText {
    SourceText {
        context: Context::Meeting,
        title: Some("Apollo sync".to_owned()),
        author: None,
        participants: vec!["Alice Chen".to_owned(), "Bob Stone".to_owned()],
        segments: vec![Segment {
            text: text.to_owned(),
            speaker: None,
            date: Some("2024-03-15T10:00:00Z".parse().expect("a date")),
            context_only: false,
            is_date_of_storing: false,
        }],
    }
}

fn extractor(server: &ChatServer) -> LlmExtractor {
    extractor_at(&server.url, Duration::from_secs(20))
}

fn extractor_at(url: &str, timeout: Duration) -> LlmExtractor {
    let key = Some(Key::new("sk-secret").expect("a key"));
    let options = LlmOptions {
        url: url.to_owned(),
        model: "scripted-1".to_owned(),
        key,
        timeout,
        allows_private: false,
    };
    LlmExtractor::new(options, RulesExtractor::new()).expect("the options are good")
}

/// What the extractor makes of the text, with every quote held against it.
async fn read(server: &ChatServer, text: &str) -> Result<Extraction, ExtractError> {
    let source = document(text);
    let found = extractor(server).extract(&source).await?;
    let before = (found.events.len(), found.rejected);
    let (found, rejected) = found.verified(&[text]);
    assert_eq!((found.events.len(), rejected), before, "everything is at its span");
    Ok(found)
}

fn event(category: &str, sentence: usize, quote: &str) -> Value {
    json!({"category": category, "narrative": format!("Told: {quote}."), "sentences": [sentence], "quote": quote,
        "actors": [{"name": "Alice Chen", "role": "owner"}], "subject": "Apollo", "event_time": null, "due_time": null,
        "confidence": 0.9})
}

fn answer(events: &[Value]) -> Value {
    json!({"events": events, "entities": [{"name": "Alice Chen", "type": "person", "aliases": ["Alice"]},
        {"name": "Apollo", "type": "project", "aliases": []}]})
}

fn good() -> Value {
    answer(&[
        event("Commitment", 1, "Alice Chen will send the API design to Bob by Friday"),
        event("Decision", 3, "We decided to use Postgres instead of MySQL"),
    ])
}
