//! What a language model answers about a text: whatever it says, what is taken stands in the text.
//!
//! An input is a text, U+001E, and an answer; what stands before a U+001D of the text is there to be understood by.
//! The modules are private to their crate, so they are compiled here once more.
#![no_main]
#![allow(dead_code, reason = "of the modules only some is called")]

use libfuzzer_sys::fuzz_target;
use memory_core::artifact::Context;
use memory_core::ports::{Segment, SourceText};

#[path = "../../crates/memory-extraction/src/llm/answer.rs"]
mod answer;
#[path = "../../crates/memory-extraction/src/llm/cast.rs"]
mod cast;
#[path = "../../crates/memory-extraction/src/llm/findings.rs"]
mod findings;
#[path = "../../crates/memory-extraction/src/llm/names.rs"]
mod names;
#[path = "../../crates/memory-extraction/src/llm/prompt.rs"]
mod prompt;
#[path = "../../crates/memory-extraction/src/llm/quotes.rs"]
mod quotes;
#[path = "../../crates/memory-extraction/src/llm/windows.rs"]
mod windows;

fuzz_target!(|data: &str| {
    let Some((text, said)) = data.split_once('\u{1e}') else { return };
    let segment = |text: &str, context_only: bool| Segment {
        text: text.to_owned(),
        speaker: Some("Alice Chen".to_owned()),
        date: "2024-03-15T10:00:00Z".parse().ok(),
        context_only,
        is_date_of_storing: false,
    };
    let segments = match text.split_once('\u{1d}') {
        Some((before, text)) => vec![segment(before, true), segment(text, false)],
        None => vec![segment(text, false)],
    };
    let source = SourceText {
        context: Context::Meeting,
        title: None,
        author: None,
        participants: vec!["Bob Stone".to_owned()],
        segments,
    };
    let Ok(answer) = answer::parse(said) else { return };
    let mut findings = findings::Findings::new(&source);
    for window in &windows::plan(&source).windows {
        let _ = prompt::question(&source, window);
        findings.add(window, &answer);
    }
    let found = findings.finish();
    let texts: Vec<&str> = source.segments.iter().map(|segment| segment.text.as_str()).collect();
    let (verified, rejected) = found.clone().verified(&texts);
    assert_eq!(rejected, found.rejected, "something was found that the text does not bear out");
    assert_eq!(verified, found);
});
