//! What of the model's answers the source confirms: quotes in exact spans, names that occur in it, valid dates.

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use memory_core::event::{Actor, Category, Evidence, ExtractedEvent, Extraction, Rejected};
use memory_core::ports::SourceText;
use memory_language::text::{CharIndex, cut};
use memory_language::time::{Lean, readings};

use super::answer::{Answer, RawEvent};
use super::cast::Cast;
use super::quotes::{self, SegmentRange};
use super::windows::Window;

/// A narrative that is missing is the quote, up to so many characters.
const QUOTE_SHOWN_CHARS: usize = 300;
/// Dates before and after these years are none.
const YEARS: Range<i16> = 1900..2200;

/// How many events of an answer have a quote that is in the text.
pub(super) fn borne_out(source: &SourceText, window: &Window, answer: &Answer) -> usize {
    let is_proven = |event: &&RawEvent| !proofs(source, window, event).is_empty();
    answer.events.iter().filter(is_proven).count()
}

/// Where the quotes of an event stand.
pub(super) fn proofs(source: &SourceText, window: &Window, event: &RawEvent) -> Vec<SegmentRange> {
    let mut found: Vec<SegmentRange> = Vec::new();
    for quote in &event.quotes {
        if let Some(place) = quotes::find(source, window, &event.sentences, quote)
            && !found.contains(&place)
        {
            found.push(place);
        }
    }
    found
}

/// Gathers the answers of all windows of a source.
pub(super) struct Findings<'a> {
    source: &'a SourceText,
    indexes: Vec<CharIndex>,
    cast: Cast,
    events: Vec<ExtractedEvent>,
    rejected: Rejected,
    /// Events that answers claimed, and those with a quote that is in the text.
    claimed: usize,
    proven: usize,
}

impl<'a> Findings<'a> {
    pub(super) fn new(source: &'a SourceText) -> Self {
        Self {
            source,
            indexes: source.segments.iter().map(|segment| CharIndex::new(&segment.text)).collect(),
            cast: Cast::of(source),
            events: Vec::new(),
            rejected: Rejected::default(),
            claimed: 0,
            proven: 0,
        }
    }

    pub(super) fn add(&mut self, window: &Window, answer: &Answer) {
        self.claimed += answer.claimed();
        self.rejected.events += answer.dropped;
        for entity in &answer.entities {
            self.cast.introduce(entity);
        }
        for event in &answer.events {
            let mut proofs = proofs(self.source, window, event);
            if proofs.is_empty() {
                self.rejected.events += 1;
                continue;
            }
            self.proven += 1;
            // The first evidence decides which window an event belongs to: one of the context alone was added before.
            proofs.sort_by_key(|found| is_context(window, found));
            if !is_context(window, &proofs[0]) {
                self.add_event(event, &proofs);
            }
        }
    }

    fn add_event(&mut self, event: &RawEvent, proofs: &[SegmentRange]) {
        let evidence: Vec<Evidence> = proofs.iter().filter_map(|found| self.evidence(found)).collect();
        let Some(first) = evidence.first() else { return };
        let reference = self.source.segments.get(first.segment).and_then(|segment| segment.date);
        let due_time = due(event, &first.quote, reference);
        let narrative = match event.narrative.as_str() {
            "" => cut(&first.quote, QUOTE_SHOWN_CHARS),
            narrative => narrative.to_owned(),
        };
        let mut actors: Vec<Actor> = Vec::new();
        for (name, role) in &event.actors {
            match self.cast.actor(name) {
                Some(entity) if actors.iter().any(|actor| actor.entity == entity) => {}
                Some(entity) => actors.push(Actor { entity, role: *role }),
                None => {}
            }
        }
        self.events.push(ExtractedEvent {
            category: event.category,
            narrative,
            event_time: happened(event, due_time, reference),
            due_time,
            subject: event.subject.as_deref().and_then(|name| self.cast.subject(name)),
            actors,
            confidence: event.confidence,
            evidence,
        });
    }

