//! Texts that are remembered: they are cut into passages without loss, and whatever the rules find stands in them.
#![no_main]

use std::sync::LazyLock;

use futures::executor::block_on;
use libfuzzer_sys::fuzz_target;
use memory_core::artifact::Context;
use memory_core::chunk::chunk_text;
use memory_core::ports::{Extractor, Segment, SourceText};
use memory_extraction::RulesExtractor;

static RULES: LazyLock<RulesExtractor> = LazyLock::new(RulesExtractor::new);
const CONTEXTS: [Context; 4] = [Context::Meeting, Context::Email, Context::Conversation, Context::Note];

fuzz_target!(|data: (u8, &str)| {
    let (kind, text) = data;
    let mut rest = text.chars();
    let mut at = 0;
    for passage in chunk_text(text).passages {
        let between: String = rest.by_ref().take(passage.span.start - at).collect();
        assert!(between.trim().is_empty(), "{between:?} is in no passage");
        at = passage.span.end;
        let _ = rest.by_ref().take(passage.span.end - passage.span.start).count();
    }
    assert!(rest.as_str().trim().is_empty(), "{:?} is in no passage", rest.as_str());
    let source = SourceText {
        context: CONTEXTS[usize::from(kind) % CONTEXTS.len()],
        title: (kind & 16 != 0).then(|| "Apollo sync".to_owned()),
        author: (kind & 32 != 0).then(|| "Alice Chen".to_owned()),
        participants: vec!["Bob Stone".to_owned()],
        segments: vec![Segment {
            text: text.to_owned(),
            speaker: (kind & 64 != 0).then(|| "Alice Chen".to_owned()),
            date: "2024-03-15T10:00:00Z".parse().ok(),
            context_only: false,
            is_date_of_storing: kind & 32 != 0,
        }],
    };
    let found = block_on(RULES.extract(&source)).expect("rules need nothing that could fail");
    let (verified, _) = found.clone().verified(&[text]);
    assert_eq!(verified.events.len(), found.events.len(), "an event has no evidence in the text");
});
