//! Hours of promises whose day stands before them: "We meet on the 28th. Paul will bring the cake at 5."

use jiff::Timestamp;
use memory_core::event::Category;
use memory_language::calendar_words::calendar_word;
use memory_language::time::{Granularity, Lean, Reading};

use super::date_context::DateContext;
use super::deadlines::{bare, is_hour};
use super::draft::Draft;
use super::parsed_segment::ParsedSegment;

/// How much of a paragraph before a promise is read for its day.
const PARAGRAPH_MAX_BYTES: usize = 300;

/// Puts what is due at an hour on the day that its paragraph names before it.
pub(super) fn place(parsed_segments: &[ParsedSegment<'_>], drafts: &mut [Draft]) {
    let promises = drafts.iter_mut().filter(|draft| draft.category == Category::Commitment);
    for draft in promises {
        let [(segment, bytes)] = draft.evidence.as_slice() else { continue };
        let Some(parsed) = parsed_segments.get(*segment) else { continue };
        let (raw, dates) = (parsed.text.raw, parsed.dates_at(bytes.start));
        if !is_only_an_hour(&raw[bytes.clone()], dates) {
            continue;
        }
        let from = raw.floor_char_boundary(bytes.start.saturating_sub(PARAGRAPH_MAX_BYTES));
        let before = &raw[from..bytes.start];
        draft.due_time = day_before(before.rsplit("\n\n").next().unwrap_or(before), dates).or(draft.due_time);
    }
}

/// "Paul will bring the cake at 5": an hour of a day that other words name.
fn is_only_an_hour(words: &str, dates: DateContext) -> bool {
    let split: Vec<&str> = words.split_whitespace().collect();
    let is_at = |pair: &[&str]| pair[0].eq_ignore_ascii_case("at") && is_hour(&bare(pair[1]).to_lowercase());
    let is_today = |word: &&str| matches!(bare(word).to_lowercase().as_str(), "today" | "tonight" | "this");
    // "2 December at 09:00" is read as one.
    let is_of_calendar = |word: &str| {
        let word = bare(word).to_lowercase();
        word == "tomorrow" || word.contains(['/', '-']) || calendar_word(&word).is_some()
    };
    let names_a_day = |reading: &Reading| {
        reading.granularity >= Granularity::Day
            || words[reading.range.clone()].split_whitespace().any(is_of_calendar)
    };
    split.windows(2).any(is_at)
        && !split.iter().any(is_today)
        && !dates.readings(words, Lean::Future).iter().any(names_a_day)
}

/// The last day to come that the words before a promise name, for an hour in it.
fn day_before(words: &str, dates: DateContext) -> Option<Timestamp> {
    let now = dates.reference?;
    let is_ahead = |reading: &Reading| {
        reading.granularity == Granularity::Day
            && reading.start > now
            && !reading.is_ambiguous
            && !reading.is_deadline()
    };
    dates.readings(words, Lean::Future).iter().rfind(|reading| is_ahead(reading)).map(Reading::deadline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_alone_is_of_the_day_named_before_it() {
        let dates = DateContext { reference: "2026-11-24T10:00:00Z".parse().ok(), order: None };
        for words in ["Paul will bring the cake at 5.", "Greta will meet us there at 10:30."] {
            assert!(is_only_an_hour(words, dates), "{words}");
        }
        for words in [
            "Paul will bring it at 5 today.",
            "On Saturday Paula will drive us at 6.",
            "Paul will come by five.",
            "Paul will come on 2 December at 09:00.",
            "Paul will come on Friday at 9.",
            "at home",
        ] {
            assert!(!is_only_an_hour(words, dates), "{words}");
        }
        let day = |words: &str| day_before(words, dates).map(|day| day.to_string()[..10].to_owned());
        assert_eq!(day("Dear all, on the 28th we celebrate."), Some("2026-11-28".to_owned()));
        assert_eq!(day("The handover is on 5 December."), Some("2026-12-05".to_owned()));
        assert_eq!(day("The bill is due by Friday."), None);
        assert_eq!(day("We met on 3 November 2026."), None);
    }
}
