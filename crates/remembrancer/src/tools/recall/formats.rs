//! Numbers and times as answers show them.

use jiff::Timestamp;

/// A short decimal: the nearest 32-bit float would be written with sixteen digits.
pub(super) fn decimal(value: f32, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (f64::from(value) * scale).round() / scale
}

pub(super) fn rfc3339(timestamp: Option<Timestamp>) -> Option<String> {
    timestamp.map(|t| t.to_string())
}
