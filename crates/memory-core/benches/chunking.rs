//! How long 10 MB take to be divided, for ordinary and for hostile texts: `cargo bench -p memory-core`.

use std::time::Instant;

use memory_core::chunk::chunk_text;

const BYTES: usize = 10_000_000;

fn main() {
    // The encoder is made on first use.
    chunk_text("warm up");
    let prose = include_str!("../../../README.md");
    let code = include_str!("../src/chunk/mod.rs");
    let cases = [
        ("prose", prose),
        ("code", code),
        ("one letter", "a"),
        ("newlines", "\n"),
        ("spaces", " "),
        ("combining marks", "\u{301}"),
        ("emoji families", "👨‍👩‍👧‍👦"),
        ("one ideograph", "漢"),
        ("digits", "1234567890"),
        ("minified JSON", "{\"a\":1,\"bc\":[2,3]},"),
    ];
    println!("{:<16} {:>8} {:>9} {:>7} {:>9}", "text", "seconds", "tokens", "chunks", "passages");
    for (name, unit) in cases {
        let text = unit.repeat(BYTES / unit.len());
        let started = Instant::now();
        let chunked = chunk_text(&text);
        println!(
            "{name:<16} {:>8.2} {:>9} {:>7} {:>9}",
            started.elapsed().as_secs_f64(),
            chunked.token_count,
            chunked.chunks.len(),
            chunked.passages.len()
        );
    }
}
