//! Words that are in the names of organisations and teams.

use std::ops::Range;

use super::super::lists;

/// What the name of a company ends with.
pub(in super::super) fn is_company_ending(word: &str) -> bool {
    lists::COMPANY_ENDINGS.contains(word)
        || matches!(word, "LTD" | "INC" | "GMBH" | "LIMITED" | "CORP" | "FOUNDATION")
}

/// The tokens between those that divide them.
pub(super) fn divided(tokens: &Range<usize>, divides: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = tokens.start;
    for at in tokens.clone().filter(|at| divides(*at)).chain([tokens.end]) {
        if at > start {
            parts.push(start..at);
        }
        start = at + 1;
    }
    parts
}

pub(super) fn is_function_word(word: &str) -> bool {
    matches!(
        word,
        "the"
            | "this"
            | "that"
            | "our"
            | "your"
            | "my"
            | "a"
            | "an"
            | "each"
            | "every"
            | "their"
            | "his"
            | "her"
            | "its"
            | "new"
            | "next"
            | "first"
            | "last"
            | "whole"
            | "entire"
            | "other"
            | "same"
            | "all"
            | "any"
            | "some"
            | "no"
            | "both"
            | "for"
            | "and"
            | "or"
            | "with"
            | "from"
            | "in"
            | "on"
            | "of"
            | "to"
            | "by"
            | "as"
            | "at"
            | "if"
            | "which"
            | "what"
            | "hi"
            | "dear"
            | "hello"
            | "thanks"
            | "one"
            | "open"
            | "local"
            | "external"
            | "internal"
            | "meet"
            | "join"
    )
}

pub(super) fn is_verb_like(word: &str) -> bool {
    matches!(
        word,
        "start"
            | "project"
            | "close"
            | "finish"
            | "cancel"
            | "create"
            | "plan"
            | "side"
            | "pilot"
            | "big"
            | "current"
            | "previous"
    )
}

pub(super) fn is_team_word(word: &str) -> bool {
    lists::TEAMS.contains(word)
}

pub(in super::super) fn is_body(word: &str) -> bool {
    is_company_ending(word) || lists::BODIES.contains(word) || is_shouted_body(word)
}

/// "THORNBY PARISH COUNCIL".
fn is_shouted_body(word: &str) -> bool {
    let shouted = word.len() > 3 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    shouted && lists::BODIES.contains(&format!("{}{}", &word[..1], word[1..].to_ascii_lowercase()))
}

pub(super) fn is_trade_word(word: &str) -> bool {
    lists::TRADES.contains(word)
}

/// Bodies whose name follows them: "Klinikum Ostertal", "Hospital Marienhöhe", "Clinique des Tilleuls".
pub(super) fn is_leading_body(word: &str) -> bool {
    lists::LEADING_BODIES.contains(word)
}
