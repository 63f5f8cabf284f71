//! Dates and times as callers write them: `2026-03-01`, `2026-03-01T10:00:00+01:00`.

use jiff::{SignedDuration, Timestamp};
use memory_language::text::cut;
use memory_language::time::{Granularity, Lean, readings};

use crate::Invalid;

/// The longest time at the head of a text, as in `[2023-05-08 13:56] Ann: …`, in characters.
const STAMP_MAX_CHARS: usize = 40;
/// A day of the week or a zone may stand beside the time.
const STAMP_LEFT_MAX_BYTES: usize = 6;

/// A date or date-time as [`parse_date`] reads it, as the end of a range: a date means the whole of that day.
pub fn parse_end_date(field: &str, value: &str) -> Result<Timestamp, Invalid> {
    let timestamp = parse_date(field, value)?;
    Ok(if is_date(value.trim()) {
        timestamp + SignedDuration::from_micros(24 * 3600 * 1_000_000 - 1)
    } else {
        timestamp
    })
}

/// Whether this is written as a date without a time: `2026-03-01` or `20260301`.
fn is_date(value: &str) -> bool {
    value.len() == 10 || (value.len() == 8 && value.bytes().all(|b| b.is_ascii_digit()))
}

/// A date (`2026-03-01` or `20260301`, taken as midnight UTC) or a date-time with an offset (`2026-03-01T10:00:00+01:00`). What
/// programs write for a date that was never set is refused.
pub fn parse_date(field: &str, value: &str) -> Result<Timestamp, Invalid> {
    let value = value.trim();
    let shown = cut(value, 60);
    if let Some(timestamp) = read_date(value) {
        return if timestamp < unset_before() {
            Err(Invalid::new(format!(
                "Invalid {field} '{shown}': this is a date that was never set; leave it out."
            )))
        } else {
            Ok(timestamp)
        };
    }
    let in_utc = format!("{value}Z").parse::<Timestamp>();
    let hint = if is_of_no_day(value) {
        "there is no such day".to_owned()
    } else if value.parse::<jiff::civil::DateTime>().is_ok() && in_utc.is_ok() {
        format!(
            "it has no offset, so its moment is unknown; write '{shown}Z' for UTC or add one such as +02:00"
        )
    } else {
        "use a date such as 2026-03-01 or a date-time with offset such as 2026-03-01T10:00:00Z".to_owned()
    };
    Err(Invalid::new(format!("Invalid {field} '{shown}': {hint}.")))
}

fn read_date(value: &str) -> Option<Timestamp> {
    let of_day = || {
        let date = value.parse::<jiff::civil::Date>().ok().filter(|_| is_date(value))?;
        date.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    };
    value.parse().ok().or_else(of_day)
}

/// The zero of dates in Go and .NET, in any offset, lies in the year 1 or the last day before.
fn unset_before() -> Timestamp {
    jiff::civil::date(1, 1, 3).to_zoned(jiff::tz::TimeZone::UTC).expect("a day of the calendar").timestamp()
}

/// "2026-02-30", "2026-13-01T10:00:00Z": written as a date, of a day that does not exist.
fn is_of_no_day(value: &str) -> bool {
    let date = value.get(..10).filter(|_| matches!(value.as_bytes().get(10), None | Some(b'T' | b' ')));
    let is_written = date.is_some_and(|date| {
        date.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
    });
    is_written && date.is_some_and(|date| date.parse::<jiff::civil::Date>().is_err())
}

/// When a text was written by the time in brackets at its head, as in `[2023-05-08 13:56] Ann: …`: at least a day of a year, and
/// nothing that could be another.
pub fn stamped_date(content: &str) -> Option<Timestamp> {
    let (stamp, rest) = split_stamp(content.trim_start().lines().next()?)?;
    let [reading] = &readings(stamp, None, Lean::Past)[..] else { return None };
    let is_day = matches!(reading.granularity, Granularity::Day | Granularity::Hour | Granularity::Minute);
    let is_whole = stamp.len() - reading.range.len() <= STAMP_LEFT_MAX_BYTES;
    (is_day && is_whole && !reading.is_ambiguous && !rest.is_empty()).then_some(reading.start)
}

/// What stands in brackets at the head of a line and may be a time, and what follows.
pub(crate) fn split_stamp(line: &str) -> Option<(&str, &str)> {
    let (open, close) = if line.starts_with('[') { ('[', ']') } else { ('(', ')') };
    let (stamp, rest) = line.strip_prefix(open)?.split_once(close)?;
    let may_be = stamp.chars().count() < STAMP_MAX_CHARS && stamp.chars().any(|c| c.is_ascii_digit());
    may_be.then(|| (stamp, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_need_an_offset_when_they_have_a_time() {
        assert_eq!(parse_date("date", "2026-03-01").unwrap().to_string(), "2026-03-01T00:00:00Z");
        assert_eq!(
            parse_date("date", "2026-03-01T10:00:00+01:00").unwrap().to_string(),
            "2026-03-01T09:00:00Z"
        );
        assert!(parse_date("date", "2026-03-01T10:00:00").unwrap_err().0.contains("no offset"));
        assert!(
            parse_date("date_from", "last March")
                .unwrap_err()
                .0
                .starts_with("Invalid date_from 'last March'")
        );
        for no_day in ["2026-02-30", "2026-13-01T10:00:00Z"] {
            assert!(parse_date("date", no_day).unwrap_err().0.contains("no such day"), "{no_day}");
        }
        for never_set in ["0001-01-01", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00-08:00"] {
            assert!(parse_date("date", never_set).unwrap_err().0.contains("never set"), "{never_set}");
        }
        assert!(parse_date("date", "0814-01-28").is_ok());
        assert_eq!(parse_date("date", "20261112").unwrap(), parse_date("date", "2026-11-12").unwrap());
        assert_eq!(
            parse_end_date("date_to", "20261112").unwrap(),
            parse_end_date("date_to", "2026-11-12").unwrap()
        );
    }

    #[test]
    fn what_is_advised_instead_of_a_refused_date_is_accepted() {
        for refused in
            ["2026-11-12T10:00", "20261112T1000", "2026-11-12 10:00:00", "20261112T10", "2026111", "20261399"]
        {
            let advice = parse_date("date", refused).unwrap_err().0;
            for advised in advice.split('\'').skip(3).step_by(2) {
                assert!(parse_date("date", advised).is_ok(), "{refused}: {advice}");
            }
        }
    }

    #[test]
    fn a_time_in_brackets_at_the_head_dates_the_text() {
        let dated = [
            ("[2023-05-08 13:56] Ann: I went.", "2023-05-08T13:56:00Z"),
            ("[8 May 2023, 13:56] Ann: I went.", "2023-05-08T13:56:00Z"),
            ("(Mon 8 May 2023) Ann: I went.", "2023-05-08T00:00:00Z"),
            ("[2023-05-08T13:56:20Z] deployed\n[2023-05-09] again", "2023-05-08T13:56:20Z"),
        ];
        for (content, date) in dated {
            assert_eq!(stamped_date(content).map(|at| at.to_string()).as_deref(), Some(date), "{content}");
        }
        for content in [
            "[13:56] Ann: I went.",
            "[May 2023] Ann: I went.",
            "[3/4/2024] Ann: I went.",
            "[8 May] Ann: I went.",
            "[1] Smith, 8 May 2023",
            "[PR 2024] merged",
            "[due 2023-05-08 if it rains] tents",
            "Ann [2023-05-08]: I went.",
            "[2023-05-08]",
        ] {
            assert_eq!(stamped_date(content), None, "{content}");
        }
    }
}
