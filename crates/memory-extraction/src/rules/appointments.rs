//! Appointments to come: "Next appointment on 9 December", "dentist Tuesday 3pm". They have no verb, or none that tells a promise,
//! so they are known by their word and their day.

use std::ops::Range;

use memory_core::event::Category;
use memory_language::time::{Granularity, Lean, Reading, Relation};

use super::by_form;
use super::draft::Draft;
use super::event_context::EventContext;
use super::layout::Block;
use super::lists;
use super::parsed_segment::ParsedSegment;
use super::people::Roster;
use super::sections::Section;
use super::sentences::sentences;

/// "Dentist Tuesday 3pm": what is no more than where one is to be and when.
const BARE_TOKENS: usize = 8;

/// Adds the appointments, but where their words tell an event already. Whom one sees has no new role, and that it is on a day is no
/// change.
pub(super) fn add(parsed_segments: &[ParsedSegment<'_>], roster: &Roster, drafts: &mut Vec<Draft>) {
    let is_other = |draft: &Draft| matches!(draft.category, Category::Stakeholder | Category::Change);
    by_form::add(appointments(parsed_segments, roster), is_other, drafts);
}

/// All appointments to come, in order.
fn appointments(parsed_segments: &[ParsedSegment<'_>], roster: &Roster) -> Vec<Draft> {
    let mut all = Vec::new();
    for parsed in parsed_segments.iter().filter(|parsed| !parsed.context_only) {
        for block in &parsed.layout.blocks {
            let is_quiet = matches!(block.section, Section::Skip | Section::People);
            let mut words = parsed.text.tokens_in(&block.bytes);
            if is_quiet || parsed.is_said_by_machine(block) || !words.any(|at| names_one(parsed, at)) {
                continue;
            }
            for sentence in sentences(&parsed.text, &block.bytes) {
                let whole = appointment(parsed, roster, block, &sentence);
                all.extend(whole.or_else(|| {
                    let parts = parts(parsed, &sentence);
                    parts.into_iter().find_map(|part| appointment(parsed, roster, block, &part))
                }));
            }
        }
    }
    all
}

fn names_one(parsed: &ParsedSegment<'_>, at: usize) -> bool {
    is_appointment(parsed, at) || lists::VISITS.contains(parsed.text.word(at))
}

fn is_appointment(parsed: &ParsedSegment<'_>, at: usize) -> bool {
    parsed.text.is_any(at, &["appointment", "appt"])
}

/// "Dentist Tuesday 3pm, then picking up the kids": what stands between commas.
fn parts(parsed: &ParsedSegment<'_>, sentence: &Range<usize>) -> Vec<Range<usize>> {
    let mut start = sentence.start;
    let ends = sentence.clone().filter(|at| parsed.text.word(*at) == ",").chain([sentence.end]);
    ends.map(|end| {
        let part = start..end;
        start = end + 1;
        part
    })
    .collect()
}

/// The event of an appointment on a day to come.
fn appointment(
    parsed: &ParsedSegment<'_>,
    roster: &Roster,
    block: &Block,
    sentence: &Range<usize>,
) -> Option<Draft> {
    /// What was, may be, or is different now.
    const OTHERWISE: [&str; 17] = [
        "?",
        "not",
        "n't",
        "no",
        "if",
        "of",
        "was",
        "were",
        "had",
        "moved",
        "cancelled",
        "canceled",
        "missed",
        "now",
        "instead",
        "postponed",
        "rescheduled",
    ];
    let text = &parsed.text;
    let named = sentence.clone().any(|at| is_appointment(parsed, at));
    let bare = sentence.len() <= BARE_TOKENS && sentence.clone().any(|at| names_one(parsed, at));
    if !(named || bare) || sentence.clone().any(|at| text.is_any(at, &OTHERWISE)) {
        return None;
    }
    let bytes = text.bytes(sentence);
    let dates = parsed.dates_at(bytes.start);
    let now = dates.reference?;
    let words = &text.raw[bytes.clone()];
    // "Dentist on 14 December at half past nine": the day is enough where nothing else is told of it.
    let leads = names_one(parsed, sentence.start);
    let is_whole = |reading: &Reading| {
        let behind = words[reading.range.end..].trim_matches(|c: char| !c.is_alphanumeric());
        leads && (behind.is_empty() || behind.starts_with("at "))
    };
    let is_fixed = |reading: &Reading| {
        let by_day = named || is_whole(reading);
        reading.granularity <= if by_day { Granularity::Day } else { Granularity::Hour }
    };
    let readings = dates.readings(words, Lean::Future);
    let at = readings.iter().find(|reading| {
        !reading.is_ambiguous
            && reading.relation == Relation::At
            && is_fixed(reading)
            && reading.deadline() >= now
    })?;
    let context = EventContext { parsed, roster };
    let speaker = context.speaker_of(block);
    Some(by_form::draft(&context, Category::Commitment, sentence, speaker, Some(at.deadline())))
}
