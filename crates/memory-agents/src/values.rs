//! Values as exports and notes write them.

use serde_json::Value;

pub(crate) fn string(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A time or a day; without an offset it is UTC, as the exporters write it.
pub(crate) fn text_date(text: &str) -> Option<String> {
    let text = text.trim();
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Some(at.to_string());
    }
    if text.parse::<jiff::civil::Date>().is_ok() && text.len() == 10 {
        return Some(text.to_owned());
    }
    let at: jiff::civil::DateTime = text.parse().ok()?;
    Some(at.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().to_string())
}

/// A list, or names between commas.
pub(crate) fn tags(value: &Value) -> Vec<String> {
    match value {
        Value::Array(tags) => tags.iter().filter_map(string).take(50).collect(),
        Value::String(tags) => tags
            .split(',')
            .map(|tag| tag.trim().trim_start_matches('#').to_owned())
            .filter(|tag| !tag.is_empty())
            .take(50)
            .collect(),
        _ => Vec::new(),
    }
}
