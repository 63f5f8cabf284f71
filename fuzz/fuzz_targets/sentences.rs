//! Sentences: nothing of a text is left out but the whitespace between them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_language::sentence::sentences;

fuzz_target!(|text: &str| {
    let found: Vec<&str> = sentences(text).collect();
    if found.is_empty() {
        // Marks alone say nothing.
        assert!(!text.contains(char::is_alphanumeric), "{text:?} has no sentence");
        return;
    }
    let mut rest = text;
    for sentence in found {
        assert_eq!(sentence.trim(), sentence);
        let at = rest.find(sentence).expect("it stands in the text, after the one before");
        assert!(rest[..at].trim().is_empty(), "{:?} is left out", &rest[..at]);
        rest = &rest[at + sentence.len()..];
    }
    assert!(rest.trim().is_empty(), "{rest:?} is left out");
});
