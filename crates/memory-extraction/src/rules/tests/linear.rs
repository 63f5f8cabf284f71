//! Twice the text takes about twice the time, in every shape of text.

use std::fmt::Write as _;
use std::time::Duration;

use super::super::RulesExtractor;
use super::{segment, source};
use crate::rules::tests::extract;

/// Of the texts that are compared, the larger has twice as many bytes.
const SMALL_BYTES: usize = 60_000;
/// Twice as much for twice the text, and something for a machine with other work.
const RATIO_MAX: f64 = 2.5;
/// A ratio that is too large may be the machine's; the quickest of so many runs counts.
const RUNS: usize = 10;

/// What a shape's line with this number says.
type Line = fn(usize) -> String;

const NAMES: [&str; 8] = ["Alice", "Bruno", "Carla", "Diego", "Elena", "Farid", "Greta", "Hiro"];
const WORDS: [&str; 8] = ["report", "budget", "schema", "invoice", "poster", "contract", "pump", "roof"];

fn word(number: usize) -> &'static str {
    WORDS[number % WORDS.len()]
}

/// A name that is in no list, another for each number.
fn surname(number: usize) -> String {
    let letters = ["ba", "do", "ke", "li", "mu", "na", "ro", "su", "ta", "vo"];
    let mut name = String::from("Ze");
    let mut left = number;
    for _ in 0..5 {
        name += letters[left % 10];
        left /= 10;
    }
    name
}

fn name(number: usize) -> &'static str {
    NAMES[number % NAMES.len()]
}

const SHAPES: [(&str, Line); 20] = [
    ("pronouns", |_| "Alice met Bob. He said she will do it. ".to_owned()),
    ("short turns", |n| format!("Speaker{}: yes I will do item {n} by tomorrow.\n", n % 40)),
    ("bullets", |n| format!("- {} will send the {} {n} by Friday\n", name(n), word(n))),
    ("one line without a full stop", |n| {
        format!("{} sent the {} {n} and \"we\" agreed to it , ", name(n), word(n))
    }),
    ("many names", |n| format!("{} {} met {}. ", name(n), surname(n), surname(n + 7))),
    ("many dates", |n| format!("We agreed on {} March {} to meet on Friday. ", n % 28 + 1, 2000 + n % 40)),
    ("headings", |n| format!("## Decisions {n}\n\nWe will use the {} of {}.\n\n", word(n), name(n))),
    ("quoted mail", |n| {
        format!(
            "On Monday, {} <{}{n}@corp.example> wrote:\n> I will send it.\nThanks,\n{}\n\nI fixed the {}.\n",
            name(n),
            name(n).to_lowercase(),
            name(n),
            word(n)
        )
    }),
    ("tables", |n| format!("| {} | Renew the {} {n} | 2 April | open |\n", name(n), word(n))),
    ("the same sentence", |_| "Alice Chen will send the report to Bob Martinez by Friday. ".to_owned()),
    ("unique sentences", |n| {
        format!("{} {} fixed the {} {n}, but {} is blocked. ", name(n), surname(n), word(n), word(n + 3))
    }),
    ("a log", |n| format!("2025-03-{:02} 10:00 {} replaced the {} {n}\n", n % 28 + 1, name(n), word(n))),
    ("acceptances", |n| format!("Alice: Could you check the {} {n}?\nBruno: Will do.\n", word(n))),
    ("one who accepts", |_| "Alice: Will do.\n".to_owned()),
    ("markup", |n| format!("<li>{} sent the {} {n}</li> &amp; <!-- a <script> & ", name(n), word(n))),
    ("appointments", |n| format!("Dentist Tuesday {}pm.\n", n % 9 + 1)),
    ("votes", |n| format!("{} moved to approve the {} {n}. Approved unanimously. ", name(n), word(n))),
    ("commits", |n| format!("{:07x} Add the {} {n} of {}\n", 0x0100_0000 + n, word(n), name(n))),
    ("open boxes", |n| format!("- [ ] send the {} {n} to {}\n", word(n), name(n))),
    ("posts", |n| format!("**{}** · 2 days ago\nI will send the {} {n} by Friday.\n\n", surname(n), word(n))),
];

fn text(line: Line, head: &str, bytes: usize) -> String {
    let mut text = head.to_owned();
    let mut number = 0;
    while text.len() < bytes {
        let _ = write!(text, "{}", line(number));
        number += 1;
    }
    text
}

/// Time that this thread has had a processor for.
fn processor_time() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds = told.split(' ').next().and_then(|first| first.parse().ok()).unwrap();
    Duration::from_nanos(nanoseconds)
}

fn time_of(text: &str, extractor: &RulesExtractor) -> f64 {
    let source = source(vec![segment(text, None)]);
    let begun = processor_time();
    let found = extract(extractor, &source);
    let took = processor_time().saturating_sub(begun);
    assert!(!found.entities.is_empty() || !found.events.is_empty() || text.starts_with("Speaker"));
    took.as_secs_f64()
}

#[test]
#[cfg(target_os = "linux")]
fn twice_the_text_takes_about_twice_the_time() {
    let extractor = RulesExtractor::new();
    // Lists and patterns are read once.
    time_of("Alice Chen will send the report by Friday.", &extractor);
    for (shape, line) in SHAPES {
        let head =
            if shape == "tables" { "| Owner | Action | Due | Status |\n|---|---|---|---|\n" } else { "" };
        let texts = [SMALL_BYTES, 2 * SMALL_BYTES].map(|bytes| text(line, head, bytes));
        let mut best = [f64::MAX; 2];
        for _ in 0..RUNS {
            for (best, text) in best.iter_mut().zip(&texts) {
                *best = best.min(time_of(text, &extractor));
            }
            println!("{shape}: {:.3} s, {:.3} s", best[0], best[1]);
            if best[1] < best[0] * RATIO_MAX {
                break;
            }
        }
        let ratio = best[1] / best[0];
        assert!(ratio < RATIO_MAX, "{shape}: {ratio:.2} times as long for twice the text, {best:?} s");
    }
}
