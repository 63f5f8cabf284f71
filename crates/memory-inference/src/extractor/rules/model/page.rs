//! What the clauses of a text have in common, and what stands before each block: its heading and its label.

use memory_core::entity::EntityType;
use memory_core::ports::SourceText;

use super::super::genre;
use super::super::scene::Scene;

use super::lexicon::classes;
use super::shown::shown;

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
    pub(super) fn of(source: &SourceText, scene: &Scene<'_>) -> Self {
        Self { blocks: surroundings(scene), traits: traits(source, scene) }
    }
}

fn surroundings(scene: &Scene<'_>) -> Vec<Surroundings> {
    let raw = scene.text.raw;
    let mut heading: Vec<String> = Vec::new();
    let mut found = Vec::with_capacity(scene.layout.blocks.len());
    let mut read_to = 0;
    for block in &scene.layout.blocks {
        let line_start = raw[..block.bytes.start].rfind('\n').map_or(0, |at| at + 1);
        // What lies between the blocks is headings, the names of speakers, and lines that say nothing.
        if line_start > read_to {
            let mut start = read_to;
            for line in raw[read_to..line_start].split_inclusive('\n') {
                let trimmed = line.trim();
                if !trimmed.is_empty() && trimmed.len() <= HEADING_MAX_BYTES && !trimmed.starts_with('>') {
                    heading = words(scene, start, start + line.len());
                }
                start += line.len();
            }
        }
        let from = line_start.max(floor(raw, block.bytes.start.saturating_sub(PREFIX_MAX_BYTES)));
        let mut prefix = words(scene, from, block.bytes.start);
        // «added     inventory of …»: a column of words before the text, wide apart.
        let line = &raw[block.bytes.start..block.bytes.end];
        let label =
            line.find("  ").or_else(|| line.find(':')).or_else(|| line.find(" - ")).filter(|at| *at < 30);
        if let Some(end) = label {
            prefix.extend(
                words(scene, block.bytes.start, block.bytes.start + end)
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

fn words(scene: &Scene<'_>, start: usize, end: usize) -> Vec<String> {
    let tokens = scene.text.tokens_in(&(start..end));
    let mut words: Vec<String> = tokens
        .filter(|at| scene.spot(*at).is_none_or(|spot| spot.tokens.start == *at))
        .map(|at| shown(scene, at))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.dedup();
    words.truncate(8);
    words
}

fn traits(source: &SourceText, scene: &Scene<'_>) -> Vec<&'static str> {
    let text = &scene.text;
    let layout = &scene.layout;
    let mut found = Vec::new();
    let wanted = genre::confidence_wanted(source, scene);
    found.push(match () {
        () if wanted >= 0.9 => "genre-none",
        () if wanted >= 0.7 => "genre-doubt",
        () => "genre-open",
    });
    let all = text.tokens.len().min(4_000);
    let mut words = 0;
    let (mut days, mut joking, mut instructing) = (0, 0, 0);
    let (mut english, mut first, mut second, mut third, mut past) = (0, 0, 0, 0, 0);
    for at in 0..all {
        let word = text.word(at);
        words += usize::from(text.is_word(at));
        english += usize::from(ENGLISH.contains(&word));
        first += usize::from(matches!(word, "i" | "we" | "our" | "my" | "us" | "me"));
        second += usize::from(matches!(word, "you" | "your"));
        third += usize::from(matches!(word, "he" | "she" | "his" | "her" | "him"));
        past += usize::from(word.len() > 4 && word.ends_with("ed"));
        let classes = classes(word);
        days += usize::from(classes.contains(&"time") || shown(scene, at) == "<day>");
        joking += usize::from(classes.contains(&"joke"));
        instructing += usize::from(classes.contains(&"instruct"));
    }
    let share = |count: usize| count * 1000 / words.max(1);
    if share(english) < 120 {
        found.push("foreign");
    }
    found.push(match share(first) {
        0 => "first-0",
        1..20 => "first-1",
        _ => "first-2",
    });
    found.push(match share(second) {
        0 => "second-0",
        1..20 => "second-1",
        _ => "second-2",
    });
    if share(third) > 40 {
        found.push("third");
    }
    if share(past) > 60 {
        found.push("past");
    }
    found.push(match layout.speakers.len() {
        0 => "speakers-0",
        1 | 2 => "speakers-2",
        _ => "speakers-many",
    });
    if layout.from.is_some() {
        found.push("from");
    }
    if !layout.people.is_empty() {
        found.push("people");
    }
    let people = scene.spots.iter().filter(|spot| spot.entity_type == EntityType::Person).count();
    found.push(match people * 1000 / words.max(1) {
        0 => "named-0",
        1..15 => "named-1",
        _ => "named-2",
    });
    let lines = text.raw.lines().map(str::trim).filter(|line| !line.is_empty());
    let (mut all, mut bare, mut long) = (0, 0, 0);
    for line in lines.take(400) {
        all += 1;
        bare += usize::from(!line.ends_with(['.', '!', '?', ':', ';', '"', '”', ')']));
        long += usize::from(line.len() > 120);
    }
    found.push(["bare-0", "bare-1", "bare-2", "bare-3"][(bare * 4 / all.max(1)).min(3)]);
    found.push(["long-0", "long-1", "long-2", "long-3"][(long * 4 / all.max(1)).min(3)]);
    found.push(match joking * 100 / all.max(1) {
        0 => "joke-0",
        1..12 => "joke-1",
        _ => "joke-2",
    });
    found.push(match days * 1000 / words.max(1) {
        0 => "days-0",
        1..12 => "days-1",
        _ => "days-2",
    });
    found.push(match instructing * 1000 / words.max(1) {
        0..8 => "instruct-0",
        8..25 => "instruct-1",
        _ => "instruct-2",
    });
    if !layout.hidden.is_empty() {
        found.push("machine");
    }
    found
}
