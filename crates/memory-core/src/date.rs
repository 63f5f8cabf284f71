//! Dates and times as callers write them: `2026-03-01`, `2026-03-01T10:00:00+01:00`.

use jiff::{SignedDuration, Timestamp};
use memory_language::text::cut;

use crate::Invalid;

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

/// A date (`2026-03-01` or `20260301`, taken as midnight UTC) or a date-time with an offset (`2026-03-01T10:00:00+01:00`).
pub fn parse_date(field: &str, value: &str) -> Result<Timestamp, Invalid> {
    let value = value.trim();
    if let Ok(timestamp) = value.parse::<Timestamp>() {
        return Ok(timestamp);
    }
    if is_date(value)
        && let Ok(date) = value.parse::<jiff::civil::Date>()
        && let Ok(zoned) = date.to_zoned(jiff::tz::TimeZone::UTC)
    {
        return Ok(zoned.timestamp());
    }
    let shown = cut(value, 60);
    let in_utc = format!("{value}Z").parse::<Timestamp>();
    let hint = if value.parse::<jiff::civil::DateTime>().is_ok() && in_utc.is_ok() {
        format!(
            "it has no offset, so its moment is unknown; write '{shown}Z' for UTC or add one such as +02:00"
        )
    } else {
        "use a date such as 2026-03-01 or a date-time with offset such as 2026-03-01T10:00:00Z".to_owned()
    };
    Err(Invalid::new(format!("Invalid {field} '{shown}': {hint}.")))
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
        assert!(parse_date("date", "2026-02-30").is_err());
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
}
