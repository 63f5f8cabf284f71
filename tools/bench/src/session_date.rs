//! Dates as conversations write them: `1:56 pm on 8 May, 2023`, or in the forms that `remember` takes.

use anyhow::bail;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use memory_core::date::parse_date;

/// The date in the form that `remember` takes, in UTC.
pub fn session_date(text: &str) -> anyhow::Result<String> {
    let text = text.trim();
    if let Ok(civil) = DateTime::strptime("%I:%M %p on %d %B, %Y", text) {
        return Ok(civil.to_zoned(TimeZone::UTC)?.timestamp().to_string());
    }
    match parse_date("date", text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => bail!("the date '{text}' is neither like '1:56 pm on 8 May, 2023' nor like 2023-05-08"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_conversations_are_read() {
        for (text, expected) in [
            ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00Z"),
            ("12:09 am on 13 September, 2023", "2023-09-13T00:09:00Z"),
            ("12:30 pm on 1 January, 2024", "2024-01-01T12:30:00Z"),
            ("2023-05-08", "2023-05-08"),
        ] {
            assert_eq!(session_date(text).unwrap(), expected);
        }
        let refused = session_date("last Tuesday").unwrap_err().to_string();
        assert!(refused.contains("'last Tuesday'"), "{refused}");
    }
}
