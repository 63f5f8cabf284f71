//! Days that hold for what goes on behind them: "Last Saturday we were in town. I bought the book and we had lunch."

use std::ops::Range;

use jiff::Timestamp;
use memory_core::event::Category;
use memory_language::time::{Granularity, Lean, Reading, Relation};

use super::date_context::DateContext;
use super::deadlines;
use super::draft::Draft;
use super::parsed_segment::ParsedSegment;
use super::sentences::sentences;

/// How much before what is told is read for its day; what begins before that is no sentence to read.
const BEFORE_MAX_BYTES: usize = 600;
/// A day with no more words before it opens its sentence.
const OPENING_WORDS: usize = 3;

/// Puts what is told in the past and names no day on the day that its sentence, or the one before it, named for it.
pub(super) fn place(parsed_segments: &[ParsedSegment<'_>], drafts: &mut [Draft]) {
    for draft in drafts.iter_mut().filter(|draft| draft.category != Category::Commitment) {
        let [(segment, bytes)] = draft.evidence.as_slice() else { continue };
        let Some(parsed) = parsed_segments.get(*segment) else { continue };
        let dates = parsed.dates_at(bytes.start);
        if draft.event_time.is_none() || draft.event_time != dates.reference {
            continue;
        }
        draft.event_time = day_before(parsed, bytes, dates).or(draft.event_time);
    }
}

fn day_before(parsed: &ParsedSegment<'_>, bytes: &Range<usize>, dates: DateContext) -> Option<Timestamp> {
    let raw = parsed.text.raw;
    if !goes_on(&raw[bytes.clone()], dates) {
        return None;
    }
    let blocks = &parsed.layout.blocks;
    let behind = blocks.partition_point(|block| block.bytes.start <= bytes.start);
    let block = behind.checked_sub(1).map(|at| &blocks[at]).filter(|block| bytes.start < block.bytes.end)?;
    let from = raw.ceil_char_boundary(bytes.start.saturating_sub(BEFORE_MAX_BYTES)).max(block.bytes.start);
    let all: Vec<Range<usize>> = sentences(&parsed.text, &(from..bytes.end))
        .iter()
        .map(|sentence| parsed.text.bytes(sentence))
        .collect();
    let own = all.iter().position(|sentence| sentence.contains(&bytes.start))?;
    let within = all[own].start..bytes.start;
    if let Some(named) = last_day(&raw[within.clone()], dates) {
        let fits =
            opens(&raw[within], &named) || deadlines::is_day_of_the_past(&raw[all[own].clone()], &named);
        return fits.then(|| moment(&named, dates)).flatten();
    }
    let before = &raw[all[own.checked_sub(1)?].clone()];
    let named = last_day(before, dates)?;
    let is_scene = opens(before, &named) && deadlines::is_day_of_the_past(before, &named);
    is_scene.then(|| moment(&named, dates)).flatten()
}

/// Whether words tell of the past, and of no time of their own.
fn goes_on(words: &str, dates: DateContext) -> bool {
    /// What is so now, or may be, or is of another time.
    const OTHERWISE: [&str; 22] = [
        "am",
        "are",
        "can",
        "could",
        "earlier",
        "has",
        "have",
        "is",
        "later",
        "may",
        "might",
        "must",
        "now",
        "previously",
        "shall",
        "should",
        "since",
        "then",
        "today",
        "will",
        "would",
        "yet",
    ];
    let lower: Vec<String> =
        words.split_whitespace().map(|word| deadlines::bare(word).to_lowercase()).collect();
    lower.iter().any(|word| deadlines::is_past(word))
        && !lower.iter().any(|word| OTHERWISE.contains(&word.as_str()) || word.ends_with("'ll"))
        && dates.readings(words, Lean::Past).is_empty()
}

/// The last day that words name, whatever is said of it.
fn last_day(words: &str, dates: DateContext) -> Option<Reading> {
    dates.readings(words, Lean::Past).into_iter().rfind(|reading| reading.granularity <= Granularity::Day)
}

fn opens(words: &str, reading: &Reading) -> bool {
    words[..reading.range.start].split_whitespace().count() < OPENING_WORDS
}

/// When it was, where it is a plain day that has been.
fn moment(reading: &Reading, dates: DateContext) -> Option<Timestamp> {
    let now = dates.reference?;
    let has_been = reading.relation == Relation::At && !reading.is_ambiguous && reading.start <= now;
    has_been.then(|| if now < reading.end { now } else { reading.start })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::layout;
    use super::super::words::Text;
    use super::*;

    /// The day that holds for the words behind the bar, in a text of Monday, 24 August 2026.
    fn carried(text: &str) -> String {
        let (before, told) = text.split_once('|').unwrap();
        let raw = format!("{before}{told}");
        let mut parsed =
            ParsedSegment::new(0, Text::new(&raw, raw.len()), layout::read(&raw, &HashSet::new()));
        parsed.reference = "2026-08-24T12:00:00Z".parse().ok();
        let day = day_before(&parsed, &(before.len()..raw.len()), parsed.dates_at(before.len()));
        day.map_or(String::new(), |day| day.to_string()[5..10].to_owned())
    }

    #[test]
    fn what_goes_on_in_the_past_is_of_the_day_named_before_it() {
        for (text, day) in [
            ("Last Saturday it rained, but in town |I bought Middlemarch.", "08-22"),
            ("Last Saturday we took the bus. |In town I bought Middlemarch.", "08-22"),
            ("we met the archive people on the 11th and |they liked it", "08-11"),
            ("Yesterday we painted the fence and |Ida fell off the ladder.", "08-23"),
            // What is so now, or is of a day of its own, is not of that day.
            ("Last Saturday we took the bus, |the line is closed now.", ""),
            ("Last Saturday we took the bus, |today I bought the ticket.", ""),
            ("The leak was found on Tuesday. |I fixed it.", ""),
            ("We'll meet on Saturday. |I bought the cake.", ""),
            ("Last Saturday we took the bus.\n\n|I bought Middlemarch.", ""),
        ] {
            assert_eq!(carried(text), day, "{text}");
        }
    }
}
