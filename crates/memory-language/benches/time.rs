//! How long a question, a note and a long text take to be read for dates: `cargo bench -p memory-language --bench time`.

use std::hint::black_box;
use std::time::Instant;

use jiff::Timestamp;
use memory_language::time::question::question_window;
use memory_language::time::{Lean, readings};

fn main() {
    let now: Timestamp = "2024-03-15T10:00:00Z".parse().unwrap_or_default();
    let note: String =
        "Met Dana on Tuesday about the March release. She will send the schema by Friday, March 22, \
        and the rest by the end of next month; since April the old one has been off. Version 1.2.3 stays at \
        10.0.0.1 until 2024-05-01T09:30:00Z, between 2pm and 4pm, as agreed two weeks ago. "
            .repeat(10)
            .chars()
            .take(2_000)
            .collect();
    let long = note.repeat(500);
    let hostile = "end of the week before ".repeat(43_000);
    let each = |name: &str, times: u32, read: &dyn Fn() -> usize| {
        let found = read();
        let started = Instant::now();
        for _ in 0..times {
            black_box(read());
        }
        let micros = started.elapsed().as_secs_f64() * 1e6 / f64::from(times);
        println!("{name:<34} {micros:>12.1} µs {found:>8} found");
    };
    let question = "What did we decide about the launch before the review in May 2023?";
    let asked =
        |question: &str| question_window(black_box(question), now).map_or(0, |time| time.windows.len());
    each("question with a date", 20_000, &|| asked(question));
    each("question without one", 20_000, &|| asked("Which database did we choose for the ledger, and why?"));
    each("note of 2,000 characters", 2_000, &|| readings(black_box(&note), Some(now), Lean::Past).len());
    each("text of 1 MB", 5, &|| readings(black_box(&long), Some(now), Lean::Past).len());
    each("1 MB of openings", 5, &|| readings(black_box(&hostile), Some(now), Lean::Past).len());
    if let Some(time) = question_window(question, now) {
        each("closeness", 100_000, &|| usize::from(time.closeness(black_box(now)) > 0.5));
    }
    if let Some(time) = question_window("What broke in May?", now) {
        each("closeness of any year", 100_000, &|| usize::from(time.closeness(black_box(now)) > 0.5));
    }
}
