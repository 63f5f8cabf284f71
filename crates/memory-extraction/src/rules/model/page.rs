//! What kind of text the clauses stand in, and what stands before each block: its heading and its label.
//!
//! How long the text is and what people and days it names is left out: a note of one sentence has none of it and may say as much.

use memory_core::ports::SourceText;

use super::super::genre;
use super::super::parsed_segment::ParsedSegment;
use super::lexicon::classes;
use super::token_features::token_feature;

#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) blocks: Vec<Surroundings>,
    pub(super) traits: Vec<&'static str>,
}

#[derive(Debug, Default, Clone)]
pub(super) struct Surroundings {
    /// The words of the nearest heading above.
    pub(super) heading: Vec<String>,
    /// What stands before the block on its line: a bullet, a label.
    pub(super) prefix: Vec<String>,
}

const HEADING_MAX_BYTES: usize = 60;
const PREFIX_MAX_BYTES: usize = 80;

/// Words that any English text is full of.
const ENGLISH: [&str; 24] = [
    "the", "and", "to", "of", "is", "in", "for", "we", "i", "it", "on", "with", "a", "that", "was", "will",
    "not", "you", "at", "be", "by", "are", "has", "from",
];

impl Page {
    pub(super) fn of(source: &SourceText, parsed: &ParsedSegment<'_>) -> Self {
        Self { blocks: surroundings(parsed), traits: traits(source, parsed) }
    }
}

fn surroundings(parsed: &ParsedSegment<'_>) -> Vec<Surroundings> {
    let raw = parsed.text.raw;
    let mut heading: Vec<String> = Vec::new();
    let mut found = Vec::with_capacity(parsed.layout.blocks.len());
    let mut read_to = 0;
    for block in &parsed.layout.blocks {
        let line_start = raw[..block.bytes.start].rfind('\n').map_or(0, |at| at + 1);
        // What lies between the blocks is headings, the names of speakers, and lines that say nothing.
        if line_start > read_to {
            let mut start = read_to;
            for line in raw[read_to..line_start].split_inclusive('\n') {
                let trimmed = line.trim();
                if !trimmed.is_empty() && trimmed.len() <= HEADING_MAX_BYTES && !trimmed.starts_with('>') {
                    heading = words(parsed, start, start + line.len());
                }
                start += line.len();
            }
        }
        let from = line_start.max(floor(raw, block.bytes.start.saturating_sub(PREFIX_MAX_BYTES)));
        let mut prefix = words(parsed, from, block.bytes.start);
        // "added     inventory of …": a column of words before the text, wide apart.
        let line = &raw[block.bytes.start..block.bytes.end];
        let label =
            line.find("  ").or_else(|| line.find(':')).or_else(|| line.find(" - ")).filter(|at| *at < 30);
        if let Some(end) = label {
            prefix.extend(
                words(parsed, block.bytes.start, block.bytes.start + end)
                    .into_iter()
                    .map(|word| format!("={word}")),
            );
        }
        found.push(Surroundings { heading: heading.clone(), prefix });
        read_to = block.bytes.end.max(read_to);
    }
    found
}

fn floor(raw: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| raw.is_char_boundary(*at)).unwrap_or(0)
}

fn words(parsed: &ParsedSegment<'_>, start: usize, end: usize) -> Vec<String> {
    let tokens = parsed.text.tokens_in(&(start..end));
    let mut words: Vec<String> = tokens
        .filter(|at| parsed.mention(*at).is_none_or(|mention| mention.tokens.start == *at))
        .map(|at| token_feature(parsed, at))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.dedup();
    words.truncate(8);
    words
}

fn traits(source: &SourceText, parsed: &ParsedSegment<'_>) -> Vec<&'static str> {
    let text = &parsed.text;
    let wanted = genre::confidence_wanted(source, parsed);
    let mut found = vec![match () {
        () if wanted >= 0.9 => "genre-none",
        () if wanted >= 0.7 => "genre-doubt",
        () => "genre-open",
    }];
    let (mut words, mut joking, mut instructing, mut english, mut third) = (0, 0, 0, 0, 0);
    for at in 0..text.tokens.len().min(4_000) {
        let word = text.word(at);
        words += usize::from(text.is_word(at));
        english += usize::from(ENGLISH.contains(&word));
        third += usize::from(matches!(word, "he" | "she" | "his" | "her" | "him"));
        let classes = classes(word);
        joking += usize::from(classes.contains(&"joke"));
        instructing += usize::from(classes.contains(&"instruct"));
    }
    let share = |count: usize| count * 1000 / words.max(1);
    if share(english) < 120 {
        found.push("foreign");
    }
    if share(third) > 40 {
        found.push("third");
    }
    let lines = text.raw.lines().filter(|line| !line.trim().is_empty()).take(400).count();
    found.push(match joking * 100 / lines.max(1) {
        0 => "joke-0",
        1..12 => "joke-1",
        _ => "joke-2",
    });
    found.push(match share(instructing) {
        0..8 => "instruct-0",
        8..25 => "instruct-1",
        _ => "instruct-2",
    });
    if !parsed.layout.hidden.is_empty() {
        found.push("machine");
    }
    found
}
