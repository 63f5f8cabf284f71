//! Messages as they come over HTTP, before anything is made of them: what passes is JSON, and its id is found.
//!
//! What the tools make of their arguments is behind a database: see http_arguments.py.
#![no_main]
#![allow(dead_code, reason = "of the module only some is called")]

use libfuzzer_sys::fuzz_target;
use memory_core::artifact::{Draft, NewArtifact};
use serde_json::Value;

#[path = "../../crates/remembrancer/src/message.rs"]
mod message;

fuzz_target!(|data: &[u8]| {
    let checked = message::check(data);
    let (head, tail) = data.split_at(data.len() / 2);
    let _ = message::id_of_parts(head, tail);
    match checked {
        Err(fault) => assert!(
            fault.answer()["error"]["message"].as_str().is_some_and(|what| what.chars().count() < 250)
        ),
        Ok(()) => {
            let value: Value = serde_json::from_slice(data).expect("what passes is JSON");
            let id = message::id_of(data);
            if !id.is_null() {
                assert_eq!(id, value["id"]);
            }
            remember(&value);
        }
    }
});

/// The arguments of `remember` are checked without a database.
fn remember(value: &Value) {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let texts = |name: &str| {
        let listed = value[name].as_array().map(Vec::as_slice).unwrap_or_default();
        listed.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let _ = NewArtifact::new(Draft {
        content: text("content").unwrap_or_default(),
        context: text("context"),
        source: text("source"),
        source_id: text("source_id"),
        importance: value["importance"].as_f64(),
        title: text("title"),
        author: text("author"),
        participants: texts("participants"),
        date: text("date"),
        conversation_id: text("conversation_id"),
        turn_index: value["turn_index"].as_i64(),
        role: text("role"),
        tags: texts("tags"),
    });
}
