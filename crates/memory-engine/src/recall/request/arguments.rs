//! Single arguments of a recall, checked: each function gives the value, or what is wrong with it and what to write instead.

use memory_core::Invalid;
use memory_core::commitment::CommitmentState;
use memory_core::event::Category;
use memory_language::text::cut;

const QUERY_MAX_CHARS: usize = 2_000;
/// The smallest and the largest bound on an answer, in tokens.
const MAX_TOKENS_RANGE: std::ops::RangeInclusive<i64> = 100..=100_000;

/// Whether whole texts are wanted.
pub(super) fn is_full(detail: Option<&str>) -> Result<bool, Invalid> {
    match detail.map(str::trim) {
        None | Some("concise" | "") => Ok(false),
        Some("full") => Ok(true),
        Some(other) => {
            Err(Invalid::new(format!("Invalid detail '{}'. Must be one of: concise, full", cut(other, 40))))
        }
    }
}

pub(super) fn max_tokens(given: Option<i64>) -> Result<Option<usize>, Invalid> {
    let (min, max) = (*MAX_TOKENS_RANGE.start(), *MAX_TOKENS_RANGE.end());
    match given {
        Some(n) if !MAX_TOKENS_RANGE.contains(&n) => Err(out_of_range("max_tokens", n, min, max)),
        other => Ok(other.map(|n| n as usize)),
    }
}

pub(super) fn min_importance(given: Option<f64>) -> Result<Option<f32>, Invalid> {
    match given {
        Some(i) if !(0.0..=1.0).contains(&i) => {
            Err(Invalid::new(format!("Invalid min_importance {i}. Use a number from 0.0 to 1.0.")))
        }
        other => Ok(other.map(|i| i as f32)),
    }
}

pub(super) fn newest_first(order: Option<&str>) -> Result<bool, Invalid> {
    match order.map(str::trim) {
        None | Some("oldest" | "") => Ok(false),
        Some("newest") => Ok(true),
        Some(other) => {
            Err(Invalid::new(format!("Invalid order '{}'. Must be one of: oldest, newest", cut(other, 40))))
        }
    }
}

pub(super) fn min_score(given: Option<f64>) -> Result<Option<f32>, Invalid> {
    match given {
        Some(score) if !(0.0..=1.0).contains(&score) => Err(Invalid::new(format!(
            "Invalid min_score {score}. Use a number from 0.0 to 1.0; 0 shows all."
        ))),
        other => Ok(other.map(|score| score as f32)),
    }
}

pub(super) fn checked_query(query: String) -> Result<String, Invalid> {
    let chars = query.chars().count();
    if chars > QUERY_MAX_CHARS {
        return Err(Invalid::new(format!(
            "Invalid query: {chars} characters, the limit is {QUERY_MAX_CHARS}. Ask a shorter question."
        )));
    }
    if query.contains('\0') {
        return Err(Invalid::new("Invalid query: it has a NUL character. Remove it."));
    }
    Ok(query)
}

pub(super) fn state(text: &str) -> Result<CommitmentState, Invalid> {
    CommitmentState::parse(&text.trim().to_lowercase()).ok_or_else(|| {
        Invalid::new(format!(
            "Invalid state '{}'. Must be one of: {}",
            cut(text, 40),
            CommitmentState::names()
        ))
    })
}

pub(super) fn category(text: &str) -> Result<Category, Invalid> {
    Category::named(text).ok_or_else(|| {
        let meant = Category::understood(text).map(|meant| format!(" Is {meant} meant?")).unwrap_or_default();
        let (given, names) = (cut(text, 40), Category::names());
        Invalid::new(format!("Invalid category '{given}'.{meant} Must be one of: {names}"))
    })
}

fn out_of_range(name: &str, value: i64, min: i64, max: i64) -> Invalid {
    Invalid::new(format!("Invalid {name} {value}. Use a whole number from {min} to {max}."))
}

pub(super) fn within(
    name: &str,
    value: Option<i64>,
    default: i64,
    min: i64,
    max: i64,
) -> Result<i64, Invalid> {
    match value.unwrap_or(default) {
        n if (min..=max).contains(&n) => Ok(n),
        n => Err(out_of_range(name, n, min, max)),
    }
}
