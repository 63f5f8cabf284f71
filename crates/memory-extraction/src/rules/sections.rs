//! What a heading or a label promises about the lines under it.

use std::sync::LazyLock;

use memory_core::event::Category;

use super::data_file::{DataFault, loaded};
use super::lists;
use super::wordset::WordMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Section {
    /// Nothing is promised.
    #[default]
    Open,
    /// Each item is an event of this category.
    Prior(Category),
    /// Things meant to be done, less firmly than action items.
    Planned,
    /// Names of those present.
    People,
    /// Nothing under it is an event.
    Skip,
}

static HEADINGS: LazyLock<WordMap<&'static str, Section>> = LazyLock::new(|| loaded(read()));

/// The known headings. One that is in two sections of the file is of the first.
pub(super) fn read() -> Result<WordMap<&'static str, Section>, DataFault> {
    let mut headings = WordMap::default();
    for (name, entries) in lists::HEADINGS_FILE.sections()? {
        let section = match name {
            "Open" => Some(Section::Open),
            "Planned" => Some(Section::Planned),
            "People" => Some(Section::People),
            "Skip" => Some(Section::Skip),
            _ => Category::parse(name).map(Section::Prior),
        };
        let line = entries.first().map_or(0, |(line, _)| *line);
        let section =
            section.ok_or_else(|| lists::HEADINGS_FILE.fault(line, format!("'{name}' promises nothing")))?;
        for (_, heading) in entries {
            headings.entry(heading).or_insert(section);
        }
    }
    Ok(headings)
}

/// The section a heading opens; `None` when it is not one of the known.
pub(super) fn of_heading(heading: &str) -> Option<Section> {
    if heading.len() > 120 {
        return None;
    }
    let lower = heading.to_lowercase();
    let words: String = lower
        .chars()
        .filter(|c| {
            !matches!(c, '*' | '_' | '#' | '`') && !('\u{2190}'..='\u{1FAFF}').contains(c) && *c != '\u{fe0f}'
        })
        .collect();
    // "2. Decisions (final):" → "decisions"
    let words = words.split(['(', '[']).next().unwrap_or_default();
    let words = words.trim_start_matches(|c: char| c.is_numeric() || matches!(c, '.' | ')' | ' ' | '-'));
    let words = words.trim_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '.' | '-' | '–' | '—'));
    exact(words).or_else(|| with_deadline(words)).or_else(|| by_ending(words))
}

/// "To do by Friday", "Tasks before the summer".
fn with_deadline(words: &str) -> Option<Section> {
    let (words, _) = words.split_once(" by ").or_else(|| words.split_once(" before "))?;
    exact(words).filter(|section| *section == Section::Prior(Category::Commitment))
}

fn exact(words: &str) -> Option<Section> {
    HEADINGS.get(words).copied()
}

/// "I will circulate the draft agenda" is no heading.
fn is_of_sentence(word: &str) -> bool {
    matches!(
        word,
        "i" | "i'll"
            | "we'll"
            | "he"
            | "she"
            | "they"
            | "it"
            | "will"
            | "must"
            | "should"
            | "can"
            | "could"
            | "is"
            | "are"
            | "was"
            | "were"
            | "has"
            | "had"
            | "need"
            | "needs"
            | "please"
            | "to"
    )
}

/// "Sprint 12 action items", "Open risks and blockers", "Decisions from Monday".
fn by_ending(words: &str) -> Option<Section> {
    let parts: Vec<&str> = words.split_whitespace().collect();
    if parts.len() < 2 || parts.len() > 6 || parts.iter().any(|word| is_of_sentence(word)) {
        return None;
    }
    for length in [3, 2, 1] {
        if parts.len() > length
            && let Some(section) = exact(&parts[parts.len() - length..].join(" "))
            // A single common word at the end says too little ("what is in scope", "the next plan").
            && (length > 1
                || matches!(
                    section,
                    Section::Prior(Category::Commitment | Category::Decision | Category::QualityRisk) | Section::Skip
                ))
        {
            return Some(section);
        }
    }
    match parts[0] {
        "decisions" | "actions" | "risks" | "blockers" | "attendees" | "shipped" | "completed"
        | "alternatives" | "options" => exact(parts[0]),
        _ => None,
    }
}

/// What was done to all that stands below a heading of a changelog: "Fixed", "### Removed".
pub(super) fn deed_of_heading(heading: &str) -> Option<&'static str> {
    let words = heading.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    Some(match words.as_str() {
        "fixed" | "fixes" | "bug fixes" | "bugfixes" | "bugs fixed" | "fixed bugs" | "resolved issues" => {
            "Fixed"
        }
        "added" | "additions" => "Added",
        "removed" | "removals" => "Removed",
        "deprecated" | "deprecations" => "Deprecated",
        _ => return None,
    })
}

/// The section of a label at the beginning of a line: "Decision: …", "AI: …".
pub(super) fn of_label(label: &str) -> Option<Section> {
    let label = label.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_')).to_lowercase();
    let section = match label.as_str() {
        "action required" | "ask" => Section::Prior(Category::Commitment),
        "rationale" | "why" | "reason" | "note" | "notes" | "impact" | "status" => Section::Open,
        _ => return exact(&label).filter(|section| !matches!(section, Section::Planned)),
    };
    Some(section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_known_by_their_words() {
        for (heading, section) in [
            ("## Action Items", Some(Section::Prior(Category::Commitment))),
            ("3. Key decisions:", Some(Section::Prior(Category::Decision))),
            ("⚠️ Risks & Issues", Some(Section::Prior(Category::QualityRisk))),
            ("Sprint 12 action items", Some(Section::Prior(Category::Commitment))),
            ("Options considered", Some(Section::Skip)),
            ("Decisions (final)", Some(Section::Prior(Category::Decision))),
            ("The history of decisions in large and small firms", None),
            ("Migration", None),
        ] {
            assert_eq!(of_heading(heading), section, "{heading}");
        }
    }
}
