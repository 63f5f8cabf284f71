//! Deadlines that are a meeting: "by the next meeting", "before the July meeting", where the text says when that is.

use std::collections::HashMap;
use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use memory_core::event::Category;
use memory_language::calendar_words::{CalendarWord, calendar_word};
use memory_language::time::{Granularity, Lean};

use super::date_context::DateContext;
use super::deadlines;
use super::draft::Draft;
use super::parsed_segment::ParsedSegment;

const MEETINGS: [&str; 6] = ["meeting", "call", "session", "sync", "assembly", "agm"];
/// Between "next" and the meeting, or between the two and its day, stand no more words.
const BETWEEN_WORDS: usize = 3;
/// What makes a meeting a deadline.
const BY: [&str; 6] = ["by", "for", "at", "until", "to", "before"];
/// How far a text is read for the day of a meeting.
const READ_MAX_BYTES: usize = 200_000;

/// A word in small letters, and where it stands.
type Word = (String, Range<usize>);

/// A meeting, and when it is.
struct PlannedMeeting {
    kind: &'static str,
    day: Date,
}

/// A meeting as a promise names it.
struct Named {
    kind: &'static str,
    /// "The July meeting"; none for the next one.
    month: Option<i8>,
    is_before: bool,
}

/// Gives commitments without a day that of the meeting by which they are to be done.
pub(super) fn fall_due(parsed_segments: &[ParsedSegment<'_>], drafts: &mut [Draft]) {
    let mut told: HashMap<usize, Vec<PlannedMeeting>> = HashMap::new();
    for draft in drafts.iter_mut() {
        if draft.category != Category::Commitment || draft.due_time.is_some() {
            continue;
        }
        let Some((segment, bytes)) = draft.evidence.first() else { continue };
        let Some(parsed) = parsed_segments.get(*segment) else { continue };
        let Some(named) = named(&parsed.text.raw[bytes.clone()]) else { continue };
        let meetings = told.entry(*segment).or_insert_with(|| meetings(parsed.text.raw, parsed.dates_at(0)));
        draft.due_time = named.due(meetings, parsed.dates_at(bytes.start));
    }
}

/// The meeting by which a promise is to be kept.
fn named(promise: &str) -> Option<Named> {
    let words = words(promise);
    let (at, kind) = words.iter().enumerate().find_map(|(at, (word, _))| Some((at, meeting(word)?)))?;
    let opening = words[..at].iter().rposition(|(word, _)| BY.contains(&word.as_str()))?;
    let described = &words[opening + 1..at];
    let month = described.iter().find_map(|(word, _)| match calendar_word(word) {
        Some((CalendarWord::Month(month), _)) => Some(month),
        _ => None,
    });
    let is_known = month.is_some() || kind == "agm" || described.iter().any(|(word, _)| word == "next");
    let is_before = words[opening].0 == "before";
    (is_known && described.len() <= BETWEEN_WORDS).then_some(Named { kind, month, is_before })
}

impl Named {
    fn due(&self, meetings: &[PlannedMeeting], dates: DateContext) -> Option<Timestamp> {
        let said = dates.reference?.to_zoned(TimeZone::UTC).date();
        let to_come = meetings.iter().find(|meeting| {
            meeting.kind == self.kind
                && said < meeting.day
                && self.month.is_none_or(|month| meeting.day.month() == month)
        })?;
        let by = if self.is_before { "before" } else { "by" };
        deadlines::due(&format!("{by} {}", to_come.day), dates)
    }
}

/// The meetings whose day is told, such as "Next meeting: Thursday 14 May".
fn meetings(raw: &str, dates: DateContext) -> Vec<PlannedMeeting> {
    let mut found = Vec::new();
    let read = &raw[..raw.floor_char_boundary(READ_MAX_BYTES)];
    for line in read.lines() {
        let words = words(line);
        for (at, (word, range)) in words.iter().enumerate() {
            let Some(kind) = meeting(word) else { continue };
            let before = &words[at.saturating_sub(BETWEEN_WORDS)..at];
            if kind != "agm" && !before.iter().any(|(word, _)| word == "next") {
                continue;
            }
            let behind = &line[range.end..];
            let readings = dates.readings(behind, Lean::Future);
            let day = readings.iter().find(|day| day.granularity <= Granularity::Day);
            let Some(day) = day.filter(|day| is_beside(&behind[..day.range.start])) else { continue };
            found.push(PlannedMeeting { kind, day: day.start.to_zoned(TimeZone::UTC).date() });
        }
    }
    found
}

/// Whether so few words stand between a meeting and a day that it is that of the meeting.
fn is_beside(between: &str) -> bool {
    between.split_whitespace().count() <= BETWEEN_WORDS && !between.contains(['.', ';'])
}

fn meeting(word: &str) -> Option<&'static str> {
    MEETINGS.into_iter().find(|meeting| *meeting == word)
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut at = 0;
    for word in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        if !bare.is_empty() {
            words.push((bare.to_lowercase(), at..at + bare.len()));
        }
        at += word.len();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The day by which what stands behind the bar is due, in minutes of Thursday, 9 July 2026.
    fn due_day(text: &str) -> String {
        let (before, told) = text.split_once('|').unwrap();
        let dates = DateContext { reference: "2026-07-09T19:00:00Z".parse().ok(), order: None };
        let meetings = meetings(before, dates);
        let due = named(told).and_then(|named| named.due(&meetings, dates));
        due.map_or(String::new(), |due| due.to_string()[5..10].to_owned())
    }

    #[test]
    fn what_is_to_be_done_by_a_meeting_is_due_on_its_day() {
        for (text, day) in [
            (
                "\nNext meeting: Thursday 13 August, 7.30pm.|Graham shall get two quotes by the next meeting.",
                "08-13",
            ),
            (
                "\nDate of next meeting: 13 August|Rosalind will get prices for the next committee meeting",
                "08-13",
            ),
            ("\nThe next meeting will be on 13 August.|Piet reports at our next meeting", "08-13"),
            ("\nNext meeting 13 August|Ines gets a quote before the August meeting.", "08-12"),
            ("\nAGM: 21 November, 2pm|Margit speaks to Lottie before the AGM.", "11-20"),
            ("\nNext call: Tue 14 July|Ana sends the slides by the next call", "07-14"),
            // Another meeting, one that is told no day, and none that is a deadline.
            ("\nNext meeting 13 August|Ines gets a quote before the September meeting.", ""),
            ("\nNext call: Tue 14 July|Graham shall get two quotes by the next meeting.", ""),
            (
                "\nDeferred to next meeting. Tom calls on 3 August.|Graham shall get quotes by the next meeting.",
                "",
            ),
            ("\nLast meeting: 9 July|Graham shall get two quotes by the next meeting.", ""),
            ("\nNext meeting 13 August|Tom writes the minutes of the meeting.", ""),
            ("\nNext meeting 13 August|Tom brings cake to every meeting.", ""),
        ] {
            assert_eq!(due_day(text), day, "{text}");
        }
    }
}