    fn evidence(&self, found: &SegmentRange) -> Option<Evidence> {
        let text = &self.source.segments.get(found.segment)?.text;
        let quote = text.get(found.bytes.clone())?.to_owned();
        let span = self.indexes.get(found.segment)?.span(text, found.bytes.clone());
        Some(Evidence { segment: found.segment, span, quote })
    }

    /// Whether events were claimed of which none is true.
    pub(super) fn is_invented(&self) -> bool {
        self.claimed > 0 && self.proven == 0
    }

    pub(super) fn claimed(&self) -> usize {
        self.claimed
    }

    /// Everything that is proven, with the names that the source has.
    pub(super) fn finish(self) -> Extraction {
        let Self { source, indexes, cast, mut events, mut rejected, .. } = self;
        let (entities, new_index) = cast.seen_in(source, &indexes);
        rejected.mentions += new_index.iter().filter(|kept| kept.is_none()).count();
        for event in &mut events {
            event.subject = event.subject.and_then(|old| new_index[old]);
            event.actors.retain_mut(|actor| match new_index[actor.entity] {
                Some(new) => {
                    actor.entity = new;
                    true
                }
                None => false,
            });
        }
        Extraction { entities, events, rejected }
    }
}

fn is_context(window: &Window, found: &SegmentRange) -> bool {
    let mut context = window.context.iter();
    context.any(|line| line.segment == found.segment && line.bytes.contains(&found.bytes.start))
}

/// The deadline: our own reading of the quote where it has one plain limit, since models miscount days; else the
/// model's date.
fn due(event: &RawEvent, quote: &str, reference: Option<Timestamp>) -> Option<Timestamp> {
    let said = event.due_time.as_deref().and_then(|text| date(text, true));
    if said.is_none() && event.category != Category::Commitment {
        return None;
    }
    let mut limits = readings(quote, reference, Lean::Future)
        .into_iter()
        .filter(|reading| reading.is_deadline() && !reading.is_ambiguous);
    match (limits.next(), limits.next()) {
        (Some(only), None) => Some(only.deadline()),
        _ => said,
    }
}

/// When it happened, else when it was said; never the deadline.
fn happened(event: &RawEvent, due: Option<Timestamp>, reference: Option<Timestamp>) -> Option<Timestamp> {
    let said = event.event_time.as_deref().and_then(|text| date(text, false));
    let day = |time: Timestamp| time.to_zoned(TimeZone::UTC).date();
    let is_deadline = |time: Timestamp| due.is_some_and(|due| day(due) == day(time));
    let is_promise_to_come =
        |time: Timestamp| event.category == Category::Commitment && reference.is_some_and(|now| time > now);
    said.filter(|time| !is_deadline(*time) && !is_promise_to_come(*time)).or(reference)
}

/// An ISO date or date-time. One without an offset is taken as UTC, a date as its first or last second.
fn date(text: &str, at_end: bool) -> Option<Timestamp> {
    let utc = |time: DateTime| time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    let text = text.trim();
    let time = if text.len() == 10 {
        let day: Date = text.parse().ok()?;
        utc(if at_end { day.at(23, 59, 59, 0) } else { day.at(0, 0, 0, 0) })?
    } else {
        text.parse::<Timestamp>().ok().or_else(|| utc(text.parse().ok()?))?
    };
    YEARS.contains(&time.to_zoned(TimeZone::UTC).year()).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_iso_dates_of_our_age_are_dates() {
        let said = |text| date(text, false).map(|time| time.to_string());
        assert_eq!(said("2026-03-01").as_deref(), Some("2026-03-01T00:00:00Z"));
        assert_eq!(said("2026-03-01T10:00:00+01:00").as_deref(), Some("2026-03-01T09:00:00Z"));
        assert_eq!(said(" 2026-03-01T10:00:00 ").as_deref(), Some("2026-03-01T10:00:00Z"));
        assert_eq!(date("2026-03-01", true).unwrap().to_string(), "2026-03-01T23:59:59Z");
        for text in
            ["Friday", "03/01/2026", "2026-02-30", "0001-01-01", "9999-01-01", "", "tomorrow", "2026-3-1"]
        {
            assert_eq!(said(text), None, "{text}");
        }
    }
}
